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

/** The pattern of a line that starts or ends frontmatter. */
export const FENCE = String.raw`---[ \t]*\r?(?=\n|$)`;

/** The YAML begins with a line break, so that its lines have the numbers of the file. */
const FRONTMATTER = new RegExp(
  String.raw`^\ufeff?${FENCE}(\n(?:[^]*?\n)??)${FENCE}`,
);

/** The fields without which a skill cannot be served, and what to write in them. */
const REQUIRED = {
  name: "the name of the skill's folder",
  description: "what the skill does and when to use it",
};

/** The fields of the frontmatter that have a meaning. */
export const KNOWN_FIELDS: readonly string[] = [
  ...Object.keys(REQUIRED),
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "disable-model-invocation",
  "user-invocable",
];

/** The maximum number of lines of YAML that are repaired. Each one is parsed. */
const MAX_REPAIRED_LINES = 200;

/** The maximum number of problems that are reported for one frontmatter. */
const MAX_PROBLEMS = 20;

/** A problem with a text whose file is not known. */
export type TextProblem = Omit<Problem, "file">;

/** What a `SKILL.md` says. */
export interface SkillText {
  /** The frontmatter, if it has a name and a description, as it is served. */
  readonly frontmatter?: SkillFrontmatter;
  /** Whether the frontmatter parses only after a repair. Hosts could not read it. */
  readonly isRepaired: boolean;
  /** What is wrong with it, in the order of lines. */
  readonly problems: readonly TextProblem[];
  /** The name as far as it can be read, even if the rest cannot. */
  readonly name?: string;
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
  if (yaml === undefined) return describeRaw(text, [describeFences(text)]);
  const parsed = parseYaml(yaml);
  // Some parsers take a line that is indented with a tab for a part of the text.
  const isValid = !(parsed instanceof Error) && !/\n\t[\t ]*\S/.test(yaml);
  if (isValid) return describeFields(parsed, { yaml });
  const lines = yaml.split("\n");
  const end = lines.findIndex((line) => /^\.\.\.\s*$/.test(line));
  if (end !== -1) return describeRaw(yaml, [describeNearFence("...", end + 1)]);
  const repairs = lines.length > MAX_REPAIRED_LINES
    ? []
    : lines.map(repairLine).filter((repair) => repair !== undefined);
  for (const { line, finished } of repairs) lines[line - 1] = finished;
  const repaired = lines.join("\n");
  const fields = repairs.length > 0 ? parseYaml(repaired) : parsed;
  const problems = repairs.slice(0, MAX_PROBLEMS)
    .map(({ line, reason, finished }) => {
      const rule = fields instanceof Error ? "yaml" : "yaml-repaired";
      return { rule, line, reason, hint: writeLine(finished) };
    });
  if (!(fields instanceof Error)) {
    return describeFields(fields, { yaml: repaired, repairs: problems });
  }
  const fault = { rule: "yaml", ...describeYamlError(fields, repaired) };
  return describeRaw(yaml, [...problems, fault]);
}

/** Returns the YAML between the fences, unless they are missing or too far apart. */
function findYaml(text: string): string | undefined {
  const start = text.slice(0, MAX_FRONTMATTER_SIZE + 2);
  const [frontmatter = "", yaml] = FRONTMATTER.exec(start) ?? [];
  const isShort = frontmatter.length * 3 <= MAX_FRONTMATTER_SIZE ||
    new TextEncoder().encode(frontmatter).length <= MAX_FRONTMATTER_SIZE;
  return isShort ? yaml : undefined;
}

/** Returns the Markdown after the frontmatter, from the end of its last line. */
export function bodyOf(text: string): string {
  return text.replace(FRONTMATTER, "");
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
  yaml: string,
): { line: number; reason: string; hint: string } {
  const [text = message, place = "1"] = message.split(/ at line (\d+), /, 2);
  // Some parsers report an error in the last line on the line after it.
  const lines = yaml.trimEnd().split("\n");
  const line = Math.min(Number(place), lines.length);
  const reason = `the YAML is malformed: ${oneLine(text)}`;
  const hint = /duplicated/.test(text)
    ? "remove one of the duplicate keys"
    : /^\s*\t/.test(lines[line - 1]!)
    ? "indent with spaces instead of tabs"
    : /alias|tag/.test(text)
    ? "put the value in single quotes"
    : "check the quotes, colons, and indentation of this line and the line before it";
  return { line, reason, hint };
}

/** Whether a flag of the frontmatter hides a skill from the model. */
export function isHiddenFromModel(fields: Record<string, unknown>): boolean {
  const flag = fields["disable-model-invocation"];
  return flag !== undefined && toBoolean(flag) !== false;
}

/** Whether a flag of the frontmatter hides a skill from the user. */
export function isHiddenFromUser(fields: Record<string, unknown>): boolean {
  const flag = fields["user-invocable"];
  return flag !== undefined && toBoolean(flag) !== true;
}

/** Reads a boolean as people write it. Returns `undefined` for anything else. */
function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === "object") return undefined;
  const text = String(value).trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(text)) return true;
  return ["false", "no", "off", "0"].includes(text) ? false : undefined;
}

/** Describes what the YAML was parsed to, perhaps after repairs. */
function describeFields(
  fields: unknown,
  { yaml, repairs = [] }: { yaml: string; repairs?: readonly TextProblem[] },
): SkillText {
  if (!isObject(fields)) return describeRaw(yaml, [NOT_A_MAPPING]);
  const missing = ["name" as const, "description" as const]
    .filter((field) => !isText(fields[field]))
    .map((field) => describeRequired(field, { fields, yaml }));
  const flags = ["disable-model-invocation", "user-invocable"]
    .filter((flag) => fields[flag] !== undefined)
    .filter((flag) => toBoolean(fields[flag]) === undefined)
    .map((flag) => describeFlag(flag, yaml));
  const isServed = missing.length === 0;
  const others = [...missing, ...flags];
  // The finished line of another problem is right in all respects.
  const repaired = repairs
    .filter(({ line }) => !others.some((other) => other.line === line))
    .map((repair) => isServed ? repair : { ...repair, rule: "yaml" });
  return {
    ...isServed ? { frontmatter: fields as SkillFrontmatter } : {},
    ...isText(fields.name) ? { name: fields.name } : {},
    isRepaired: repairs.length > 0,
    problems: [...repaired, ...others].sort((a, b) => a.line! - b.line!),
    isHiddenFromModel: isHiddenFromModel(fields),
    isHiddenFromUser: isHiddenFromUser(fields),
  };
}

const NOT_A_MAPPING: TextProblem = {
  rule: "yaml",
  line: 2,
  reason: "the frontmatter is not a YAML mapping",
  hint: 'write "name: …" and "description: …" on lines of their own',
};

function isText(value: unknown): value is string {
  return typeof value === "string" && oneLine(value) !== "";
}

/** Describes what does not parse. A name or a flag on a line of its own counts. */
function describeRaw(
  text: string,
  problems: readonly TextProblem[],
): SkillText {
  const entries = [...text.slice(0, MAX_FRONTMATTER_SIZE).matchAll(RAW_FIELD)]
    .map(([, field = "", rest = ""]): Record<string, string> => {
      const value = rest.split(/\s#/, 1)[0]!.trim();
      return { [field]: value.replace(/^["']|["']$/g, "") };
    });
  const named = entries.find(({ name }) => isText(name));
  return {
    ...named && { name: named.name! },
    isRepaired: false,
    problems,
    isHiddenFromModel: entries.some(isHiddenFromModel),
    isHiddenFromUser: entries.some(isHiddenFromUser),
  };
}

const RAW_FIELD =
  /^["']?(name|disable-model-invocation|user-invocable)["']?[ \t]*:(.{0,200})/gm;

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
  const [indentation = ""] = /^[ \t]+(?=\S)/.exec(written) ?? [];
  if (indentation.includes("\t")) {
    const spaces = indentation.replaceAll("\t", "  ");
    const finished = spaces + written.slice(indentation.length);
    return { line, reason: "the line is indented with a tab", finished };
  }
  const [, key = "", value = ""] = ENTRY.exec(written) ?? [];
  const isContinued = /^[ \t]+[^\s#]/.test(lines[line] ?? "");
  const isFaulty = key !== "" && !isContinued &&
    parseYaml(written) instanceof Error;
  if (!isFaulty) return undefined;
  const finished = quoteField(key, withoutQuotes(value.trim()));
  return { line, reason: `the value of ${quote(key)} needs quotes`, finished };
}

/** Returns the text of a value, without the quotes around all of it. */
function withoutQuotes(value: string): string {
  const mark = value[0] ?? "";
  if (mark !== '"' && mark !== "'") return value;
  const isClosed = value.length > 1 && value.endsWith(mark);
  const inner = value.slice(1, isClosed ? -1 : undefined);
  const next = inner.indexOf(mark);
  // In `"a" and "b"`, the quotes are part of the text.
  if (next > 0 && /^[^\s\\].[\s,.;:!?)]/.test(inner.slice(next - 1))) {
    return value;
  }
  return mark === '"'
    ? inner.replaceAll('\\"', '"')
    : inner.replaceAll("''", "'");
}

/** Describes a required field that is missing, has another name, or is not a text. */
function describeRequired(
  field: keyof typeof REQUIRED,
  { fields, yaml }: { fields: Record<string, unknown>; yaml: string },
): TextProblem {
  const rule = `${field}-missing`;
  const what = `the field ${quote(field)}`;
  if (Object.hasOwn(fields, field)) {
    const { line = 1, value = "" } = findField(field, yaml) ?? {};
    const isEmpty = fields[field] === null || typeof fields[field] === "string";
    const reason = isEmpty ? `${what} is empty` : `${what} is not a string`;
    const hint = /^(?:["'|>]|$)/.test(value)
      ? `write ${REQUIRED[field]} after "${field}:", as one text`
      : writeLine(quoteField(field, value));
    return { rule, line, reason, hint };
  }
  const others = Object.keys(fields).filter((key) =>
    !KNOWN_FIELDS.includes(key) && findField(key, yaml) !== undefined
  );
  const near = nearestWords(field, others)[0] ??
    others.find((key) => key.length > 3 && field.startsWith(key));
  const reason = `${what} is missing`;
  if (near === undefined) {
    const hint = `add a line "${field}: …" with ${REQUIRED[field]}`;
    return { rule, line: 1, reason, hint };
  }
  const { line, value } = findField(near, yaml)!;
  const hint = writeLine(`${field}: ${value}`);
  return { rule, line, reason: `${reason}, but there is ${quote(near)}`, hint };
}

function describeFlag(flag: string, yaml: string): TextProblem {
  const { line = 1 } = findField(flag, yaml) ?? {};
  const reason = `${flag} is neither true nor false, so it hides the skill`;
  const hint = writeLine(`${flag}: ${flag === "user-invocable"}`);
  return { rule: "flags", line, reason, hint };
}

/** Describes why frontmatter does not start or end. */
function describeFences(text: string): TextProblem {
  // UTF-16 that was decoded as UTF-8.
  if (/^(?:\ufffd\ufffd)?(?:[^\0]\0|\0[^\0]){2}/.test(text)) return UTF_16;
  const start = text.replace(/^\ufeff/, "").slice(0, MAX_FRONTMATTER_SIZE + 1);
  const [first = "", ...lines] = start.split(/\r?\n/);
  if (NEAR_FENCE.test(first)) return describeNearFence(first, 1);
  if (!/^---[ \t]*$/.test(first)) {
    return /^\+{3,}\s*$/.test(first) ? TOML : NO_START;
  }
  const isLong = new TextEncoder().encode(start).length > MAX_FRONTMATTER_SIZE;
  // The last line may be cut.
  if (isLong) lines.pop();
  const near = lines.findIndex((line) => NEAR_FENCE.test(line));
  if (near !== -1) return describeNearFence(lines[near]!, near + 2);
  return isLong ? TOO_LARGE : NO_END;
}

/** A line that is likely meant as `---`. */
const NEAR_FENCE =
  /^(?!---[ \t]*$)\s*(?:-{2,}|[\u2010-\u2015]+|\*{3,}|_{3,}|={3,}|\.{3})\s*$/;

function describeNearFence(text: string, line: number): TextProblem {
  const reason = `the line is ${quote(text)} instead of "---"`;
  return { rule: "frontmatter-missing", line, reason, hint: writeLine("---") };
}

const NO_START: TextProblem = {
  rule: "frontmatter-missing",
  line: 1,
  reason: 'there is no frontmatter: the first line is not "---"',
  hint:
    'start the file with a line "---", followed by the lines "name: …", "description: …", and "---"',
};

const TOML: TextProblem = {
  ...NO_START,
  reason: 'the frontmatter is TOML, because it begins with "+++"',
  hint: 'write it in YAML, between two lines "---"',
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

const UTF_16: TextProblem = {
  rule: "utf-16",
  line: 1,
  reason: "the file is encoded as UTF-16",
  hint: "save it with the encoding UTF-8",
};
