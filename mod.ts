/**
 * Finds [Agent Skills](https://agentskills.io/specification) (directories with a
 * `SKILL.md`: YAML frontmatter, then Markdown) and serves them to any client of
 * the [Model Context Protocol](https://modelcontextprotocol.io) over stdio.
 *
 * ## As a server
 *
 * Run as the main module, it is an MCP server. It needs two permissions:
 * `--allow-read` to read skills, and `--allow-env` to find the home directory and to
 * read its settings.
 *
 * ```sh
 * deno run --no-config --allow-read --allow-env jsr:@skill-server/skill-server
 * ```
 *
 * ## As a library
 *
 * In Deno, you can also use the scanner, the registry, and the tools on their own.
 *
 * ```ts
 * import { SkillRegistry } from "@skill-server/skill-server";
 *
 * // Replace the path with that of your skills.
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", mustExist: true },
 * ]);
 * registry.onChange(({ keys }) => console.error("changed:", ...keys));
 * await registry.refresh();
 * registry.watch();
 *
 * const skill = registry.find("GIT"); // names are matched without regard to case
 * if (skill?.description !== "Review, commit and push changes with git") {
 *   throw new Error("The skill was not found");
 * }
 * const { text } = await registry.readFile(skill, "SKILL.md");
 * console.log(text);
 * ```
 *
 * @module
 */

import type {
  McpRequestContext,
  Server,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";
import { type Advice, type Diagnostic, withAdvice } from "./src/diagnostics.ts";
import { withFilesOfToolset } from "./src/features/markdown_only.ts";
import { SubscribedFiles } from "./src/features/subscriptions.ts";
import { callTool, toMcpTool } from "./src/features/tools.ts";
import { listTools, type SkillTool } from "./src/features/toolsets/toolsets.ts";
import {
  diagnosticOf,
  isAbsence,
  isTemporary,
  NOT_A_FILE,
  SkillFileError,
  unexpected,
} from "./src/fs/errors.ts";
import {
  basename,
  childPath,
  dirname,
  findWorkingDirectory,
  isAtOrBelow,
  isAtOrBelowAny,
  isThere,
  locationOf,
  realPathIfThere,
  resolvePath,
  toPath,
  withDirsAbove,
} from "./src/fs/paths.ts";
import {
  findSettlingTime,
  isSettled,
  listDirEntries,
  locate,
  type Located,
  readLocated,
  versionOf,
} from "./src/fs/read.ts";
import { DirWatcher, MAX_WATCHED_DIRS, PathPoller } from "./src/fs/watch.ts";
import { withoutInvisible } from "./src/invisible.ts";
import { log } from "./src/log.ts";
import { Policy, type PolicySubject } from "./src/policy/policy.ts";
import { STATES } from "./src/policy/states.ts";
import {
  changedKeys,
  EMPTY_CATALOG,
  hasSameDiagnostics,
  logDiagnostics,
} from "./src/skills/catalog.ts";
import {
  digestFile,
  type FileAccess,
  isInsideSkill,
  listFiles,
  readSkillFile,
  sha256,
} from "./src/skills/files.ts";
import { MAX_DESCRIPTION_LENGTH } from "./src/skills/limits.ts";
import { lookUp, SkillNames } from "./src/skills/lookup.ts";
import {
  pluginOf,
  qualifiedName,
  servedKey,
  skillKey,
} from "./src/skills/names.ts";
import {
  byScope,
  confinementOf,
  followSymlink,
  Project,
} from "./src/skills/project.ts";
import {
  DEFAULT_REFRESH_SECONDS,
  isUnsearched,
  limitingScope,
  MAX_DIRS,
  MAX_REFRESH_SECONDS,
  MAX_SEARCH_DEPTH,
  mayBeGroup,
  ROOT_PARENTS,
} from "./src/skills/roots.ts";
import {
  missingDir,
  PROJECT_IS_SLOW,
  ROOT_IS_A_FILE,
  tooManyDirs,
} from "./src/skills/scan_diagnostics.ts";
import { findSkillFile, type FoundFile } from "./src/skills/skill_file.ts";
import {
  HEAD_SIZE,
  readSkillMd,
  type SkillMd,
  type ValidSkillMd,
} from "./src/skills/skill_md.ts";
import type { NearMiss, ScanSubscriber } from "./src/skills/source.ts";
import type {
  BaseDirs,
  GivenSkillRoot,
  ReportedDiagnostic,
  ScanOptions,
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillFiles,
  SkillFilesOptions,
  SkillHiding,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
  SkillScope,
  SkippedSkill,
  Viewer,
} from "./src/skills/types.ts";
import {
  hidingByDirs,
  type HidingIn,
  isOff,
  sees,
  strictest,
} from "./src/skills/visibility.ts";
import { inTurns, SharedTask } from "./src/tasks.ts";
import { isObject, truncateCharacters } from "./src/text.ts";
import { profileFor } from "./src/views/clients.ts";
import {
  DEFAULT_TOOLSET,
  type SkillToolOptions,
  type ToolOptions,
} from "./src/views/options.ts";
import type { SkillService } from "./src/wire/server.ts";

export { RULES } from "./src/diagnostics.ts";
export { SkillFileError } from "./src/fs/errors.ts";
export type { SkillToolOptions, Toolset } from "./src/views/options.ts";
export { parseSkillMd } from "./src/skills/skill_md.ts";
export { parseSkillUri, skillUri } from "./src/skills/names.ts";
export { resolveSkillRoots } from "./src/skills/roots.ts";
export type * from "./src/skills/types.ts";
export type { SkillService } from "./src/wire/server.ts";

/**
 * Scans the roots for skills, once.
 *
 * Of several skills with the same name, the first one in the order of the roots gets it.
 * Skills that the model may load take precedence over skills that are hidden from it,
 * and skills that are off take no name. Within a root, skills outside groups come first,
 * then skills in directories of their names; otherwise, the paths decide.
 *
 * One broken skill or root never affects another.
 *
 * @param roots The roots, in search order.
 * @param options Limits, the policy, and the allowed targets of symlinks.
 * @returns The catalog.
 * @throws {Error} If the path of a root, a trusted directory, or a policy file is
 *   relative to an unknown directory.
 * @throws {TypeError} If a path is neither text nor a URL.
 * @throws {RangeError} If the maximum size is not a number from 0 on.
 */
export async function scanSkillRoots(
  roots: readonly GivenSkillRoot[],
  options: ScanOptions = {},
): Promise<SkillCatalog> {
  using registry = new SkillRegistry(roots, { ...options, log: () => {} });
  return await registry.refresh();
}

/**
 * Runs the checks of `--check`, and returns diagnostics by file and line.
 * {@linkcode RULES} lists the effect of each rule. Reads the environment variables that
 * the program reads.
 *
 * @param dirs Paths or file URLs of directories or files, or names of skills. A comma
 *   separates several, unless the whole is a path that exists. Default: the directories
 *   that the program searches.
 * @param options Limits, the policy, and the allowed targets of symlinks.
 * @throws {Error} If a directory is relative to an unknown directory.
 * @throws {TypeError} If a path is neither text nor a URL.
 */
export async function checkSkills(
  dirs?: readonly (string | URL)[],
  options: Omit<ScanOptions, keyof BaseDirs> = {},
): Promise<ReportedDiagnostic[]> {
  if (dirs?.length === 0) return [];
  const { createSettings } = await import("./src/program/settings.ts");
  const { createReport } = await import("./src/check/report.ts");
  const command = {
    values: { check: true },
    positionals: dirs?.map(toPath) ?? [],
  };
  const settings = createSettings(command);
  const { diagnostics } = await createReport(
    {
      ...settings,
      options: { ...settings.options, advice: undefined, ...options },
    },
    (roots, options) => new SkillRegistry(roots, { ...options, log() {} }),
  );
  return diagnostics;
}

// A scan takes four steps:
//
//   visit    roots       → candidates: the directories with a SKILL.md
//   read     candidates  → loaded: their frontmatter, read once per real directory
//   decide   loaded      → decided: with scope, state, and visibility
//   name     decided     → the catalog, in which each name loads one skill
//
// Each step depends on its arguments, the disk, and the clock. The first three also take
// what earlier scans have found, and `decide` remembers inner skills.

/** A directory with a `SKILL.md`. */
interface FoundDir {
  readonly dir: string;
  readonly realDir: string;
  readonly file: FoundFile;
}

/** A directory with a `SKILL.md`, found in a root. */
interface Candidate extends FoundDir {
  readonly root: SkillRoot;
  /** The number of levels below the root. */
  readonly depth: number;
}

/** The contents of a `SKILL.md`, and the version of the file that had them. */
type KnownSkillMd = SkillMd & ReadVersion;

interface ReadVersion {
  /** The real path of the file, because `SKILL.md` can be a symlink. */
  readonly realPath: string;
  /** The file's modification time in milliseconds. */
  readonly modified: number;
  readonly version: string;
  /** The digest of what was read, while the version does not identify the content. */
  readonly digest: string | undefined;
  /** When to read the file again, in milliseconds since 1970, if it has just changed. */
  readonly recheckAt: number | undefined;
  /** A newer version, which would be skipped, so that this one is served for now. */
  readonly unfinished?: UnfinishedFile | undefined;
}

/** A `SKILL.md` that would be skipped, because it may not be written to its end. */
interface UnfinishedFile {
  readonly version: string;
  /** When a scan first found it, in milliseconds since 1970. */
  readonly since: number;
  /** What was served before it. */
  readonly before: KnownSkillMd;
}

/** The result of loading a `SKILL.md`. */
interface LoadedFile {
  /** The `SKILL.md`, or the last known one if the file is temporarily unreadable. */
  readonly skillMd?: KnownSkillMd | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** A real directory with a `SKILL.md`. */
interface Loaded extends LoadedFile {
  readonly realDir: string;
  /** The roots' paths to it, in their order. */
  readonly candidates: readonly [first: Candidate, ...others: Candidate[]];
}

/** The decisions of the policy and the frontmatter on a real directory, and its scope. */
type Decision = Pick<Skill, "scope" | "state" | "policyRule" | "hiddenFrom">;

interface Decided extends Loaded, Decision {}

/** A real directory with a `SKILL.md` that can be served. */
interface Valid extends Decided {
  readonly skillMd: ValidSkillMd & ReadVersion;
}

type DecidedDirs = ReadonlyMap<string, Decided>;

/** The results of a scan: the catalog, and more for the registry and the next scan. */
interface Scan {
  readonly project: Project;
  readonly searched: readonly EnteredDir[];
  readonly candidates: readonly Candidate[];
  /** By their real directories. */
  readonly decided: DecidedDirs;
  readonly catalog: SkillCatalog;
}

/** What is known of inner skills, which `read` leaves out. Each scan resets the time. */
interface InnerSkills extends SpentTime {
  /** By their real directories. */
  readonly known: Map<string, KnownSkillMd>;
}

interface ScanInput {
  readonly roots: readonly SkillRoot[];
  readonly project: Project;
  readonly policy: Policy;
  readonly maxFileSize: number | undefined;
  readonly inner: InnerSkills;
  readonly advice: Advice | undefined;
  /** The diagnostics of the options and the policy. */
  readonly diagnostics: readonly Diagnostic[];
  readonly revision: number;
  readonly last: Scan | undefined;
}

async function scan(input: ScanInput): Promise<Scan> {
  const { roots, project, last } = input;
  const visited = await visit(roots, project, last?.candidates ?? []);
  const { searched, candidates } = visited;
  const { loaded, diagnostics } = await read(
    candidates,
    last?.decided ?? new Map(),
    input,
  );
  input.inner.projectTime = 0;
  const decided = decide(loaded, input);
  const skills = [...decided.values()];
  const skipped = listSkipped(skills, input);
  const catalog = {
    ...assignNames(skills, skipped),
    skipped,
    diagnostics: [
      ...input.diagnostics,
      ...listDiagnostics(
        [...visited.diagnostics, ...diagnostics],
        skills,
        input,
      ),
    ].map((diagnostic) => withAdvice(diagnostic, input.advice)),
    roots: countSkills(visited.reports, skills),
    revision: input.revision,
  };
  return { project, searched, candidates, decided, catalog };
}

// ---- Visit -------------------------------------------------------------------------

interface Visit {
  /** The directories in which the visit looked for skills. */
  readonly searched: EnteredDir[];
  readonly candidates: Candidate[];
  readonly diagnostics: Diagnostic[];
  readonly reports: SkillRootReport[];
}

/** A directory to enter, or a symlink that may lead to one. */
interface Dir {
  readonly dir: string;
  /** Its path, with the symlinks above it resolved. */
  readonly location: string;
  readonly isSymlink: boolean;
  readonly depth: number;
  /** The real path of the skill around it, if any. */
  readonly outerDir: string | undefined;
}

/** A directory that the visit has entered. */
interface EnteredDir extends Dir {
  readonly realDir: string;
  readonly file: FoundFile | undefined;
}

/**
 * Finds the directories with a `SKILL.md` in the roots.
 *
 * @param last The candidates of the last scan. They stay if their directory is
 *   temporarily unreadable.
 */
async function visit(
  roots: readonly SkillRoot[],
  project: Project,
  last: readonly Candidate[],
): Promise<Visit> {
  const realRoots = new Set(
    project.resolveOrKeep(roots.map(({ path }) => path)),
  );
  // The roots of the project share a budget.
  const projectBudget = { left: MAX_DIRS.project };
  const visits: Visit[] = [];
  for (const root of roots) {
    const context = {
      root,
      realRoots,
      confinement: confinementOf(root, roots, project),
      project,
      budget: root.isLimited ? projectBudget : { left: MAX_DIRS.global },
      last: last.filter((it) => it.root === root),
    };
    // An unexpected error costs its root, but no other.
    visits.push(
      await visitRoot(context).catch((error) => skipRoot(error, context)),
    );
  }
  return {
    searched: visits.flatMap((it) => it.searched),
    candidates: visits.flatMap((it) => it.candidates),
    diagnostics: visits.flatMap((it) => it.diagnostics),
    reports: visits.flatMap((it) => it.reports),
  };
}

interface RootContext {
  readonly root: SkillRoot;
  readonly realRoots: ReadonlySet<string>;
  /** The directories that symlinks in the root must stay in, if any. */
  readonly confinement: readonly string[] | undefined;
  readonly project: Project;
  /** How many more directories and symlinks the visit may enter. */
  readonly budget: { left: number };
  /** The candidates that the last scan found in this root. */
  readonly last: readonly Candidate[];
}

/**
 * Visits a root breadth first, in the order of names.
 *
 * @throws {Error} If the root itself cannot be entered.
 */
async function visitRoot(context: RootContext): Promise<Visit> {
  const { root, project, budget } = context;
  const realPath = enterRoot(root, project);
  const candidates: Candidate[] = [];
  const diagnostics: Diagnostic[] = [];
  const searched = new Map<string, EnteredDir>();
  const queue: Dir[] = [{
    dir: root.path,
    location: realPath,
    isSymlink: false,
    depth: 0,
    outerDir: undefined,
  }];
  let status: SkillRootReport["status"] = "found";
  let isCut = false;
  for await (const entry of inTurns(queue)) {
    const { dir, depth } = entry;
    try {
      const found = enterDir(entry, context);
      if (found === undefined) continue;
      const { realDir, file } = found;
      if (file) candidates.push({ dir, realDir, root, depth, file });
      if (isSearched(found, context) && !searched.has(realDir)) {
        searched.set(realDir, found);
        const dirs = listDirs(found, root);
        isCut ||= dirs.length > budget.left;
        for (const inner of dirs.slice(0, budget.left)) queue.push(inner);
        budget.left -= Math.min(dirs.length, budget.left);
      }
    } catch (error) {
      if (depth === 0) status = "skipped";
      if (isWorthReporting(error, entry, root)) {
        diagnostics.push({ ...diagnosticOf(error), file: dir });
      }
      const lost = isTemporary(error) ? listLost(dir, candidates, context) : [];
      for (const candidate of lost) candidates.push(candidate);
    }
  }
  if (isCut) {
    const scope = limitingScope(root);
    const details = tooManyDirs(MAX_DIRS[scope], scope);
    diagnostics.push({ ...details, file: root.path });
  }
  const report = { ...reportOn(root, realPath, status, project), realPath };
  return {
    searched: [...searched.values()],
    candidates,
    diagnostics,
    reports: [report],
  };
}

/** Lists the last candidates at or below a directory that cannot be read for a time. */
function listLost(
  dir: string,
  candidates: readonly Candidate[],
  { last }: RootContext,
): Candidate[] {
  // Its SKILL.md may have been found before its entries could not be listed.
  const isFound = candidates.some((it) => it.dir === dir);
  return last.filter((it) =>
    it.dir === dir ? !isFound : isAtOrBelow(it.dir, dir)
  );
}

/** @throws {Error} If the root is missing, is a file, or is a symlink out of the project. */
function enterRoot({ path }: SkillRoot, project: Project): string {
  const realPath = project.enter(path);
  if (Deno.statSync(path).isDirectory) return realPath;
  throw new SkillFileError(path, ROOT_IS_A_FILE);
}

/** Creates the report on a root at a location, which counts no skills yet. */
function reportOn(
  root: SkillRoot,
  location: string,
  status: SkillRootReport["status"],
  project: Project,
): SkillRootReport {
  return {
    root,
    scope: project.scopeOf(location),
    status,
    projectPath: project.pathIn(location),
    skillCount: 0,
    repeatedCount: 0,
  };
}

/** Returns the visit of a root that could not be entered. */
function skipRoot(
  error: unknown,
  { root, project, last }: RootContext,
): Visit {
  const { path, mustExist = false } = root;
  const location = locationOf(path);
  const isMissing = isAbsence(error) && !isThere(path);
  const status = isMissing ? "missing" : "skipped";
  const reason = isMissing ? new SkillFileError(path, missingDir(path)) : error;
  const diagnostic = { ...diagnosticOf(reason), file: path };
  return {
    searched: [],
    candidates: isTemporary(error) ? [...last] : [],
    diagnostics: isMissing && !mustExist ? [] : [diagnostic],
    reports: [reportOn(root, location, status, project)],
  };
}

/**
 * Enters a directory, unless it is a symlink that the scan ignores.
 *
 * @throws {Error} If it is a symlink that the scan refuses, or unreadable.
 */
function enterDir(
  entry: Dir,
  { root, project, confinement }: RootContext,
): EnteredDir | undefined {
  const { dir, location, isSymlink, depth, outerDir } = entry;
  const realDir = isSymlink
    ? followSymlink(dir, { project, outerDir, confinement })
    : location;
  if (realDir === undefined) return undefined;
  const includesItself = root.includesItself ?? root.recursive ?? false;
  const mayBeSkill = depth > 0 || includesItself;
  const file = mayBeSkill ? findSkillFile(dir) : undefined;
  return { ...entry, realDir, file };
}

/** Whether to look for skills in a directory: a root, and below it what the root allows. */
function isSearched(found: EnteredDir, context: RootContext): boolean {
  if (found.depth === 0) return true;
  return context.root.recursive
    ? isSearchedDeep(found, context.root)
    : isGroup(found, context);
}

/** Whether a recursive search looks into a directory: into a skill only if told to. */
function isSearchedDeep(found: EnteredDir, root: SkillRoot): boolean {
  const name = basename(found.dir);
  const isPutAway = !found.file && !mayBeGroup(name) &&
    !ROOT_PARENTS.includes(name);
  const mayHoldSkills = !found.file || root.searchesSkills === true;
  return mayHoldSkills && found.depth < MAX_SEARCH_DEPTH &&
    !(root.omitsPutAway && isPutAway);
}

/** Whether a directory sorts the skills of a root. Another root is searched by itself. */
function isGroup(
  found: EnteredDir,
  { root, realRoots }: RootContext,
): boolean {
  return found.depth === 1 && !isInSkill(found) && !root.confinesSymlinks &&
    mayBeGroup(basename(found.dir)) && !realRoots.has(found.realDir);
}

function isInSkill({ file, outerDir }: EnteredDir): boolean {
  return file !== undefined || outerDir !== undefined;
}

function listDirs(
  { dir, realDir, depth, outerDir, file }: EnteredDir,
  root: SkillRoot,
): Dir[] {
  const isWanted = (entry: Deno.DirEntry) =>
    (entry.isDirectory || entry.isSymlink) &&
    !(root.recursive && isUnsearched(dir, entry.name));
  return listDirEntries(dir, isWanted).map(({ name, isSymlink }) => ({
    dir: childPath(dir, name),
    location: childPath(realDir, name),
    isSymlink,
    depth: depth + 1,
    outerDir: file ? realDir : outerDir,
  }));
}

/** Whether to report why the visit could not enter a directory. */
function isWorthReporting(
  error: unknown,
  { depth, isSymlink }: Dir,
  root: SkillRoot,
): boolean {
  // It may have been removed just now.
  if (!isSymlink) return !isAbsence(error);
  // Broken symlinks deep in a root are common.
  const isDeep = root.recursive === true || depth > 1;
  return !isDeep || error instanceof SkillFileError || isTemporary(error);
}

// ---- Read --------------------------------------------------------------------------

/**
 * How long a scan may read and parse the files of a project, and how long inner
 * skills may take until the next scan, in milliseconds. A stranger's frontmatter can take
 * a fifth of a second to parse.
 */
const MAX_PROJECT_MS = 2_000;

type ReadOptions = Pick<ScanInput, "project" | "maxFileSize">;

interface LoadOptions extends ReadOptions {
  /** Whether there is time to parse a file that changed. */
  readonly mayParse: boolean;
}

/**
 * Reads the `SKILL.md` of each real directory.
 *
 * @param last The results of the last scan, so that only changed files are read.
 */
async function read(
  candidates: readonly Candidate[],
  last: DecidedDirs,
  options: ReadOptions,
): Promise<{ loaded: Loaded[]; diagnostics: Diagnostic[] }> {
  const byRealDir = Map.groupBy(candidates, ({ realDir }) => realDir);
  const loaded: Loaded[] = [];
  const slowRoots = new Set<SkillRoot>();
  const spent = { projectTime: 0 };
  for await (const [realDir, candidates] of inTurns(byRealDir)) {
    const [first, ...others] = candidates;
    if (first === undefined) continue;
    const { root } = first;
    const { skillMd } = last.get(realDir) ?? {};
    // A folder of the project that the user names has no limit.
    const limit = root.isLimited ? spent : undefined;
    const found = loadInTime(first, skillMd, options, limit);
    if (found === "waiting") slowRoots.add(root);
    else loaded.push({ realDir, candidates: [first, ...others], ...found });
  }
  const diagnostics = Array.from(slowRoots, ({ path: file }) => ({
    ...PROJECT_IS_SLOW,
    file,
  }));
  return { loaded, diagnostics };
}

/** How long it took to load files of the project, in milliseconds. */
interface SpentTime {
  projectTime: number;
}

/**
 * Loads a `SKILL.md`, or leaves that to the next scan if the project took too long.
 *
 * @param spent The time that the project took, if the file counts.
 */
function loadInTime(
  found: FoundDir,
  last: KnownSkillMd | undefined,
  options: ReadOptions,
  spent: SpentTime | undefined,
): LoadedFile | "waiting" {
  if (spent === undefined) {
    return load(found, last, { ...options, mayParse: true });
  }
  const mayParse = spent.projectTime <= MAX_PROJECT_MS;
  const start = Date.now();
  const loaded = load(found, last, { ...options, mayParse });
  spent.projectTime += Date.now() - start;
  return loaded;
}

function load(
  found: FoundDir,
  last: KnownSkillMd | undefined,
  options: LoadOptions,
): LoadedFile | "waiting" {
  const file = childPath(found.dir, found.file.name);
  try {
    const skillMd = readFound(found, last, options);
    if (skillMd === "waiting") return skillMd;
    const { diagnostic } = skillMd;
    const diagnostics = diagnostic ? [{ file, ...diagnostic }] : [];
    return { skillMd, diagnostics };
  } catch (error) {
    const skillMd = isTemporary(error) ? last : undefined;
    // It was removed or replaced just now, unless it is a dangling symlink.
    const isGone = isAbsence(error) && !found.file.status.isSymlink;
    const diagnostics = isGone ? [] : [{ ...diagnosticOf(error), file }];
    return { skillMd, diagnostics };
  }
}

/** A shared buffer for the beginnings of the many files that a scan reads. */
const buffer = new Uint8Array(HEAD_SIZE);

/**
 * Reads a `SKILL.md`, and parses it if it changed.
 *
 * @throws {Error} If the file is outside its skill, not a regular file, or unreadable.
 */
function readFound(
  { realDir, file }: FoundDir,
  last: KnownSkillMd | undefined,
  { project, maxFileSize, mayParse }: LoadOptions,
): KnownSkillMd | "waiting" {
  const located = locateSkillMd(file, realDir, project);
  const { realPath, status } = located;
  const version = versionOf(status);
  const hasLastVersion = last?.realPath === realPath &&
    last.version === version;
  if (hasLastVersion && last.digest === undefined) return last;
  const bytes = readLocated(located, { maxFileSize, buffer });
  const readVersion = {
    realPath,
    modified: status.mtime?.getTime() ?? 0,
    version,
    // A file whose time is in the future never settles, and is read in each scan.
    digest: isSettled(status) ? undefined : sha256(bytes),
    recheckAt: findSettlingTime(status),
    unfinished: undefined,
  };
  const hasLastContent = last?.digest !== undefined &&
    last.digest === (readVersion.digest ?? sha256(bytes));
  if (hasLastContent) {
    return { ...(last.unfinished?.before ?? last), ...readVersion };
  }
  if (!mayParse) return "waiting";
  const skillMd = readSkillMd(bytes);
  return keepWhileWritten(skillMd, version, last) ??
    { ...skillMd, ...readVersion };
}

/**
 * How long a file that would be skipped keeps its last state, in milliseconds. An editor
 * or an installer may be writing it.
 */
const WRITING_MS = 2_000;

/**
 * Returns the last state of a file that would be skipped, if this version of it is new.
 * It has the version of that state, so the next scan reads the file again. Flags that can
 * be read in the new version hide the skill at once.
 */
function keepWhileWritten(
  skillMd: SkillMd,
  version: string,
  last: KnownSkillMd | undefined,
): KnownSkillMd | undefined {
  if (skillMd.frontmatter || !last?.frontmatter) return undefined;
  const { unfinished } = last;
  const before = unfinished?.before ?? last;
  const now = Date.now();
  const since = unfinished?.version === version ? unfinished.since : now;
  const end = since + WRITING_MS;
  if (now >= end) return undefined;
  return {
    ...before,
    isHiddenFromModel: before.isHiddenFromModel || skillMd.isHiddenFromModel,
    isHiddenFromUser: before.isHiddenFromUser || skillMd.isHiddenFromUser,
    recheckAt: end,
    unfinished: { version, since, before },
  };
}

/** @throws {SkillFileError} If it is a directory, or a symlink that leads out of the skill. */
function locateSkillMd(
  { name, path, status }: FoundFile,
  realDir: string,
  { trusted }: Project,
): Located {
  if (status.isDirectory) throw new SkillFileError(path, NOT_A_FILE);
  return status.isSymlink
    ? locate(path, (realPath) => isInsideSkill(realPath, realDir, trusted))
    : { path, realPath: childPath(realDir, name), status };
}

// ---- Decide ------------------------------------------------------------------------
//
// A directory of a skill can hold another skill. The scan reads that only if a root lists
// it. So others are judged when a file in them is asked for, or a SKILL.md leads to one.

type DecideOptions = ReadOptions & Pick<ScanInput, "policy" | "inner">;

/** Decides on the scope, the state, and the visibility of each skill. */
function decide(
  loaded: readonly Loaded[],
  options: DecideOptions,
): DecidedDirs {
  const judged = new Map(
    loaded.map((it) => [it.realDir, { ...it, ...judge(it, options) }]),
  );
  const hidingIn = hidingAmong(judged, options);
  return new Map(
    judged.entries().map(([realDir, it]) => {
      // A SKILL.md that is a symlink into a hidden skill is hidden, too.
      const dir = it.skillMd ? dirname(it.skillMd.realPath) : realDir;
      const hiddenFrom = strictest(it.hiddenFrom, hidingIn(dir, realDir));
      return [realDir, { ...it, hiddenFrom }];
    }),
  );
}

/** What can be judged: a skill with the paths that list it, or one inside another. */
type Judged = Pick<Decided, "realDir" | "skillMd"> & {
  readonly candidates: readonly Candidate[];
};

/**
 * Decides on a skill by its own path and frontmatter.
 *
 * @param outer The skill around it, if it is no skill by itself.
 */
function judge(
  judged: Judged,
  { policy, project }: Pick<DecideOptions, "policy" | "project">,
  outer?: Decided,
): Decision {
  const scope = project.scopeOf(judged.realDir);
  const subject = subjectOf({ ...judged, scope });
  const decision = policy.decide(subject, outer && subjectOf(outer));
  const byFlag = judged.skillMd?.isHiddenFromModel ? "model" : "nobody";
  const hiddenFrom = strictest(STATES[decision.state].hiddenFrom, byFlag);
  return { scope, ...decision, hiddenFrom };
}

/** Creates what says from whom the files in a directory are hidden, whatever leads there. */
function hidingAmong(
  decided: DecidedDirs,
  options: DecideOptions,
): HidingIn {
  // The same directories are above many skills.
  const files = new Map<string, FoundFile | "unknown" | undefined>();
  const findFile = (dir: string) =>
    files.getOrInsertComputed(dir, () => findIfKnown(dir));
  return hidingByDirs((dir, skillDir) => {
    const known = decided.get(dir);
    if (known !== undefined) return hidingInside(known, known);
    const outerDir = withDirsAbove(dir).find((it) => decided.has(it)) ??
      skillDir;
    const outer = outerDir && decided.get(outerDir);
    return outer ? innerHidingOf(dir, findFile(dir), outer, options) : "nobody";
  });
}

/** Finds the `SKILL.md` in a directory, unless that is unreadable. */
function findIfKnown(dir: string): FoundFile | "unknown" | undefined {
  try {
    return findSkillFile(dir);
  } catch {
    return "unknown";
  }
}

/** How many inner skills are remembered. */
const MAX_INNER = 20_000;

/**
 * Judges a directory in which the scan saw no skill, by its `SKILL.md` if it has one.
 *
 * @param outer The skill around it, or else the one with a symlink into it.
 */
function innerHidingOf(
  dir: string,
  file: FoundFile | "unknown" | undefined,
  outer: Decided,
  options: DecideOptions,
): SkillHiding {
  const { project, inner } = options;
  if (file === undefined) return "nobody";
  if (file === "unknown") return unreadableHidingOf(dir, outer, options);
  const found = loadInTime(
    { dir, realDir: dir, file },
    inner.known.get(dir),
    options,
    project.scopeOf(dir) === "project" ? inner : undefined,
  );
  if (found === "waiting") return "everyone";
  if (inner.known.size >= MAX_INNER) inner.known.clear();
  if (found.skillMd) inner.known.set(dir, withoutContent(found.skillMd));
  const judged = { realDir: dir, candidates: [], ...found };
  return hidingInside(found, judge(judged, options, outer));
}

/** Judges a directory in which there may be a `SKILL.md` that cannot be read. */
function unreadableHidingOf(
  dir: string,
  outer: Decided,
  options: DecideOptions,
): SkillHiding {
  const { trusted } = options.project;
  // Above what is served, Deno often may not read.
  if (!isAtOrBelowAny(dir, [outer.realDir, ...trusted])) return "nobody";
  if (!isClosed(dir)) return "everyone";
  // Nobody can read what is in it, and lists say why, unless a rule hides it.
  const judged = { realDir: dir, candidates: [], skillMd: undefined };
  return judge(judged, options, outer).hiddenFrom;
}

/** Whether the system, and not only Deno, refuses to list a directory. */
function isClosed(dir: string): boolean {
  try {
    Deno.readDirSync(dir);
    return false;
  } catch (error) {
    return error instanceof Deno.errors.PermissionDenied;
  }
}

/** Leaves out the long texts, so that many skills take little memory. */
function withoutContent(skillMd: KnownSkillMd): KnownSkillMd {
  // V8 would keep the whole text in memory for a slice of it, but not for a copy.
  if (skillMd.frontmatter === undefined) {
    return { ...skillMd, name: structuredClone(skillMd.name) };
  }
  const name = structuredClone(skillMd.name);
  const frontmatter = { name, description: "" };
  return { ...skillMd, name, frontmatter, excerpt: "" };
}

/** Returns from whom the files of a skill are hidden as files of another one. */
function hidingInside(
  { skillMd }: LoadedFile,
  { hiddenFrom }: Decision,
): SkillHiding {
  // A SKILL.md that cannot be read may hide the skill from the model.
  const isUnknown = skillMd === undefined || skillMd.hasUnknownFlags;
  return isUnknown ? "everyone" : hiddenFrom;
}

function isValid(decided: Decided): decided is Valid {
  return decided.skillMd?.frontmatter !== undefined;
}

/** Describes a skill to the policy, with all paths and names that rules can match. */
function subjectOf(
  { realDir, candidates, skillMd, scope }: Judged & { scope: SkillScope },
): PolicySubject {
  const paths = [...candidates.map(({ dir }) => dir), realDir];
  if (skillMd?.frontmatter) return { names: [skillMd.name], scope, paths };
  // A skipped skill may have any of these.
  const names = [skillMd?.name, ...paths.map((path) => basename(path))]
    .filter((name) => name !== undefined);
  return { names: [...new Set(names)], scope, paths };
}

/** Describes a path that is no skill to the policy. */
function subjectAt(
  file: string,
  project: Project,
  names: readonly string[] = [basename(file)],
): { subject: PolicySubject; location: string } {
  const location = locationOf(file);
  const scope = project.scopeOf(location);
  return { subject: { names, scope, paths: [file, location] }, location };
}

const MAX_DIAGNOSTICS = 1_000;

/** Lists the diagnostics, except of paths that are off, global ones first, up to a limit. */
function listDiagnostics(
  ofDirs: readonly Diagnostic[],
  decided: readonly Decided[],
  { policy, project }: ScanInput,
): Diagnostic[] {
  const found = ofDirs.flatMap((diagnostic) => {
    const { subject } = subjectAt(diagnostic.file, project);
    return isOff(STATES[policy.decide(subject).state])
      ? []
      : [{ diagnostic, scope: subject.scope }];
  });
  const ofSkills = decided.filter((it) => !isOff(it))
    .flatMap(({ diagnostics, scope }) =>
      diagnostics.map((diagnostic) => ({ diagnostic, scope }))
    );
  return [...found, ...ofSkills].sort(byScope).slice(0, MAX_DIAGNOSTICS)
    .map(({ diagnostic }) => diagnostic);
}

/** Lists the directories with a skipped `SKILL.md`. Directories that are off get no diagnostics. */
function listSkipped(
  decided: readonly Decided[],
  { project, advice }: ScanInput,
): SkippedSkill[] {
  return decided
    .filter((it) => !isValid(it))
    .map((it) => {
      const { realDir, candidates: [{ dir, file }], scope } = it;
      return {
        names: subjectOf(it).names,
        plugin: pluginOf(dir),
        diagnostics: isOff(it)
          ? []
          : it.diagnostics.map((diagnostic) => withAdvice(diagnostic, advice)),
        scope,
        hiddenFrom: it.hiddenFrom,
        projectPath: project.pathIn(childPath(realDir, file.name)),
      };
    });
}

/** Counts the skills of each root, and how many of them an earlier root also contains. */
function countSkills(
  reports: readonly SkillRootReport[],
  decided: readonly Decided[],
): SkillRootReport[] {
  const served = decided.filter((it) => !isOff(it) && isValid(it));
  return reports.map((report) => {
    const here = served.filter(({ candidates }) =>
      candidates.some(({ root }) => root === report.root)
    );
    const repeated = here.filter(({ candidates: [first] }) =>
      first.root !== report.root
    );
    const repeatedCount = repeated.length;
    return { ...report, skillCount: here.length, repeatedCount };
  });
}

// ---- Name --------------------------------------------------------------------------

/**
 * Decides which skill each name loads. Names go first to skills that the model may load,
 * and then to hidden ones. A hidden skill of a project gets a name only if no global skill
 * is meant by it, so that a clone's hidden `git` cannot make the user's disappear. A skill
 * that is off takes no name.
 *
 * @param skipped The skipped skills. No other skill may load under their names.
 */
function assignNames(
  decided: readonly Decided[],
  skipped: readonly SkippedSkill[],
): Pick<SkillCatalog, "skills" | "shadowed" | "served" | "off"> {
  const valid = decided.filter(isValid);
  const off = valid.filter(isOff).map(toSkill);
  const on = sortByPrecedence(valid.filter((it) => !isOff(it))).map(toSkill);
  const names = new SkillNames([...on, ...off], skipped);
  const byKey = Map.groupBy(on, (skill) => skillKey(skill.name));
  const skills = new Map<string, Skill>();
  const shadowed: ShadowedSkill[] = [];
  for (const key of [...byKey.keys()].sort()) {
    for (const skill of byKey.get(key)!) {
      const by = names.lookUp(skill.name, "host").skill!;
      if (by === skill) {
        skills.set(key, skill);
      } else {
        const prefix = findPrefix(skill, names);
        shadowed.push({ skill: { ...skill, prefix }, by });
      }
    }
  }
  const loadable = shadowed.map(({ skill }) => skill)
    .filter(({ prefix }) => prefix !== undefined);
  const served = new Map(
    [...skills.values(), ...loadable].map((skill) => [servedKey(skill), skill]),
  );
  return { skills, shadowed, served, off };
}

/** Returns what to put before the plain name of a shadowed skill, so that it loads the skill. */
function findPrefix(skill: Skill, names: SkillNames): string | undefined {
  const { scope, plugin } = skill;
  const prefixes = plugin === undefined
    ? [scope]
    : [scope, plugin, `${scope}:${plugin}`];
  return prefixes.find((prefix) => {
    const name = qualifiedName({ ...skill, prefix });
    return names.lookUp(name, "host").skill === skill;
  });
}

/**
 * Sorts skills by their right to a name: visible ones first, then in the order of the
 * roots. In a root, skills outside groups come first, then skills in directories of their
 * names, because others are often copies.
 */
function sortByPrecedence(valid: readonly Valid[]): Valid[] {
  const byRoot = Map.groupBy(valid, ({ candidates: [first] }) => first.root);
  const inOrder = [...byRoot.values()].flatMap((inRoot) =>
    inRoot.toSorted((a, b) => rankInRoot(a) - rankInRoot(b))
  );
  const rankOf = (it: Valid) => sees("model", it) ? 0 : 1;
  return inOrder.sort((a, b) => rankOf(a) - rankOf(b));
}

function rankInRoot({ candidates: [first], skillMd }: Valid): number {
  const isInDirOfItsName =
    skillKey(basename(first.dir)) === skillKey(skillMd.name);
  return (isInGroup(first) ? 2 : 0) + (isInDirOfItsName ? 0 : 1);
}

function isInGroup({ root, depth }: Candidate): boolean {
  return !root.recursive && depth > 1;
}

function toSkill(valid: Valid): Skill {
  const { realDir, candidates: [{ dir, root, file }], skillMd } = valid;
  const { name, frontmatter } = skillMd;
  return {
    name,
    // A stranger's can have 16 KiB, and cleaning all of it would block the thread.
    description: withoutInvisible(
      truncateCharacters(frontmatter.description, MAX_DESCRIPTION_LENGTH),
    ),
    frontmatter,
    directory: dir,
    realDirectory: realDir,
    file: childPath(dir, file.name),
    excerpt: skillMd.excerpt,
    fileVersion: skillMd.version,
    scope: valid.scope,
    root,
    state: valid.state,
    policyRule: valid.policyRule,
    hiddenFrom: valid.hiddenFrom,
    isHiddenFromUser: skillMd.isHiddenFromUser,
    isRepaired: skillMd.diagnostic !== undefined,
    plugin: pluginOf(dir),
    prefix: undefined,
  };
}

// ---- The registry ------------------------------------------------------------------

/**
 * Keeps a catalog of the skills in some roots up to date, and gives access to their
 * files.
 */
export class SkillRegistry {
  readonly #roots: readonly SkillRoot[];
  readonly #policy: Policy;
  readonly #options: SkillRegistryOptions;
  readonly #log: typeof log;
  readonly #listeners = new Set<SkillChangeListener>();
  readonly #subscribers = new Set<ScanSubscriber>();
  readonly #watcher: DirWatcher | undefined;
  #poller: PathPoller | undefined;
  /** @ignore The maximum time between two scans in seconds, or 0 for no timer. */
  readonly refreshSeconds: number;
  readonly #scans = new SharedTask<SkillCatalog>();
  /** The last scan that searched the roots deeper, for unknown names. */
  #deepScan: { start: number; scanned: Promise<Scan> } | undefined;
  /** The digests of files, by version and path. */
  readonly #digests = new Map<string, string>();
  readonly #inner: InnerSkills = { known: new Map(), projectTime: 0 };
  #last: Scan | undefined;
  #catalog = EMPTY_CATALOG;
  #scanStart = -Infinity;
  /** How long the last scan took, in milliseconds. */
  #scanTime = 0;
  /** The logged lines that still apply. */
  #logged: ReadonlySet<string> = new Set();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isWatching = false;
  #isClosed = false;

  /**
   * Creates a registry that is empty until its first {@linkcode refresh}.
   *
   * @param roots The roots, in search order. Their paths can be relative to the working
   *   directory.
   * @param options Limits, the policy, and settings for updates.
   * @throws {Error} If the path of a root, a trusted directory, or a policy file is
   *   relative to an unknown directory.
   * @throws {TypeError} If a path is neither text nor a URL.
   * @throws {RangeError} If a number is not valid.
   */
  constructor(
    roots: readonly GivenSkillRoot[],
    options: SkillRegistryOptions = {},
  ) {
    const { workingDirectory = findWorkingDirectory(), watchDirs = true } =
      options;
    const bases = { ...options, workingDirectory };
    const trustedDirs = options.trustedDirs
      ?.map((dir) => resolvePath(dir, bases));
    this.#options = { ...bases, trustedDirs };
    const { refreshSeconds = DEFAULT_REFRESH_SECONDS } = options;
    requireInRange("refreshSeconds", refreshSeconds, MAX_REFRESH_SECONDS);
    requireInRange("maxFileSize", options.maxFileSize);
    this.refreshSeconds = refreshSeconds;
    this.#log = options.log ?? log;
    this.#roots = roots.map((root) => {
      const path = resolvePath(root.path, this.#options);
      // By this object, callers find the report on their root.
      return path === root.path ? root as SkillRoot : { ...root, path };
    });
    this.#policy = new Policy(this.#options);
    if (watchDirs) {
      this.#watcher = new DirWatcher(() => this.#rescan(), this.#log);
    }
  }

  /** The catalog of the last scan. */
  get catalog(): SkillCatalog {
    return this.#catalog;
  }

  /**
   * Finds a skill by name, regardless of case, or by qualified name: `global:git` and
   * `project:git` find the first skill named `git` in the scope, and `tools:git` the one
   * in the plugin `tools`. If no skill has the name, finds what models may mean by it:
   * the name of a directory or a prompt, `a:git` for the only global `git`, or
   * `skill://git/`. Compare {@linkcode Skill.name} if you need exactly this name.
   *
   * @param options The viewer, from whom skills can be hidden.
   */
  find(
    name: string,
    { viewer = "host" }: Pick<SkillFilesOptions, "viewer"> = {},
  ): Skill | undefined {
    return lookUp(name, viewer, this.catalog).skill;
  }

  /**
   * Lists the files of a skill, including inner skills. Skips most names that begin with
   * a dot, `node_modules`, `__pycache__`, and files outside the skill and the trusted
   * directories. The list ends after 10 levels and 20,000 entries.
   *
   * @param options The viewer, from whom inner skills can be hidden, and the limit.
   * @throws {TypeError} If the skill is `undefined`, or something else that is none.
   * @throws {RangeError} If the limit is not a number from 0 on.
   */
  async listFiles(
    skill: Skill,
    { viewer, maxEntries }: SkillFilesOptions = {},
  ): Promise<SkillFiles> {
    requireInRange("maxEntries", maxEntries);
    return await listFiles(this.#accessTo(skill, viewer), maxEntries);
  }

  /**
   * Reads the current content of a file of a skill.
   *
   * @param path The path relative to the skill's directory, with `/` as the separator.
   * @param options The viewer, from whom inner skills can be hidden.
   * @throws {SkillFileError} If the file does not exist, is outside the skill, is not a
   *   regular file, is too large, or cannot be read.
   * @throws {TypeError} If the skill is `undefined`, or something else that is none.
   */
  async readFile(
    skill: Skill,
    path: string,
    { viewer }: Pick<SkillFilesOptions, "viewer"> = {},
  ): Promise<SkillFileContent> {
    return await readSkillFile(path, this.#accessTo(skill, viewer));
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is remembered until the file changes.
   *
   * @param file The file, from {@linkcode listFiles}.
   * @returns The digest (`sha256:` and 64 hexadecimal digits) and the size in bytes.
   * @throws {SkillFileError} If the file cannot be read.
   * @throws {TypeError} If the skill is `undefined`, or something else that is none.
   */
  async digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    return await digestFile(file, this.#accessTo(skill), this.#digests);
  }

  /** @throws {TypeError} If it is no skill. */
  #accessTo(skill: Skill, viewer: Viewer = "host"): FileAccess {
    if (!(isObject(skill) && "realDirectory" in skill)) {
      throw new TypeError(
        "Cannot access the files of a skill: the first argument is not a skill; check whether find() returned one",
      );
    }
    const hidingIn = this.#last && this.#hidingAfter(this.#last);
    return {
      skill,
      trusted: this.#last?.project.trusted ?? [],
      isHidden: (dir) => {
        const hiddenFrom = hidingIn?.(dir, skill.realDirectory) ?? "nobody";
        return !sees(viewer, { hiddenFrom });
      },
      maxFileSize: this.#options.maxFileSize,
      describe: (error) =>
        withAdvice(diagnosticOf(error), this.#options.advice),
    };
  }

  #hidingAfter({ decided, project }: Scan): HidingIn {
    return hidingAmong(decided, this.#inputFor(project));
  }

  /** Returns what all scans have in common. */
  #inputFor(
    project: Project,
  ): Omit<ScanInput, "roots" | "diagnostics" | "revision"> {
    const { maxFileSize, advice } = this.#options;
    return {
      project,
      policy: this.#policy,
      maxFileSize,
      inner: this.#inner,
      advice,
      last: this.#last,
    };
  }

  /**
   * @ignore Finds what the model may mean by a name that loads no skill, unless it may
   * not see that.
   */
  async listNearMissesOf(name: string): Promise<NearMiss[]> {
    if (this.#last === undefined) return [];
    const { project } = this.#last;
    const { deepenRoots, listNearMissesIn, listTooDeep } = await import(
      "./src/skills/near_misses.ts"
    );
    const meant = listNearMissesIn(this.catalog, name);
    const found = meant.length > 0 ? meant : listTooDeep(
      name,
      await this.#scanDeeper(deepenRoots(this.#roots), project),
    );
    const hidingIn = this.#hidingAfter(this.#last);
    return found.flatMap((diagnostic) => {
      const { file } = diagnostic;
      const names = [name, basename(file)];
      const { subject, location } = subjectAt(file, project, names);
      const { state } = this.#policy.decide(subject);
      const hiddenFrom = strictest(
        STATES[state].hiddenFrom,
        hidingIn(location),
      );
      if (!sees("model", { hiddenFrom })) return [];
      const projectPath = project.pathIn(location);
      return [{ diagnostic, scope: subject.scope, projectPath }];
    });
  }

  /** Scans other roots. Names that follow one another share the result for a while. */
  async #scanDeeper(
    roots: readonly SkillRoot[],
    project: Project,
  ): Promise<SkillCatalog> {
    const { start = -Infinity } = this.#deepScan ?? {};
    if (performance.now() - start > MAX_DEEP_SCAN_AGE_MS) {
      const scanned = scan({
        ...this.#inputFor(project),
        roots,
        diagnostics: [],
        revision: 0,
      });
      this.#deepScan = { start: performance.now(), scanned };
    }
    return (await this.#deepScan!.scanned).catalog;
  }

  /** @ignore Lists the policy rules that matched nothing in the last scan. */
  listUnusedRules(): Diagnostic[] {
    if (this.#last === undefined) return [];
    const { decided, project } = this.#last;
    const inner = this.#inner.known.entries().map(([realDir, skillMd]) => {
      const scope = project.scopeOf(realDir);
      return subjectOf({ realDir, candidates: [], skillMd, scope });
    });
    return this.#policy
      .listUnused([...decided.values().map(subjectOf), ...inner]);
  }

  /**
   * Scans the roots again. Only one scan runs at a time. Calls during a scan share the
   * next one, because the current one may have missed the latest changes.
   *
   * @param options How long ago a scan may have begun to be new enough, in milliseconds.
   *   Default: 0, for a new scan.
   * @returns The catalog, once the scan is complete.
   * @throws {Error} If the registry is closed, or what its function `log` throws.
   */
  async refresh(
    { maxAgeMs = 0 }: { maxAgeMs?: number } = {},
  ): Promise<SkillCatalog> {
    this.requireOpen();
    const isNewEnough = performance.now() - this.#scanStart < maxAgeMs;
    return isNewEnough
      ? await (this.#scans.running ?? this.catalog)
      : await this.#scans.run(() => this.#scan());
  }

  async #scan(): Promise<SkillCatalog> {
    this.#scanStart = performance.now();
    const previous = this.catalog;
    const catalog = await this.#scanRoots()
      .catch((error) => this.#keepCatalog(error));
    this.#scanTime = performance.now() - this.#scanStart;
    if (this.#isClosed) return previous;
    this.#catalog = catalog;
    for (const subscriber of this.#subscribers) subscriber.onScan();
    this.updateWatcher();
    this.#startTimer();
    const keys = changedKeys(catalog, previous);
    if (keys.size > 0) this.#deepScan = undefined;
    try {
      this.#logged = logDiagnostics(catalog, this.#logged, this.#log);
    } finally {
      // The function that logs can throw.
      if (keys.size > 0 || !hasSameDiagnostics(catalog, previous)) {
        await this.#callListeners({ catalog, previous, keys });
      }
    }
    return catalog;
  }

  async #scanRoots(): Promise<SkillCatalog> {
    const project = new Project(this.#options);
    const policyDiagnostics = await this.#policy.load(project);
    const result = await scan({
      ...this.#inputFor(project),
      roots: this.#policy.isUsable ? this.#roots : [],
      diagnostics: [
        ...policyDiagnostics,
        ...project.listDiagnostics(this.#policy.listNamedDirs()),
      ],
      revision: this.#catalog.revision + 1,
    });
    this.#last = result;
    return result.catalog;
  }

  /** Keeps the last catalog after an unexpected error. The next scan tries again. */
  #keepCatalog(error: unknown): SkillCatalog {
    const file = this.#options.workingDirectory ?? this.#roots[0]?.path ?? ".";
    const { reason, fix } = unexpected(error);
    const failure: Diagnostic = {
      rule: "scan-failed",
      file,
      reason: `${reason}, so the last list of skills stays`,
      fix: `${fix}; the next scan tries again`,
    };
    const { diagnostics, revision } = this.#catalog;
    const others = diagnostics.filter(({ rule }) => rule !== failure.rule);
    return {
      ...this.#catalog,
      diagnostics: [failure, ...others],
      revision: revision + 1,
    };
  }

  /**
   * Adds a listener, which is called after each refresh with visible changes. It must not
   * wait for another refresh, because that waits for the listener. Returns a function
   * that removes it.
   */
  onChange(listener: SkillChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Calls the listeners one after the other, and waits for each. */
  async #callListeners(change: SkillChange): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener(change);
      } catch (error) {
        const reason = error instanceof Error ? error.message : error;
        this.#log(
          `A listener failed: ${reason}; fix the function passed to onChange()`,
        );
      }
    }
  }

  /** @ignore Throws an error if the registry is closed. */
  requireOpen(): void {
    if (!this.#isClosed) return;
    throw new Error(
      "Cannot use the registry: it is closed; create another one",
    );
  }

  /** @ignore Adds a subscriber. The registry watches its directories before those of skills. */
  addSubscriber(subscriber: ScanSubscriber): void {
    this.#subscribers.add(subscriber);
  }

  /**
   * Starts to keep the catalog up to date with a timer and by watching directories. Does
   * nothing once the registry is closed.
   */
  watch(): void {
    if (this.#isClosed) return;
    this.#isWatching = true;
    if (this.#watcher !== undefined) {
      this.#poller ??= new PathPoller(() => this.#rescan());
    }
    this.updateWatcher();
    this.#startTimer();
  }

  #startTimer(): void {
    clearTimeout(this.#timer);
    const delay = Math.min(this.#untilRefresh(), this.#untilRecheck());
    if (!this.#isWatching || delay === Infinity) return;
    this.#timer = setTimeout(() => this.#rescan(), delay);
    Deno.unrefTimer(this.#timer);
  }

  #untilRefresh(): number {
    if (this.refreshSeconds === 0) return Infinity;
    const longest = this.refreshSeconds * 1_000;
    // Only scans find changes in directories beyond the limit of the watcher.
    const isWatchedInPart = this.#watcher?.isComplete === false;
    if (!isWatchedInPart) return longest;
    const proportional = this.#scanTime / MAX_SCAN_SHARE;
    return Math.min(longest, Math.max(MIN_REFRESH_MS, proportional));
  }

  /** Returns the time until a file that has just changed is settled or finished. */
  #untilRecheck(): number {
    if (this.#watcher === undefined) return Infinity;
    const times = [...this.#last?.decided.values() ?? []]
      .map(({ skillMd }) => skillMd?.recheckAt ?? Infinity);
    const delay = times.reduce((a, b) => Math.min(a, b), Infinity) - Date.now();
    // A file that cannot be read now keeps a time that has passed.
    return delay > 0 ? delay : MIN_REFRESH_MS;
  }

  #rescan(): void {
    // It fails if the registry is closed, or if its log does.
    this.refresh().catch(() => {});
  }

  /** @ignore Watches the directories of the last scan and of the subscribers. */
  updateWatcher(): void {
    if (!this.#isWatching || this.#last === undefined) return;
    const subscribed = [...this.#subscribers]
      .flatMap((subscriber) => subscriber.listDirsToWatch());
    const { file } = this.#policy;
    this.#watcher?.update(dirsToWatch(this.#last, file, subscribed));
    this.#poller?.update(pathsToPoll(this.#last, file));
  }

  /** Stops all updates for good, and removes all listeners. */
  close(): void {
    this.#isClosed = true;
    this.#isWatching = false;
    clearTimeout(this.#timer);
    this.#watcher?.close();
    this.#poller?.close();
    this.#listeners.clear();
    this.#subscribers.clear();
  }

  /** Closes the registry at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }
}

/** @throws {RangeError} If a number that is given is not in its range. */
function requireInRange(
  name: string,
  value: number | undefined,
  max = Infinity,
): void {
  if (value === undefined || (value >= 0 && value <= max)) return;
  const range = max === Infinity ? "from 0 on" : `from 0 to ${max}`;
  throw new RangeError(`Invalid ${name} ${value}: expected a number ${range}`);
}

/** The shortest time between two scans without a change that was noticed, in milliseconds. */
const MIN_REFRESH_MS = 1_000;

/** The largest part of the time that such scans take. */
const MAX_SCAN_SHARE = 0.01;

/** For how long unknown names share a scan of what is too deep, in milliseconds. */
const MAX_DEEP_SCAN_AGE_MS = 5_000;

/** How many paths the poller compares each second. */
const MAX_POLLED_PATHS = 200;

/** Lists the paths that can come to lead elsewhere, or where symlinks can appear. */
function pathsToPoll(
  { searched, catalog: { roots } }: Scan,
  policyFile: string | undefined,
): Set<string> {
  const groups = searched.filter(({ depth }) => depth > 0);
  return new Set([
    ...policyFile ? [policyFile] : [],
    ...roots.map(({ root }) => root.path),
    ...groups.slice(0, MAX_POLLED_PATHS).map(({ dir }) => dir),
  ]);
}

/**
 * Lists the real paths of the directories to watch. The number is limited, so recently
 * edited skills come first. The timer finds the other changes.
 */
function dirsToWatch(
  { searched, decided, catalog: { roots } }: Scan,
  policyFile: string | undefined,
  subscribed: readonly string[],
): Set<string> {
  const modified = (it: Decided) => it.skillMd?.modified ?? 0;
  const lastModified = [...decided.values()]
    .sort((a, b) => modified(b) - modified(a))
    .slice(0, 1 + MAX_WATCHED_DIRS);
  return new Set([
    ...roots.flatMap(({ realPath }) => realPath ?? []),
    ...policyFile ? [realPathIfThere(policyFile) ?? policyFile] : [],
    ...subscribed,
    ...lastModified.filter(({ candidates: [first] }) => isInGroup(first))
      .map(({ realDir }) => dirname(realDir)),
    ...lastModified.flatMap(({ realDir, skillMd }) =>
      skillMd ? [realDir, dirname(skillMd.realPath)] : [realDir]
    ),
    ...searched.slice(0, 1 + MAX_WATCHED_DIRS).map(({ realDir }) => realDir),
  ]);
}

// ---- The service and the tools -----------------------------------------------------

/**
 * Creates a service of skills as tools, prompts, and resources, and through the Skills
 * extension, for servers that have nothing else. It begins the first scan if there was
 * none, and notifies clients of changes.
 *
 * ```ts ignore
 * import process from "node:process";
 * import { createSkillService, SkillRegistry } from "@skill-server/skill-server";
 * import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
 *
 * const registry = new SkillRegistry([
 *   { path: "skills", mustExist: true },
 * ]);
 * const { createServer, ready } = await createSkillService(registry);
 * await ready;
 * registry.watch();
 * serveStdio(createServer);
 * // Watching would keep the process alive after its client has disconnected.
 * process.stdin.once("end", () => registry.close());
 * ```
 *
 * @param registry The registry of the skills.
 * @param options The toolset and its settings. Default: the toolset `skill`.
 * @throws {TypeError} If the toolset or profile is unknown.
 * @throws {Error} If the registry is closed.
 */
export async function createSkillService(
  registry: SkillRegistry,
  options: SkillToolOptions = {},
): Promise<SkillService> {
  const toolOptions = withToolset(options);
  // Refuses an unknown toolset or profile.
  listTools(toolOptions);
  registry.requireOpen();
  const scanned = registry.catalog.revision === 0
    ? registry.refresh()
    : Promise.resolve();
  // Whoever waits for `ready` gets its error. Nobody has to.
  scanned.catch(() => {});
  // Whoever only scans does not load the SDK.
  const { InMemoryServerEventBus, Server } = await import(
    "npm:@modelcontextprotocol/server@^2.4.0"
  );
  const wire = await import("./src/wire/server.ts");
  const bus = new InMemoryServerEventBus();
  const source = withFilesOfToolset(registry, toolOptions);
  const files = new SubscribedFiles(source, bus);
  const ready = scanned
    .then(() => wire.publishChanges(registry, toolOptions, bus));
  ready.catch(() => {});
  const createServer = (connection: McpRequestContext): Server => {
    const server = new Server(
      ...wire.describeServer(connection, registry, toolOptions),
    );
    const serving = { server, registry: source, options: toolOptions };
    for (const served of wire.listMethods(connection, files)) {
      const { method, paramsSchema: params } = served;
      server.setRequestHandler(method, { params }, async (input, request) => {
        await ready;
        return await wire.answer(served, input, request, serving);
      });
    }
    // Over HTTP, the SDK itself listens to the bus.
    if (wire.isStdio(connection)) {
      const unsubscribe = bus.subscribe((event) => wire.notify(server, event));
      server.onclose = unsubscribe;
    }
    return server;
  };
  return {
    ready,
    bus,
    createServer,
    subscribe: (id, uris) => files.subscribe(id, uris),
    unsubscribe: (id) => files.unsubscribe(id),
  };
}

function withToolset(options: SkillToolOptions): ToolOptions {
  return { ...options, toolset: options.toolset ?? DEFAULT_TOOLSET };
}

/**
 * The part of an `McpServer` that {@linkcode registerSkillTools} needs. The `McpServer`
 * of `@modelcontextprotocol/sdk` 1 and of `@modelcontextprotocol/server` 2 both have it,
 * so this library depends on neither type.
 */
export interface SkillToolServer {
  /** Registers a tool, and returns a handle to update it. */
  registerTool(
    name: string,
    config: never,
    call: never,
  ): { update(changes: { description: string }): void };
}

/** The context of a tool call. In version 2 of the SDK, the signal is one level deeper. */
type SdkContext = { signal: AbortSignal } | {
  mcpReq: { signal: AbortSignal };
};

/**
 * Registers the tools of a toolset, but no prompts or resources, beside the server's own
 * tools. Their descriptions follow the catalog, and the SDK notifies the client of each
 * one that changes. The server can be the `McpServer` of `@modelcontextprotocol/sdk` 1 or
 * of `@modelcontextprotocol/server` 2. It must run in Deno.
 *
 * ```ts ignore
 * import { registerSkillTools, SkillRegistry } from "@skill-server/skill-server";
 * import { McpServer } from "npm:@modelcontextprotocol/server@^2.4.0";
 * import { StdioServerTransport } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
 *
 * const server = new McpServer({ name: "my-server", version: "1.0.0" });
 * server.registerTool(
 *   "time",
 *   { description: "Return the current time" },
 *   () => ({ content: [{ type: "text", text: new Date().toISOString() }] }),
 * );
 *
 * const registry = new SkillRegistry([
 *   { path: "skills", mustExist: true },
 * ]);
 * await registry.refresh();
 * registry.watch();
 * registerSkillTools(server, registry);
 * // Watching would keep the process alive after its client has disconnected.
 * server.server.onclose = () => registry.close();
 * await server.connect(new StdioServerTransport());
 * ```
 *
 * @param server An `McpServer` that is not connected yet.
 * @param registry The registry of the skills.
 * @param options The toolset and its settings. Default: the toolset `skill`.
 * @returns A function that ends the updates, for a server that closes before the
 *   registry.
 * @throws {TypeError} If the server is not an `McpServer`, or the toolset or profile is
 *   unknown.
 * @throws {Error} If the server already has a tool of the same name, or the registry is
 *   closed.
 */
export function registerSkillTools(
  server: SkillToolServer,
  registry: SkillRegistry,
  options: SkillToolOptions = {},
): () => void {
  if (!(isObject(server) && "registerTool" in server)) {
    throw new TypeError(
      "Cannot register the tools: the server is not an McpServer of the MCP SDK; pass one of @modelcontextprotocol/sdk or @modelcontextprotocol/server",
    );
  }
  registry.requireOpen();
  const toolOptions = withToolset(options);
  const profile = profileFor(toolOptions);
  const describe = (tool: SkillTool) => {
    const { catalog } = registry;
    const view = { profile, catalog, options: toolOptions };
    return toMcpTool(tool, { ...view, describesParameters: false });
  };
  const updates = listTools(toolOptions).map((tool) => {
    const mcpTool = describe(tool);
    const config = {
      ...mcpTool,
      inputSchema: addJsonSchema(tool.input),
      outputSchema: tool.output && addJsonSchema(tool.output),
    };
    const call = (input: Record<string, unknown>, context: SdkContext) => {
      const { signal } = "mcpReq" in context ? context.mcpReq : context;
      return callTool(tool, input, {
        registry,
        options: toolOptions,
        signal,
        clientName: undefined,
        profile,
      });
    };
    const registered = server
      .registerTool(tool.name, config as never, call as never);
    let { description } = mcpTool;
    return () => {
      const current = describe(tool).description!;
      // The SDK notifies clients of each update.
      if (current === description) return;
      description = current;
      registered.update({ description });
    };
  });
  return registry.onChange(() => {
    for (const update of updates) update();
  });
}

/**
 * Adds the conversion to JSON Schema to a schema, which changes. Version 2 of the SDK
 * requires it, and `zod/mini` omits it.
 */
function addJsonSchema(schema: z.ZodMiniObject): z.ZodMiniObject {
  const { "~standard": standard } = z.toJSONSchema(schema);
  return Object.assign(schema, { "~standard": standard });
}

if (import.meta.main) {
  // Not awaited, because skill_server.ts imports this module, which must finish first.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
