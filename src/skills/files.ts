/**
 * The files of a skill: which of them are served, how they are listed and read, and
 * their digests. Whatever its path, a file is one of the skill only by its real path.
 *
 * 1. Names that begin with a dot are hidden, except a few that templates need. So are
 *    `node_modules`, `__pycache__`, and what is more than 10 levels deep.
 * 2. A symlink must lead into the skill, to no hidden name, or into a trusted
 * directory.
 * 3. What is hidden is hidden by its real path, and so is what a symlink in it leads
 * to.
 */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import {
  isAbsence,
  LEADS_OUT,
  LINK_OUTSIDE,
  NOT_THERE,
  SkillFileError,
} from "../fs/errors.ts";
import {
  basename,
  childPath,
  isAbsolute,
  isAtOrBelow,
  isAtOrBelowAny,
  isMisread,
  namesIn,
  normalize,
  relative,
} from "../fs/paths.ts";
import {
  isSettled,
  locate,
  type Located,
  readLocated,
  requireReadable,
  versionOf,
} from "../fs/read.ts";
import { listEntries, walk } from "../fs/walk.ts";
import { byCodeUnits, MAX_LENGTHS } from "../text.ts";
import { SKILL_MD } from "./names.ts";
import type {
  Diagnostic,
  Skill,
  SkillFile,
  SkillFileContent,
  SkillFiles,
} from "./types.ts";

/** A skill, and what decides which files are served. */
export interface FileScope {
  readonly skill: Pick<Skill, "directory" | "realDirectory" | "file">;
  /** The real paths of other directories that symlinks are allowed to lead into. */
  readonly trusted: readonly string[];
  /** Whether a file or directory, given by its real path, is hidden from the viewer. */
  readonly isHidden: (realPath: string) => boolean;
  readonly maxFileSize: number | undefined;
  /** Says what is wrong, and how to fix it. */
  readonly describe: (error: unknown) => DiagnosticDetails;
}

/** The maximum number of names in the path of a file. */
export const MAX_FILE_DEPTH = 10;

/** Names that begin with a dot, but are parts of templates and documents, and hold no secrets. */
const SERVED_DOT_NAMES: ReadonlySet<string> = new Set([
  ".rels",
  ".github",
  ".gitignore",
  ".gitattributes",
  ".editorconfig",
  ".env.example",
  ".claude-plugin",
]);

/** Whether a file or directory with this name is served. */
export function isVisible(name: string): boolean {
  const isHidden = name.startsWith(".") && !SERVED_DOT_NAMES.has(name);
  return !isHidden && name !== "node_modules" && name !== "__pycache__" &&
    !isMisread(name);
}

/**
 * Whether a real path is inside a skill: it is in the skill's real directory, without a
 * hidden name on its way, or in a trusted directory.
 */
export function isInsideSkill(
  realPath: string,
  realDirectory: string,
  trusted: readonly string[],
): boolean {
  if (!isAtOrBelow(realPath, realDirectory)) {
    return isAtOrBelowAny(realPath, trusted);
  }
  // Kubernetes mounts a file as a symlink into a directory with a name such as
  // `..data`.
  return namesIn(relative(realDirectory, realPath))
    .every((name) => isVisible(name) || name.startsWith(".."));
}

/** Whether a path leads out of the directory that it starts in, by its names alone. */
function leadsOut(path: string): boolean {
  return path.length <= MAX_LENGTHS.path &&
    namesIn(normalize(path))[0] === "..";
}

/** Splits a path into names. Returns `undefined` if it cannot be the path of a served file. */
export function splitPath(path: string): string[] | undefined {
  // Normalizing takes time quadratic in the length.
  if (path.length > MAX_LENGTHS.path) return undefined;
  const names = namesIn(normalize(path))
    .filter((name) => name !== "" && name !== ".");
  const isServed = !isAbsolute(path) && names[0] !== ".." &&
    names.length <= MAX_FILE_DEPTH;
  return isServed ? names : undefined;
}

// ---- Listing -----------------------------------------------------------------------

const MAX_ENTRIES = 20_000;

const TOO_DEEP: DiagnosticDetails = {
  rule: "too-many",
  reason: `its entries are more than ${MAX_FILE_DEPTH} levels deep`,
  fix: "move them closer to the top",
};

function tooManyEntries(limit: number): DiagnosticDetails {
  return {
    rule: "too-many",
    reason:
      `the limit of ${limit} entries was reached here, and the rest was skipped`,
    fix: "move files that the skill does not need out of it",
  };
}

/** An entry of a skill's directory that is still to be visited. */
interface Entry {
  readonly name: string;
  /** Its path on disk. */
  readonly path: string;
  /** Its path in the skill, with `/` as the separator. */
  readonly file: string;
  readonly isSymlink: boolean;
  /** The real paths of the directories on the way to it, the innermost first. */
  readonly above: readonly string[];
}

/**
 * Lists the files of a skill, breadth first, and what is not served.
 *
 * @param maxEntries The largest number of entries to visit.
 */
export async function listFiles(
  scope: FileScope,
  maxEntries: number = MAX_ENTRIES,
): Promise<SkillFiles> {
  const { skill, describe } = scope;
  const files: SkillFile[] = [];
  const dirs: string[] = [];
  const leftOut: Diagnostic[] = [];
  const queue: Entry[] = [];
  const enter = (path: string, file: string, realDirs: readonly string[]) => {
    try {
      queue.push(...listVisible(path, file, realDirs));
      dirs.push(realDirs[0]!);
    } catch (error) {
      // It may have just been removed.
      if (!isAbsence(error)) leftOut.push({ file, ...describe(error) });
    }
  };

  enter(skill.directory, "", [skill.realDirectory]);
  for await (const entry of walk(queue, maxEntries)) {
    const { path, file, above } = entry;
    try {
      const found = findEntry(entry, scope);
      if (found === undefined) continue;
      if (found.status.isDirectory) {
        if (above.length >= MAX_FILE_DEPTH) {
          throw new SkillFileError(path, TOO_DEEP);
        }
        enter(path, `${file}/`, [found.realPath, ...above]);
        continue;
      }
      requireReadable(found, scope.maxFileSize);
      files.push({
        path: path === skill.file ? SKILL_MD : file,
        size: found.status.size,
        version: versionOf(found.status),
      });
    } catch (error) {
      // Unless it is a symlink, it was just removed.
      const isGone = !entry.isSymlink && isAbsence(error);
      if (!isGone) leftOut.push({ file, ...describe(error) });
    }
  }
  const unvisited = queue[maxEntries];
  if (unvisited !== undefined) {
    leftOut.push({ file: unvisited.file, ...tooManyEntries(maxEntries) });
  }
  return {
    files: files.sort((a, b) => byCodeUnits(a.path, b.path)),
    dirs,
    leftOut: leftOut.sort((a, b) => byCodeUnits(a.file, b.file)),
    entries: queue.length,
  };
}

function listVisible(
  dir: string,
  prefix: string,
  above: readonly string[],
): Entry[] {
  return listEntries(dir).filter(({ name }) => isVisible(name))
    .map(({ name, isSymlink }) => ({
      name,
      path: childPath(dir, name),
      file: prefix + name,
      isSymlink,
      above,
    }));
}

/**
 * Finds out what an entry is, unless it is hidden, or a symlink to a directory that
 * contains it.
 *
 * @throws {SkillFileError} If it is a symlink that leads outside the skill.
 * @throws {Error} If it is missing, or unreadable.
 */
function findEntry(
  { name, path, isSymlink, above }: Entry,
  scope: FileScope,
): Located | undefined {
  const found = isSymlink ? locateInSkill(path, scope) : {
    path,
    realPath: childPath(above[0]!, name),
    status: Deno.statSync(path),
  };
  const { realPath } = found;
  return scope.isHidden(realPath) || above.includes(realPath)
    ? undefined
    : found;
}

/** @throws {SkillFileError} If the path leads outside the skill. */
function locateInSkill(path: string, scope: FileScope): Located {
  const { skill: { realDirectory }, trusted } = scope;
  return locate(
    path,
    (realPath) => isInsideSkill(realPath, realDirectory, trusted),
  );
}

// ---- Reading -----------------------------------------------------------------------

/**
 * Reads a file of a skill.
 *
 * @param path Its path in the skill, with `/` as the separator.
 * @throws {SkillFileError} If it does not exist, is not in the skill, is not a regular
 *   file, is too large, or cannot be read.
 */
export function readSkillFile(
  path: string,
  scope: FileScope,
): SkillFileContent {
  return read(path, scope).content;
}

function read(
  path: string,
  scope: FileScope,
): { content: SkillFileContent; status: Deno.FileInfo } {
  try {
    const names = splitPath(path);
    if (!names?.every(isVisible)) throw new Deno.errors.NotFound();
    const file = locateByName(names, scope);
    const bytes = readLocated(file, { maxFileSize: scope.maxFileSize });
    const content = {
      path: names.join("/"),
      size: bytes.length,
      version: versionOf(file.status),
      bytes,
      text: decode(bytes),
    };
    return { content, status: file.status };
  } catch (error) {
    // A file outside the skill must look like a missing one.
    const isMissing = isAbsence(error) ||
      (error instanceof SkillFileError && error.rule === LINK_OUTSIDE.rule);
    if (!isMissing) throw new SkillFileError(path, scope.describe(error));
    throw new SkillFileError(path, leadsOut(path) ? LEADS_OUT : NOT_THERE);
  }
}

/**
 * Finds a file name by name, because nothing is served through a hidden directory,
 * wherever a symlink in it leads.
 *
 * @throws {Error} If there is no such file in the skill.
 */
function locateByName(names: readonly string[], scope: FileScope): Located {
  const { skill, isHidden } = scope;
  const isMain = names.join("/") === SKILL_MD;
  const above = [skill.realDirectory];
  let found = locateInSkill(skill.directory, scope);
  for (const name of isMain ? [basename(skill.file)] : names) {
    found = locateInSkill(childPath(found.path, name), scope);
    const { realPath } = found;
    if (isHidden(realPath) || above.includes(realPath)) {
      throw new Deno.errors.NotFound();
    }
    above.push(realPath);
  }
  return found;
}

function decode(bytes: Uint8Array): string | undefined {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  return attempt(() => decoder.decode(bytes));
}

// ---- Digests -----------------------------------------------------------------------

const MAX_DIGESTS = 100_000;

/**
 * Returns the digest and the size of a listed file.
 *
 * @param known The digests of settled files, by version and path. This function adds to
 *   it.
 * @throws {SkillFileError} As {@linkcode readSkillFile} does.
 */
export function digestFile(
  { path, version, size }: SkillFile,
  scope: FileScope,
  known: Map<string, string>,
): { digest: string; size: number } {
  // With the path, because a number cannot represent every inode exactly.
  const keyOf = (version: string) =>
    `${version}:${childPath(scope.skill.realDirectory, path)}`;
  const digest = known.get(keyOf(version));
  if (digest !== undefined) return { digest, size };
  const { content, status } = read(path, scope);
  const current = sha256(content.bytes);
  if (known.size >= MAX_DIGESTS) known.clear();
  if (isSettled(status)) known.set(keyOf(content.version), current);
  return { digest: current, size: content.size };
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand. For small files, Web Crypto takes five times as long.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
