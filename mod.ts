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

import {
  faultOf,
  isAbsence,
  isTemporary,
  LINK_OUT_OF_PROJECT,
  MAX_SEARCHED_FOLDERS,
  messageOf,
  ROOT_IS_A_FILE,
  SkillFileError,
  TOO_MANY_FOLDERS,
} from "./src/files/faults.ts";
import { childPath, currentFolder, isAtOrBelowAny } from "./src/files/paths.ts";
import { isOwn } from "./src/files/served_folder.ts";
import {
  buildCatalog,
  changedKeys,
  EMPTY_CATALOG,
} from "./src/skills/catalog.ts";
import { FileTracker } from "./src/skills/file_tracker.ts";
import {
  type FoundSkill,
  FoundSkills,
  type MetProblem,
} from "./src/skills/found_skills.ts";
import type { HiddenFolders } from "./src/skills/hidden_folders.ts";
import { findSkill } from "./src/skills/names.ts";
import { Policy } from "./src/skills/policy.ts";
import { logProblems } from "./src/skills/problems.ts";
import { Project, resolveTrusted } from "./src/skills/project.ts";
import { ProjectBudget } from "./src/skills/project_budget.ts";
import { Rescans } from "./src/skills/rescans.ts";
import { SkillFiles } from "./src/skills/skill_files.ts";
import {
  isSkillFolder,
  type ReadableFolder,
  SkillReader,
} from "./src/skills/skill_reader.ts";
import {
  type ListedFolder,
  listSubfolders,
  requireName,
  UNSEARCHED_NAMES,
} from "./src/skills/subfolders.ts";
import type {
  Problem,
  RefreshOptions,
  ScanOptions,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
  SkillSource,
  SkillViewer,
} from "./src/skills/types.ts";
import { listWatchedFolders } from "./src/skills/watched_folders.ts";
import { log } from "./src/text.ts";
import { SharedTask, TimeSlice, wait } from "./src/time_slice.ts";
import type { SkillToolOptions } from "./src/views/options.ts";
import { joinTools, type SkillToolServer } from "./src/views/tools.ts";

export { parseSkillMd, SkillSyntaxError } from "./src/skills/frontmatter.ts";
export { SkillFileError } from "./src/files/faults.ts";
export { parseSkillUri, skillUri } from "./src/skills/uri.ts";
export {
  DEFAULT_REFRESH_SECONDS,
  resolveSkillRoots,
} from "./src/skills/roots.ts";
export type { SkillToolOptions, Toolset } from "./src/views/options.ts";
export type { SkillToolServer } from "./src/views/tools.ts";
export type * from "./src/skills/types.ts";

/** How many levels below a recursive root are searched. */
const MAX_SEARCH_DEPTH = 6;

/**
 * Searches the roots for skills, once.
 *
 * The order of the roots decides, and then that of the names by their code units:
 * among skills with the same name, the first one that is not off is served under it.
 * A problem with one skill or folder neither throws an error nor affects others. Up
 * to 1,000 for each root are in {@linkcode SkillCatalog.problems}.
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

/** The result of a scan. */
interface ScanResult {
  /** The skills that were found. It is the previous catalog if nothing changed. */
  readonly catalog: SkillCatalog;
  /** What is hidden from everyone or from the model. */
  readonly hidden: HiddenFolders;
  /** The folders with a `SKILL.md`, valid or not. */
  readonly found: readonly FoundSkill[];
  /** Other folders that were searched, by their real paths. */
  readonly searched: ReadonlySet<string>;
  /** Why the scan does not count: what is temporarily unreadable in the user's roots. */
  readonly trouble?: string | undefined;
}

/** A folder that may be a skill or contain skills. */
interface SearchedFolder extends ReadableFolder {
  readonly root: SkillRoot;
  /** How many levels it is below the root. */
  readonly depth: number;
  /** Whether a link that lies in the project is on the path. */
  readonly isConfined: boolean;
  /** The real path of the skill around it, if the search found one. */
  readonly outer: string | undefined;
}

type SkillScanOptions = Omit<SkillRegistryOptions, "policy"> & {
  readonly policy: Policy;
  readonly reader: SkillReader;
};

/** One scan: searches all roots, and then decides on what was found. */
class SkillScan {
  readonly #roots: readonly SkillRoot[];
  readonly #options: SkillScanOptions;
  readonly #project: Project;
  /** The real paths of folders that all links are allowed to point into. */
  readonly #trusted: readonly string[];
  /** What {@linkcode #targets} returns, once a link needs it. */
  #allowedTargets: readonly string[] | undefined;
  readonly #budget: ProjectBudget | undefined;
  readonly #found: FoundSkills;
  readonly #searched = new Set<string>();
  readonly #problems: MetProblem[] = [];
  /** The paths of roots that cannot be searched. */
  readonly #refused: string[] = [];
  #position = 0;
  #trouble: string | undefined;
  readonly #slice = new TimeSlice();

  constructor(roots: readonly SkillRoot[], options: SkillScanOptions) {
    this.#roots = roots;
    this.#options = options;
    this.#project = new Project(options);
    this.#trusted = resolveTrusted(options.trustLinks ?? []);
    this.#budget = options.limitsProject ? new ProjectBudget() : undefined;
    this.#found = new FoundSkills(this.#project, options.policy);
  }

  /** The real paths of folders that the links of a project are allowed to point into. */
  get #targets(): readonly string[] {
    return this.#allowedTargets ??= [
      ...this.#project.listTargets(this.#roots),
      ...this.#trusted,
    ];
  }

  /** Searches the roots and creates the catalog, or returns the previous one if it is the same. */
  async run(
    previous: SkillCatalog,
    policyProblems: readonly Problem[],
  ): Promise<ScanResult> {
    const { reader, maxFileSize } = this.#options;
    reader.startScan({ maxFileSize, trusted: this.#trusted });
    const reports = new Map<SkillRoot, SkillRootReport>();
    // The user's own roots do not wait for those of a stranger's project.
    const order = this.#roots.toSorted((a, b) =>
      Number(a.scope === "project") - Number(b.scope === "project")
    );
    for (const root of order) {
      this.#position = this.#roots.indexOf(root) * 2 * MAX_SEARCHED_FOLDERS;
      reports.set(root, await this.#searchRoot(root));
    }
    const found = this.#found;
    const lists = await found.listSkills(this.#slice);
    const problems = [...policyProblems, ...found.listProblems(this.#problems)];
    const rootReports = this.#roots.map((root) => reports.get(root)!);
    return {
      catalog: buildCatalog(
        { ...lists, problems, roots: rootReports },
        previous,
      ),
      hidden: found.hidden,
      found: found.all,
      searched: this.#searched,
      trouble: this.#trouble,
    };
  }

  /** Searches a root. */
  async #searchRoot(root: SkillRoot): Promise<SkillRootReport> {
    const { path, scope } = root;
    try {
      const top = this.#enterRoot(root);
      await this.#search(top);
      const { realPath } = top;
      const status = { status: "found", realPath, skills: 0 } as const;
      return { root, scope: this.#project.scopeOf(realPath), ...status };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) {
        return { root, scope, status: "missing", skills: 0 };
      }
      // A configured folder stands for three roots, but one report is enough.
      if (!isAtOrBelowAny(path, this.#refused)) {
        this.#report(error, { path, root });
      }
      this.#refused.push(path);
      return { root, scope, status: "refused", skills: 0 };
    }
  }

  /**
   * Checks a root.
   *
   * @throws {Error} If the root does not exist or cannot be searched.
   */
  #enterRoot(root: SkillRoot): SearchedFolder {
    const { path } = root;
    const realPath = Deno.realPathSync(path);
    const isConfined = this.#project.hasLinkOn(path, realPath);
    if (isConfined && !isAtOrBelowAny(realPath, this.#targets)) {
      throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
    }
    if (!Deno.statSync(path).isDirectory) {
      throw new SkillFileError(path, ROOT_IS_A_FILE);
    }
    const position = { depth: 0, outer: undefined, listedIn: undefined };
    return { path, realPath, root, isConfined, ...position };
  }

  /** Reports an error, and voids the scan if it may pass and is not a project's. */
  #report(
    error: unknown,
    { path, root }: Pick<SearchedFolder, "path" | "root">,
  ): void {
    if (isTemporary(error) && root.scope !== "project") {
      this.#trouble ??= `${path}: ${messageOf(error)}`;
    }
    const problem = { file: path, ...faultOf(error) };
    this.#problems.push({ problem, root, position: ++this.#position });
  }

  /**
   * Searches a root, breadth first.
   *
   * @throws {Error} If the root itself cannot be listed.
   */
  async #search(top: SearchedFolder): Promise<void> {
    const { path, realPath, root } = top;
    if (root.includesItself ?? root.recursive) this.#addSkill(top);
    const queue = new Map([[realPath, top]]);
    let count = 0;
    for (const folder of queue.values()) {
      if (this.#slice.isOver) await this.#slice.pause();
      const listed = this.#list(folder);
      for (const name of listed.names) {
        if (this.#slice.isOver) await this.#slice.pause();
        if (++count > MAX_SEARCHED_FOLDERS) {
          this.#report(new SkillFileError(path, TOO_MANY_FOLDERS), top);
          this.#found.hidden.endEarly((folder) =>
            !this.#found.has(folder) && isSkillFolder(folder)
          );
          return;
        }
        const child = this.#visit(name, {
          parent: folder,
          listedIn: listed,
        });
        const isSearched = child !== undefined && root.recursive &&
          child.depth < MAX_SEARCH_DEPTH && !queue.has(child.realPath);
        if (isSearched) queue.set(child.realPath, child);
      }
    }
    const fault = root.scope === "project" && this.#budget?.takeFault();
    if (fault) this.#report(new SkillFileError(path, fault), top);
  }

  /** Lists the folders and links in a folder, in the order of their names. */
  #list(folder: SearchedFolder): ListedFolder {
    const { path, realPath, root, depth } = folder;
    this.#searched.add(realPath);
    try {
      return listSubfolders(folder);
    } catch (error) {
      if (depth === 0) throw error;
      // A skill can be served even if its folder cannot be listed.
      const isSkill = this.#found.has(realPath) && !isTemporary(error);
      if (!isAbsence(error) && !isSkill) this.#report(error, { path, root });
      return { names: [], links: new Set(), isSettled: () => false };
    }
  }

  /**
   * Visits an entry of a folder, and notes the skill in it, if any. A failure is
   * reported and does not affect other entries.
   *
   * @returns The entry, if it is a folder.
   */
  #visit(
    name: string,
    { parent, listedIn }: { parent: SearchedFolder; listedIn: ListedFolder },
  ): SearchedFolder | undefined {
    const { root } = parent;
    if (root.recursive && UNSEARCHED_NAMES.has(name)) return undefined;
    const path = childPath(parent.path, name);
    try {
      if (name.includes("\ufffd")) requireName(path);
      const isSkill = this.#found.has(parent.realPath) &&
        (root.recursive || root.includesItself);
      const { isConfined, depth } = parent;
      const listed = {
        path,
        realPath: parent.realPath === parent.path
          ? path
          : childPath(parent.realPath, name),
        root,
        depth: depth + 1,
        isConfined,
        outer: isSkill ? parent.realPath : parent.outer,
        listedIn,
      };
      const child = listedIn.links.has(name)
        ? this.#followLink(listed)
        : listed;
      if (child !== undefined) this.#addSkill(child);
      return child;
    } catch (error) {
      this.#report(error, { path, root });
      return undefined;
    }
  }

  /**
   * Follows a link to a folder. Returns `undefined` if it is not to be searched.
   *
   * @param listed The link, with the path where it really lies.
   */
  #followLink(listed: SearchedFolder): SearchedFolder | undefined {
    const { path, root, outer } = listed;
    const isConfined = listed.isConfined ||
      this.#project.scopeOf(listed.realPath) === "project";
    try {
      const realPath = Deno.realPathSync(path);
      const trusted = this.#trusted;
      const isForeign = outer !== undefined &&
        !isOwn(realPath, { realDirectory: outer, trusted });
      if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
      const isAllowed = !isConfined || isAtOrBelowAny(realPath, this.#targets);
      if (isAllowed) {
        return { ...listed, realPath, isConfined, listedIn: undefined };
      }
    } catch (error) {
      // Below a recursive root, dangling links are common and harmless.
      if (isTemporary(error) || !root.recursive) throw error;
      return undefined;
    }
    if (!isSkillFolder(path)) return undefined;
    throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
  }

  /** Adds the skill in a folder, if there is one, with the path that lists it. */
  #addSkill(folder: SearchedFolder): void {
    const { path, realPath, root, isConfined } = folder;
    const { reader } = this.#options;
    const budget = root.scope === "project" ? this.#budget : undefined;
    const departs = isConfined &&
      this.#project.scopeOf(realPath) !== "project";
    this.#found.add(realPath, {
      listing: { path, root, position: ++this.#position, departs },
      read: () =>
        budget === undefined ? reader.read(folder) : budget.read(
          () => reader.read(folder),
          () => reader.recall(folder),
        ),
    });
  }
}

/** Scans in a row that do not count. The next one does. */
const MAX_VOID_SCANS = 4;

/**
 * Keeps the catalog of the skills in some roots current, and gives access to
 * their files.
 */
export class SkillRegistry implements SkillSource {
  readonly #roots: readonly SkillRoot[];
  readonly #reader = new SkillReader();
  readonly #policy: Policy;
  readonly #files: SkillFiles;
  readonly #tracker: FileTracker;
  readonly #options: SkillRegistryOptions;
  readonly #log: (line: string) => void;
  /** The lines about problems that were logged and still exist. */
  #logged: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<SkillChangeListener>();
  readonly #scans = new SharedTask<SkillCatalog>();
  #last: ScanResult | undefined;
  /** When the last scan started, in milliseconds. */
  #scanStart = -Infinity;
  /** A scan that starts once the last one is old enough. */
  #delayed: Promise<SkillCatalog> | undefined;
  /** The number of scans in a row that did not count. */
  #voidScans = 0;
  readonly #rescans: Rescans;
  #isClosed = false;

  /**
   * Creates a registry that is empty until its first {@linkcode refresh}.
   *
   * @param roots The roots, in search order.
   * @param options Limits, and how to keep the catalog current.
   */
  constructor(roots: readonly SkillRoot[], options: SkillRegistryOptions = {}) {
    this.#roots = roots;
    this.#policy = new Policy({
      workingDirectory: currentFolder(),
      ...options,
    });
    this.#files = new SkillFiles(options);
    this.#tracker = new FileTracker(this.#files);
    this.#options = options;
    this.#log = options.log ?? log;
    this.#rescans = new Rescans(() => this.#rescan(), {
      ...options,
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
   * Lists the files of a skill that can be read, sorted by path, with those of nested
   * skills. Names that begin with a dot, `node_modules`, `__pycache__`, and what
   * really lies outside the skill and the trusted folders do not belong to it. The
   * listing ends after 10 levels and 20,000 entries.
   */
  async listFiles(skill: Skill, viewer?: SkillViewer): Promise<SkillFile[]> {
    return (await this.#files.list(skill, viewer)).files;
  }

  /**
   * Lists the files of a skill, and the entries that are not served, such as
   * links that point outside and files that are too large or too deep. Their paths
   * are relative to the skill directory (empty for the directory itself), and end
   * with `/` for folders that cannot be read.
   */
  async inspectFiles(
    skill: Skill,
    viewer?: SkillViewer,
  ): Promise<{ files: SkillFile[]; leftOut: Problem[] }> {
    const { files, leftOut } = await this.#files.list(skill, viewer);
    return { files, leftOut };
  }

  /**
   * Reads the current content of a file of a skill.
   *
   * @param skill The skill.
   * @param path The path relative to the skill directory, with `/` as the separator.
   * @throws {SkillFileError} If the file does not exist, does not belong to the
   *   skill, is not a regular file, is too large, or cannot be read.
   */
  readFile(
    skill: Skill,
    path: string,
    viewer?: SkillViewer,
  ): Promise<SkillFileContent> {
    return this.#files.read(skill, path, viewer);
  }

  /**
   * Returns the SHA-256 digest and the size of the current content of a file. The
   * digest is remembered until the file changes.
   *
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
   * @returns The catalog, once the scan is complete.
   */
  refresh({ minIntervalMs = 0 }: RefreshOptions = {}): Promise<SkillCatalog> {
    const delay = this.#scanStart + minIntervalMs - performance.now();
    if (delay <= 0) return this.#scans.run(() => this.#scan());
    return this.#delayed ??= wait(delay).then(() => {
      this.#delayed = undefined;
      return this.refresh();
    });
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
   * Tracks all files of a skill, so that listeners are notified when any of them
   * changes, not only its `SKILL.md`.
   *
   * @param key The key of the skill in {@linkcode SkillCatalog.served}, or
   *   `undefined` for all skills.
   * @returns A function that stops tracking. Later changes are reported.
   */
  trackFiles(key: string | undefined): Promise<() => void> {
    return this.#tracker.track(key, () => this.refresh());
  }

  /** Starts keeping the catalog current with a timer and by watching the folders. */
  watch(): void {
    this.#rescans.start();
    this.#watchFolders(true);
  }

  /** Stops keeping the catalog current, and removes all listeners. */
  close(): void {
    this.#isClosed = true;
    this.#rescans.close();
    this.#listeners.clear();
  }

  /** Closes the registry at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #scan(): Promise<SkillCatalog> {
    const previous = this.catalog;
    this.#scanStart = performance.now();
    const problems = await this.#policy.load();
    const scan = new SkillScan(this.#policy.isUsable ? this.#roots : [], {
      workingDirectory: currentFolder(),
      ...this.#options,
      policy: this.#policy,
      reader: this.#reader,
    });
    const result = await scan.run(previous, problems);
    const time = performance.now() - this.#scanStart;
    this.#rescans.scanned({ time, isTroubled: result.trouble !== undefined });
    if (this.#isClosed || this.#isVoid(result)) return previous;
    this.#last = result;
    const { catalog, hidden } = result;
    this.#files.hide(hidden);
    const files = await this.#tracker.update(catalog);
    const isSame = catalog.served === previous.served && files.size === 0;
    const [logged, log] = [this.#logged, this.#log];
    this.#logged = logProblems(catalog, { logged, log });
    this.#watchFolders(isSame);
    if (!isSame) {
      const keys = changedKeys(catalog, previous);
      await this.#callListeners({ catalog, previous, keys, files });
    }
    return catalog;
  }

  /**
   * Whether a scan does not count because something is temporarily unreadable. The
   * first scan counts, and so does the fifth such scan in a row.
   */
  #isVoid({ trouble }: ScanResult): boolean {
    const isVoid = trouble !== undefined && this.#last !== undefined &&
      this.#voidScans < MAX_VOID_SCANS;
    if (isVoid && this.#voidScans === 0) {
      this.#log(
        `Cannot read ${trouble}; the skills stay as they were, and the next attempt follows in a second`,
      );
    }
    if (trouble === undefined) this.#voidScans = 0;
    else if (isVoid) this.#voidScans++;
    return isVoid;
  }

  /** Scans, though nobody waits for it. */
  #rescan(): void {
    this.refresh().catch((error) => {
      this.#log(`Cannot look for changes: ${(error as Error).message}`);
      this.#rescans.scanned({ time: 0, isTroubled: true });
    });
  }

  /** Updates the watched folders to those of the last scan. */
  #watchFolders(isQuiet: boolean): void {
    if (!this.#rescans.isWatching || this.#last === undefined) return;
    const { found, searched } = this.#last;
    const { policy } = this.#options;
    const folders = listWatchedFolders({
      roots: this.#roots.map(({ path }) => path),
      policyFile: typeof policy === "string" ? policy : undefined,
      tracked: this.#tracker.folders,
      skills: found,
      searched,
    });
    this.#rescans.watch(folders, isQuiet);
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
 * Registers the tools of a toolset on an `McpServer` of the MCP SDK. Their descriptions
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
  joinTools(server, registry, options);
}

if (import.meta.main) {
  // Not awaited, because skill_server.ts imports this module, which must finish first.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
