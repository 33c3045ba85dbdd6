import assert from "node:assert/strict";
import { sha256 } from "./digests.ts";

Deno.test("sha256() returns the digest of the bytes with its algorithm", () => {
  assert.equal(
    sha256(new TextEncoder().encode("abc")),
    "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
  );
});
