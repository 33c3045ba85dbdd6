/** Near misses: files and directories that are not skills, but probably should be. */

import { attempt } from "../attempt.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import {
  basename,
  dirname,
  isAtOrBelow,
  isAtOrBelowAny,
  join,
  mayRead,
} from "../fs/paths.ts";
import { locate, readLocated } from "../fs/read.ts";
import type { Settings } from "../program/settings.ts";
import {
  isMarkedAsNonSkill,
  isNamedSkills,
  resolveSkillRoots,
  UNSEARCHED_NAMES,
} from "../skills/roots.ts";
import { isSkillDir, isSkillFileName } from "../skills/skill_file.ts";
import { HEAD_SIZE } from "../skills/skill_md.ts";
import type { SkillRoot } from "../skills/types.ts";
import { nearestWords, quote } from "../text.ts";

/** A name that probably should be `SKILL.md`, such as `Skill.md.txt`. */
const LIKE_SKILL_MD =
  /^skills?(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

export const MARKDOWN = /\.(?:md|markdown)$/i;

/** An archive in which people share skills. */
const ARCHIVE_NAME = /\.(?:zip|skill|tgz)$/i;

/** The beginning of text whose frontmatter has a field of a skill. */
const SKILL_FRONTMATTER =
  /^---[ \t]*\r?\n(?:(?!---)[^\n]*\n)*?(?:name|description)\s*:/;

const LOOSE_FILE: DiagnosticDetails = {
  rule: "loose-file",
  reason: "it is directly in a folder of skills",
  fix:
    'move it, with the files that it needs, into a folder of its own, as "SKILL.md"',
};

const WRONG_NAME: DiagnosticDetails = {
  rule: "file-name",
  reason: 'the file of a skill must be named "SKILL.md"',
  fix: 'rename it to "SKILL.md", which must be plain text',
};

/** Git leaves the directories of submodules empty. It keeps no other empty ones. */
const EMPTY: DiagnosticDetails = {
  rule: "skill-md-missing",
  reason: "it is in a folder of skills, but is empty",
  fix:
    'if it is a submodule, run "git submodule update --init"; otherwise, remove it',
};

const ARCHIVE: DiagnosticDetails = {
  rule: "archive",
  reason: "it is an archive, but a skill must be a folder",
  fix: "unpack it into a folder of its own, and remove it",
};

/**
 * Lists the near misses in the roots and in the groups in them.
 *
 * @param skills The directories with a `SKILL.md`, valid or not. What is in one belongs
 *   to it.
 * @param roomOf Returns the room for what is in a root.
 */
export function listNearMisses(
  roots: readonly SkillRoot[],
  skills: readonly string[],
  roomOf: (root: SkillRoot) => Room,
): Diagnostic[] {
  const rootOf = (dir: string) =>
    roots.find(({ path }) => isAtOrBelow(dir, path));
  const groups = skills.map((skill) => dirname(skill)).filter(rootOf);
  return [...new Set([...roots.map(({ path }) => path), ...groups])]
    .filter((dir) => !isAtOrBelowAny(dir, skills))
    .flatMap((dir) => {
      const room = roomOf(rootOf(dir)!);
      const { files, dirs } = listDir(dir, room);
      const isForSkills = isNamedSkills(dir) ||
        (groups.includes(dir) && isNamedSkills(dirname(dir)));
      const inside = dirs.map((name) => join(dir, name))
        .filter((path) => !skills.includes(path) && !groups.includes(path));
      return [
        ...files.flatMap((name) =>
          checkLooseFile(join(dir, name), isForSkills)
        ),
        ...(isForSkills ? inside : [dir, ...inside])
          .flatMap((dir) => checkDir(dir, room)),
      ];
    });
}

/** How many more files and directories there is room for. Below zero once there was none. */
interface Room {
  entries: number;
}

/** Lists the names in a directory that may be read, without symlinks and hidden names. */
function listDir(
  path: string,
  room: Room = { entries: Infinity },
): { files: string[]; dirs: string[] } {
  if (room.entries < 0 || !mayRead(path)) return { files: [], dirs: [] };
  const all = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  const entries = all.filter(({ name }) =>
    !name.startsWith(".") && !UNSEARCHED_NAMES.has(name)
  ).slice(0, room.entries);
  room.entries -= all.length;
  const namesOf = (kind: "isFile" | "isDirectory") =>
    entries.filter((entry) => entry[kind]).map(({ name }) => name).toSorted();
  return { files: namesOf("isFile"), dirs: namesOf("isDirectory") };
}

/** Lists the paths of the directories in a directory. */
export function listSubdirs(path: string, room?: Room): string[] {
  return listDir(path, room).dirs.map((name) => join(path, name));
}

/**
 * Reports a file that probably should be a skill.
 *
 * @param isForSkills Whether its directory is for skills. Others, such as a project,
 *   hold all kinds of files.
 */
export function checkLooseFile(path: string, isForSkills = true): Diagnostic[] {
  const found = findNearMiss(path, isForSkills);
  return found === undefined ? [] : [{ file: path, ...found }];
}

function findNearMiss(
  path: string,
  isForSkills: boolean,
): DiagnosticDetails | undefined {
  const name = basename(path);
  if (!name.includes(".")) return findLinkText(name, readText(path));
  if (!isForSkills) return undefined;
  if (ARCHIVE_NAME.test(name)) return ARCHIVE;
  const isLoose = LIKE_SKILL_MD.test(name) ||
    (MARKDOWN.test(name) && hasFrontmatter(path));
  return isLoose ? LOOSE_FILE : undefined;
}

/** Whether a file probably should be the `SKILL.md` of its directory. */
function isMisnamed(path: string): boolean {
  const name = basename(path);
  return LIKE_SKILL_MD.test(name) && !isSkillFileName(name) &&
    (!/^skills/i.test(name) || hasFrontmatter(path));
}

function hasFrontmatter(path: string): boolean {
  return SKILL_FRONTMATTER.test(readText(path));
}

/** Reports a directory without a `SKILL.md` that should be a skill, or what is misnamed in it. */
function checkDir(dir: string, room: Room): Diagnostic[] {
  const { files, dirs } = listDir(dir, room);
  if (files.some(isSkillFileName)) return [];
  const isAmongSkills = isNamedSkills(dirname(dir)) && !isMarkedAsNonSkill(dir);
  if (isAmongSkills && isEmptyDir(dir)) return [{ file: dir, ...EMPTY }];
  const misnamed = files.map((name) => join(dir, name)).filter(isMisnamed);
  if (misnamed.length > 0) {
    return misnamed.map((file) => ({ file, ...WRONG_NAME }));
  }
  const hasContents = [...files, ...dirs].some((it) => !ARCHIVE_NAME.test(it));
  if (!isAmongSkills || !hasContents || holdsSkill(dir, room)) return [];
  const documents = files.filter((name) => MARKDOWN.test(name));
  const fix = documents.length === 1
    ? `rename ${quote(documents[0]!)} in it to "SKILL.md"`
    : 'add one, or, if it is not a skill, begin its name with "_"';
  const reason = 'it is in a folder of skills, but has no "SKILL.md"';
  return [{ rule: "skill-md-missing", file: dir, reason, fix }];
}

function isEmptyDir(dir: string): boolean {
  return mayRead(dir) &&
    attempt(() => Deno.readDirSync(dir).next().done) === true;
}

/** Whether there may be a skill in a directory, up to four levels below it. */
function holdsSkill(dir: string, room: Room, depth = 4): boolean {
  return room.entries < 0 ||
    listSubdirs(dir, room).some((path) =>
      isSkillDir(path) || (depth > 1 && holdsSkill(path, room, depth - 1))
    );
}

/** Describes a symlink that Git wrote as a text file, as on Windows without Developer Mode. */
export function findLinkText(
  name: string,
  text: string,
): DiagnosticDetails | undefined {
  // The whole text is one relative path.
  if (!/^\.\.?\/[^\0\r\n]+\r?\n?$/.test(text)) return undefined;
  const path = /^[\w.-]+$/.test(name) ? name : "PATH";
  return {
    rule: "link-text",
    reason: "it is a link that Git wrote as a text file",
    fix:
      `run "git config core.symlinks true" in its folder, and then "git checkout -- ${path}"; on Windows, turn on Developer Mode first`,
  };
}

/** Returns the beginning of a regular file, or empty text for anything else. */
function readText(path: string): string {
  return new TextDecoder().decode(readHead(path));
}

export function readHead(path: string): Uint8Array {
  const limits = { maxFileSize: Infinity, buffer: new Uint8Array(HEAD_SIZE) };
  const bytes = attempt(() => readLocated(locate(path, () => true), limits));
  return bytes ?? new Uint8Array();
}

/** Suggests a folder or a skill of almost the same name instead of a missing directory. */
export function explainMissingDir(
  diagnostic: Diagnostic,
  { options, values: { agents, check } }: Settings,
): Diagnostic {
  const { file } = diagnostic;
  const name = basename(file);
  const isHere = dirname(file) === options.workingDirectory;
  const mayBeSkill = check && isHere;
  const roots = mayBeSkill ? resolveSkillRoots({ ...options, agents }) : [];
  const names = [dirname(file), ...roots.map(({ path }) => path)]
    .flatMap((path) => listDir(path).dirs);
  const [near] = nearestWords(name, new Set(names));
  const reason = mayBeSkill
    ? `there is no folder or skill named ${quote(name)}`
    : diagnostic.reason;
  const fix = near === undefined
    ? diagnostic.fix
    : `did you mean ${quote(isHere ? near : join(dirname(file), near))}?`;
  return { ...diagnostic, reason, fix };
}
