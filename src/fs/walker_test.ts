import assert from "node:assert/strict";
import {
  DiskSpy,
  exchange,
  LaterClock,
  Place,
} from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { childPath, join } from "./paths.ts";
import type { FolderSnapshot } from "./snapshot.ts";
import { type PlacedFolder, walk, type WalkSteps } from "./walker.ts";

/** Notes what a walk does. Walks into all folders, but not through links. */
class Recorder implements WalkSteps<PlacedFolder> {
  maxEntries = 100;
  readonly isShared = true;
  readonly folders: string[] = [];
  readonly entries: string[] = [];
  readonly failures: string[] = [];
  /** The last snapshot of each folder. */
  readonly snapshots = new Map<string, FolderSnapshot>();
  readonly #top: string;

  constructor(top: string) {
    this.#top = top;
  }

  #name(path: string): string {
    return path.slice(this.#top.length + 1).replaceAll("\\", "/");
  }

  isLookedAt({ name }: Deno.DirEntry): boolean {
    return name !== "ignored";
  }

  isListed({ path }: PlacedFolder): boolean {
    return !path.endsWith("closed");
  }

  onListed({ path }: PlacedFolder, entries: readonly Deno.DirEntry[]): void {
    this.folders.push(`${this.#name(path)} ${entries.length}`);
  }

  onUnsearched({ path }: PlacedFolder, reason: string): void {
    this.folders.push(`${this.#name(path)} ${reason}`);
  }

  onEntry(
    { name, isDirectory }: Deno.DirEntry,
    folder: PlacedFolder,
    parent: FolderSnapshot,
  ): PlacedFolder | undefined {
    const path = childPath(folder.path, name);
    this.entries.push(this.#name(path));
    this.snapshots.set(this.#name(folder.path), parent);
    if (name === "bad") throw new Error("bad");
    const realPath = childPath(folder.realPath, name);
    return isDirectory ? { path, realPath, isLink: false, parent } : undefined;
  }

  onFailure(
    error: unknown,
    folder: PlacedFolder,
    entry?: Deno.DirEntry,
  ): void {
    const { name, message } = error as Error;
    const where = `${this.#name(folder.path)}:${entry?.name ?? ""}`;
    this.failures.push(`${where} ${name === "Error" ? message : name}`);
  }

  async walk(isExposed = false) {
    const path = this.#top;
    const place = { path, realPath: path, isLink: true, isExposed };
    return await walk({ ...place, parent: undefined }, this);
  }
}

/**
 * Returns a clock with which a folder last changed long ago. The next change gives the
 * folder another time, however soon it comes.
 */
function openLater(folder: string): LaterClock {
  // Nobody can set the time at which the status changed.
  Deno.utimeSync(folder, 0, 0);
  return new LaterClock();
}

Deno.test("walk() goes breadth first, by name, and a failure affects nothing else", async () => {
  using place = new Place();
  const path = place.folder("top");
  for (const name of ["b/d/e", "a/c", "closed/x", "ignored/y"]) {
    place.folder(`top/${name}`);
  }
  for (const name of ["a/bad", "b/z", "ab"]) place.file(`top/${name}`, "");
  const recorder = new Recorder(path);
  assert.equal(await recorder.walk(), undefined);
  assert.deepEqual(recorder.entries, [
    "a",
    "ab",
    "b",
    "closed",
    "a/bad",
    "a/c",
    "b/d",
    "b/z",
    "b/d/e",
  ]);
  assert.deepEqual(recorder.folders, [
    " 5",
    "a 2",
    "b 2",
    "closed unwanted",
    "a/c 0",
    "b/d 1",
    "b/d/e 0",
  ]);
  assert.deepEqual(recorder.failures, ["a:bad bad"]);
});

Deno.test("walk() ends at the limit, and returns the first entry beyond it", async () => {
  using place = new Place();
  const path = place.folder("top");
  for (const name of ["a/c", "a/d", "b"]) place.folder(`top/${name}`);
  const recorder = new Recorder(path);
  recorder.maxEntries = 3;
  const end = await recorder.walk();
  assert.equal(end?.entry.name, "d");
  assert.equal(end?.folder.path, join(path, "a"));
  assert.deepEqual(recorder.entries, ["a", "b", "a/c"]);
});

Deno.test("a snapshot holds until the folder changes, but not if it just changed, or may be swapped", async () => {
  using place = new Place();
  const path = place.folder("top");
  place.folder("top/a");
  {
    using _clock = openLater(path);
    const exposed = new Recorder(path);
    await exposed.walk(true);
    assert.equal(exposed.snapshots.get("")!.holds(), false);
    const recorder = new Recorder(path);
    await recorder.walk();
    const snapshot = recorder.snapshots.get("")!;
    assert.equal(snapshot.holds(), true);
    place.folder("top/b");
    assert.equal(snapshot.holds(), false);
  }
  Deno.utimeSync(path, new Date(), new Date());
  const recorder = new Recorder(path);
  await recorder.walk();
  assert.equal(recorder.snapshots.get("")!.holds(), false);
});

Deno.test("no snapshot holds below a folder that just changed, because it may be swapped", async () => {
  using place = new Place();
  const path = place.folder("top");
  place.folder("top/a/b/c");
  using _clock = openLater(path);
  const listB = async () => {
    const recorder = new Recorder(path);
    await recorder.walk();
    return recorder.snapshots.get("a/b")!;
  };
  assert.equal((await listB()).holds(), true);
  const now = new Date(Date.now());
  Deno.utimeSync(join(path, "a"), now, now);
  assert.equal((await listB()).holds(), false);
});

Deno.test(
  "walk() notes a failure for a settled folder that is swapped before it is listed, and back soon after",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const path = place.folder("top");
    const folder = place.folder("top/a");
    place.folder("outside/secret");
    const out = place.link(join(place.path, "outside"), "links/out");
    using _clock = openLater(path);
    using _disk = new DiskSpy((target, operation) => {
      if (target === folder && operation === "readDirSync") {
        exchange(folder, out);
      }
      return undefined;
    });
    const recorder = new Recorder(path);
    await recorder.walk();
    assert.deepEqual(recorder.failures, ["a: SkillFileError"]);
    assert.deepEqual(recorder.entries, ["a"]);
  },
);

Deno.test(
  "walk() notes a failure for a folder that is swapped while it is listed, or while its entries are looked at",
  {
    ignore: lacks("links"),
  },
  async () => {
    for (const [swapAt, entries] of [[1, []], [2, ["a/b"]]] as const) {
      using place = new Place();
      const path = place.folder("top");
      const folder = place.folder("top/a");
      place.folder("top/a/b");
      place.folder("outside/secret");
      const out = place.link(join(place.path, "outside"), "links/out");
      let count = 0;
      using _disk = new DiskSpy((target, operation) => {
        const isCounted = target === folder && operation === "realPathSync";
        // The place is confirmed twenty times, and then once more.
        if (isCounted && ++count === (swapAt === 1 ? 1 : 21)) {
          exchange(folder, out);
        }
        return undefined;
      });
      const recorder = new Recorder(path);
      await recorder.walk();
      assert.equal(recorder.failures[0], "a: SkillFileError");
      assert.deepEqual(
        recorder.entries.filter((name) => name.startsWith("a/")),
        entries,
      );
    }
  },
);
