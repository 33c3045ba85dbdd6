// Long tasks pause between operations on the disk, and do not repeat work. The tests count
// operations instead of measuring time.

import assert from "node:assert/strict";
import { SkillRegistry } from "../mod.ts";
import { join } from "../src/fs/paths.ts";
import type { Skill } from "../src/skills/types.ts";
import { deriveOnce } from "../src/mcp/derive_once.ts";
import { DiskSpy, LaterClock, Place, skillMd } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";
import { LocalServer } from "./walk/servers.ts";

/** The maximum number of operations on the disk between two pauses: those for one file. */
const MAX_RUN = 20;

/**
 * Work of which each operation takes 20 milliseconds, according to the clock. It finds out
 * how many operations run without a pause.
 */
class SlowWork implements Disposable {
  /** The most operations between two turns of the event loop. */
  longestRun = 0;
  // Until folders are settled, places are confirmed in rounds.
  readonly #clock = new LaterClock();
  readonly #spy: Disposable;
  #run = 0;
  #isOpen = true;

  /** Begins, with what calls a function for each operation until it is disposed. */
  constructor(spyOn: (operate: () => void) => Disposable) {
    this.#spy = spyOn(() => {
      this.#clock.ahead += 20;
      this.longestRun = Math.max(this.longestRun, ++this.#run);
    });
    this.#turn();
  }

  #turn(): void {
    this.#run = 0;
    if (this.#isOpen) setImmediate(() => this.#turn());
  }

  [Symbol.dispose](): void {
    this.#isOpen = false;
    this.#spy[Symbol.dispose]();
    this.#clock[Symbol.dispose]();
  }
}

/** Creates skills with files, and with a link if links work. */
function createSkills(place: Place): string {
  for (let i = 0; i < 5; i++) {
    place.skill("skills", `s${i}`);
    for (let j = 0; j < 20; j++) {
      place.file(`skills/s${i}/docs/${j}.md`, `${j}`);
    }
  }
  place.skill("skills", "invalid", "no frontmatter");
  if (!lacks("links")) {
    place.link("docs", "skills/s1/link");
    place.link("s1", "skills/linked");
  }
  return place.folder("skills");
}

Deno.test("SkillRegistry pauses between operations on a slow disk", async () => {
  using place = new Place();
  const folder = createSkills(place);
  using registry = new SkillRegistry([root(folder, { recursive: true })], {
    log: () => {},
  });
  using disk = new SlowWork((operate) =>
    new DiskSpy((path) => {
      if (path.startsWith(folder)) operate();
      return undefined;
    })
  );
  const work: Record<string, () => Promise<unknown>> = {
    "the first scan": () => registry.refresh(),
    "a rescan": () => registry.refresh(),
    "a walk": () => registry.listFiles(registry.find("s0")!),
    "a walk with links": () => registry.listFiles(registry.find("s1")!),
    "a read": () => registry.readFile(registry.find("s0")!, "docs/1.md"),
  };
  for (const [name, run] of Object.entries(work)) {
    disk.longestRun = 0;
    await run();
    assert.ok(disk.longestRun > 0, name);
    assert.ok(disk.longestRun <= MAX_RUN, `${name}: ${disk.longestRun}`);
  }
});

Deno.test("a change to one of many skills derives the list items of that skill only", async () => {
  using place = new Place();
  for (let i = 0; i < 50; i++) place.skill("skills", `s${i}`);
  const policy = place.file("policy.yaml", "rules: []");
  using registry = new SkillRegistry([root(place.folder("skills"))], {
    policy,
  });
  await registry.refresh();
  const derived: string[] = [];
  const itemOf = deriveOnce((skill: Skill) => {
    derived.push(skill.name);
    return { key: skill.name, value: skill.description };
  });
  const list = () => [...registry.catalog.served.values()].map(itemOf);
  list();
  assert.equal(derived.splice(0).length, 50);
  place.skill("skills", "s7", skillMd("s7", "Changed"));
  place.skill("skills", "new");
  await registry.refresh();
  list();
  assert.deepEqual(derived.splice(0).sort(), ["new", "s7"]);
  place.file("policy.yaml", "rules: [{ skill: s1?, state: pinned }]");
  await registry.refresh();
  list();
  assert.equal(derived.splice(0).length, 10);
});

/** A tree of folders that all contain links to each other. */
function createTreeOfLinks(place: Place, skill: string): void {
  for (let from = 0; from < 8; from++) {
    place.folder(skill, `${from}`);
    for (let to = 0; to < 8; to++) {
      place.link(`../${to}`, `${skill}/${from}/to-${to}`);
    }
  }
}

function serve(place: Place): Promise<LocalServer> {
  return LocalServer.open({ ...place, args: [join(place.path, "skills")] });
}

Deno.test(
  "skills/list walks a skill only until hosts would refuse it",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("skills", "git");
    for (const name of ["tree", "wood"]) {
      place.skill("skills", name);
      createTreeOfLinks(place, `skills/${name}`);
    }
    using server = await serve(place);
    using disk = new DiskSpy();
    const { result } = await server.ask(0, "skills/list");
    assert.deepEqual(
      result.skills.map(({ uri }: { uri: string }) => uri),
      ["skill://git/SKILL.md"],
    );
    // Of each skill, 2,048 entries, most of which are links, and not 20,000.
    const count = disk.counts.get("realPathSync")!;
    assert.ok(count > 2_000 && count < 2 * 2_048 * 4, `${count}`);
  },
);

Deno.test("an unknown name does not wait for the files that a client subscribed to", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using server = await serve(place);
  await server.ask(0, "resources/subscribe", { uri: "skill://" });
  const { registry } = server;
  const listFiles = registry.listFiles.bind(registry);
  const listing = Promise.withResolvers<void>();
  let hasStarted = false;
  registry.listFiles = async (skill, viewer) => {
    hasStarted = true;
    await listing.promise;
    return await listFiles(skill, viewer);
  };
  const params = { name: "skill", arguments: { name: "none" } };
  const { result } = await server.ask(0, "tools/call", params);
  assert.match(result.content[0].text, /Skill 'none' not found/);
  assert.ok(hasStarted);
  listing.resolve();
});
