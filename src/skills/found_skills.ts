/**
 * What a scan found: each skill is one real folder, and the paths that list it. Once
 * all roots were searched, this decides which skills are served, in which state, and
 * what is hidden.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { moreProblems } from "../files/faults.ts";
import { childPath, realPathOf } from "../files/paths.ts";
import { withoutInvisible } from "../text.ts";
import type { TimeSlice } from "../time_slice.ts";
import { HiddenFolders } from "./hidden_folders.ts";
import {
  type Policy,
  type PolicyDecision,
  type PolicySubject,
  SERVED,
} from "./policy.ts";
import type { Project } from "./project.ts";
import type { ReadSkill } from "./skill_reader.ts";
import type {
  Problem,
  Skill,
  SkillRoot,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The maximum number of problems that are reported for one root. */
const MAX_PROBLEMS = 1_000;

/** A path through which a root lists a skill. */
export interface Listing {
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

/** A problem with something that a search met. */
export interface MetProblem {
  readonly problem: Problem;
  readonly root: SkillRoot;
  readonly position: number;
}

/** The folders with a `SKILL.md` that one scan found. */
export class FoundSkills {
  readonly #project: Project;
  readonly #policy: Policy;
  readonly #found = new Map<string, FoundSkill>();
  /** What is hidden from everyone or from the model, once it was decided. */
  readonly hidden: HiddenFolders = new HiddenFolders();

  /** Creates an empty set. */
  constructor(project: Project, policy: Policy) {
    this.#project = project;
    this.#policy = policy;
  }

  /** All of them, in the order in which they were found. */
  get all(): FoundSkill[] {
    return [...this.#found.values()];
  }

  has(realPath: string): boolean {
    return this.#found.has(realPath);
  }

  /** Adds a path that lists a skill. The skill is read only if it is new. */
  add(
    realPath: string,
    { listing, read }: { listing: Listing; read: () => ReadSkill | undefined },
  ): void {
    const known = this.#found.get(realPath);
    if (known !== undefined) {
      known.listings.push(listing);
      return;
    }
    const skill = read();
    if (skill === undefined) return;
    this.#found.set(realPath, {
      realPath,
      read: skill,
      listings: [listing],
      scope: "global",
      decision: SERVED,
    });
  }

  /** Decides on all skills, and lists them in the order of their roots: those served, and those off. */
  async listSkills(
    slice: TimeSlice,
  ): Promise<{ skills: Skill[]; off: Skill[] }> {
    for (const found of this.#found.values()) {
      if (slice.isOver) await slice.pause();
      this.#decide(found);
    }
    const decided = this.all
      .sort((a, b) => a.listings[0]!.position - b.listings[0]!.position);
    const all = decided
      .flatMap((found) => createSkill(found, this.#stateOf(found)) ?? []);
    return {
      skills: all.filter(({ state }) => state !== "off"),
      off: all.filter(({ state }) => state === "off"),
    };
  }

  /** Returns the state of a skill. It is hidden with the folder of its file, if that is another one. */
  #stateOf(
    { realPath, read: { mainFolder }, decision: { state } }: FoundSkill,
  ): SkillState {
    if (state === "off" || mainFolder === realPath) return state;
    const isHidden = (forModel: boolean) =>
      this.hidden.isHidden(mainFolder, { skill: realPath, forModel });
    if (isHidden(false)) return "off";
    return isHidden(true) ? "manual" : state;
  }

  /** Decides in which state a skill is served, and what is hidden. */
  #decide(found: FoundSkill): void {
    const { listings, realPath, read: { said } } = found;
    const staying = listings.filter(({ departs }) => !departs);
    found.listings = (staying.length > 0 ? staying : listings)
      .sort((a, b) => a.position - b.position);
    found.scope = staying.length > 0
      ? this.#project.scopeOf(realPath)
      : "project";
    found.decision = this.#policy.hasRules
      ? this.#policy.decide(subjectOf(found))
      : SERVED;
    const { state } = found.decision;
    if (state === "off") this.hidden.add(realPath, "off");
    else if (state === "manual" || said.isHiddenFromModel) {
      this.hidden.add(realPath, "manual");
    }
  }

  /**
   * Lists all problems, up to a limit for each root, without those of what is off.
   *
   * @param met The problems that are not about the text of a `SKILL.md`.
   */
  listProblems(met: readonly MetProblem[]): Problem[] {
    const all = met.filter(({ problem }) => !this.#isOff(problem));
    for (const { read, listings, decision } of this.#found.values()) {
      const { path, root, position } = listings[0]!;
      const file = childPath(path, read.fileName);
      if (decision.state === "off") continue;
      for (const problem of read.said.problems) {
        all.push({ problem: { file, ...problem }, root, position });
      }
    }
    all.sort((a, b) => a.position - b.position);
    const byRoot = Map.groupBy(all, ({ root }) => root);
    return [...byRoot].flatMap(([{ path }, problems]) => {
      const listed = problems.slice(0, MAX_PROBLEMS)
        .map(({ problem }) => problem);
      const rest = problems.length - listed.length;
      return rest === 0
        ? listed
        : [...listed, { file: path, ...moreProblems(rest) }];
    });
  }

  /** Whether the policy turns off what lies at the path of a problem. */
  #isOff({ file }: Problem): boolean {
    if (!this.#policy.hasRules) return false;
    const place = childPath(realPathOf(dirname(file)), basename(file));
    const scope = this.#project.scopeOf(place);
    const names = [basename(file)];
    const paths = [file, place];
    return this.#policy.decide({ names, scope, paths }).state === "off";
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

/** Creates a skill, if its frontmatter is valid. An unchanged one stays the same object. */
function createSkill(
  { realPath, scope, listings: [listing], read, decision }: FoundSkill,
  state: SkillState,
): Skill | undefined {
  const { path: directory, root } = listing!;
  const { frontmatter, isRepaired, isHiddenFromModel, isHiddenFromUser } =
    read.said;
  if (frontmatter === undefined) return undefined;
  const { rule } = decision;
  const last = read.skill;
  const isSame = last?.directory === directory && last.root === root &&
    last.scope === scope && last.state === state && last.rule === rule;
  return isSame ? last : read.skill = {
    name: withoutInvisible(frontmatter.name),
    description: withoutInvisible(frontmatter.description),
    frontmatter,
    directory,
    realDirectory: realPath,
    file: childPath(directory, read.fileName),
    excerpt: read.excerpt,
    size: read.size,
    version: read.version,
    scope,
    root,
    state,
    rule,
    isRepaired,
    isHiddenFromModel,
    isHiddenFromUser,
  };
}
