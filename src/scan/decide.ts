/**
 * The third step of a scan: decides on what was read. Whom each skill comes from, in which
 * state it is served, and what is hidden.
 *
 * @module
 */

import { basename, childPath, dirname, realPathOf } from "../files/paths.ts";
import { DEFAULT_DECISION, type PolicyDecision } from "../policy/policy.ts";
import type { PolicySubject } from "../policy/policy_rules.ts";
import { isForModel, isOff, STATES } from "../policy/states.ts";
import type { Problem } from "../problems.ts";
import type { Project } from "../skills/roots.ts";
import type { SkillScope, SkillViewer, SkippedSkill } from "../skills/types.ts";
import type {
  Failure,
  Reading,
  ReadSkill,
  RootVisit,
  ScanStart,
  VisitedFolder,
} from "./record.ts";

/** The maximum number of problems that a scan reports. */
const MAX_PROBLEMS = 1_000;

/** A folder with a `SKILL.md`, valid or not, and what was decided on it. */
export interface DecidedSkill extends PolicyDecision {
  readonly realPath: string;
  readonly read: ReadSkill;
  /** The paths that list it, in the order of their roots. */
  readonly listings: readonly VisitedFolder[];
  readonly scope: SkillScope;
}

/** What a scan decided. */
export interface Decisions {
  /** All folders with a `SKILL.md`, in the order of the paths that list them. */
  readonly skills: readonly DecidedSkill[];
  readonly hidden: HiddenFolders;
  /** What is wrong in the roots, the user's own first. */
  readonly problems: readonly Problem[];
  readonly skipped: readonly SkippedSkill[];
}

/** What a scan visited and read, and what decides on it. */
interface DecisionInput
  extends Pick<ScanStart, "policy" | "project" | "slice"> {
  readonly visits: readonly RootVisit[];
  readonly reading: Reading;
}

/** Decides on everything that was found. Other tasks run in the meantime. */
export async function decideSkills(input: DecisionInput): Promise<Decisions> {
  const { slice } = input;
  const decided: DecidedSkill[] = [];
  for (const [realPath, listings] of groupListings(input)) {
    if (slice.isOver) await slice.pause();
    const read = input.reading.skills.get(realPath)!;
    decided.push(decideOn(read, listings, input));
  }
  const hidden = new HiddenFolders(decided, listUnread(input));
  const skills = decided.map((skill) => hideIfFileIsHidden(skill, hidden));
  const problems = listProblems(skills, input);
  const skipped = listSkipped(skills, input.project);
  return { skills, hidden, problems, skipped };
}

/** Groups the paths that list a skill by its real folder, in their order. */
function groupListings(
  { visits, reading }: DecisionInput,
): Map<string, VisitedFolder[]> {
  const listings = visits.flatMap(({ folders }) => folders)
    .filter(({ realPath }) => reading.skills.has(realPath));
  return Map.groupBy(listings, ({ realPath }) => realPath);
}

/** Decides on a folder by the paths that list it. */
function decideOn(
  read: ReadSkill,
  listings: readonly VisitedFolder[],
  { policy, project }: DecisionInput,
): DecidedSkill {
  const { realPath } = listings[0]!;
  const scope = project.scopeOf(realPath);
  const { state, policyRule } = policy.decidesAnything
    ? policy.decide(subjectOf({ realPath, read, listings, scope }))
    : DEFAULT_DECISION;
  return { realPath, read, listings, scope, state, policyRule };
}

/** Returns what a policy is asked about. */
export function subjectOf(
  { realPath, read, listings, scope }: Pick<
    DecidedSkill,
    "realPath" | "read" | "listings" | "scope"
  >,
): PolicySubject {
  const paths = [...listings.map(({ path }) => path), realPath];
  return { names: namesOf(read, paths), scope, paths };
}

/** Returns the name of a skill, or the names that a folder without a valid one may have. */
function namesOf({ parsed }: ReadSkill, paths: readonly string[]): string[] {
  if (parsed.frontmatter !== undefined) return [parsed.name!];
  const names = paths.map((path) => basename(path));
  if (parsed.name !== undefined) names.unshift(parsed.name);
  return [...new Set(names)];
}

/** Hides a skill whose `SKILL.md` is a link into a hidden folder. */
function hideIfFileIsHidden(
  skill: DecidedSkill,
  hidden: HiddenFolders,
): DecidedSkill {
  const { realPath, read: { mainFolder }, state } = skill;
  if (mainFolder === realPath || isOff(skill)) return skill;
  if (hidden.has(mainFolder, realPath, { forModel: false })) {
    return { ...skill, state: "off", policyRule: undefined };
  }
  // The state that hides a skill from the model alone is `manual`.
  const isHiddenFromModel = STATES[state].hiddenFrom === "nobody" &&
    hidden.has(mainFolder, realPath, { forModel: true });
  return isHiddenFromModel
    ? { ...skill, state: "manual", policyRule: undefined }
    : skill;
}

/** Lists the real paths of the folders that an early end of the scan left unread. */
function listUnread({ visits, reading }: DecisionInput): string[] {
  const unvisited = visits.flatMap((visit) => visit.unread);
  return [...reading.unread, ...unvisited]
    .filter((realPath) => !reading.skills.has(realPath));
}

/** Which folders are hidden from everyone, or from the model. */
export class HiddenFolders {
  /** By real path. */
  readonly #hidden = new Map<string, "everyone" | "model">();

  /**
   * Notes what is hidden.
   *
   * @param skills The skills, and in which state each is. One whose `SKILL.md` could not
   *   be read is off, because nobody knows what it says.
   * @param unread The real paths of folders that nobody could read, which count as off.
   */
  constructor(skills: readonly DecidedSkill[], unread: readonly string[]) {
    for (const realPath of unread) this.#hidden.set(realPath, "everyone");
    for (const skill of skills) {
      const { realPath, state, read } = skill;
      if (isOff(skill) || !read.isRead) this.#hidden.set(realPath, "everyone");
      else if (!isForModel({ state, ...read.parsed })) {
        this.#hidden.set(realPath, "model");
      }
    }
  }

  /**
   * Whether a file or folder of a skill is in a hidden folder between it and the skill. If
   * it lies outside the skill, any hidden folder counts. This is the one place that is
   * asked, whichever root or link leads there, and whichever skill lies around it.
   *
   * @param realPath The file or folder.
   * @param skill The real folder of the skill that leads there.
   * @param viewer Who asks.
   */
  has(
    realPath: string,
    skill: string,
    { forModel = false }: SkillViewer,
  ): boolean {
    if (this.#hidden.size === 0) return false;
    for (let folder = realPath; folder !== skill; folder = dirname(folder)) {
      const from = this.#hidden.get(folder);
      if (from === "everyone" || (forModel && from === "model")) return true;
      if (folder === dirname(folder)) break;
    }
    return false;
  }
}

/** Lists the problems that no rule turns off, up to a limit, the user's own first. */
function listProblems(
  skills: readonly DecidedSkill[],
  input: DecisionInput,
): Problem[] {
  const failures = [
    ...input.visits.flatMap((visit) => visit.failures),
    ...input.reading.failures,
  ];
  const found = [
    ...failures.filter((failure) => !isTurnedOff(failure, input))
      .map(({ problem, root }) => ({ problem, scope: root.scope })),
    ...skills.filter(hasProblems).flatMap(problemsOf),
  ];
  const { global = [], project = [] } = Object.groupBy(
    found,
    ({ scope }) => scope,
  );
  return [...global, ...project].slice(0, MAX_PROBLEMS)
    .map(({ problem }) => problem);
}

/** Whether something is wrong with a skill that is not off. */
function hasProblems(skill: DecidedSkill): boolean {
  return !isOff(skill) && skill.read.parsed.problems.length > 0;
}

/** Lists the problems with a `SKILL.md`, and whom it comes from. */
function problemsOf(
  { read: { parsed, fileName }, listings, scope }: DecidedSkill,
) {
  const file = childPath(listings[0]!.path, fileName);
  return parsed.problems.map((problem) => ({
    problem: { file, ...problem },
    scope,
  }));
}

/** Whether a rule turns off what could not be visited or read. */
function isTurnedOff(
  { problem: { file } }: Failure,
  { policy, project }: DecisionInput,
): boolean {
  if (!policy.decidesAnything) return false;
  const realPath = childPath(realPathOf(dirname(file)), basename(file));
  const scope = project.scopeOf(realPath);
  const paths = [file, realPath];
  return isOff(policy.decide({ names: [basename(file)], scope, paths }));
}

/** Lists the folders whose `SKILL.md` is skipped, unless a rule turns them off. */
function listSkipped(
  skills: readonly DecidedSkill[],
  project: Project,
): SkippedSkill[] {
  return skills
    .filter((skill) => !skill.read.parsed.frontmatter && !isOff(skill))
    .slice(0, MAX_PROBLEMS)
    .map((skill) => {
      const { realPath, read, listings, scope, state } = skill;
      const paths = listings.map(({ path }) => path);
      const file = childPath(realPath, read.fileName);
      return {
        names: namesOf(read, paths),
        problems: problemsOf(skill).map(({ problem }) => problem),
        scope,
        isForModel: isForModel({ state, ...read.parsed }),
        projectPath: project.pathIn(file),
      };
    });
}
