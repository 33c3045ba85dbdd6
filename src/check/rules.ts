/**
 * The rules of `--check` for a skill that is served: small functions that return what
 * is wrong with its `SKILL.md`, or with one of its files. `docs/check.md` describes
 * each.
 */

import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { diagnosticOf } from "../fs/errors.ts";
import { basename, join } from "../fs/paths.ts";
import {
  type FieldDiagnostic,
  limitFiles,
  LIMITS,
  listLeftOut,
  validName,
} from "../skills/limits.ts";
import { SKILL_MD, skillKey } from "../skills/names.ts";
import { findYaml } from "../skills/skill_md.ts";
import type { Skill, SkillFiles, SkillSource } from "../skills/types.ts";
import { count, listInvisible, quote, truncate } from "../text.ts";
import {
  type Field,
  findField,
  findNested,
  fixBy,
  FLAGS,
  inQuotes,
  listFields,
  meantField,
  writeField,
} from "./fields.ts";
import { listBrokenLinks } from "./links.ts";

interface CheckedSkill extends Skill {
  /** The text of its `SKILL.md`. */
  readonly text: string;
  /** The fields as they are written. */
  readonly fields: readonly Field[];
  /** The paths of its files. */
  readonly paths: readonly string[];
  /** Whether a path that leads out of the skill leads to another one. */
  readonly isInSkill: (path: string) => boolean;
}

/** A file of a skill. */
interface CheckedFile {
  readonly path: string;
  /** Its text, with the character U+FFFD for bytes that are not UTF-8. */
  readonly text: string;
  readonly isUtf8: boolean;
}

type Found =
  | FieldDiagnostic
  | DiagnosticDetails
  | readonly (FieldDiagnostic | DiagnosticDetails)[];

const SKILL_RULES: readonly ((skill: CheckedSkill) => Found | undefined)[] = [
  ...LIMITS,
  checkDirName,
  checkFileName,
  checkFieldNames,
  checkFlags,
  checkComment,
  checkTag,
  checkArgumentHint,
  checkAllowedTools,
  checkInvisible,
  checkBody,
  checkLength,
  checkNested,
];

const FILE_RULES: readonly ((
  file: CheckedFile,
  skill: CheckedSkill,
) => DiagnosticDetails | DiagnosticDetails[] | undefined)[] = [
  checkEncoding,
  checkShebang,
  checkLinks,
];

/** Lists what is wrong with a skill and its files. */
export async function checkSkill(
  skill: Skill,
  { registry, contents }: { registry: SkillSource; contents: SkillFiles },
): Promise<Diagnostic[]> {
  const files: CheckedFile[] = [];
  const unreadable: Diagnostic[] = [];
  for (const { path } of contents.files) {
    try {
      const { text, bytes } = await registry.readFile(skill, path);
      const isUtf8 = text !== undefined;
      const decoded = text ?? new TextDecoder().decode(bytes);
      files.push({ path, text: decoded, isUtf8 });
    } catch (error) {
      const file = pathOf(skill, path);
      unreadable.push({ file, ...diagnosticOf(error), rule: "unreadable" });
    }
  }
  const { text = "" } = files.find(({ path }) => path === SKILL_MD) ?? {};
  const { skills } = registry.catalog;
  const checked: CheckedSkill = {
    ...skill,
    text,
    fields: listFields(findYaml(text) ?? ""),
    paths: contents.files.map(({ path }) => path),
    isInSkill: (path) => {
      const target = join(skill.directory, path);
      return skills.values().some(({ directory }) =>
        target === directory || target === join(directory, SKILL_MD)
      );
    },
  };
  return [
    ...SKILL_RULES.flatMap((rule) => rule(checked) ?? [])
      .map((diagnostic) => toDiagnostic(diagnostic, checked)),
    ...files.flatMap((file) =>
      FILE_RULES.flatMap((rule) => rule(file, checked) ?? [])
        .map((diagnostic) => ({
          ...diagnostic,
          file: pathOf(skill, file.path),
        }))
    ),
    ...listLeftOut(skill, contents),
    ...[limitFiles(skill, contents)].filter((it) => it !== undefined),
    ...unreadable,
  ];
}

function pathOf({ file, directory }: Skill, path: string): string {
  return path === SKILL_MD ? file : join(directory, path);
}

/** Adds the line of the field, and the finished line if the value is known. */
function toDiagnostic(
  diagnostic: FieldDiagnostic | DiagnosticDetails,
  { file, fields }: CheckedSkill,
): Diagnostic {
  if (!("field" in diagnostic)) return { file, ...diagnostic };
  const { field, key, value, ...rest } = diagnostic;
  const at = findField(field, fields);
  const nested = at && key !== undefined ? findNested(key, at) : undefined;
  if (nested !== undefined) {
    // A number, such as a version, becomes a text as it is written.
    const number = /^[\w.+-]+(?=\s+#|$)/.exec(nested.value)?.[0];
    const finished = number &&
      `${nested.indentation}${key}: ${inQuotes(number)}`;
    return { file, ...rest, line: nested.line, fix: fixBy(finished, rest.fix) };
  }
  const isWhole = at?.lines.length === 1 && at.value !== "";
  const finished = value && isWhole ? writeField(field, value) : undefined;
  return { file, ...rest, line: at?.line, fix: fixBy(finished, rest.fix) };
}

function checkDirName(
  { name, directory, fields, paths }: CheckedSkill,
): DiagnosticDetails | undefined {
  // The directory of several skills must not be renamed for the sake of one.
  if (paths.some((path) => SKILL_IN_SKILL.test(path))) return undefined;
  const dir = basename(directory);
  const valid = validName(name);
  if (valid === undefined || valid === dir) return undefined;
  const at = findField("name", fields);
  const rename = `rename the folder to ${quote(valid)}, unless that exists`;
  const finished = at?.lines.length === 1 && validName(dir) === dir
    ? writeField("name", dir)
    : undefined;
  const fix = fixBy(finished, "");
  return {
    rule: "name-folder",
    line: at?.line,
    reason: `the name ${quote(valid)} differs from the folder name ${
      quote(dir)
    }`,
    fix: fix === "" ? rename : `${rename}, or ${fix}`,
  };
}

function checkFileName({ file }: CheckedSkill): DiagnosticDetails | undefined {
  if (basename(file) === SKILL_MD) return undefined;
  const reason = `some hosts look only for "${SKILL_MD}"`;
  return { rule: "file-case", reason, fix: `rename it to "${SKILL_MD}"` };
}

/** Unknown fields pass, since hosts have their own, unless they are almost known ones. */
function checkFieldNames({ fields }: CheckedSkill): DiagnosticDetails[] {
  return fields.flatMap((at): DiagnosticDetails[] => {
    const field = meantField(at.key);
    if (field === undefined || findField(field, fields)) return [];
    return [{
      rule: FLAGS.includes(field) ? "flags" : "field-misspelled",
      line: at.line,
      reason: `the field ${quote(at.key)} is almost ${quote(field)}`,
      fix: fixBy(`${field}: ${at.value}`.trimEnd(), `write ${quote(field)}`),
    }];
  });
}

const CLEAR = /^(?:true|yes|on|false|no|off)$/i;

function checkFlags({ frontmatter }: CheckedSkill): FieldDiagnostic[] {
  return FLAGS.filter((field) => {
    const value = frontmatter[field];
    return value !== undefined &&
      (typeof value === "object" || !CLEAR.test(String(value)));
  }).map((field) => {
    const reason = `the value of ${
      quote(field)
    } is neither true nor false, so it hides the skill`;
    return { rule: "flags", field, reason, fix: "write true or false" };
  });
}

/** What YAML takes for a comment is most likely a part of the description. */
function checkComment({ fields }: CheckedSkill): FieldDiagnostic | undefined {
  const field = "description";
  const { value = "", lines = [] } = findField(field, fields) ?? {};
  if (/^["'|>]/.test(value)) return undefined;
  const [comment] = /\s#.*/.exec(lines.join("\n")) ?? [];
  if (comment === undefined) return undefined;
  const shown = quote(truncate(comment.trim(), 40));
  const reason = `the description ends before ${shown}, which is a comment`;
  const fix = "put the whole text in quotes";
  return { rule: "description-comment", field, value, reason, fix };
}

function checkTag(
  { frontmatter: { description } }: CheckedSkill,
): FieldDiagnostic | undefined {
  const [tag] = /<\/?[a-z][^<>]{0,100}>/i.exec(description) ?? [];
  if (tag === undefined) return undefined;
  const reason = `some hosts refuse a description with ${quote(tag)}`;
  const fix = "write it without angle brackets";
  return { rule: "description-tag", field: "description", reason, fix };
}

function checkArgumentHint(
  { frontmatter, fields }: CheckedSkill,
): FieldDiagnostic | undefined {
  const field = "argument-hint";
  const hint = frontmatter[field];
  if (hint === undefined || typeof hint === "string") return undefined;
  const value = findField(field, fields)?.value;
  const reason = `${field} is not a text, so some hosts drop the skill`;
  const fix = "write a text in quotes, or remove it";
  return { rule: field, field, value, reason, fix };
}

function checkAllowedTools(
  { frontmatter }: CheckedSkill,
): FieldDiagnostic | undefined {
  const field = "allowed-tools";
  const tools = frontmatter[field];
  if (!Array.isArray(tools)) return undefined;
  const reason = `${field} is a list, but the specification says a text`;
  const fix = "write it as one text";
  return { rule: field, field, value: tools.join(" "), reason, fix };
}

/** Invisible characters can hide text. */
function checkInvisible({ text }: CheckedSkill): DiagnosticDetails | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n?|\n/)
    .map(listInvisible);
  const index = lines.findIndex((characters) => characters.length > 0);
  if (index === -1) return undefined;
  const reason = `there are invisible characters, such as ${lines[index]![0]}`;
  const fix = "remove them, and find out where they come from";
  return { rule: "invisible-characters", line: index + 1, reason, fix };
}

function checkBody(
  { text, excerpt }: CheckedSkill,
): DiagnosticDetails | undefined {
  const endsWithFence = text.trimEnd().endsWith("\n---");
  if (excerpt.trim() !== "" || !endsWithFence) return undefined;
  const reason = "there are no instructions below the frontmatter";
  return { rule: "body-empty", reason, fix: "write there what to do" };
}

/** The maximum number of lines that the specification recommends. */
const MAX_LINES = 500;

function checkLength({ text }: CheckedSkill): DiagnosticDetails | undefined {
  const { length } = text.trimEnd().split(/\r\n?|\n/);
  if (length <= MAX_LINES) return undefined;
  const reason = `it has ${length} lines, and ${MAX_LINES} are recommended`;
  const fix = "move details into other files of the skill, and link to them";
  return { rule: "long", reason, fix };
}

const SKILL_IN_SKILL = /^[^/]+\/SKILL\.md$/;

/** Reports a directory that may hold several skills, although it is one. */
export function checkNested(
  { paths }: Pick<CheckedSkill, "paths">,
): DiagnosticDetails | undefined {
  const inside = paths.filter((path) => SKILL_IN_SKILL.test(path));
  if (inside.length === 0) return undefined;
  const dirs = count(inside.length, "folder");
  return {
    rule: "not-served",
    reason: `beside it, ${dirs} with a ${SKILL_MD} are files of its skill`,
    fix: "move it into a folder of its own, unless that is what they are for",
  };
}

const MARKDOWN = /\.(?:md|markdown)$/i;

function checkEncoding(
  { path, text, isUtf8 }: CheckedFile,
): DiagnosticDetails | undefined {
  if (isUtf8 || !MARKDOWN.test(path)) return undefined;
  const line = 1 + text.split("\n").findIndex((it) => it.includes("\ufffd"));
  const reason = "the file is not UTF-8, so the model cannot read it";
  const fix = 'save it as UTF-8, with "Save as" or "Save with Encoding"';
  return { rule: "encoding", line, reason, fix };
}

/** A carriage return becomes a part of the interpreter's name. */
function checkShebang({ text }: CheckedFile): DiagnosticDetails | undefined {
  if (!/^#!.*\r\n/.test(text)) return undefined;
  const reason =
    "the line ends in CR and LF, so the system finds no interpreter of that name";
  const fix = "save the file with the line endings LF";
  return { rule: "script-crlf", line: 1, reason, fix };
}

function checkLinks(
  { path, text, isUtf8 }: CheckedFile,
  { paths, isInSkill }: CheckedSkill,
): DiagnosticDetails[] {
  if (!isUtf8 || !MARKDOWN.test(path)) return [];
  return listBrokenLinks(text, path, paths, isInSkill);
}

/** Reports skills of the same name. */
export function checkTogether(skills: readonly Skill[]): Diagnostic[] {
  const byName = Map.groupBy(skills, ({ name }) => skillKey(name));
  return [...byName.values()].flatMap(([first, ...others]) =>
    others.map(({ name, file }): Diagnostic => ({
      rule: "name-twice",
      file,
      reason: `the name ${quote(name)} is also that of ${quote(first!.file)}`,
      fix: "rename one of the two skills, or remove it",
    }))
  );
}
