/**
 * The frontmatter of a `SKILL.md`: finding it, parsing it, and repairing it.
 *
 * People write values that YAML does not allow without quotes, above all those
 * with a colon. Many programs read them anyway, so this one does, too: if the
 * frontmatter does not parse, such values are put in quotes, tabs are replaced, and
 * it is parsed again. Each repaired line is a problem that holds the finished line.
 *
 * A valid frontmatter costs no more than one match and the YAML parser. No
 * expression takes more than linear time, whatever the text.
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @module
 */

import { parse } from "jsr:@std/yaml@^1";
import {
  escapeCodePoint,
  escapeHidden,
  isObject,
  nearestWords,
  oneLine,
  quote,
} from "../text.ts";
import type { Problem, SkillFrontmatter } from "./types.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 16 * 1024;

/**
 * The YAML begins with a line break, so that its lines have the numbers of the file.
 * A line `...` ends it for YAML, too, but not for other programs.
 */
const FRONTMATTER =
  /^\ufeff?---[ \t]*\r?(?=\n)(\n(?:[^]*?\n)??)(---|\.\.\.)[ \t]*\r?(?=\n|$)/;

/** The fields without which a skill cannot be served. */
const REQUIRED_FIELDS = ["name", "description"];

/** The fields that hide a skill from the model, and from the user. */
const FLAGS = ["disable-model-invocation", "user-invocable"];

/** The fields of the frontmatter that have a meaning. */
export const KNOWN_FIELDS: readonly string[] = [
  ...REQUIRED_FIELDS,
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  ...FLAGS,
];

/** The maximum number of lines of YAML that are repaired. Each one is parsed. */
const MAX_REPAIRED_LINES = 200;

/** A problem with a text whose file is not known. */
export type TextProblem = Omit<Problem, "file">;

/** What a `SKILL.md` says. */
export interface SkillText {
  /** The frontmatter, if it has a name and a description, as it is served. */
  readonly frontmatter?: SkillFrontmatter | undefined;
  /** The fields if one of these is missing, and their YAML, so that the others can be checked. */
  readonly incomplete?:
    | { fields: Record<string, unknown>; yaml: string }
    | undefined;
  /** Whether the frontmatter parses only after a repair. Hosts could not read it. */
  readonly isRepaired: boolean;
  /** What is wrong with it. */
  readonly problems: readonly TextProblem[];
  /** The name as far as it can be read, even if the rest cannot. */
  readonly name?: string | undefined;
  /** Whether a flag hides it from the model, even if the rest does not parse. */
  readonly isHiddenFromModel: boolean;
  /** Whether a flag hides it from the user, even if the rest does not parse. */
  readonly isHiddenFromUser: boolean;
}

/** Thrown when the frontmatter of a `SKILL.md` is missing or invalid. */
export class SkillSyntaxError extends SyntaxError {
  /** What is wrong. */
  readonly reason: string;
  /** The number of the line, from 1. */
  readonly line: number;
  /** How to fix it. If there is a second line, it is the text to write. */
  readonly hint: string;
  /** The ID of the rule in `docs/check.md`. */
  readonly rule: string;

  /** Creates an error from what is wrong. */
  constructor({ rule, reason, line = 1, hint }: Omit<Problem, "file">) {
    super(oneLine(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`));
    this.name = "SkillSyntaxError";
    this.reason = reason;
    this.line = line;
    this.hint = hint;
    this.rule = rule;
  }
}

/**
 * Parses the frontmatter of a `SKILL.md`: a YAML mapping between two `---`
 * lines, the first of which is the file's first line. A byte order mark, spaces
 * after the dashes, and CRLF are allowed. `name` and `description` must be
 * non-empty strings. Dates stay strings, as in YAML's core schema. A value that
 * needs quotes is read as if it had them.
 *
 * ```ts
 * import { parseSkillMd } from "@skill-server/skill-server";
 *
 * const { name } = parseSkillMd("---\nname: pdf\ndescription: Fill forms\n---\n");
 * if (name !== "pdf") throw new Error(name);
 * ```
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @param text The text of a `SKILL.md`.
 * @returns The frontmatter, verbatim.
 * @throws {SkillSyntaxError} If the frontmatter is missing, invalid, or larger
 *   than 16 KiB.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const { frontmatter, problems } = readSkillText(text);
  if (frontmatter === undefined) throw new SkillSyntaxError(problems[0]!);
  return frontmatter;
}

/** Reads the frontmatter of a `SKILL.md`, and finds out what is wrong with it. */
export function readSkillText(text: string): SkillText {
  const yaml = findYaml(text);
  if (typeof yaml !== "string") return describeRaw(text, [yaml]);
  const parsed = parsePlain(yaml) ?? parseYaml(yaml);
  // Some parsers take a line that is indented with a tab for a part of the text.
  const isValid = !(parsed instanceof Error) && !/\n\t[\t ]*\S/.test(yaml);
  if (isValid) return describeFields(parsed, { yaml });
  const lines = yaml.split("\n");
  const repairs = lines.length > MAX_REPAIRED_LINES
    ? []
    : lines.map(repairLine).filter((repair) => repair !== undefined);
  for (const { line, finished } of repairs) lines[line - 1] = finished;
  const repaired = lines.join("\n");
  const fields = parseYaml(repaired);
  const problems = repairs.map(({ line, reason, finished }) => {
    return { rule: "yaml", line, reason, hint: writeLine(finished) };
  });
  if (fields instanceof Error) {
    const fault = { rule: "yaml", ...describeYamlError(fields) };
    return describeRaw(yaml, [...problems, fault]);
  }
  return describeFields(fields, { yaml: repaired, repairs: problems });
}

/** Returns the YAML between the fences, or what is wrong with them. */
function findYaml(text: string): string | TextProblem {
  const start = text.slice(0, MAX_FRONTMATTER_SIZE + 2);
  if (!/^\ufeff?---[ \t]*\r?(?:\n|$)/.test(start)) return NO_START;
  const [frontmatter = start, yaml, end] = FRONTMATTER.exec(start) ?? [];
  const isShort = frontmatter.length * 3 <= MAX_FRONTMATTER_SIZE ||
    new TextEncoder().encode(frontmatter).length <= MAX_FRONTMATTER_SIZE;
  if (!isShort) return TOO_LARGE;
  return end === "---" ? yaml! : NO_END;
}

const NO_START: TextProblem = {
  rule: "frontmatter-missing",
  line: 1,
  reason: 'there is no frontmatter: the first line is not "---"',
  hint:
    'start the file, in UTF-8, with a line "---", followed by the lines "name: …", "description: …", and "---"',
};

const NO_END: TextProblem = {
  ...NO_START,
  reason: "the frontmatter does not end",
  hint: 'add a line "---" after it, before the Markdown',
};

const TOO_LARGE: TextProblem = {
  rule: "frontmatter-size",
  line: 1,
  reason: "the frontmatter does not end within 16 KiB",
  hint: 'end it with a line "---", and move long texts to the body',
};

/** A field on one line whose value is a plain text, which YAML reads as it is written. */
const PLAIN_FIELD =
  /^([a-z][a-z-]*): (?!(?:true|false|null) *$)([a-z][ -"$-9;-~]*)$/i;

/** Parses YAML that consists of plain fields, as it often does, in a tenth of the time. */
function parsePlain(yaml: string): Record<string, string> | undefined {
  const fields: Record<string, string> = {};
  for (const line of yaml.split("\n")) {
    if (line === "") continue;
    const [, key, value] = PLAIN_FIELD.exec(line) ?? [];
    if (key === undefined || Object.hasOwn(fields, key)) return undefined;
    fields[key] = value!.trimEnd();
  }
  return fields.name && fields.description ? fields : undefined;
}

/** Parses YAML. Returns the error if it is malformed. */
export function parseYaml(yaml: string): unknown {
  try {
    return parse(yaml, { schema: "core" });
  } catch (error) {
    return error;
  }
}

/** Describes an error of {@linkcode parseYaml}. Lines are numbered from 1. */
export function describeYamlError(
  { message }: Error,
): { line: number; reason: string; hint: string } {
  const [text = message, place = "1"] = message.split(/ at line (\d+), /, 2);
  const hint =
    "check the quotes, colons, and indentation of this line and the line before it";
  const reason = `the YAML is malformed: ${oneLine(text)}`;
  return { line: Number(place), reason, hint };
}

/** Describes what the YAML was parsed to, perhaps after repairs. */
function describeFields(
  fields: unknown,
  { yaml, repairs = [] }: { yaml: string; repairs?: readonly TextProblem[] },
): SkillText {
  if (!isObject(fields)) return describeRaw(yaml, [NOT_A_MAPPING]);
  const missing = REQUIRED_FIELDS.filter((field) => !isText(fields[field]))
    .map((field) => describeRequired(field, { fields, yaml }));
  const isServed = missing.length === 0;
  const rule = isServed ? "yaml-repaired" : "yaml";
  return {
    ...summarize(fields),
    frontmatter: isServed ? fields as SkillFrontmatter : undefined,
    incomplete: isServed ? undefined : { fields, yaml },
    isRepaired: repairs.length > 0,
    problems: [
      ...missing,
      ...repairs.map((repair) => ({ ...repair, rule })),
      ...FLAGS.filter((flag) => isUnclear(fields[flag]))
        .map((flag) => describeFlag(flag, yaml)),
    ],
  };
}

/** Describes what does not parse. A name or a flag on a line of its own counts. */
function describeRaw(
  text: string,
  problems: readonly TextProblem[],
): SkillText {
  const start = text.slice(0, MAX_FRONTMATTER_SIZE);
  const fields: Record<string, string | undefined> = {};
  for (const field of ["name", ...FLAGS]) {
    fields[field] = findField(field, start)?.value.replace(/(?:^|\s)#.*/, "")
      .trim().replace(/^["']|["']$/g, "");
  }
  return { ...summarize(fields), isRepaired: false, problems };
}

/** Returns what counts even if the rest is not served: the name, and the flags. */
function summarize(fields: Record<string, unknown>) {
  const { name, [FLAGS[0]!]: disabled, [FLAGS[1]!]: invocable } = fields;
  return {
    name: isText(name) ? name : undefined,
    isHiddenFromModel: disabled !== undefined && toBoolean(disabled) !== false,
    isHiddenFromUser: invocable !== undefined && toBoolean(invocable) !== true,
  };
}

/** Reads a boolean as people write it. Returns `undefined` for anything else. */
function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === "object") return undefined;
  const text = String(value).trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(text)) return true;
  return ["false", "no", "off", "0"].includes(text) ? false : undefined;
}

function isText(value: unknown): value is string {
  // Nearly all texts contain a visible character of ASCII, and this takes less time.
  return typeof value === "string" &&
    (/[!-~]/.test(value) || oneLine(value) !== "");
}

const NOT_A_MAPPING: TextProblem = {
  rule: "yaml",
  line: 2,
  reason: "the frontmatter is not a YAML mapping",
  hint: 'write "name: …" and "description: …" on lines of their own',
};

/** Whether a flag has a value that is neither true nor false. */
function isUnclear(flag: unknown): boolean {
  return flag !== undefined && toBoolean(flag) === undefined;
}

function describeFlag(flag: string, yaml: string): TextProblem {
  return {
    rule: "flags",
    line: findField(flag, yaml)?.line ?? 1,
    reason: `${flag} is neither true nor false, so it hides the skill`,
    hint: `write "${flag}: true" or "${flag}: false"`,
  };
}

/** Describes a required field that is missing, has another name, or is not a text. */
function describeRequired(
  field: string,
  { fields, yaml }: { fields: Record<string, unknown>; yaml: string },
): TextProblem {
  const others = Object.keys(fields)
    .filter((key) => !KNOWN_FIELDS.includes(key));
  const isThere = Object.hasOwn(fields, field);
  const [near] = isThere ? [] : nearestWords(field, others);
  const { line = 1, value } = findField(near ?? field, yaml) ?? {};
  const fault = isThere
    ? "empty, or not a string"
    : near
    ? `missing, but there is ${quote(near)}`
    : "missing";
  return {
    rule: `${field}-missing`,
    line,
    reason: `the field ${quote(field)} is ${fault}`,
    hint: near && value
      ? writeLine(`${field}: ${value}`)
      : `write "${field}: …", as one text in quotes`,
  };
}

/** An entry on a line: a key at the top level, and the text after its colon. */
const ENTRY = /^["']?([\w.-]+)["']?[ \t]*:(?:[ \t]([^]*)|\r?$)/;

/**
 * Finds a field in the lines of a text. Returns the number of its line, from 1, and
 * the value on it.
 */
export function findField(
  field: string,
  text: string,
): { line: number; value: string } | undefined {
  const lines = text.split("\n");
  const index = lines.findIndex((line) => ENTRY.exec(line)?.[1] === field);
  const [, , value = ""] = ENTRY.exec(lines[index] ?? "") ?? [];
  return index === -1 ? undefined : { line: index + 1, value: value.trim() };
}

/** Returns the hint to replace a line. */
export function writeLine(line: string): string {
  return `write this line instead:\n${line.trimEnd()}`;
}

/** Writes a field with its value in quotes that keep every character. */
export function quoteField(field: string, text: string): string {
  const quoted = escapeHidden(text) === text
    ? `'${text.replaceAll("'", "''")}'`
    : escapeHidden(JSON.stringify(text.toWellFormed()), escapeCodePoint);
  return `${field}: ${quoted}`;
}

/** What is wrong with a line, and the line without it. */
interface Repair {
  readonly line: number;
  readonly reason: string;
  readonly finished: string;
}

/** Repairs a line that is indented with tabs, or whose value needs quotes. */
function repairLine(
  written: string,
  index: number,
  lines: readonly string[],
): Repair | undefined {
  const line = index + 1;
  const spaced = written
    .replace(/^[ \t]+(?=\S)/, (blanks) => blanks.replaceAll("\t", "  "));
  if (spaced !== written) {
    const reason = "the line is indented with a tab";
    return { line, reason, finished: spaced };
  }
  const [, key, value = ""] = ENTRY.exec(written) ?? [];
  const isContinued = /^[ \t]+[^\s#]/.test(lines[line] ?? "");
  if (key === undefined || isContinued) return undefined;
  if (!(parseYaml(written) instanceof Error)) return undefined;
  const reason = `the value of ${quote(key)} needs quotes`;
  return { line, reason, finished: quoteField(key, value.trim()) };
}
