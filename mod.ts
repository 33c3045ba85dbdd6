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
 * deno run --no-config --allow-read --allow-env jsr:@skill-server/skill-server
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
 *   { path: "testdata/skills", scope: "global", recursive: false },
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

import { isAbsence, isTemporary, SkillFileError } from "./src/files/faults.ts";
import { isInside } from "./src/files/folder_rules.ts";
import {
  childPath,
  currentFolder,
  isAtOrBelowAny,
  realPathOf,
  resolveFolder,
} from "./src/files/paths.ts";
import { isUnsettledAbove, sha256 } from "./src/files/reading.ts";
import { Rescans } from "./src/files/rescans.ts";
import { KnownFiles, ServedFolder } from "./src/files/served_folder.ts";
import {
  differingKeys,
  EMPTY_CATALOG,
  logProblems,
  nameSkills,
} from "./src/skills/catalog.ts";
import {
  decideSkills,
  type Decisions,
  listWatchedFolders,
  subjectOf,
} from "./src/skills/decisions.ts";
import {
  LINK_OUT_OF_PROJECT,
  LINK_OUT_OF_ROOTS,
  ROOT_IS_A_FILE,
  skillFaultOf,
  tooManyFolders,
} from "./src/skills/faults.ts";
import { findSkill, SKILL_MD } from "./src/skills/names.ts";
import { Policy } from "./src/skills/policy.ts";
import {
  byOwner,
  DEFAULT_REFRESH_SECONDS,
  Project,
} from "./src/skills/roots.ts";
import {
  createFailure,
  type Failure,
  type FolderListing,
  isSkillFolder,
  listFolder,
  MAX_SEARCH_DEPTH,
  type Reading,
  readSkills,
  type RootVisit,
  UNSEARCHED_NAMES,
  type VisitedFolder,
} from "./src/skills/skill_reader.ts";
import type {
  Fault,
  Problem,
  ScanListener,
  ScanOptions,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillFiles,
  SkillFilesOptions,
  SkillPolicyRule,
  SkillRegistryOptions,
  SkillRoot,
  SkillSource,
  SkillViewer,
} from "./src/skills/types.ts";
import { log } from "./src/text.ts";
import { SharedTask, TimeSlice, wait } from "./src/time_slice.ts";
import type { SkillToolOptions } from "./src/views/options.ts";
import { registerTools, type SkillToolServer } from "./src/views/tools.ts";

export { parseSkillMd } from "./src/skills/frontmatter.ts";
export { SkillFileError } from "./src/files/faults.ts";
export { parseSkillUri, skillUri } from "./src/skills/names.ts";
export {
  DEFAULT_REFRESH_SECONDS,
  resolveSkillRoots,
} from "./src/skills/roots.ts";
export type { SkillToolOptions, Toolset } from "./src/views/options.ts";
export type {
  ProgramToolServer,
  SdkToolServer,
  SkillToolServer,
} from "./src/views/tools.ts";
export type * from "./src/skills/types.ts";

/**
 * Searches the roots for skills, once.
 *
 * Among skills with the same name, the first one that is not off is served under it, in
 * the order of the roots, and then of the names of their folders by code units. But a
 * project's skill that the model may not load takes no name from a user's skill that it
 * may. A problem with one skill or folder neither throws an error nor affects others. Up
 * to 1,000 problems are in {@linkcode SkillCatalog.problems}.
 *
 * ```ts
 * import { scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills, problems } = await scanSkillRoots([
 *   { path: "testdata/invalid", scope: "global", recursive: false },
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
 */
export async function scanSkillRoots(
  roots: readonly SkillRoot[],
  options: ScanOptions = {},
): Promise<SkillCatalog> {
  using registry = new SkillRegistry(roots, { ...options, log: () => {} });
  return await registry.refresh();
}

/** The maximum number of folders and links that are visited below one root. */
const MAX_FOLDERS = 50_000;

/** The maximum in the default roots of a project, which may be a stranger's. */
const MAX_PROJECT_FOLDERS = 1_000;

/** A folder whose entries are visited. */
interface SearchedFolder extends VisitedFolder {
  readonly listing: FolderListing;
  /** How many levels it is below the root. */
  readonly depth: number;
  /** Whether a link that lies in the project is on the path. */
  readonly hasProjectLink: boolean;
  /** The real path of the skill that it is, or that contains it. */
  readonly skill: string | undefined;
}

/** An entry of a folder. If it is a link, its real path is the one where it leads. */
type FolderEntry = Pick<
  SearchedFolder,
  "path" | "realPath" | "parentListing" | "isExposed" | "hasProjectLink"
>;

/** How roots are visited. */
interface VisitOptions {
  readonly project: Project;
  /** The real paths of folders that all links are allowed to point into. */
  readonly trusted: readonly string[];
  /** Those that the links of a project are allowed to point into. */
  readonly targets: readonly string[];
  /** Those that the links in a root that confines them are allowed to point into. */
  readonly rootTargets: readonly string[];
}

/** Visits a root: finds the folders in it that may be skills. */
class RootSearch {
  readonly #root: SkillRoot;
  readonly #options: VisitOptions;
  readonly #slice: TimeSlice;
  readonly #folders: VisitedFolder[] = [];
  readonly #failures: Failure[] = [];

  constructor(root: SkillRoot, options: VisitOptions, slice: TimeSlice) {
    this.#root = root;
    this.#options = options;
    this.#slice = slice;
  }

  async run(): Promise<RootVisit> {
    const root = this.#root;
    try {
      const top = this.#enterRoot();
      await this.#search(top);
      const { realPath } = top;
      const scope = this.#options.project.scopeOf(realPath);
      return {
        report: { root, scope, status: "found", realPath, skills: 0 },
        folders: this.#folders,
        abandoned: [],
        failures: this.#failures,
      };
    } catch (error) {
      return this.#refuse(error);
    }
  }

  /** Describes a root that cannot be searched. It lists nothing, not even what was found. */
  #refuse(error: unknown): RootVisit {
    const root = this.#root;
    const { path, scope } = root;
    const abandoned = this.#folders.map(({ realPath }) => realPath);
    // Below a file, there is nothing either.
    const isMissing = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotADirectory;
    if (isMissing) {
      const report = { root, scope, status: "missing", skills: 0 } as const;
      return { report, folders: [], abandoned, failures: this.#failures };
    }
    const failure = createFailure(error, path, root);
    const { problem } = failure;
    return {
      report: { root, scope, status: "refused", skills: 0, problem },
      folders: [],
      abandoned,
      failures: [...this.#failures, failure],
    };
  }

  /**
   * Checks and lists the root.
   *
   * @throws {Error} If it does not exist or cannot be searched.
   */
  #enterRoot(): SearchedFolder {
    const { path, scope, recursive, includesItself = recursive } = this.#root;
    const { project, targets } = this.#options;
    const realPath = Deno.realPathSync(path);
    const hasProjectLink = project.hasLinkOn(path, realPath);
    if (hasProjectLink && !isAtOrBelowAny(realPath, targets)) {
      throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
    }
    if (!Deno.statSync(path).isDirectory) {
      throw new SkillFileError(path, ROOT_IS_A_FILE);
    }
    // Other users may be able to write to the folder of a project.
    const isExposed = scope === "project" && isUnsettledAbove(path);
    const entry = {
      path,
      realPath,
      hasProjectLink,
      isExposed,
      parentListing: undefined,
    };
    const visited = this.#toVisited(entry);
    const listing = listFolder(entry);
    if (includesItself) this.#folders.push(visited);
    const skill = includesItself && listing.isSkill ? realPath : undefined;
    return { ...visited, listing, hasProjectLink, depth: 0, skill };
  }

  /** Describes an entry as a folder that this root lists. */
  #toVisited(
    { path, realPath, parentListing, isExposed, hasProjectLink }: FolderEntry,
  ): VisitedFolder {
    const departs = hasProjectLink &&
      this.#options.project.scopeOf(realPath) !== "project";
    return {
      path,
      realPath,
      parentListing,
      isExposed,
      root: this.#root,
      departs,
    };
  }

  /**
   * Searches the root, breadth first.
   *
   * @throws {Error} If it has too many folders.
   */
  async #search(top: SearchedFolder): Promise<void> {
    const { path, recursive, scope } = this.#root;
    // The search appends the folders that it is to look into.
    const queue = [top];
    const seen = new Set([top.realPath]);
    const limit = scope === "project" ? MAX_PROJECT_FOLDERS : MAX_FOLDERS;
    let count = 0;
    for (const folder of queue) {
      for (const name of folder.listing.names) {
        if (this.#slice.isOver) await this.#slice.pause();
        count++;
        if (count > limit) {
          throw new SkillFileError(path, tooManyFolders(limit));
        }
        if (recursive && UNSEARCHED_NAMES.has(name)) continue;
        const child = this.#visit(name, folder, seen);
        if (child !== undefined) queue.push(child);
      }
    }
  }

  /**
   * Visits an entry of a folder, and notes it if it may be a skill. Returns it if it is to
   * be searched. A failure is noted, too, and does not affect other entries.
   */
  #visit(
    name: string,
    folder: SearchedFolder,
    seen: Set<string>,
  ): SearchedFolder | undefined {
    const isLink = folder.listing.links.has(name);
    const path = childPath(folder.path, name);
    try {
      const entry = isLink
        ? this.#followLink(path, name, folder)
        : describeFolder(path, name, folder);
      if (entry !== undefined) return this.#enter(entry, folder, seen);
    } catch (error) {
      if (!this.#isHarmless(error, isLink)) {
        this.#failures.push(createFailure(error, path, this.#root));
      }
    }
    return undefined;
  }

  /** Whether an error is common below a recursive root: a link to what is missing or denied. */
  #isHarmless(error: unknown, isLink: boolean): boolean {
    const isOfSystem = !(error instanceof SkillFileError) &&
      !isTemporary(error);
    return this.#root.recursive && (isAbsence(error) || isLink && isOfSystem);
  }

  /** Notes a folder if it may be a skill. Returns it if it is to be searched. */
  #enter(
    entry: FolderEntry,
    parent: SearchedFolder,
    seen: Set<string>,
  ): SearchedFolder | undefined {
    const { realPath, hasProjectLink } = entry;
    const visited = this.#toVisited(entry);
    const depth = parent.depth + 1;
    const isSearched = this.#root.recursive && depth < MAX_SEARCH_DEPTH &&
      !seen.has(realPath);
    if (!isSearched) {
      this.#folders.push(visited);
      return undefined;
    }
    const listing = listFolder(entry);
    seen.add(realPath);
    if (listing.isSkill) this.#folders.push(visited);
    const skill = listing.isSkill ? realPath : parent.skill;
    return { ...visited, listing, depth, hasProjectLink, skill };
  }

  /**
   * Follows a link to a folder. Returns `undefined` if it does not count.
   *
   * @throws {SkillFileError} If it leads to a skill where it may not.
   */
  #followLink(
    path: string,
    name: string,
    folder: SearchedFolder,
  ): FolderEntry | undefined {
    const { project, trusted } = this.#options;
    const { skill, isExposed } = folder;
    const hasProjectLink = folder.hasProjectLink ||
      project.scopeOf(childPath(folder.realPath, name)) === "project";
    const realPath = Deno.realPathSync(path);
    const isForeign = skill !== undefined &&
      !isInside(realPath, { realDirectory: skill, trusted });
    if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
    const fault = this.#findLinkFault(realPath, hasProjectLink);
    if (fault !== undefined) {
      if (!isSkillFolder(path)) return undefined;
      throw new SkillFileError(path, fault);
    }
    return {
      path,
      realPath,
      parentListing: undefined,
      isExposed,
      hasProjectLink,
    };
  }

  /** Says why a link may not lead where it does, if it may not. */
  #findLinkFault(realPath: string, hasProjectLink: boolean): Fault | undefined {
    const { targets, rootTargets } = this.#options;
    const { confinesLinks } = this.#root;
    if (confinesLinks && !isAtOrBelowAny(realPath, rootTargets)) {
      return LINK_OUT_OF_ROOTS;
    }
    return hasProjectLink && !isAtOrBelowAny(realPath, targets)
      ? LINK_OUT_OF_PROJECT
      : undefined;
  }
}

/** Describes an entry of a folder that is a folder, and no link. */
function describeFolder(
  path: string,
  name: string,
  folder: SearchedFolder,
): FolderEntry {
  const { listing: parentListing, isExposed, hasProjectLink } = folder;
  // The paths are often the same, and then one string is enough.
  const realPath = folder.realPath === folder.path
    ? path
    : childPath(folder.realPath, name);
  return { path, realPath, parentListing, isExposed, hasProjectLink };
}

/** Visits all roots, the user's own first. Returns the visits in the order of the roots. */
async function visitRoots(
  roots: readonly SkillRoot[],
  options: VisitOptions,
  slice: TimeSlice,
): Promise<RootVisit[]> {
  const visits = new Map<SkillRoot, RootVisit>();
  for (const root of roots.toSorted(byOwner)) {
    visits.set(root, await new RootSearch(root, options, slice).run());
  }
  return roots.map((root) => visits.get(root)!);
}

/** The result of a scan. */
interface ScanResult {
  /** The skills that were found. It is the previous catalog if nothing changed. */
  readonly catalog: SkillCatalog;
  readonly reading: Reading;
  readonly decisions: Decisions;
  /** The real paths of folders that all links are allowed to point into. */
  readonly trusted: readonly string[];
  /** Why the scan does not count: what is temporarily unreadable in the user's roots. */
  readonly trouble: string | undefined;
}

/** What a scan starts from. */
interface ScanStart {
  readonly options: ScanOptions;
  readonly policy: Policy;
  readonly project: Project;
  readonly policyProblems: readonly Problem[];
  readonly last: ScanResult | undefined;
}

/** Scans the roots, in four steps. */
async function scan(
  roots: readonly SkillRoot[],
  { options, policy, project, policyProblems, last }: ScanStart,
): Promise<ScanResult> {
  const { maxFileSize, trustLinks = [] } = options;
  const { catalog: previous = EMPTY_CATALOG, reading: known } = last ?? {};
  const trusted = project.resolveAll(trustLinks);
  const targets = [...project.listTargets(roots), ...trusted];
  const rootTargets = roots.filter(({ confinesLinks }) => confinesLinks)
    .map(({ path }) => realPathOf(path)).concat(trusted);
  const visitOptions = { project, trusted, targets, rootTargets };
  const readOptions = { maxFileSize, trusted, last: known?.skills };
  const slice = new TimeSlice();

  const visits = await visitRoots(roots, visitOptions, slice);
  const reading = await readSkills(visits, readOptions, slice);
  const decisions = await decideSkills(
    { visits, reading, policy, project },
    slice,
  );
  const catalog = nameSkills({ visits, decisions, policyProblems }, previous);

  const trouble = findTrouble(visits, reading);
  return { catalog, reading, decisions, trusted, trouble };
}

/** Says what is temporarily unreadable in the user's own roots, if anything is. */
function findTrouble(
  visits: readonly RootVisit[],
  reading: Reading,
): string | undefined {
  const failures = [
    ...visits.flatMap((visit) => visit.failures),
    ...reading.failures,
  ];
  const trouble = failures
    .find((failure) => failure.isTemporary && failure.root.scope !== "project");
  return trouble && `${trouble.problem.file}: ${trouble.problem.reason}`;
}

/** The options of a registry, some of them with their defaults. */
type RegistryOptions =
  & SkillRegistryOptions
  & Required<
    Pick<SkillRegistryOptions, "refreshSeconds" | "watchFolders" | "log">
  >;

/** The maximum number of remembered digests. */
const MAX_DIGESTS = 100_000;

/** Scans in a row that do not count. The next one does. */
const MAX_VOID_SCANS = 4;

/**
 * Keeps the catalog of the skills in some roots current, and gives access to
 * their files.
 */
export class SkillRegistry implements SkillSource {
  readonly #roots: readonly SkillRoot[];
  readonly #policy: Policy;
  /** Digests of files, by version and path. */
  readonly #digests = new Map<string, string>();
  readonly #known = new KnownFiles();
  readonly #options: RegistryOptions;
  /** The lines about problems that were logged and still exist. */
  #logged: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<SkillChangeListener>();
  readonly #scanListeners = new Set<ScanListener>();
  /** The real paths of the folders that the listeners for scans asked to watch. */
  #subscribed: string[] = [];
  readonly #scans = new SharedTask<SkillCatalog>();
  #last: ScanResult | undefined;
  /** When the last scan started, in milliseconds. */
  #scanStart = -Infinity;
  /** The number of scans in a row that did not count. */
  #voidScans = 0;
  readonly #rescans: Rescans;
  #isClosed = false;

  /**
   * Creates a registry that is empty until its first {@linkcode refresh}.
   *
   * @param roots The roots, in search order. Relative paths start in the working directory.
   * @param options Limits, and how to keep the catalog current.
   * @throws {TypeError} If a rule of the policy has an unknown state.
   */
  constructor(roots: readonly SkillRoot[], options: SkillRegistryOptions = {}) {
    this.#options = {
      ...options,
      workingDirectory: options.workingDirectory ?? currentFolder(),
      refreshSeconds: options.refreshSeconds ?? DEFAULT_REFRESH_SECONDS,
      watchFolders: options.watchFolders ?? true,
      log: options.log ?? log,
    };
    this.#roots = roots.map((root) => ({
      ...root,
      path: resolveFolder(root.path, this.#options),
    }));
    this.#policy = new Policy(this.#options);
    this.#rescans = new Rescans(() => this.#rescan(), this.#options);
  }

  /** The catalog of the last scan. */
  get catalog(): SkillCatalog {
    return this.#last?.catalog ?? EMPTY_CATALOG;
  }

  /**
   * Finds a skill by name, regardless of case, or by qualified name:
   * `global:git` and `project:git` are the first skills named `git` in their
   * scopes.
   */
  find(name: string): Skill | undefined {
    return findSkill(name, this.catalog);
  }

  /**
   * Lists the files of a skill, with those of nested skills. Names that begin with a
   * dot, `node_modules`, `__pycache__`, and what really lies outside the skill and the
   * trusted folders do not belong to it. The listing ends after 10 levels and 20,000
   * entries.
   */
  async listFiles(
    skill: Skill,
    options: SkillFilesOptions = {},
  ): Promise<SkillFiles> {
    return await this.#open(skill, options).list(options.maxEntries);
  }

  /**
   * Reads the current content of a file of a skill.
   *
   * @param skill The skill.
   * @param path The path relative to the skill directory, with `/` as the separator.
   * @throws {SkillFileError} If the file does not exist, does not belong to the
   *   skill, is not a regular file, is too large, or cannot be read.
   */
  async readFile(
    skill: Skill,
    path: string,
    viewer?: SkillViewer,
  ): Promise<SkillFileContent> {
    return await this.#open(skill, viewer).read(path);
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is remembered until the file changes.
   *
   * @returns The digest (`sha256:` and 64 hexadecimal digits) and the size in
   *   bytes.
   * @throws {SkillFileError} If the file cannot be read.
   */
  async digest(
    skill: Skill,
    { path, version, size }: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    // The path is part of the key because a number cannot represent every inode exactly.
    const keyOf = (fileVersion: string) =>
      `${fileVersion}:${skill.realDirectory}:${path}`;
    const known = this.#digests.get(keyOf(version));
    if (known !== undefined) return { digest: known, size };
    const read = await this.#open(skill).read(path);
    const digest = sha256(read.bytes);
    if (this.#digests.size >= MAX_DIGESTS) this.#digests.clear();
    if (read.isSettled) this.#digests.set(keyOf(read.version), digest);
    return { digest, size: read.size };
  }

  /** Opens the folder of a skill for someone. */
  #open(skill: Skill, viewer: SkillViewer = {}): ServedFolder {
    const { directory, realDirectory, file } = skill;
    const { decisions, trusted = [] } = this.#last ?? {};
    return new ServedFolder({
      directory,
      realDirectory,
      alias: { file, name: SKILL_MD },
      trusted,
      isHidden: (realPath) =>
        decisions?.hidden.has(realPath, skill, viewer) === true,
      maxFileSize: this.#options.maxFileSize,
      faultOf: skillFaultOf,
    }, this.#known);
  }

  /** Lists the rules of the policy that match nothing of what the last scan found. */
  listUnusedRules(): SkillPolicyRule[] {
    const { skills = [] } = this.#last?.decisions ?? {};
    return this.#policy.listUnused(skills.map(subjectOf));
  }

  /**
   * Scans the roots again. Only one scan runs at a time. Calls during a scan share
   * the next scan, because the running one may have missed the latest changes.
   *
   * @param options The minimum time from the start of the last scan to the start of
   *   this one, in milliseconds.
   * @returns The catalog, once the scan is complete.
   * @throws {Error} If the registry is closed. Calls under way are still answered.
   */
  async refresh(
    { minIntervalMs = 0 }: { minIntervalMs?: number } = {},
  ): Promise<SkillCatalog> {
    if (this.#isClosed) {
      throw new Error(
        "Cannot scan the skills: the registry is closed; create another one",
      );
    }
    const delay = this.#scanStart + minIntervalMs - performance.now();
    if (delay > 0) await wait(delay);
    return await this.#scans.run(() => this.#scan());
  }

  /**
   * Adds a listener that is called after each refresh that changed something
   * clients can see. Returns a function that removes it.
   */
  onChange(listener: SkillChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Adds a listener that is called after each scan, whether or not anything changed.
   * It returns the real paths of folders to watch before those of other skills.
   */
  onScan(listener: ScanListener): void {
    this.#scanListeners.add(listener);
  }

  /** Starts keeping the catalog current with a timer and by watching the folders. */
  watch(): void {
    this.#rescans.start();
    this.#watchFolders();
  }

  /** Stops keeping the catalog current, and removes all listeners. */
  close(): void {
    this.#isClosed = true;
    this.#rescans.close();
    this.#listeners.clear();
    this.#scanListeners.clear();
  }

  /** Closes the registry at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #scan(): Promise<SkillCatalog> {
    const previous = this.catalog;
    this.#scanStart = performance.now();
    const project = new Project(this.#options);
    const policyProblems = await this.#policy.load(project);
    const result = await scan(this.#policy.isUsable ? this.#roots : [], {
      options: this.#options,
      policy: this.#policy,
      project,
      policyProblems,
      last: this.#last,
    });
    const time = performance.now() - this.#scanStart;
    this.#rescans.schedule(time, result.trouble !== undefined);
    if (this.#isClosed || !this.#accept(result)) return previous;
    this.#last = result;
    const { catalog } = result;
    this.#logged = logProblems(catalog, {
      logged: this.#logged,
      log: this.#options.log,
    });
    this.#subscribed = [];
    for (const listener of this.#scanListeners) {
      this.#subscribed.push(...await listener(catalog));
    }
    this.#watchFolders();
    if (catalog.served !== previous.served) {
      const keys = differingKeys(catalog.served, previous.served);
      await this.#callListeners({ catalog, previous, keys });
    }
    return catalog;
  }

  /**
   * Decides whether a scan counts although something may be temporarily unreadable: the
   * first scan does, and so does the fifth such scan in a row.
   */
  #accept({ trouble }: ScanResult): boolean {
    if (trouble === undefined) {
      this.#voidScans = 0;
      return true;
    }
    const isFirst = this.#last === undefined;
    if (isFirst || this.#voidScans === MAX_VOID_SCANS) return true;
    if (this.#voidScans === 0) {
      this.#options.log(
        `Cannot read ${trouble}; the skills stay as they were, and the next attempt follows in a second`,
      );
    }
    this.#voidScans++;
    return false;
  }

  /** Scans, though nobody waits for it. */
  #rescan(): void {
    this.refresh().catch((error) => {
      this.#options.log(`Cannot look for changes: ${(error as Error).message}`);
      this.#rescans.schedule(0, true);
    });
  }

  /** Updates the watched folders to those of the last scan. */
  #watchFolders(): void {
    if (this.#last === undefined) return;
    const { catalog: { roots }, decisions: { skills } } = this.#last;
    this.#rescans.watch(() =>
      listWatchedFolders(skills, {
        roots,
        policyFile: this.#policy.file,
        subscribed: this.#subscribed,
      })
    );
  }

  /** Calls the listeners one after the other, so that they can pause. */
  async #callListeners(change: SkillChange): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener(change);
      } catch (error) {
        this.#options.log(
          `Cannot handle a change: ${(error as Error).message}`,
        );
      }
    }
  }
}

/**
 * Registers the tools of a toolset on an `McpServer` of the MCP SDK. The program registers
 * them on its own servers in the same way. Their descriptions
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
 *   { path: "testdata/skills", scope: "global", recursive: false },
 * ]);
 * await registry.refresh();
 * registry.watch();
 * registerSkillTools(server, registry);
 * await server.connect(new StdioServerTransport());
 * // Ends with its client, which the SDK's transport does not notice.
 * process.stdin.once("end", () => registry.close());
 * ```
 *
 * @param server An `McpServer` that is not connected yet.
 * @param registry The registry of the skills.
 * @param options The toolset and its settings. Default: the toolset `skill`.
 * @throws {TypeError} If the server is no `McpServer`.
 * @throws {Error} If the server has a tool of the same name already.
 */
export function registerSkillTools(
  server: SkillToolServer,
  registry: SkillRegistry,
  options: SkillToolOptions = { toolset: "skill" },
): void {
  registerTools(server, registry, options);
}

if (import.meta.main) {
  // Not awaited, because skill_server.ts imports this module, which must finish first.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
