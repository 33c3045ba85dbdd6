import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/inMemory"
import { InMemoryTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/inMemory.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server"
import { Server } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/index.js";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import { ToolListChangedNotificationSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { registerSkillTools, SkillRegistry } from "../../mod.ts";
import { SkillSearch } from "../skills/search.ts";
import { callTool } from "./tools.ts";
import { TOOLSETS } from "./toolsets.ts";
import {
  filesPlace,
  Inbox,
  isWindows,
  Place,
  root,
  runSync,
  Session,
  skillMd,
  toolsets,
  Wire,
} from "../../tests/testing.ts";

Deno.test("tools/call of an unknown tool is a protocol error", async () => {
  using place = new Place();
  await using wire = new Wire(place);
  await wire.initialize();
  const { error } = await wire.ask(1, "tools/call", { name: "none" });
  assert.deepEqual(error, {
    code: -32602,
    message: 'Unknown tool "none": the tools are "skill"',
  });
});

Deno.test("registerSkillTools() registers the same tools with the SDK's server", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const server = new Server({ name: "other", version: "1.0.0" }, {
    capabilities: { tools: { listChanged: true } },
  });
  registerSkillTools(server, registry, { toolset: "skill" });
  const client = new Client({ name: "test", version: "1.0.0" });
  const notifications = new Inbox<string>();
  client.setNotificationHandler(
    ToolListChangedNotificationSchema,
    ({ method }) => notifications.put(method),
  );
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(ours);
  await client.connect(theirs);
  const call = async (name: string, input: Record<string, unknown>) => {
    const params = { name, arguments: input };
    const result = await client.callTool(params) as CallToolResult;
    const [item] = result.content;
    return [result.isError, item?.type === "text" ? item.text : undefined];
  };
  const { tools } = await client.listTools();
  assert.match(tools[0]!.description!, /<name>git<\/name>/);
  const [isError, text] = await call("skill", { name: "GIT" });
  assert.equal(isError, undefined);
  assert.match(String(text), /^Loading: git\n/);
  assert.deepEqual(await call("skill", { name: "" }), [
    true,
    'Cannot call "skill": "name": Skill name cannot be empty',
  ]);
  await assert.rejects(call("none", {}), /-32602.*Unknown tool "none"/);
  place.skill("skills", "pdf");
  await registry.refresh();
  await notifications.take(() => true, "the notification of the new list");
  await client.close();
});

for (const [toolset, expected] of Object.entries(toolsets)) {
  Deno.test(`--tools ${toolset} provides exactly its own tools, all read-only`, async () => {
    using place = filesPlace();
    const args = ["--tools", toolset];
    await using session = await Session.open(place, { args });
    const { tools } = await session.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), expected);
    for (const { annotations, inputSchema, description } of tools) {
      assert.equal(annotations?.readOnlyHint, true);
      assert.equal(annotations?.destructiveHint, false);
      assert.equal(inputSchema.type, "object");
      assert.ok(!description!.includes("hidden"));
    }
  });
}

Deno.test("the skilljack tool skill lists the path of each SKILL.md and returns the whole file", async () => {
  using place = filesPlace();
  const args = ["--tools", "skilljack"];
  await using session = await Session.open(place, { args });
  const { tools: [tool] } = await session.client.listTools();
  const file = join(place.home, ".claude", "skills", "git", "SKILL.md");
  assert.ok(tool!.description!.endsWith(`# Skills

When a user's task matches a skill description below: 1) activate it, 2) follow its instructions completely.

<available_skills>
<skill>
<name>git</name>
<description>Work with git</description>
<location>${file}</location>
</skill>
</available_skills>`));
  assert.deepEqual(await session.load("git"), {
    text: skillMd("git", "Work with git"),
    isError: false,
  });
  assert.equal((await session.load("hidden")).isError, true);
  assert.match((await session.load("none")).text, /^Skill 'none' not found\./);
});

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

Deno.test("skill-resource refuses paths that are not files of the skill and lists its files", async () => {
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
    assert.match(text, /^Cannot read ".*": there is no such file in the skill/);
    assert.match(
      text,
      /Its files: "SKILL.md", "logo.png", "references\/API.md"/,
    );
  }
  const hidden = { skill: "hidden", path: "a.md" };
  assert.equal((await session.text("skill-resource", hidden)).isError, true);
});

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
  assert.match(large.text, /has 1048577 bytes, and the limit is 1048576/);
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
    ignore: isWindows,
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
      '- "data/large.bin": it has 1048577 bytes, and the limit is 1048576',
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
  assert.equal(text.match(/ bytes, and the limit is/g)!.length, 20);
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

Deno.test("skill-resource and read_reference_file_op accept absolute paths in the skill", async () => {
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
      session.text(tool, { [skill]: name, [path]: join(place.path, ...names) });
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
});

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

Deno.test("list_skills returns names and descriptions as text, as structured content, and in its description", async () => {
  using place = filesPlace();
  const args = ["--tools", "reference"];
  await using session = await Session.open(place, { args });
  const { tools: [list] } = await session.client.listTools();
  assert.match(list!.description!, /\n- git: Work with git$/);
  assert.deepEqual(list!.outputSchema!.required, ["skills"]);
  const skills = [{ name: "git", description: "Work with git" }];
  // The client checks the structured content against the output schema.
  const { content, structuredContent } = await session.call("list_skills");
  assert.deepEqual(structuredContent, { skills });
  assert.ok(content[0]!.type === "text");
  assert.deepEqual(JSON.parse((content[0] as { text: string }).text), skills);
});

Deno.test("read_skill returns only the SKILL.md of a skill", async () => {
  using place = filesPlace();
  const args = ["--tools", "reference"];
  await using session = await Session.open(place, { args });
  const read = (name: string) => session.text("read_skill", { name });
  assert.deepEqual(await read("git"), {
    text: skillMd("git", "Work with git"),
    isError: false,
  });
  for (const name of ["none", "git/logo.png", "../git", "hidden"]) {
    assert.equal((await read(name)).isError, true);
  }
});

Deno.test("load_skill_metadata_op returns the description and directory of skills in all subfolders", async () => {
  using place = new Place();
  const git = place.skill("skills", "git", skillMd("git", "Work with git"));
  const deep = place.skill("skills/a/b", "deep");
  const args = ["--tools", "agentskills", join(place.path, "skills")];
  await using session = await Session.open(place, { args });
  const { text } = await session.text("load_skill_metadata_op");
  assert.deepEqual(JSON.parse(text), {
    deep: { description: "About deep", skill_dir: deep },
    git: { description: "Work with git", skill_dir: git },
  });
});

Deno.test("load_skill_op and read_reference_file_op read a skill and its files", async () => {
  using place = filesPlace();
  const args = ["--tools", "agentskills"];
  await using session = await Session.open(place, { args });
  const load = await session.text("load_skill_op", { skill_name: "git" });
  assert.equal(load.text, skillMd("git", "Work with git"));
  const read = (file_name: string) =>
    session.call("read_reference_file_op", { skill_name: "git", file_name });
  assert.deepEqual((await read("references/API.md")).content, [
    { type: "text", text: "# API" },
  ]);
  const { content: [logo] } = await read("logo.png");
  assert.equal(logo!.type, "resource");
  const { content, isError } = await read("none.md");
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /there is no such file in the skill/);
});

for (
  const [toolset, limits] of [["skill", [2048, 900, 300]], ["skilljack", [
    2048,
    300,
  ]], ["reference", [1900, 300]]] as const
) {
  Deno.test(`--description-limit limits the descriptions of ${toolset} and keeps every name if it fits`, async () => {
    using place = new Place();
    const count = 40;
    for (let i = 0; i < count; i++) {
      const description = i % 2
        ? "Short & <good>"
        : `Long ${"words ".repeat(50)}`;
      place.skill(
        "home/.claude/skills",
        `skill-${i}`,
        skillMd(`skill-${i}`, description),
      );
    }
    for (const limit of limits) {
      const args = ["--tools", toolset, "--description-limit", String(limit)];
      await using session = await Session.open(place, { args });
      const { tools: [tool] } = await session.client.listTools();
      const description = tool!.description!;
      assert.ok(description.length <= limit, `${description.length}`);
      const listed = description.match(/^- skill-\d+/gm)?.length ?? 0;
      const more = Number(
        /\(and (\d+) more: pass a name/.exec(description)?.[1] ?? 0,
      );
      assert.equal(listed + more, count);
      assert.ok(!description.includes("<good>"));
      if (limit > 1500) {
        assert.equal(more, 0);
        assert.match(description, /^- skill-1: Short &amp; &lt;good&gt;$/m);
        assert.match(description, /^- skill-0: Long (words )+words…$/m);
      }
      const found = await session.call(
        toolset === "reference" ? "read_skill" : "skill",
        { name: "skill-39" },
      );
      assert.equal(found.isError, undefined);
    }
  });
}

Deno.test("--description-limit changes nothing if the description fits", async () => {
  using place = filesPlace();
  const args = ["--description-limit", "20000"];
  await using session = await Session.open(place, { args });
  await using other = await Session.open(place);
  assert.equal(await session.description(), await other.description());
});

Deno.test("--description-limit 0 lists every skill in full, however many there are", async () => {
  using place = new Place();
  const description = "d".repeat(1_000);
  for (let i = 0; i < 40; i++) {
    place.skill("home/.claude/skills", `s${i}`, skillMd(`s${i}`, description));
  }
  const lengthWith = async (args: string[]) => {
    await using session = await Session.open(place, { args });
    return (await session.description()).length;
  };
  assert.ok(await lengthWith([]) <= 30_000);
  assert.ok(await lengthWith(["--description-limit", "0"]) > 40_000);
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
  const [, tool] = TOOLSETS.skilljack;
  const { signal } = new AbortController();
  const context = {
    registry,
    search: new SkillSearch(),
    options: { toolset: "skilljack" },
    signal,
  } as const;
  const call = (skill: string, path: string) =>
    callTool(tool!, { skill, path }, context);
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
