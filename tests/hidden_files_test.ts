/**
 * Tests of what is hidden where rules meet that the table of who sees what does not
 * combine: limits of the search, links, scopes, and permissions.
 *
 * @module
 */

import assert from "node:assert/strict";
import { SkillRegistry } from "../mod.ts";
import { join } from "../src/files/paths.ts";
import { nextId, Session } from "./testing/client.ts";
import { printedLaunch } from "./testing/command_line.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { SECRET } from "./testing/hostile.ts";
import { lacks } from "./testing/needs.ts";
import { Wire } from "./testing/server.ts";

const SKILLS = "home/.claude/skills";

function policyArgs(place: Place, rules: object[]): string[] {
  place.file("home/policy.yaml", JSON.stringify({ rules }));
  return ["--policy", join(place.home, "policy.yaml")];
}

/** Asks for a file of a skill in all ways, and returns everything that is sent. */
async function askFor(wire: Wire, skill: string, path: string) {
  const folder = path.split("/").slice(0, -1).join("/");
  const uri = `skill://${skill}`;
  const requests: [string, object][] = [
    ["resources/list", {}],
    ["resources/read", { uri: `${uri}/${path}` }],
    ["resources/read", { uri: `${uri}/` }],
    ["resources/directory/read", { uri }],
    ["resources/directory/read", { uri: `${uri}/${folder}` }],
    ["skills/list", {}],
    ["skills/get", { uri: `${uri}/SKILL.md` }],
  ];
  const calls = ["", folder, path, "none.md"].map((path) => ({ skill, path }))
    .map((input): [string, object] => [
      "tools/call",
      { name: "skill-resource", arguments: input },
    ]);
  const replies = [...requests, ...calls]
    .map(([method, params]) => wire.ask(nextId(), method, params));
  return JSON.stringify(await Promise.all(replies));
}

Deno.test(
  "a skill that is off is hidden from the links of other skills into a trusted folder",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const store = place.skill("store", "closed");
    place.file("store/closed/docs/notes.md", SECRET);
    place.skill(SKILLS, "open");
    place.link(join(store, "docs"), `${SKILLS}/open/docs`);
    place.link(join(store, "docs", "notes.md"), `${SKILLS}/open/notes.md`);
    const policy = policyArgs(place, [{ skill: "closed", state: "off" }]);
    await using wire = new Wire(place, {
      args: [
        "--tools",
        "skilljack",
        "--no-watch",
        ...policy,
        "--skill-dir",
        join(place.path, "store"),
        "--skill-dir",
        join(place.home, ".claude"),
        "--trust-links",
        join(place.path, "store"),
      ],
    });
    await wire.initialize();
    for (const path of ["docs/notes.md", "notes.md"]) {
      const text = await askFor(wire, "open", path);
      assert.ok(!text.includes(SECRET), text);
    }
  },
);

Deno.test(
  "a link in a hidden skill is hidden too, even if it leads to a file that is not",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill(SKILLS, "outer");
    place.file(`${SKILLS}/outer/docs/notes.md`, "notes");
    place.skill(`${SKILLS}/outer`, "inner");
    place.link("../docs", `${SKILLS}/outer/inner/docs`);
    place.link("inner", `${SKILLS}/outer/alias`);
    const path = join(place.home, ".claude", "skills");
    const roots = [{ path, scope: "global", recursive: true } as const];
    const rules = [{ skill: "inner", state: "off" } as const];
    using registry = new SkillRegistry(roots, { policy: { rules } });
    await registry.refresh();
    const skill = registry.find("outer")!;
    const { text } = await registry.readFile(skill, "docs/notes.md");
    assert.equal(text, "notes");
    for (const folder of ["inner", "alias"]) {
      const reading = registry.readFile(skill, `${folder}/docs/notes.md`);
      await assert.rejects(reading, /the skill serves no such file/);
    }
  },
);

Deno.test(
  "the project is the same through a link, as an absolute folder, and below a folder that is searched",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("project/.claude/skills", "theirs");
    place.link(
      place.skill("documents", "private"),
      "project/.claude/skills/out",
    );
    place.link(place.project, "linked");
    const off = policyArgs(place, [{ scope: "project", state: "off" }]);
    for (
      const args of [
        [join(place.path, "linked")],
        ["--skill-dir", place.path],
        ["--skill-dir", join(place.path, "linked", ".claude")],
      ]
    ) {
      await using session = await Session.open(place, { args });
      const found = await session.names();
      assert.ok(found.includes("theirs"), args.join());
      assert.equal(
        found.includes("private"),
        args[1] === place.path,
        "only the folder itself serves it, not the link of the project",
      );
      const { text } = await session.load("global:theirs");
      assert.match(text, /not found/);
      await using closed = await Session.open(place, {
        args: [...args, ...off],
      });
      assert.ok(!(await closed.names()).includes("theirs"), args.join());
    }
  },
);

Deno.test("a working directory that contains the home folder is no project", async () => {
  using place = new Place();
  place.skill("home/more", "mine");
  const args = policyArgs(place, [{ scope: "project", state: "off" }]);
  await using session = await Session.open(place, {
    args: [join(place.home, "more"), ...args],
    cwd: place.path,
  });
  assert.deepEqual(await session.names(), ["mine"]);
});

Deno.test("no skill can take the prefix of a scope", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "global", skillMd("global", "Theirs"));
  place.skill("project/.claude/skills/global", "git");
  place.skill("project/.claude/skills", "x", skillMd("global:git", "Theirs"));
  place.skill(SKILLS, "git", skillMd("git", "My own"));
  await using session = await Session.open(place);
  const { contents } = await session.client.readResource({
    uri: "skill://global/git/SKILL.md",
  });
  assert.match((contents[0] as { text: string }).text, /My own/);
  assert.match((await session.load("global:git")).text, /My own/);
  const { resources } = await session.client.listResources();
  assert.ok(
    resources.some(({ uri }) => uri === "skill://project/global/SKILL.md"),
  );
});

Deno.test(
  "a rule applies behind a link, under printed permissions too",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("data/p/.claude/skills", "git");
    place.link(join(place.path, "data"), "home/code");
    const open = async (folder: string | string[]) => {
      const rules = policyArgs(place, [{ in: folder, state: "off" }]);
      const args = [join(place.path, "data", "p"), ...rules];
      const launch = await printedLaunch(place, { args });
      return await Session.open(place, { launch });
    };
    for (const folder of ["~/code", ["~/work", "~/code/**"]]) {
      await using session = await open(folder);
      assert.deepEqual(await session.names(), []);
    }
  },
);

Deno.test(
  "under printed permissions, a change behind a linked root is noticed",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("data/skills", "git");
    place.folder("home", ".claude");
    place.link(join(place.path, "data", "skills"), "home/.claude/skills");
    const launch = await printedLaunch(place, { args: ["--refresh", "0"] });
    await using session = await Session.open(place, { launch });
    assert.deepEqual(await session.names(), ["git"]);
    place.skill("data/skills", "pdf");
    await session.listChanged();
    assert.deepEqual(await session.names(), ["git", "pdf"]);
  },
);
