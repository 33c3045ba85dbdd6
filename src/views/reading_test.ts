import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { SkillRegistry } from "../../mod.ts";
import { RankedSearch } from "./skill_list.ts";
import type { Toolset } from "./options.ts";
import { callTool } from "./tools.ts";
import { TOOLSETS } from "./toolsets.ts";
import { Session } from "../../tests/testing/client.ts";
import {
  filesPlace,
  Place,
  runSync,
  skillMd,
} from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { root } from "../../tests/testing/registry.ts";

Deno.test("skill-resource reads a file, a folder, and the list of files", async () => {
  using place = filesPlace();
  const args = ["--tools", "skilljack"];
  await using session = await Session.open(place, { args });
  const read = (path: string, skill = "git") =>
    session.call("skill-resource", { skill, path });
  const text = (text: string) => ({ type: "text", text });
  assert.deepEqual((await read("references/API.md")).content, [text("# API")]);
  assert.deepEqual((await read("./references/API.md", "GIT")).content, [
    text("# API"),
  ]);
  assert.deepEqual((await read("references")).content, [
    text("--- references/API.md ---\n# API"),
    text("--- references/deep/more.md ---\n# More"),
  ]);
  assert.deepEqual((await read("references/deep/")).content, [
    text("--- references/deep/more.md ---\n# More"),
  ]);
  assert.deepEqual((await read("")).content, [
    text(
      'Files of the skill "git":\n\n- logo.png\n- references/API.md\n- references/deep/more.md',
    ),
  ]);
  const logo = {
    type: "resource",
    resource: {
      uri: "skill://git/logo.png",
      mimeType: "image/png",
      blob: "if8=",
    },
  };
  assert.deepEqual((await read("logo.png")).content, [logo]);
  assert.deepEqual((await read(".")).content.length, 4);
});

Deno.test(
  "skill-resource refuses paths that are not files of the skill and lists its files",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = filesPlace();
    place.file("home/.claude/skills/other.md", "outside");
    place.link(
      join(place.path, "home/.claude/skills/other.md"),
      "home/.claude/skills/git/link.md",
    );
    const args = ["--tools", "skilljack"];
    await using session = await Session.open(place, { args });
    for (
      const path of [
        "none.md",
        "../other.md",
        "/etc/passwd",
        ".env",
        "link.md",
        "references/../../other.md",
      ]
    ) {
      const input = { skill: "git", path };
      const { text, isError } = await session.text("skill-resource", input);
      assert.ok(isError);
      assert.match(
        text,
        /^Cannot read ".*": there is no such file in the skill/,
      );
      assert.match(
        text,
        /Its files: "SKILL.md", "logo.png", "references\/API.md"/,
      );
    }
    const hidden = { skill: "hidden", path: "a.md" };
    assert.equal((await session.text("skill-resource", hidden)).isError, true);
  },
);

Deno.test("skill-resource reports that a file or the files of a folder are too large", async () => {
  using place = filesPlace();
  const folder = "home/.claude/skills/git/data";
  place.file(`${folder}/large.bin`, new Uint8Array(2 ** 20 + 1));
  for (let i = 0; i < 17; i++) {
    place.file(`${folder}/${i}.bin`, new Uint8Array(2 ** 20));
  }
  const args = ["--tools", "skilljack"];
  await using session = await Session.open(place, { args });
  const read = (path: string) =>
    session.text("skill-resource", { skill: "git", path });
  const large = await read("data/large.bin");
  assert.match(large.text, /has 1.01 MB, and the limit is 1 MB/);
  const all = await read("data");
  assert.match(all.text, /^Cannot read 17 files at once: they have 17825792/);
  assert.deepEqual([large.isError, all.isError], [true, true]);
});

Deno.test("skill-resource reports that a skill has no files besides its SKILL.md", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const args = ["--tools", "skilljack"];
  await using session = await Session.open(place, { args });
  assert.deepEqual(
    await session.text("skill-resource", { skill: "git", path: "" }),
    {
      text: 'The skill "git" has no files besides its SKILL.md',
      isError: false,
    },
  );
});

Deno.test(
  "skill-resource reports what it leaves out and why, and reveals nothing outside the skill",
  {
    ignore: lacks("links", "names"),
  },
  async () => {
    using place = filesPlace();
    const git = "home/.claude/skills/git";
    place.file(`${git}/data/large.bin`, new Uint8Array(2 ** 20 + 1));
    place.file(`${git}/data/small.txt`, "small");
    place.file("outside.txt", "outside");
    place.link("../../../../../outside.txt", `${git}/data/there.txt`);
    place.link("../../../../../none.txt", `${git}/data/nowhere.txt`);
    runSync("mkfifo", join(place.path, git, "fifo"));
    const args = ["--tools", "skilljack"];
    await using session = await Session.open(place, { args });
    const read = async (path: string) => {
      const input = { skill: "git", path };
      const { content, isError } = await session.call("skill-resource", input);
      assert.equal(isError, undefined);
      return content.map((item) => item.type === "text" ? item.text : "");
    };
    const data = [
      '- "data/large.bin": it has 1.01 MB, and the limit is 1 MB',
      '- "data/nowhere.txt": it is a link that does not point to a file of the skill',
      '- "data/there.txt": it is a link that does not point to a file of the skill',
    ];
    assert.deepEqual(await read("data"), [
      "--- data/small.txt ---\nsmall",
      `Left out:\n${data.join("\n")}`,
    ]);
    const [list] = await read("");
    assert.equal(
      list,
      `Files of the skill "git":

- data/small.txt
- logo.png
- references/API.md
- references/deep/more.md

Left out:
${data.join("\n")}
- "fifo": it is not a regular file`,
    );
    place.remove(`${git}/data/small.txt`);
    assert.deepEqual(await read("data"), [
      'The folder "data" has no readable files',
      `Left out:\n${data.join("\n")}`,
    ]);
  },
);

Deno.test("skill-resource lists 20 of the files that it leaves out", async () => {
  using place = filesPlace();
  for (let i = 0; i < 22; i++) {
    place.file(`home/.claude/skills/git/${i}.bin`, new Uint8Array(2000));
  }
  const args = ["--tools", "skilljack", "--max-file-size", "0.001"];
  await using session = await Session.open(place, { args });
  const { text } = await session.text("skill-resource", {
    skill: "git",
    path: "",
  });
  assert.equal(text.match(/ MB, and the limit is/g)!.length, 20);
  assert.ok(text.endsWith("\n- and 2 more"));
});

Deno.test("skill-resource reports an empty folder", async () => {
  using place = filesPlace();
  place.folder("home/.claude/skills/git/empty");
  place.file("home/.claude/skills/git/hidden/.env", "secret");
  const args = ["--tools", "skilljack"];
  await using session = await Session.open(place, { args });
  for (const path of ["empty", "hidden"]) {
    const input = { skill: "git", path };
    assert.deepEqual(await session.text("skill-resource", input), {
      text: `The folder "${path}" is empty`,
      isError: false,
    });
  }
});

Deno.test(
  "skill-resource and read_reference_file_op accept absolute paths in the skill",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = filesPlace();
    place.skill("elsewhere", "linked");
    place.file("elsewhere/linked/a.md", "# A");
    place.link(
      join(place.path, "elsewhere/linked"),
      "home/.claude/skills/linked",
    );
    const tools = [
      ["skilljack", "skill-resource", "skill", "path"],
      ["agentskills", "read_reference_file_op", "skill_name", "file_name"],
    ] as const;
    for (const [toolset, tool, skill, path] of tools) {
      const args = ["--tools", toolset];
      await using session = await Session.open(place, { args });
      const read = (name: string, ...names: string[]) =>
        session.text(tool, {
          [skill]: name,
          [path]: join(place.path, ...names),
        });
      const skills = join("home", ".claude", "skills");
      const paths = [
        [skills, "linked", "a.md"],
        ["elsewhere", "linked", "a.md"],
        [skills, "git", "..", "linked", "a.md"],
      ];
      for (const path of paths) {
        assert.deepEqual(await read("linked", ...path), {
          text: "# A",
          isError: false,
        });
      }
      const main = await read("linked", skills, "linked", "SKILL.md");
      assert.equal(main.text, skillMd("linked"));
      for (const path of [...paths, [skills, "git", ".env"], ["home"]]) {
        const { text, isError } = await read("git", ...path);
        assert.match(text, /there is no such file in the skill/);
        assert.ok(isError);
      }
    }
  },
);

Deno.test("tools load a skill by its name as it appears in the list", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "a", skillMd('"R&D <2>"'));
  await using session = await Session.open(place);
  assert.deepEqual(await session.names(), ["R&amp;D &lt;2&gt;"]);
  for (const name of ["R&amp;D &lt;2&gt;", "r&d <2>"]) {
    const { text, isError } = await session.load(name);
    assert.match(text, /^Loading: R&D <2>\n/);
    assert.equal(isError, false);
  }
});

/** Returns a function that calls `skill-resource` without a client. */
function resourceCaller(registry: SkillRegistry) {
  const [, tool] = TOOLSETS.skilljack;
  const { signal } = new AbortController();
  const search = new RankedSearch(() => true);
  const options = { toolset: "skilljack" } as const;
  return (skill: string, path: string) =>
    callTool(tool!, { skill, path }, { registry, search, options, signal });
}

Deno.test("skill-resource accepts the URI of a file, even if its path is not encoded", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/my notes.md", "notes");
  place.file("skills/git/100%.md", "all");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const call = resourceCaller(registry);
  for (const path of ["my%20notes.md", "my notes.md", "100%25.md", "100%.md"]) {
    const { content, isError } = await call("git", `skill://git/${path}`);
    assert.equal(isError, undefined, path);
    const text = path.startsWith("my") ? "notes" : "all";
    assert.deepEqual(content, [{ type: "text", text }]);
  }
});

Deno.test("skill-resource scans again only if that can help", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/large.md", "x".repeat(2 ** 20 + 1));
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const refresh = registry.refresh.bind(registry);
  let scans = 0;
  registry.refresh = () => {
    scans++;
    return refresh();
  };
  const call = resourceCaller(registry);
  for (const path of ["large.md", "none.md", "../up", "SKILL.md/x"]) {
    assert.equal((await call("git", path)).isError, true);
    assert.equal(scans, 0, path);
  }
  // The skill is new.
  place.skill("skills", "new");
  assert.equal((await call("new", "SKILL.md")).isError, undefined);
  assert.equal(scans, 1);
  // The skill has moved.
  place.skill("skills", "elsewhere", skillMd("git"));
  place.file("skills/elsewhere/notes.md", "notes");
  place.remove("skills/git");
  assert.equal((await call("git", "notes.md")).isError, undefined);
  assert.equal(scans, 2);
});

Deno.test("skill-resource reads no file of a skill that has just been hidden from the model", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/notes.md", "notes");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const call = resourceCaller(registry);
  assert.equal((await call("git", "notes.md")).isError, undefined);
  place.skill(
    "skills",
    "git",
    "---\nname: git\ndescription: d\ndisable-model-invocation: true\n---\n",
  );
  const { content, isError } = await call("git", "notes.md");
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /Skill 'git' not found/);
});

Deno.test("over HTTP, the tools that load a skill say in one line how to read its files", async () => {
  using place = new Place();
  place.skill("skills", "git", skillMd("git") + "${CLAUDE_SKILL_DIR}/x.sh");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const load = async (toolset: Toolset, name: string, isRemote: boolean) => {
    const tool = TOOLSETS[toolset].find((tool) => tool.name === name)!;
    const { content } = await callTool(
      tool,
      toolset === "agentskills" ? { skill_name: "git" } : { name: "git" },
      {
        registry,
        search: new RankedSearch(() => true),
        options: { toolset, isRemote },
        signal: new AbortController().signal,
      },
    );
    return content.map((item) => item.type === "text" ? item.text : "").join(
      "\n",
    );
  };
  for (
    const [toolset, name, way] of [
      ["skill", "skill", "as resources, skill://git/<path>"],
      ["skilljack", "skill", "with the tool skill-resource"],
      ["reference", "read_skill", "as resources, skill://git/<path>"],
      ["agentskills", "load_skill_op", "with the tool read_reference_file_op"],
    ] as const
  ) {
    const line =
      `The files of this skill are on the server and cannot run here: read them ${way}`;
    const text = await load(toolset, name, true);
    assert.ok(text.split("\n").includes(line), text);
    assert.ok(!text.includes(place.path));
    assert.ok(!(await load(toolset, name, false)).includes("on the server"));
    const filled = "skill://git/x.sh";
    assert.equal(text.includes(filled), toolset === "skill");
  }
});
