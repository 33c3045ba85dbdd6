import assert from "node:assert/strict";
import { Digests, sha256 } from "./digests.ts";

Deno.test("sha256() returns the digest of the bytes with its algorithm", () => {
  assert.equal(
    sha256(new TextEncoder().encode("abc")),
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});

Deno.test("Digests reads a file again until its version identifies the content", () => {
  const digests = new Digests();
  const listed = { path: "a.md", version: "1", size: 1 };
  let reads = 0;
  const digestOf = (text: string, isSettled: boolean) =>
    digests.digestOf(listed, "/git", () => {
      reads++;
      const bytes = new TextEncoder().encode(text);
      return { bytes, text, size: bytes.length, version: "1", isSettled };
    }).digest;
  const before = digestOf("before", false);
  const after = digestOf("after", true);
  assert.notEqual(after, before);
  assert.equal(digestOf("nobody reads this", true), after);
  assert.equal(reads, 2);
});
