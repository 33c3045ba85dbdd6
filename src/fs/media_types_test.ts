import assert from "node:assert/strict";
import { mediaTypeOfName } from "./media_types.ts";
import { nextId } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/folders.ts";
import { Wire } from "../../tests/testing/server.ts";

Deno.test("mediaTypeOfName() recognizes the types that hosts act on, ignoring case", () => {
  const types = {
    "SKILL.md": "text/markdown",
    "scripts/run.py": "text/x-python",
    "data.tar.gz": "application/gzip",
    "config.yml": "application/yaml",
    "photo.JPG": "image/jpeg",
    "a/b.c/main.go": undefined,
    "py/readme": undefined,
    "a.": undefined,
    "": undefined,
    "x.constructor": undefined,
  };
  for (const [path, type] of Object.entries(types)) {
    assert.equal(mediaTypeOfName(path), type, path);
  }
});

/** A file as a view describes it. */
interface DescribedFile {
  readonly uri: string;
  readonly mimeType?: string;
}

Deno.test("every file has the same media type in every view", async () => {
  using place = new Place();
  const skill = "home/.claude/skills/types";
  place.skill("home/.claude/skills", "types");
  const bytes = new Uint8Array([0xff, 0x00, 0xfe]);
  const types: Record<string, string> = {
    "SKILL.md": "text/markdown",
    "LICENSE": "text/plain",
    "Makefile": "text/plain",
    "a.go": "text/plain",
    "a.py": "text/x-python",
    "empty": "text/plain",
    "latin1.txt": "text/plain",
    "odd.xyz": "application/octet-stream",
    "text.xyz": "text/plain",
  };
  for (const path of Object.keys(types)) {
    const isBinary = path === "odd.xyz" || path === "latin1.txt";
    const content = path === "empty" ? "" : isBinary ? bytes : "text";
    if (path !== "SKILL.md") place.file(`${skill}/${path}`, content);
  }
  await using wire = new Wire(place, { args: ["--tools", "skilljack"] });
  const ask = async (method: string, params: object) => {
    const { result, error } = await wire.ask(nextId(), method, params);
    assert.equal(error, undefined);
    return result;
  };
  const root = "skill://types/";
  const read = async (uri: string): Promise<DescribedFile[]> =>
    (await ask("resources/read", { uri })).contents;
  const dir = await ask("resources/directory/read", { uri: root });
  // A directory is listed without reading its files.
  for (const { uri, mimeType } of dir.resources as DescribedFile[]) {
    const [file] = await read(uri);
    assert.equal(file!.mimeType, types[uri.slice(root.length)]);
    assert.ok(mimeType === undefined || mimeType === file!.mimeType, uri);
  }
  const all = (await read(root))
    .map(({ uri, mimeType }) => [uri.slice(root.length), mimeType] as const);
  assert.deepEqual(Object.fromEntries(all), types);
  const { content } = await ask("tools/call", {
    name: "skill-resource",
    arguments: { skill: "types", path: "odd.xyz" },
  });
  assert.equal(content[0].resource.mimeType, types["odd.xyz"]);
});
