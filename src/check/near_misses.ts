/** Near misses: files and directories that are not skills, but are most likely meant as such. */

import { attempt } from "../attempt.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { basename, dirname, isAtOrBelowAny, join } from "../fs/paths.ts";
import { locate, readLocated } from "../fs/read.ts";
import type { Settings } from "../program/settings.ts";
import {
  isMarkedAsNoSkill,
  isNamedSkills,
  resolveSkillRoots,
  UNSEARCHED_NAMES,
} from "../skills/roots.ts";
import { isSkillDir, isSkillFileName } from "../skills/skill_file.ts";
import { HEAD_SIZE } from "../skills/skill_md.ts";
import { nearestWords, quote } from "../text.ts";

/** A name that was most likely meant as `SKILL.md`, such as `Skill.md.txt`. */
const LIKE_SKILL_MD =
  /^skills?(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

const MARKDOWN = /\.(?:md|markdown)$/i;

/** An archive in which skills are passed on. */
const ARCHIVE_NAME = /\.(?:zip|skill|tgz)$/i;

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

/**
 * Lists the near misses in the searched directories: the roots, and the directories in
 * them that hold skills.
 *
 * @param skills The directories with a `SKILL.md`, valid or not. What is in one belongs
 *   to it.
 */
export function listNearMisses(
  roots: readonly string[],
  skills: readonly string[],
): Diagnostic[] {
  const groups = skills.map((skill) => dirname(skill))
    .filter((dir) => isAtOrBelowAny(dir, roots));
  return [...new Set([...roots, ...groups])]
    .filter((dir) => !isAtOrBelowAny(dir, skills))
    .flatMap((dir) => {
      const { files, dirs } = listDir(dir);
      const inside = dirs.map((name) => join(dir, name))
        .filter((path) => !skills.includes(path) && !groups.includes(path));
      const isAmongSkills = isNamedSkills(dir) ||
        isNamedSkills(dirname(dir)) && groups.includes(dir);
      const itself = isAmongSkills ? [] : [dir];
      return [
        ...files.filter((name) => !isUnpacked(name, dirs))
          .flatMap((name) => checkFile(join(dir, name), isAmongSkills)),
        ...[...itself, ...inside].flatMap(checkDir),
      ];
    });
}

interface Entries {
  readonly files: string[];
  readonly dirs: string[];
}

/** Lists the names in a directory. Hidden names and links are not looked at. */
function listDir(path: string): Entries {
  const entries = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  const own = entries.filter(({ name }) =>
    !name.startsWith(".") && !UNSEARCHED_NAMES.has(name)
  );
  return {
    files: own.filter(({ isFile }) => isFile).map(({ name }) => name),
    dirs: own.filter(({ isDirectory }) => isDirectory)
      .map(({ name }) => name),
  };
}

function isUnpacked(archive: string, dirs: readonly string[]): boolean {
  return ARCHIVE_NAME.test(archive) &&
    dirs.includes(archive.replace(ARCHIVE_NAME, ""));
}

/** Reports a file in a searched directory that is most likely meant as a skill. */
export function checkFile(path: string, isAmongSkills = true): Diagnostic[] {
  const name = basename(path);
  const found = !name.includes(".")
    ? findLinkText(name, readStart(path))
    : !isAmongSkills
    ? undefined
    : ARCHIVE_NAME.test(name)
    ? ARCHIVE
    : LIKE_SKILL_MD.test(name) || (MARKDOWN.test(name) && hasFrontmatter(path))
    ? LOOSE_FILE
    : undefined;
  return found === undefined ? [] : [{ file: path, ...found }];
}

/** Whether a file is most likely meant as the `SKILL.md` of its directory. */
function isMisnamed(path: string): boolean {
  const name = basename(path);
  return LIKE_SKILL_MD.test(name) && !isSkillFileName(name) &&
    (!/^skills/i.test(name) || hasFrontmatter(path));
}

function hasFrontmatter(path: string): boolean {
  return SKILL_FRONTMATTER.test(readStart(path));
}

/** Reports what is in a directory without a `SKILL.md` if it is meant as one, or the directory. */
function checkDir(dir: string): Diagnostic[] {
  const { files, dirs } = listDir(dir);
  if (files.some(isSkillFileName)) return [];
  const misnamed = files.map((name) => join(dir, name)).filter(isMisnamed);
  if (misnamed.length > 0) {
    return misnamed.map((file) => ({ file, ...WRONG_NAME }));
  }
  const isMeant = isNamedSkills(dirname(dir)) &&
    !isMarkedAsNoSkill(dir) &&
    [...files, ...dirs].some((name) => !ARCHIVE_NAME.test(name)) &&
    !holdsSkill(dir);
  if (!isMeant) return [];
  const documents = files.filter((name) => MARKDOWN.test(name));
  const fix = documents.length === 1
    ? `rename ${quote(documents[0]!)} in it to "SKILL.md"`
    : 'add one, or, if it is not a skill, begin its name with "_"';
  const reason = 'it is among the skills, and has no file "SKILL.md"';
  return [{ rule: "skill-md-missing", file: dir, reason, fix }];
}

/** Whether there is a skill in a directory, up to four levels below it. */
function holdsSkill(dir: string, depth = 4): boolean {
  return listDir(dir).dirs.map((name) => join(dir, name))
    .some((path) =>
      isSkillDir(path) || (depth > 1 && holdsSkill(path, depth - 1))
    );
}

/** Describes a link that Git wrote as a text file, as it does on Windows without Developer Mode. */
export function findLinkText(
  name: string,
  text: string,
): DiagnosticDetails | undefined {
  // One relative path with a slash is the whole text.
  if (!/^\.\.?\/[^\0\r\n]+\r?\n?$/.test(text)) return undefined;
  const path = /^[\w.-]+$/.test(name) ? name : "PATH";
  return {
    rule: "link-text",
    reason: "it is a link that Git wrote as a text file",
    fix:
      `run "git config core.symlinks true" in its folder, and then "git checkout -- ${path}"; on Windows, turn on Developer Mode first`,
  };
}

/** Reads the beginning of a regular file. Returns an empty text for anything else. */
function readStart(path: string): string {
  return new TextDecoder().decode(readHead(path));
}

export function readHead(path: string): Uint8Array {
  const limits = { maxFileSize: Infinity, buffer: new Uint8Array(HEAD_SIZE) };
  const bytes = attempt(() => readLocated(locate(path, () => true), limits));
  return bytes ?? new Uint8Array();
}

/** Suggests what a missing directory may be instead: a skill of almost that name. */
export function explainMissing(
  diagnostic: Diagnostic,
  { options, values: { agents, check } }: Settings,
): Diagnostic {
  const name = basename(diagnostic.file);
  if (!check || dirname(diagnostic.file) !== options.workingDirectory) {
    return diagnostic;
  }
  const names = resolveSkillRoots({ ...options, agents })
    .flatMap(({ path }) => listDir(path).dirs);
  const [near] = nearestWords(name, new Set(names));
  const reason = `there is no folder or skill named ${quote(name)}`;
  const fix = near === undefined
    ? diagnostic.fix
    : `did you mean ${quote(near)}?`;
  return { ...diagnostic, reason, fix };
}
