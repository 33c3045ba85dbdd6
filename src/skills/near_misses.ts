/**
 * Near misses: files and directories that are not skills, but probably should be. The
 * linter reports all of them, and the answer to an unknown name those that it may mean.
 */

import { attempt } from "../attempt.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import {
  basename,
  dirname,
  isAtOrBelow,
  isAtOrBelowAny,
  isThere,
  join,
  mayRead,
  withDirsAbove,
} from "../fs/paths.ts";
import { locate, readLocated } from "../fs/read.ts";
import { listAll } from "./catalog.ts";
import { mayHaveField, NOT_FOR_MODEL } from "./fields.ts";
import { lastPartOf, lookUp, parseName } from "./lookup.ts";
import { skillKey } from "./names.ts";
import {
  isNamedSkills,
  limitingScope,
  MAX_SEARCH_DEPTH,
  mayBeGroup,
  UNSEARCHED_NAMES,
} from "./roots.ts";
import { isSkillDir, isSkillFileName } from "./skill_file.ts";
import { findWrittenName, HEAD_SIZE } from "./skill_md.ts";
import type { SkillCatalog, SkillRoot, SkillScope } from "./types.ts";

/** A name that probably should be `SKILL.md`, such as `Skill.md.txt`. */
const LIKE_SKILL_MD =
  /^skills?(?: ?\(\d+\)| copy)? ?(?:\. ?(?:md|markdown|mdx|txt|rtf|docx))*\s*$/i;

export const MARKDOWN = /\.(?:md|markdown)$/i;

/** An archive in which people share skills. */
const ARCHIVE_NAME = /\.(?:zip|skill|tgz|tar\.gz|7z|rar)$/i;

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

const NO_SKILL_MD: DiagnosticDetails = {
  rule: "skill-md-missing",
  reason: 'it is in a folder of skills, but has no "SKILL.md"',
  fix: 'add one, or, if it is not a skill, begin its name with "_"',
};

const RENAME_DOCUMENT = 'rename the Markdown file in it to "SKILL.md"';

const NOT_SEARCHED: DiagnosticDetails = {
  rule: "not-searched",
  reason: "it is deeper than the server searches",
  fix: "move it up, directly into the folder of skills",
};

/** How many more files and directories to look at. */
export interface EntryBudget {
  entries: number;
}

/** Whether there was more to look at than a budget allowed. */
export function isUsedUp({ entries }: EntryBudget): boolean {
  return entries < 0;
}

const NO_LIMIT: EntryBudget = { entries: Infinity };

/** The directories in which a scan found something. */
interface Layout {
  readonly roots: readonly string[];
  /** Directories with a `SKILL.md`, valid or not. */
  readonly skills: ReadonlySet<string>;
  /** Directories of skills, at or below a root. */
  readonly groups: ReadonlySet<string>;
}

function layoutOf(
  catalog: SkillCatalog,
  roots: readonly string[],
): Layout {
  const skills = new Set([
    ...listAll(catalog).map(({ directory }) => directory),
    ...catalog.skipped.flatMap(({ diagnostics }) => diagnostics)
      .map(({ file }) => dirname(file)),
  ]);
  const groups = new Set(
    Array.from(skills, (dir) => dirname(dir))
      .filter((dir) => isAtOrBelowAny(dir, roots)),
  );
  return { roots, skills, groups };
}

/** Lists the near misses in the roots of a catalog and in the groups in them. */
export function listNearMisses(
  catalog: SkillCatalog,
  budgets: Readonly<Record<SkillScope, EntryBudget>>,
): Diagnostic[] {
  const found = catalog.roots.filter(({ status }) => status === "found")
    .map(({ root }) => root);
  const layout = layoutOf(catalog, found.map(({ path }) => path));
  const { roots, skills, groups } = layout;
  const dirsWithSkills = new Set([...skills].flatMap(withDirsAbove));
  return [...new Set([...roots, ...groups])]
    .filter((dir) => !withDirsAbove(dir).some((it) => skills.has(it)))
    .flatMap((dir) => {
      const root = found.find(({ path }) => isAtOrBelow(dir, path))!;
      return checkSearchedDir(dir, layout, budgets[limitingScope(root)]);
    })
    .filter(({ rule, file }) =>
      rule !== "skill-md-missing" || !dirsWithSkills.has(file)
    );
}

function checkSearchedDir(
  dir: string,
  layout: Layout,
  budget: EntryBudget,
): Diagnostic[] {
  const { skills, groups } = layout;
  const { files, dirs } = listDir(dir, budget);
  const isAmongSkills = isForSkills(dir, layout);
  const mayBeSkill = !isNamedSkills(dir) && !groups.has(dir);
  const inside = dirs.filter(mayBeGroup).map((name) => join(dir, name))
    .filter((path) => !skills.has(path) && !groups.has(path));
  return [
    ...files.filter((name) => !mayBeSkill || !LIKE_SKILL_MD.test(name))
      .flatMap((name) => checkLooseFile(join(dir, name), isAmongSkills)),
    ...mayBeSkill && mayBeGroup(basename(dir))
      ? checkDir(dir, isNamedSkills(dirname(dir)), budget)
      : [],
    ...inside.flatMap((path) => checkDir(path, isAmongSkills, budget)),
  ];
}

/** Whether a directory is for skills alone, as far as its name and what is in it tell. */
function isForSkills(dir: string, { roots, groups }: Layout): boolean {
  if (isNamedSkills(dir)) return true;
  if (isMixed(dir)) return false;
  if (isNamedSkills(dirname(dir))) return groups.has(dir);
  // Such as a directory of plugins, of which not all have skills.
  const isAboveGroups = !groups.has(dir) &&
    [...groups].some((group) =>
      isNamedSkills(group) && isAtOrBelow(group, dir)
    );
  return !isAboveGroups &&
    roots.some((root) => isAtOrBelow(dir, root) && !isMixed(root));
}

/** Whether a directory also holds other things than skills, so it hardly says what is meant. */
function isMixed(dir: string): boolean {
  return !isNamedSkills(dir) && mayRead(dir) &&
    [".git", ".claude", "skills"].some((name) => isThere(join(dir, name)));
}

/** Returns the roots with which a scan also finds the skills that are too deep for some roots. */
export function deepenRoots(roots: readonly SkillRoot[]): SkillRoot[] {
  return roots.filter(({ recursive }) => !recursive)
    .map((root) => ({
      ...root,
      includesItself: false,
      recursive: true,
      omitsPutAway: true,
    }))
    // A skill has its path through the first root that finds it: the innermost one.
    .toSorted((a, b) => b.path.length - a.path.length);
}

/** How many entries of a scope an answer looks at. 2,000 take 0.1 s. */
const MAX_ENTRIES: Readonly<Record<SkillScope, number>> = {
  global: 2_000,
  project: 1_000,
};

/**
 * Lists the near misses that the model may mean by a name, in directories that the scan
 * searched.
 */
export function listNearMissesIn(
  catalog: SkillCatalog,
  name: string,
): Diagnostic[] {
  const { key } = parseName(name);
  const keys = [key, lastPartOf(key)].filter(Boolean);
  return listNearMisses(catalog, {
    project: { entries: MAX_ENTRIES.project },
    global: { entries: MAX_ENTRIES.global },
  }).filter(({ file }) =>
    listMeantNames(file).some((meant) => keys.includes(skillKey(meant)))
  );
}

/** Lists what is wrong with the skill of a name in the catalog of deepened roots. */
export function listTooDeep(
  name: string,
  deeper: SkillCatalog,
): Diagnostic[] {
  const { skill, skipped } = lookUp(name, "model", deeper);
  return skill === undefined
    ? [...skipped?.diagnostics ?? []]
    : [{ ...NOT_SEARCHED, file: skill.directory }];
}

/** What people and programs put after the name of a skill, as in `pdf-main (1)`. */
const SUFFIX = /(?:[ _-](?:copy|main|master|v?\d[\d.]*)| ?\(\d+\))$/i;

/** Lists the names that the skill of a near miss may have, unless its text may hide it. */
function listMeantNames(file: string): string[] {
  const name = basename(file);
  const isSkillMd = LIKE_SKILL_MD.test(name);
  const stem = isSkillMd
    ? basename(dirname(file))
    : name.replace(ARCHIVE_NAME, "").replace(MARKDOWN, "");
  const shorter = stem.replace(SUFFIX, "");
  const names = [stem, shorter, shorter.replace(SUFFIX, "")];
  if (!isSkillMd && !MARKDOWN.test(name)) return names;
  const text = readText(file);
  const lines = text.split(/\r\n?|\n/);
  return mayHaveField(NOT_FOR_MODEL, lines)
    ? []
    : [...names, findWrittenName(text) ?? ""];
}

/** Lists the names in a directory that may be read, without symlinks and hidden names. */
function listDir(
  path: string,
  budget: EntryBudget,
): { files: string[]; dirs: string[] } {
  if (isUsedUp(budget) || !mayRead(path)) return { files: [], dirs: [] };
  const entries: Deno.DirEntry[] = [];
  for (const entry of attempt(() => Deno.readDirSync(path)) ?? []) {
    budget.entries--;
    if (isUsedUp(budget)) break;
    const { name } = entry;
    const isVisible = !name.startsWith(".") && !UNSEARCHED_NAMES.has(name);
    if (isVisible) entries.push(entry);
  }
  const namesOf = (kind: "isFile" | "isDirectory") =>
    entries.filter((entry) => entry[kind]).map(({ name }) => name).toSorted();
  return { files: namesOf("isFile"), dirs: namesOf("isDirectory") };
}

export function listSubdirs(
  path: string,
  budget: EntryBudget = NO_LIMIT,
): string[] {
  return listDir(path, budget).dirs.map((name) => join(path, name));
}

/**
 * Reports a file that probably should be a skill.
 *
 * @param isAmongSkills Whether its directory is for skills. Others, such as a project,
 *   hold all kinds of files.
 */
export function checkLooseFile(
  path: string,
  isAmongSkills = true,
): Diagnostic[] {
  const name = basename(path);
  if (!name.includes(".")) {
    const link = findLinkText(name, readText(path));
    return link === undefined ? [] : [{ file: path, ...link }];
  }
  if (!isAmongSkills) return [];
  if (ARCHIVE_NAME.test(name)) return [{ file: path, ...ARCHIVE }];
  const isLoose = LIKE_SKILL_MD.test(name) ||
    (MARKDOWN.test(name) && hasFrontmatter(path));
  return isLoose ? [{ file: path, ...LOOSE_FILE }] : [];
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

/**
 * Reports a directory without a `SKILL.md` that should be a skill, or what is misnamed in
 * it.
 *
 * @param isAmongSkills Whether it is in a directory for skills.
 */
function checkDir(
  dir: string,
  isAmongSkills: boolean,
  budget: EntryBudget,
): Diagnostic[] {
  const { files, dirs } = listDir(dir, budget);
  if (files.some(isSkillFileName)) return [];
  if (isAmongSkills && isEmptyDir(dir)) return [{ file: dir, ...EMPTY }];
  const report = (name: string, details: DiagnosticDetails): Diagnostic => ({
    file: join(dir, name),
    ...details,
  });
  const misnamed = files.filter((name) => isMisnamed(join(dir, name)));
  if (misnamed.length > 0) {
    return misnamed.map((name) => report(name, WRONG_NAME));
  }
  if (!isAmongSkills || holdsSkill(dir, budget)) return [];
  const [inner, ...more] = dirs.filter(mayBeGroup);
  if (files.length === 0 && inner !== undefined && more.length === 0) {
    // As unpacked archives often are.
    const wrapped = checkDir(join(dir, inner), true, budget)
      .filter(({ rule }) => rule !== "skill-md-missing");
    if (wrapped.length > 0) return wrapped;
  }
  const archives = files.filter((name) => ARCHIVE_NAME.test(name));
  if (archives.length === files.length + dirs.length) {
    return archives.map((name) => report(name, ARCHIVE));
  }
  const documents = files.filter((name) => MARKDOWN.test(name));
  const fix = documents.length === 1 ? RENAME_DOCUMENT : NO_SKILL_MD.fix;
  return [{ file: dir, ...NO_SKILL_MD, fix }];
}

function isEmptyDir(dir: string): boolean {
  return mayRead(dir) &&
    attempt(() => Deno.readDirSync(dir).next().done) === true;
}

/** Whether there may be a skill in a directory, as deep as a scan can search. */
function holdsSkill(
  dir: string,
  budget: EntryBudget,
  levels = MAX_SEARCH_DEPTH,
): boolean {
  return isUsedUp(budget) ||
    listSubdirs(dir, budget).some((path) =>
      isSkillDir(path) || (levels > 1 && holdsSkill(path, budget, levels - 1))
    );
}

/** Describes a symlink that Git wrote as a text file, as on Windows without Developer Mode. */
export function findLinkText(
  name: string,
  text: string,
): DiagnosticDetails | undefined {
  // The whole text is one relative path.
  if (!/^\.\.?\/[^\0\r\n]+\r?\n?$/.test(text)) return undefined;
  const path = /^[\w.-]{1,64}$/.test(name) ? name : "PATH";
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
