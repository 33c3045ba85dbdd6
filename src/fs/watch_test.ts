import assert from "node:assert/strict";
import { join } from "./paths.ts";
import { FolderWatcher, MAX_WATCHED_FOLDERS } from "./watch.ts";
import { Place, replaced } from "../../tests/testing/folders.ts";
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

/** Notes the folders that are opened to watch them, and whose watchers are closed. */
class WatchSpy implements Disposable {
  readonly opened = new Inbox<string>();
  readonly closed = new Inbox<string>();
  readonly #watchFs = Deno.watchFs;

  constructor() {
    Deno.watchFs = (path, options) => {
      this.opened.put(String(path));
      const watcher = this.#watchFs(path, options);
      const close = watcher.close.bind(watcher);
      watcher.close = () => {
        this.closed.put(String(path));
        close();
      };
      return watcher;
    };
  }

  [Symbol.dispose](): void {
    Deno.watchFs = this.#watchFs;
  }
}

Deno.test("FolderWatcher watches the first folders only, and none that is missing", async () => {
  using watched = new Watched();
  const { place } = watched;
  using spy = new WatchSpy();
  const names = Array.from({ length: 200 }, (_, index) => `f${index}`);
  for (const name of names) place.folder(name);
  await watched.watch("missing", ...names);
  const opened = spy.opened.takeAll();
  // The missing one takes the room of another.
  assert.deepEqual([opened.length, MAX_WATCHED_FOLDERS], [48, 48]);
  assert.ok(opened[1]!.endsWith("f0"));
  assert.deepEqual(watched.lines.takeAll(), []);
});

/** Notes the timers that were started, and are neither over nor cleared. */
class TimerSpy implements Disposable {
  readonly pending = new Set<unknown>();
  readonly #setTimeout = globalThis.setTimeout;
  readonly #clearTimeout = globalThis.clearTimeout;

  constructor() {
    const start = (callback: () => void, delay?: number) => {
      const timer = this.#setTimeout(() => {
        this.pending.delete(timer);
        callback();
      }, delay);
      this.pending.add(timer);
      return timer;
    };
    globalThis.setTimeout = start as typeof setTimeout;
    globalThis.clearTimeout = (timer) => {
      this.pending.delete(timer);
      this.#clearTimeout(timer);
    };
  }

  [Symbol.dispose](): void {
    globalThis.setTimeout = this.#setTimeout;
    globalThis.clearTimeout = this.#clearTimeout;
  }
}

Deno.test("FolderWatcher.close() stops what is about to be opened, and what is about to be told", async () => {
  using watched = new Watched();
  const folder = watched.place.folder("skills");
  using timers = new TimerSpy();
  using spy = new WatchSpy();
  const watchers = [1, 2].map(() =>
    new FolderWatcher(() => watched.events.put("event"), () => {})
  );
  for (const watcher of watchers) watcher.update([folder]);
  assert.equal(timers.pending.size, 2);
  watchers[0]!.close();
  assert.equal(timers.pending.size, 1);
  while (spy.opened.takeAll().length === 0) {
    await new Promise((resolve) => setImmediate(resolve));
  }
  // The callback, and another look at what is watched.
  assert.equal(timers.pending.size, 2);
  watchers[1]!.close();
  assert.equal(timers.pending.size, 0);
  assert.deepEqual(watched.events.takeAll(), []);
});

Deno.test("FolderWatcher rests for ten seconds after too many events", async () => {
  using watched = new Watched();
  const { place, events } = watched;
  place.folder("skills");
  using spy = new WatchSpy();
  await watched.watch("skills");
  let rests = 0;
  const delayOf = (delay: number) => {
    if (delay === 10_000) rests++;
    return Math.min(delay, 100);
  };
  const now = performance.now.bind(performance);
  using _clock = replaced(performance, { now: () => now() + rests * 10_000 });
  const other = place.folder("other");
  await withTimers(delayOf, async () => {
    for (let i = 0; rests === 0; i++) {
      // Almost always, something is about to be opened.
      watched.watcher.update([join(place.path, "skills"), other]);
      place.file(`skills/${i}.md`, "x");
      // Deno collapses the events of changes that are made without a pause.
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    // While it rests, it opens and closes nothing, whatever it is asked to watch.
    events.takeAll();
    spy.opened.takeAll();
    watched.watcher.update([other]);
    await watched.event();
    assert.deepEqual(spy.opened.takeAll(), []);
    assert.deepEqual(spy.closed.takeAll(), []);
    await watched.event();
    events.takeAll();
    place.file("skills/after.md", "x");
    await watched.event();
  });
  assert.equal(rests, 1);
});

Deno.test("FolderWatcher gives up with one line if the system refuses", async () => {
  using watched = new Watched();
  const folders = [watched.place.folder("a"), watched.place.folder("b")];
  using _deno = replaced(Deno, {
    watchFs: () => {
      throw new Error("Too many open files.");
    },
  });
  watched.watcher.update(folders);
  const line = await watched.lines.take(() => true, "a line");
  assert.equal(
    line,
    "Cannot watch folders: Too many open files; changes are noticed by the scans of --refresh",
  );
  watched.watcher.update(folders);
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.deepEqual(watched.lines.takeAll(), []);
});

Deno.test("FolderWatcher leaves out what the system does not allow to watch, and watches the rest", async () => {
  using watched = new Watched();
  const { place, lines } = watched;
  const denied = place.file("policy.yaml", "");
  place.folder("skills");
  const { watchFs } = Deno;
  using _deno = replaced(Deno, {
    watchFs: (path, options) => {
      if (path === denied) throw new Deno.errors.PermissionDenied("denied");
      return watchFs(path, options);
    },
  });
  await watched.watch("policy.yaml", "skills");
  place.file("skills/new.md", "x");
  await watched.event();
  assert.deepEqual(lines.takeAll(), []);
});

Deno.test("FolderWatcher.close() closes nothing while events come fast, and everything soon after", async () => {
  using watched = new Watched();
  const { place } = watched;
  place.folder("skills");
  using spy = new WatchSpy();
  await watched.watch("skills");
  for (let i = 0; i < 200; i++) {
    place.file(`skills/${i}.md`, "x");
    // Deno collapses the events of changes that are made without a pause.
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  watched.watcher.close();
  assert.deepEqual(spy.closed.takeAll(), []);
  await spy.closed.take(() => true, "the end of the watcher");
});
