/**
 * Near misses: files and folders that are not skills, but may be meant as such. A scan
 * notes them by their names, and a report describes those that are likely mistakes.
 */

import { basename, childOn, childPath, dirname } from "../fs/paths.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { quote } from "../text.ts";
import { isLinkText, toLinkTextFault } from "./root_faults.ts";
import { isSkillFileName } from "./skill_file.ts";
import type { NearMiss, SkillRoot } from "./types.ts";

/** A name that is, or was probably meant as, `SKILL.md`, such as `Skill.md.txt`. */
const LIKE_SKILL_MD =
  /^(?:skills\.md|skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*)$/i;

/** The name of an archive in which skills are passed on. */
const ARCHIVE_NAME = /\.(?:zip|skill|tgz)$/i;

export const MARKDOWN = /\.(?:md|markdown)$/i;

export function kindOfFile(
  name: string,
  { isInRoot }: { isInRoot: boolean },
): NearMiss["kind"] | undefined {
  if (LIKE_SKILL_MD.test(name)) return "misnamed";
  if (ARCHIVE_NAME.test(name)) return "archive";
  // A root is expected to have folders only.
  if (!isInRoot) return undefined;
  if (MARKDOWN.test(name)) return "document";
  return name.includes(".") ? undefined : "file";
}

/** The beginning of a text whose frontmatter has a field of a skill. */
const SKILL_FRONTMATTER =
  /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?(?:name|description)\s*:/;

const LOOSE_FILE: DiagnosticDetails = {
  rule: "loose-file",
  reason: "it is directly in a folder of skills",
  fix:
    'move it, and the files that it needs, into a folder of its own, as "SKILL.md"',
};

const WRONG_NAME: DiagnosticDetails = {
  rule: "file-name",
  reason: 'the file of a skill must be named "SKILL.md"',
  fix: 'rename it to "SKILL.md", which must be plain text',
};

const ARCHIVE: DiagnosticDetails = {
  rule: "archive",
  reason: "it is an archive, where a folder was expected",
  fix: "unpack it into a folder of its own, and remove it",
};

export function isNamedSkills(folder: string): boolean {
  return basename(folder).toLowerCase() === "skills";
}

/** Whether the name of a folder among skills says that it is not a skill. */
export function isMarkedAsNoSkill(folder: string): boolean {
  return /^[._]/.test(basename(folder));
}

/**
 * Says what is wrong with a near miss in a root, and how to make it a skill, if it is
 * likely a mistake. Other folders than those named `skills` may be skills, or projects
 * with documents.
 *
 * @param readStart Reads the beginning of a file.
 */
export function findNearMissFault(
  { kind, path, document }: NearMiss,
  root: SkillRoot,
  readStart: (path: string) => string,
): DiagnosticDetails | undefined {
  const hasFrontmatter = () => SKILL_FRONTMATTER.test(readStart(path));
  const folder = dirname(path);
  const isInRoot = folder === root.path;
  const isAmongSkills = isNamedSkills(folder);
  switch (kind) {
    case "folder":
      return isAmongSkills ? toFolderFault(document) : undefined;
    case "archive":
      return isInRoot && isAmongSkills ? ARCHIVE : undefined;
    case "file":
      return isLinkText(readStart(path))
        ? toLinkTextFault(basename(path))
        : undefined;
    case "document":
      return isAmongSkills && hasFrontmatter() ? LOOSE_FILE : undefined;
    case "misnamed": {
      // Deeper, it may be anything, and "skills.md" may be at any level.
      const isNearTop = isInRoot || dirname(folder) === root.path;
      const isMeant = !/^skills/i.test(basename(path)) || hasFrontmatter();
      if (!isNearTop || !isMeant) return undefined;
      const isLoose = isInRoot && isAmongSkills;
      return isLoose || isSkillFileName(basename(path))
        ? LOOSE_FILE
        : WRONG_NAME;
    }
  }
}

function toFolderFault(document: string | undefined): DiagnosticDetails {
  const fix = document === undefined
    ? 'add one, or, if it is not a skill, begin its name with "_"'
    : `rename ${quote(document)} in it to "SKILL.md"`;
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return { rule: "skill-md-missing", reason, fix };
}

const MAX_NEAR_MISSES = 1_000;

interface Folder {
  readonly root: SkillRoot;
  readonly path: string;
  readonly realPath: string;
  /** How many levels it is below the root. */
  readonly depth: number;
}

/** The near misses in all roots of a scan. Each folder counts once. */
export class NearMisses {
  readonly #byRoot = new Map<SkillRoot, NearMiss[]>();
  readonly #looked = new Set<string>();
  /** The roots, and the folders directly in them, that hold skills. */
  readonly #holders = new Set<string>();

  /** Adds those in a folder, and the folder itself if it may be meant as a skill. */
  add(
    folder: Folder,
    entries: readonly Deno.DirEntry[],
    { mayBeSkill }: { mayBeSkill: boolean },
  ): void {
    if (this.#looked.has(folder.realPath)) return;
    this.#looked.add(folder.realPath);
    const files = listFiles(folder, entries);
    const isMisnamed = files.some(({ kind }) => kind === "misnamed");
    const mayBeMeant = mayBeSkill && folder.depth < 2 && !isMisnamed;
    const found = mayBeMeant
      ? [...files, ...listFolder(folder, entries)]
      : files;
    const all = this.#byRoot.get(folder.root) ?? [];
    all.push(...found.slice(0, MAX_NEAR_MISSES - all.length));
    this.#byRoot.set(folder.root, all);
  }

  /** Notes a skill, so that the root and the folder that hold it are not near misses. */
  addSkill({ root, path, depth }: Folder): void {
    if (depth > 0) this.#holders.add(root.path);
    if (depth > 1) this.#holders.add(childOn(path, root.path));
  }

  listIn(root: SkillRoot): readonly NearMiss[] {
    return (this.#byRoot.get(root) ?? [])
      .filter(({ kind, path }) =>
        kind !== "folder" || !this.#holders.has(path)
      );
  }
}

function listFiles(
  { path, depth }: Folder,
  entries: readonly Deno.DirEntry[],
): NearMiss[] {
  const names = new Set(entries.map(({ name }) => name));
  return entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    const kind = kindOfFile(name, { isInRoot: depth === 0 });
    const isUnpacked = names.has(name.replace(ARCHIVE_NAME, ""));
    if (kind === undefined || (kind === "archive" && isUnpacked)) return [];
    return [{ kind, path: childPath(path, name) }];
  });
}

/** Lists a folder itself, unless it contains only archives, or no skill can have its name. */
function listFolder(
  { path }: Folder,
  entries: readonly Deno.DirEntry[],
): NearMiss[] {
  const own = entries.filter(({ name, isSymlink }) =>
    !isSymlink && !name.startsWith(".") && !ARCHIVE_NAME.test(name)
  );
  if (own.length === 0 || isMarkedAsNoSkill(path)) return [];
  const documents = own.filter((it) => it.isFile && MARKDOWN.test(it.name));
  const document = documents.length === 1 ? documents[0]!.name : undefined;
  return [{ kind: "folder", path, document }];
}
