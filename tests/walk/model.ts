// The reference model: for a state of the disk and settings, who may see what. It
// is written from the rules, not from the code, and it keeps nothing.
import { attempt } from "../../src/attempt.ts";
import { basename, dirname, join } from "../../src/fs/paths.ts";
import { STATES } from "../../src/policy/states.ts";
import type { SkillState as State } from "../../src/skills/types.ts";
import * as disk from "./reading.ts";

/** A rule of a policy, whose directories have absolute paths. */
export interface Rule {
  state: State;
  skill?: string[];
  scope?: string;
  in?: string[];
}

/** Whom something is hidden from. */
type Viewer = "everyone" | "model";

export interface Root {
  path: string;
  recursive: boolean;
  /** Whether it can be a skill itself. */
  includesItself: boolean;
}

/** The settings of a server. */
export interface World {
  workingDirectory: string;
  home: string;
  toolset: string;
  /** The roots in search order. */
  roots: Root[];
  trustLinks: string[];
  /** The rules of the last valid policy, if there ever was one. */
  rules: readonly Rule[] | undefined;
}

/** A skill that clients may see. */
export interface Sight {
  name: string;
  realPath: string;
  scope: string;
  state: State;
  /** The name of the plugin that it is in. */
  plugin: string | undefined;
  /** Whether the model, and whether the user, can load it. */
  forModel: boolean;
  forUser: boolean;
  /** The real paths of its files by path: for clients, and for the model. */
  files: Map<string, string>;
  modelFiles: Map<string, string>;
}

/** A name in lowercase that something has which clients cannot see. */
export interface Unseen {
  name: string;
  scope: string;
  plugin: string | undefined;
}

/** A path through which a root lists a directory. */
interface Listing {
  path: string;
  realPath: string;
  depth: number;
  /** The real path of the skill around it. */
  skill?: string;
  /** The number of the root. */
  root: number;
  position: number;
}

/** A directory with a `SKILL.md`, valid or not. */
interface Found {
  realPath: string;
  scope: string;
  listings: Listing[];
  main: string;
  /** Whether its main file can be read. */
  isRead: boolean;
  frontmatter: disk.Frontmatter;
}

/** What rules are asked about: a name and a path of a skill. */
interface Subject {
  name: string;
  path: string;
  scope: string;
}

/** The name of the directory around the directory `skills` that has a skill, unless that hides, or is a scope. */
function pluginOf(path: string): string | undefined {
  const [, skills, plugin = ""] = path.split("/").reverse();
  const isNone = /^(?:\..*|project|global|)$/.test(plugin);
  return skills === "skills" && !isNone ? plugin : undefined;
}

export class Model {
  readonly #found = new Map<string, Found>();
  #position = 0;
  /** What is hidden from everyone, and from the model. */
  readonly #hidden: { dir: string; from: Viewer }[] = [];
  readonly #world: World;
  /** What was found and cannot be seen, which nothing else loads in place of. */
  readonly unseen: Unseen[] = [];
  readonly project: string[];
  readonly #trusted: string[] = [];
  /** Where links may lead, if the toolset confines them. */
  readonly #rootTargets: string[] | undefined;
  readonly #rules;
  /** Whether the policy was never valid. */
  readonly #isInvalid: boolean;

  constructor(world: World) {
    const { home, roots } = world;
    this.#world = world;
    this.#isInvalid = world.rules === undefined;
    // The home directory, and what lies above it, is no project.
    this.project = disk.reals([world.workingDirectory])
      .filter((base) => !disk.isWithin(disk.real(home) ?? home, base));
    this.#trusted = world.trustLinks.flatMap((path) => this.#resolve(path));
    this.#rootTargets = world.toolset === "reference"
      ? roots.flatMap(({ path }) => this.#resolve(path)).concat(this.#trusted)
      : undefined;
    this.#rules = (world.rules ?? []).map((rule) => ({
      ...rule,
      dirs: rule.in?.flatMap((path) => [path, ...this.#resolve(path)]),
    }));
  }

  /** Returns the real path of a directory that the user named, unless the project leads out to it. */
  #resolve(path: string): string[] {
    return disk.reals([path]).filter((realPath) =>
      this.#isAllowed(realPath) || !this.#hasProjectLink(path)
    );
  }

  /** Returns the skills that may be seen, in search order. */
  look(): Sight[] {
    if (this.#isInvalid) return [];
    const { roots } = this.#world;
    roots.forEach((root, index) => this.#search(root, index));
    const isCopy = ({ listings: [listing], frontmatter: { name } }: Found) =>
      basename(listing!.path).toLowerCase() !== name?.toLowerCase();
    const isInGroup = ({ listings: [listing] }: Found) =>
      !roots[listing!.root]!.recursive && listing!.depth === 2;
    const skills = [...this.#found.values()].sort((a, b) => {
      const [one, two] = [a.listings[0]!, b.listings[0]!];
      return one.root - two.root || +isInGroup(a) - +isInGroup(b) ||
        +isCopy(a) - +isCopy(b) ||
        one.position - two.position;
    });
    for (const skill of skills) this.#hide(skill);
    // Names go first to what the model may load.
    return skills.flatMap((skill) => this.#show(skill))
      .sort((a, b) => +!a.forModel - +!b.forModel);
  }

  #scopeOf(realPath: string): string {
    return disk.isInside(realPath, this.project) ? "project" : "global";
  }

  /** Whether a link that lies in the project is on the path. */
  #hasProjectLink(path: string): boolean {
    return path !== "/" &&
      ((disk.isLink(path) && this.#scopeOf(disk.locate(path)) === "project") ||
        this.#hasProjectLink(dirname(path)));
  }

  /** Whether what lies in the project may lead to a real path. */
  #isAllowed(realPath: string): boolean {
    return disk.isInside(realPath, [...this.project, ...this.#trusted]);
  }

  #isOwn(path: string, skill: string): boolean {
    return disk.isWithin(path, skill)
      ? disk.namesBelow(skill, path).every(disk.isVisible)
      : disk.isInside(path, this.#trusted);
  }

  #search(
    { path, recursive, includesItself }: World["roots"][number],
    root: number,
  ): void {
    const [realPath = ""] = this.#resolve(path);
    const top: Listing = { path, realPath, depth: 0, root, position: 0 };
    if (!disk.isDir(realPath)) return;
    if (includesItself && this.#note(top)) top.skill = realPath;
    const queue = [top];
    const visited = new Set([realPath]);
    for (const dir of queue) {
      for (const { name } of disk.list(dir.path)) {
        if (recursive && disk.isUnsearched(name)) continue;
        const child = this.#enter(dir, name);
        if (child === undefined) continue;
        if (this.#note(child)) child.skill = child.realPath;
        const isSearched = recursive
          ? child.depth < 6
          : child.depth === 1 && this.#isGroup(child);
        if (isSearched && !visited.has(child.realPath)) queue.push(child);
        visited.add(child.realPath);
      }
    }
  }

  /** Whether a directory directly in a root, which has no main file, can hold skills. */
  #isGroup({ path, realPath, skill }: Listing): boolean {
    return this.#world.toolset !== "reference" && skill === undefined &&
      !disk.isUnused(basename(path)) && !disk.findMain(path) &&
      !this.#world.roots.some(({ path }) =>
        this.#resolve(path).includes(realPath)
      );
  }

  #enter(dir: Listing, name: string): Listing | undefined {
    const path = join(dir.path, name);
    const realPath = disk.real(path) ?? "";
    const child = { ...dir, path, realPath, depth: dir.depth + 1 };
    if (!disk.isDir(realPath)) return undefined;
    if (!disk.isLink(path)) return child;
    const isInProject = this.#scopeOf(disk.locate(path)) === "project";
    if (isInProject && !this.#isAllowed(realPath)) return undefined;
    const isOwn = !dir.skill || this.#isOwn(realPath, dir.skill);
    const leaves = this.#rootTargets !== undefined &&
      !disk.isInside(realPath, this.#rootTargets);
    return isOwn && !leaves ? child : undefined;
  }

  #note(listing: Listing): boolean {
    const { path, realPath } = listing;
    const main = disk.findMain(path);
    if (main === undefined) return false;
    const file = disk.real(main) ?? "";
    const text = this.#isOwn(file, realPath) ? file : "";
    const frontmatter = disk.readFrontmatter(text);
    const known = this.#found.get(realPath) ?? {
      listings: [],
      realPath,
      main,
      frontmatter,
      scope: this.#scopeOf(realPath),
      isRead: attempt(() => Deno.readTextFileSync(text)) !== undefined,
    };
    listing.position = ++this.#position;
    const listings = [...known.listings, listing];
    this.#found.set(realPath, { ...known, listings });
    return true;
  }

  /** The last rule that matches applies. */
  #findRule({ name, path, scope }: Subject) {
    return this.#rules.findLast((rule) =>
      (rule.scope ?? scope) === scope &&
      (rule.skill?.some((it) => disk.namePattern(it).test(name)) ?? true) &&
      (rule.dirs === undefined || disk.isInside(path, rule.dirs))
    );
  }

  #decide(subject: Subject): State {
    return this.#findRule(subject)?.state ?? "on";
  }

  /** Every path is judged by every name. */
  #subjects(
    { listings, realPath, scope, frontmatter: { name, isValid } }: Found,
  ): Subject[] {
    const paths = [...listings.map(({ path }) => path), realPath];
    const names = isValid
      ? [name!]
      : [name ?? [], ...paths.map((path) => basename(path))].flat();
    return names.flatMap((name) =>
      paths.map((path) => ({ name, path, scope }))
    );
  }

  /** The strictest answer wins. */
  #judge(skill: Found): State {
    const states = this.#subjects(skill).map((it) => this.#decide(it));
    const strictness = (state: State) => STATES[state].strictness;
    return states.sort((a, b) => strictness(b) - strictness(a))[0]!;
  }

  #hide(skill: Found): void {
    const { realPath: dir, frontmatter, isRead } = skill;
    const judged = STATES[this.#judge(skill)].hiddenFrom;
    const flagged = judged === "nobody" && !frontmatter.forModel
      ? "model"
      : judged;
    const from = isRead ? flagged : "everyone";
    if (from !== "nobody") this.#hidden.push({ dir, from });
  }

  /** Whether a path lies in a hidden directory that the skill does not lie in itself. */
  #isHidden(path: string, { realPath }: Found, viewers: Viewer[]): boolean {
    return this.#hidden
      .filter(({ from }) => viewers.includes(from))
      .some(({ dir }) =>
        disk.isWithin(path, dir) &&
        !(disk.isWithin(realPath, dir) && disk.isWithin(path, realPath))
      );
  }

  #listFiles(skill: Found, ...viewers: Viewer[]): Map<string, string> {
    const { realPath, main } = skill;
    const { path } = skill.listings[0]!;
    return disk.listFiles({
      path,
      realPath,
      main: join(path, basename(main)),
    }, {
      isOwn: (target) => this.#isOwn(target, realPath),
      isOpen: (target) => !this.#isHidden(target, skill, viewers),
    });
  }

  #show(skill: Found): Sight[] {
    const { realPath, scope, main, frontmatter } = skill;
    const { name, isValid, forUser } = frontmatter;
    const file = disk.real(main) ?? "";
    const judged = this.#judge(skill);
    const { hiddenFrom } = STATES[judged];
    const isOff = hiddenFrom === "everyone" ||
      this.#isHidden(file, skill, ["everyone"]);
    const { path } = skill.listings[0]!;
    const plugin = pluginOf(path);
    if (!isValid || isOff) {
      const names = this.#subjects(skill).map(({ name }) => name.toLowerCase());
      for (const name of new Set(names)) {
        this.unseen.push({ name, scope, plugin: plugin?.toLowerCase() });
      }
      return [];
    }
    const forModel = hiddenFrom === "nobody" && frontmatter.forModel &&
      !this.#isHidden(file, skill, ["model"]);
    const files = this.#listFiles(skill, "everyone");
    const modelFiles = this.#listFiles(skill, "everyone", "model");
    const shown = {
      plugin,
      realPath,
      scope,
      state: judged,
      forModel,
      forUser,
    };
    return [{ name: name!, ...shown, files, modelFiles }];
  }
}
