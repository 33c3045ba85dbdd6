// The reference model: for a state of the disk and settings, who may see what. It
// is written from the rules, not from the code, and it keeps nothing.
import { basename, dirname, join } from "jsr:@std/path@^1";
import * as disk from "./reading.ts";

/** A rule of a policy, whose `in` is an absolute path. */
export interface Rule {
  state: State;
  skill?: string;
  scope?: string;
  in?: string;
}

export type State = "on" | "pinned" | "name-only" | "manual" | "off";

/** The states that are stricter than others, the strictest first. */
const STRICTEST = ["off", "manual", "name-only"] as const;

type Closure = "off" | "manual";

/** A folder that is searched for skills. */
export interface Root {
  path: string;
  recursive: boolean;
  /** Whether it is one of the project's default folders. */
  isProject: boolean;
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
  /** Its real directory. */
  place: string;
  scope: string;
  state: State;
  /** Whether the model, and whether the user, can load it. */
  forModel: boolean;
  forUser: boolean;
  /** The real paths of its files by path: for clients, and for the model. */
  files: Map<string, string>;
  modelFiles: Map<string, string>;
}

/** A path through which a root lists a folder. */
interface Face {
  path: string;
  place: string;
  depth: number;
  /** Whether a link in the project is on the path. */
  isConfined: boolean;
  /** The place of the skill around it. */
  skill?: string;
  position: number;
}

/** A folder with a `SKILL.md`, valid or not. */
interface Found {
  place: string;
  scope: string;
  faces: Face[];
  main: string;
  frontmatter: disk.Frontmatter;
}

/** What rules are asked about: a name and a path of a skill. */
interface Subject {
  name: string;
  path: string;
  scope: string;
}

/** The reference model. */
export class Model {
  readonly #found = new Map<string, Found>();
  #position = 0;
  /** The places that are closed to everyone, and to the model. */
  readonly #closed = { off: new Set<string>(), manual: new Set<string>() };
  readonly #world: World;
  readonly project: string[];
  readonly #trusted: string[];
  /** Where links in the project may lead. */
  readonly #allowed: string[];
  readonly #rules;
  /** Whether the policy was never valid. */
  readonly #isInvalid: boolean;

  constructor(world: World) {
    const { home, roots } = world;
    this.#world = world;
    this.#isInvalid = world.rules === undefined;
    // The home folder, and what lies above it, is no project.
    this.project = disk.reals([world.workingDirectory])
      .filter((base) => !disk.isWithin(disk.real(home) ?? home, base));
    this.#trusted = disk.reals(world.trustLinks);
    const own = roots.filter(({ isProject }) => !isProject)
      .map(({ path }) => path)
      .filter((path) => !this.#isConfined(path));
    this.#allowed = disk.reals(own).concat(this.project, this.#trusted);
    this.#rules = (world.rules ?? []).map((rule) => {
      if (rule.in === undefined) return { ...rule, folders: [] };
      const folders = disk.expandGlob(rule.in).flatMap(disk.spellings);
      return { ...rule, folders };
    });
  }

  /** Returns the skills that may be seen, in search order. */
  look(): Sight[] {
    if (this.#isInvalid) return [];
    this.#world.roots.forEach((root) => this.#search(root));
    const skills = [...this.#found.values()].map((skill) =>
      this.#withoutDepartures(skill)
    ).sort((a, b) => a.faces[0]!.position - b.faces[0]!.position);
    for (const skill of skills) {
      const { place, frontmatter } = skill;
      this.#close(place, this.#judge(skill), frontmatter.forModel);
    }
    return skills.flatMap((skill) => this.#show(skill));
  }

  /** A path through a link of the project that leaves it counts only if there is no other. */
  #withoutDepartures(skill: Found): Found {
    const scope = this.#scopeOf(skill.place);
    const staying = skill.faces.filter(({ isConfined }) =>
      !isConfined || scope === "project"
    );
    return staying.length > 0
      ? { ...skill, faces: staying, scope }
      : { ...skill, scope: "project" };
  }

  #scopeOf(place: string): string {
    return disk.isInside(place, this.project) ? "project" : "global";
  }

  /** Whether a link that lies in the project is on the path. */
  #isConfined(path: string): boolean {
    return path !== "/" &&
      (disk.isLink(path) && this.#scopeOf(disk.locate(path)) === "project" ||
        this.#isConfined(dirname(path)));
  }

  #isAllowed({ place, isConfined }: Face): boolean {
    return !isConfined || disk.isInside(place, this.#allowed);
  }

  #isOwn(place: string, skill: string): boolean {
    return disk.isWithin(place, skill)
      ? disk.namesBelow(skill, place).every(disk.isVisible)
      : disk.isInside(place, this.#trusted);
  }

  #search({ path, recursive, includesItself }: World["roots"][number]): void {
    const place = disk.real(path) ?? "";
    const isConfined = this.#isConfined(path);
    const top: Face = { path, place, depth: 0, isConfined, position: 0 };
    if (!disk.isFolder(place) || !this.#isAllowed(top)) return;
    if (includesItself && this.#note(top)) top.skill = place;
    const queue = [top];
    const visited = new Set([place]);
    for (const folder of queue) {
      for (const { name } of disk.list(folder.path)) {
        if (recursive && disk.isUnsearched(name)) continue;
        const child = this.#enter(folder, name);
        if (child === undefined) continue;
        if (this.#note(child)) child.skill = child.place;
        const isSearched = recursive && child.depth < 6;
        if (isSearched && !visited.has(child.place)) queue.push(child);
        visited.add(child.place);
      }
    }
  }

  #enter(folder: Face, name: string): Face | undefined {
    const path = join(folder.path, name);
    const place = disk.real(path) ?? "";
    const child = { ...folder, path, place, depth: folder.depth + 1 };
    if (!disk.isFolder(place)) return undefined;
    if (!disk.isLink(path)) return child;
    child.isConfined ||= this.#scopeOf(disk.locate(path)) === "project";
    const isOwn = !folder.skill || this.#isOwn(place, folder.skill);
    return isOwn && this.#isAllowed(child) ? child : undefined;
  }

  /** Notes a face of a skill. Returns whether there is a skill. */
  #note(face: Face): boolean {
    const { path, place } = face;
    const main = disk.findMain(path);
    if (main === undefined) return false;
    const file = disk.real(main) ?? "";
    const text = this.#isOwn(file, place) ? file : "";
    const frontmatter = disk.readFrontmatter(text);
    const known = this.#found.get(place) ??
      { faces: [], place, main, frontmatter, scope: "" };
    face.position = ++this.#position;
    this.#found.set(place, { ...known, faces: [...known.faces, face] });
    return true;
  }

  /** The last rule that matches applies. */
  #decide({ name, path, scope }: Subject): State {
    const rule = this.#rules.findLast((rule) =>
      (rule.scope ?? scope) === scope &&
      (rule.skill === undefined || disk.globPattern(rule.skill).test(name)) &&
      (rule.in === undefined ||
        (rule.in.endsWith("/*")
          ? rule.folders.includes(path)
          : disk.isInside(path, rule.folders)))
    );
    return rule?.state ?? "on";
  }

  /** Every path is judged by every name, and the strictest answer wins. */
  #judge(
    { faces, place, scope, frontmatter: { name, isValid } }: Found,
  ): State {
    const paths = [...faces.map(({ path }) => path), place];
    const names = isValid
      ? [name!]
      : [name ?? [], ...paths.map((path) => basename(path))].flat();
    const states = names.flatMap((name) =>
      paths.map((path) => this.#decide({ name, path, scope }))
    );
    return STRICTEST.find((state) => states.includes(state)) ?? states[0]!;
  }

  #close(place: string, state: State, forModel = true): void {
    if (state === "off") this.#closed.off.add(place);
    if (state === "manual" || !forModel) this.#closed.manual.add(place);
  }

  /** Whether a path lies in a closed folder that the skill does not lie in itself. */
  #isClosed(path: string, skill: string, kinds: Closure[]): boolean {
    return kinds.flatMap((kind) => [...this.#closed[kind]]).some((folder) =>
      disk.isWithin(path, folder) &&
      !(disk.isWithin(skill, folder) && disk.isWithin(path, skill))
    );
  }

  #listFiles(skill: Found, ...kinds: Closure[]): Map<string, string> {
    const path = skill.faces[0]!.path;
    return disk.listFiles({
      ...skill,
      path,
      main: join(path, basename(skill.main)),
    }, {
      isOwn: (target) => this.#isOwn(target, skill.place),
      isOpen: (target) => !this.#isClosed(target, skill.place, kinds),
    });
  }

  #show(skill: Found): Sight[] {
    const { place, scope, main, frontmatter: { name, isValid, forUser } } =
      skill;
    const file = disk.real(main) ?? "";
    const judged = this.#judge(skill);
    const isOff = judged === "off" || this.#isClosed(file, place, ["off"]);
    if (!isValid || isOff) return [];
    const isManual = this.#isClosed(file, place, ["manual"]);
    const state = isManual ? "manual" : judged;
    const forModel = !isManual && !this.#closed.manual.has(place);
    const files = this.#listFiles(skill, "off");
    const modelFiles = this.#listFiles(skill, "off", "manual");
    const shown = { place, scope, state, forModel, forUser, files, modelFiles };
    return [{ name: name!, ...shown }];
  }
}
