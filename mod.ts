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
  ROOT_IS_A_FILE,
  SkillFileError,
  tooManyFolders,
} from "./src/files/faults.ts";
import { childPath, currentFolder, isAtOrBelowAny } from "./src/files/paths.ts";
import { sha256 } from "./src/files/reading.ts";
import { isOwn, KnownFiles, ServedFolder } from "./src/files/served_folder.ts";
import {
  buildCatalog,
  differingKeys,
  EMPTY_CATALOG,
  logProblems,
} from "./src/skills/catalog.ts";
import {
  type FoundSkill,
  FoundSkills,
  type VisitedFolder,
} from "./src/skills/found_skills.ts";
import { findSkill } from "./src/skills/names.ts";
import { Policy } from "./src/skills/policy.ts";
import {
  listWatchedFolders,
  type LoggingOptions,
  Rescans,
} from "./src/skills/rescans.ts";
import { Project, resolveTrusted } from "./src/skills/roots.ts";
import {
  type FolderListing,
  isSkillFolder,
  listFolder,
  UNSEARCHED_NAMES,
} from "./src/skills/skill_reader.ts";
import type {
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
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
  SkillSource,
  SkillViewer,
} from "./src/skills/types.ts";
import { log } from "./src/text.ts";
import { SharedTask, TimeSlice, wait } from "./src/time_slice.ts";
import type { SkillToolOptions } from "./src/views/reading.ts";
import { joinTools, type SkillToolServer } from "./src/views/tools.ts";

export { parseSkillMd } from "./src/skills/frontmatter.ts";
export { SkillFileError } from "./src/files/faults.ts";
export { parseSkillUri, skillUri } from "./src/skills/names.ts";
export {
  DEFAULT_REFRESH_SECONDS,
  resolveSkillRoots,
} from "./src/skills/roots.ts";
export type { SkillToolOptions, Toolset } from "./src/views/reading.ts";
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
 * to 1,000 are in {@linkcode SkillCatalog.problems}.
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

/** The result of a scan. */
interface ScanResult {
  /** The skills that were found. It is the previous catalog if nothing changed. */
  readonly catalog: SkillCatalog;
  /** The folders with a `SKILL.md`, valid or not. */
  readonly found: FoundSkills;
  /** Why the scan does not count: what is temporarily unreadable in the user's roots. */
  readonly trouble?: string | undefined;
}

/** A folder whose entries are visited. */
interface SearchedFolder extends VisitedFolder {
  readonly listing: FolderListing;
}

type SkillScanOptions = Omit<SkillRegistryOptions, "policy"> & {
  readonly policy: Policy;
  /** What the last scan found, by real path. */
  readonly last: ReadonlyMap<string, FoundSkill> | undefined;
};

/** One scan: searches all roots, and then decides on what was found. */
class SkillScan {
  readonly #roots: readonly SkillRoot[];
  readonly #options: SkillScanOptions;
  readonly #project: Project;
  /** The real paths of folders that all links are allowed to point into. */
  readonly #trusted: readonly string[];
  /** Those that the links of a project are allowed to point into. */
  readonly #targets: readonly string[];
  readonly #found: FoundSkills;
  #position = 0;
  #trouble: string | undefined;
  readonly #slice = new TimeSlice();

  constructor(roots: readonly SkillRoot[], options: SkillScanOptions) {
    const project = new Project(options);
    const trusted = resolveTrusted(options.trustLinks ?? []);
    this.#roots = roots;
    this.#options = options;
    this.#project = project;
    this.#trusted = trusted;
    this.#targets = [...project.listTargets(roots), ...trusted];
    this.#found = new FoundSkills({ ...options, project, trusted });
  }

  /** Searches the roots and creates the catalog, or returns the previous one if it is the same. */
  async run(
    previous: SkillCatalog,
    policyProblems: readonly Problem[],
  ): Promise<ScanResult> {
    const reports = new Map<SkillRoot, SkillRootReport>();
    // The user's own roots do not wait for those of a stranger's project.
    const order = this.#roots.toSorted((a, b) =>
      Number(a.scope === "project") - Number(b.scope === "project")
    );
    for (const root of order) {
      this.#position = this.#roots.indexOf(root) * 2 * MAX_FOLDERS;
      reports.set(root, await this.#searchRoot(root));
    }
    const found = this.#found;
    const catalog = buildCatalog({
      found: await found.listSkills(this.#slice),
      problems: [...policyProblems, ...found.listProblems()],
      roots: this.#roots.map((root) => reports.get(root)!),
    }, previous);
    return { catalog, found, trouble: this.#trouble };
  }

  /** Searches a root. */
  async #searchRoot(root: SkillRoot): Promise<SkillRootReport> {
    try {
      const top = this.#enterRoot(root);
      await this.#search(top);
      const { realPath } = top;
      const scope = this.#project.scopeOf(realPath);
      return { root, scope, status: "found", realPath, skills: 0 };
    } catch (error) {
      const isMissing = error instanceof Deno.errors.NotFound;
      if (!isMissing) {
        this.#found.removeRoot(root);
        this.#report(error, { path: root.path, root });
      }
      const status = isMissing ? "missing" : "refused";
      return { root, scope: root.scope, status, skills: 0 };
    }
  }

  /**
   * Checks and lists a root.
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
    const position = { depth: 0, outer: undefined, around: undefined };
    const listing = listFolder({ path, realPath, ...position });
    return { path, realPath, root, isConfined, listing, ...position };
  }

  /** Reports an error, and voids the scan if it may pass and is not a project's. */
  #report(
    error: unknown,
    { path, root }: Pick<VisitedFolder, "path" | "root">,
  ): void {
    const problem = { file: path, ...faultOf(error) };
    if (isTemporary(error) && root.scope !== "project") {
      this.#trouble ??= `${path}: ${problem.reason}`;
    }
    this.#found.report(problem, root);
  }

  /**
   * Searches a root, breadth first.
   *
   * @throws {Error} If it has too many folders.
   */
  async #search(top: SearchedFolder): Promise<void> {
    const { path, realPath, root } = top;
    if (root.includesItself ?? root.recursive) {
      this.#found.add(top, ++this.#position);
    }
    const queue = new Map([[realPath, top]]);
    const isTheirs = root.scope === "project";
    const limit = isTheirs ? MAX_PROJECT_FOLDERS : MAX_FOLDERS;
    let count = 0;
    for (const folder of queue.values()) {
      for (const name of folder.listing.names) {
        if (this.#slice.isOver) await this.#slice.pause();
        if (++count > limit) {
          throw new SkillFileError(path, tooManyFolders(limit));
        }
        this.#visit(name, { folder, queue });
      }
    }
  }

  /**
   * Visits an entry of a folder. Notes the skill in it, if any, and queues it if it
   * is to be searched. A failure is reported and does not affect other entries.
   */
  #visit(
    name: string,
    { folder, queue }: {
      folder: SearchedFolder;
      queue: Map<string, SearchedFolder>;
    },
  ): void {
    const { root, listing: { links } } = folder;
    if (root.recursive && UNSEARCHED_NAMES.has(name)) return;
    const entry = this.#enter(name, folder);
    try {
      const child = links.has(name) ? this.#followLink(entry) : entry;
      if (child === undefined) return;
      const { realPath, depth } = child;
      const isSearched = root.recursive && depth < MAX_SEARCH_DEPTH &&
        !queue.has(realPath);
      const listing = isSearched ? listFolder(child) : undefined;
      if (listing?.mayBeSkill !== false) {
        this.#found.add(child, ++this.#position);
      }
      if (listing !== undefined) queue.set(realPath, { ...child, listing });
    } catch (error) {
      // Below a recursive root, links to what is missing or denied are common and harmless.
      const isHarmless = root.recursive && (isAbsence(error) ||
        links.has(name) && !(error instanceof SkillFileError) &&
          !isTemporary(error));
      if (!isHarmless) this.#report(error, entry);
    }
  }

  /** Describes an entry of a folder as a folder that is visited. */
  #enter(name: string, folder: SearchedFolder): VisitedFolder {
    const { path, realPath, root, isConfined, listing } = folder;
    const isSkill = this.#found.byPath.has(realPath) &&
      (root.recursive || root.includesItself);
    const entryPath = childPath(path, name);
    return {
      path: entryPath,
      realPath: realPath === path ? entryPath : childPath(realPath, name),
      root,
      isConfined,
      depth: folder.depth + 1,
      outer: isSkill ? realPath : folder.outer,
      around: listing,
    };
  }

  /**
   * Follows a link to a folder. Returns `undefined` if it is not to be searched.
   *
   * @param link The link, with the path where it really lies.
   * @throws {SkillFileError} If it leads from the project to a skill outside.
   */
  #followLink(link: VisitedFolder): VisitedFolder | undefined {
    const { path, outer } = link;
    const isConfined = link.isConfined ||
      this.#project.scopeOf(link.realPath) === "project";
    const realPath = Deno.realPathSync(path);
    const trusted = this.#trusted;
    const isForeign = outer !== undefined &&
      !isOwn(realPath, { realDirectory: outer, trusted });
    if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
    if (!isConfined || isAtOrBelowAny(realPath, this.#targets)) {
      return { ...link, realPath, isConfined, around: undefined };
    }
    if (!isSkillFolder(path)) return undefined;
    throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
  }
}

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
  readonly #options: LoggingOptions;
  /** The lines about problems that were logged and still exist. */
  #logged: ReadonlySet<string> = new Set();
  readonly #listeners = new Set<SkillChangeListener>();
  readonly #scanListeners = new Set<ScanListener>();
  /** The real paths of the folders that the listeners for scans asked to watch. */
  #followed: string[] = [];
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
   * @param roots The roots, in search order.
   * @param options Limits, and how to keep the catalog current.
   */
  constructor(roots: readonly SkillRoot[], options: SkillRegistryOptions = {}) {
    this.#roots = roots;
    const { log: logLine = log } = options;
    const workingDirectory = currentFolder();
    this.#options = { workingDirectory, ...options, log: logLine };
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
  async listFiles(skill: Skill, viewer?: SkillViewer): Promise<SkillFiles> {
    return await this.#open(skill, viewer).list();
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
    const keyOf = (version: string) =>
      `${version}:${skill.realDirectory}:${path}`;
    const known = this.#digests.get(keyOf(version));
    if (known !== undefined) return { digest: known, size };
    const read = await this.#open(skill).read(path);
    const digest = sha256(read.bytes);
    if (this.#digests.size >= MAX_DIGESTS) this.#digests.clear();
    if (!read.isRecent) this.#digests.set(keyOf(read.version), digest);
    return { digest, size: read.size };
  }

  /** Opens the folder of a skill for someone. */
  #open(
    { directory, realDirectory, file }: Skill,
    { forModel = false }: SkillViewer = {},
  ): ServedFolder {
    const { maxFileSize, trustLinks = [] } = this.#options;
    const viewer = { skill: realDirectory, forModel };
    const found = this.#last?.found;
    return new ServedFolder({
      ...{ directory, realDirectory, file, maxFileSize },
      trusted: resolveTrusted(trustLinks),
      isHidden: (realPath) => found?.isHidden(realPath, viewer) === true,
      known: this.#known,
    });
  }

  /**
   * Scans the roots again. Only one scan runs at a time. Calls during a scan share
   * the next scan, because the running one may have missed the latest changes.
   *
   * @param options The minimum time from the start of the last scan to the start of
   *   this one, in milliseconds.
   * @returns The catalog, once the scan is complete.
   */
  async refresh(
    { minIntervalMs = 0 }: { minIntervalMs?: number } = {},
  ): Promise<SkillCatalog> {
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
    const problems = await this.#policy.load();
    const scan = new SkillScan(this.#policy.isUsable ? this.#roots : [], {
      ...this.#options,
      policy: this.#policy,
      last: this.#last?.found.byPath,
    });
    const result = await scan.run(previous, problems);
    const time = performance.now() - this.#scanStart;
    this.#rescans.scanned(time, result.trouble !== undefined);
    if (this.#isClosed || this.#isVoid(result)) return previous;
    this.#last = result;
    const { catalog } = result;
    this.#logged = logProblems(catalog, {
      logged: this.#logged,
      log: this.#options.log,
    });
    this.#followed = [];
    for (const listener of this.#scanListeners) {
      this.#followed.push(...await listener(catalog));
    }
    this.#watchFolders();
    if (catalog.served !== previous.served) {
      const keys = differingKeys(catalog.served, previous.served);
      await this.#callListeners({ catalog, previous, keys });
    }
    return catalog;
  }

  /**
   * Whether a scan does not count because something is temporarily unreadable. The
   * first scan counts, and so does the fifth such scan in a row.
   */
  #isVoid({ trouble }: ScanResult): boolean {
    if (trouble === undefined) this.#voidScans = 0;
    const isVoid = trouble !== undefined && this.#last !== undefined &&
      this.#voidScans < MAX_VOID_SCANS;
    if (isVoid && this.#voidScans++ === 0) {
      this.#options.log(
        `Cannot read ${trouble}; the skills stay as they were, and the next attempt follows in a second`,
      );
    }
    return isVoid;
  }

  /** Scans, though nobody waits for it. */
  #rescan(): void {
    this.refresh().catch((error) => {
      this.#options.log(`Cannot look for changes: ${(error as Error).message}`);
      this.#rescans.scanned(0, true);
    });
  }

  /** Updates the watched folders to those of the last scan. */
  #watchFolders(): void {
    if (this.#last === undefined) return;
    const { catalog: { roots }, found } = this.#last;
    const { policy } = this.#options;
    this.#rescans.watch(() =>
      listWatchedFolders(roots, {
        policyFile: typeof policy === "string" ? policy : undefined,
        followed: this.#followed,
        skills: found.byPath.values(),
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
