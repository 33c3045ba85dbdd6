// A walk over the states of a disk: changes it at random, and checks what servers show.
import assert from "node:assert/strict";
import { relative } from "../../src/fs/paths.ts";
import { DEADLINE_MS, within } from "../testing/waiting.ts";
import { Changes, drawLayout, SKILL_NAMES } from "./changes.ts";
import { type Change, Disk } from "./disk.ts";
import { Model, type Sight, type World } from "./model.ts";
import { Random } from "./random.ts";
import { isDir } from "./reading.ts";
import { type Launch, LocalServer } from "./servers.ts";
import {
  chooseStart,
  launchOf,
  readRules,
  type Start,
  worldOf,
} from "./start.ts";
import { type Ask, Observer } from "./observer.ts";
import { expectedView, formatDifferences } from "./view.ts";

/** The share of the steps after which all views are checked. */
const VIEWS_PER_STEP = 0.1;

/** The share of the steps after which a server that watches is checked. */
const RESTS_PER_STEP = 0.3;

/** The share of these rests at which all views are checked. */
const VIEWS_PER_REST = 0.3;

/** How a walk is checked: a server scans after each step, or it watches the disk. */
export type WalkMode = "scan" | "watch";

/** The number of changes before a server starts. */
const FIRST_CHANGES = 12;

/** The number of changes that are recorded, the last of which showed a fault. */
const RECORDED_CHANGES = 3;

/** A walk as data, which shows the same whatever is drawn. In it, @ stands for the place. */
export interface Recording {
  readonly mode: WalkMode;
  readonly start: Start;
  /** What creates the disk on which a server starts. */
  readonly world: Change;
  /** What changes then, one after the other. */
  readonly changes: readonly Change[];
}

/** How a walk goes on. */
interface Course {
  readonly disk: Disk;
  readonly start: Start;
  /** The changes to come, which may depend on what there is on the disk. */
  readonly changes: Iterable<Change>;
  /** Draws what is checked. Without it, everything is. */
  readonly random?: Random;
}

export class Walk implements Disposable {
  readonly #random: Random | undefined;
  readonly #disk: Disk;
  readonly #start: Start;
  readonly #launch: Launch;
  readonly #changes: Iterable<Change>;
  #world: World;
  #phase = "";

  private constructor({ disk, start, changes, random }: Course) {
    this.#random = random;
    this.#disk = disk;
    this.#start = start;
    this.#changes = changes;
    this.#launch = launchOf(start, disk);
    this.#world = worldOf(start, disk);
  }

  static draw(seed: number, steps: number): Walk {
    const random = new Random(seed);
    const disk = new Disk();
    const layout = drawLayout(disk, random);
    disk.change(layout.creation);
    const start = chooseStart(disk, layout, random);
    const roots = worldOf(start, disk).roots.map(({ path }) => path)
      .filter((dir) => dir.startsWith(disk.place.path));
    disk.change(roots.map((root) => ["folder", root]));
    const changes = new Changes({ disk, layout, roots }, random);
    for (let count = 0; count < FIRST_CHANGES; count++) {
      disk.change(changes.draw());
    }
    return new Walk({ disk, start, changes: drawAll(changes, steps), random });
  }

  static repeat(recording: Recording): Walk {
    const disk = new Disk();
    const { path } = disk.place;
    const text = JSON.stringify(recording).replaceAll("@", path);
    const { start, world, changes }: Recording = JSON.parse(text);
    disk.change(world);
    return new Walk({ disk, start, changes });
  }

  /** Checks a server while the disk changes, and fresh ones at the end. */
  async run(mode: WalkMode): Promise<void> {
    try {
      await (mode === "watch" ? this.#walkWatched() : this.#walk());
      await this.#rest();
    } catch (error) {
      throw new Error(
        [this.#phase, this.#record(mode), (error as Error).message].join("\n"),
      );
    }
  }

  async #walk(): Promise<void> {
    using server = await this.#open(this.#launch);
    for (const step of this.#change()) {
      await server.registry.refresh();
      this.#checkCatalog(server);
      if (this.#happens(VIEWS_PER_STEP)) await this.#checkViews(server, step);
    }
  }

  /** Requests no scans: the server must notice the changes by watching the disk, or by its timer. */
  async #walkWatched(): Promise<void> {
    const { refresh = 1 } = this.#start;
    const args = [`--refresh=${refresh}`, ...this.#launch.args];
    using server = await this.#open({ ...this.#launch, args });
    server.registry.watch();
    let rules = JSON.stringify(this.#world.rules);
    for (const step of this.#change()) {
      // Which policy was the last valid one depends on what the server has read.
      const scan = server.nextScan();
      const isSame = rules === (rules = JSON.stringify(this.#world.rules));
      if (!isSame) await within(scan, `a scan in ${step}`);
      if (!this.#happens(RESTS_PER_STEP)) continue;
      await untilScanned(server, () => this.#checkCatalog(server));
      if (!this.#happens(VIEWS_PER_REST)) continue;
      await untilScanned(server, () => this.#checkViews(server, step));
    }
  }

  #open(launch: Launch): Promise<LocalServer> {
    this.#phase = "start";
    this.#readRules();
    return LocalServer.open(launch);
  }

  /** Changes the disk, and yields after each step. */
  *#change(): Iterable<string> {
    const countProjects = () => new Model(this.#world).project.length;
    const count = countProjects();
    let step = 0;
    for (const change of this.#changes) {
      this.#disk.change(change);
      this.#readRules(this.#world.rules);
      // Which roots are the project's is decided when a server starts. It is not
      // decided again if the home directory is moved into the project later.
      if (countProjects() !== count) return;
      yield this.#phase = `step ${++step}`;
    }
  }

  /** Whether something is done that a random walk does with a probability. */
  #happens(probability: number): boolean {
    return this.#random?.chance(probability) ?? true;
  }

  /** Draws a few of some items. Without a random walk, returns all of them. */
  #choose<T>(items: readonly T[], count: number): readonly T[] {
    const random = this.#random;
    if (random === undefined || items.length === 0) return items;
    return Array.from({ length: count }, () => random.pick(items));
  }

  #checkCatalog({ registry: { catalog } }: LocalServer): void {
    assert.deepEqual(
      briefly([
        ...catalog.skills.values(),
        ...catalog.shadowed.map(({ skill }) => skill),
      ], ({ realDirectory }) => realDirectory),
      briefly(new Model(this.#world).look(), ({ realPath }) => realPath),
    );
  }

  async #rest(): Promise<void> {
    this.#readRules();
    using fresh = await LocalServer.open(this.#launch);
    for (const connection of Object.entries(fresh.asks)) {
      await this.#check(connection, "fresh server");
    }
  }

  /** Checks what a server shows over one of its connections, or over all of them. */
  async #checkViews({ asks }: LocalServer, phase: string): Promise<void> {
    for (const connection of this.#choose(Object.entries(asks), 1)) {
      await this.#check(connection, phase);
    }
  }

  #readRules(last?: World["rules"]): void {
    this.#world = {
      ...this.#world,
      rules: readRules(this.#start, this.#disk, last),
    };
  }

  /** Compares what a server shows with what the model says. */
  async #check([name, ask]: [string, Ask], phase: string): Promise<void> {
    this.#phase = `${phase} over ${name}`;
    const { toolset } = this.#world;
    const model = new Model(this.#world);
    const sights = model.look();
    const { unseen } = model;
    const paths = this.#choosePaths(sights);
    const names = this.#chooseNames(sights);
    const observer = new Observer(ask, toolset);
    const seen = await observer.look({ names, paths });
    const expected = expectedView(sights, { toolset, names, unseen });
    assert.equal(formatDifferences(seen, expected), "");
    assert.deepEqual(observer.findLeaks(sights), []);
  }

  /** Chooses paths in skills that are read even if they are not listed. */
  #choosePaths(sights: Sight[]): string[] {
    const entries = this.#disk.list();
    const inside = sights.flatMap(({ realPath }) =>
      entries.filter(({ path }) =>
        path.startsWith(`${realPath}/`) && !isDir(path)
      ).map(({ path }) => relative(realPath, path))
    );
    // A directory of another skill can have the same path as a link.
    const paths = ["../a/SKILL.md", ...this.#choose(inside, 3)];
    return [...new Set(paths)].filter((path) =>
      path.endsWith(".md") && path !== "skill.md"
    );
  }

  /** Chooses names that are loaded by their scope. */
  #chooseNames(sights: Sight[]): string[] {
    const known = sights.map(({ name }) => name);
    const names = [this.#choose(SKILL_NAMES, 1), this.#choose(known, 1)];
    return [...new Set(names.flat())];
  }

  /** Records what led to here, to be added to `found.ts`. */
  #record(mode: WalkMode): string {
    const { changes, place: { path } } = this.#disk;
    using before = new Disk();
    const text = JSON.stringify(changes).replaceAll(path, before.place.path);
    const all: Change[] = JSON.parse(text);
    for (const change of all.slice(0, -RECORDED_CHANGES)) before.change(change);
    const recording: Recording = {
      mode,
      start: this.#start,
      world: before.capture(),
      changes: changes.slice(-RECORDED_CHANGES),
    };
    return JSON.stringify(recording).replaceAll(path, "@")
      .replaceAll(before.place.path, "@");
  }

  [Symbol.dispose](): void {
    this.#disk[Symbol.dispose]();
  }
}

/** Draws a number of changes, each when it is asked for. */
function* drawAll(changes: Changes, count: number): Iterable<Change> {
  for (let step = 0; step < count; step++) yield changes.draw();
}

/** Repeats a check after each scan, until it passes. */
async function untilScanned(
  server: LocalServer,
  check: () => unknown,
): Promise<void> {
  const end = performance.now() + DEADLINE_MS;
  for (;;) {
    const scan = server.nextScan();
    try {
      await check();
      return;
    } catch (error) {
      const rest = end - performance.now();
      // A slow check may find that the next scan has ended already, each time.
      if (rest <= 0) throw error;
      await within(scan, "a scan", rest).catch(() => {
        throw error;
      });
    }
  }
}

/** Describes skills in a few words, in order. */
function briefly<T extends { name: string; scope: string; state?: string }>(
  skills: readonly T[],
  realPathOf: (skill: T) => string,
): string[] {
  return skills.map((skill) =>
    `${skill.name} (${skill.scope}, ${skill.state ?? "on"}) ${
      realPathOf(skill)
    }`
  ).sort();
}
