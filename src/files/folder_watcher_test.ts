import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { SkillRegistry } from "../../mod.ts";
import { LocalSource, type WatchReport } from "./event_source.ts";
import { FolderWatcher } from "./folder_watcher.ts";
import type { WatchedFolders } from "./watch_list.ts";
import { nextId } from "../../tests/testing/client.ts";
import {
  environment,
  IMPORTS,
  SEPARATOR,
} from "../../tests/testing/environment.ts";
import { DiskSpy, Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { names, root, WatchedRegistry } from "../../tests/testing/registry.ts";
import { Wire } from "../../tests/testing/server.ts";
import {
  eventually,
  Inbox,
  within,
  withTimers,
} from "../../tests/testing/waiting.ts";

/** Watches every change in some folders. */
function wholeFolders(paths: string[]): WatchedFolders {
  return { whole: new Set(paths), parts: new Map() };
}

Deno.test("SkillRegistry.watch() reports skills that are added, changed, and removed", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using watched = await new WatchedRegistry([join(place.path, "skills")])
    .start();
  const { registry } = watched;

  place.skill("skills", "pdf");
  await watched.changed("pdf");
  assert.deepEqual(names(registry.catalog), ["git", "pdf"]);

  place.skill("skills", "pdf", skillMd("pdf", "Changed in place"));
  await watched.changed("pdf");
  assert.equal(registry.find("pdf")!.description, "Changed in place");

  const draft = place.file("skills/pdf/.draft", skillMd("pdf", "Atomic"));
  Deno.renameSync(draft, join(place.path, "skills", "pdf", "SKILL.md"));
  await watched.changed("pdf");
  assert.equal(registry.find("pdf")!.description, "Atomic");

  place.remove("skills/git");
  await watched.changed("git");
  assert.deepEqual(names(registry.catalog), ["pdf"]);
});

Deno.test("SkillRegistry.watch() reports a folder that becomes a skill, and an invalid skill that is fixed", async () => {
  using place = new Place();
  place.folder("skills", "later");
  place.skill("skills", "bad", "no frontmatter");
  using watched = await new WatchedRegistry([join(place.path, "skills")])
    .start();
  place.skill("skills", "later");
  await watched.changed("later");
  place.skill("skills", "bad");
  await watched.changed("bad");
  assert.deepEqual(names(watched.registry.catalog), ["bad", "later"]);
});

Deno.test("SkillRegistry.watch() reports a root that is created, removed, and created again", async () => {
  using place = new Place();
  const folder = join(place.path, "home", ".claude", "skills");
  using watched = await new WatchedRegistry([folder]).start();
  for (const round of ["first", "second"]) {
    place.skill("home/.claude/skills", round);
    await watched.changed(round);
    assert.deepEqual(names(watched.registry.catalog), [round]);
    place.remove("home/.claude");
    await watched.changed(round);
    assert.deepEqual(names(watched.registry.catalog), []);
  }
});

Deno.test(
  "SkillRegistry.watch() reports a folder that is replaced by another",
  {
    ignore: lacks("moves"),
  },
  async () => {
    using place = new Place();
    const at = (path: string) => join(place.path, path);
    place.skill("home/.claude/skills", "git");
    place.skill("other/skills", "git", skillMd("git", "Other root"));
    place.skill("other", "git", skillMd("git", "Other skill"));
    using watched = await new WatchedRegistry([at("home/.claude/skills")])
      .start();
    const description = () => watched.registry.find("git")?.description;

    Deno.renameSync(at("home/.claude/skills/git"), at("gone"));
    await watched.changed("git");
    Deno.renameSync(at("other/git"), at("home/.claude/skills/git"));
    await watched.changed("git");
    assert.equal(description(), "Other skill");
    place.skill("home/.claude/skills", "git", skillMd("git", "Changed"));
    await watched.changed("git");
    assert.equal(description(), "Changed");

    Deno.renameSync(at("home/.claude"), at("away"));
    await watched.changed("git");
    assert.equal(description(), undefined);
    Deno.renameSync(at("other"), at("home/.claude"));
    await watched.changed("git");
    assert.equal(description(), "Other root");
  },
);

Deno.test("SkillRegistry.watch() reports changes in the targets of links", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  place.link(place.skill("store", "git"), "skills/git");
  place.link(place.folder("dotfiles"), "linked-root");
  using watched = await new WatchedRegistry([
    join(place.path, "skills"),
    join(place.path, "linked-root"),
  ]).start();
  place.skill("store", "git", skillMd("git", "New"));
  await watched.changed("git");
  place.skill("dotfiles", "pdf");
  await watched.changed("pdf");
  place.remove("linked-root");
  await watched.changed("pdf");
  assert.deepEqual(names(watched.registry.catalog), ["git"]);
});

Deno.test(
  "SkillRegistry.watch() reports when the target of a link is removed and created again",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.link(join(place.path, "dotfiles", "skills"), "home/root");
    place.link(join(place.path, "store", "pdf"), "skills/pdf");
    place.skill("dotfiles/skills", "git");
    place.skill("store", "pdf");
    using watched = await new WatchedRegistry([
      join(place.path, "home", "root"),
      join(place.path, "skills"),
    ]).start();
    for (let round = 0; round < 2; round++) {
      place.remove("dotfiles/skills");
      await watched.changed("git");
      place.skill("dotfiles/skills", "git");
      await watched.changed("git");
      place.remove("store/pdf");
      await watched.changed("pdf");
      place.skill("store", "pdf");
      await watched.changed("pdf");
    }
    assert.deepEqual(names(watched.registry.catalog), ["git", "pdf"]);
  },
);

Deno.test("SkillRegistry.watch() watches the other folders if one cannot be watched", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const locked = place.folder("skills", "locked");
  const { watchFs } = Deno;
  // Changing the folder's mode would not work: root can read everything.
  Deno.watchFs = (paths, options) => {
    if (paths.includes(locked)) throw new Deno.errors.PermissionDenied();
    return watchFs(paths, options);
  };
  try {
    using watched = await new WatchedRegistry([join(place.path, "skills")])
      .start();
    place.skill("skills", "pdf");
    await watched.changed("pdf");
    place.skill("skills", "git", skillMd("git", "Changed"));
    await watched.changed("git");
    assert.deepEqual(watched.lines, []);
  } finally {
    Deno.watchFs = watchFs;
  }
});

Deno.test(
  "FolderWatcher watches the other folders if one becomes a link to itself or lies in a file",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const folder = place.folder("skills");
    const file = place.file("file", "");
    const broken = [place.link("loop", "loop"), join(file, "below")];
    const events = new Inbox<void>();
    const lines: string[] = [];
    const watcher = new FolderWatcher(
      () => events.put(),
      (line) => lines.push(line),
    );
    try {
      watcher.update(
        wholeFolders([...broken, folder]),
      );
      await events.take(() => true, "the call after it starts watching");
      place.file("skills/new", "");
      await events.take(() => true, "the call after a change");
      assert.deepEqual(lines, []);
    } finally {
      watcher.close();
    }
  },
);

Deno.test("SkillRegistry.watch() retries without a timer if folders disappear while it starts watching them", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using watched = new WatchedRegistry([join(place.path, "skills")]);
  const { watchFs } = Deno;
  let failures = 0;
  Deno.watchFs = (paths, options) => {
    if (failures++ < 3) throw new Deno.errors.NotFound();
    return watchFs(paths, options);
  };
  try {
    await watched.start();
    place.skill("skills", "pdf");
    await watched.changed("pdf");
    place.skill("skills", "git", skillMd("git", "Changed"));
    await watched.changed("git");
  } finally {
    Deno.watchFs = watchFs;
  }
  assert.ok(failures > 3);
  assert.deepEqual(watched.lines, []);
});

Deno.test(
  "SkillRegistry.watch() watches many folders in one worker, and none in its own thread",
  {
    ignore: lacks("speed"),
  },
  async () => {
    using place = new Place();
    for (let i = 0; i < 600; i++) place.folder("skills", `s${i}`);
    using spy = new WatchSpy();
    using watched = await new WatchedRegistry([join(place.path, "skills")])
      .start();
    for (const name of ["s0", "s599", "new"]) {
      place.skill("skills", name);
      await watched.changed(name);
      place.skill("skills", name, skillMd(name, "Changed"));
      await watched.changed(name);
    }
    assert.deepEqual(spy.requests, []);
    assert.equal(spy.workers, 1);
    assert.deepEqual(watched.lines, []);
  },
);

Deno.test(
  "SkillRegistry.watch() watches folders before their subfolders, because each event is compared with the paths in order",
  async () => {
    using place = new Place();
    for (let i = 0; i < 20; i++) place.skill("skills", `s${i}`);
    using spy = new WatchSpy();
    const root = Deno.realPathSync(place.folder("skills"));
    using watched = await new WatchedRegistry([join(place.path, "skills")])
      .start();
    place.skill("skills", "new");
    await watched.changed("new");
    place.skill("skills", "new", skillMd("new", "Changed"));
    await watched.changed("new");
    assert.equal(spy.workers, 0);
    assert.ok(spy.requests.length >= 2);
    for (const paths of spy.requests) {
      const first = paths.findIndex((path) => root.startsWith(path));
      assert.equal(first, 0, paths.join("\n"));
      const skill = paths.findIndex((path) =>
        path.startsWith(root + SEPARATOR)
      );
      assert.ok(paths.indexOf(root) < skill, paths.join("\n"));
    }
  },
);

Deno.test("FolderWatcher rests while there are too many events, calls back meanwhile, and then watches again", async () => {
  const events = {
    kind: "remove",
    paths: ["/skills/gone"],
  } as Deno.FsEvent;
  using spy: WatchSpy = new WatchSpy(() =>
    spy.requests.length <= 2
      ? repeatEvent(events, 40_000)
      : repeatEvent(events, 1)
  );
  const lines: string[] = [];
  const open: number[] = [];
  const calm = Promise.withResolvers<void>();
  await withTimers((delay) => delay === 1_000 ? 0 : delay, async () => {
    const watcher = new FolderWatcher(() => {
      open.push(spy.requests.length - spy.closed);
      if (spy.requests.length === 3) calm.resolve();
    }, (line) => lines.push(line));
    watcher.update(wholeFolders(["/skills"]));
    await within(calm.promise, "the folder to be watched again");
    watcher.close();
  });
  // After the first rest, there are still too many events, so the second one is longer.
  const rests = open.join("").split("1").filter((rest) => rest !== "")
    .map(({ length }) => length);
  assert.deepEqual(rests, [5, 10]);
  assert.deepEqual(lines, []);
});

Deno.test("LocalSource reports how old the events of a batch are, so that quiet counts from then", async () => {
  const event = { kind: "modify", paths: ["/skills"] } as Deno.FsEvent;
  using _spy = new WatchSpy(() => repeatEvent(event, 2));
  const reports = new Inbox<WatchReport>();
  const source = new LocalSource((report) => reports.put(report));
  source.send({ paths: ["/skills"], isFresh: false });
  const isEvents = ({ kind }: WatchReport) => kind === "events";
  const ages = [];
  for (const which of ["first", "second"]) {
    const report = await reports.take(isEvents, `the ${which} events`);
    assert.ok(report.kind === "events" && report.count === 1);
    ages.push(report.age);
  }
  source.close();
  assert.ok(ages[1]! > ages[0]! + 10, ages.join(", "));
});

Deno.test("LocalSource reports more than 500 different events in a batch as lost", async () => {
  using _spy = new WatchSpy(async function* () {
    for (let i = 0; i < 1_000; i++) {
      yield { kind: "modify", paths: [`/skills/${i}`] } as Deno.FsEvent;
    }
  });
  const reports = new Inbox<WatchReport>();
  const source = new LocalSource((report) => reports.put(report));
  source.send({ paths: ["/skills"], isFresh: false });
  const report = await reports.take(
    (report) => report.kind === "events" && report.count > 1,
    "the batch",
  );
  source.close();
  assert.ok(report.kind === "events");
  const { events, count } = report;
  assert.deepEqual([count, events.length, events[0]!.flag], [
    999,
    500,
    "rescan",
  ]);
});

Deno.test("FolderWatcher reopens its watchers after lost events, because folders may have been replaced", async () => {
  const lost = { kind: "other", paths: [], flag: "rescan" } as Deno.FsEvent;
  using spy: WatchSpy = new WatchSpy(() =>
    repeatEvent(lost, spy.requests.length === 1 ? 1 : 0)
  );
  const folders = wholeFolders(["/skills"]);
  const watcher = new FolderWatcher(() => watcher.update(folders), () => {});
  try {
    watcher.update(folders);
    await eventually(() => spy.requests.length === 2, "the new watcher");
    assert.equal(spy.closed, 1);
  } finally {
    watcher.close();
  }
});

/** Records the requests to watch folders, and the workers that are started. */
class WatchSpy implements Disposable {
  /** The paths of each watcher of this thread. */
  readonly requests: string[][] = [];
  closed = 0;
  workers = 0;
  readonly #watchFs = Deno.watchFs;
  readonly #Worker = globalThis.Worker;

  /** Creates a spy. The function creates the watchers instead of Deno. */
  constructor(create?: () => AsyncIterable<Deno.FsEvent>) {
    Deno.watchFs = (paths, options) => {
      this.requests.push([paths].flat());
      const watcher = create === undefined
        ? this.#watchFs(paths, options)
        : Object.assign(create(), { close: () => {} }) as Deno.FsWatcher;
      const close = watcher.close.bind(watcher);
      watcher.close = () => {
        this.closed++;
        close();
      };
      return watcher;
    };
    const recordWorker = () => this.workers++;
    globalThis.Worker = class extends this.#Worker {
      constructor(...args: ConstructorParameters<typeof Worker>) {
        super(...args);
        recordWorker();
      }
    };
  }

  [Symbol.dispose](): void {
    Deno.watchFs = this.#watchFs;
    globalThis.Worker = this.#Worker;
  }
}

/** Yields an event a number of times, and then waits forever. */
async function* repeatEvent(event: Deno.FsEvent, count: number) {
  // Events from the system arrive when the event loop turns.
  await new Promise((resolve) => setTimeout(resolve));
  for (let i = 0; i < count; i++) yield event;
  await Promise.withResolvers<never>().promise;
}

Deno.test(
  "server answers requests and exits while a skill is renamed thousands of times a second",
  {
    ignore: lacks("proc"),
  },
  async () => {
    using place = new Place();
    const skills = "home/.claude/skills";
    for (let i = 0; i < 300; i++) place.folder(skills, `s${i}`);
    const skill = place.skill(skills, "git");
    await using wire = new Wire(place);
    await wire.initialize();
    // Otherwise, the first scan may come after the change.
    await wire.ask(nextId(), "tools/list");
    // After the first notification, every folder is watched.
    place.skill(skills, "git", skillMd("git", "Changed"));
    await wire.lines.take(
      (line) => line.includes("list_changed"),
      "a notification",
    );
    const storm = place.file(
      "storm.ts",
      `const [path] = Deno.args;
    for (console.log("started");;) {
      Deno.renameSync(path, path + "-2");
      Deno.renameSync(path + "-2", path);
    }`,
    );
    const process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-read", "--allow-write", storm, skill],
      env: environment,
      stdout: "piped",
    }).spawn();
    try {
      await process.stdout.getReader().read();
      // The burst of events that starts now causes a scan after a second.
      const end = performance.now() + 1_500;
      while (performance.now() < end) {
        await within(wire.ask(nextId(), "ping"), "a reply", 3_000);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      const { code } = await within(wire.endInput(), "the exit", 3_000);
      assert.equal(code, 0);
    } finally {
      process.kill("SIGKILL");
      await process.status;
    }
  },
);

/** Returns what a refresh that trusts the watcher does on the disk. */
async function costOf({ registry }: WatchedRegistry): Promise<DiskSpy> {
  using disk = new DiskSpy();
  await registry.refresh({ trust: "watcher" });
  return disk;
}

/** Waits until a refresh that trusts the watcher does not scan. */
async function isTrusted(watched: WatchedRegistry): Promise<void> {
  await eventually(
    async () => !(await costOf(watched)).counts.has("readDirSync"),
    "a watcher that is trusted",
  );
}

for (const [where, count] of [["this thread", 5], ["a worker", 100]] as const) {
  Deno.test(`SkillRegistry.refresh() that trusts a watcher in ${where} scans only after changes`, async () => {
    using place = new Place();
    const skills = place.folder("skills");
    for (let i = 0; i < count; i++) place.skill("skills", `s${i}`);
    const missing = join(place.path, "missing");
    using watched = await new WatchedRegistry([skills, missing]).start();
    const { registry } = watched;
    await isTrusted(watched);
    // One for each root.
    assert.ok((await costOf(watched)).count <= 2);

    const find = async (name: string) =>
      (await registry.refresh({ trust: "watcher" })).skills.has(name);
    // Nothing waits for the event.
    for (const name of ["one", "two", "three"]) {
      place.skill("skills", name);
      assert.ok(await find(name), name);
      await isTrusted(watched);
      place.remove(`skills/${name}`);
      assert.ok(!await find(name), name);
    }
    place.skill("missing", "first");
    assert.ok(await find("first"));
    await isTrusted(watched);
    // A change in a known folder is noticed by its event.
    place.skill("skills", "s0", skillMd("renamed"));
    await eventually(() => find("renamed"), "the new name");
  });
}

Deno.test("SkillRegistry.refresh() that trusts the watcher scans while nothing is watched, or a worker does not reply", async () => {
  using place = new Place();
  for (let i = 0; i < 100; i++) place.skill("skills", `s${i}`);
  const skills = join(place.path, "skills");
  const { postMessage } = Worker.prototype;
  try {
    using watched = await new WatchedRegistry([skills]).start();
    await isTrusted(watched);
    Worker.prototype.postMessage = () => {};
    assert.ok((await costOf(watched)).counts.has("readDirSync"));
    watched.registry.close();
    assert.ok((await costOf(watched)).counts.has("readDirSync"));
  } finally {
    Worker.prototype.postMessage = postMessage;
  }
});

Deno.test("SkillRegistry.watch() keeps working through many changes to the watched folders", async () => {
  using place = new Place();
  using spy = new WatchSpy();
  using watched = await new WatchedRegistry([join(place.path, "skills")])
    .start();
  for (let round = 0; round < 25; round++) {
    const name = `s${round}`;
    place.skill("skills", name);
    await watched.changed(name);
    place.skill("skills", name, skillMd(name, "Changed"));
    await watched.changed(name);
    // The system limits the number of watchers.
    assert.ok(spy.requests.length - spy.closed <= 8);
  }
  place.skill("skills", "s0", skillMd("s0", "Again"));
  await watched.changed("s0");
  assert.equal(watched.registry.catalog.skills.size, 25);
  assert.deepEqual(watched.lines, []);
});

Deno.test("SkillRegistry.watch() scans on a timer if watching is off", async () => {
  using place = new Place();
  const changes = new Inbox<string[]>();
  using registry = new SkillRegistry([root(join(place.path, "skills"))], {
    refreshSeconds: 0.01,
    watchFolders: false,
  });
  registry.onChange(({ keys }) => changes.put([...keys]));
  await registry.refresh();
  registry.watch();
  place.skill("skills", "git");
  await changes.take((keys) => keys.includes("git"), "the scan");
  place.remove("skills/git");
  await changes.take((keys) => keys.includes("git"), "the scan");
  assert.equal(registry.catalog.skills.size, 0);
});

Deno.test("SkillRegistry.watch() falls back to a timer if folders cannot be watched, and reports the problem once", async () => {
  using place = new Place();
  const watchFs = Deno.watchFs;
  using watched = new WatchedRegistry([join(place.path, "skills")], 0.01);
  try {
    Deno.watchFs = () => {
      throw new Error("OS file watch limit reached.");
    };
    await watched.start();
    await eventually(() => watched.lines.length > 0, "the line");
  } finally {
    Deno.watchFs = watchFs;
  }
  for (const name of ["one", "two"]) {
    place.skill("skills", name);
    await watched.changed(name);
  }
  assert.deepEqual(watched.lines, [
    "Cannot watch folders: OS file watch limit reached; the next rescan finds changes instead",
  ]);
});

Deno.test("FolderWatcher watches the first 20,000 folders and reports once that there are more", async () => {
  const { Worker } = globalThis;
  const requested = Promise.withResolvers<string[]>();
  globalThis.Worker = class {
    postMessage({ paths }: { paths: string[] }) {
      requested.resolve(paths);
    }
    terminate() {}
  } as unknown as typeof Worker;
  try {
    const lines: string[] = [];
    const watcher = new FolderWatcher(() => {}, (line) => lines.push(line));
    const paths = Array.from({ length: 20_001 }, (_, index) => `/f${index}`);
    const folders = wholeFolders(paths);
    watcher.update(folders);
    watcher.update(folders);
    const watched = await within(requested.promise, "the request");
    watcher.close();
    assert.deepEqual(lines, [
      "Cannot watch more than 20000 folders: the next rescan finds changes in the others",
    ]);
    assert.deepEqual(watched, paths.slice(0, 20_000));
  } finally {
    globalThis.Worker = Worker;
  }
});

Deno.test("FolderWatcher does not take its own busy process for a slow disk", async () => {
  using place = new Place();
  using spy = new WatchSpy();
  const { stat } = Deno;
  // The process does something else while the disk answers.
  Deno.stat = async (path) => {
    const info = await stat(path);
    const end = performance.now() + 15;
    while (performance.now() < end);
    return info;
  };
  const opened = Promise.withResolvers<void>();
  const watcher = new FolderWatcher(opened.resolve, () => {});
  try {
    watcher.update(wholeFolders([place.path]));
    await within(opened.promise, "the callback");
  } finally {
    Deno.stat = stat;
    watcher.close();
  }
  assert.equal(spy.workers, 0);
  assert.deepEqual(spy.requests, [[place.path]]);
});

Deno.test("FolderWatcher watches folders on a slow disk in a worker", async () => {
  using place = new Place();
  using spy = new WatchSpy();
  const { statSync } = Deno;
  Deno.statSync = (path) => {
    const end = performance.now() + 15;
    while (performance.now() < end);
    return statSync(path);
  };
  const opened = Promise.withResolvers<void>();
  const watcher = new FolderWatcher(opened.resolve, () => {});
  try {
    watcher.update(wholeFolders([place.path]));
    await within(opened.promise, "the callback");
  } finally {
    Deno.statSync = statSync;
    watcher.close();
  }
  assert.equal(spy.workers, 1);
  assert.deepEqual(spy.requests, []);
});

Deno.test("FolderWatcher falls back to a timer if a worker cannot be started", async () => {
  const { Worker } = globalThis;
  globalThis.Worker = class {
    constructor() {
      throw new Error("Workers are not supported.");
    }
  } as unknown as typeof Worker;
  try {
    const line = Promise.withResolvers<string>();
    const watcher = new FolderWatcher(() => {}, line.resolve);
    const paths = Array.from({ length: 100 }, (_, index) => `/f${index}`);
    watcher.update(wholeFolders(paths));
    assert.equal(
      await within(line.promise, "the line"),
      "Cannot watch folders: Workers are not supported; the next rescan finds changes instead",
    );
  } finally {
    globalThis.Worker = Worker;
  }
});

Deno.test(
  "a process that cannot open the files of a worker does not end, and watches later",
  { ignore: lacks("sh") },
  async () => {
    using place = new Place();
    const code = `
      const { FolderWatcher } = await import(${
      JSON.stringify(import.meta.resolve("./folder_watcher.ts"))
    });
      // Deno opens files for signals when it first needs them.
      Deno.addSignalListener("SIGUSR1", () => {});
      const called = Promise.withResolvers();
      const watcher = new FolderWatcher(called.resolve, console.log);
      const files = [];
      try {
        for (;;) files.push(Deno.openSync("."));
      } catch { /* There are no more. */ }
      const folders = Array.from({ length: 100 }, (_, index) => {
        Deno.mkdirSync(\`skill-\${index}\`);
        return \`\${Deno.cwd()}/skill-\${index}\`;
      });
      files.pop().close();
      watcher.update({ whole: new Set(folders), parts: new Map() });
      await called.promise;
      console.log("polls");
      for (const file of files) file.close();
      const { promise, resolve } = Promise.withResolvers();
      const { Worker } = globalThis;
      globalThis.Worker = class extends Worker {
        constructor(...args) {
          super(...args);
          resolve();
        }
      };
      await promise;
      console.log("starts a worker");
      Deno.exit();
    `;
    const deno = [Deno.execPath(), "eval", ...IMPORTS, code];
    const { stdout, stderr } = await new Deno.Command("sh", {
      args: ["-c", `ulimit -n 100; exec "$0" "$@"`, ...deno],
      cwd: place.path,
    }).output();
    const decoder = new TextDecoder();
    assert.equal(
      decoder.decode(stdout),
      "polls\nstarts a worker\n",
      decoder.decode(stderr),
    );
  },
);
