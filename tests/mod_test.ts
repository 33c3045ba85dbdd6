// mod.ts: what a scan finds and reports, and what the registry keeps up to date.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import {
  checkSkills,
  createSkillService,
  registerSkillTools,
  resolveSkillRoots,
  scanSkillRoots,
  SkillRegistry,
  type SkillRegistryOptions,
} from "../mod.ts";
import { basename, isCaseBlind, join } from "../src/fs/paths.ts";
import { diskError, DiskSpy, replaced } from "./testing/fakes.ts";
import { needs } from "./testing/needs.ts";
import { Place, skillMd } from "./testing/place.ts";
import { names, openRegistry, root } from "./testing/registry.ts";
import { Inbox } from "./testing/waiting.ts";

const withLinks = needs("links");

Deno.test("scanSkillRoots() returns the skills directly in a root, sorted by name", async () => {
  using place = new Place();
  const dir = join(place.path, "skills");
  const directory = place.skill("skills", "zebra");
  place.skill("skills", "Ape");
  place.skill("skills", "folder-of-monkey", skillMd("monkey"));
  place.file("skills/README.md", "no skill");
  const { skills, diagnostics, shadowed, roots, revision } =
    await scanSkillRoots([root(dir)]);
  assert.deepEqual([...skills.keys()], ["ape", "monkey", "zebra"]);
  assert.deepEqual([diagnostics, shadowed, revision], [[], [], 1]);
  assert.deepEqual(roots, [
    {
      root: root(dir),
      scope: "global",
      status: "found",
      realPath: dir,
      projectPath: undefined,
      skillCount: 3,
      repeatedCount: 0,
    },
  ]);
  const { fileVersion, ...zebra } = skills.get("zebra")!;
  assert.equal(typeof fileVersion, "string");
  assert.deepEqual(zebra, {
    name: "zebra",
    description: "About zebra",
    frontmatter: { name: "zebra", description: "About zebra" },
    excerpt: "\n\n# zebra\n",
    directory,
    realDirectory: directory,
    file: join(directory, "SKILL.md"),
    scope: "global",
    root: root(dir),
    state: "on",
    policyRule: undefined,
    isRepaired: false,
    hiddenFrom: "nobody",
    isHiddenFromUser: false,
    plugin: basename(place.path),
    prefix: undefined,
  });
});

withLinks.test("scanSkillRoots() reports at most 1,000 problems, the user's own first", async () => {
  using place = new Place();
  for (let i = 0; i < 1_000; i++) place.link("nowhere", `theirs/${i}`);
  const file = place.file("own/bad/SKILL.md", "no frontmatter");
  const { diagnostics } = await scanSkillRoots([
    root(join(place.path, "theirs"), { isLimited: true }),
    root(join(place.path, "own")),
  ], { workingDirectory: join(place.path, "theirs") });
  assert.equal(diagnostics.length, 1_000);
  assert.equal(diagnostics[0]!.file, file);
});

/** Makes a directory seem to contain broken links. */
function addLinks(dir: string, count: number): Disposable {
  const { readDirSync } = Deno;
  const entry = { isFile: false, isDirectory: false, isSymlink: true };
  const links = Array.from(
    { length: count },
    (_, index) => ({ ...entry, name: `l${index}` }),
  );
  return replaced(Deno, {
    readDirSync: (path: string | URL) =>
      [...readDirSync(path), ...path === dir ? links : []].values(),
  });
}

Deno.test("scanSkillRoots() does not even read the names of files", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const { readDirSync } = Deno;
  let names = 0;
  const file = {
    isFile: true,
    isDirectory: false,
    isSymlink: false,
    get name() {
      names++;
      return "x.md";
    },
  };
  const dir = place.dir("skills");
  using _ = replaced(Deno, {
    readDirSync: (path: string | URL) =>
      path === dir ? [...readDirSync(path), file].values() : readDirSync(path),
  });
  const { skills } = await scanSkillRoots([root(dir)]);
  assert.deepEqual([[...skills.keys()], names], [["a"], 0]);
});

Deno.test("scanSkillRoots() searches the first 50,000 folders and links of a global root", async () => {
  using place = new Place();
  place.skill("skills", "a");
  place.skill("skills/group", "b");
  const path = place.dir("skills");
  using _ = addLinks(path, 50_000);
  const { skills, roots, diagnostics } = await scanSkillRoots([
    root(join(path, "group")),
    root(path, { recursive: true }),
  ]);
  assert.deepEqual([...skills.keys()], ["a", "b"]);
  assert.deepEqual(
    roots.map(({ status, skillCount }) => [status, skillCount]),
    [["found", 1], ["found", 1]],
  );
  assert.deepEqual(
    diagnostics.map(({ file, rule, reason }) => [file, rule, reason]),
    [[
      path,
      "too-many",
      "it has more than 50000 folders and links, and the scan skips the rest",
    ]],
  );
});

Deno.test("scanSkillRoots() searches the first 1,000 folders and links of a project's root", async () => {
  for (const recursive of [false, true]) {
    using place = new Place();
    const skills = place.dir("skills");
    place.skill("skills", "a");
    place.skill("skills", "m");
    place.skill("skills/z", "y");
    using _ = addLinks(skills, 998);
    const roots = [root(skills, { isLimited: true, recursive })];
    using registry = new SkillRegistry(roots, { log: () => {} });
    const { skills: found, diagnostics } = await registry.refresh();
    // The directory "a" comes first, and "m" is the last that is visited.
    assert.deepEqual([...found.keys()], ["a", "m"]);
    assert.deepEqual(
      diagnostics.filter(({ file }) => file === skills)
        .map(({ rule, reason, fix }) => `${rule}: ${reason}; ${fix}`),
      [
        "too-many: the skill folders of the project have more than 1000 folders and links, and the scan skips the rest; pass it, or a folder closer to the skills, as one to search",
      ],
    );
  }
});

Deno.test("a scan reads the new skills of a project for two seconds, and the next the rest", async () => {
  using place = new Place();
  for (const index of [0, 1, 2, 3, 4]) {
    place.skill("project/skills", `p${index}`);
    place.skill("home/skills", `h${index}`);
  }
  let now = Date.now();
  using _clock = replaced(Date, { now: () => now });
  using _disk = new DiskSpy((_path, operation) => {
    if (operation === "openSync") now += 1_000;
    return undefined;
  });
  const project = root(join(place.project, "skills"), { isLimited: true });
  const roots = [project, root(join(place.home, "skills"))];
  using registry = new SkillRegistry(roots, { log: () => {} });
  const first = await registry.refresh();
  const mine = ["h0", "h1", "h2", "h3", "h4"];
  assert.deepEqual(names(first), [...mine, "p0", "p1", "p2"]);
  assert.deepEqual(
    first.diagnostics.map(({ file, rule }) => [file, rule]),
    [[project.path, "too-many"]],
  );
  const second = await registry.refresh();
  assert.deepEqual(names(second), [...mine, "p0", "p1", "p2", "p3", "p4"]);
  assert.deepEqual(second.diagnostics, []);
});

Deno.test("the roots of a project share its 1,000 folders, and other roots have their own", async () => {
  using place = new Place();
  const project = ["first", "second"].map((name) => {
    for (let i = 0; i < 600; i++) place.dir(`project/${name}/${i}`);
    place.skill(`project/${name}`, `${name}-a`);
    place.skill(`project/${name}`, `${name}-z`);
    return root(join(place.project, name), { isLimited: true });
  });
  place.skill("home/skills", "mine");
  const roots = [...project, root(join(place.home, "skills"))];
  const catalog = await scanSkillRoots(roots);
  assert.deepEqual(names(catalog), ["first-a", "first-z", "mine"]);
  assert.deepEqual(
    catalog.diagnostics.map(({ file, rule }) => [file, rule]),
    [[project[1]!.path, "too-many"]],
  );
});

Deno.test("a SKILL.md with a time in the future is parsed again only if it changes", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const file = place.file("skills/a/SKILL.md", skillMd("a"));
  const inAYear = Date.now() / 1_000 + 365 * 86_400;
  Deno.utimeSync(file, inAYear, inAYear);
  using registry = await openRegistry(place.dir("skills"));
  const first = registry.find("a")!;
  await registry.refresh();
  assert.equal(registry.find("a")!.frontmatter, first.frontmatter);
  // It has the same size and, where the times are coarse, the same version.
  place.file("skills/a/SKILL.md", skillMd("a", "about A"));
  Deno.utimeSync(file, inAYear, inAYear);
  await registry.refresh();
  assert.equal(registry.find("a")!.description, "about A");
});

Deno.test("a folder with more links than a call has arguments ends no scan and no list", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const skills = place.dir("skills");
  using _ = addLinks(skills, 200_000);
  using _inSkill = addLinks(join(skills, "a"), 200_000);
  const roots = [root(skills, { isLimited: true })];
  using registry = new SkillRegistry(roots, { log: () => {} });
  const { skills: found, diagnostics } = await registry.refresh();
  assert.deepEqual([...found.keys()], ["a"]);
  assert.ok(diagnostics.length <= 1_000);
  const { files, entryCount, isComplete } = await registry.listFiles(
    found.get("a")!,
  );
  assert.deepEqual(files.map(({ path }) => path), ["SKILL.md"]);
  assert.deepEqual([entryCount, isComplete], [20_000, false]);
});

Deno.test("scanSkillRoots() finds the same skills for any order of directory entries", async () => {
  using place = new Place();
  const dirs = ["b", "a", "copy of a", "c/x", "c/a", "_hidden/x", "broken"];
  for (const dir of dirs) {
    const name = dir.at(-1)!;
    place.skill("skills", dir, dir === "broken" ? "none" : skillMd(name));
  }
  const path = join(place.path, "skills");
  const scan = async () => {
    const roots = [root(path), root(path, { recursive: true })];
    const catalog = await scanSkillRoots(roots);
    const { skills, shadowed, diagnostics } = catalog;
    return [
      Array.from(skills.values(), ({ directory }) => directory),
      shadowed.map(({ skill, by }) => [skill.file, by.file]),
      diagnostics,
    ];
  };
  const { readDirSync } = Deno;
  const readBackwards = (path: string | URL) =>
    [...readDirSync(path)].toReversed().values();
  const expected = await scan();
  using _reversed = replaced(Deno, { readDirSync: readBackwards });
  assert.deepEqual(await scan(), expected);
});

/** Opens a registry of the directory `skills` that logs nothing. */
function open(
  place: Place,
  options: SkillRegistryOptions = {},
  recursive = false,
): SkillRegistry {
  const skills = root(place.dir("skills"), { recursive });
  return new SkillRegistry([skills], { log: () => {}, ...options });
}

/** Makes a function throw that each scan calls, and that cannot. */
function withFailingScans(): Disposable {
  return replaced(Map, {
    groupBy: () => {
      throw new RangeError("no such luck");
    },
  });
}

/** Sets the clock to a time when no file has changed recently. */
function aMinuteLater(): Disposable {
  const { now } = Date;
  return replaced(Date, { now: () => now() + 60_000 });
}

Deno.test("SkillRegistry.refresh() finds everything that existed when it was called", async () => {
  using place = new Place();
  place.skill("skills", "one");
  using registry = open(place);
  for (const found of [["one", "two"], ["one", "two", "zip"]]) {
    const first = registry.refresh();
    place.skill("skills", found.at(-1)!);
    const [second, third] = [registry.refresh(), registry.refresh()];
    await first;
    assert.deepEqual(names(await second), found);
    assert.equal(await second, await third);
  }
});

Deno.test("SkillRegistry.refresh() takes a scan that is new enough", async () => {
  using place = new Place();
  using registry = open(place);
  const running = registry.refresh();
  const maxAgeMs = 1_000_000;
  assert.equal(await registry.refresh({ maxAgeMs }), await running);
  place.skill("skills", "one");
  assert.deepEqual(names(await registry.refresh({ maxAgeMs })), []);
  assert.deepEqual(names(await registry.refresh({ maxAgeMs: 0 })), ["one"]);
});

Deno.test("a scan that fails unexpectedly keeps the last catalog, and is reported", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const lines: string[] = [];
  const workingDirectory = place.project;
  using registry = open(place, {
    workingDirectory,
    log: (line) => lines.push(line),
  });
  const { skills } = await registry.refresh();
  const changes: string[] = [];
  registry.onChange(({ catalog }) => {
    changes.push(catalog.diagnostics.map(({ rule }) => rule).join());
  });
  {
    using _ = withFailingScans();
    assert.equal((await registry.refresh()).skills, skills);
    await registry.refresh();
  }
  assert.deepEqual(lines, [
    `Cannot scan "${workingDirectory}": the server failed (RangeError: no such luck), so the last list of skills stays; report this line to the maintainers of skill-server; the next scan tries again`,
  ]);
  await registry.refresh();
  assert.deepEqual(changes, ["scan-failed", ""]);
});

Deno.test("a registry whose first scan fails tries again", async () => {
  using place = new Place();
  place.skill("skills", "a");
  const catalogs = new Inbox<readonly string[]>();
  using registry = open(place, { refreshSeconds: 0.01 });
  registry.onChange(({ catalog }) => catalogs.put(names(catalog)));
  {
    using _ = withFailingScans();
    assert.deepEqual(names(await registry.refresh()), []);
  }
  registry.watch();
  await catalogs.take((found) => found.join() === "a", "the skill");
});

Deno.test("an unexpected error in a root costs that root alone", async () => {
  using place = new Place();
  place.skill("skills", "a");
  place.skill("others", "b");
  const roots = [root(place.dir("skills")), root(place.dir("others"))];
  using registry = new SkillRegistry(roots, { log: () => {} });
  using _disk = new DiskSpy((path, operation) =>
    path === roots[0]!.path && operation === "statSync"
      ? new RangeError("no such luck")
      : undefined
  );
  const catalog = await registry.refresh();
  assert.deepEqual(names(catalog), ["b"]);
  assert.deepEqual(catalog.roots.map(({ status }) => status), [
    "skipped",
    "found",
  ]);
  assert.deepEqual(
    catalog.diagnostics.map(({ file, reason }) => [file, reason]),
    [[roots[0]!.path, "the server failed (RangeError: no such luck)"]],
  );
});

Deno.test("a scan takes one operation for each skill if nothing changed", async () => {
  using place = new Place();
  const count = 100;
  for (let i = 0; i < count; i++) place.skill("skills", `s${i}`);
  place.skill("skills", "bad", "no frontmatter");
  using registry = open(place);
  using _clock = aMinuteLater();
  await registry.refresh();
  using disk = new DiskSpy();
  await registry.refresh();
  assert.equal(disk.counts.get("openSync"), undefined);
  // Where case does not matter, each directory is also listed for the name on disk.
  const operations = isCaseBlind ? 2 * count : count;
  assert.ok(disk.count < 1.5 * operations, `${disk.count} operations`);
});

Deno.test("a scan notices a change that preserves size and times within two seconds", async () => {
  using place = new Place();
  const file = place.file("skills/git/SKILL.md", skillMd("git", "One thing"));
  place.skill("skills", "pdf");
  using registry = open(place);
  const first = await registry.refresh();
  const { atime, mtime } = Deno.statSync(file);
  Deno.writeTextFileSync(file, skillMd("git", "Two thing"));
  Deno.utimeSync(file, atime!, mtime!);
  using disk = new DiskSpy();
  const second = await registry.refresh();
  assert.equal(disk.counts.get("openSync"), 2);
  assert.equal(second.skills.get("git")!.description, "Two thing");
  assert.equal(second.revision, first.revision + 1);
});

/** Creates a recursive root with skills on two levels, one of which has a problem. */
function createSkills(place: Place): string {
  place.skill("skills", "git");
  place.skill("skills", "invalid", "no frontmatter");
  place.skill("skills/group", "docx");
  place.skill("skills/group", "pdf");
  return place.dir("skills");
}

/** Where and how reading can fail. */
const FAULTS: [operation: string, path: string][] = [
  ["readDirSync", ""],
  ["realPathSync", ""],
  ["statSync", ""],
  ["readDirSync", "group"],
  ["lstatSync", "git/SKILL.md"],
  ["openSync", "git/SKILL.md"],
];

for (const [operation, path] of FAULTS) {
  const where = path || "the root";
  Deno.test(`the last result stays while ${operation} of ${where} fails for a time`, async () => {
    using place = new Place();
    const dir = createSkills(place);
    using registry = open(place, {}, true);
    const before = await registry.refresh();
    {
      using _disk = new DiskSpy((failing, called) =>
        failing === join(dir, path) && called === operation
          ? diskError()
          : undefined
      );
      using _clock = aMinuteLater();
      for (let round = 1; round <= 3; round++) {
        const { skills, diagnostics } = await registry.refresh();
        assert.deepEqual(skills, before.skills);
        // What is known is not opened again.
        if (operation === "openSync") continue;
        assert.ok(diagnostics.some(({ rule }) => rule === "inaccessible"));
      }
    }
    place.remove("skills/group/pdf");
    const after = await registry.refresh();
    assert.deepEqual(names(after), ["docx", "git"]);
    assert.deepEqual(after.diagnostics.map(({ rule }) => rule), [
      "frontmatter-missing",
    ]);
  });
}

Deno.test("a directory or file that cannot be read at all is removed", async () => {
  using place = new Place();
  const dir = createSkills(place);
  using registry = open(place, {}, true);
  await registry.refresh();
  using _disk = new DiskSpy((path) =>
    path === join(dir, "git/SKILL.md")
      ? new Deno.errors.PermissionDenied("denied")
      : undefined
  );
  const { skills, diagnostics } = await registry.refresh();
  assert.deepEqual([...skills.keys()], ["docx", "pdf"]);
  assert.ok(diagnostics.some(({ rule }) => rule === "permission"));
});

Deno.test("SkillRegistry.onChange() reports exactly the changes that clients can see", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.skill("skills", "pdf");
  using registry = open(place);
  const changes: string[][] = [];
  registry.onChange(({ keys }) => changes.push([...keys].sort()));
  await registry.refresh();
  assert.deepEqual(changes.splice(0), [["git", "pdf"]]);
  await registry.refresh();
  place.file("skills/README.md", "nothing of ours");
  await registry.refresh();
  assert.deepEqual(changes, []);
  place.skill("skills", "pdf", skillMd("pdf", "New"));
  place.remove("skills/git");
  await registry.refresh();
  assert.deepEqual(changes.splice(0), [["git", "pdf"]]);
  // Lists and answers can show a new diagnostic.
  place.skill("skills", "bad", "no frontmatter");
  await registry.refresh();
  assert.deepEqual(changes, [[]]);
});

Deno.test("SkillRegistry.onChange() keeps calling listeners if one throws", async () => {
  using place = new Place();
  const lines: string[] = [];
  using registry = open(place, { log: (line) => lines.push(line) });
  let calls = 0;
  registry.onChange(() => {
    throw new Error("no such luck");
  });
  registry.onChange(() => Promise.reject("none"));
  const remove = registry.onChange(() => calls++);
  place.skill("skills", "a");
  await registry.refresh();
  remove();
  place.skill("skills", "b");
  await registry.refresh();
  assert.equal(calls, 1);
  const failures = ["no such luck", "none"].map((reason) =>
    `A listener failed: ${reason}; fix the function passed to onChange()`
  );
  assert.deepEqual(lines, [...failures, ...failures]);
});

Deno.test("SkillRegistry logs each problem once while it lasts", async () => {
  using place = new Place();
  const lines: string[] = [];
  using registry = open(place, { log: (line) => lines.push(line) });
  for (let round = 0; round < 2; round++) {
    place.skill("skills", "bad", "no frontmatter");
    await registry.refresh();
    await registry.refresh();
    assert.match(
      lines.splice(0).join("\n"),
      /^Skipped ".*bad.SKILL\.md".*; .*$/,
    );
    place.remove("skills/bad");
    await registry.refresh();
  }
});

Deno.test("SkillRegistry.close() stops everything and can be repeated", async () => {
  using place = new Place();
  using registry = open(place, { refreshSeconds: 0.01 });
  const changes: string[] = [];
  registry.onChange(({ keys }) => changes.push(...keys));
  await registry.refresh();
  registry.watch();
  await registry.refresh();
  place.skill("skills", "late");
  const pending = registry.refresh();
  registry.close();
  registry.close();
  assert.deepEqual(names(await pending), []);
  assert.deepEqual(changes, []);
  await assert.rejects(
    registry.refresh(),
    /^Error: Cannot use the registry: it is closed; create another one$/,
  );
  // The sanitizer of the tests would find a timer.
  registry.watch();
});

Deno.test("SkillRegistry refuses an interval that no timer supports", () => {
  for (const refreshSeconds of [-1, NaN, Infinity, 3_000_000]) {
    assert.throws(
      () => new SkillRegistry([], { refreshSeconds }),
      /^RangeError: Invalid refreshSeconds .*: expected a number from 0 to /,
    );
  }
});

Deno.test("the library takes file URLs wherever it takes a path of the user", async () => {
  using place = new Place();
  place.skill("a skill's/.claude/skills", "git");
  const url = pathToFileURL(place.dir("a skill's"));
  const policy = pathToFileURL(place.file("policy.yaml", "rules: []"));
  const { href } = url;
  for (const dir of [url, href]) {
    const [, path] = resolveSkillRoots({ dirs: [dir] });
    const roots = [{ ...path!, path: `${href}/.claude/skills` }];
    const trustedDirs = [dir];
    const catalog = await scanSkillRoots(roots, { policy, trustedDirs });
    assert.deepEqual([...catalog.skills.keys()], ["git"]);
    assert.deepEqual(catalog.diagnostics, []);
    const diagnostics = await checkSkills([dir]);
    assert.deepEqual(diagnostics, []);
  }
});

Deno.test("SkillRegistry adds the advice of its options to the fix of a rule", async () => {
  using place = new Place();
  place.skill("skills", "git", skillMd("git") + "x".repeat(100));
  const advice = { "too-large": ", or use --big" };
  using registry = open(place, { maxFileSize: 100, advice });
  const { diagnostics } = await registry.refresh();
  assert.deepEqual(diagnostics.map(({ fix }) => fix), [
    "make it smaller, or use --big",
  ]);
});

Deno.test("SkillRegistry refuses a limit that is no number, or below zero", async () => {
  for (const maxFileSize of [-1, NaN]) {
    assert.throws(
      () => new SkillRegistry([], { maxFileSize }),
      /^RangeError: Invalid maxFileSize .*: expected a number from 0 on$/,
    );
  }
  using place = new Place();
  place.skill("skills", "git");
  using registry = await openRegistry(join(place.path, "skills"));
  const skill = registry.find("git")!;
  await assert.rejects(
    registry.listFiles(skill, { maxEntries: NaN }),
    /^RangeError: Invalid maxEntries NaN: /,
  );
});

withLinks.test("the library resolves trusted folders as it resolves roots", async () => {
  using place = new Place();
  place.file("home/shared/SKILL.md", skillMd("shared"));
  place.file("project/shared/SKILL.md", skillMd("own"));
  place.link("../../home/shared", "project/skills/shared");
  for (const trustedDirs of [["../home/shared"], ["~/shared"]]) {
    const catalog = await scanSkillRoots([{ path: "skills" }], {
      workingDirectory: place.project,
      homeDirectory: place.home,
      trustedDirs,
    });
    assert.deepEqual([names(catalog), catalog.diagnostics], [["shared"], []]);
  }
});

Deno.test("checkSkills() checks nothing if the list of folders is empty", async () => {
  assert.deepEqual(await checkSkills([]), []);
});

Deno.test("a registry goes on if the function that logs throws", async () => {
  using place = new Place();
  place.skill("skills", "bad", "no frontmatter");
  let throws = true;
  using registry = new SkillRegistry([root(place.dir("skills"))], {
    refreshSeconds: 0.05,
    watchDirs: false,
    log: () => {
      if (throws) throw new Error("full disk");
    },
  });
  const changes = new Inbox<number>();
  registry.onChange(({ catalog }) => changes.put(catalog.skills.size));
  await assert.rejects(registry.refresh(), /full disk/);
  registry.watch();
  place.skill("skills", "git");
  await changes.take((size) => size === 1, "the new skill");
  throws = false;
  await registry.refresh();
});

Deno.test("SkillRegistry and checkSkills() refuse a path that is neither text nor a URL", async () => {
  const expected = {
    name: "TypeError",
    message: "Invalid path undefined: expected text or a file URL",
  };
  // deno-lint-ignore no-explicit-any -- as without types
  const [given, dir] = ["skills", undefined] as any[];
  assert.throws(() => new SkillRegistry([given]), expected);
  await assert.rejects(checkSkills([dir]), expected);
});

Deno.test("a closed registry is refused", async () => {
  const registry = new SkillRegistry([]);
  registry.close();
  const expected = /the registry: it is closed; create another one$/;
  await assert.rejects(createSkillService(registry), expected);
  const server = { registerTool: () => ({ update() {} }) };
  assert.throws(() => registerSkillTools(server, registry), expected);
});

Deno.test("SkillRegistry says so if it gets undefined, as from find(), instead of a skill", async () => {
  using registry = new SkillRegistry([]);
  const skill = registry.find("unknown")!;
  const file = { path: "a.md", size: 1, version: "" };
  const expected = {
    name: "TypeError",
    message:
      /^Cannot access the files of a skill: the first argument is not a skill; /,
  };
  await assert.rejects(registry.listFiles(skill), expected);
  await assert.rejects(registry.readFile(skill, "a.md"), expected);
  await assert.rejects(registry.digest(skill, file), expected);
  // deno-lint-ignore no-explicit-any -- as without types
  const name = "pdf" as any;
  await assert.rejects(registry.readFile(name, "a.md"), expected);
});
