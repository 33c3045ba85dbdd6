import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { NameOnlyFolders } from "./name_only.ts";
import { Session } from "../../tests/testing/client.ts";
import { flagsWith } from "../../tests/testing/environment.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";

/** Returns the descriptions that the default tool lists, by name. */
async function descriptions(
  session: Session,
): Promise<Record<string, string | undefined>> {
  const { tools } = await session.client.listTools();
  const { description = "" } = tools[0]!;
  const skills = description.matchAll(/<skill>(.*?)<\/skill>/gs);
  return Object.fromEntries([...skills].map(([, text]) => {
    const field = (name: string) =>
      new RegExp(`<${name}>(.*?)</${name}>`, "s").exec(text!)?.[1];
    return [field("name"), field("description") || undefined];
  }));
}

Deno.test("--name-only lists the skills of a folder without their descriptions, and loads them as ever", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.agent/skills", "pdf");
  place.skill("project/.claude/skills", "deploy");
  const args = ["--name-only", ".claude/skills", "--name-only"];
  await using session = await Session.open(place, {
    args: [...args, "~/.claude/skills"],
  });
  assert.deepEqual(await descriptions(session), {
    "deploy": undefined,
    "git": undefined,
    "pdf": "About pdf",
  });
  assert.match((await session.load("git")).text, /# git/);
  const { prompts } = await session.client.listPrompts();
  const prompt = prompts.find(({ name }) => name === "git");
  assert.equal(prompt?.description, "About git");
});

Deno.test(
  "--name-only compares folders by place, through links in both directions",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    // A skill installer links from one folder to the other.
    place.skill("home/.agents/skills", "linked");
    place.link("../../.agents/skills/linked", "home/.claude/skills/linked");
    // A dotfile manager links from the client's folder to a store.
    place.skill("home/store", "stored");
    place.link("../../store/stored", "home/.claude/skills/stored");
    place.link("../../store/stored", "home/.agent/skills/stored");
    place.skill("home/.claude/skills", "own");
    const list = async (folder: string) => {
      await using session = await Session.open(place, {
        args: ["--name-only", folder],
      });
      return await descriptions(session);
    };
    const all = {
      linked: "About linked",
      own: "About own",
      stored: "About stored",
    };
    assert.deepEqual(await list("~/.agents/skills"), {
      ...all,
      linked: undefined,
    });
    place.link(".claude", "home/alias");
    for (const folder of ["~/.claude/skills", "~/alias/skills"]) {
      assert.deepEqual(await list(folder), {
        linked: undefined,
        own: undefined,
        stored: undefined,
      });
    }
    assert.deepEqual(await list("~/.claude/skill"), all);
  },
);

Deno.test("--name-only keeps the descriptions of skills with names that clients refuse", async () => {
  using place = new Place();
  for (const name of ["git", "My Skill", "a_b", "a--b", "Grün"]) {
    place.skill("home/.claude/skills", name, skillMd(name));
  }
  await using session = await Session.open(place, {
    args: ["--name-only", "~/.claude/skills"],
  });
  assert.deepEqual(await descriptions(session), {
    "git": undefined,
    "My Skill": "About My Skill",
    "a_b": "About a_b",
    "a--b": "About a--b",
    "Grün": "About Grün",
  });
});

Deno.test("a rule of the policy wins over --name-only", async () => {
  using place = new Place();
  for (const name of ["git", "pdf", "deploy", "other"]) {
    place.skill("home/.claude/skills", name);
  }
  const policy = place.file(
    "policy/policy.yaml",
    `rules:
  - { skill: git, state: on }
  - { skill: pdf, state: pinned }
  - { skill: deploy, state: off }
`,
  );
  await using session = await Session.open(place, {
    args: ["--name-only", "~/.claude/skills", "--policy", policy],
  });
  assert.deepEqual(await descriptions(session), {
    "git": "About git",
    "other": undefined,
    "pdf": "About pdf",
  });
});

Deno.test("--name-only applies to a folder that Deno may not read", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const folder = join(place.home, ".claude", "skills");
  await using session = await Session.open(place, {
    flags: flagsWith(`--allow-read=${folder}`, "--allow-env"),
    args: [folder, "--name-only", folder, "--name-only", "~/.agents/skills"],
  });
  assert.deepEqual(await descriptions(session), { git: undefined });
  assert.deepEqual(session.stderr.values, []);
});

Deno.test("NameOnlyFolders.has() is false without folders", () => {
  const folders = new NameOnlyFolders();
  assert.equal(folders.isEmpty, true);
  assert.equal(folders.has("git", ["/a/git"]), false);
});
