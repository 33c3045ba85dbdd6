import assert from "node:assert/strict";
import { Place } from "../../tests/testing/place.ts";
import { join } from "./paths.ts";
import { isSettled, locate, readLocated } from "./read.ts";

Deno.test("readLocated() reads what is left of a file that shrank", () => {
  using place = new Place();
  const path = place.file("a.md", "long text");
  const located = locate(path, () => true);
  place.file("a.md", "short");
  assert.deepEqual(readLocated(located), new TextEncoder().encode("short"));
});

Deno.test("readLocated() refuses a folder, and a file that is too large", () => {
  using place = new Place();
  const file = locate(place.file("dir/a.md", "long"), () => true);
  const dir = locate(join(place.path, "dir"), () => true);
  assert.throws(() => readLocated(dir), /it is a folder/);
  assert.throws(() => readLocated(file, { maxFileSize: 3 }), /larger than/);
  const huge = { ...file, status: { ...file.status, size: 2 ** 50 } };
  assert.throws(() => readLocated(huge), /larger than/);
});

Deno.test("isSettled() is true two seconds after a change, if the time is known", () => {
  using place = new Place();
  const status = Deno.statSync(place.file("a.md", ""));
  const at = (ago: number | null) => {
    const time = ago === null ? null : new Date(Date.now() - ago);
    return isSettled({ ...status, mtime: time, ctime: time });
  };
  assert.deepEqual([1_000, 2_000, null].map(at), [false, true, false]);
});
