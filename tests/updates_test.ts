// A registry that watches notices each change of its skills and its policy, without its timer
// unless a test says so.
import assert from "node:assert/strict";
import {
  type SkillCatalog,
  SkillRegistry,
  type SkillRegistryOptions,
  type SkillRoot,
} from "../mod.ts";
import { join } from "../src/fs/paths.ts";
import { diskError, DiskSpy, replaced } from "./testing/fakes.ts";
import { needs } from "./testing/needs.ts";
import { Place, skillMd } from "./testing/place.ts";
import { names, openRegistry, root } from "./testing/registry.ts";
import { eventually, Inbox } from "./testing/waiting.ts";

const withLinks = needs("links");

/** A place whose directory `skills` is a watched root. */
class Watched implements Disposable {
  readonly place = new Place();
  readonly changes = new Inbox<SkillCatalog>();
  readonly registry: SkillRegistry;

  constructor(
    options: SkillRegistryOptions = {},
    rest: Partial<SkillRoot> = {},
  ) {
    const skills = root(join(this.place.path, "skills"), rest);
    this.registry = new SkillRegistry([skills], {
      refreshSeconds: 0,
      log: () => {},
      ...options,
    });
    this.registry.onChange(({ catalog }) => this.changes.put(catalog));
  }

  /** Scans, watches, and waits for the scan that follows if there is anything to watch. */
  async start(): Promise<void> {
    const { roots } = await this.registry.refresh();
    this.registry.watch();
    if (roots.some(({ status }) => status === "found")) {
      await eventually(
        () => this.registry.catalog.revision > 1,
        "the scan after the start",
      );
    }
    this.changes.takeAll();
  }

  /** Waits until exactly these skills are in the catalog. */
  async until(...expected: string[]): Promise<void> {
    await this.changes.take(
      (catalog) => names(catalog).join() === expected.join(),
      `the skills ${expected.join(", ")}`,
    );
  }

  [Symbol.dispose](): void {
    this.registry.close();
    this.place[Symbol.dispose]();
  }
}

/** Makes `Deno.watchFs` tell nothing. */
function withoutEvents(): Disposable {
  const { watchFs } = Deno;
  return replaced(Deno, {
    watchFs: () => watchFs(Deno.makeTempDirSync()),
  });
}

withLinks.test("a link that appears in a root or in a group is noticed", async () => {
  using watched = new Watched();
  const { place } = watched;
  place.skill("store", "linked");
  place.skill("store", "grouped");
  place.skill("skills", "git");
  place.skill("skills/group", "pdf");
  await watched.start();
  place.link("../store/linked", "skills/linked");
  await watched.until("git", "linked", "pdf");
  place.link("../../store/grouped", "skills/group/grouped");
  await watched.until("git", "grouped", "linked", "pdf");
  place.remove("skills/linked");
  await watched.until("git", "grouped", "pdf");
});

Deno.test("a root that is created, moved away, or moved back is noticed", async () => {
  using watched = new Watched();
  const { place } = watched;
  await watched.start();
  place.skill("skills", "git");
  await watched.until("git");
  Deno.renameSync(join(place.path, "skills"), join(place.path, "away"));
  await watched.until();
  Deno.renameSync(join(place.path, "away"), join(place.path, "skills"));
  await watched.until("git");
});

withLinks.test("a link above a root that is switched to another release is noticed", async () => {
  using watched = new Watched();
  const { place } = watched;
  place.skill("releases/1", "old");
  place.skill("releases/2", "new");
  place.link("releases/1", "current");
  place.link("current", "skills");
  await watched.start();
  place.link("releases/2", "next");
  Deno.renameSync(join(place.path, "next"), join(place.path, "current"));
  await watched.until("new");
});

Deno.test("a new skill deep in a recursive root is noticed", async () => {
  using watched = new Watched({}, { recursive: true });
  const { place } = watched;
  place.dir("skills", "a", "b");
  await watched.start();
  place.skill("skills/a/b", "deep");
  await watched.until("deep");
});

Deno.test("a file that changed just before a scan is read again without an event", async () => {
  using _ = withoutEvents();
  using watched = new Watched();
  const { place, changes } = watched;
  const file = join(place.skill("skills", "git"), "SKILL.md");
  await watched.start();
  const { mtime } = Deno.statSync(file);
  place.file("skills/git/SKILL.md", skillMd("git", "New"));
  Deno.utimeSync(file, mtime!, mtime!);
  await changes.take(
    ({ skills }) => skills.get("git")?.description === "New",
    "the new description",
  );
});

Deno.test("scans follow more often if not all folders can be watched", async () => {
  using _deno = replaced(Deno, {
    watchFs: () => {
      throw new Error("Too many open files.");
    },
  });
  using watched = new Watched({ refreshSeconds: 3_600 });
  const { place } = watched;
  place.skill("skills/group", "git");
  await watched.start();
  place.skill("skills/group/git", "none");
  place.file("skills/group/git/SKILL.md", skillMd("git", "New"));
  await watched.changes.take(
    ({ skills }) => skills.get("git")?.description === "New",
    "the new description",
  );
});

Deno.test("a root that is created before watching starts is noticed", async () => {
  using watched = new Watched();
  const { place, registry } = watched;
  await registry.refresh();
  place.skill("skills", "git");
  registry.watch();
  await watched.until("git");
});

Deno.test("a SKILL.md that is being written keeps its last state for two seconds", async () => {
  using watched = new Watched();
  const { place, registry, changes } = watched;
  place.skill("skills", "git");
  await registry.refresh();
  let now = Date.now();
  using _clock = replaced(Date, { now: () => now });
  for (const half of ["", "---\nname: git\ndescr", "---\nname: git\n---\n"]) {
    place.file("skills/git/SKILL.md", half);
    const { skills, diagnostics } = await registry.refresh();
    assert.equal(skills.get("git")?.description, "About git", half);
    assert.deepEqual(diagnostics, [], half);
  }
  assert.deepEqual(changes.takeAll().length, 1);
  now += 2_000;
  const { skills, diagnostics } = await registry.refresh();
  assert.deepEqual([...skills], []);
  assert.deepEqual(diagnostics.map(({ rule }) => rule), [
    "description-missing",
  ]);
});

Deno.test("a SKILL.md that is being written hides its skill as long as a flag says so", async () => {
  using watched = new Watched();
  const { place, registry } = watched;
  place.skill("skills", "git");
  await registry.refresh();
  const half = "---\nname: git\ndisable-model-invocation: true\n";
  for (const text of [half, `${half}---\n`]) {
    place.file("skills/git/SKILL.md", text);
    await registry.refresh();
    assert.equal(registry.catalog.skills.get("git")?.hiddenFrom, "model");
  }
  place.skill("skills", "git");
  await registry.refresh();
  assert.equal(registry.catalog.skills.get("git")?.hiddenFrom, "nobody");
});

Deno.test("a SKILL.md that stays unfinished is skipped without another event", async () => {
  using watched = new Watched();
  watched.place.skill("skills", "git");
  await watched.start();
  watched.place.file("skills/git/SKILL.md", "");
  await watched.until();
});

withLinks.test("watching goes on after a folder becomes a link to itself", async () => {
  using place = new Place();
  place.skill("skills/eng", "tdd");
  const linked = place.dir("linked");
  using registry = new SkillRegistry(
    [root(place.dir("skills")), root(linked)],
    { log: () => {}, refreshSeconds: 0 },
  );
  await registry.refresh();
  registry.watch();
  const found = new Inbox<string>();
  registry.onChange(({ keys }) => keys.forEach((key) => found.put(key)));
  place.remove("linked");
  place.link("linked", "linked");
  const cases = [["skills", "one"], ["skills", "two"], ["skills/eng", "deep"]];
  for (const [dir = "", name = ""] of cases) {
    place.skill(dir, name);
    await found.take((key) => key === name, `the skill ${name}`);
    place.skill(dir, name, skillMd(name, "Changed"));
    await found.take((key) => key === name, `the change of ${name}`);
  }
});

const rule = (state: string) => `rules: [{ state: ${state} }]`;

/** Watches a skill with a policy file, and returns a function that waits for its state. */
async function watchPolicy(place: Place) {
  place.skill("skills", "git");
  const policy = place.file("policy.yaml", "rules: []");
  const options = { policy, refreshSeconds: 0 };
  const registry = await openRegistry(join(place.path, "skills"), options);
  const states = new Inbox<string>();
  registry.onChange(({ catalog }) =>
    states.put(catalog.skills.get("git")?.state ?? "off")
  );
  registry.watch();
  const seen = async (state: string) => {
    await states.take((other) => other === state, `the state ${state}`);
    assert.deepEqual(states.takeAll(), []);
  };
  return { seen, [Symbol.dispose]: () => registry.close() };
}

Deno.test("a policy file is noticed however it is written", async () => {
  using place = new Place();
  using watching = await watchPolicy(place);
  const { seen } = watching;
  place.file("policy.yaml", rule("manual"));
  await seen("manual");
  place.replace("policy.yaml", rule("off"));
  await seen("off");
  place.remove("policy.yaml");
  place.file("policy.yaml", rule("pinned"));
  await seen("pinned");
});

withLinks.test("a policy file behind a link is noticed", async () => {
  using place = new Place();
  using watching = await watchPolicy(place);
  const { seen } = watching;
  place.remove("policy.yaml");
  place.file("dotfiles/policy.yaml", rule("name-only"));
  place.link("dotfiles/policy.yaml", "policy.yaml");
  await seen("name-only");
  place.file("dotfiles/policy.yaml", rule("manual"));
  await seen("manual");
});

Deno.test("a file that cannot be read for a while is not tried again at once", async () => {
  using watched = new Watched();
  const { place, registry } = watched;
  place.skill("skills", "git");
  await watched.start();
  using _disk = new DiskSpy((_path, operation) =>
    operation === "openSync" ? diskError() : undefined
  );
  const { mtime } = Deno.statSync(join(place.path, "skills/git/SKILL.md"));
  using _clock = replaced(Date, { now: () => mtime!.getTime() + 2_000 });
  const { revision } = await registry.refresh();
  await new Promise((resolve) => setTimeout(resolve, 300));
  assert.ok(registry.catalog.revision - revision <= 2);
});
