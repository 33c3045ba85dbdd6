import assert from "node:assert/strict";
import { Session, toolsets } from "../../../tests/testing/client.ts";
import { needs } from "../../../tests/testing/needs.ts";
import { filesPlace, Place, skillMd } from "../../../tests/testing/place.ts";
import { openRegistry } from "../../../tests/testing/registry.ts";
import { textOf, toolCaller } from "../../../tests/testing/tools.ts";
import { join } from "../../fs/paths.ts";

const withLinks = needs("links");

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
    const names = expected.map((name) => `"${name}"`).join(", ");
    const which = expected.length === 1 ? "the tool" : "one of the tools";
    const message = new RegExp(`Unknown tool "x": call ${which} ${names}$`);
    await assert.rejects(session.call("x"), message);
  });
}

Deno.test("the skilljack tool skill lists paths and returns whole files", async () => {
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
});

Deno.test("list_skills and read_skill return what their contract says", async () => {
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
  const read = (name: string) => session.text("read_skill", { name });
  assert.deepEqual(await read("git"), {
    text: skillMd("git", "Work with git"),
    isError: false,
  });
  assert.equal((await read("hidden")).isError, true);
});

withLinks.test("--tools reference serves what a link leads to outside only with --trust-links", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "mine");
  place.skill("home/.agent/skills", "within");
  place.link("../../.agent/skills/within", "home/.claude/skills/linked");
  place.link(place.skill("home/dotfiles", "out"), "home/.claude/skills/out");
  place.file("home/dotfiles/notes.md", "notes");
  const target = join(place.home, "dotfiles");
  const cases = [
    [["--tools", "reference"], ["mine", "within"]],
    [
      ["--tools", "reference", "--trust-links", target],
      ["mine", "out", "within"],
    ],
    [[], ["mine", "out", "within"]],
  ];
  for (const [args, expected] of cases) {
    await using session = await Session.open(place, { args });
    const { resources } = await session.client.listResources();
    const names = resources.map(({ name }) => name)
      .filter((name) => !name.endsWith("/"));
    assert.deepEqual(names, expected);
  }
});

Deno.test("load_skill_metadata_op returns the skills in all subfolders", async () => {
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

Deno.test("load_skill_metadata_op lists skills of any name as one JSON object", async () => {
  using place = new Place();
  const dir = place.dir("skills");
  using registry = await openRegistry(dir);
  const isRemote = true;
  const call = toolCaller(registry, { toolset: "agentskills", isRemote });
  const list = async () => textOf(await call("load_skill_metadata_op"));
  assert.match(await list(), /^\{\}\nThere are no skills\./);
  const names = ["__proto__", "constructor", 'a"},"b'];
  for (const [index, name] of names.entries()) {
    const text = skillMd(JSON.stringify(name), '"a\\u200b\\n- b"');
    place.skill("skills", `${index}`, text);
  }
  const flag = "disable-model-invocation: true\n";
  place.skill("skills", "hidden", skillMd("hidden", "d", flag));
  await registry.refresh();
  const metadata: object = JSON.parse(await list());
  assert.deepEqual(Object.keys(metadata).sort(), names.sort());
  for (const { description, skill_dir } of Object.values(metadata)) {
    assert.equal(description, "a - b");
    // A client on another machine has no use for a path of this one.
    assert.match(skill_dir, /^skill:\/\/[^/]+\/$/);
  }
});

Deno.test("load_skill_op and read_reference_file_op read a skill and its files", async () => {
  using place = filesPlace();
  using registry = await openRegistry(join(place.home, ".claude", "skills"));
  const call = toolCaller(registry, { toolset: "agentskills" });
  const load = (skill_name: string) => call("load_skill_op", { skill_name });
  const read = (file_name: string, skill_name = "git") =>
    call("read_reference_file_op", { skill_name, file_name });
  const text = skillMd("git", "Work with git");
  assert.deepEqual(await load("git"), { content: [{ type: "text", text }] });
  assert.equal(textOf(await read("references/API.md")), "# API");
  const { content: [logo] } = await read("logo.png");
  assert.equal(logo!.type, "resource");
  for (const name of ["none", "hidden"]) {
    for (const result of [await load(name), await read("a.md", name)]) {
      assert.equal(result.isError, true);
      assert.match(textOf(result), /^Skill '.*' not found/);
    }
  }
  for (const file of ["", "references", "none.md", "../hidden/a.md"]) {
    const result = await read(file);
    assert.equal(result.isError, true, file);
    assert.match(textOf(result), /^Cannot read /);
  }
});
