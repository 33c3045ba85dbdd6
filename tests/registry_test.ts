import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { SkillRegistry } from "../mod.ts";
import { isCaseBlind } from "../src/files/paths.ts";
import { DiskSpy, OpenSpy, Place, skillMd } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { names, root, WatchedRegistry } from "./testing/registry.ts";
import { Inbox } from "./testing/waiting.ts";

Deno.test("SkillRegistry.find() ignores case", async () => {
  using place = new Place();
  place.skill("skills", "git", skillMd("MCP-Builder"));
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  assert.equal(registry.find("mcp-builder"), undefined);
  await registry.refresh();
  for (const name of ["mcp-builder", "MCP-BUILDER", " Mcp-Builder "]) {
    assert.equal(registry.find(name)?.name, "MCP-Builder");
  }
});

Deno.test("SkillRegistry.readFile() caches a file until it changes", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const file = place.file("skills/git/a.md", "one");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const skill = registry.find("git")!;
  const { now } = Date;
  using opens = new OpenSpy();
  const read = async () => (await registry.readFile(skill, "a.md")).text;
  try {
    // A file that was just written could change undetected, so it is read each time.
    assert.deepEqual([await read(), await read(), opens.count], [
      "one",
      "one",
      2,
    ]);
    Date.now = () => now() + 60_000;
    for (let round = 0; round < 3; round++) {
      assert.equal(await read(), "one");
    }
    assert.equal(opens.count, 3);
    Date.now = now;
    Deno.writeTextFileSync(file, "two2");
    assert.deepEqual([await read(), opens.count], ["two2", 4]);
  } finally {
    Date.now = now;
  }
  Deno.removeSync(file);
  await assert.rejects(read, /no such file/);
});

Deno.test("SkillRegistry.readFile() returns current data if the clock of the file system is 10 seconds behind", async () => {
  // On Linux, a file system on a disk has no clock of its own.
  const memory = Deno.build.os === "linux" ? "/dev/shm" : undefined;
  using place = new Place(memory);
  place.skill("skills", "git");
  const file = place.file("skills/git/a.md", "0");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const skill = registry.find("git")!;
  const { mtime } = Deno.statSync(file);
  const { now } = Date;
  try {
    Date.now = () => now() + 10_000;
    for (let round = 1; round <= 9; round++) {
      Deno.writeTextFileSync(file, `${round}`);
      // The next rewrite has the same size and the same times.
      Deno.utimeSync(file, mtime!, mtime!);
      const { text } = await registry.readFile(skill, "a.md");
      assert.equal(text, `${round}`);
    }
  } finally {
    Date.now = now;
  }
});

Deno.test("SkillRegistry.readFile() returns bytes that callers can modify", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/a.md", "one");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const skill = registry.find("git")!;
  const { now } = Date;
  try {
    Date.now = () => now() + 60_000;
    for (let round = 0; round < 3; round++) {
      const { bytes } = await registry.readFile(skill, "a.md");
      assert.equal(new TextDecoder().decode(bytes), "one");
      bytes.fill(0);
    }
  } finally {
    Date.now = now;
  }
});

Deno.test("SkillRegistry.readFile() caches at most a thousand files, however small they are", async () => {
  using place = new Place();
  place.skill("skills", "git");
  for (let i = 0; i <= 1_000; i++) place.file(`skills/git/${i}`, "");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const skill = registry.find("git")!;
  const { now } = Date;
  using opens = new OpenSpy();
  try {
    Date.now = () => now() + 60_000;
    for (let i = 0; i <= 1_000; i++) {
      await registry.readFile(skill, `${i}`);
    }
    await registry.readFile(skill, "1");
    assert.equal(opens.count, 1_001);
    await registry.readFile(skill, "0");
    assert.equal(opens.count, 1_002);
  } finally {
    Date.now = now;
  }
});

Deno.test("SkillRegistry.readFile() caches nothing that it reads while a folder in the path is changing", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/docs/a.md", "one");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const skill = registry.find("git")!;
  const { now } = Date;
  using opens = new OpenSpy();
  const readThrice = async () => {
    opens.count = 0;
    for (let i = 0; i < 3; i++) await registry.readFile(skill, "docs/a.md");
    return opens.count;
  };
  try {
    const later = now() + 60_000;
    Date.now = () => later;
    for (const folder of ["skills", "skills/git", "skills/git/docs"]) {
      const path = join(place.path, folder);
      Deno.utimeSync(path, 0, later / 1_000);
      assert.equal(await readThrice(), 3, folder);
      Deno.utimeSync(path, 0, 0);
    }
    assert.equal(await readThrice(), 1);
  } finally {
    Date.now = now;
  }
});

Deno.test(
  "SkillRegistry.readFile() does not cache a file whose time is more than a date can hold",
  {
    ignore: lacks("proc"),
  },
  async () => {
    // Not every file system supports such times, but this one does.
    const skills = Deno.makeTempDirSync({ dir: "/dev/shm" });
    const { now } = Date;
    try {
      Deno.mkdirSync(join(skills, "git"));
      const file = join(skills, "git", "SKILL.md");
      Deno.writeTextFileSync(file, skillMd("git"));
      using registry = new SkillRegistry([root(skills)]);
      await registry.refresh();
      const skill = registry.find("git")!;
      Date.now = () => now() + 60_000;
      for (const text of ["one", "two"]) {
        Deno.writeTextFileSync(file, text);
        Deno.utimeSync(file, 0, 8.7e12);
        assert.equal((await registry.readFile(skill, "SKILL.md")).text, text);
      }
    } finally {
      Date.now = now;
      Deno.removeSync(skills, { recursive: true });
    }
  },
);

Deno.test(
  "SkillRegistry.readFile() returns the requested path even if other paths point to the file",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    const store = place.file("store/shared.txt", "shared");
    for (const name of ["one", "two"]) {
      place.skill("skills", name);
      place.link(store, `skills/${name}/${name}.md`);
      place.link(`${name}.md`, `skills/${name}/alias.txt`);
    }
    const trustLinks = [join(place.path, "store")];
    using registry = new SkillRegistry([root(join(place.path, "skills"))], {
      trustLinks,
    });
    await registry.refresh();
    const { now } = Date;
    try {
      Date.now = () => now() + 60_000;
      for (const name of ["one", "two", "one"]) {
        const skill = registry.find(name)!;
        for (const path of [`${name}.md`, "alias.txt"]) {
          const file = await registry.readFile(skill, path);
          assert.deepEqual([file.path, file.text], [path, "shared"]);
        }
      }
    } finally {
      Date.now = now;
    }
  },
);

Deno.test("SkillRegistry.refresh() runs one scan at a time and finds everything that existed when it was called", async () => {
  using place = new Place();
  place.skill("skills", "one");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const first = registry.refresh();
  place.skill("skills", "two");
  const [second, third] = [registry.refresh(), registry.refresh()];
  assert.equal(second, third);
  await first;
  assert.deepEqual(names(await second), ["one", "two"]);
});

Deno.test("SkillRegistry.refresh() that trusts the status takes one operation for each skill, even if all were just written", async () => {
  using place = new Place();
  const count = 100;
  for (let i = 0; i < count; i++) place.skill("skills", `s${i}`);
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const catalog = await registry.refresh();
  using disk = new DiskSpy();
  const refresh = () => registry.refresh({ trust: "status" });
  assert.equal(await refresh(), catalog);
  // Where case does not matter, each folder is also listed for the name on disk.
  const operations = isCaseBlind ? 2 * count : count;
  assert.ok(disk.count < operations + 20, `${disk.count} operations`);
  assert.equal(disk.counts.get("openSync"), undefined);

  place.skill("skills", "s0", skillMd("renamed"));
  place.skill("skills", "added");
  const found = await refresh();
  assert.deepEqual(
    ["s0", "renamed", "added"].map((name) => found.skills.has(name)),
    [false, true, true],
  );
  disk.counts.clear();
  await Promise.all([refresh(), refresh(), registry.refresh()]);
  // What a scan trusts concerns only its own callers.
  assert.ok(disk.counts.get("openSync")! >= count + 1);
});

/** A root that cannot be scanned while it is broken. */
class FragileRoot {
  isBroken = false;
  readonly scope = "global";
  readonly recursive = false;
  readonly #path: string;

  constructor(path: string) {
    this.#path = path;
  }

  get path(): string {
    if (this.isBroken) throw new Error("no such luck");
    return this.#path;
  }
}

Deno.test("SkillRegistry.refresh() rejects only for the callers of the failed scan", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const fragile = new FragileRoot(join(place.path, "skills"));
  using registry = new SkillRegistry([fragile]);
  fragile.isBroken = true;
  const first = registry.refresh().finally(() => fragile.isBroken = false);
  const second = registry.refresh();
  await assert.rejects(first, /no such luck/);
  assert.deepEqual(names(await second), ["git"]);
});

Deno.test("SkillRegistry.watch() continues after a failed refresh and reports the reason", async () => {
  using place = new Place();
  const lines = new Inbox<string>();
  const changes = new Inbox<string[]>();
  const fragile = new FragileRoot(join(place.path, "skills"));
  using registry = new SkillRegistry([fragile], {
    refreshSeconds: 0.01,
    log: (line) => lines.put(line),
  });
  registry.onChange(({ keys }) => changes.put([...keys]));
  await registry.refresh();
  fragile.isBroken = true;
  registry.watch();
  const line = await lines.take(() => true, "a line");
  assert.equal(line, "Cannot look for changes: no such luck");
  fragile.isBroken = false;
  place.skill("skills", "git");
  await changes.take((keys) => keys.includes("git"), "the skill");
});

Deno.test("SkillRegistry.trackFiles() waits for the first listing even if another caller started it", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const file = place.file("skills/git/notes.md", "1");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const changed: string[] = [];
  registry.onChange(({ files }) => changed.push(...files.get("git") ?? []));
  registry.trackFiles("git");
  const end = await registry.trackFiles("git");
  Deno.writeTextFileSync(file, "22");
  await registry.refresh();
  assert.deepEqual(changed, ["notes.md"]);
  end();
  end();
  Deno.writeTextFileSync(file, "333");
  await registry.refresh();
  assert.deepEqual(changed, ["notes.md", "notes.md"]);
});

Deno.test("SkillRegistry.trackFiles() keeps tracking a skill that is removed and added again", async () => {
  using place = new Place();
  const add = () => {
    place.skill("skills", "git");
    return place.file("skills/git/notes.md", "1");
  };
  add();
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.trackFiles("git");
  const changed: string[] = [];
  registry.onChange(({ files }) => changed.push(...files.get("git") ?? []));
  place.remove("skills/git");
  assert.equal((await registry.refresh()).skills.size, 0);
  const file = add();
  await registry.refresh();
  Deno.writeTextFileSync(file, "22");
  await registry.refresh();
  assert.deepEqual(changed, ["notes.md"]);
});

Deno.test("SkillRegistry.onChange() reports exactly the changes that clients can see", async () => {
  using place = new Place();
  const folder = join(place.path, "skills");
  place.skill("skills", "git");
  place.skill("skills", "pdf");
  using watched = new WatchedRegistry([folder]);
  const { registry, changes } = watched;
  await registry.refresh();
  assert.deepEqual(changes.takeAll(), [["git", "pdf"]]);
  await registry.refresh();
  place.file("skills/README.md", "nothing of ours");
  place.skill("skills", "bad", "no frontmatter");
  await registry.refresh();
  assert.deepEqual(changes.takeAll(), []);
  place.skill("skills", "pdf", skillMd("pdf", "New"));
  place.remove("skills/git");
  await registry.refresh();
  assert.deepEqual(changes.takeAll().map((keys) => keys.sort()), [[
    "git",
    "pdf",
  ]]);
});

Deno.test("SkillRegistry.onChange() keeps calling listeners if one throws, until they are removed", async () => {
  using place = new Place();
  const lines: string[] = [];
  const log = (line: string) => lines.push(line);
  const folder = join(place.path, "skills");
  using registry = new SkillRegistry([root(folder)], { log });
  let calls = 0;
  registry.onChange(() => {
    throw new Error("no");
  });
  const end = registry.onChange(() => calls++);
  place.skill("skills", "one");
  await registry.refresh();
  end();
  place.skill("skills", "two");
  await registry.refresh();
  assert.equal(calls, 1);
  assert.equal(lines.length, 2);
  assert.deepEqual(names(registry.catalog), ["one", "two"]);
});

Deno.test("SkillRegistry logs a problem once while it lasts, with file, reason, and fix", async () => {
  using place = new Place();
  using watched = new WatchedRegistry([join(place.path, "skills")]);
  const { registry, lines } = watched;
  place.skill("skills", "bad", "---\nname: bad\n---\n");
  await registry.refresh();
  await registry.refresh();
  assert.deepEqual(lines.splice(0), [
    `Skipped "${
      join(place.path, "skills", "bad", "SKILL.md")
    }" (line 1): the field "description" is missing; add a line "description: …" with what the skill does and when to use it`,
  ]);
  place.skill("skills", "bad");
  await registry.refresh();
  assert.deepEqual(lines, []);
  place.skill("skills", "bad", "---\nname: bad\n---\n");
  await registry.refresh();
  assert.equal(lines.length, 1);
});

Deno.test("SkillRegistry logs a shadowed skill once", async () => {
  using place = new Place();
  place.skill("a", "git");
  place.skill("b", "git");
  using watched = new WatchedRegistry([
    join(place.path, "a"),
    join(place.path, "b"),
  ]);
  await watched.registry.refresh();
  await watched.registry.refresh();
  assert.equal(watched.lines.length, 1);
  assert.match(
    watched.lines[0]!,
    /^Shadowed ".*b.git.SKILL\.md": the name "git" is taken by ".*a.git.SKILL\.md", which comes first; load it as "b:git"$/,
  );
});

Deno.test("SkillRegistry.close() stops everything and is idempotent", async () => {
  using place = new Place();
  using watched = await new WatchedRegistry([join(place.path, "skills")], 0.01)
    .start();
  watched.registry.close();
  watched.registry.close();
  place.skill("skills", "git");
  await watched.registry.refresh();
  assert.equal(watched.registry.catalog.skills.size, 0);
  watched.registry.watch();
  assert.deepEqual(watched.changes.takeAll(), []);
});
