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
 * The scanner, the registry, and the tools can be used on their own, in Deno.
 *
 * ```ts
 * import { SkillRegistry } from "@skill-server/skill-server";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "global" },
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

import * as z from "npm:zod@^4/mini";
import { Boundary } from "./src/fs/boundary.ts";
import { isAbsence, isTemporary, SkillFileError } from "./src/fs/faults.ts";
import { KnownFiles } from "./src/fs/known_files.ts";
import {
  basename,
  childPath,
  currentFolder,
  isThere,
  resolvePath,
} from "./src/fs/paths.ts";
import { Rescans } from "./src/fs/rescans.ts";
import { ServedFolder } from "./src/fs/served_folder.ts";
import { type FolderSnapshot, isExposed } from "./src/fs/snapshot.ts";
import { walk, type WalkSteps } from "./src/fs/walker.ts";
import { Policy } from "./src/policy/policy.ts";
import {
  decideSkills,
  type Decisions,
  listWatchedFolders,
  subjectOf,
} from "./src/scan/decide.ts";
import { nameSkills } from "./src/scan/name.ts";
import { readSkills } from "./src/scan/read.ts";
import {
  createFailure,
  type Failure,
  findTrouble,
  isInGroup,
  type Reading,
  type RootVisit,
  type ScanStart,
  toRefusedVisit,
  TroubledScans,
  type VisitedFolder,
} from "./src/scan/record.ts";
import {
  differingKeys,
  EMPTY_CATALOG,
  logDiagnostics,
} from "./src/skills/catalog.ts";
import { findSkill, SKILL_MD } from "./src/skills/names.ts";
import {
  NAME_IS_NOT_UTF_8,
  ROOT_IS_A_FILE,
  skillFaultOf,
  tooManyFolders,
} from "./src/skills/root_faults.ts";
import {
  byOwner,
  DEFAULT_REFRESH_SECONDS,
  LinkRules,
  MAX_FOLDERS,
  MAX_SEARCH_DEPTH,
  mayBeGroup,
  Project,
  UNSEARCHED_NAMES,
} from "./src/skills/roots.ts";
import {
  findSkillFile,
  type FoundFile,
  isSkillFileName,
  isSkillFolder,
} from "./src/skills/skill_file.ts";
import type {
  BaseFolders,
  Diagnostic,
  ReportedDiagnostic,
  ScanOptions,
  ScanSubscriber,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillFiles,
  SkillFilesOptions,
  SkillRegistryOptions,
  SkillRoot,
  SkillSource,
  SkillViewer,
} from "./src/skills/types.ts";
import { SharedTask, TimeSlice, wait } from "./src/tasks.ts";
import { isObject, log } from "./src/text.ts";
import type { SkillToolOptions } from "./src/mcp/options.ts";
import { profileFor } from "./src/mcp/clients.ts";
import { callTool, toEntry } from "./src/mcp/tools.ts";
import type { SkillTool } from "./src/mcp/toolsets/tool.ts";
import { listTools } from "./src/mcp/toolsets/toolsets.ts";

export { parseSkillMd } from "./src/skills/skill_md.ts";
export { SkillFileError } from "./src/fs/faults.ts";
export { RULES } from "./src/diagnostics.ts";
export { parseSkillUri, skillUri } from "./src/skills/names.ts";
export { resolveSkillRoots } from "./src/skills/roots.ts";
export type { SkillToolOptions, Toolset } from "./src/mcp/options.ts";
export type * from "./src/skills/types.ts";

/**
 * Searches the roots for skills, once.
 *
 * Among skills with the same name, the first one that is not off is served under it, in
 * the order of the roots. In a root, skills in folders of their names come first, and then
 * the order is that of the names of the folders, by code units. But a project's skill
 * that the model cannot load never takes the name of a user's skill that the model can
 * load.
 *
 * A problem with one skill or folder neither throws an error nor affects others. The first
 * 1,000 diagnostics are in {@linkcode SkillCatalog.diagnostics}.
 *
 * @param roots The roots, in search order.
 * @param options Limits, the policy, and the allowed targets of links.
 * @returns The catalog.
 * @throws {Error} If a root, or the file of the policy, is relative to an unknown folder.
 * @throws {TypeError} If a rule of the policy has an unknown state.
 */
export async function scanSkillRoots(
  roots: readonly SkillRoot[],
  options: ScanOptions = {},
): Promise<SkillCatalog> {
  using registry = new SkillRegistry(roots, { ...options, log: () => {} });
  return await registry.refresh();
}

/**
 * Does what `--check` does, and returns what is wrong, by file and line. {@linkcode RULES}
 * says what follows from each problem.
 *
 * @param folders Folders, files or names of skills. Default: what the program searches.
 * @param options Limits, the policy, and the allowed targets of links.
 * @throws {Error} If a folder is relative to an unknown folder.
 */
export async function checkSkills(
  folders: readonly string[] = [],
  options: Omit<ScanOptions, keyof BaseFolders> = {},
): Promise<ReportedDiagnostic[]> {
  const { createSettings } = await import("./src/program/settings.ts");
  const { createReport } = await import("./src/cli/report.ts");
  const command = { values: { check: true }, positionals: [...folders] };
  const settings = createSettings(command);
  const given = { ...settings, options: { ...settings.options, ...options } };
  const { diagnostics } = await createReport(
    given,
    ({ roots, options }, rest) =>
      new SkillRegistry(roots, { ...options, ...rest }),
  );
  return diagnostics;
}

interface SearchedFolder extends VisitedFolder {
  /**
   * The real path of the skill around it, if there is one. A walk lists each folder before
   * those in it, so that this is known when a folder is found.
   */
  readonly outer: string | undefined;
}

/** Visits a root: finds the folders in it that may be skills. */
class RootSearch implements WalkSteps<SearchedFolder> {
  readonly maxEntries: number;
  readonly isShared: boolean;
  readonly #root: SkillRoot;
  readonly #project: Project;
  readonly #links: LinkRules;
  readonly #maxDepth: number;
  readonly #slice: TimeSlice;
  readonly #folders: VisitedFolder[] = [];
  readonly #failures: Failure[] = [];
  readonly #unread: string[] = [];
  readonly #unsearched: string[] = [];
  /** The `SKILL.md` of each folder that would otherwise be a group. */
  readonly #files = new Map<SearchedFolder, FoundFile>();
  readonly #isRoot: (realPath: string) => boolean;
  readonly #listed = new Set<string>();
  /** The real paths of the listed folders that have a `SKILL.md`. */
  readonly #skills = new Set<string>();

  constructor(
    root: SkillRoot,
    { project, roots, slice }: ScanStart,
    isRoot: (realPath: string) => boolean,
  ) {
    this.#root = root;
    this.#slice = slice;
    this.#project = project;
    this.#links = new LinkRules(root, { project, roots });
    this.#maxDepth = root.recursive ? MAX_SEARCH_DEPTH : 2;
    this.#isRoot = isRoot;
    this.maxEntries = MAX_FOLDERS[root.scope];
    this.isShared = root.scope === "project";
  }

  async run(): Promise<RootVisit> {
    const root = this.#root;
    try {
      const top = this.#enterRoot();
      const end = await walk(top, this, this.#slice);
      if (end !== undefined) this.#reportLimit();
      const { realPath } = top;
      return {
        report: {
          root,
          scope: this.#project.scopeOf(realPath),
          status: "found",
          realPath,
          skills: 0,
        },
        folders: this.#folders,
        unread: this.#unread,
        unsearched: this.#unsearched,
        failures: this.#failures,
      };
    } catch (error) {
      return toRefusedVisit(error, {
        root,
        project: this.#project,
        folders: this.#folders,
        failures: this.#failures,
      });
    }
  }

  /** @throws {Error} If the root does not exist or cannot be searched. */
  #enterRoot(): SearchedFolder {
    const root = this.#root;
    const { path } = root;
    const realPath = this.#project.enter(path);
    const scope = this.#project.scopeOf(realPath);
    if (!Deno.statSync(path).isDirectory) {
      throw new SkillFileError(path, ROOT_IS_A_FILE);
    }
    return {
      path,
      realPath,
      // A link to it may be anywhere on the path.
      isLink: true,
      root,
      depth: 0,
      outer: undefined,
      parent: undefined,
      // Other users may be able to write to the folder of a project.
      isExposed: scope === "project" &&
        isExposed({ path, realPath }, false),
    };
  }

  isLookedAt({ name, isDirectory, isSymlink }: Deno.DirEntry): boolean {
    const isSkipped = this.#root.recursive && UNSEARCHED_NAMES.has(name);
    return (isDirectory || isSymlink) && !isSkipped;
  }

  isListed(folder: SearchedFolder): boolean {
    const { depth, realPath } = folder;
    return depth < this.#maxDepth && !this.#listed.has(realPath) &&
      (this.#root.recursive || depth === 0 || this.#isGroup(folder));
  }

  /** Whether a folder directly in a root can be a group: it may hold skills, and is not one. */
  #isGroup(folder: SearchedFolder): boolean {
    const { path, outer } = folder;
    const mayBeOne = !this.#root.confinesLinks && outer === undefined &&
      mayBeGroup(basename(path));
    if (!mayBeOne) return false;
    try {
      const file = findSkillFile(path);
      if (file !== undefined) this.#files.set(folder, file);
      return file === undefined && !this.#isRoot(folder.realPath);
    } catch {
      // The next step reports it.
      return false;
    }
  }

  onListed(folder: SearchedFolder, entries: readonly Deno.DirEntry[]): void {
    const { recursive = false, includesItself = recursive } = this.#root;
    const { realPath, depth } = folder;
    const mayBeSkill = depth > 0 || includesItself;
    this.#listed.add(realPath);
    if (mayBeSkill && entries.some(({ name }) => isSkillFileName(name))) {
      this.#skills.add(realPath);
      this.#folders.push(folder);
    }
  }

  /** Notes a folder that may be a skill. In a group, that is one with a `SKILL.md`. */
  onUnsearched(folder: SearchedFolder, reason: "unwanted" | "limit"): void {
    if (reason === "limit") this.#unsearched.push(folder.realPath);
    if (isInGroup(folder) && !isSkillFolder(folder.path)) return;
    this.#folders.push({ ...folder, file: this.#files.get(folder) });
  }

  onUnvisited(realPath: string): void {
    this.#unread.push(realPath);
  }

  /**
   * Reports that not all of a project's root was visited.
   *
   * @throws {SkillFileError} If it is the user's, who chose it, and can choose another one.
   */
  #reportLimit(): void {
    const { path, scope } = this.#root;
    const fault = tooManyFolders(this.maxEntries, scope);
    const error = new SkillFileError(path, fault);
    if (scope === "global") throw error;
    this.#failures.push(createFailure(error, path, this.#project));
  }

  onEntry(
    { name, isSymlink }: Deno.DirEntry,
    container: SearchedFolder,
    parent: FolderSnapshot,
  ): SearchedFolder | undefined {
    const path = childPath(container.path, name);
    // The paths are often the same, and then one string is enough.
    const location = container.realPath === container.path
      ? path
      : childPath(container.realPath, name);
    const outer = this.#skills.has(container.realPath)
      ? container.realPath
      : container.outer;
    const realPath = isSymlink
      ? this.#links.follow({ path, location, outer })
      : location;
    if (realPath === undefined) return undefined;
    // Deno replaces the bytes of a name that are not UTF-8, and cannot open the result.
    if (!this.#isDeep(container) && name.includes("\ufffd") && !isThere(path)) {
      throw new SkillFileError(path, NAME_IS_NOT_UTF_8);
    }
    const depth = container.depth + 1;
    const root = this.#root;
    const isLink = isSymlink;
    return { path, realPath, isLink, root, depth, outer, parent };
  }

  onFailure(
    error: unknown,
    folder: SearchedFolder,
    entry?: Deno.DirEntry,
  ): void {
    // A root that cannot be listed cannot be searched.
    if (entry === undefined && folder.depth === 0) throw error;
    const isLink = entry?.isSymlink ?? folder.isLink;
    const path = entry ? childPath(folder.path, entry.name) : folder.path;
    if (entry === undefined && isTemporary(error)) {
      this.#unread.push(folder.realPath);
    }
    if (this.#isDeep(folder) && this.#isHarmless(error, isLink)) return;
    this.#failures.push(createFailure(error, path, this.#project));
  }

  /** Whether a folder can hold anything, not only skills: one in a recursive root, or a group. */
  #isDeep({ depth }: SearchedFolder): boolean {
    return this.#root.recursive === true || depth > 0;
  }

  /** Whether an error is common deep in a root: a link to what is missing or denied. */
  #isHarmless(error: unknown, isLink: boolean): boolean {
    const isOfSystem = !(error instanceof SkillFileError) &&
      !isTemporary(error);
    return isAbsence(error) || (isLink && isOfSystem);
  }
}

/** Visits all roots, the user's own first. Returns the visits in the order of the roots. */
async function visitRoots(start: ScanStart): Promise<RootVisit[]> {
  const { roots, project } = start;
  const visits = new Map<SkillRoot, RootVisit>();
  // Only a scan that finds what may be a group needs them.
  let realRoots: ReadonlySet<string> | undefined;
  const isRoot = (realPath: string) => {
    realRoots ??= new Set(project.resolveAll(roots.map(({ path }) => path)));
    return realRoots.has(realPath);
  };
  for (const root of roots.toSorted(byOwner)) {
    const search = new RootSearch(root, start, isRoot);
    visits.set(root, await search.run());
  }
  return roots.map((root) => visits.get(root)!);
}

interface ScanResult {
  readonly project: Project;
  readonly reading: Reading;
  readonly decisions: Decisions;
  /** The previous catalog if nothing changed. */
  readonly catalog: SkillCatalog;
  /** Why the scan does not count: what is temporarily unreadable in the user's roots. */
  readonly trouble: string | undefined;
}

async function scan(start: ScanStart): Promise<ScanResult> {
  const visits = await visitRoots(start);
  const reading = await readSkills({ ...start, visits });
  const decisions = await decideSkills({ ...start, visits, reading });
  const catalog = nameSkills({ ...start, visits, decisions });

  const trouble = findTrouble(visits, reading);
  return { project: start.project, reading, decisions, catalog, trouble };
}

/**
 * Keeps the catalog of the skills in some roots current, and gives access to
 * their files.
 */
export class SkillRegistry implements SkillSource {
  readonly #roots: readonly SkillRoot[];
  readonly #policy: Policy;
  readonly #known = new KnownFiles();
  readonly #options: SkillRegistryOptions;
  readonly #log: typeof log;
  /** The lines about problems that were logged and still exist. */
  #logged: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<SkillChangeListener>();
  readonly #subscribers = new Set<ScanSubscriber>();
  readonly #scans = new SharedTask<SkillCatalog>();
  #last: ScanResult | undefined;
  #scanStart = -Infinity;
  readonly #troubledScans: TroubledScans;
  readonly #rescans: Rescans;
  #isClosed = false;

  /**
   * Creates a registry that is empty until its first {@linkcode refresh}.
   *
   * @param roots The roots, in search order. Relative paths start in the working directory.
   * @param options Limits, and how to keep the catalog current.
   * @throws {Error} If a root, or the file of the policy, is relative to an unknown folder.
   * @throws {TypeError} If a rule of the policy has an unknown state.
   */
  constructor(roots: readonly SkillRoot[], options: SkillRegistryOptions = {}) {
    const {
      workingDirectory = currentFolder(),
      refreshSeconds = DEFAULT_REFRESH_SECONDS,
      watchFolders = true,
    } = options;
    this.#options = { ...options, workingDirectory };
    this.#log = options.log ?? log;
    this.#roots = roots.map((root) => {
      const path = resolvePath(root.path, this.#options);
      return path === root.path ? root : { ...root, path };
    });
    this.#policy = new Policy(this.#options);
    this.#troubledScans = new TroubledScans(this.#log);
    this.#rescans = new Rescans(() => this.refresh(), {
      refreshSeconds,
      watchFolders,
      log: this.#log,
    });
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
   *
   * @param options The viewer, from whom nested skills can be hidden, and another limit.
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
   * @param path The path relative to the skill's folder, with `/` as the separator.
   * @param viewer The viewer, from whom nested skills can be hidden.
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
   * @param file The file, from the list of its files.
   * @returns The digest (`sha256:` and 64 hexadecimal digits) and the size in bytes.
   * @throws {SkillFileError} If the file cannot be read.
   */
  async digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    return await this.#open(skill).digest(file);
  }

  #open(skill: Skill, viewer: SkillViewer = {}): ServedFolder {
    const { directory, realDirectory, file, scope } = skill;
    const { decisions, project } = this.#last ?? {};
    const boundary = new Boundary({
      realDirectory,
      trusted: project?.trusted ?? [],
      isHidden: (realPath) =>
        decisions?.hidden.has(realPath, realDirectory, viewer) === true,
    });
    return new ServedFolder({
      directory,
      realDirectory,
      boundary,
      alias: { file, name: SKILL_MD },
      isShared: scope === "project",
      maxFileSize: this.#options.maxFileSize,
      faultOf: (error) => skillFaultOf(error, skill.scope),
    }, this.#known);
  }

  /**
   * @ignore Lists the rules of the policy, and the names in them, that match nothing in
   * the last scan.
   */
  listUnusedRules(): Diagnostic[] {
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

  /** @ignore Adds a subscriber, which is asked for folders to watch before the others. */
  addSubscriber(subscriber: ScanSubscriber): void {
    this.#subscribers.add(subscriber);
  }

  /** Starts keeping the catalog current with a timer and by watching the folders. */
  watch(): void {
    this.#rescans.start();
    this.watchFolders();
  }

  /** @ignore Watches the folders of the last scan, and those that subscribers ask for now. */
  watchFolders(): void {
    if (this.#last === undefined) return;
    const { catalog: { roots }, decisions: { skills } } = this.#last;
    this.#rescans.watch(() =>
      listWatchedFolders(skills, {
        roots,
        policyFile: this.#policy.file,
        subscribed: [...this.#subscribers]
          .flatMap((subscriber) => subscriber.listFoldersToWatch()),
      })
    );
  }

  /** Stops keeping the catalog current, and removes all listeners. It cannot start again. */
  close(): void {
    this.#isClosed = true;
    this.#rescans.close();
    this.#listeners.clear();
    this.#subscribers.clear();
  }

  /** Closes the registry at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #scan(): Promise<SkillCatalog> {
    const previous = this.catalog;
    const result = await this.#compute();
    const counts = this.#last === undefined ||
      this.#troubledScans.accept(result.trouble);
    if (this.#isClosed || !counts) return previous;
    this.#last = result;
    await this.#publish(result.catalog, previous);
    return result.catalog;
  }

  /** Scans the roots, and schedules the next scan. Changes nothing that others see. */
  async #compute(): Promise<ScanResult> {
    this.#scanStart = performance.now();
    const { trustLinks = [], maxFileSize } = this.#options;
    const project = new Project(this.#options);
    const policyDiagnostics = await this.#policy.load(project);
    const named = [...trustLinks, ...this.#policy.listNamedFolders()];
    const diagnostics = [
      ...policyDiagnostics,
      ...project.listDiagnostics(named),
    ];
    const result = await scan({
      roots: this.#policy.isUsable ? this.#roots : [],
      project,
      policy: this.#policy,
      diagnostics,
      maxFileSize,
      previous: this.catalog,
      known: this.#last?.reading.skills ?? new Map(),
      slice: new TimeSlice(),
    });
    const time = performance.now() - this.#scanStart;
    const isTroubled = result.trouble !== undefined;
    this.#rescans.schedule(time, { isTroubled });
    return result;
  }

  async #publish(
    catalog: SkillCatalog,
    previous: SkillCatalog,
  ): Promise<void> {
    this.#logged = logDiagnostics(catalog, {
      logged: this.#logged,
      log: this.#log,
    });
    for (const subscriber of this.#subscribers) subscriber.onScan(catalog);
    this.watchFolders();
    if (catalog.served === previous.served) return;
    const keys = differingKeys(catalog.served, previous.served);
    await this.#callListeners({ catalog, previous, keys });
  }

  /** Calls the listeners one after the other, so that they can pause. */
  async #callListeners(change: SkillChange): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await listener(change);
      } catch (error) {
        const { message } = error as Error;
        this.#log(
          `A listener failed: ${message}; fix the function passed to onChange()`,
        );
      }
    }
  }
}

/**
 * The part of an `McpServer` that {@linkcode registerSkillTools} needs: that of
 * `@modelcontextprotocol/sdk` 1 or of `@modelcontextprotocol/server` 2. Only its structure
 * counts, so that a program that uses this library needs neither of them.
 */
export interface SkillToolServer {
  /** Registers a tool, and returns what updates it. */
  registerTool(
    name: string,
    config: never,
    call: never,
  ): { update(changes: { description: string }): void };
}

/** What an `McpServer` passes to a tool. In version 2, the signal is one level deeper. */
type SdkContext = { signal: AbortSignal } | {
  mcpReq: { signal: AbortSignal };
};

/**
 * Registers the tools of a toolset, and nothing else: no prompts, no resources. Their
 * descriptions reflect the current catalog, and the client is notified when they change.
 * The server keeps the tools that it already has. The server can be the `McpServer` of
 * `@modelcontextprotocol/sdk` 1 or of `@modelcontextprotocol/server` 2. It must run in
 * Deno.
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
 *   { path: "testdata/skills", scope: "global" },
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
 * @throws {TypeError} If the server is not an `McpServer`, or there is no such toolset or
 *   profile.
 * @throws {Error} If the server has a tool of the same name already.
 */
export function registerSkillTools(
  server: SkillToolServer,
  registry: SkillRegistry,
  options: SkillToolOptions = {},
): void {
  if (!(isObject(server) && "registerTool" in server)) {
    throw new TypeError(
      "Cannot register the tools: the server is not an McpServer of the MCP SDK; pass one of @modelcontextprotocol/sdk or @modelcontextprotocol/server",
    );
  }
  const toolOptions = { ...options, toolset: options.toolset ?? "skill" };
  const profile = profileFor(undefined, toolOptions);
  const describe = (tool: SkillTool) => {
    const { catalog } = registry;
    const view = { profile, catalog, options: toolOptions };
    return toEntry(tool, { ...view, describesParameters: false });
  };
  for (const tool of listTools(toolOptions)) {
    const entry = describe(tool);
    const config = {
      ...entry,
      inputSchema: toStandardSchema(tool.input),
      outputSchema: tool.output && toStandardSchema(tool.output),
    };
    const call = (input: Record<string, unknown>, context: SdkContext) => {
      const { signal } = "mcpReq" in context ? context.mcpReq : context;
      const request = { signal, client: undefined };
      return callTool(tool, input, {
        ...request,
        registry,
        options: toolOptions,
      });
    };
    const registered = server
      .registerTool(tool.name, config as never, call as never);
    let { description } = entry;
    registry.onChange(() => {
      const current = describe(tool).description!;
      // The SDK tells clients of each update.
      if (current === description) return;
      description = current;
      registered.update({ description });
    });
  }
}

/**
 * Adds to a schema how it becomes JSON Schema, which version 2 of the SDK asks for and the
 * small variant of zod leaves out.
 */
function toStandardSchema(schema: z.ZodMiniObject): z.ZodMiniObject {
  const { "~standard": standard } = z.toJSONSchema(schema);
  return Object.assign(schema, { "~standard": standard });
}

if (import.meta.main) {
  // Not awaited, because skill_server.ts imports this module, which must finish first.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
