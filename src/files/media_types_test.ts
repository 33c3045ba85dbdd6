import assert from "node:assert/strict";
import { mediaTypeOf, mediaTypeOfName } from "./media_types.ts";
import { nextId } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/folders.ts";
import { Wire } from "../../tests/testing/server.ts";

Deno.test("mediaTypeOfName() recognizes the usual files of skills, ignoring case", () => {
  const types = {
    "SKILL.md": "text/markdown",
    "scripts/run.py": "text/x-python",
    "a/b.c/main.go": "text/plain",
    "App.TSX": "text/typescript",
    "app.mjs": "text/javascript",
    "run.sh": "text/x-shellscript",
    "Makefile": undefined,
    "web.Dockerfile": "text/plain",
    "data.json": "application/json",
    "data.tar.gz": "application/gzip",
    "config.yml": "application/yaml",
    "diagram.svg": "image/svg+xml",
    "photo.JPG": "image/jpeg",
    "form.pdf": "application/pdf",
    "LICENSE": undefined,
    "go": undefined,
    "py/readme": undefined,
    "notes.unknown": undefined,
    "a.": undefined,
    "": undefined,
    "constructor": undefined,
  };
  for (const [path, type] of Object.entries(types)) {
    assert.equal(mediaTypeOfName(path), type, path);
  }
});

Deno.test("mediaTypeOf() inspects the content if the name does not determine the type", () => {
  const text = "MIT";
  assert.equal(mediaTypeOf({ path: "LICENSE", text }), "text/plain");
  assert.equal(
    mediaTypeOf({ path: "LICENSE", text: undefined }),
    "application/octet-stream",
  );
  assert.equal(mediaTypeOf({ path: "a.py", text: undefined }), "text/x-python");
});

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
  const read = async (uri: string): Promise<DescribedFile[]> =>
    (await ask("resources/read", { uri })).contents;
  const folder = await ask("resources/directory/read", {
    uri: "skill://types",
  });
  assert.deepEqual(typesOf(folder.resources), types);
  for (const { uri, mimeType } of folder.resources as DescribedFile[]) {
    assert.equal((await read(uri))[0]!.mimeType, mimeType);
  }
  const { "SKILL.md": _, ...others } = types;
  assert.deepEqual(typesOf(await read("skill://types/")), others);
  const { content } = await ask("tools/call", {
    name: "skill-resource",
    arguments: { skill: "types", path: "odd.xyz" },
  });
  assert.equal(content[0].resource.mimeType, types["odd.xyz"]);
});

/** A file as a view describes it. */
interface DescribedFile {
  readonly uri: string;
  readonly mimeType?: string;
}

function typesOf(
  files: readonly DescribedFile[],
): Record<string, string | undefined> {
  const type = ({ uri, mimeType }: DescribedFile) =>
    [uri.slice("skill://types/".length), mimeType] as const;
  return Object.fromEntries(files.map(type));
}
