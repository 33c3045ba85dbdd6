/**
 * Lists, reads, and digests the files of a skill. The real path of a file decides
 * whether the skill serves it:
 *
 * 1. Names that begin with a dot are hidden, except a few that templates need. So are
 *    `node_modules`, `__pycache__`, and files more than 10 levels deep.
 * 2. A symlink must lead to a visible name in the skill, or into a trusted directory.
 * 3. An inner skill can be hidden from the viewer, and so are the targets of symlinks in
 *    it.
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
  dirname,
  isAbsolute,
  isAtOrBelow,
  isAtOrBelowAny,
  isMisread,
  join,
  namesIn,
  normalize,
  relative,
} from "../fs/paths.ts";
import {
  isSettled,
  listDirEntries,
  locate,
  type Located,
  readLocated,
  requireReadable,
  versionOf,
} from "../fs/read.ts";
import { inTurns } from "../tasks.ts";
import { byCodeUnits, MAX_LENGTHS } from "../text.ts";
import { SKILL_MD } from "./names.ts";
import type {
  Diagnostic,
  Skill,
  SkillFile,
  SkillFileContent,
  SkillFiles,
} from "./types.ts";

/** A skill, and the conditions under which its files are served. */
export interface FileAccess {
  readonly skill: Pick<Skill, "directory" | "realDirectory" | "file">;
  /** The real paths of other directories that symlinks may lead into. */
  readonly trusted: readonly string[];
  /** Whether a directory, by its real path, and what is in it are hidden from the viewer. */
  readonly isHidden: (dir: string) => boolean;
  readonly maxFileSize: number | undefined;
  /** Describes an error and its fix. */
  readonly describe: (error: unknown) => DiagnosticDetails;
}

/** The maximum number of segments in the path of a file. */
const MAX_FILE_DEPTH = 10;

/** Dot names that templates and documents use, and that hold no secrets. */
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
function isServedName(name: string): boolean {
  const isDotName = name.startsWith(".") && !SERVED_DOT_NAMES.has(name);
  return !isDotName && name !== "node_modules" && name !== "__pycache__" &&
    !isMisread(name);
}

/**
 * Whether a real path is inside a skill: in its real directory, with visible names only,
 * or in a trusted directory.
 */
export function isInsideSkill(
  realPath: string,
  realDirectory: string,
  trusted: readonly string[],
): boolean {
  if (!isAtOrBelow(realPath, realDirectory)) {
    return isAtOrBelowAny(realPath, trusted);
  }
  // Kubernetes mounts files as symlinks into directories such as `..data`.
  return namesIn(relative(realDirectory, realPath))
    .every((name) => isServedName(name) || name.startsWith(".."));
}

/** Returns the path of a file of a skill through its root. */
export function pathOnDisk({ file, directory }: Skill, path: string): string {
  return path === SKILL_MD ? file : join(directory, path);
}

/** Whether a path leads out of its directory, such as `../a`. */
function pointsOutside(path: string): boolean {
  return path.length <= MAX_LENGTHS.path &&
    namesIn(normalize(path))[0] === "..";
}

/** Splits a path into names, or returns `undefined` if no served file can have it. */
export function splitPath(path: string): string[] | undefined {
  // Normalizing a path takes quadratic time.
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
      `the list stops here, at ${limit} entries, and the server skips the rest`,
    fix: "move files that the skill does not need out of it",
  };
}

/** A skill's directory or an entry below it, waiting to be visited. */
interface Entry {
  /** Its path on disk. */
  readonly path: string;
  /** Its path relative to the skill, with `/` as the separator. */
  readonly relativePath: string;
  /** Its path, with the symlinks above it resolved. */
  readonly location: string;
  readonly isSymlink: boolean;
  /** The real paths of the directories on the way to it, the innermost first. */
  readonly above: readonly string[];
}

/**
 * Lists the files of a skill, and a diagnostic for each entry that it does not serve.
 * Visits them breadth first.
 */
export async function listFiles(
  access: FileAccess,
  maxEntries: number = MAX_ENTRIES,
): Promise<SkillFiles> {
  const { skill, describe } = access;
  const files: SkillFile[] = [];
  const dirs: string[] = [];
  const skipped: Diagnostic[] = [];
  const top: Entry = {
    path: skill.directory,
    relativePath: "",
    location: skill.realDirectory,
    isSymlink: false,
    above: [],
  };
  const queue = [top];
  let unvisited: Entry | undefined;

  for await (const entry of inTurns(queue)) {
    const { path, isSymlink } = entry;
    let { relativePath } = entry;
    try {
      const found = findEntry(entry, access);
      if (found === undefined) continue;
      const { realPath, status } = found;
      if (status.isDirectory) {
        if (entry !== top) relativePath += "/";
        const inside = listInside(entry, realPath, relativePath);
        dirs.push(realPath);
        const left = maxEntries + 1 - queue.length;
        for (const child of inside.slice(0, left)) queue.push(child);
        unvisited ??= inside[left];
        continue;
      }
      requireReadable(found, access.maxFileSize);
      files.push({
        path: path === skill.file ? SKILL_MD : relativePath,
        size: status.size,
        version: versionOf(status),
      });
    } catch (error) {
      // A missing entry was just removed, unless it is a dangling symlink.
      const isGone = !isSymlink && isAbsence(error);
      if (!isGone) skipped.push({ file: relativePath, ...describe(error) });
    }
  }
  if (unvisited !== undefined) {
    const { relativePath: file } = unvisited;
    skipped.push({ file, ...tooManyEntries(maxEntries) });
  }
  return {
    files: files.sort((a, b) => byCodeUnits(a.path, b.path)),
    dirs,
    skipped: skipped.sort((a, b) => byCodeUnits(a.file, b.file)),
    entryCount: queue.length - 1,
    isComplete: unvisited === undefined,
  };
}

/**
 * Lists the visible entries of a directory.
 *
 * @param prefix Its path relative to the skill, with `/` at the end.
 * @throws {SkillFileError} If it is too deep.
 * @throws {Error} If it is missing or unreadable.
 */
function listInside(
  { path, above }: Entry,
  realPath: string,
  prefix: string,
): Entry[] {
  if (above.length >= MAX_FILE_DEPTH) throw new SkillFileError(path, TOO_DEEP);
  return listDirEntries(path, ({ name }) => isServedName(name))
    .map(({ name, isSymlink }) => ({
      path: childPath(path, name),
      relativePath: prefix + name,
      location: childPath(realPath, name),
      isSymlink,
      above: [realPath, ...above],
    }));
}

/**
 * Locates an entry, unless it is hidden or a symlink to a directory that contains it.
 *
 * @throws {SkillFileError} If it is a symlink that leads outside the skill.
 * @throws {Error} If it is missing or unreadable.
 */
function findEntry(
  { path, location, isSymlink, above }: Entry,
  access: FileAccess,
): Located | undefined {
  const found = isSymlink
    ? locateInSkill(path, access)
    : { path, realPath: location, status: Deno.statSync(path) };
  return isHidden(found, access) || above.includes(found.realPath)
    ? undefined
    : found;
}

function isHidden({ realPath, status }: Located, access: FileAccess): boolean {
  return access.isHidden(status.isDirectory ? realPath : dirname(realPath));
}

/** @throws {SkillFileError} If the path leads outside the skill. */
function locateInSkill(path: string, access: FileAccess): Located {
  const { skill: { realDirectory }, trusted } = access;
  return locate(
    path,
    (realPath) => isInsideSkill(realPath, realDirectory, trusted),
  );
}

// ---- Reading -----------------------------------------------------------------------

/** Reads a file of a skill by its path in it, as `SkillRegistry.readFile()` does. */
export function readSkillFile(
  path: string,
  access: FileAccess,
): SkillFileContent {
  return read(path, access).content;
}

function read(
  path: string,
  access: FileAccess,
): { content: SkillFileContent; status: Deno.FileInfo } {
  try {
    const names = splitPath(path);
    if (!names?.every(isServedName)) throw new Deno.errors.NotFound();
    const file = locateByName(names, access);
    const bytes = readLocated(file, { maxFileSize: access.maxFileSize });
    const content = {
      path: names.join("/"),
      size: bytes.length,
      version: versionOf(file.status),
      bytes,
      text: decode(bytes),
    };
    return { content, status: file.status };
  } catch (error) {
    // A file outside the skill must be indistinguishable from a missing one.
    const isMissing = isAbsence(error) ||
      (error instanceof SkillFileError && error.rule === LINK_OUTSIDE.rule);
    if (!isMissing) throw new SkillFileError(path, access.describe(error));
    throw new SkillFileError(path, pointsOutside(path) ? LEADS_OUT : NOT_THERE);
  }
}

/**
 * Locates a file name by name, because no path may lead through a hidden directory, even
 * to a visible target of a symlink in it.
 *
 * @throws {Error} If the skill has no such file.
 */
function locateByName(names: readonly string[], access: FileAccess): Located {
  const { skill } = access;
  const isMain = names.join("/") === SKILL_MD;
  const namesOnDisk = isMain ? [basename(skill.file)] : names;
  const above = [skill.realDirectory];
  let found = locateInSkill(skill.directory, access);
  for (const name of namesOnDisk) {
    found = locateInSkill(childPath(found.path, name), access);
    const { realPath } = found;
    if (isHidden(found, access) || above.includes(realPath)) {
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
 * @param known A cache of the digests of settled files, by version and path.
 * @throws {SkillFileError} As {@linkcode readSkillFile} does.
 */
export function digestFile(
  { path, version, size }: SkillFile,
  access: FileAccess,
  known: Map<string, string>,
): { digest: string; size: number } {
  // A JavaScript number cannot represent every inode, so versions alone can collide.
  const keyOf = (version: string) =>
    `${version}:${childPath(access.skill.realDirectory, path)}`;
  const digest = known.get(keyOf(version));
  if (digest !== undefined) return { digest, size };
  const { content, status } = read(path, access);
  const current = sha256(content.bytes);
  if (known.size >= MAX_DIGESTS) known.clear();
  if (isSettled(status)) known.set(keyOf(content.version), current);
  return { digest: current, size: content.size };
}

/** Returns the SHA-256 digest of bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand. Web Crypto takes five times as long for small files.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
