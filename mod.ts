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

import { basename, dirname, resolve } from "jsr:@std/path@^1";
import {
  FolderWatcher,
  type WatchedFolders,
  WatchList,
} from "./src/files/folder_watcher.ts";
import type { RequestHandlers } from "./src/protocol/handlers.ts";
import { fileVersion, isRacy, openForScan } from "./src/files/open_file.ts";
import {
  childPath,
  isAtOrBelow,
  isAtOrBelowAny,
  SKILL_MD,
} from "./src/files/paths.ts";
import type { Boundary } from "./src/files/types.ts";
import type { PolicyDecider } from "./src/skills/policy.ts";
import { describeProblem } from "./src/skills/problems.ts";
import {
  findResource,
  findSkill,
  qualifiedName,
  SkillVariants,
  type UnprefixedSkill,
  withPrefixes,
  withQualifiedNames,
} from "./src/skills/names.ts";
import {
  boundaries,
  type CheckedFile,
  DEFAULT_MAX_FILE_SIZE,
  isConfirmed,
  isLink,
  isOwn,
  isThere,
  readConfined,
} from "./src/files/confinement.ts";
import {
  type Fault,
  faultOf,
  isAbsence,
  isPassing,
  LINK_OUT_OF_PROJECT,
  LINK_OUT_OF_SKILL,
  NAME_IS_NOT_UTF_8,
  passingFault,
  SKILL_MD_IS_A_FOLDER,
  SkillFileError,
  WAS_REPLACED,
} from "./src/files/faults.ts";
import { SkillFiles } from "./src/skills/skill_files.ts";
import {
  findSkillFile,
  isSameHead,
  parseSkill,
  readHead,
  type SkillHead,
} from "./src/skills/skill_md.ts";
import { byCodeUnits, log, quote, skillKey } from "./src/text.ts";
import { DEFAULT_REFRESH_SECONDS } from "./src/skills/roots.ts";
import {
  runInSlices,
  SharedTask,
  sortInSlices,
  type Steps,
  TimeSlice,
} from "./src/time_slice.ts";
import { registerTools } from "./src/views/tools.ts";
import type { SkillToolOptions } from "./src/views/toolsets.ts";
import type {
  ScanOptions,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillPolicy,
  SkillPolicyReport,
  SkillPolicyRule,
  SkillProblem,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
  SkillSource,
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
export type { SkillToolOptions, Toolset } from "./src/views/toolsets.ts";
export type {
  BaseFolders,
  FileAccessOptions,
  ScanOptions,
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillChange,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillFrontmatter,
  SkillPolicy,
  SkillPolicyReport,
  SkillPolicyRule,
  SkillProblem,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootOptions,
  SkillRootReport,
  SkillScope,
  SkillSource,
  SkillState,
  SkillSyntaxFault,
} from "./src/skills/types.ts";

/** How many levels below a recursive root are searched. */
const MAX_SEARCH_DEPTH = 6;

/** The time until the next scan if something cannot be read for the moment, in milliseconds. */
const RETRY_MS = 1_000;

/** The maximum number of such scans in a row. Then only the timer is left. */
const MAX_RETRIES = 60;

/** The maximum number of folders and links that are visited below one root. */
const MAX_SEARCHED_FOLDERS = 50_000;

/**
 * A folder larger than this, in bytes, is listed asynchronously. It has about
 * 10,000 entries.
 */
const MAX_SHORT_FOLDER_SIZE = 256 * 1024;

/** The maximum number of problems that are reported for one root. */
const MAX_PROBLEMS = 1_000;

/** The maximum number of shadowed skills that are logged. */
const MAX_LOGGED_SHADOWED = 1_000;

/** The maximum length of a name in a report, in characters. */
const MAX_NAME_LENGTH = 200;

/** The result of reading a `SKILL.md`, kept from one scan to the next. */
interface ReadSkill {
  /** The skill directory. */
  readonly folder: SearchedFolder;
  readonly version: string;
  /** What was read, kept only while the file can change without a new version. */
  readonly racyHead: SkillHead | undefined;
  readonly outcome: Skill | SkillProblem;
}

/** The result of {@linkcode SkillScanner.scan}. */
export interface ScanResult {
  /** The skills that were found. It is the previous catalog if nothing changed. */
  readonly catalog: SkillCatalog;
  /** The real paths of the folders that it searched. */
  readonly folders: ReadonlySet<string>;
  /** The targets of links that it found, including missing ones. */
  readonly linkTargets: ReadonlySet<string>;
  /** The real paths of skills that are off and lie in another skill. */
  readonly excludedFolders: ReadonlySet<string>;
  /** Whether something could not be read for the moment, so that another scan should follow soon. */
  readonly isPassing: boolean;
}

/** A folder that may be a skill or contain skills. */
interface SearchedFolder {
  readonly path: string;
  readonly realPath: string;
  readonly depth: number;
  readonly root: SkillRoot;
  /** The real path of the skill that this folder is or lies in. */
  skill?: string | undefined;
}

/** A folder that has a problem. */
type ReportedFolder =
  & Pick<SearchedFolder, "path" | "root">
  & Partial<SearchedFolder>
  & {
    /** The folder in which it was listed. */
    readonly parent?: SearchedFolder;
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
  #policy: PolicyDecider | undefined;
  #isPolicySet = false;
  /** The policy of the last scan. */
  #applied: PolicyDecider | undefined;
  readonly #variants = new SkillVariants();
  /** The `SKILL.md` files that the last scan read, by path. */
  #read: ReadonlyMap<string, ReadSkill> = new Map();
  /** The skills that the policy switched off in the last scan. */
  #off: readonly Skill[] = [];
  #catalog = EMPTY_CATALOG;

  /**
   * Creates a scanner.
   *
   * @param roots The roots, in search order.
   * @param options Limits, the policy, and the allowed targets of links.
   */
  constructor(roots: readonly SkillRoot[], options: ScanOptions = {}) {
    this.#roots = roots;
    this.#options = options;
  }

  /**
   * Applies another policy, or none, from the next scan on.
   *
   * @throws {Error} If the policy is invalid. The previous policy then stays in
   *   effect.
   */
  async setPolicy(policy: SkillPolicy | undefined): Promise<void> {
    this.#policy = policy && await compilePolicy(policy);
    this.#isPolicySet = true;
  }

  /**
   * Searches the roots.
   *
   * @throws {Error} If {@linkcode ScanOptions.policy} is invalid.
   */
  async scan(): Promise<ScanResult> {
    if (!this.#isPolicySet) await this.setPolicy(this.#options.policy);
    const policy = this.#policy;
    const { read, off, ...result } = await new SkillScan(this.#roots, {
      ...this.#options,
      policy,
      read: this.#read,
      variants: this.#variants,
      previous: this.#catalog,
    }).run();
    this.#applied = policy;
    this.#read = read;
    this.#off = off;
    this.#catalog = result.catalog;
    return result;
  }

  /**
   * Describes the decisions of the policy in the last scan, if there was one.
   * Only this report contains the skills that are off.
   */
  inspectPolicy(): SkillPolicyReport | undefined {
    const policy = this.#applied;
    if (policy === undefined) return undefined;
    const off = this.#off;
    const { skills, shadowed } = this.#catalog;
    const served = [...skills.values(), ...shadowed.map(({ skill }) => skill)];
    const rules = new Map<Skill, SkillPolicyRule>();
    for (const skill of served) {
      const { rule } = policy.decide(skill);
      if (rule !== undefined) rules.set(skill, rule);
    }
    return {
      rules,
      off: off.map((skill) => ({ skill, rule: policy.decide(skill).rule })),
      unused: policy.listUnused([...served, ...off]),
    };
  }
}

/** The catalog before the first scan. */
const EMPTY_CATALOG: SkillCatalog = {
  skills: new Map(),
  problems: [],
  shadowed: [],
  served: new Map(),
  roots: [],
  revision: 0,
};

/** Compiles a policy. Only then is the module for policies loaded. */
async function compilePolicy(policy: SkillPolicy): Promise<PolicyDecider> {
  const { PolicyDecider } = await import("./src/skills/policy.ts");
  return new PolicyDecider(policy);
}

/** What one scan found, with what the scanner keeps for the next one. */
interface FoundSkills extends ScanResult {
  /** The `SKILL.md` files that it read, by path. */
  readonly read: ReadonlyMap<string, ReadSkill>;
  /** The skills that the policy switches off. */
  readonly off: readonly Skill[];
}

/** Options of {@linkcode SkillScan}. */
interface SkillScanOptions extends Omit<ScanOptions, "policy"> {
  readonly policy: PolicyDecider | undefined;
  /** The `SKILL.md` files that the previous scan read, by path. */
  readonly read: ReadonlyMap<string, ReadSkill>;
  readonly variants: SkillVariants;
  readonly previous: SkillCatalog;
}

/** One scan of the roots. */
class SkillScan {
  readonly #roots: readonly SkillRoot[];
  readonly #previous: SkillCatalog;
  readonly #variants: SkillVariants;
  readonly #maxFileSize: number;
  readonly #trustLinks: readonly string[];
  /** The real paths of folders that the links of a project are allowed to point into. */
  readonly #allowedTargets: readonly string[];
  /** The `SKILL.md` files that the previous scan read, by path. */
  readonly #known: ReadonlyMap<string, ReadSkill>;
  readonly #read = new Map<string, ReadSkill>();
  readonly #folders = new Set<string>();
  /** The real paths of the folders that were visited below the current root. */
  #visited = new Set<string>();
  /** The targets of links that were found, including missing ones. */
  readonly #targets = new Set<string>();
  readonly #skills = new Map<string, Skill>();
  /** The root that led to each skill, valid or not, by the real path of the skill. */
  readonly #skillFolders = new Map<string, SkillRoot>();
  readonly #shadowed: UnprefixedSkill[] = [];
  /** The skills that the policy switches off, by real path. */
  readonly #off = new Map<string, Skill>();
  /** The real paths of skills that are off and lie in another skill. */
  readonly #excludedFolders = new Set<string>();
  readonly #problems: SkillProblem[] = [];
  /** The number of problems in the current root. */
  #problemCount = 0;
  readonly #policy: PolicyDecider | undefined;
  /** The paths of roots that cannot be searched. */
  readonly #refused: string[] = [];
  #isPassing = false;
  readonly #slice = new TimeSlice();

  constructor(
    roots: readonly SkillRoot[],
    options: SkillScanOptions,
  ) {
    this.#roots = roots;
    this.#previous = options.previous;
    this.#variants = options.variants;
    this.#known = options.read;
    this.#policy = options.policy;
    this.#maxFileSize = options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE;
    this.#trustLinks = boundaries(options.trustLinks ?? []);
    const globalRoots = roots.filter((root) => root.scope === "global");
    this.#allowedTargets = [
      ...boundaries(options.linkTargets ?? ["."]),
      ...boundaries(globalRoots.map((root) => root.path)),
      ...this.#trustLinks,
    ];
  }

  /** Searches the roots and creates the catalog, or returns the previous one if it is the same. */
  async run(): Promise<FoundSkills> {
    this.#policy?.followLinks();
    const reports: SkillRootReport[] = [];
    for (const root of this.#roots) reports.push(await this.#scanRoot(root));
    return {
      catalog: await this.#createCatalog(reports),
      folders: this.#folders,
      linkTargets: this.#targets,
      excludedFolders: this.#excludedFolders,
      isPassing: this.#isPassing,
      read: this.#read,
      off: [...this.#off.values()],
    };
  }

  async #scanRoot(root: SkillRoot): Promise<SkillRootReport> {
    const { path } = root;
    const count = this.#countSkills();
    this.#problemCount = 0;
    try {
      const realPath = await this.#run(this.#enterRoot(root));
      await this.#search({ path, realPath, depth: 0, root });
      const skills = this.#countSkills() - count;
      return { root, status: "found", realPath, skills };
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) {
        return { root, status: "missing", skills: 0 };
      }
      if (await this.#run(this.#keepKnown({ path, root }, error))) {
        const before = this.#previous.roots.find((report) =>
          report.root === root
        );
        return { ...before!, skills: this.#countSkills() - count };
      }
      // A configured folder stands for three roots, but one report is enough.
      if (!isAtOrBelowAny(path, this.#refused)) {
        const problem = { file: path, ...faultOf(error) };
        await this.#run(this.#report(problem, { path, root }));
      }
      this.#refused.push(path);
      return { root, status: "refused", skills: 0 };
    } finally {
      const rest = this.#problemCount - MAX_PROBLEMS;
      if (rest > 0) this.#problems.push({ file: path, ...moreProblems(rest) });
    }
  }

  /**
   * If a folder cannot be read for the moment, keeps what the previous scan found
   * in it, and reports the problem. Returns whether there was anything.
   */
  *#keepKnown(
    folder: Pick<SearchedFolder, "path" | "root">,
    error: unknown,
  ): Steps<boolean> {
    if (!isPassing(error)) return false;
    this.#isPassing = true;
    const { path, root } = folder;
    const kept = [...this.#known].filter(([file, { folder }]) =>
      !this.#read.has(file) && folder.root === root &&
      isAtOrBelow(folder.path, path)
    );
    for (const [file, known] of kept) {
      this.#read.set(file, known);
      this.#folders.add(known.folder.realPath);
      yield* this.#record(known.outcome, known.folder);
    }
    if (kept.length > 0) yield* this.#reportPassing(path, { error, folder });
    return kept.length > 0;
  }

  /** Reports that a file or folder stays as it was, because it cannot be read for the moment. */
  *#reportPassing(
    file: string,
    { error, folder }: {
      error: unknown;
      folder: Pick<SearchedFolder, "path" | "root">;
    },
  ): Steps<void> {
    this.#isPassing = true;
    // Without the real path, which could not be confirmed at the moment.
    const { path, root } = folder;
    yield* this.#report({ file, ...passingFault(error) }, { path, root });
  }

  /**
   * Reports a problem, up to a limit per root. Ignores problems of folders that
   * are off, and of files that were seen only while a folder on their path was
   * swapped for a link.
   *
   * @returns Whether the problem was not ignored.
   */
  *#report(problem: SkillProblem, folder: ReportedFolder): Steps<boolean> {
    const { path, realPath = path, root } = folder;
    const subject = {
      scope: root.scope,
      directory: path,
      realDirectory: realPath,
    };
    const names = problem.names?.length ? problem.names : [undefined];
    const isOff = names.some((name) =>
      this.#policy?.decide({ name, ...subject }).state === "off"
    );
    if (isOff) return false;
    const hasRoom = this.#problemCount < MAX_PROBLEMS;
    if (hasRoom && !(yield* isSeen(problem.file, folder))) return false;
    this.#problemCount++;
    if (hasRoom) this.#problems.push(problem);
    return true;
  }

  #countSkills(): number {
    return this.#skills.size + this.#shadowed.length;
  }

  async #createCatalog(roots: SkillRootReport[]): Promise<SkillCatalog> {
    const previous = this.#previous;
    const shadowed = withPrefixes(this.#skills, {
      shadowed: this.#shadowed,
      variants: this.#variants,
    });
    const found = {
      skills: this.#skills,
      problems: this.#problems,
      shadowed,
      roots,
      revision: previous.revision + 1,
    };
    return isSameCatalog(found, previous)
      ? previous
      : await this.#withSortedSkills(found);
  }

  async #withSortedSkills(
    found: Omit<SkillCatalog, "served">,
  ): Promise<SkillCatalog> {
    const keys = await sortInSlices([...found.skills.keys()], {
      compare: byCodeUnits,
      slice: this.#slice,
    });
    const skills = new Map(keys.map((key) => [key, found.skills.get(key)!]));
    const served = withQualifiedNames(skills, found.shadowed);
    return { ...found, skills, served };
  }

  /**
   * Checks a root and returns its real path.
   *
   * @throws {Error} If the root does not exist or cannot be searched.
   */
  *#enterRoot(root: SkillRoot): Steps<string> {
    const { path, scope, recursive } = root;
    if (isLink(path)) this.#recordTarget(path);
    yield;
    const realPath = Deno.realPathSync(path);
    yield;
    if (
      scope === "project" && !isAtOrBelowAny(realPath, this.#allowedTargets)
    ) {
      throw new SkillFileError(path, LINK_OUT_OF_PROJECT);
    }
    if (!Deno.statSync(path).isDirectory) {
      throw new SkillFileError(path, ROOT_IS_A_FILE);
    }
    const found = yield* findSkillFile(path);
    if (found && "error" in found) throw found.error;
    if (found && !recursive) {
      yield* this.#report({ file: path, ...ROOT_IS_A_SKILL }, { path, root });
    }
    return realPath;
  }

  /** Records the target of a link, because something may appear or disappear there. */
  #recordTarget(link: string): void {
    this.#targets.add(resolve(dirname(link), Deno.readLinkSync(link)));
  }

  /**
   * Searches a root, breadth first.
   * @throws {Error} If the root itself cannot be read.
   */
  async #search(top: SearchedFolder): Promise<void> {
    const { path, realPath, root } = top;
    if (root.recursive && await this.#run(this.#addSkillIn(top))) {
      top.skill = realPath;
    }
    const queue = [top];
    this.#visited = new Set([realPath]);
    this.#folders.add(realPath);
    let count = 0;
    for (const folder of queue) {
      for (const entry of await this.#listFolder(folder)) {
        if (++count > MAX_SEARCHED_FOLDERS) {
          this.#problems.push({ file: path, ...TOO_MANY_FOLDERS });
          return;
        }
        const child = await this.#run(this.#visit(entry, folder));
        if (child !== undefined) queue.push(child);
      }
    }
  }

  /** Lists the folders and links in a folder, in the order of their names. */
  async #listFolder(folder: SearchedFolder): Promise<Deno.DirEntry[]> {
    const { path, realPath, depth } = folder;
    try {
      const entries = await this.#readFolder(path);
      if (this.#slice.isOver) await this.#slice.yield();
      // The folder may have been replaced by a link since it was visited.
      if (Deno.realPathSync(path) !== realPath) return [];
      const slice = this.#slice;
      const compare = (a: Deno.DirEntry, b: Deno.DirEntry) =>
        byCodeUnits(a.name, b.name);
      return await sortInSlices(entries, { compare, slice });
    } catch (error) {
      if (depth === 0) throw error;
      if (await this.#run(this.#keepKnown(folder, error))) return [];
      // A skill can be served, or off, even if its folder cannot be listed.
      const isSkill = this.#skillFolders.has(realPath) ||
        this.#off.has(realPath);
      if (!isAbsence(error) && !isSkill) {
        await this.#run(
          this.#report({ file: path, ...faultOf(error) }, folder),
        );
      }
      return [];
    }
  }

  async #readFolder(path: string): Promise<Deno.DirEntry[]> {
    if (this.#slice.isOver) await this.#slice.yield();
    const mayBeSearched = ({ isDirectory, isSymlink }: Deno.DirEntry) =>
      isDirectory || isSymlink;
    if (Deno.statSync(path).size <= MAX_SHORT_FOLDER_SIZE) {
      return Array.from(Deno.readDirSync(path)).filter(mayBeSearched);
    }
    const entries: Deno.DirEntry[] = [];
    for await (const entry of Deno.readDir(path)) {
      if (mayBeSearched(entry)) entries.push(entry);
    }
    return entries;
  }

  /** Runs a part of the scan, with pauses. */
  #run<T>(steps: Steps<T>): Promise<T> {
    return runInSlices(steps, this.#slice);
  }

  /**
   * Visits an entry of a folder, and adds the skill in it, if any. A failure is
   * reported and does not affect other entries.
   *
   * @returns The entry, if it is a folder to search as well.
   */
  *#visit(
    { name, isSymlink }: Deno.DirEntry,
    folder: SearchedFolder,
  ): Steps<SearchedFolder | undefined> {
    yield;
    const { root, skill } = folder;
    if (root.recursive && UNSEARCHED_NAMES.has(name)) return undefined;
    const path = childPath(folder.path, name);
    try {
      if (name.includes("\ufffd") && !isListedName(path)) {
        throw new SkillFileError(path, NAME_IS_NOT_UTF_8);
      }
      const realPath = isSymlink
        ? yield* this.#followFolderLink(path, folder)
        : childPath(folder.realPath, name);
      if (realPath === undefined || this.#visited.has(realPath)) {
        return undefined;
      }
      this.#visited.add(realPath);
      this.#folders.add(realPath);
      const child = { path, realPath, depth: folder.depth + 1, root, skill };
      if (yield* this.#addSkillIn(child)) child.skill = realPath;
      const isSearched = root.recursive && child.depth < MAX_SEARCH_DEPTH;
      return isSearched ? child : undefined;
    } catch (error) {
      if (yield* this.#keepKnown({ path, root }, error)) return undefined;
      const problem = { file: path, ...faultOf(error), names: [name] };
      yield* this.#report(problem, { path, root, parent: folder });
      return undefined;
    }
  }

  /** Returns the real path of the target of a link, if it is a folder to search. */
  *#followFolderLink(
    path: string,
    parent: SearchedFolder,
  ): Steps<string | undefined> {
    const { root, skill } = parent;
    const link = { path, root, parent };
    try {
      if (skill === undefined) this.#recordTarget(path);
      yield;
      const realPath = Deno.realPathSync(path);
      yield;
      if (skill !== undefined && !isOwn(realPath, skill, this.#trustLinks)) {
        return undefined;
      }
      if (!Deno.statSync(path).isDirectory) return undefined;
      if (
        root.scope === "global" ||
        isAtOrBelowAny(realPath, this.#allowedTargets)
      ) {
        return realPath;
      }
      // Report only links to skills.
      if ((yield* findSkillFile(path)) === undefined) return undefined;
      yield* this.#reportLink(link, LINK_OUT_OF_PROJECT);
    } catch (error) {
      if (isPassing(error)) throw error;
      // Below a recursive root, dangling links are common and harmless.
      if (!root.recursive) yield* this.#reportLink(link, faultOf(error));
    }
  }

  *#reportLink(folder: ReportedFolder, fault: Fault): Steps<void> {
    const { path } = folder;
    const names = [basename(path)];
    yield* this.#report({ file: path, ...fault, names }, folder);
  }

  /** Adds the skill in a folder, if any, to the catalog. Returns whether there is one. */
  *#addSkillIn(folder: SearchedFolder): Steps<boolean> {
    // Another root has already led to this skill.
    if (this.#skillFolders.has(folder.realPath)) return true;
    const outcome = yield* this.#readSkill(folder);
    if (outcome === undefined) return false;
    yield* this.#record(outcome, folder);
    return true;
  }

  /** Records a skill or its problem, unless it is off. */
  *#record(
    outcome: Skill | SkillProblem,
    folder: SearchedFolder,
  ): Steps<void> {
    const isRecorded = "reason" in outcome
      ? yield* this.#report(outcome, folder)
      : this.#addSkill(outcome, folder);
    if (!isRecorded) return;
    // The policy may have switched it off as a skill of another root.
    this.#skillFolders.set(folder.realPath, folder.root);
    this.#off.delete(folder.realPath);
    this.#excludedFolders.delete(folder.realPath);
  }

  /** Adds a skill to the catalog, unless it is off. Returns whether it was added. */
  #addSkill(
    found: Skill,
    { realPath, root, skill: outer }: SearchedFolder,
  ): boolean {
    const state = this.#policy?.decide(found).state ?? "on";
    if (state === "off") {
      this.#off.set(realPath, found);
      // If another root led to the outer skill, perhaps through a link, this skill is not nested.
      const isNested = outer !== undefined &&
        this.#skillFolders.get(outer) === root;
      if (isNested) this.#excludedFolders.add(realPath);
      return false;
    }
    const skill = state === "on"
      ? found
      : this.#variants.create(found, { state });
    const key = skillKey(skill.name);
    const by = this.#skills.get(key);
    if (by === undefined) this.#skills.set(key, skill);
    else this.#shadowed.push({ key, skill, by });
    return true;
  }

  /** Reads the skill in a folder, if any. Returns the skill or its problem. */
  *#readSkill(
    folder: SearchedFolder,
  ): Steps<Skill | SkillProblem | undefined> {
    const found = yield* findSkillFile(folder.path);
    if (found === undefined) return undefined;
    const { file } = found;
    const known = this.#known.get(file);
    try {
      if ("error" in found) throw found.error;
      if (found.info.isDirectory) {
        throw new SkillFileError(file, SKILL_MD_IS_A_FOLDER);
      }
      const checked = found.info.isSymlink
        ? yield* this.#followFileLink(file, folder)
        : {
          path: file,
          realPath: realPathIn(folder, file),
          boundary: directoriesOf(folder),
          info: found.info,
        };
      if (
        known !== undefined && known.version === fileVersion(checked.info) &&
        known.racyHead === undefined && isReadIn(folder, known)
      ) {
        this.#read.set(file, known);
        return known.outcome;
      }
      return yield* this.#readSkillMd(checked, folder);
    } catch (error) {
      const isGone = "info" in found && !found.info.isSymlink &&
        isAbsence(error);
      if (isGone) return undefined;
      if (known !== undefined && isReadIn(folder, known)) {
        // Many programs replace a file to save it. The next scan reads the new file.
        const wasReplaced = error instanceof SkillFileError &&
          error.reason === WAS_REPLACED.reason;
        if (wasReplaced || isPassing(error)) {
          this.#read.set(file, known);
          if (!wasReplaced) yield* this.#reportPassing(file, { error, folder });
          return known.outcome;
        }
      }
      if (isPassing(error)) this.#isPassing = true;
      return { file, ...faultOf(error), names: [basename(folder.path)] };
    }
  }

  /** Follows a `SKILL.md` that is a link, into the skill or a trusted folder. */
  *#followFileLink(file: string, folder: SearchedFolder): Steps<CheckedFile> {
    this.#recordTarget(file);
    yield;
    const realPath = Deno.realPathSync(file);
    yield;
    if (!isOwn(realPath, folder.realPath, this.#trustLinks)) {
      throw new SkillFileError(file, LINK_OUT_OF_SKILL);
    }
    this.#folders.add(dirname(realPath));
    const boundary = directoriesOf(folder);
    return { path: file, realPath, boundary, info: Deno.statSync(file) };
  }

  *#readSkillMd(
    checked: CheckedFile,
    folder: SearchedFolder,
  ): Steps<Skill | SkillProblem> {
    const file = checked.path;
    const known = this.#known.get(file);
    const { head, info, isCertain } = yield* readConfined(
      checked,
      { maxFileSize: this.#maxFileSize, open: openForScan },
      (file, isCertain) => ({
        head: readHead(file),
        info: file.info,
        isCertain,
      }),
    );
    const version = fileVersion(info);
    const isKnown = known?.version === version &&
      isSameHead(head, known.racyHead) && isReadIn(folder, known);
    const outcome = isKnown
      ? known.outcome
      : parseSkill(head, { file, size: info.size, version, folder });
    const racyHead = isRacy(info) || !isCertain ? head : undefined;
    this.#read.set(file, { folder, version, racyHead, outcome });
    return outcome;
  }
}

function isSameCatalog(
  a: Omit<SkillCatalog, "served">,
  b: SkillCatalog,
): boolean {
  return a.skills.size === b.skills.size &&
    [...a.skills].every(([key, skill]) => b.skills.get(key) === skill) &&
    a.shadowed.length === b.shadowed.length &&
    a.shadowed.every(({ skill, by }, index) =>
      b.shadowed[index]!.skill === skill && b.shadowed[index]!.by === by
    ) &&
    a.problems.length === b.problems.length &&
    a.problems.every((problem, index) =>
      isSameProblem(problem, b.problems[index]!)
    ) &&
    JSON.stringify(a.roots) === JSON.stringify(b.roots);
}

function isSameProblem(a: SkillProblem, b: SkillProblem): boolean {
  return a === b ||
    a.file === b.file && a.line === b.line && a.reason === b.reason &&
      a.hint === b.hint && a.names?.join("\n") === b.names?.join("\n") &&
      JSON.stringify(a.others) === JSON.stringify(b.others);
}

/**
 * The names of folders that a recursive search skips: those of version control,
 * and those in which tools install, build, or cache files. Nobody would give a
 * skill any of these names, which is why `site-packages` is listed but not `venv`.
 */
const UNSEARCHED_NAMES: ReadonlySet<string> = new Set([
  ".git",
  ".hg",
  ".jj",
  ".svn",
  ".bundle",
  ".cache",
  ".cargo",
  ".eggs",
  ".gradle",
  ".idea",
  ".mypy_cache",
  ".next",
  ".nox",
  ".npm",
  ".nuxt",
  ".parcel-cache",
  ".pnpm-store",
  ".pytest_cache",
  ".ruff_cache",
  ".rustup",
  ".svelte-kit",
  ".terraform",
  ".tox",
  ".turbo",
  ".venv",
  ".yarn",
  "__pycache__",
  "node_modules",
  "site-packages",
]);

/** Whether a listed entry can be found by its name. It cannot if the name is not UTF-8. */
function isListedName(path: string): boolean {
  try {
    return isThere(path);
  } catch (error) {
    // Other errors may mean that the name is too long, because an invalid byte
    // becomes a character of three bytes.
    return error instanceof Deno.errors.PermissionDenied;
  }
}

/**
 * Whether a file lies in the folder that listed it, and not in the target of a
 * link that replaced the folder.
 */
function* isSeen(file: string, folder: ReportedFolder): Steps<boolean> {
  const { path, realPath } = folder.parent ?? folder;
  if (realPath === undefined) return true;
  // A folder that Deno is not allowed to read reveals nothing.
  const permission = { name: "read", path } as const;
  if (Deno.permissions.querySync(permission).state !== "granted") return true;
  const isListed = isListedName(file);
  yield;
  return yield* isConfirmed(
    { path, realPath, boundary: directoriesOf({ path, realPath }) },
    function* () {
      yield;
      return isListedName(file) === isListed;
    },
  );
}

/** Returns a folder as a boundary. */
function directoriesOf(
  { path, realPath }: Pick<SearchedFolder, "path" | "realPath">,
): Boundary {
  return { directory: path, realDirectory: realPath };
}

/** Returns the real path of a file in a folder. The file must not be a link. */
function realPathIn(folder: SearchedFolder, file: string): string {
  return folder.realPath + file.slice(folder.path.length);
}

/** Whether a known file was read in the same folder of the same root. */
function isReadIn(folder: SearchedFolder, { outcome }: ReadSkill): boolean {
  return "reason" in outcome ||
    outcome.root === folder.root && outcome.realDirectory === folder.realPath;
}

const ROOT_IS_A_FILE: Fault = {
  kind: "not-a-folder",
  reason: "it is a file, where a folder of skills was expected",
  hint: "pass the path of a folder",
};

const ROOT_IS_A_SKILL: Fault = {
  kind: "root-is-skill",
  reason: "it is a skill itself, where a folder of skills was expected",
  hint: "pass the folder that contains it, or use --skill-dir",
};

const TOO_MANY_FOLDERS: Fault = {
  kind: "too-many",
  reason: `it has more than ${MAX_SEARCHED_FOLDERS} folders and links`,
  hint: "pass a folder closer to the skills",
};

function moreProblems(count: number): Fault {
  return {
    kind: "too-many",
    reason: `it has ${count} more problems that are not listed`,
    hint: "fix the listed ones first",
  };
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
  readonly #options: SkillRegistryOptions;
  readonly #log: (line: string) => void;
  readonly #listeners = new Set<SkillChangeListener>();
  #last: ScanResult = {
    catalog: EMPTY_CATALOG,
    folders: new Set(),
    linkTargets: new Set(),
    excludedFolders: new Set(),
    isPassing: false,
  };
  /** The logged problems that still exist. */
  #logged: ReadonlySet<string> = new Set();
  /** The skills whose files are tracked, by key. The key `undefined` stands for all skills. */
  readonly #tracked = new Map<string | undefined, Tracking>();
  #trackedFiles: ReadonlyMap<string, TrackedFiles> = new Map();
  readonly #scans = new SharedTask<SkillCatalog>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watcher: FolderWatcher | undefined;
  #isWatching = false;
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
    this.#options = options;
    this.#log = options.log ?? log;
  }

  /** The catalog of the last completed scan. */
  get catalog(): SkillCatalog {
    return this.#last.catalog;
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
  async listFiles(skill: Skill): Promise<SkillFile[]> {
    return (await this.#files.walk(skill)).files;
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
  ): Promise<{ files: SkillFile[]; leftOut: SkillProblem[] }> {
    const { files, leftOut } = await this.#files.walk(skill);
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
  ): Promise<SkillFileContent> {
    return this.#files.read(skill, file);
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
   * @returns The catalog, once the scan is complete.
   * @throws {Error} If the policy is invalid.
   */
  refresh(): Promise<SkillCatalog> {
    return this.#scans.run(() => this.#scan());
  }

  /** Runs a task that nobody waits for, and logs its errors. */
  #inBackground(work: () => Promise<unknown>): void {
    work().catch((error) =>
      this.#log(`Cannot look for changes: ${(error as Error).message}`)
    );
  }

  /**
   * Applies another policy, or none, and refreshes the catalog.
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
  async trackFiles(key: string | undefined): Promise<() => void> {
    const tracking = this.#tracked.get(key) ??
      { count: 0, begun: this.refresh() };
    this.#tracked.set(key, tracking);
    tracking.count++;
    let isTracked = true;
    const end = () => {
      if (isTracked && --tracking.count === 0) this.#tracked.delete(key);
      isTracked = false;
    };
    try {
      await tracking.begun;
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /** Starts keeping the catalog current with a timer and by watching the folders. */
  watch(): void {
    const { refreshSeconds = DEFAULT_REFRESH_SECONDS, watchFolders = true } =
      this.#options;
    if (this.#isClosed || this.#isWatching) return;
    this.#isWatching = true;
    if (refreshSeconds > 0) {
      const refresh = () => this.#inBackground(() => this.refresh());
      this.#timer = setInterval(refresh, refreshSeconds * 1000);
      Deno.unrefTimer(this.#timer);
    }
    if (watchFolders) {
      const refresh = () => this.#inBackground(() => this.refresh());
      this.#watcher = new FolderWatcher(refresh, this.#log);
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
    const result = await this.#scanner.scan();
    const { catalog } = result;
    const tracked = await this.#readTracked(result);
    if (this.#isClosed) return previous;
    const files = changedFiles(tracked, this.#trackedFiles);
    this.#last = result;
    this.#files.exclude(result.excludedFolders);
    this.#trackedFiles = tracked;
    this.#inBackground(() => this.#watchFolders());
    this.#scheduleRetry(result);
    if (catalog !== previous) this.#logProblems();
    const change = { catalog, previous, ...changedSkills(catalog, previous) };
    if (change.keys.size + change.states.size + files.size > 0) {
      this.#callListeners({ ...change, files });
    }
    return catalog;
  }

  /** Schedules another scan if something could not be read for the moment. */
  #scheduleRetry({ isPassing }: ScanResult): void {
    clearTimeout(this.#retry);
    this.#retries = isPassing ? this.#retries + 1 : 0;
    if (!isPassing || !this.#isWatching || this.#retries > MAX_RETRIES) return;
    const refresh = () => this.#inBackground(() => this.refresh());
    this.#retry = setTimeout(refresh, RETRY_MS);
    Deno.unrefTimer(this.#retry);
  }

  /** Lists the files of the tracked skills. */
  async #readTracked(
    { catalog, excludedFolders }: ScanResult,
  ): Promise<Map<string, TrackedFiles>> {
    const tracked = new Map<string, TrackedFiles>();
    const { served: skills } = catalog;
    const keys = this.#tracked.has(undefined)
      ? skills.keys()
      : this.#tracked.keys();
    const slice = new TimeSlice();
    for (const key of keys) {
      const skill = skills.get(key!);
      if (skill === undefined) continue;
      if (slice.isOver) await slice.yield();
      const { files, folders } = await this.#files.walk(skill, excludedFolders);
      const versions = files
        // The scan itself detects changes of this file.
        .filter(({ path }) => path !== SKILL_MD)
        .map(({ path, version }) => [path, version] as const);
      tracked.set(key!, { versions: new Map(versions), folders });
    }
    return tracked;
  }

  /** Updates the watched folders to those of the current catalog. */
  async #watchFolders(): Promise<void> {
    if (this.#watcher === undefined) return;
    const tracked = this.#trackedFiles;
    const folders = await listWatchedFolders(this.#last, tracked);
    // Another scan may have ended in the meantime.
    if (tracked === this.#trackedFiles) this.#watcher.update(folders);
  }

  /** Logs the problems that are new since the previous scan. */
  #logProblems(): void {
    const lines = describeProblems(this.catalog);
    for (const line of lines) {
      if (!this.#logged.has(line)) this.#log(line);
    }
    this.#logged = new Set(lines);
  }

  #callListeners(change: SkillChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log(`Cannot handle a change: ${(error as Error).message}`);
      }
    }
  }
}

/** The tracking of a skill's files. */
interface Tracking {
  /** The number of callers that track the files. */
  count: number;
  /** The first refresh that lists the files. */
  readonly begun: Promise<SkillCatalog>;
}

/** The state of a skill's files, kept from one refresh to the next. */
interface TrackedFiles {
  /** The versions of the files, by path. */
  readonly versions: ReadonlyMap<string, string>;
  /** The real paths of the folders that contain them. */
  readonly folders: readonly string[];
}

/** Returns the paths of changed files, by skill. Ignores skills that were not tracked before. */
function changedFiles(
  now: ReadonlyMap<string, TrackedFiles>,
  before: ReadonlyMap<string, TrackedFiles>,
): Map<string, Set<string>> {
  const changed = new Map<string, Set<string>>();
  for (const [key, { versions }] of now) {
    const old = before.get(key)?.versions ?? versions;
    const paths = differences(versions, old);
    if (paths.size > 0) changed.set(key, paths);
  }
  return changed;
}

/** Returns the keys of the skills that differ between two catalogs. */
function changedSkills(
  catalog: SkillCatalog,
  previous: SkillCatalog,
): Pick<SkillChange, "keys" | "states"> {
  if (catalog === previous) return { keys: new Set(), states: new Set() };
  const { served: now } = catalog;
  const { served: before } = previous;
  // Each time a SKILL.md is parsed, it gets a new frontmatter object.
  const keys = differences(now, before, (skill) => skill?.frontmatter);
  const states = differences(now, before, (skill) => skill?.state);
  return { keys, states: states.difference(keys) };
}

/** Returns the keys whose values differ between two maps, compared by some aspect. */
function differences<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
  aspectOf: (value: T | undefined) => unknown = (value) => value,
): Set<string> {
  const keys = [...a.keys(), ...b.keys()];
  return new Set(
    keys.filter((key) => aspectOf(a.get(key)) !== aspectOf(b.get(key))),
  );
}

/** Describes each problem and each shadowed skill of a catalog in one line. */
function describeProblems({ problems, shadowed }: SkillCatalog): string[] {
  const lines = shadowed.slice(0, MAX_LOGGED_SHADOWED).map(({ skill, by }) =>
    `Shadowed ${quote(skill.file)}: the name ${
      quote(skill.name.slice(0, MAX_NAME_LENGTH))
    } is taken by ${quote(by.file)}, which comes first; load it as ${
      quote(qualifiedName(skill).slice(0, MAX_NAME_LENGTH))
    }`
  );
  const rest = shadowed.length - lines.length;
  if (rest > 0) lines.push(`Shadowed ${rest} more skills`);
  return [...problems.map(describeProblem), ...lines];
}

/**
 * Lists the folders in which changes matter: those that the scan searched, those
 * that contain tracked files, and those around the roots and the targets of
 * links. The most important ones come first, because the system may limit the
 * number of watched folders.
 */
async function listWatchedFolders(
  { catalog, folders, linkTargets }: ScanResult,
  tracked: ReadonlyMap<string, TrackedFiles>,
): Promise<WatchedFolders> {
  const list = new WatchList();
  const slice = new TimeSlice();
  for (const { root } of catalog.roots) list.addSurroundings(root.path);
  for (const folder of folders) list.add(folder);
  for (const { folders } of tracked.values()) {
    for (const folder of folders) list.add(folder);
  }
  for (const path of linkTargets) {
    if (slice.isOver) await slice.yield();
    list.addSurroundings(path);
  }
  return list.folders;
}

/**
 * The part of the low-level `Server` of `@modelcontextprotocol/sdk` that tools
 * need. It is declared here because the SDK's own type would pull undocumented
 * types into this module's documentation.
 */
export interface SkillToolServer {
  /** Sets the handler for a request. */
  setRequestHandler(requestSchema: never, handler: never): void;
  /** Notifies the client that the list of tools changed. */
  sendToolListChanged(): Promise<void>;
}

/**
 * Registers the tools of a toolset. Their descriptions reflect the current
 * catalog, and the client is notified when they change.
 *
 * ```ts
 * import { registerSkillTools, SkillRegistry } from "@skill-server/skill-server";
 * import { Server } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/index.js";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * await registry.refresh();
 * const server = new Server(
 *   { name: "my-server", version: "1.0.0" },
 *   { capabilities: { tools: { listChanged: true } } },
 * );
 * registerSkillTools(server, registry, { toolset: "skill" });
 * // await server.connect(transport);
 * ```
 *
 * @param server A server with the capability `tools` that is not connected yet.
 * @param registry The registry of the skills.
 * @param options The toolset and its settings.
 */
export function registerSkillTools(
  server: SkillToolServer,
  registry: SkillRegistry,
  options: SkillToolOptions,
): void {
  const setHandler = server.setRequestHandler.bind(server);
  registerTools(
    {
      setRequestHandler: setHandler as RequestHandlers["setRequestHandler"],
      notify: () => server.sendToolListChanged(),
    },
    registry,
    options,
  );
}

if (import.meta.main) {
  // Not awaited, because skill_server.ts imports this module, which must finish first.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
