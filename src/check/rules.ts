/**
 * The rules of `--check` for a skill: small functions from its fields, its text, or one
 * of its files to diagnostics. `docs/check.md` describes each rule.
 */

import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { diagnosticOf } from "../fs/errors.ts";
import { basename } from "../fs/paths.ts";
import { listInvisible } from "../invisible.ts";
import { findConflict } from "../skills/conflicts.ts";
import {
  type Field,
  findField,
  FLAGS,
  listFields,
  meantField,
  readFields,
  REQUIRED_FIELDS,
} from "../skills/fields.ts";
import { pathOnDisk } from "../skills/files.ts";
import {
  checkSize,
  isValidName,
  LIMITS,
  listSkippedFiles,
  MAX_SKILL_SIZE,
} from "../skills/limits.ts";
import { SKILL_MD, skillKey } from "../skills/names.ts";
import { type EntryBudget, MARKDOWN } from "../skills/near_misses.ts";
import { isSkillFileName } from "../skills/skill_file.ts";
import {
  findYaml,
  isFlagValue,
  withoutFrontmatter,
} from "../skills/skill_md.ts";
import type { SkillSource } from "../skills/source.ts";
import type { Skill, SkillFiles } from "../skills/types.ts";
import { isOff } from "../skills/visibility.ts";
import { count, quote, truncate } from "../text.ts";
import { decodeText } from "../views/loading.ts";
import { explainEncoding } from "./beginning.ts";
import { addLine, explainMisspelling, MAX_PER_FILE } from "./field_lines.ts";

interface CheckedSkill extends Skill {
  /** The text of its `SKILL.md`. */
  readonly text: string;
  /** The fields as written. */
  readonly fields: readonly Field[];
  readonly paths: readonly string[];
  /** What reads Markdown. `--list` does not load it. */
  readonly markdown: typeof import("./links.ts");
}

interface CheckedFile {
  readonly path: string;
  /** Its text, with the character U+FFFD for bytes that are not UTF-8. */
  readonly text: string;
  readonly isUtf8: boolean;
}

const SKILL_RULES: readonly ((skill: CheckedSkill) => DiagnosticDetails[])[] = [
  ...LIMITS,
  checkDirName,
  checkFlags,
  checkComment,
  checkTag,
  checkFileName,
  checkFieldNames,
  checkConflict,
  checkInstructions,
  checkInvisible,
  checkLength,
  checkInside,
];

const FILE_RULES = [checkEncoding, checkLinks];

interface NamedSkill extends Pick<Skill, "name" | "file" | "hiddenFrom"> {
  /** Whether its files are those of an earlier skill of its name. */
  readonly isCopy: boolean | undefined;
}

/** What the checks may still read and report. Below zero once there was no room left. */
export interface Budget extends EntryBudget {
  bytes: number;
  /** In milliseconds. */
  time: number;
}

export function isWithin({ entries, bytes, time }: Budget): boolean {
  return Math.min(entries, bytes, time) >= 0;
}

export async function checkSkill(
  skill: Skill,
  registry: SkillSource,
  contents: SkillFiles,
  budget: Budget,
): Promise<Diagnostic[]> {
  const read = (path: string) => readFile(skill, path, registry);
  const { text } = await read(SKILL_MD).catch(() => ({ text: "" }));
  const checked = {
    ...skill,
    text,
    fields: listFields(findYaml(text) ?? ""),
    paths: contents.files.map(({ path }) => path),
    markdown: await import("./links.ts"),
  };
  return [
    ...checkSkillMd(checked),
    ...await checkEachFile(checked, contents, budget, read),
    ...listSkippedFiles(skill, contents),
    ...checkSize(skill, contents),
  ];
}

function checkSkillMd(skill: CheckedSkill): Diagnostic[] {
  const { repaired } = readFields(findYaml(skill.text) ?? "");
  // The correction of a repaired name proposes one already.
  const isNameRepaired = repaired.some(({ key }) => key === "name");
  return SKILL_RULES.flatMap((rule) => rule(skill))
    .filter(({ field }) => field !== "name" || !isNameRepaired)
    .slice(0, MAX_PER_FILE)
    .map((it) => ({ file: skill.file, ...addLine(it, skill.fields) }));
}

/**
 * Checks the files of a skill, of which it keeps one at a time in memory. Files beyond
 * the limit of the rule `size` stay unread.
 */
async function checkEachFile(
  skill: CheckedSkill,
  { files }: SkillFiles,
  budget: Budget,
  read: (path: string) => Promise<CheckedFile>,
): Promise<Diagnostic[]> {
  const diagnostics: Diagnostic[] = [];
  let left = MAX_SKILL_SIZE;
  for (const { path, size } of files) {
    left -= size;
    budget.bytes -= size;
    if (left < 0 || !isWithin(budget)) break;
    const start = Date.now();
    const file = pathOnDisk(skill, path);
    try {
      const checked = await read(path);
      const found = FILE_RULES.flatMap((rule) => rule(checked, skill));
      for (const it of found) diagnostics.push({ ...it, file });
      budget.entries -= found.length;
    } catch (error) {
      diagnostics.push({ ...diagnosticOf(error), rule: "unreadable", file });
    }
    budget.time -= Date.now() - start;
  }
  return diagnostics;
}

/** @throws {SkillFileError} If it cannot be read. */
async function readFile(
  skill: Skill,
  path: string,
  registry: SkillSource,
): Promise<CheckedFile> {
  const file = await registry.readFile(skill, path);
  return { path, text: decodeText(file), isUtf8: file.text !== undefined };
}

function checkDirName({ name, directory }: CheckedSkill): DiagnosticDetails[] {
  const dir = basename(directory);
  // Hosts refuse other names, which a limit reports with the right one.
  if (!isValidName(name) || name === dir) return [];
  return [{
    rule: "name-folder",
    field: "name",
    ...isValidName(dir) && { value: dir },
    reason: `the name ${quote(name)} differs from the folder name ${
      quote(dir)
    }`,
    fix: `rename the folder to ${quote(name)}`,
  }];
}

function checkFlags({ frontmatter }: CheckedSkill): DiagnosticDetails[] {
  return FLAGS.filter((field) => {
    const value = frontmatter[field];
    return value !== undefined && !isFlagValue(value);
  }).map((field) => {
    const reason = `the value of ${
      quote(field)
    } is neither true nor false, so it hides the skill`;
    return { rule: "flags", field, reason, fix: "write true or false" };
  });
}

/** What YAML reads as a comment is probably part of the description. */
function checkComment({ fields }: CheckedSkill): DiagnosticDetails[] {
  const field = "description";
  const { value = "", lines = [] } = findField(field, fields) ?? {};
  const [, below = ""] = lines;
  if (/^["'|>]/.test(value || below.trim())) return [];
  const [comment] = /\s#.*/.exec(lines.join("\n")) ?? [];
  if (comment === undefined) return [];
  const shown = quote(truncate(comment.trim(), 40));
  const reason = `the description ends before ${shown}, which is a comment`;
  const fix = "put the whole text in quotes";
  return [{ rule: "description-comment", field, value, reason, fix }];
}

function checkTag({ frontmatter }: CheckedSkill): DiagnosticDetails[] {
  const field = "description";
  const [tag] = /<\/?[a-z][^<>]{0,100}>/i.exec(frontmatter[field]) ?? [];
  if (tag === undefined) return [];
  const reason = `some hosts refuse a description with ${quote(tag)}`;
  const fix = "write it without angle brackets";
  return [{ rule: "description-tag", field, reason, fix }];
}

function checkFileName({ file }: CheckedSkill): DiagnosticDetails[] {
  if (basename(file) === SKILL_MD) return [];
  const reason = `some hosts look only for "${SKILL_MD}"`;
  return [{ rule: "file-case", reason, fix: `rename it to "${SKILL_MD}"` }];
}

/** Accepts unknown fields, since hosts have their own, unless they are almost known. */
function checkFieldNames({ fields }: CheckedSkill): DiagnosticDetails[] {
  return fields.flatMap((at): DiagnosticDetails[] => {
    const field = meantField(at.key);
    if (field === undefined || findField(field, fields)) return [];
    const rule = FLAGS.includes(field) ? "flags" : "field-misspelled";
    return [{ rule, ...explainMisspelling(at, field) }];
  });
}

/** Reports a conflict in the instructions. The reader reports one in the frontmatter. */
function checkConflict({ text, markdown }: CheckedSkill): DiagnosticDetails[] {
  const isPossible = findConflict(withoutFrontmatter(text)) !== undefined &&
    findConflict(findYaml(text) ?? "") === undefined;
  const found = isPossible && findConflict(markdown.withoutCode(text));
  return found ? [{ rule: "conflict", ...found }] : [];
}

function checkInstructions({ text }: CheckedSkill): DiagnosticDetails[] {
  // An unreadable file has a diagnostic of its own.
  if (text === "" || withoutFrontmatter(text).trim() !== "") return [];
  return [{
    rule: "instructions-missing",
    reason: 'there are no instructions below the second line "---"',
    fix: "write there what the agent should do",
  }];
}

/** Invisible characters can hide text. A limit reports those of the required fields. */
function checkInvisible(
  { text, fields, frontmatter }: CheckedSkill,
): DiagnosticDetails[] {
  const reported = REQUIRED_FIELDS
    .filter((name) => listInvisible(frontmatter[name]).length > 0)
    .map((name) => findField(name, fields));
  const isReported = (line: number) =>
    reported.some((field) =>
      field && line >= field.line && line < field.line + field.lines.length
    );
  const lines = text.replace(/^\ufeff/, "").split(/\r\n?|\n/)
    .map(listInvisible);
  const index = lines.findIndex((characters, index) =>
    characters.length > 0 && !isReported(index + 1)
  );
  if (index === -1) return [];
  const reason = `there are invisible characters, such as ${lines[index]![0]}`;
  const fix = "remove them, and find out where they come from";
  return [{ rule: "invisible-characters", line: index + 1, reason, fix }];
}

/** The maximum number of lines that the specification recommends. */
const MAX_SKILL_MD_LINES = 500;

function checkLength({ text }: CheckedSkill): DiagnosticDetails[] {
  const { length } = text.trimEnd().split(/\r\n?|\n/);
  if (length <= MAX_SKILL_MD_LINES) return [];
  const reason =
    `it has ${length} lines, and the specification recommends at most ${MAX_SKILL_MD_LINES}`;
  const fix = "move details into other files of the skill, and link to them";
  return [{ rule: "long", reason, fix }];
}

/** Reports inner skills, which are also files of the skill. */
function checkInside({ paths }: CheckedSkill): DiagnosticDetails[] {
  const inside = paths.filter((path) => {
    const [, name = "", ...rest] = path.split("/");
    return rest.length === 0 && isSkillFileName(name);
  });
  if (inside.length === 0) return [];
  const dirs = count(inside.length, "folder");
  return [{
    rule: "inner-skill",
    reason:
      `it contains ${dirs} with another ${SKILL_MD}, which the server serves as files of this skill`,
    fix:
      `move this ${SKILL_MD} into a folder of its own, unless that is intended`,
  }];
}

function checkEncoding(
  { path, text, isUtf8 }: CheckedFile,
): DiagnosticDetails[] {
  if (isUtf8 || !MARKDOWN.test(path)) return [];
  return [{ rule: "encoding", ...explainEncoding(text) }];
}

function checkLinks(
  { path, text, isUtf8 }: CheckedFile,
  { paths, markdown }: CheckedSkill,
): DiagnosticDetails[] {
  if (!isUtf8 || !MARKDOWN.test(path)) return [];
  return markdown.listBrokenLinks(text, path, paths);
}

/** Reports skills of the same name, unless they are off. */
export function checkTogether(skills: readonly NamedSkill[]): Diagnostic[] {
  const on = skills.filter((it) => !isOff(it));
  const byName = Map.groupBy(on, ({ name }) => skillKey(name));
  return [...byName.values()].flatMap(([first, ...others]) =>
    others.map(({ file, name, isCopy }): Diagnostic => ({
      rule: "name-twice",
      file,
      reason: `${quote(first!.file)} has the same name, ${quote(name)}`,
      fix: isCopy
        ? "remove one of the two skills, because it is a copy"
        : "rename one of the two skills, or remove it",
    }))
  );
}
