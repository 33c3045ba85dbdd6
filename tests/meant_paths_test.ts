// Paths as models write them: with a fragment, percent-encoded, with backslashes, a slash
// first, or other forms of the letters with accents.
import assert from "node:assert/strict";
import { Place } from "./testing/folders.ts";
import { Wire } from "./testing/server.ts";
import { callFor } from "./testing/tools.ts";

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

Deno.test("resources/read reads a URI as it is meant, and returns the URI that was sent", async () => {
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
