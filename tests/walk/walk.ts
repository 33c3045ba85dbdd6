// A walk over the states of a disk: changes it in steps, and checks what servers show.
import assert from "node:assert/strict";
import { relative } from "../../src/files/paths.ts";
import { DEADLINE_MS, within } from "../testing/waiting.ts";
import { type ChangingDisk, SKILL_NAMES } from "./disk.ts";
import { Model, type Sight, type World } from "./model.ts";
import type { Random } from "./random.ts";
import { isFolder, listAll } from "./reading.ts";
import { type Launch, LocalServer } from "./servers.ts";
import {
  type Course,
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

/** A walk over the states of a disk. */
export class Walk implements Disposable {
  readonly #random: Random;
  readonly #disk: ChangingDisk;
  readonly #start: Start;
  readonly #launch: Launch;
  readonly #attention: number;
  #world: World;
  #phase = "";
  /** The last step that was taken. */
  step = 0;

  /**
   * @param random What to check.
   * @param attention How many times as often as usual all views are checked.
   */
  constructor({ disk, start }: Course, random: Random, attention = 1) {
    this.#random = random;
    this.#disk = disk;
    this.#start = start;
    this.#launch = launchOf(start, disk);
    this.#world = worldOf(start, disk);
    this.#attention = attention;
  }

  /** Checks a server while the disk changes, and fresh ones at the end. */
  async run(steps: number, mode: WalkMode): Promise<void> {
    try {
      await (mode === "watch" ? this.#walkWatched(steps) : this.#walk(steps));
      await this.#rest();
    } catch (error) {
      throw new Error(
        [this.#phase, ...this.#describe(), (error as Error).message].join("\n"),
      );
    }
  }

  async #walk(steps: number): Promise<void> {
    using server = await this.#open(this.#launch);
    for (const step of this.#change(steps)) {
      await server.refresh();
      this.#checkCatalog(server);
      if (!this.#isDue(VIEWS_PER_STEP, steps)) continue;
      const connection = this.#random.pick(Object.entries(server.asks));
      await this.#check(connection, step);
    }
  }

  /** Requests no scans: the server must notice the changes by watching the disk, or by its timer. */
  async #walkWatched(steps: number): Promise<void> {
    const args = ["--refresh=1", ...this.#launch.args];
    using server = await this.#open({ ...this.#launch, args });
    server.watch();
    let rules = JSON.stringify(this.#world.rules);
    for (const step of this.#change(steps)) {
      // Which policy was the last valid one depends on what the server has read.
      const scan = server.nextScan();
      const isSame = rules === (rules = JSON.stringify(this.#world.rules));
      if (!isSame) await within(scan, `a scan in ${step}`);
      if (!this.#isDue(RESTS_PER_STEP, steps)) continue;
      await untilScanned(server, () => this.#checkCatalog(server));
      if (!this.#isDue(VIEWS_PER_REST, steps)) continue;
      const connection = this.#random.pick(Object.entries(server.asks));
      await untilScanned(server, () => this.#check(connection, step));
    }
  }

  /** Whether to check something now, which is always so at the last step. */
  #isDue(share: number, steps: number): boolean {
    return this.#random.chance(share * this.#attention) || this.step === steps;
  }

  #open(launch: Launch): Promise<LocalServer> {
    this.#phase = "start";
    this.#readRules();
    return LocalServer.open(launch);
  }

  /** Changes the disk, and yields after each step. */
  *#change(steps: number): Iterable<string> {
    const countProjects = () => new Model(this.#world).project.length;
    const count = countProjects();
    for (let step = 1; step <= steps; step++) {
      this.step = step;
      this.#disk.change();
      this.#readRules(this.#world.rules);
      // Which roots are the project's is decided when a server starts. It is not
      // decided again if the home folder is moved into the project later.
      if (countProjects() !== count) return;
      yield this.#phase = `step ${step}`;
    }
  }

  /** Checks the skills in the catalog, without their files. */
  #checkCatalog({ catalog }: LocalServer): void {
    assert.deepEqual(
      briefly([
        ...catalog.skills.values(),
        ...catalog.shadowed.map(({ skill }) => skill),
      ], ({ realDirectory }) => realDirectory),
      briefly(new Model(this.#world).look(), ({ realPath }) => realPath),
    );
  }

  /** Checks a server that starts now. */
  async #rest(): Promise<void> {
    this.#readRules();
    using fresh = await LocalServer.open(this.#launch);
    for (const connection of Object.entries(fresh.asks)) {
      await this.#check(connection, "fresh server");
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
    const sights = new Model(this.#world).look();
    const paths = this.#choosePaths(sights);
    const names = this.#chooseNames(sights);
    const observer = new Observer(ask, toolset);
    const seen = await observer.look({ names, paths });
    const expected = expectedView(sights, { toolset, names });
    assert.equal(formatDifferences(seen, expected), "");
    assert.deepEqual(observer.findLeaks(sights), []);
  }

  /** Chooses paths in skills that are read even if they are not listed. */
  #choosePaths(sights: Sight[]): string[] {
    const paths = ["../a/SKILL.md"];
    const entries = listAll(this.#disk.place.path);
    for (let count = 0; count < 3 && sights.length > 0; count++) {
      const { realPath } = this.#random.pick(sights);
      const inside = entries.filter(({ path }) =>
        path.startsWith(`${realPath}/`) && !isFolder(path)
      );
      if (inside.length === 0) continue;
      paths.push(relative(realPath, this.#random.pick(inside).path));
    }
    // A folder of another skill can have the same path as a link.
    return [...new Set(paths)].filter((path) =>
      path.endsWith(".md") && path !== "skill.md"
    );
  }

  /** Chooses names that are loaded by their scope. */
  #chooseNames(sights: Sight[]): string[] {
    const names = [this.#random.pick(SKILL_NAMES)];
    if (sights.length > 0) names.push(this.#random.pick(sights).name);
    return [...new Set(names)];
  }

  #describe(): string[] {
    const { path } = this.#disk.place;
    const files = listAll(this.#disk.place.path).filter(({ isDirectory }) =>
      !isDirectory
    );
    return [
      JSON.stringify({ ...this.#start, rules: this.#world.rules }),
      JSON.stringify(this.#launch),
      ...this.#disk.log.slice(-8),
      ...files.map((file) => `${file.path} ${formatFile(file)}`),
    ].map((line) => line.replaceAll(path, "@"));
  }

  [Symbol.dispose](): void {
    this.#disk[Symbol.dispose]();
  }
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

function formatFile(
  { path, isSymlink }: { path: string; isSymlink: boolean },
): string {
  try {
    return isSymlink
      ? `-> ${Deno.readLinkSync(path)}`
      : Deno.readTextFileSync(path).replaceAll("\n", "|");
  } catch {
    return "(unreadable)";
  }
}
