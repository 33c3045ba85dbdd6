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
  editDistance,
  escapeCodePoint,
  escapeHidden,
  isObject,
  oneLine,
  quote,
} from "../text.ts";
import type { Fault } from "../problems.ts";
import type { SkillFrontmatter } from "./types.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 16 * 1024;

/** The YAML begins with a line break, so that its lines have the numbers of the file. */
const FRONTMATTER =
  /^\ufeff?---[ \t]*\r?(?=\n)(\n(?:[^]*?\n)??)---[ \t]*\r?(?=\n|$)/;

/** The fields without which a skill cannot be served. */
const REQUIRED_FIELDS = ["name", "description"] as const;

/** The fields that hide a skill from the model, and from the user. */
const FLAGS = ["disable-model-invocation", "user-invocable"];

/** The fields of the frontmatter that have a meaning. */
export const KNOWN_FIELDS: readonly string[] = [
  ...REQUIRED_FIELDS,
  ...["license", "compatibility", "metadata", "allowed-tools"],
  ...FLAGS,
];

/** What a `SKILL.md` says. */
export interface SkillText {
  /** The frontmatter, if it has a name and a description, as it is served. */
  readonly frontmatter?: SkillFrontmatter | undefined;
  /** Whether the frontmatter parses only after a repair. Hosts could not read it. */
  readonly isRepaired: boolean;
  /** What is wrong with it. */
  readonly problems: readonly Fault[];
  /** The name as far as it can be read, even if the rest cannot. */
  readonly name?: string | undefined;
  /** Whether a flag hides it from the model, even if the rest does not parse. */
  readonly isHiddenFromModel: boolean;
  /** Whether a flag hides it from the user, even if the rest does not parse. */
  readonly isHiddenFromUser: boolean;
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
 * @throws {SyntaxError} If the frontmatter is missing, invalid, or larger than
 *   16 KiB. The message names the line, and how to fix it.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const { frontmatter, problems } = readSkillText(text);
  if (frontmatter !== undefined) return frontmatter;
  const { reason, line = 1, hint } = problems[0]!;
  throw new SyntaxError(
    oneLine(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`),
  );
}

/** Reads the frontmatter of a `SKILL.md`, and finds out what is wrong with it. */
export function readSkillText(text: string): SkillText {
  const yaml = findYaml(text);
  if (typeof yaml !== "string") return describeRaw(text, yaml);
  const parsed = parsePlain(yaml) ?? parseYaml(yaml);
  // Some parsers take a line that is indented with a tab for a part of the text.
  const isValid = !(parsed instanceof Error) && !/\n\t[\t ]*\S/.test(yaml);
  if (isValid) return describeFields(parsed, { yaml });
  const lines = yaml.split("\n");
  const repaired = lines.map(repairLine);
  const finished = repaired.join("\n");
  const fields = parseYaml(finished);
  if (fields instanceof Error) {
    return describeRaw(yaml, { rule: "yaml", ...describeYamlError(fields) });
  }
  const repairs = repaired.flatMap((line, index): Fault[] => {
    if (line === lines[index]) return [];
    const [key] = line.split(":", 1);
    const reason = line.startsWith(" ")
      ? "the line is indented with a tab"
      : `the value of ${quote(key!)} needs quotes`;
    const hint = writeLine(line);
    return [{ rule: "yaml-repaired", line: index + 1, reason, hint }];
  });
  return describeFields(fields, { yaml: finished, repairs });
}

/** Returns the YAML between the fences, or what is wrong with them. */
function findYaml(text: string): string | Fault {
  const rule = "frontmatter-missing";
  const start = text.slice(0, MAX_FRONTMATTER_SIZE + 2);
  if (!/^\ufeff?---[ \t]*\r?(?:\n|$)/.test(start)) {
    const reason = 'there is no frontmatter: the first line is not "---"';
    const hint =
      'start the file, in UTF-8, with a line "---", followed by the lines "name: …", "description: …", and "---"';
    return { rule, line: 1, reason, hint };
  }
  const [frontmatter = start, yaml] = FRONTMATTER.exec(start) ?? [];
  const isShort = frontmatter.length * 3 <= MAX_FRONTMATTER_SIZE ||
    new TextEncoder().encode(frontmatter).length <= MAX_FRONTMATTER_SIZE;
  if (yaml !== undefined && isShort) return yaml;
  const reason = "the frontmatter does not end within 16 KiB";
  const hint =
    'add a line "---" after it, before the Markdown, and move long texts there';
  return { rule, line: 1, reason, hint };
}

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
  parsed: unknown,
  { yaml, repairs = [] }: { yaml: string; repairs?: readonly Fault[] },
): SkillText {
  const fields = isObject(parsed) ? parsed : {};
  const missing = REQUIRED_FIELDS.find((field) => !isText(fields[field]));
  if (missing !== undefined) {
    const problem = describeMissing(missing, { fields, yaml });
    return describe(fields, { problems: [problem] });
  }
  return describe(fields, {
    frontmatter: fields as SkillFrontmatter,
    isRepaired: repairs.length > 0,
    problems: [...repairs, ...listUnclearFlags(fields, yaml)],
  });
}

/** Describes what does not parse. A name or a flag on a line of its own counts. */
function describeRaw(text: string, problem: Fault): SkillText {
  const start = text.slice(0, MAX_FRONTMATTER_SIZE);
  const entries = ["name", ...FLAGS].map((field) => {
    const value = findField(field, start)?.value.replace(/(?:^|\s)#.*/, "");
    return [field, value?.trim().replace(/^["']|["']$/g, "")];
  });
  return describe(Object.fromEntries(entries), { problems: [problem] });
}

/** Adds what counts even if the rest is not served: the name, and the flags. */
function describe(
  fields: Record<string, unknown>,
  said: Pick<SkillText, "problems"> & Partial<SkillText>,
): SkillText {
  const { name, [FLAGS[0]!]: disabled, [FLAGS[1]!]: invocable } = fields;
  return {
    name: isText(name) ? name : undefined,
    isHiddenFromModel: disabled !== undefined && toBoolean(disabled) !== false,
    isHiddenFromUser: invocable !== undefined && toBoolean(invocable) !== true,
    isRepaired: false,
    ...said,
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

/** Reports the flags that are neither true nor false. */
function listUnclearFlags(
  fields: Record<string, unknown>,
  yaml: string,
): Fault[] {
  return FLAGS.filter((flag) =>
    fields[flag] !== undefined && toBoolean(fields[flag]) === undefined
  ).map((flag) => ({
    rule: "flags",
    line: findField(flag, yaml)?.line ?? 1,
    reason: `${flag} is neither true nor false, so it hides the skill`,
    hint: `write "${flag}: true" or "${flag}: false"`,
  }));
}

/** Describes a required field that is missing, or has another name. */
function describeMissing(
  field: (typeof REQUIRED_FIELDS)[number],
  { fields, yaml }: { fields: Record<string, unknown>; yaml: string },
): Fault {
  const near = findMisspelled(field, fields);
  const { line = 1, value = "…" } = findField(near ?? field, yaml) ?? {};
  return {
    rule: `${field}-missing`,
    line,
    reason: `the field ${quote(field)} is missing, ${
      near ? `but there is ${quote(near)}` : "empty, or not a string"
    }`,
    hint: near
      ? writeLine(`${field}: ${value}`)
      : `write "${field}: …", as one text in quotes`,
  };
}

/** Finds the unknown field whose name is almost that of a known one. */
export function findMisspelled(
  field: string,
  fields: Record<string, unknown>,
): string | undefined {
  return Object.keys(fields).find((key) => {
    const name = key.toLowerCase().replaceAll("_", "-").trim();
    return !KNOWN_FIELDS.includes(key) && editDistance(name, field, 1) <= 1;
  });
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
function quoteField(field: string, text: string): string {
  const quoted = escapeHidden(text) === text
    ? `'${text.replaceAll("'", "''")}'`
    : escapeHidden(JSON.stringify(text.toWellFormed()), escapeCodePoint);
  return `${field}: ${quoted}`;
}

/** Replaces the tabs that a line is indented with, or puts its value in quotes if it needs them. */
function repairLine(
  line: string,
  index: number,
  lines: readonly string[],
): string {
  const spaced = line
    .replace(/^[ \t]+(?=\S)/, (blanks) => blanks.replaceAll("\t", "  "));
  const [, key, value = ""] = ENTRY.exec(line) ?? [];
  const isContinued = /^[ \t]+[^\s#]/.test(lines[index + 1] ?? "");
  const needsQuotes = key !== undefined && !isContinued &&
    parseYaml(line) instanceof Error;
  return needsQuotes ? quoteField(key, value.trim()) : spaced;
}
