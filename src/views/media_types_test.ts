import assert from "node:assert/strict";
import { nextId } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/place.ts";
import { Wire } from "../../tests/testing/server.ts";

Deno.test("every file has the same media type in every view", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "types");
  const binary = new Uint8Array([0xff, 0x00, 0xfe]);
  const files: [path: string, content: string | Uint8Array, type: string][] = [
    ["LICENSE", "text", "text/plain"],
    ["a.py", "text", "text/x-python"],
    ["empty", "", "text/plain"],
    ["latin1.txt", binary, "text/plain"],
    ["data.tar.gz", binary, "application/gzip"],
    ["photo.JPG", binary, "image/jpeg"],
    ["b.c/go", "text", "text/plain"],
    ["x.constructor", binary, "application/octet-stream"],
    ["odd.xyz", binary, "application/octet-stream"],
    ["text.xyz", "text", "text/plain"],
  ];
  for (const [path, content] of files) {
    place.file(`home/.claude/skills/types/${path}`, content);
  }
  await using wire = new Wire(place, { args: ["--tools", "skilljack"] });
  const ask = async (method: string, params: object) =>
    (await wire.ask(nextId(), method, params)).result;
  const uri = "skill://types/";
  const { contents } = await ask("resources/read", { uri });
  const { resources } = await ask("resources/directory/read", { uri });
  for (const [path, , type] of files) {
    // deno-lint-ignore no-explicit-any -- a file as each view describes it
    const isFile = (file: any) => file.uri === uri + path;
    assert.equal(contents.find(isFile).mimeType, type, path);
    const file = await ask("resources/read", { uri: uri + path });
    assert.equal(file.contents[0].mimeType, type, path);
    const { content } = await ask("tools/call", {
      name: "skill-resource",
      arguments: { skill: "types", path },
    });
    assert.equal(content[0].resource?.mimeType ?? type, type, path);
    // A directory is listed without reading its files, and without those in it.
    const { mimeType = type } = resources.find(isFile) ?? {};
    assert.equal(mimeType, type, path);
  }
});
