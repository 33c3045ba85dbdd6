/**
 * The third step of a scan: decides on what was read: whose each skill is, in which state
 * it is served, what is hidden, and which folders are worth watching.
 */

import {
  basename,
  childPath,
  dirname,
  realPathIfThere,
  withFoldersAbove,
} from "../fs/paths.ts";
import { MAX_WATCHED_FOLDERS } from "../fs/watch.ts";
import {
  DEFAULT_DECISION,
  type PolicyDecision,
  type PolicySubject,
} from "../policy/policy.ts";
import { isForModel, isOff, STATES, strictest } from "../policy/states.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { pluginOf, SKILL_MD } from "../skills/names.ts";
import { byOwner, type Project } from "../skills/roots.ts";
import type {
  SkillHiding,
  SkillRootReport,
  SkillScope,
  SkillViewer,
  SkippedSkill,
} from "../skills/types.ts";
import {
  type Failure,
  isInGroup,
  listFailures,
  type Reading,
  type ReadSkill,
  type RootVisit,
  type ScanStart,
  type VisitedFolder,
} from "./record.ts";

const MAX_DIAGNOSTICS = 1_000;

/** A folder with a `SKILL.md`, valid or not, and what the policy decides on it. */
interface JudgedSkill extends PolicyDecision {
  readonly realPath: string;
  readonly read: ReadSkill;
  /** The paths that list it, in the order of their roots. */
  readonly listings: readonly VisitedFolder[];
  readonly scope: SkillScope;
}

/** The same, once it is known what the folders around it hide. */
export interface DecidedSkill extends JudgedSkill {
  readonly hiddenFrom: SkillHiding;
}

export interface Decisions {
  /** All folders with a `SKILL.md`, in the order of the paths that list them. */
  readonly skills: readonly DecidedSkill[];
  readonly hidden: HiddenFolders;
  /** The problems in the roots, the user's own first. */
  readonly diagnostics: readonly Diagnostic[];
  readonly skipped: readonly SkippedSkill[];
}

interface DecisionInput
  extends Pick<ScanStart, "policy" | "project" | "slice"> {
  readonly visits: readonly RootVisit[];
  readonly reading: Reading;
}

/** Decides on everything that was found. Other tasks run in the meantime. */
export async function decideSkills(input: DecisionInput): Promise<Decisions> {
  const { slice } = input;
  const judged: JudgedSkill[] = [];
  for (const [realPath, listings] of groupListings(input)) {
    if (slice.isOver) await slice.pause();
    const read = input.reading.skills.get(realPath)!;
    judged.push(judge(read, listings, input));
  }
  const unsearched = input.visits.flatMap((visit) => visit.unsearched);
  const hidden = new HiddenFolders(judged, listUnread(input), unsearched);
  const skills = judged.map((skill) => ({
    ...skill,
    hiddenFrom: strictest(ownHiding(skill), hidden.hidingOfFile(skill)),
  }));
  const diagnostics = listDiagnostics(skills, input);
  const skipped = listSkipped(skills, input.project);
  return { skills, hidden, diagnostics, skipped };
}

function groupListings(
  { visits, reading }: DecisionInput,
): Map<string, VisitedFolder[]> {
  const listings = visits.flatMap(({ folders }) => folders)
    .filter(({ realPath }) => reading.skills.has(realPath));
  return Map.groupBy(listings, ({ realPath }) => realPath);
}

function judge(
  read: ReadSkill,
  listings: readonly VisitedFolder[],
  { policy, project }: DecisionInput,
): JudgedSkill {
  const { realPath } = listings[0]!;
  const scope = project.scopeOf(realPath);
  const { state, policyRule } = policy.decidesAnything
    ? policy.decide(subjectOf({ realPath, read, listings, scope }))
    : DEFAULT_DECISION;
  return { realPath, read, listings, scope, state, policyRule };
}

export function subjectOf(
  { realPath, read, listings, scope }: Pick<
    JudgedSkill,
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

function ownHiding({ state, read: { parsed } }: JudgedSkill): SkillHiding {
  const byFlag = parsed.isHiddenFromModel ? "model" : "nobody";
  return strictest(STATES[state].hiddenFrom, byFlag);
}

function listUnread({ visits, reading }: DecisionInput): string[] {
  const unvisited = visits.flatMap((visit) => visit.unread);
  return [...reading.unread, ...unvisited]
    .filter((realPath) => !reading.skills.has(realPath));
}

export class HiddenFolders {
  readonly #hidden = new Map<string, SkillHiding>();
  /** The real paths of folders in which there may be skills that nobody found. */
  readonly #unsearched: ReadonlySet<string>;

  /**
   * @param skills The skills. One whose `SKILL.md` could not be read is hidden from
   *   everyone, because nobody knows what it says.
   * @param unread The real paths of folders that nobody could read, which are hidden, too.
   * @param unsearched The real paths of folders beyond a limit. All folders in them
   *   are hidden.
   */
  constructor(
    skills: readonly JudgedSkill[],
    unread: readonly string[],
    unsearched: readonly string[] = [],
  ) {
    this.#unsearched = new Set(unsearched);
    for (const realPath of unread) this.#hidden.set(realPath, "everyone");
    for (const skill of skills) {
      const { realPath, read } = skill;
      const hiding = read.isRead ? ownHiding(skill) : "everyone";
      if (hiding !== "nobody") this.#hidden.set(realPath, hiding);
    }
  }

  has(
    realPath: string,
    skillFolder: string,
    { forModel = false }: SkillViewer,
  ): boolean {
    const hiding = this.hidingOf(realPath, skillFolder);
    return hiding === "everyone" || (forModel && hiding === "model");
  }

  /** Returns from whom the `SKILL.md` of a skill is hidden, which can be a link. */
  hidingOfFile({ realPath, read: { mainFolder } }: JudgedSkill): SkillHiding {
    return mainFolder === realPath
      ? "nobody"
      : this.hidingOf(childPath(mainFolder, SKILL_MD), realPath);
  }

  /**
   * Returns from whom a file or folder is hidden, by the folders between it and the skill
   * that leads there, or by all folders above it if it lies outside the skill. This is the
   * one place that is asked, whichever root or link leads there.
   */
  hidingOf(realPath: string, skillFolder: string): SkillHiding {
    if (this.#hidden.size + this.#unsearched.size === 0) return "nobody";
    const folders = withFoldersAbove(realPath);
    // An unsearched folder may hold skills that nobody found. They are folders, so a file
    // directly in it is in none of them.
    const [_file, _folder, ...above] = folders;
    if (above.some((it) => this.#unsearched.has(it))) return "everyone";
    const end = folders.indexOf(skillFolder);
    const between = end === -1 ? folders : folders.slice(0, end);
    return strictest(
      ...between.map((folder) => this.#hidden.get(folder) ?? "nobody"),
    );
  }
}

/** Lists the problems that no rule turns off, up to a limit, the user's own first. */
function listDiagnostics(
  skills: readonly DecidedSkill[],
  input: DecisionInput,
): Diagnostic[] {
  const failures = listFailures(input.visits, input.reading)
    .filter((failure) => !isTurnedOff(failure, input));
  const ofSkills = skills.filter((skill) => !isOff(skill)).flatMap((skill) =>
    diagnosticsOf(skill).map((diagnostic) => ({
      diagnostic,
      scope: skill.scope,
    }))
  );
  return [...failures, ...ofSkills].sort(byOwner).slice(0, MAX_DIAGNOSTICS)
    .map(({ diagnostic }) => diagnostic);
}

function diagnosticsOf(
  { read: { parsed, fileName }, listings }: DecidedSkill,
): Diagnostic[] {
  const file = childPath(listings[0]!.path, fileName);
  return parsed.diagnostic ? [{ file, ...parsed.diagnostic }] : [];
}

function isTurnedOff(
  { diagnostic: { file }, location, scope }: Failure,
  { policy }: DecisionInput,
): boolean {
  if (!policy.decidesAnything) return false;
  const names = [basename(file)];
  const { state } = policy.decide({ names, scope, paths: [file, location] });
  return isOff(STATES[state]);
}

/** Lists the folders whose `SKILL.md` is skipped, unless a rule turns them off. */
function listSkipped(
  skills: readonly DecidedSkill[],
  project: Project,
): SkippedSkill[] {
  return skills
    .filter((skill) => !skill.read.parsed.frontmatter && !isOff(skill))
    .slice(0, MAX_DIAGNOSTICS)
    .map((skill) => {
      const { realPath, read, scope } = skill;
      const { names, paths } = subjectOf(skill);
      const file = childPath(realPath, read.fileName);
      return {
        names,
        plugin: pluginOf(paths[0]!),
        diagnostics: diagnosticsOf(skill),
        scope,
        isForModel: isForModel(skill),
        projectPath: project.pathIn(file),
      };
    });
}

/**
 * Lists the folders to watch, by their real paths, the most important ones first:
 * what is being edited is noticed at once, and the rest by the next scan of the timer.
 *
 * @param others The roots, the policy file, and the folders that clients subscribed to.
 */
export function listWatchedFolders(
  skills: readonly DecidedSkill[],
  { roots, policyFile, subscribed }: {
    roots: readonly SkillRootReport[];
    policyFile: string | undefined;
    subscribed: readonly string[];
  },
): Set<string> {
  const lastModified = skills
    .toSorted((a, b) => b.read.modified - a.read.modified)
    .slice(0, MAX_WATCHED_FOLDERS);
  const folders = new Set(roots.flatMap(({ realPath }) => realPath ?? []));
  if (policyFile !== undefined) {
    folders.add(realPathIfThere(policyFile) ?? policyFile);
  }
  for (const folder of subscribed) folders.add(folder);
  for (const { realPath, listings } of lastModified) {
    if (isInGroup(listings[0]!)) folders.add(dirname(realPath));
  }
  for (const { realPath, read } of lastModified) {
    folders.add(realPath).add(read.mainFolder);
  }
  return folders;
}
