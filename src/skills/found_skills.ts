/**
 * What a scan found: each skill is one real folder, and the paths that list it. Once
 * all roots were searched, this decides which skills are served, in which state, and
 * what is hidden.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { PROJECT_IS_SLOW, SkillFileError } from "../files/faults.ts";
import { childPath, isAtOrBelow, realPathOf } from "../files/paths.ts";
import { withoutInvisible } from "../text.ts";
import type { TimeSlice } from "../time_slice.ts";
import {
  type Policy,
  type PolicyDecision,
  type PolicySubject,
  SERVED,
} from "./policy.ts";
import type { Project } from "./roots.ts";
import {
  type ReadableFolder,
  type ReadOptions,
  type ReadSkill,
  readSkill,
} from "./skill_reader.ts";
import type { Problem, Skill, SkillRoot, SkillScope } from "./types.ts";

/**
 * How long a scan reads unknown skills in the roots of a project, in milliseconds. A
 * stranger's frontmatter can take a fifth of a second to parse.
 */
const MAX_PROJECT_MS = 2_000;

/** The maximum number of problems that a scan reports. */
const MAX_PROBLEMS = 1_000;

/** A folder that a search visits, which may be a skill or contain skills. */
export interface VisitedFolder extends ReadableFolder {
  readonly root: SkillRoot;
  /** How many levels it is below the root. */
  readonly depth: number;
  /** Whether a link that lies in the project is on the path. */
  readonly isConfined: boolean;
  /** The real path of the skill around it, if the search found one. */
  readonly outer: string | undefined;
}

/** A path through which a root lists a skill. */
interface Listing {
  readonly path: string;
  readonly root: SkillRoot;
  /** Its position among all that can be listed. */
  readonly position: number;
  /** Whether a link of the project leads out of the project on the path. */
  readonly departs: boolean;
}

/** A folder with a `SKILL.md`, valid or not. */
export interface FoundSkill {
  readonly realPath: string;
  readonly read: ReadSkill;
  /** The paths that list it. Once decided, only those that count, in order. */
  listings: Listing[];
  scope: SkillScope;
  decision: PolicyDecision;
}

/** What decides on the skills of a scan. */
interface FoundOptions extends ReadOptions {
  readonly project: Project;
  readonly policy: Policy;
}

/** The folders with a `SKILL.md` that one scan found. */
export class FoundSkills {
  readonly #options: FoundOptions;
  /** By their real paths, in the order in which they were found. */
  readonly byPath: Map<string, FoundSkill> = new Map();
  /** What is hidden from everyone or from the model, by real path, once it was decided. */
  readonly #hidden = new Map<string, "off" | "manual">();
  readonly #problems: Record<SkillScope, Problem[]> = {
    global: [],
    project: [],
  };

  /** How long reading in the roots of a project took, in milliseconds. */
  #projectTime = 0;

  /** Creates an empty set. */
  constructor(options: FoundOptions) {
    this.#options = options;
  }

  /**
   * Adds the skill in a folder, if there is one, with the path that lists it. A
   * skill is read only once.
   *
   * @throws {Error} If something is temporarily unreadable, or the skills of a project
   *   take too long.
   */
  add(folder: VisitedFolder, position: number): void {
    const { path, realPath, root, isConfined } = folder;
    const { project, last } = this.#options;
    const departs = isConfined && project.scopeOf(realPath) !== "project";
    const listing = { path, root, position, departs };
    const known = this.byPath.get(realPath);
    if (known !== undefined) {
      known.listings.push(listing);
      return;
    }
    const isSlow = this.#projectTime > MAX_PROJECT_MS && !last?.has(realPath);
    const isTheirs = root.scope === "project";
    if (isTheirs && isSlow) throw new SkillFileError(path, PROJECT_IS_SLOW);
    const start = Date.now();
    const read = readSkill(folder, this.#options);
    if (isTheirs) this.#projectTime += Date.now() - start;
    if (read === undefined) return;
    this.byPath.set(realPath, {
      realPath,
      read,
      listings: [listing],
      scope: "global",
      decision: SERVED,
    });
  }

  /** Removes everything that only a certain root lists. */
  removeRoot(root: SkillRoot): void {
    for (const found of this.byPath.values()) {
      found.listings = found.listings.filter((it) => it.root !== root);
      if (found.listings.length === 0) this.byPath.delete(found.realPath);
    }
  }

  /** Decides on all skills, and lists the valid ones, in the order of their roots. */
  async listSkills(slice: TimeSlice): Promise<FoundSkill[]> {
    for (const found of this.byPath.values()) {
      if (slice.isOver) await slice.pause();
      this.#decide(found);
    }
    const valid = [...this.byPath.values()]
      .filter(({ read }) => read.said.frontmatter !== undefined)
      .sort((a, b) => a.listings[0]!.position - b.listings[0]!.position);
    for (const found of valid) this.#hideWithFile(found);
    return valid;
  }

  /** Hides a skill whose `SKILL.md` is a link into a hidden folder. */
  #hideWithFile(found: FoundSkill): void {
    const { realPath, read: { mainFolder }, decision } = found;
    if (mainFolder === realPath || decision.state === "off") return;
    const isHidden = (forModel: boolean) =>
      this.isHidden(mainFolder, { skill: realPath, forModel });
    if (isHidden(false)) found.decision = { state: "off" };
    else if (isHidden(true)) found.decision = { state: "manual" };
  }

  /**
   * Whether a file or folder is in a hidden folder between it and the skill. If it
   * lies outside the skill, any hidden folder counts. This is the one place that is
   * asked, whichever root or link leads there, and whichever skill lies around it.
   *
   * @param viewer The real path of the skill that leads there, and whether the model asks.
   */
  isHidden(
    realPath: string,
    { skill, forModel }: { skill: string; forModel: boolean },
  ): boolean {
    if (this.#hidden.size === 0) return false;
    const end = isAtOrBelow(realPath, skill) ? skill : undefined;
    for (let folder = realPath; folder !== end; folder = dirname(folder)) {
      const state = this.#hidden.get(folder);
      if (state === "off" || forModel && state === "manual") return true;
      if (folder === dirname(folder)) break;
    }
    return false;
  }

  /** Decides in which state a skill is served, and what is hidden. */
  #decide(found: FoundSkill): void {
    const { listings, realPath, read: { said } } = found;
    const staying = listings.filter(({ departs }) => !departs);
    found.listings = (staying.length > 0 ? staying : listings)
      .sort((a, b) => a.position - b.position);
    found.scope = staying.length > 0
      ? this.#options.project.scopeOf(realPath)
      : "project";
    const { policy } = this.#options;
    found.decision = policy.hasRules ? policy.decide(subjectOf(found)) : SERVED;
    const { state } = found.decision;
    if (state === "off") this.#hidden.set(realPath, "off");
    else if (state === "manual" || said.isHiddenFromModel) {
      this.#hidden.set(realPath, "manual");
    }
  }

  /** Notes a problem with something that a search met, unless the policy turns that off. */
  report(problem: Problem, { scope }: SkillRoot): void {
    if (!this.#isOff(problem.file)) this.#problems[scope].push(problem);
  }

  #isOff(file: string): boolean {
    const { policy, project } = this.#options;
    if (!policy.hasRules) return false;
    const place = childPath(realPathOf(dirname(file)), basename(file));
    const scope = project.scopeOf(place);
    return policy.decide({
      names: [basename(file)],
      scope,
      paths: [file, place],
    }).state === "off";
  }

  /** Lists the problems up to a limit, those in the user's own roots first. */
  listProblems(): Problem[] {
    for (const { read, listings, decision } of this.byPath.values()) {
      if (decision.state === "off") continue;
      const { path, root } = listings[0]!;
      const file = childPath(path, read.fileName);
      const problems = read.said.problems
        .map((problem) => ({ file, ...problem }));
      this.#problems[root.scope].push(...problems);
    }
    const { global, project } = this.#problems;
    return [...global, ...project].slice(0, MAX_PROBLEMS);
  }
}

/** Returns what the policy is asked about: a skill, or a folder that may have several names. */
function subjectOf(
  { realPath, scope, listings, read: { said } }: FoundSkill,
): PolicySubject {
  const paths = [...listings.map(({ path }) => path), realPath];
  if (said.frontmatter) return { names: [said.frontmatter.name], scope, paths };
  const folders = paths.map((path) => basename(path));
  const names = new Set([...said.name ? [said.name] : [], ...folders]);
  return { names: [...names], scope, paths };
}

/**
 * Creates a skill, if its frontmatter is valid. An unchanged one stays the same object.
 *
 * @param prefix Its scope, if the plain name does not lead to it.
 */
export function createSkill(
  { realPath, scope, listings: [listing], read, decision }: FoundSkill,
  prefix?: SkillScope,
): Skill | undefined {
  const { path: directory, root } = listing!;
  const { frontmatter, isRepaired, isHiddenFromModel, isHiddenFromUser } =
    read.said;
  if (frontmatter === undefined) return undefined;
  const { state, rule } = decision;
  const last = read.skill;
  const isSame = last?.directory === directory && last.root === root &&
    last.scope === scope && last.state === state && last.rule === rule &&
    last.prefix === prefix;
  return isSame ? last : read.skill = {
    name: withoutInvisible(frontmatter.name),
    description: withoutInvisible(frontmatter.description),
    frontmatter,
    directory,
    realDirectory: realPath,
    file: childPath(directory, read.fileName),
    excerpt: read.excerpt,
    version: read.version,
    scope,
    root,
    state,
    rule,
    isRepaired,
    isHiddenFromModel,
    isHiddenFromUser,
    prefix,
  };
}
