import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { SkillRegistry, SkillScanner } from "../mod.ts";
import type { RequestHandlers } from "../src/protocol/handlers.ts";
import { methodOf, type RequestSchema } from "../src/protocol/requests.ts";
import { registerSkillsExtension } from "../src/views/skills_extension.ts";
import { diskError, DiskSpy, Place } from "./testing/folders.ts";
import { names, root } from "./testing/registry.ts";
import { Inbox, withTimers } from "./testing/waiting.ts";

const STAYS =
  "it cannot be read for the moment (Input/output error (os error 5)), so what was found in it before stays";

/** Creates a recursive root with skills on two levels, one of which has a problem. */
function createSkills(place: Place): string {
  place.skill("skills", "git");
  place.skill("skills", "invalid", "no frontmatter");
  place.skill("skills/group", "docx");
  place.skill("skills/group", "pdf");
  return place.folder("skills");
}

/** Where and how reading fails, and the path of the reported problem. */
const FAULTS: [operation: string, path: string, reported: string][] = [
  ["readDirSync", "", ""],
  ["realPathSync", "", ""],
  ["statSync", "", ""],
  ["readDirSync", "group", "group"],
  ["realPathSync", "group", "group"],
  ["lstatSync", "git/SKILL.md", "git/SKILL.md"],
  ["openSync", "git/SKILL.md", "git/SKILL.md"],
];

for (const [operation, path, reported] of FAULTS) {
  Deno.test(`SkillScanner.scan() keeps the skills while ${operation} of ${path || "the root"} fails`, async () => {
    using place = new Place();
    const folder = createSkills(place);
    const scanner = new SkillScanner([root(folder, { recursive: true })]);
    const before = (await scanner.scan()).catalog;
    {
      using _disk = new DiskSpy((failing, called) =>
        failing === join(folder, path) && called === operation
          ? diskError()
          : undefined
      );
      for (let round = 0; round < 2; round++) {
        const { catalog, isPassing } = await scanner.scan();
        assert.deepEqual(catalog.skills, before.skills);
        assert.equal(catalog.roots[0]!.skills, before.roots[0]!.skills);
        assert.equal(isPassing, true);
        const problems = catalog.problems.map(({ file, reason }) => ({
          file,
          reason,
        }));
        const known = before.problems.map(({ file, reason }) => ({
          file,
          reason,
        }));
        const added = { file: join(folder, reported), reason: STAYS };
        assert.deepEqual(
          new Set(problems.map((problem) => JSON.stringify(problem))),
          new Set([...known, added].map((problem) => JSON.stringify(problem))),
        );
      }
    }
    place.remove("skills/group/pdf");
    const { catalog, isPassing } = await scanner.scan();
    assert.deepEqual(names(catalog), ["docx", "git"]);
    assert.deepEqual([catalog.problems, isPassing], [before.problems, false]);
  });
}

Deno.test("SkillScanner.scan() applies a new policy to skills that cannot be read for the moment", async () => {
  using place = new Place();
  const folder = createSkills(place);
  const scanner = new SkillScanner([root(folder, { recursive: true })]);
  await scanner.scan();
  await scanner.setPolicy({ rules: [{ skill: "git", state: "off" }] });
  using _disk = new DiskSpy(() => diskError());
  const { catalog } = await scanner.scan();
  assert.deepEqual(names(catalog), ["docx", "pdf"]);
});

Deno.test("SkillScanner.scan() keeps nothing of a root that Deno is no longer allowed to read", async () => {
  using place = new Place();
  const folder = createSkills(place);
  const scanner = new SkillScanner([root(folder, { recursive: true })]);
  await scanner.scan();
  using _disk = new DiskSpy(() => new Deno.errors.PermissionDenied());
  const { catalog, isPassing } = await scanner.scan();
  assert.deepEqual([names(catalog), isPassing], [[], false]);
});

Deno.test("SkillRegistry.watch() scans again soon while something cannot be read, and then no more", async () => {
  using place = new Place();
  const folder = createSkills(place);
  const lines: string[] = [];
  using registry = new SkillRegistry([root(folder)], {
    refreshSeconds: 0,
    watchFolders: false,
    log: (line) => lines.push(line),
  });
  await registry.refresh();
  const changes = new Inbox<string[]>();
  registry.onChange(({ keys }) => changes.put([...keys]));
  lines.length = 0;
  let isFailing = true;
  let scans = 0;
  using _disk = new DiskSpy((path, operation) => {
    if (path !== folder || operation !== "readDirSync") return undefined;
    // The fault passes after the third scan.
    if (++scans === 3) isFailing = false;
    return isFailing ? diskError() : undefined;
  });
  registry.watch();
  await withTimers((delay) => delay === 1_000 ? 0 : delay, async () => {
    await registry.refresh();
    assert.deepEqual(names(registry.catalog), ["git"]);
    place.skill("skills", "new");
    await changes.take((keys) => keys.includes("new"), "the scan");
  });
  assert.equal(scans, 3);
  assert.equal(lines.length, 1);
  assert.ok(lines[0]!.includes(STAYS), lines[0]);
});

Deno.test("skills/list and skills/get keep no error, so a skill is back though none of its files changed", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const notes = place.file("skills/git/notes.md", "notes");
  using registry = new SkillRegistry([root(place.folder("skills"))]);
  await registry.refresh();
  const requests = new Map<string, (request: unknown) => Promise<unknown>>();
  const server = {
    setRequestHandler: (
      schema: RequestSchema,
      handler: (request: unknown, context: unknown) => Promise<unknown>,
    ) => requests.set(methodOf(schema), (params) => handler({ params }, {})),
    notify: () => Promise.resolve(),
  };
  registerSkillsExtension(server as unknown as RequestHandlers, registry, {});
  const list = () => requests.get("skills/list")!({});
  const uri = "skill://git/SKILL.md";
  const get = () => requests.get("skills/get")!({ uri });
  const { now } = Date;
  try {
    // Only entries of files that did not change recently are kept.
    Date.now = () => now() + 60_000;
    {
      using _disk = new DiskSpy((path, operation) =>
        path === notes && operation === "openSync" ? diskError() : undefined
      );
      assert.deepEqual((await list() as { skills: [] }).skills, []);
      await assert.rejects(get, /Input\/output error/);
    }
    const { skills } = await list() as { skills: { uri: string }[] };
    assert.deepEqual(skills.map((skill) => skill.uri), [uri]);
    assert.deepEqual(await get(), { skill: skills[0] });
  } finally {
    Date.now = now;
  }
});
