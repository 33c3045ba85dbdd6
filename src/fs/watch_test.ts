import assert from "node:assert/strict";
import { replaced } from "../../tests/testing/fakes.ts";
import { Place } from "../../tests/testing/place.ts";
import { Inbox } from "../../tests/testing/waiting.ts";
import { join } from "./paths.ts";
import { DirWatcher, MAX_WATCHED_DIRS } from "./watch.ts";

/** A watcher that is updated after each callback, as a registry does. */
class Watched implements Disposable {
  readonly place = new Place();
  readonly events = new Inbox<string>();
  readonly lines = new Inbox<string>();
  #dirs: string[] = [];
  readonly watcher = new DirWatcher(
    () => {
      this.events.put("event");
      this.watcher.update(this.#dirs);
    },
    (line) => this.lines.put(line),
  );

  /** Watches directories, and waits until they are watched. */
  async watch(...dirs: string[]): Promise<void> {
    this.#dirs = dirs.map((path) => join(this.place.path, path));
    this.watcher.update(this.#dirs);
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

Deno.test("DirWatcher calls back once after a burst of changes in a folder", async () => {
  using watched = new Watched();
  const { place, events } = watched;
  place.dir("skills", "git");
  await watched.watch("skills");
  for (let i = 0; i < 20; i++) place.file(`skills/${i}.md`, "x");
  await watched.event();
  place.file("skills/git/deep.md", "x");
  place.file("skills/last.md", "x");
  await watched.event();
  assert.deepEqual(events.takeAll(), []);
});

Deno.test("DirWatcher calls back while changes never stop", async () => {
  using watched = new Watched();
  const { place } = watched;
  place.dir("skills");
  await watched.watch("skills");
  const writing = setInterval(() => place.file("skills/log", "x"), 10);
  try {
    await watched.event();
    await watched.event();
  } finally {
    clearInterval(writing);
  }
});

Deno.test("DirWatcher opens the first directories that exist, once", async () => {
  using watched = new Watched();
  const { place } = watched;
  const { watchFs } = Deno;
  const opened: string[][] = [];
  using _deno = replaced(Deno, {
    watchFs: (paths, options) => {
      opened.push([paths].flat());
      return watchFs(paths, options);
    },
  });
  const names = Array.from({ length: 200 }, (_, index) => `f${index}`);
  const dirs = names.map((name) => place.dir(name));
  await watched.watch("missing", ...names);
  watched.watcher.update([join(place.path, "missing"), ...dirs]);
  assert.deepEqual(opened, [dirs.slice(0, MAX_WATCHED_DIRS)]);
  assert.deepEqual(watched.lines.takeAll(), []);
});

Deno.test("DirWatcher gives up with one line if the system refuses", async () => {
  using watched = new Watched();
  const dirs = [watched.place.dir("a"), watched.place.dir("b")];
  using _deno = replaced(Deno, {
    watchFs: () => {
      throw new Error("Too many open files.");
    },
  });
  watched.watcher.update(dirs);
  const line = await watched.lines.take(() => true, "a line");
  assert.equal(
    line,
    "Cannot watch folders: Too many open files; the next scan still finds changes",
  );
  watched.watcher.update(dirs);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(watched.lines.takeAll(), []);
});
