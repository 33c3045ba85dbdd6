import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { isRacy, openFile, openForScan } from "./open_file.ts";
import { Place, runSync } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";

for (const open of [openFile, openForScan]) {
  Deno.test(`${open.name}() opens a file for reading`, () => {
    using place = new Place();
    const path = place.file("a.md", "one two");
    const stat = Deno.statSync(path);
    // Pretend that the file is old.
    const info = { ...stat, mtime: new Date(0), ctime: new Date(0) };
    using file = open(path, info);
    const buffer = new Uint8Array(4);
    const read = () =>
      new TextDecoder().decode(buffer.subarray(0, file.read(buffer)));
    assert.deepEqual([read(), read(), read()], ["one ", "two", ""]);
    const { isFile, dev, ino, size, mtime, ctime } = file.info;
    assert.deepEqual(
      [isFile, dev, ino, size, mtime, ctime],
      [true, stat.dev, stat.ino, 7, stat.mtime, stat.ctime],
    );
  });

  Deno.test(`${open.name}() throws the same error as Deno`, () => {
    using place = new Place();
    const path = join(place.path, "none.md");
    const info = Deno.statSync(place.path);
    assert.throws(() => open(path, info), Deno.errors.NotFound);
  });

  Deno.test(
    `${open.name}() does not block on a FIFO that replaced a file`,
    {
      ignore: lacks("fifos"),
    },
    () => {
      using place = new Place();
      const info = Deno.statSync(place.file("a.md", ""));
      const fifo = join(place.path, "fifo");
      runSync("mkfifo", fifo);
      using file = open(fifo, info);
      assert.equal(file.info.isFile, false);
    },
  );
}

Deno.test("isRacy() treats a time as recent if it is unknown or more than a date can hold", () => {
  const time = new Date(0);
  const past = { dev: 0, mtime: time, ctime: time };
  assert.equal(isRacy(past), false);
  assert.equal(isRacy(past, 31_999), true);
  assert.equal(isRacy({ ...past, mtime: new Date() }), true);
  assert.equal(isRacy({ ...past, ctime: new Date() }), true);
  assert.equal(isRacy({ ...past, mtime: null }), true);
  assert.equal(isRacy({ ...past, mtime: new Date(NaN) }), true);
});

Deno.test(
  "isRacy() takes the clock of a file system on a block device for the system's",
  {
    ignore: Deno.build.os !== "linux",
  },
  () => {
    const time = new Date(0);
    for (const [dev, end] of [[0xfe00, 2_000], [0x100001, 32_000]] as const) {
      const file = { dev, mtime: time, ctime: time };
      assert.equal(isRacy(file, end - 1), true);
      assert.equal(isRacy(file, end), false);
    }
  },
);
