/**
 * The folders in the rules of a policy. A rule's glob is resolved on disk, so that
 * a link can neither evade a rule nor benefit from one.
 *
 * 1. Alternatives in braces are folders of their own.
 * 2. A folder counts by its path and by its real path.
 * 3. Below a wildcard, the links that match it are followed, up to the first
 *    `**`. This requires listing the folder above the wildcard.
 * 4. A folder that does not exist is no fault. It is looked for at each scan.
 *    Any other error means that the rule cannot be resolved.
 *
 * @module
 */

import { posix } from "node:path";
import { type Fault, faultOf, isAbsence } from "../files/faults.ts";
import {
  childPath,
  isAtOrBelow,
  isCaseBlind,
  isWindows,
  resolveFolder,
} from "../files/paths.ts";
import { isFolder } from "../files/confinement.ts";
import type { BaseFolders } from "../files/types.ts";
import { normalizeText, quote } from "../text.ts";

/** The maximum number of folders that a glob can stand for, each with its own links. */
const MAX_FOLDERS = 1_000;

/** What is wrong with a policy. */
export type PolicyFault = Omit<Fault, "rule">;

/** A folder that a glob stands for. */
interface RuleFolder {
  readonly path: string;
  /** The rest of the glob, beginning with a wildcard. If it is empty, the folder itself matches. */
  readonly rest: readonly string[];
  /** Whether everything in a matching folder matches too. */
  readonly isDeep: boolean;
}

/** A folder and a pattern for what lies in it. */
interface Region extends Pick<RuleFolder, "isDeep"> {
  /** The path or the real path, in comparable form. */
  readonly folder: string;
  readonly glob: Glob | undefined;
}

export class FolderGlob {
  readonly #folders: readonly RuleFolder[];
  /** The folders on disk that the glob stands for. */
  readonly #found = new Map<string, RuleFolder>();
  #regions: readonly Region[] = [];
  /** Why the glob cannot be resolved, if it cannot. */
  fault: PolicyFault | undefined;

  constructor(glob: string, base: BaseFolders) {
    this.#folders = listRuleFolders(glob, base);
    this.resolve();
  }

  /** Resolves the glob again. */
  resolve(): void {
    this.#found.clear();
    this.fault = undefined;
    for (const folder of this.#folders) {
      if (this.fault === TOO_MANY_FOLDERS) break;
      this.#record(folder);
      this.#follow(folder, folder.path);
    }
    this.#regions = [...this.#found.values()].map(({ path, rest, isDeep }) => {
      const names = rest.at(-1) === "**" ? rest.slice(0, -1) : rest;
      const glob = names.length === 0
        ? undefined
        : compileGlob(comparable(names.join("/")));
      return { folder: comparablePath(path), glob, isDeep };
    });
  }

  /** Follows a path that has no links if its real path is the expected one. */
  #follow(folder: RuleFolder, expected: string): void {
    const { path, rest } = folder;
    try {
      const realPath = Deno.realPathSync(path);
      if (realPath !== expected) this.#record({ ...folder, path: realPath });
      const [pattern, ...below] = rest;
      if (pattern === undefined || pattern === "**") return;
      for (const name of listMatching(path, { pattern, below })) {
        const child = { ...folder, path: childPath(path, name), rest: below };
        this.#follow(child, childPath(realPath, name));
      }
    } catch (error) {
      if (!isAbsence(error)) this.fault ??= describeFault(path, rest, error);
    }
  }

  #record(folder: RuleFolder): void {
    const { path, rest, isDeep } = folder;
    const key = `${path}\0${rest.join("/")}\0${isDeep}`;
    if (this.#found.size >= MAX_FOLDERS) this.fault ??= TOO_MANY_FOLDERS;
    else this.#found.set(key, folder);
  }

  /** Whether a path in comparable form is a matching folder, or lies in one if the glob says so. */
  matches(path: string): boolean {
    return this.#regions.some((region) => isInRegion(path, region));
  }

  /** Whether a path in comparable form is a matching folder itself. */
  names(path: string): boolean {
    return this.#regions.some((region) =>
      isInRegion(path, { ...region, isDeep: false })
    );
  }

  /** Whether the glob stands for an existing folder that none of the given folders contains. */
  fitsElsewhere(folders: readonly string[]): boolean {
    return this.#folders.some(({ path }) =>
      isFolder(path) && !folders.some((folder) => isAtOrBelow(path, folder))
    );
  }
}

/**
 * Lists the folders that a glob stands for, one for each alternative.
 *
 * @throws {Error} If the glob is relative to an unknown folder.
 */
export function listRuleFolders(
  glob: string,
  base: BaseFolders,
): RuleFolder[] {
  const slashed = isWindows ? glob.replaceAll("\\", "/") : glob;
  return expandBraces(slashed).map((text) => {
    const parts = text.replace(/\/+$/, "").split("/");
    const first = parts.findIndex((part) => WILDCARD.test(part));
    const end = first === -1 ? parts.length : first;
    const folder = parts.slice(0, end).map((part) => `${part}/`).join("");
    const rest = parts.slice(end);
    const isDeep = rest.length === 0 || rest.at(-1)!.endsWith("**");
    return { path: resolveFolder(folder, base), rest, isDeep };
  });
}

/** Lists the links in a folder, and the folders that can contain links, whose names match a pattern. */
function listMatching(
  folder: string,
  { pattern, below }: { pattern: string; below: readonly string[] },
): string[] {
  if (!WILDCARD.test(pattern)) return [pattern];
  const glob = compileGlob(comparable(pattern));
  const hasLinks = ({ isSymlink, isDirectory }: Deno.DirEntry) =>
    isSymlink || isDirectory && below.length > 0 && below[0] !== "**";
  return [...Deno.readDirSync(folder)].filter(hasLinks)
    .map(({ name }) => name)
    .filter((name) => matchesGlob(comparable(name), glob));
}

const TOO_MANY_FOLDERS: PolicyFault = {
  reason: `a glob stands for more than ${MAX_FOLDERS} folders`,
  hint: "write the folders without wildcards",
};

function describeFault(
  path: string,
  rest: readonly string[],
  error: unknown,
): PolicyFault {
  const what = rest.length > 0 && rest[0] !== "**"
    ? `the folder ${quote(path)} above the wildcard cannot be listed`
    : `the folder ${quote(path)} cannot be resolved`;
  if (!(error instanceof Deno.errors.NotCapable)) {
    const { reason, hint } = faultOf(error);
    return { reason: `${what}: ${reason}`, hint };
  }
  const others = rest.length > 0
    ? ", or write the folders without wildcards"
    : "";
  return {
    reason: `${what}: Deno is not allowed to read it`,
    hint: `add --allow-read=${path}${others}`,
  };
}

function isInRegion(path: string, { folder, glob, isDeep }: Region): boolean {
  if (glob === undefined) {
    return path === folder || isDeep && path.startsWith(`${folder}/`);
  }
  if (!path.startsWith(`${folder}/`)) return false;
  const rest = path.slice(folder.length + 1);
  if (!containsLiterals(rest, glob)) return false;
  return matchesGlob(rest, glob) ||
    isDeep && matchesGlob(rest, { ...glob, pattern: `${glob.pattern}/**` });
}

export interface Glob {
  readonly pattern: string;
  /** Texts that every match contains. Checking them first saves most of the matching time. */
  readonly literals: readonly string[];
}

/** The characters that begin a wildcard. */
export const WILDCARD = /[*?[{]/;

/** Compiles a glob in comparable form. */
export function compileGlob(glob: string): Glob {
  const literals = glob.replace(/[[{].*[\]}]/, "*").split(/[*?[\]{}/]+/)
    .filter(Boolean);
  return { pattern: plain(glob), literals };
}

export function containsLiterals(text: string, { literals }: Glob): boolean {
  return literals.every((literal) => text.includes(literal));
}

export function matchesGlob(text: string, { pattern }: Glob): boolean {
  return posix.matchesGlob(plain(text), pattern);
}

/**
 * Replaces characters that are special in the platform's globs, but not here:
 * the dot (`*` does not match a leading dot, and `{1..9}` is a range), the
 * backslash (a separator), and the parenthesis (the start of a pattern that can
 * take forever to match). Texts and patterns get the same replacements. Neither
 * can contain the replacement characters otherwise.
 */
function plain(text: string): string {
  return text.replaceAll(".", "\u0000").replaceAll("\\", "\u0001")
    .replaceAll("(", "\u0002");
}

/** Expands the alternatives in braces, which can be nested. */
export function expandBraces(glob: string): string[] {
  const group = /\{([^{}]*,[^{}]*)\}/.exec(glob);
  if (group === null) return [glob];
  const before = glob.slice(0, group.index);
  const after = glob.slice(group.index + group[0].length);
  const texts = group[1]!.split(",")
    .flatMap((part) => expandBraces(before + part + after));
  return [...new Set(texts)];
}

/**
 * Returns a path in comparable form, with slashes. It has no slash at the end,
 * so the root is empty.
 */
export function comparablePath(path: string): string {
  const slashed = isWindows ? path.replaceAll("\\", "/") : path;
  return comparable(slashed.replace(/\/+$/, ""));
}

/** Normalizes a text so that all spellings of a file name compare equal. */
function comparable(text: string): string {
  const composed = normalizeText(text);
  return isCaseBlind ? composed.toLowerCase() : composed;
}
