import assert from "node:assert/strict";
import { type FileContent, KnownFiles, sha256 } from "./known_files.ts";

/** Describes the content of a file. */
function contentOf(path: string, size: number): FileContent {
  const bytes = new Uint8Array();
  return { path, size, version: "1", bytes, text: "", isCertain: true };
}

Deno.test("KnownFiles finds what it knows by path and version", () => {
  const { contents } = new KnownFiles();
  const content = contentOf("/a", 1);
  contents.add(content, content);
  assert.equal(contents.find({ path: "/a", version: "1" }), content);
  assert.equal(contents.find({ path: "/a", version: "2" }), undefined);
  assert.equal(contents.find({ path: "/b", version: "1" }), undefined);
});

Deno.test("KnownFiles keeps up to 2 MiB of contents, and forgets all earlier ones for one more", () => {
  const { contents } = new KnownFiles();
  const half = 1024 * 1024;
  const knownAfter = (path: string, size: number) => {
    const content = contentOf(path, size);
    contents.add(content, content);
    return ["/a", "/b", "/c", "/d", "/e"]
      .filter((path) => contents.find({ path, version: "1" })).join(" ");
  };
  assert.equal(knownAfter("/a", half), "/a");
  assert.equal(knownAfter("/b", half), "/a /b");
  assert.equal(knownAfter("/c", 1), "/c");
  assert.equal(knownAfter("/d", 2 * half - 1), "/c /d");
  assert.equal(knownAfter("/e", 1), "/e");
});

Deno.test("sha256() returns the digest of the bytes with its algorithm", () => {
  assert.equal(
    sha256(new TextEncoder().encode("abc")),
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
