/**
 * Finds [Agent Skills](https://agentskills.io/specification) (folders with a
 * `SKILL.md`: YAML frontmatter, then Markdown) and serves them to any client of
 * the [Model Context Protocol](https://modelcontextprotocol.io) over stdio.
 *
 * ## As a server
 *
 * Run as the main module, it is an MCP server. It needs two permissions:
 * `--allow-read` to read skills, and `--allow-env` to find the home folder and to
 * read its settings.
 *
 * ```sh
 * deno run --allow-read --allow-env jsr:@skill-server/skill-server
 * ```
 *
 * ## As a library
 *
 * The scanner, the registry, and the tools can be used on their own.
 *
 * ```ts
 * import { SkillRegistry } from "@skill-server/skill-server";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * await registry.refresh();
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

import { basename, dirname, join, resolve } from "jsr:@std/path@^1";
import { FolderWatcher } from "./src/files/folder_watcher.ts";
import {
  describeUnwatched,
  listWatchedFolders,
} from "./src/files/watch_list.ts";
import { childPath, currentFolder, isAtOrBelowAny } from "./src/files/paths.ts";
import { type ListedFolder, ScanDecisions } from "./src/skills/decisions.ts";
import type { PolicyDecider } from "./src/skills/policy.ts";
import { ProblemLog } from "./src/skills/problems.ts";
import {
  buildCatalog,
  changedSkills,
  EMPTY_CATALOG,
} from "./src/skills/catalog.ts";
import { findResource, findSkill, SkillVariants } from "./src/skills/names.ts";
import { FileTracker } from "./src/skills/file_tracker.ts";
import {
  boundaries,
  DEFAULT_MAX_FILE_SIZE,
  isOwn,
} from "./src/files/confinement.ts";
import {
  faultOf,
  isAbsence,
  isPassing,
  LINK_OUT_OF_PROJECT,
  MAX_SEARCHED_FOLDERS,
  moreProblems,
  NAME_IS_NOT_UTF_8,
  passingFault,
  ROOT_IS_A_FILE,
  ROOT_IS_A_SKILL,
  ROOT_OUT_OF_PROJECT,
  SkillFileError,
  TOO_MANY_FOLDERS,
} from "./src/files/faults.ts";
import { SkillFiles } from "./src/skills/skill_files.ts";
import { findSkillFile, type SkillFolder } from "./src/skills/skill_md.ts";
import { type SkillOutcome, SkillReader } from "./src/skills/skill_reader.ts";
import {
  areUnchanged,
  isListedName,
  isSeen,
  listSubfolders,
  type Subfolder,
  UNSEARCHED_NAMES,
} from "./src/skills/subfolders.ts";
import { realPathOf, Scopes } from "./src/skills/scopes.ts";
import { log } from "./src/text.ts";
import { DEFAULT_REFRESH_SECONDS } from "./src/skills/roots.ts";
import {
  runInSlices,
  SharedTask,
  type Steps,
  TimeSlice,
} from "./src/time_slice.ts";
import { joinTools, type SkillToolServer } from "./src/views/host_tools.ts";
import { registerTools } from "./src/views/tools.ts";
import { listTools, type SkillToolOptions } from "./src/views/toolsets.ts";
import type {
  ClosedFolders,
  Problem,
  RefreshOptions,
  ScanOptions,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillPolicy,
  SkillPolicyReport,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
  SkillSource,
  SkillViewer,
} from "./src/skills/types.ts";

export { parseSkillMd, SkillSyntaxError } from "./src/skills/frontmatter.ts";
export { DEFAULT_MAX_FILE_SIZE } from "./src/files/confinement.ts";
export { SkillFileError } from "./src/files/faults.ts";
export {
  listSkillFiles,
  readSkillFile,
  resolveSkillFile,
} from "./src/skills/skill_files.ts";
export type { ClientInfo } from "./src/protocol/eras.ts";
export { parseSkillUri, skillUri } from "./src/skills/uri.ts";
export { log, skillKey } from "./src/text.ts";
export {
  DEFAULT_REFRESH_SECONDS,
  resolveSkillRoots,
} from "./src/skills/roots.ts";
export type { SkillToolServer } from "./src/views/host_tools.ts";
export type { SkillToolOptions, Toolset } from "./src/views/toolsets.ts";
export type * from "./src/skills/types.ts";

/** How many levels below a recursive root are searched. */
const MAX_SEARCH_DEPTH = 6;

/** The time until the next scan if something cannot be read for the moment, in milliseconds. */
const RETRY_MS = 1_000;

/** The maximum number of such scans in a row. Then only the timer is left. */
const MAX_RETRIES = 60;

/** The maximum number of problems that are reported for one root. */
const MAX_PROBLEMS = 1_000;

/** The result of {@linkcode SkillScanner.scan}. */
export interface ScanResult {
  /** The skills that were found. It is the previous catalog if nothing changed. */
  readonly catalog: SkillCatalog;
  /** The folders that it searched, by their real paths. */
  readonly folders: ReadonlySet<string>;
  /** The versions of the folders that it listed, by path. */
  readonly versions: ReadonlyMap<string, string | undefined>;
  /** The targets of links that it found, including missing ones. */
  readonly linkTargets: ReadonlySet<string>;
  /** The folders that are closed to everyone or to the model. */
  readonly closed: ClosedFolders;
  /** The rules of the policy whose folders cannot be resolved. */
  readonly unresolved: readonly Problem[];
  /** Whether something could not be read for the moment, so that another scan should follow soon. */
  readonly isPassing: boolean;
}

/** Where a problem is. */
type ProblemPlace = ListedFolder & {
  /** The possible names of the skill, if it may be one. */
  readonly names?: readonly string[];
  /** The folder that lists it, if it is an entry without a known real path. */
  readonly parent?: SkillFolder;
};

/**
 * Searches the roots for skills.
 *
 * The result depends only on the folders and the options. Roots are searched in
 * the given order, and names in the order of their code units. Among skills
 * with the same name, the first one that is not off is served under that name.
 * Problems are reported in {@linkcode SkillCatalog.problems}, up to 1,000 for
 * each root. A problem with one skill or folder neither throws an error nor
 * affects other skills. To scan the same roots again, use a
 * {@linkcode SkillScanner}.
 *
 * ```ts
 * import { scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills, problems } = await scanSkillRoots([
 *   { path: "testdata/invalid", scope: "project", recursive: false },
 * ]);
 * for (const { file, reason, hint } of problems) {
 *   console.log(`${file}: ${reason}; ${hint}`);
 * }
 * if (skills.size > 0) throw new Error("All of these are invalid");
 * ```
 *
 * @param roots The roots, in search order.
 * @param options Limits, the policy, and the allowed targets of links.
 * @returns The catalog.
 * @throws {Error} If the policy is invalid.
 */
export async function scanSkillRoots(
  roots: readonly SkillRoot[],
  options: ScanOptions = {},
): Promise<SkillCatalog> {
  return (await new SkillScanner(roots, options).scan()).catalog;
}

/**
 * Scans the same roots again and again. Files that have not changed since the
 * previous scan are not read again, and unchanged skills stay the same objects.
 */
export class SkillScanner {
  readonly #roots: readonly SkillRoot[];
  readonly #options: ScanOptions;
  /** The policy of the next scan, if any. */
  #policy: SkillPolicy | undefined;
  #decider: PolicyDecider | undefined;
  readonly #reader = new SkillReader();
  readonly #variants = new SkillVariants();
  #catalog = EMPTY_CATALOG;
  /** The decisions of the last scan, which include what is off, if it had a policy. */
  #decisions: ScanDecisions | undefined;

  /**
   * Creates a scanner.
   *
   * @param roots The roots, in search order.
   * @param options Limits, the policy, and the folders that scopes depend on.
   */
  constructor(roots: readonly SkillRoot[], options: ScanOptions = {}) {
    this.#roots = roots;
    this.#options = options;
    this.#policy = options.policy;
  }

  /**
   * Applies another policy, or none, from the next scan on.
   *
   * @throws {Error} If the policy is invalid. The previous policy then stays in
   *   effect.
   */
  async setPolicy(policy: SkillPolicy | undefined): Promise<void> {
    if (policy !== this.#decider?.policy) {
      // Only now is the module for policies loaded.
      this.#decider = policy &&
        new (await import("./src/skills/policy.ts")).PolicyDecider(policy);
    }
    this.#policy = policy;
  }

  /**
   * Searches the roots.
   *
   * @param trustsStatus Whether a file with the same status is the same as in the
   *   previous scan. By default, only one that has not changed recently is.
   * @throws {Error} If {@linkcode ScanOptions.policy} is invalid.
   */
  async scan(trustsStatus = false): Promise<ScanResult> {
    await this.setPolicy(this.#policy);
    const policy = this.#decider;
    const scan = new SkillScan(this.#roots, {
      workingDirectory: currentFolder(),
      ...this.#options,
      policy,
      trustsStatus,
      reader: this.#reader,
      variants: this.#variants,
      previous: this.#catalog,
    });
    const result = await scan.run();
    this.#reader.endScan();
    this.#catalog = result.catalog;
    // Without a policy, nothing needs to keep them in memory.
    this.#decisions = policy && scan.decisions;
    return result;
  }

  /**
   * Describes the decisions of the policy in the last scan, if there was one.
   * Only this report contains the skills that are off.
   */
  inspectPolicy(): SkillPolicyReport | undefined {
    const roots = this.#roots.map(({ path }) => path);
    return this.#decisions?.report(this.#catalog, roots);
  }
}

/** Options of {@linkcode SkillScan}. */
interface SkillScanOptions extends Omit<ScanOptions, "policy"> {
  readonly policy: PolicyDecider | undefined;
  readonly trustsStatus: boolean;
  readonly reader: SkillReader;
  readonly variants: SkillVariants;
  readonly previous: SkillCatalog;
}

/** One scan: searches all roots, and then decides on what was found. */
class SkillScan {
  readonly #roots: readonly SkillRoot[];
  readonly #options: SkillScanOptions;
  readonly #scopes: Scopes;
  readonly decisions: ScanDecisions;
  /** The real paths of folders that all links are allowed to point into. */
  #trustLinks: readonly string[] = [];
  /** The real paths of folders that the links of a project are allowed to point into, once one needs them. */
  #allowedTargets: readonly string[] | undefined;
  /** The real paths of the folders to watch. */
  readonly #folders = new Set<string>();
  /** The skills, valid or not, by real path. */
  readonly #skills = new Map<string, SkillOutcome>();
  readonly #versions = new Map<string, string | undefined>();
  /** The targets of links that were found, including missing ones. */
  readonly #targets = new Set<string>();
  readonly #problems: { problem: Problem; place: ProblemPlace }[] = [];
  /** The paths of roots that cannot be searched. */
  readonly #refused: string[] = [];
  #isPassing = false;
  readonly #slice = new TimeSlice();

  constructor(roots: readonly SkillRoot[], options: SkillScanOptions) {
    this.#roots = roots;
    this.#options = options;
    this.#scopes = new Scopes(options);
    this.decisions = new ScanDecisions(this.#scopes, options);
  }

  /** Searches the roots and creates the catalog, or returns the previous one if it is the same. */
  async run(): Promise<ScanResult> {
    const { policy, reader, trustsStatus, previous, variants } = this.#options;
    const { maxFileSize = DEFAULT_MAX_FILE_SIZE, trustLinks = [] } =
      this.#options;
    policy?.resolveFolders();
    this.#trustLinks = await this.#run(boundaries(trustLinks));
    reader.startScan({
      maxFileSize,
      trustsStatus,
      trustLinks: this.#trustLinks,
      linkTargets: this.#targets,
    });
    const roots: SkillRootReport[] = [];
    for (const root of this.#roots) {
      if (this.#slice.isOver) await this.#slice.yield();
      roots.push(await this.#searchRoot(root));
    }
    await this.#run(this.decisions.decide(this.#skills));
    const problems = await this.#run(this.#listProblems());
    const rest = { problems, roots, previous, variants };
    return {
      catalog: buildCatalog(this.decisions.listServed(variants), rest),
      folders: this.#folders,
      versions: this.#versions,
      linkTargets: this.#targets,
      closed: this.decisions.closed,
      unresolved: policy?.problems ?? [],
      isPassing: this.#isPassing,
    };
  }

  /** Runs a part of the scan, with pauses. */
  #run<T>(steps: Steps<T>): Promise<T> {
    return runInSlices(steps, this.#slice);
  }

  /** Searches a root. */
  async #searchRoot(root: SkillRoot): Promise<SkillRootReport> {
    const { path } = root;
    const report = (
      status: SkillRootReport["status"],
      findPlace = () => realPathOf(path),
    ) => {
      const isProject = root.scope === "project";
      const scope = isProject ? root.scope : this.#scopes.scopeOf(findPlace());
      return { root, scope, status, skills: 0 };
    };
    try {
      const top = await this.#run(this.#enterRoot(root));
      await this.#search(top);
      const { realPath } = top;
      return { ...report("found", () => realPath), realPath };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) {
        this.#versions.set(path, undefined);
        return report("missing", () => realPathOf(dirname(path)));
      }
      if (this.#keepKnown({ path, root }, error)) {
        const { roots } = this.#options.previous;
        // It is missing there if the scan that found the root failed later.
        return roots.find((report) => report.root === root) ?? report("found");
      }
      // A configured folder stands for three roots, but one report is enough.
      if (!isAtOrBelowAny(path, this.#refused)) {
        this.#report({ file: path, ...faultOf(error) }, { path, root });
      }
      this.#refused.push(path);
      return report("refused");
    }
  }

  /**
   * If a folder cannot be read for the moment, keeps what the previous scan found
   * in it, and reports the problem. Returns whether there was anything.
   */
  #keepKnown({ path, root }: ProblemPlace, error: unknown): boolean {
    if (!isPassing(error)) return false;
    this.#isPassing = true;
    const kept = this.#options.reader.keepBelow(path, root);
    for (const known of kept) this.#note(known.folder, known);
    // Without the real path, which could not be confirmed at the moment.
    const problem = { file: path, ...passingFault(error) };
    if (kept.length > 0) this.#report(problem, { path, root });
    return kept.length > 0;
  }

  /** Notes a problem. Whether it is reported depends on all that is found. */
  #report(problem: Problem, place: ProblemPlace): void {
    this.#problems.push({ problem, place });
  }

  /**
   * Checks a root.
   *
   * @throws {Error} If the root does not exist or cannot be searched.
   */
  *#enterRoot(root: SkillRoot): Steps<SkillFolder> {
    const { path, recursive } = root;
    // Usually, most roots do not exist, and each error takes a while.
    if (Deno.lstatSync(path).isSymlink) this.#recordTarget(path);
    yield;
    const realPath = Deno.realPathSync(path);
    const isConfined = this.#scopes.passesProjectLink(path);
    yield;
    const isJudged = isConfined || root.scope === "project";
    if (isJudged && !(yield* this.#isAllowed(realPath))) {
      const fault = isConfined ? LINK_OUT_OF_PROJECT : ROOT_OUT_OF_PROJECT;
      throw new SkillFileError(path, fault);
    }
    yield;
    if (!Deno.statSync(path).isDirectory) {
      throw new SkillFileError(path, ROOT_IS_A_FILE);
    }
    yield;
    const found = yield* findSkillFile(path);
    if (found && "error" in found) throw found.error;
    const scope = this.#scopes.scopeOf(realPath);
    const entry = join(realPathOf(dirname(path)), basename(path));
    const place = { path, realPath, root, scope, entry, isConfined };
    const top = { ...place, outer: undefined, depth: 0 };
    if (found && !recursive) {
      this.#report({ file: path, ...ROOT_IS_A_SKILL }, top);
    }
    return top;
  }

  /** Whether the links of a project are allowed to point to a real path. */
  *#isAllowed(realPath: string): Steps<boolean> {
    this.#allowedTargets ??= yield* this.#resolveTargets();
    return isAtOrBelowAny(realPath, this.#allowedTargets);
  }

  *#resolveTargets(): Steps<string[]> {
    const folders = new Set(this.#scopes.ownFolders);
    for (const { path, scope } of this.#roots) {
      yield;
      if (scope === "project" || this.#scopes.passesProjectLink(path)) continue;
      folders.add(path);
    }
    return [...yield* boundaries([...folders]), ...this.#trustLinks];
  }

  /** Records the target of a link, because something may appear or disappear there. */
  #recordTarget(link: string): void {
    this.#targets.add(resolve(dirname(link), Deno.readLinkSync(link)));
  }

  /**
   * Searches a root, breadth first.
   *
   * @throws {Error} If the root itself cannot be read.
   */
  async #search(top: SkillFolder): Promise<void> {
    const { path, realPath, root } = top;
    this.#folders.add(realPath);
    if (root.recursive) await this.#run(this.#findSkill(top));
    const queue = new Map([[realPath, top]]);
    let count = 0;
    for (const folder of queue.values()) {
      for (const entry of await this.#listFolder(folder)) {
        if (++count > MAX_SEARCHED_FOLDERS) {
          this.#report({ file: path, ...TOO_MANY_FOLDERS }, { path, root });
          this.decisions.closed.endEarly();
          return;
        }
        const child = await this.#run(this.#visit(entry, folder));
        const isSearched = child !== undefined && root.recursive &&
          child.depth < MAX_SEARCH_DEPTH && !queue.has(child.realPath);
        if (isSearched) queue.set(child.realPath, child);
      }
    }
  }

  /** Lists the folders and links in a folder, in the order of their names. */
  async #listFolder(folder: SkillFolder): Promise<Subfolder[]> {
    const { path, realPath, depth } = folder;
    try {
      const options = { versions: this.#versions, slice: this.#slice };
      return await listSubfolders(folder, options);
    } catch (error) {
      if (depth === 0) throw error;
      if (this.#keepKnown(folder, error)) return [];
      // A skill can be served even if its folder cannot be listed.
      const isSkill = this.#skills.has(realPath);
      if (!isAbsence(error) && !isSkill) {
        this.#report({ file: path, ...faultOf(error) }, folder);
      }
      return [];
    }
  }

  /**
   * Visits an entry of a folder, and notes the skill in it, if any. A failure is
   * reported and does not affect other entries.
   *
   * @returns The entry, if it is a folder.
   */
  *#visit(
    { name, isSymlink }: Subfolder,
    parent: SkillFolder,
  ): Steps<SkillFolder | undefined> {
    yield;
    const { root } = parent;
    if (root.recursive && UNSEARCHED_NAMES.has(name)) return undefined;
    const path = childPath(parent.path, name);
    const entry = parent.path === parent.realPath
      ? path
      : childPath(parent.realPath, name);
    const isConfined = parent.isConfined ||
      isSymlink && parent.scope === "project";
    const listed = { path, root, entry, isConfined, parent };
    try {
      if (name.includes("\ufffd") && !isListedName(path)) {
        throw new SkillFileError(path, NAME_IS_NOT_UTF_8);
      }
      const outer = this.#skillAround(parent);
      const realPath = isSymlink
        ? yield* this.#followLink(listed, outer)
        : entry;
      if (realPath === undefined) return undefined;
      // What lies in the project lies in it however deep.
      const scope = parent.scope === "project" && !isSymlink
        ? parent.scope
        : this.#scopes.scopeOf(realPath);
      const depth = parent.depth + 1;
      const folder = this.#options.reader.reuse(
        { path, realPath, root, scope, entry, isConfined, outer, depth },
      );
      this.#folders.add(folder.realPath);
      yield* this.#findSkill(folder);
      return folder;
    } catch (error) {
      if (this.#keepKnown(listed, error)) return undefined;
      this.#report({ file: path, ...faultOf(error) }, {
        ...listed,
        names: [name],
      });
      return undefined;
    }
  }

  /** Returns the real path of the skill that a searched folder is or lies in. */
  #skillAround({ realPath, root, outer }: SkillFolder): string | undefined {
    return root.recursive && this.#skills.has(realPath) ? realPath : outer;
  }

  /** Returns the real path of the target of a link, if it is a folder to search. */
  *#followLink(
    { path, root, isConfined }: Pick<
      SkillFolder,
      "path" | "root" | "isConfined"
    >,
    skill: string | undefined,
  ): Steps<string | undefined> {
    try {
      if (skill === undefined) this.#recordTarget(path);
      yield;
      const realPath = Deno.realPathSync(path);
      yield;
      if (skill !== undefined && !isOwn(realPath, skill, this.#trustLinks)) {
        return undefined;
      }
      if (!Deno.statSync(path).isDirectory) return undefined;
      yield;
      if (!isConfined || (yield* this.#isAllowed(realPath))) return realPath;
      // Report only links to skills.
      if ((yield* findSkillFile(path)) === undefined) return undefined;
    } catch (error) {
      // Below a recursive root, dangling links are common and harmless.
      if (isPassing(error) || !root.recursive) throw error;
      return undefined;
    }
    throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
  }

  /** Finds the skill in a folder, valid or not. */
  *#findSkill(folder: SkillFolder): Steps<void> {
    const known = this.#skills.get(folder.realPath);
    const read = known ?? (yield* this.#options.reader.read(folder));
    if (read !== undefined) this.#note(folder, read);
  }

  /** Notes the skill in a folder, valid or not, or another face of a known one. */
  #note(folder: SkillFolder, read: SkillOutcome): void {
    const { path, realPath, root } = folder;
    const { outcome, problems, linkedFolder, passingError } = read;
    this.decisions.addFace(folder);
    if (this.#skills.has(realPath)) return;
    this.#skills.set(realPath, read);
    if (linkedFolder !== undefined) this.#folders.add(linkedFolder);
    const { file } = outcome;
    if (passingError !== undefined) this.#isPassing = true;
    for (const problem of problems) this.#report(problem, folder);
    if (passingError !== undefined) {
      this.#report({ file, ...passingFault(passingError) }, { path, root });
    }
  }

  /**
   * Lists the problems, up to a limit per root, without problems of folders that
   * are off, and of files that were seen only while a folder on their path was
   * swapped for a link.
   */
  *#listProblems(): Steps<Problem[]> {
    const listed: Problem[] = [];
    const counts = new Map<SkillRoot, number>();
    for (const { problem, place } of this.#problems) {
      yield;
      if (this.decisions.isOff(place, place.names)) continue;
      const { root, parent: folder = place } = place;
      const count = counts.get(root) ?? 0;
      const isChecked = count < MAX_PROBLEMS;
      if (isChecked && !(yield* isSeen(problem.file, folder))) continue;
      counts.set(root, count + 1);
      if (isChecked) listed.push(problem);
    }
    for (const [{ path }, count] of counts) {
      const rest = count - MAX_PROBLEMS;
      if (rest > 0) listed.push({ file: path, ...moreProblems(rest) });
    }
    return listed;
  }
}

/**
 * Keeps the catalog of the skills in some roots current, and gives access to
 * their files.
 *
 * ```ts
 * import { SkillRegistry } from "@skill-server/skill-server";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * registry.onChange(({ keys }) => console.error("changed:", ...keys));
 * await registry.refresh();
 * registry.watch();
 * ```
 */
export class SkillRegistry implements SkillSource {
  readonly #scanner: SkillScanner;
  readonly #files: SkillFiles;
  readonly #tracker: FileTracker;
  readonly #options: SkillRegistryOptions;
  readonly #log: (line: string) => void;
  readonly #problemLog: ProblemLog;
  readonly #listeners = new Set<SkillChangeListener>();
  #last: ScanResult | undefined;
  /** The logged line about folders that cannot be watched. */
  #unwatched: string | undefined;
  readonly #scans = new SharedTask<SkillCatalog>();
  /** Whether the next scan must not trust the status of files. */
  #isThorough = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watcher: FolderWatcher | undefined;
  #isWatching = false;
  /** The scan whose folders are watched. */
  #watched: ScanResult | undefined;
  /** The next scan after one that could not read something for the moment. */
  #retry: ReturnType<typeof setTimeout> | undefined;
  /** The number of such scans in a row. */
  #retries = 0;
  #isClosed = false;

  /**
   * Creates a registry that is empty until its first {@linkcode refresh}.
   *
   * @param roots The roots, in search order.
   * @param options Limits, and how to keep the catalog current.
   */
  constructor(roots: readonly SkillRoot[], options: SkillRegistryOptions = {}) {
    this.#scanner = new SkillScanner(roots, options);
    this.#files = new SkillFiles(options);
    this.#tracker = new FileTracker(this.#files);
    this.#options = options;
    this.#log = options.log ?? log;
    this.#problemLog = new ProblemLog(this.#log);
  }

  /** The catalog of the last completed scan. */
  get catalog(): SkillCatalog {
    return this.#last?.catalog ?? EMPTY_CATALOG;
  }

  /**
   * Finds a skill by name, regardless of case, or by qualified name:
   * `global:git` and `project:git` are the first skills named `git` in their
   * scopes. Others have a different {@linkcode Skill.prefix}.
   */
  find(name: string): Skill | undefined {
    return findSkill(name, this.catalog);
  }

  /**
   * Finds the skill that a `skill://` URI refers to, and the path in the skill.
   * The path is `undefined` for the skill itself, and empty for the collection of
   * its files.
   */
  findResource(
    uri: string,
  ): { skill: Skill; path: string | undefined } | undefined {
    return findResource(uri, this.catalog);
  }

  /** Lists the files of a skill. See {@linkcode listSkillFiles}. */
  async listFiles(skill: Skill, viewer?: SkillViewer): Promise<SkillFile[]> {
    return (await this.#files.walk(skill, viewer)).files;
  }

  /**
   * Lists the files of a skill, and the entries that are not served, such as
   * links that point outside and files that are too large or too deep. Hidden
   * files are in neither list.
   *
   * @returns The files and the entries left out. The path of an entry is
   *   relative to the skill directory (empty for the directory itself), and
   *   ends with `/` if the entry is a folder that cannot be read.
   */
  async inspectFiles(
    skill: Skill,
    viewer?: SkillViewer,
  ): Promise<{ files: SkillFile[]; leftOut: Problem[] }> {
    const { files, leftOut } = await this.#files.walk(skill, viewer);
    return {
      files,
      leftOut: [...leftOut].map(([file, fault]) => ({ file, ...fault })),
    };
  }

  /**
   * Reads a file of a skill. See {@linkcode readSkillFile}.
   *
   * @param skill The skill.
   * @param file The path of the file relative to the skill directory, or the file
   *   as {@linkcode listFiles} has just listed it, which is faster.
   * @throws {SkillFileError} If it cannot be read.
   */
  readFile(
    skill: Skill,
    file: string | SkillFile,
    viewer?: SkillViewer,
  ): Promise<SkillFileContent> {
    return this.#files.read(skill, file, viewer);
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is cached until the file changes.
   *
   * @param skill The skill.
   * @param file The file, as {@linkcode listFiles} lists it.
   * @returns The digest (`sha256:` and 64 hexadecimal digits) and the size in
   *   bytes.
   * @throws {SkillFileError} If the file cannot be read.
   */
  digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    return this.#files.digest(skill, file);
  }

  /**
   * Scans the roots again. Only one scan runs at a time. Calls during a scan share
   * the next scan, because the running one may have missed the latest changes.
   *
   * @param options What the scan trusts, or what makes it needless.
   * @returns The catalog, once the scan is complete.
   * @throws {Error} If the policy is invalid.
   */
  refresh(
    { trust = "nothing" }: RefreshOptions = {},
  ): Promise<SkillCatalog> {
    if (trust === "watcher") return this.#refreshIfNeeded();
    if (trust === "nothing") this.#isThorough = true;
    return this.#scans.run(() => this.#scan());
  }

  async #refreshIfNeeded(): Promise<SkillCatalog> {
    if (await this.#isCurrent()) return this.catalog;
    return await this.refresh({ trust: "status" });
  }

  /** Whether the watcher and the listed folders show that the last scan is still valid. */
  async #isCurrent(): Promise<boolean> {
    const last = this.#watched;
    const isSame = () => last === this.#last && !this.#scans.isRunning;
    return isSame() && last !== undefined && !last.isPassing &&
      await this.#watcher!.isQuiet() &&
      await runInSlices(areUnchanged(last.versions)) && isSame();
  }

  /** Scans, though nobody waits for it. */
  readonly #rescan = () => this.#inBackground(() => this.refresh());

  /** Runs a task that nobody waits for, and logs its errors. */
  #inBackground(work: () => Promise<unknown>): void {
    work().catch((error) =>
      this.#log(`Cannot look for changes: ${(error as Error).message}`)
    );
  }

  /**
   * Applies another policy, or none, and refreshes the catalog. A
   * {@linkcode SkillRegistryOptions.policySource} would replace it.
   *
   * ```ts
   * import { SkillRegistry } from "@skill-server/skill-server";
   *
   * using registry = new SkillRegistry([
   *   { path: "testdata/skills", scope: "project", recursive: false },
   * ]);
   * await registry.setPolicy({ rules: [{ skill: "pdf", state: "off" }] });
   * if (registry.find("pdf") !== undefined) throw new Error("It is off");
   * ```
   *
   * @param policy The policy, or `undefined` for none. Do not change the object
   *   later.
   * @returns The new catalog.
   * @throws {Error} If the policy is invalid. The previous policy then stays in
   *   effect.
   */
  async setPolicy(policy: SkillPolicy | undefined): Promise<SkillCatalog> {
    await this.#scanner.setPolicy(policy);
    return await this.refresh();
  }

  /**
   * Describes the decisions of the policy, if there is one. Only this report
   * contains the skills that are off.
   */
  inspectPolicy(): SkillPolicyReport | undefined {
    return this.#scanner.inspectPolicy();
  }

  /**
   * Adds a listener that is called after each refresh that changed something
   * clients can see.
   *
   * @returns A function that removes the listener.
   */
  onChange(listener: SkillChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Tracks all files of a skill, so that listeners are notified when any of them
   * changes, not only its `SKILL.md`.
   *
   * @param key The {@linkcode skillKey} of the skill's name or qualified name, or
   *   `undefined` for all skills.
   * @returns A function that stops tracking. Every change after the promise is
   *   fulfilled is reported.
   */
  trackFiles(key: string | undefined): Promise<() => void> {
    return this.#tracker.track(key, () => this.refresh());
  }

  /** Starts keeping the catalog current with a timer and by watching the folders. */
  watch(): void {
    const { refreshSeconds = DEFAULT_REFRESH_SECONDS, watchFolders = true } =
      this.#options;
    if (this.#isClosed || this.#isWatching) return;
    this.#isWatching = true;
    if (refreshSeconds > 0) {
      this.#timer = setInterval(this.#rescan, refreshSeconds * 1000);
      Deno.unrefTimer(this.#timer);
    }
    if (watchFolders) {
      this.#watcher = new FolderWatcher(this.#rescan, this.#log);
      this.#inBackground(() => this.#watchFolders());
    }
  }

  /**
   * Stops keeping the catalog current, and removes all listeners. Closing the
   * registry again has no effect.
   */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    this.#watcher?.close();
    this.#listeners.clear();
  }

  /** Closes the registry at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #scan(): Promise<SkillCatalog> {
    const previous = this.catalog;
    const { policySource } = this.#options;
    if (policySource) await this.#scanner.setPolicy(policySource.load());
    const trustsStatus = !this.#isThorough;
    this.#isThorough = false;
    const result = await this.#scanner.scan(trustsStatus);
    const { catalog, closed } = result;
    this.#files.close(closed);
    const files = await this.#tracker.update(catalog);
    if (this.#isClosed) return previous;
    this.#last = result;
    this.#inBackground(() => this.#watchFolders());
    this.#scheduleRetry(result);
    this.#problemLog.update(catalog, result.unresolved);
    const change = { catalog, previous, ...changedSkills(catalog, previous) };
    if (change.keys.size + change.states.size + files.size > 0) {
      await this.#callListeners({ ...change, files });
    }
    return catalog;
  }

  /** Schedules another scan if something could not be read for the moment. */
  #scheduleRetry({ isPassing }: ScanResult): void {
    clearTimeout(this.#retry);
    this.#retries = isPassing ? this.#retries + 1 : 0;
    if (!isPassing || !this.#isWatching || this.#retries > MAX_RETRIES) return;
    this.#retry = setTimeout(this.#rescan, RETRY_MS);
    Deno.unrefTimer(this.#retry);
  }

  /** Updates the watched folders to those of the current catalog. */
  async #watchFolders(): Promise<void> {
    const last = this.#last;
    if (this.#watcher === undefined || last === undefined) return;
    const { catalog, folders, linkTargets } = last;
    const { policySource } = this.#options;
    const watched = await listWatchedFolders(folders, {
      folders: this.#tracker.folders,
      roots: catalog.roots.map(({ root }) => root.path),
      linkTargets,
      files: policySource === undefined ? [] : [policySource.file],
    });
    // Another scan may have ended in the meantime.
    if (last !== this.#last) return;
    this.#watcher.update(watched);
    this.#watched = last;
    const line = describeUnwatched(folders);
    if (line !== undefined && line !== this.#unwatched) this.#log(line);
    this.#unwatched = line;
  }

  /** Calls the listeners one after the other, so that they can pause. */
  async #callListeners(change: SkillChange): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener(change);
      } catch (error) {
        this.#log(`Cannot handle a change: ${(error as Error).message}`);
      }
    }
  }
}

/**
 * Registers the tools of a toolset on a server of the MCP SDK. Their descriptions
 * reflect the current catalog, and the client is notified when they change. Tools
 * that the server has already stay, and these join them.
 *
 * ```ts ignore
 * import process from "node:process";
 * import { registerSkillTools, SkillRegistry } from "@skill-server/skill-server";
 * import { McpServer } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp.js";
 * import { StdioServerTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/stdio.js";
 *
 * const server = new McpServer({ name: "my-server", version: "1.0.0" });
 * server.registerTool(
 *   "time",
 *   { description: "Return the current time" },
 *   () => ({ content: [{ type: "text", text: new Date().toISOString() }] }),
 * );
 *
 * const registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * await registry.refresh();
 * registry.watch();
 * registerSkillTools(server, registry, { toolset: "skill" });
 * await server.connect(new StdioServerTransport());
 * // Ends with its client, which the SDK's transport does not notice.
 * process.stdin.once("end", () => registry.close());
 * ```
 *
 * @param server An `McpServer`, or a `Server` with the capability `tools`. It has
 *   its own tools already, or at least one of them, and is not connected yet.
 * @param registry The registry of the skills.
 * @param options The toolset and its settings.
 * @throws {TypeError} If the server is not one of the SDK's.
 */
export function registerSkillTools(
  server: SkillToolServer | { readonly server: SkillToolServer },
  registry: SkillRegistry,
  options: SkillToolOptions,
): void {
  const names = new Set(listTools(options).map(({ name }) => name));
  registerTools(joinTools(server, names), registry, options);
}

if (import.meta.main) {
  // Not awaited, because skill_server.ts imports this module, which must finish first.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
