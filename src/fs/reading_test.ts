import assert from "node:assert/strict";
import {
  DiskSpy,
  exchange,
  LaterClock,
  OpenSpy,
  Place,
  runSync,
} from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { IS_A_FOLDER, NOT_A_FILE, WAS_REPLACED } from "./faults.ts";
import { join } from "./paths.ts";
import {
  confirmPlace,
  DEFAULT_MAX_FILE_SIZE,
  type Located,
  readLocated,
  requireInPlace,
  requireReadable,
  statLocated,
} from "./reading.ts";
import { FolderSnapshot } from "./snapshot.ts";

const WAS_REPLACED_ERROR = {
  name: "SkillFileError",
  reason: WAS_REPLACED.reason,
};

/** Describes a path that is no link. */
function located(path: string): Located {
  return { path, realPath: path, isLink: false };
}

/** Reads a file as it is expected to be now. */
function read(
  file: Located,
  options: { size?: number; walked?: FolderSnapshot } = {},
): string {
  const expected = statLocated(file);
  const { size = expected.size, walked } = options;
  const buffer = new Uint8Array(size);
  const { bytes } = readLocated(file, { expected, buffer, walked });
  return new TextDecoder().decode(bytes);
}

Deno.test("requireReadable() accepts regular files up to the limit", () => {
  using place = new Place();
  const path = place.file("a.md", "abc");
  const file = Deno.statSync(path);
  const folder = { ...file, isFile: false, isDirectory: true };
  const large = { ...file, size: DEFAULT_MAX_FILE_SIZE + 1 };
  const tooLarge = {
    reason: "it has more than 1 MiB",
    fix: "make it smaller",
  };
  const cases: [
    Deno.FileInfo,
    number | undefined,
    Partial<DiagnosticDetails> | undefined,
  ][] = [
    [file, undefined, undefined],
    [file, 3, undefined],
    [file, 2, { rule: "too-large" }],
    [{ ...file, size: DEFAULT_MAX_FILE_SIZE }, undefined, undefined],
    [large, undefined, tooLarge],
    [{ ...file, size: 0 }, 0, undefined],
    [folder, undefined, IS_A_FOLDER],
    [{ ...file, isFile: false }, undefined, NOT_A_FILE],
  ];
  for (const [status, maxFileSize, fault] of cases) {
    const check = () => requireReadable(located(path), { status, maxFileSize });
    if (fault === undefined) check();
    else assert.throws(check, { name: "SkillFileError", ...fault });
  }
});

Deno.test("requireReadable() says nothing of a file that is not in its place", () => {
  using place = new Place();
  const status = Deno.statSync(place.file("outside.md", "abc"));
  const file = located(place.file("a.md", "abc"));
  assert.throws(
    () => requireReadable(file, { status, maxFileSize: 2 }),
    WAS_REPLACED_ERROR,
  );
});

Deno.test("readLocated() returns the beginning of a file that fits into the buffer", () => {
  using place = new Place();
  const file = located(place.file("a.md", "text"));
  assert.equal(read(file), "text");
  assert.equal(read(file, { size: 100 }), "text");
  assert.equal(read(file, { size: 2 }), "te");
  assert.equal(read(located(place.file("empty", ""))), "");
});

Deno.test("readLocated() throws if the file has another status when it is open", () => {
  using place = new Place();
  const file = located(place.file("a.md", "text"));
  using _opens = new OpenSpy({
    beforeOpen: (path) => (Deno.writeTextFileSync(path, "longer"), path),
  });
  assert.throws(() => read(file), WAS_REPLACED_ERROR);
});

Deno.test(
  "readLocated() does not wait for a FIFO for which a new file was swapped",
  { ignore: lacks("fifos") },
  () => {
    using place = new Place();
    const file = located(place.file("a.md", "text"));
    const fifo = join(place.path, "fifo");
    runSync("mkfifo", fifo);
    using _opens = new OpenSpy({ beforeOpen: () => fifo });
    assert.throws(() => read(file), WAS_REPLACED_ERROR);
  },
);

Deno.test("readLocated() confirms the place in twenty rounds, unless a snapshot proves it", () => {
  using place = new Place();
  const folder = place.folder("docs");
  const file = located(place.file("docs/a.md", "text"));
  using _clock = new LaterClock();
  const status = Deno.statSync(folder);
  const proof = new FolderSnapshot(folder, status, false);
  const exposed = new FolderSnapshot(folder, status, true);
  using disk = new DiskSpy();
  const roundsFor = (walked?: FolderSnapshot) => {
    disk.counts.clear();
    assert.equal(read(file, { walked }), "text");
    return disk.counts.get("realPathSync") ?? 0;
  };
  assert.equal(roundsFor(proof), 0);
  assert.equal(roundsFor(exposed), 20);
  // Without a walk, the folders above are looked at.
  assert.equal(roundsFor(), 0);
  Date.now = () => status.mtime!.getTime();
  assert.equal(roundsFor(), 20);
});

Deno.test("confirmPlace() throws if the path leads to another file", () => {
  using place = new Place();
  const file = located(place.file("a.md", "text"));
  const status = statLocated(file);
  confirmPlace(file, status);
  exchange(file.path, place.file("b.md", "text"));
  const confirm = () => confirmPlace(file, status);
  assert.throws(confirm, WAS_REPLACED_ERROR);
});

Deno.test(
  "requireInPlace() and statLocated() do not follow a link that has just appeared",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    const target = place.file("secret.md", "secret");
    const path = place.link(target, "a.md");
    const file = located(path);
    assert.equal(statLocated(file).isSymlink, true);
    assert.throws(() => requireInPlace(file), WAS_REPLACED_ERROR);
    // A link that was known is followed, as long as it leads to the same file.
    const link = { path, realPath: target, isLink: true };
    assert.equal(statLocated(link).isFile, true);
    assert.equal(read(link), "secret");
    Deno.removeSync(path);
    place.link(place.file("other.md", "secret"), "a.md");
    assert.throws(() => requireInPlace(link), WAS_REPLACED_ERROR);
  },
);
