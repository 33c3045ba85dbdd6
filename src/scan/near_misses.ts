/**
 * What roots have that may be meant as skills, and are none, and how to make it skills.
 * Only names are looked at.
 *
 * @module
 */

import { basename, childPath, dirname, extname } from "../files/paths.ts";
import type { Fault, Problem } from "../problems.ts";
import { isSkillFileName } from "../skills/skill_file.ts";
import type { NearMiss, SkillRoot } from "../skills/types.ts";
import { quote } from "../text.ts";
import type { VisitedFolder } from "./record.ts";

/** The maximum number in one root. */
const MAX_NEAR_MISSES = 1_000;

/** A name that was probably meant as `SKILL.md`, such as `Skill.md.txt` or `SKILL copy.md`. */
const LIKE_SKILL_MD =
  /^(?:skills\.md|skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*)$/i;

/** The name of an archive in which skills are passed on. */
const ARCHIVE_NAME = /\.(?:zip|skill|tgz)$/i;

const MARKDOWN = /\.(?:md|markdown)$/i;

/** A folder that is listed and is no skill, at a number of levels below its root. */
type Folder = Pick<VisitedFolder, "root" | "path" | "realPath"> & {
  readonly depth: number;
};

/** The near misses in all roots of a scan. Those in a folder count once. */
export class NearMisses {
  readonly #byRoot = new Map<SkillRoot, NearMiss[]>();
  /** The real paths of the folders that were looked at. */
  readonly #known = new Set<string>();

  /** Adds those in a folder, and the folder itself if it may be meant as a skill. */
  add(
    folder: Folder,
    entries: readonly Deno.DirEntry[],
    { mayBeSkill }: { mayBeSkill: boolean },
  ): void {
    if (this.#known.has(folder.realPath)) return;
    this.#known.add(folder.realPath);
    const files = listFiles(folder, entries);
    const isMisnamed = files.some(({ kind }) => kind === "misnamed");
    const isWhole = mayBeSkill && folder.depth < 2 && !isMisnamed;
    const found = isWhole ? [...files, ...toNearMiss(folder, entries)] : files;
    const all = this.#byRoot.get(folder.root) ?? [];
    all.push(...found.slice(0, MAX_NEAR_MISSES - all.length));
    this.#byRoot.set(folder.root, all);
  }

  /** Lists those in a root. */
  listIn(root: SkillRoot): readonly NearMiss[] {
    return this.#byRoot.get(root) ?? [];
  }
}

/** Lists the files that may be meant as skills, or as a part of one. */
function listFiles(
  { path, depth }: Folder,
  entries: readonly Deno.DirEntry[],
): NearMiss[] {
  const names = new Set(entries.map(({ name }) => name));
  return entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    const kind = kindOf(name, { isInRoot: depth === 0 });
    const isUnpacked = names.has(name.replace(ARCHIVE_NAME, ""));
    if (kind === undefined || (kind === "archive" && isUnpacked)) return [];
    return [{ kind, path: childPath(path, name) }];
  });
}

function kindOf(
  name: string,
  { isInRoot }: { isInRoot: boolean },
): NearMiss["kind"] | undefined {
  if (LIKE_SKILL_MD.test(name)) return "misnamed";
  if (ARCHIVE_NAME.test(name)) return "archive";
  // A root is expected to have folders only.
  return isInRoot && MARKDOWN.test(name) ? "document" : undefined;
}

/** Converts a folder, unless it has nothing of its own but archives, or is named as no skill is. */
function toNearMiss(
  { path }: Folder,
  entries: readonly Deno.DirEntry[],
): NearMiss[] {
  const own = entries.filter(({ name, isSymlink }) =>
    !isSymlink && !name.startsWith(".") && !ARCHIVE_NAME.test(name)
  );
  if (own.length === 0 || /^[._]/.test(basename(path))) return [];
  const documents = own.filter((it) => it.isFile && MARKDOWN.test(it.name));
  const document = documents.length === 1 ? documents[0]!.name : undefined;
  return [{ kind: "folder", path, document }];
}

/** Returns the name of the skill that a near miss would be. */
export function nameOfNearMiss({ kind, path }: NearMiss): string {
  if (kind === "misnamed") return basename(dirname(path));
  return kind === "folder" ? basename(path) : basename(path, extname(path));
}

const LOOSE_FILE: Fault = {
  rule: "loose-file",
  reason: "it is directly in a folder of skills",
  hint: "move it, and the files that it needs, into a folder of its own",
};

const LOOSE_AND_MISNAMED: Fault = {
  ...LOOSE_FILE,
  hint: `${LOOSE_FILE.hint}, and rename it to "SKILL.md"`,
};

const WRONG_NAME: Fault = {
  rule: "file-name",
  reason: 'the file of a skill must be named "SKILL.md"',
  hint: 'rename it to "SKILL.md"',
};

const ARCHIVE: Fault = {
  rule: "archive",
  reason: "it is an archive, where a folder was expected",
  hint: "unpack it into a folder of its own, and remove it",
};

/** Says what is wrong with a near miss in a root, and how to make it a skill. */
export function toNearMissProblem(miss: NearMiss, root: SkillRoot): Problem {
  return { file: miss.path, ...toFault(miss, root) };
}

function toFault(
  { kind, path, document }: NearMiss,
  root: SkillRoot,
): Fault {
  switch (kind) {
    case "archive":
      return ARCHIVE;
    case "folder":
      return toFolderFault(document);
    case "document":
      return toDocumentFault(path);
    case "misnamed":
      if (isSkillFileName(basename(path))) return LOOSE_FILE;
      return dirname(path) === root.path && isAmongSkills(path)
        ? LOOSE_AND_MISNAMED
        : WRONG_NAME;
  }
}

/** Whether a path lies directly in a folder with the name of one of skills. */
export function isAmongSkills(path: string): boolean {
  return basename(dirname(path)).toLowerCase() === "skills";
}

function toFolderFault(document: string | undefined): Fault {
  const hint = document === undefined
    ? 'add one, or, if it is not a skill, begin its name with "_"'
    : `rename ${quote(document)} in it to "SKILL.md"`;
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return { rule: "skill-md-missing", reason, hint };
}

function toDocumentFault(path: string): Fault {
  const folder = path.slice(0, -extname(path).length);
  return {
    rule: "file-name",
    reason: "it is a file, where the folder of a skill was expected",
    hint: `move it to ${quote(childPath(folder, "SKILL.md"))}`,
  };
}
