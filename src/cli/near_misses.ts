/**
 * Near misses: files and folders that are not skills, but may be meant as such. `--list` and
 * `--check` look for them in the roots, and in the directories directly in them.
 */

import { attempt } from "../attempt.ts";
import {
  basename,
  childPath,
  dirname,
  isAtOrBelow,
  isAtOrBelowAny,
  locationOf,
} from "../fs/paths.ts";
import { locate, readLocated } from "../fs/read.ts";
import { listEntries } from "../fs/walk.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { followSymlink, type Project } from "../skills/project.ts";
import {
  isLinkText,
  toLinkTextDiagnostic,
} from "../skills/scan_diagnostics.ts";
import { isMarkedAsNoSkill, isNamedSkills } from "../skills/roots.ts";
import { isSkillFileName } from "../skills/skill_file.ts";
import type { SkillRootReport } from "../skills/types.ts";
import { MAX_FRONTMATTER_SIZE } from "../skills/yaml.ts";
import { quote } from "../text.ts";

/** A name that is, or was probably meant as, `SKILL.md`, such as `Skill.md.txt`. */
const LIKE_SKILL_MD =
  /^(?:skills\.md|skill(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*)$/i;

/** The name of an archive in which skills are passed on. */
const ARCHIVE_NAME = /\.(?:zip|skill|tgz)$/i;

const MARKDOWN = /\.(?:md|markdown)$/i;

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

function toDirDiagnostic(document: string | undefined): DiagnosticDetails {
  const fix = document === undefined
    ? 'add one, or, if it is not a skill, begin its name with "_"'
    : `rename ${quote(document)} in it to "SKILL.md"`;
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return { rule: "skill-md-missing", reason, fix };
}

/** The maximum number of entries of a directory that are looked at. */
const MAX_ENTRIES = 1_000;

/** A root, or a directory directly in it. */
interface Dir {
  readonly path: string;
  readonly realPath: string;
  readonly isRoot: boolean;
}

/**
 * Lists the near misses in the roots that were searched.
 *
 * @param skills The real paths of the folders of all skills.
 */
export function listNearMisses(
  reports: readonly SkillRootReport[],
  skills: readonly string[],
  project: Project,
): Diagnostic[] {
  const looked = new Set(skills);
  return reports.flatMap(({ root, realPath }) => {
    if (realPath === undefined || isAtOrBelowAny(realPath, skills)) return [];
    const top = { path: root.path, realPath, isRoot: true };
    return [top, ...listInside(top, project)].flatMap((folder) => {
      const { realPath, isRoot } = folder;
      if (looked.has(realPath)) return [];
      looked.add(realPath);
      const mayBeMeant = !isRoot || root.includesItself === true;
      const holdsSkills = skills.some((it) => isAtOrBelow(it, realPath));
      return listInFolder(folder, mayBeMeant && !holdsSkills);
    });
  });
}

function listInside(top: Dir, project: Project): Dir[] {
  const rules = { project, outer: undefined, confinement: undefined };
  return listDir(top.path).flatMap(({ name, isDirectory, isSymlink }) => {
    const path = childPath(top.path, name);
    const location = childPath(top.realPath, name);
    const realPath = isSymlink
      ? attempt(() => followSymlink(path, rules))
      : isDirectory
      ? location
      : undefined;
    return realPath === undefined ? [] : [{ path, realPath, isRoot: false }];
  });
}

function listDir(path: string): Deno.DirEntry[] {
  return (attempt(() => listEntries(path)) ?? []).slice(0, MAX_ENTRIES);
}

/** Lists the near misses among the files of a directory, and the folder itself if it is one. */
function listInFolder(
  { path, isRoot }: Dir,
  mayBeMeant: boolean,
): Diagnostic[] {
  const entries = listDir(path);
  const names = new Set(entries.map(({ name }) => name));
  const files = entries.filter(({ isFile }) => isFile).flatMap(({ name }) => {
    if (names.has(name.replace(ARCHIVE_NAME, "")) && ARCHIVE_NAME.test(name)) {
      return [];
    }
    const file = childPath(path, name);
    const found = isRoot
      ? findFileDiagnostic(file)
      : findMisnamedDiagnostic(file, WRONG_NAME);
    return found === undefined ? [] : [{ ...found, file }];
  });
  const isMisnamed = entries.some(({ name }) => LIKE_SKILL_MD.test(name));
  const own = entries.filter(({ name, isSymlink }) =>
    !isSymlink && !name.startsWith(".") && !ARCHIVE_NAME.test(name)
  );
  const isMiss = mayBeMeant && !isMisnamed && own.length > 0 &&
    isNamedSkills(dirname(path)) && !isMarkedAsNoSkill(path);
  if (!isMiss) return files;
  const documents = own.filter((it) => it.isFile && MARKDOWN.test(it.name));
  const document = documents.length === 1 ? documents[0]!.name : undefined;
  return [...files, { ...toDirDiagnostic(document), file: path }];
}

/** Says what is wrong with a file directly in a root, if it may be meant as a skill. */
export function findFileDiagnostic(
  file: string,
): DiagnosticDetails | undefined {
  const name = basename(file);
  const isAmongSkills = isNamedSkills(dirname(file));
  if (LIKE_SKILL_MD.test(name)) {
    return findMisnamedDiagnostic(
      file,
      isAmongSkills ? LOOSE_FILE : WRONG_NAME,
    );
  }
  if (ARCHIVE_NAME.test(name)) return isAmongSkills ? ARCHIVE : undefined;
  if (MARKDOWN.test(name)) {
    return isAmongSkills && hasFrontmatter(file) ? LOOSE_FILE : undefined;
  }
  const isLink = !name.includes(".") && isLinkText(readStart(file));
  return isLink ? toLinkTextDiagnostic(name) : undefined;
}

/** Says that a file has almost the name of a skill's. One named `skills.md` may be anything. */
function findMisnamedDiagnostic(
  file: string,
  diagnostic: DiagnosticDetails,
): DiagnosticDetails | undefined {
  const name = basename(file);
  if (!LIKE_SKILL_MD.test(name)) return undefined;
  if (/^skills/i.test(name) && !hasFrontmatter(file)) return undefined;
  return isSkillFileName(name) ? LOOSE_FILE : diagnostic;
}

function hasFrontmatter(file: string): boolean {
  return SKILL_FRONTMATTER.test(readStart(file));
}

/** Reads the beginning of a regular file. Returns an empty text for anything else. */
function readStart(file: string): string {
  const buffer = new Uint8Array(MAX_FRONTMATTER_SIZE);
  const isHere = (realPath: string) => realPath === locationOf(file);
  const bytes = attempt(() =>
    readLocated(locate(file, isHere), { maxFileSize: Infinity, buffer })
  );
  return new TextDecoder().decode(bytes);
}
