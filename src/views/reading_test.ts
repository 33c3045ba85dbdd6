import assert from "node:assert/strict";
import type { SkillRegistry } from "../../mod.ts";
import { needs } from "../../tests/testing/needs.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/place.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { Wire } from "../../tests/testing/server.ts";
import { callFor, textOf, toolCaller } from "../../tests/testing/tools.ts";
import { join } from "../fs/paths.ts";

const withLinks = needs("links");

const SKILLS = "home/.claude/skills";

const COMPOSED = "docs/caf\u00e9.md";
const DECOMPOSED = "docs/cafe\u0301.md";

/** What is written, and the file that is meant. */
const WRITTEN: [path: string, file: string | undefined][] = [
  ["docs/a b.md", "docs/a b.md"],
  ["docs/a%20b.md", "docs/a b.md"],
  ["docs/a b.md#usage", "docs/a b.md"],
  ["docs\\a b.md", "docs/a b.md"],
  ["/docs/a b.md", "docs/a b.md"],
  ["/docs%5Ca%20b.md#x", "docs/a b.md"],
  // As macOS packs the name of a file, and people write it, or the other way around.
  [COMPOSED, DECOMPOSED],
  [`/${encodeURIComponent(COMPOSED)}#x`, DECOMPOSED],
  [DECOMPOSED, DECOMPOSED],
  [`${DECOMPOSED}.txt`, `${COMPOSED}.txt`],
  // A file that exists as it is written comes first.
  ["100%.md", "100%.md"],
  ["c%20d.md", "c%20d.md"],
  ["100%.md#x", undefined],
  ["docs/a%2520b.md", undefined],
  ["docs/%2e%2e/%2e%2e/secret.md", undefined],
  ["..%2fsecret.md", undefined],
  ["%00", undefined],
];

function writtenPlace(): Place {
  const place = new Place();
  place.skill("home/.claude/skills", "git");
  place.file("home/.claude/skills/secret.md", "secret");
  const files = ["docs/a b.md", "100%.md", "c%20d.md", "c d.md"];
  for (const file of [...files, DECOMPOSED, `${COMPOSED}.txt`]) {
    place.file(`home/.claude/skills/git/${file}`, `This is ${file}.`);
  }
  return place;
}

for (const toolset of ["skilljack", "agentskills"] as const) {
  Deno.test(`the tools of ${toolset} read a path as it is meant`, async () => {
    using place = writtenPlace();
    await using wire = await Wire.open(place, { args: ["--tools", toolset] });
    for (const [path, file] of WRITTEN) {
      const call = callFor(toolset, "git", path);
      const { result } = await wire.ask(1, "tools/call", call);
      const [{ text }] = result.content;
      if (file !== undefined) assert.equal(text, `This is ${file}.`, path);
      else {
        assert.equal(result.isError, true, path);
        const shown = path.replace("\0", "\\u0000");
        assert.ok(text.includes(`Cannot read "${shown}"`), text);
      }
    }
  });
}

Deno.test("resources/read reads a URI as it is meant", async () => {
  using place = writtenPlace();
  await using wire = await Wire.open(place);
  const read = async (uri: string) =>
    await wire.ask(1, "resources/read", { uri });
  const cases = [
    ["docs/a%20b.md", "docs/a b.md"],
    ["docs/a%20b.md#usage", "docs/a b.md"],
    ["docs/a%2520b.md", "docs/a b.md"],
    ["/docs/a%20b.md", "docs/a b.md"],
    ["docs%5Ca%20b.md", "docs/a b.md"],
    ["c%2520d.md", "c%20d.md"],
    [encodeURIComponent(COMPOSED), DECOMPOSED],
  ];
  for (const [path, file] of cases) {
    const uri = `skill://git/${path}`;
    const { result } = await read(uri);
    const [{ uri: returned, text }] = result.contents;
    assert.deepEqual([returned, text], [uri, `This is ${file}.`]);
  }
  for (
    const path of ["..%2fsecret.md", "%252e%252e/secret.md", "docs/none#x"]
  ) {
    const { error } = await read(`skill://git/${path}`);
    assert.equal(error!.code, -32602, path);
  }
});

/** Returns a function that calls `skill-resource`. */
function resourceCaller(registry: SkillRegistry) {
  const call = toolCaller(registry, { toolset: "skilljack" });
  return (path: string, skill = "git") =>
    call("skill-resource", { skill, path });
}

Deno.test("skill-resource reads a file, a folder, and the list of files", async () => {
  using place = filesPlace();
  const latin = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
  place.file(`${SKILLS}/latin/a.md`, latin);
  place.skill(SKILLS, "latin");
  using registry = await openRegistry(join(place.path, SKILLS));
  const read = resourceCaller(registry);
  const text = (text: string) => ({ type: "text", text });
  const api = "--- references/API.md ---\n# API";
  const more = "--- references/deep/more.md ---\n# More";
  const files =
    "- SKILL.md\n- logo.png\n- references/API.md\n- references/deep/more.md";
  const expected: [string, string[]][] = [
    ["references/API.md", ["# API"]],
    ["./references/API.md", ["# API"]],
    ["references", [api, more]],
    ["references/deep/", [more]],
    ["", [`Files of the skill "git":\n\n${files}`]],
  ];
  for (const [path, texts] of expected) {
    const { content, isError } = await read(path, "GIT");
    assert.deepEqual([content, isError], [texts.map(text), undefined]);
  }
  const uri = "skill://git/logo.png";
  const resource = { uri, mimeType: "image/png", blob: "if8=" };
  const { content } = await read("logo.png");
  assert.deepEqual(content, [{ type: "resource", resource }]);
  const refusal =
    'Cannot read "a.md": it is a text file, but not in UTF-8; ask the user to save it as UTF-8';
  const unread = await read("a.md", "latin");
  assert.deepEqual([unread.content, unread.isError], [[text(refusal)], true]);
  const { content: [, beside], isError } = await read(".", "latin");
  const part = text(`--- a.md ---\n${refusal}`);
  assert.deepEqual([beside, isError], [part, undefined]);
});

Deno.test("skill-resource cuts a list of files that no model needs whole", async () => {
  using place = new Place();
  place.skill(SKILLS, "git");
  const name = "x".repeat(90);
  for (let index = 0; index < 400; index++) {
    place.file(`${SKILLS}/git/venv/${index}-${name}`, "");
  }
  using registry = await openRegistry(join(place.path, SKILLS));
  const text = textOf(await resourceCaller(registry)(""));
  assert.ok(text.length < 36_100, `${text.length}`);
  assert.match(
    text,
    /\n- SKILL\.md\n- venv\/0-x.*\n\(and \d+ more, also in "venv"\)$/s,
  );
});

withLinks.test("skill-resource names what it leaves out of the skill, but nothing outside", async () => {
  using place = filesPlace();
  const git = `${SKILLS}/git`;
  const outside = place.file("outside.txt", "outside");
  place.link(outside, `${git}/data/there.txt`);
  place.link(`${outside}.none`, `${git}/data/nowhere.txt`);
  place.link("references/deep", `${git}/inside`);
  place.file(`${git}/node_modules/a.md`, "a");
  const large = new Uint8Array(2 ** 20 + 1);
  place.file(`${git}/references/large.bin`, large);
  using registry = await openRegistry(join(place.path, SKILLS));
  const read = resourceCaller(registry);
  const note = 'Skipped:\n\n- "references/large.bin": it is larger than 1 MiB';
  for (const path of ["", "references"]) {
    const text = textOf(await read(path));
    assert.ok(text.endsWith(note), text);
    assert.doesNotMatch(text, /there|nowhere/);
  }
  assert.doesNotMatch(textOf(await read("references/deep")), /Skipped/);
  const isDir = /^Cannot read "data": it is a folder/;
  assert.match(textOf(await read("data")), isDir);
  for (const path of ["none.md", ".env", "node_modules/a.md"]) {
    assert.match(textOf(await read(path)), /the skill serves no such file/);
  }
  assert.equal(textOf(await read("inside/more.md")), "# More");
  assert.equal((await read("data/there.txt")).isError, true);
  const outsider = await read("../../../../outside.txt");
  assert.match(textOf(outsider), /the path leads outside the skill/);
  assert.equal((await read("a.md", "hidden")).isError, true);
});

withLinks.test("tools accept URIs of files and, not over HTTP, absolute paths", async () => {
  using place = filesPlace();
  const linked = place.skill("elsewhere", "linked");
  place.file("elsewhere/linked/100%.md", "# A");
  place.link(linked, `${SKILLS}/linked`);
  using registry = await openRegistry(join(place.path, SKILLS));
  const skills = join(place.path, SKILLS);
  const paths = [
    join(skills, "linked", "100%.md"),
    join(linked, "100%.md"),
    join(skills, "git", "..", "linked", "100%.md"),
    "skill://linked/100%25.md",
    "skill://LINKED//100%25.md#L3",
    "skill://global%3Alinked/100%25.md",
  ];
  const cases = [
    ["skilljack", "skill-resource", "skill", "path"],
    ["agentskills", "read_reference_file_op", "skill_name", "file_name"],
  ] as const;
  for (const [toolset, tool, skill, path] of cases) {
    const call = toolCaller(registry, { toolset });
    const read = (name: string, file: string) =>
      call(tool, { [skill]: name, [path]: file });
    for (const path of paths) {
      assert.equal(textOf(await read("linked", path)), "# A", path);
      const { content, isError } = await read("git", path);
      assert.match(JSON.stringify(content), /the skill serves no such file/);
      assert.ok(isError);
    }
    const main = join(skills, "linked", "SKILL.md");
    assert.equal(textOf(await read("linked", main)), skillMd("linked"));
    const callOverHttp = toolCaller(registry, { toolset, isRemote: true });
    for (const file of [paths[0]!, main]) {
      const input = { [skill]: "linked", [path]: file };
      const refused = textOf(await callOverHttp(tool, input));
      assert.match(refused, /the skill serves no such file/);
    }
  }
});

Deno.test("a result of more than 8 MiB as JSON is refused with advice", async () => {
  using place = new Place();
  // Each of these characters takes six in JSON.
  place.skill("home/.claude/skills", "odd");
  const text = "\u0001".repeat(1_000_000);
  for (const name of ["a", "b"]) {
    place.file(`home/.claude/skills/odd/${name}.txt`, text);
  }
  await using wire = await Wire.open(place);
  const read = (uri: string) => wire.ask(1, "resources/read", { uri });
  const { error } = await read("skill://odd/");
  assert.match(
    error!.message,
    /the limit is 8388608 bytes of JSON; read them one by one: "SKILL.md", "a.txt", "b.txt"$/,
  );
  const { result } = await read("skill://odd/a.txt");
  assert.equal(result.contents[0].text.length, 1_000_000);
});
