import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { FolderWatcher, MAX_WATCHED_FOLDERS } from "./watcher.ts";
import { Place } from "../../tests/testing/folders.ts";
import { Inbox, withTimers } from "../../tests/testing/waiting.ts";

/** A watcher that is updated after each callback, as a registry does. */
class Watched implements Disposable {
  readonly place = new Place();
  readonly events = new Inbox<string>();
  readonly lines = new Inbox<string>();
  #folders: string[] = [];
  readonly watcher = new FolderWatcher(
    () => {
      this.events.put("event");
      this.watcher.update(this.#folders);
    },
    (line) => this.lines.put(line),
  );

  /** Watches folders, and waits until they are watched. */
  async watch(...folders: string[]): Promise<void> {
    this.#folders = folders.map((path) => join(this.place.path, path));
    this.watcher.update(this.#folders);
    await this.event();
  }

  /** Waits for a callback. */
  async event(): Promise<void> {
    await this.events.take(() => true, "an event");
  }

  [Symbol.dispose](): void {
    this.watcher.close();
    this.place[Symbol.dispose]();
  }
}

Deno.test("FolderWatcher calls back once after a burst of changes in a folder, and not for its subfolders", async () => {
  using watched = new Watched();
  const { place, events } = watched;
  place.folder("skills", "git");
  await watched.watch("skills");
  for (let i = 0; i < 20; i++) place.file(`skills/${i}.md`, "x");
  await watched.event();
  place.file("skills/git/deep.md", "x");
  place.file("skills/last.md", "x");
  await watched.event();
  assert.deepEqual(events.takeAll(), []);
});

Deno.test("FolderWatcher watches a folder again that was removed and created again", async () => {
  using watched = new Watched();
  const { place } = watched;
  place.folder("skills");
  await watched.watch("skills");
  for (let round = 0; round < 3; round++) {
    place.remove("skills");
    await watched.event();
    place.folder("skills");
    await watched.watch("skills");
    place.file("skills/new.md", "x");
    await watched.event();
  }
});

Deno.test("FolderWatcher watches the first folders only, and none that is missing", async () => {
  using watched = new Watched();
  const { place } = watched;
  const { watchFs } = Deno;
  const opened: string[] = [];
  Deno.watchFs = (path, options) => {
    opened.push(String(path));
    return watchFs(path, options);
  };
  try {
    const names = Array.from({ length: 200 }, (_, index) => `f${index}`);
    for (const name of names) place.folder(name);
    await watched.watch("missing", ...names);
    assert.equal(opened.length, MAX_WATCHED_FOLDERS);
    assert.ok(opened[1]!.endsWith("f0"));
    assert.deepEqual(watched.lines.takeAll(), []);
  } finally {
    Deno.watchFs = watchFs;
  }
});

Deno.test("FolderWatcher rests for ten seconds after too many events", async () => {
  using watched = new Watched();
  const { place, events } = watched;
  place.folder("skills");
  await watched.watch("skills");
  let rests = 0;
  const delayOf = (delay: number) => {
    if (delay === 10_000) rests++;
    return Math.min(delay, 100);
  };
  const now = performance.now.bind(performance);
  performance.now = () => now() + rests * 10_000;
  try {
    await withTimers(delayOf, async () => {
      for (let i = 0; rests === 0; i++) {
        place.file(`skills/${i}.md`, "x");
        // Deno collapses the events of changes that are made without a pause.
        await new Promise((resolve) => setTimeout(resolve, 1));
      }
      await watched.event();
      await watched.event();
      events.takeAll();
      place.file("skills/after.md", "x");
      await watched.event();
    });
    assert.equal(rests, 1);
  } finally {
    performance.now = now;
  }
});

Deno.test("FolderWatcher gives up with one line if the system refuses", async () => {
  using watched = new Watched();
  watched.place.folder("skills");
  const { watchFs } = Deno;
  Deno.watchFs = () => {
    throw new Error("Too many open files.");
  };
  try {
    const folder = join(watched.place.path, "skills");
    watched.watcher.update([folder]);
    const line = await watched.lines.take(() => true, "a line");
    assert.equal(
      line,
      "Cannot watch folders: Too many open files; the next rescan finds changes instead",
    );
  } finally {
    Deno.watchFs = watchFs;
  }
});
