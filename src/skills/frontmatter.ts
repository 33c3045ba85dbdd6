/**
 * The frontmatter of a `SKILL.md`: finding it, parsing it, and reading its flags.
 *
 * People write values that YAML does not allow without quotes, above all those with a
 * colon. Many programs read them anyway. So if the frontmatter does not parse, such
 * values are put in quotes, and it is parsed once more. Anything else that is malformed
 * is skipped, and `frontmatter_faults.ts` says how to fix it.
 *
 * A valid frontmatter costs no more than one match and the YAML parser.
 */

import type { DiagnosticDetails } from "../diagnostics.ts";
import { isObject, oneLine, quote } from "../text.ts";
import {
  findNameFault,
  listMissingFields,
  listYamlFaults,
  MAX_CLEAN_NAME_LENGTH,
  MAX_FAULTS,
  meantBy,
  NO_END,
  toEndFault,
  toEntryFault,
  toStartFault,
} from "./frontmatter_faults.ts";
import { listMeantTexts, textAsWritten } from "./meant_texts.ts";
import { cleanName } from "./names.ts";
import type { SkillFrontmatter } from "./types.ts";
import {
  fieldOf,
  findEntry,
  isNear,
  lettersOf,
  listEntries,
  listRefused,
  MAX_FRONTMATTER_SIZE,
  parseMapping,
  parseYaml,
  quoteField,
  replaceLines,
  REQUIRED_FIELDS,
  tellToWrite,
  withoutQuotes,
  type YamlEntry,
} from "./yaml.ts";

/**
 * The lines `---` and the YAML between them, which begins with a line break, so that
 * its lines have the numbers of the file.
 */
const FRONTMATTER =
  /^\ufeff?---[ \t]*(?=[\r\n])([^]*?[\r\n])---[ \t]*(?=[\r\n]|$)/;

const START = /^\ufeff?---[ \t]*(?:[\r\n]|$)/;

const LINE_BREAK = /\r\n?/g;

interface Hiding {
  readonly isHiddenFromModel: boolean;
  readonly isHiddenFromUser: boolean;
}

export interface SkillText extends Hiding {
  /** The frontmatter, if it has a name and a description, as it is served. */
  readonly frontmatter?: SkillFrontmatter | undefined;
  readonly isRepaired: boolean;
  readonly faults: readonly DiagnosticDetails[];
  /** The clean name, or what can be read of it if the file is skipped. */
  readonly name?: string | undefined;
}

/**
 * Parses the frontmatter of a `SKILL.md`: a YAML mapping between two `---`
 * lines, the first of which is the file's first line. A byte order mark, spaces
 * after the dashes, CRLF, and CR are allowed. `name` and `description` must be
 * non-empty strings, and the name at most 200 characters that do not begin with
 * `project:` or `global:`. Dates stay strings, as in YAML's core schema. A value on one
 * line that can only be meant as a text is read as if it had the quotes it needs.
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
  const { frontmatter, faults } = readSkillText(text);
  if (frontmatter !== undefined) return frontmatter;
  const { reason, line = 1, fix, lines = [] } = faults[0]!;
  const sentence = oneLine(
    `Cannot parse SKILL.md: ${reason} (line ${line}); ${fix}`,
  );
  throw new SyntaxError([sentence, ...lines].join("\n"));
}

/**
 * Reads the frontmatter of a `SKILL.md`, and finds out what is wrong with it.
 *
 * @param folder The name of its folder.
 */
export function readSkillText(
  text: string,
  folder = "",
): SkillText {
  const yaml = findYaml(text);
  if (yaml === undefined) return toSkippedText(text, [toMissingFault(text)]);
  let parsed: unknown;
  try {
    parsed = parsePlain(yaml) ?? parseYaml(yaml);
  } catch (error) {
    return readMalformed(yaml, { folder, error: error as Error });
  }
  return readFields(parsed, { yaml, folder });
}

export function findYaml(text: string): string | undefined {
  const [frontmatter, yaml] = FRONTMATTER.exec(startOf(text)) ?? [];
  if (frontmatter === undefined || yaml === undefined) return undefined;
  // A character of UTF-16 takes at most three bytes in UTF-8.
  const isSmall = frontmatter.length * 3 <= MAX_FRONTMATTER_SIZE ||
    new TextEncoder().encode(frontmatter).length <= MAX_FRONTMATTER_SIZE;
  if (!isSmall) return undefined;
  return yaml.includes("\r") ? yaml.replace(LINE_BREAK, "\n") : yaml;
}

function toMissingFault(text: string): DiagnosticDetails {
  const start = startOf(text);
  if (FRONTMATTER.test(start)) return NO_END;
  const lines = start.replace(LINE_BREAK, "\n");
  return START.test(start) ? toEndFault(lines) : toStartFault(lines);
}

/** Returns as much of a text as frontmatter can have, and the end of its last line. */
function startOf(text: string): string {
  return text.slice(0, MAX_FRONTMATTER_SIZE + 2);
}

/** A key that YAML reads as it is written. */
const PLAIN_KEY = /^(?!(?:true|false|null)$)[a-z][a-z_-]*$/i;

/**
 * A value that YAML reads as it is written: a text that begins with a letter, in
 * visible ASCII and spaces, without the characters `#` and `:`.
 */
const PLAIN_VALUE = /^(?!(?:true|false|null) *$)[a-z][ !"$-9;-~]*$/i;

/**
 * Parses YAML that consists of plain fields, as it often does, in a tenth of the time.
 * Returns `undefined` for anything else.
 */
export function parsePlain(yaml: string): Record<string, string> | undefined {
  const fields: Record<string, string> = {};
  for (const line of yaml.split("\n")) {
    if (line === "") continue;
    const end = line.indexOf(": ");
    const key = line.slice(0, end);
    const value = line.slice(end + 2);
    const isPlain = end > 0 && PLAIN_KEY.test(key) && PLAIN_VALUE.test(value);
    if (!isPlain || Object.hasOwn(fields, key)) return undefined;
    fields[key] = value.trimEnd();
  }
  return fields.name && fields.description ? fields : undefined;
}

function readFields(
  parsed: unknown,
  { yaml, folder, repairs: quoted = [] }: {
    yaml: string;
    folder: string;
    repairs?: readonly DiagnosticDetails[];
  },
): SkillText {
  const { fields, repairs: scalars } = readScalars(parsed, yaml);
  const repairs = [...quoted, ...scalars];
  const missing = REQUIRED_FIELDS.filter((field) => !isText(fields[field]));
  if (missing.length > 0) {
    const faults = listMissingFields(missing, { yaml, folder, fields });
    return toSkippedText(yaml, [...faults, ...repairs]);
  }
  const frontmatter = fields as SkillFrontmatter;
  const name = cleanName(frontmatter.name);
  const nameFault = findNameFault(frontmatter.name, yaml);
  if (nameFault !== undefined) {
    return toSkippedText(yaml, [nameFault, ...repairs]);
  }
  const { unclear, ...hiding } = readFlags(fields);
  const entries = unclear.length > 0 ? listEntries(yaml) : [];
  const faults = unclear.map((flag) => toFlagFault(flag, entries));
  return {
    frontmatter,
    name,
    isRepaired: repairs.length > 0,
    ...hiding,
    faults: [...repairs, ...faults],
  };
}

/** Reads a name or a description as it is written if YAML takes it for a number or a boolean. */
function readScalars(
  parsed: unknown,
  yaml: string,
): { fields: Record<string, unknown>; repairs: DiagnosticDetails[] } {
  const fields = isObject(parsed) ? parsed : {};
  const scalars = REQUIRED_FIELDS
    .filter((field) => /number|boolean/.test(typeof fields[field]));
  if (scalars.length === 0) return { fields, repairs: [] };
  const entries = listEntries(yaml);
  const repairs: DiagnosticDetails[] = [];
  const texts: Record<string, string> = {};
  for (const field of scalars) {
    const entry = findEntry(field, entries);
    const value = entry && textAsWritten(entry, fields[field]);
    if (entry === undefined || value === undefined) continue;
    texts[field] = value;
    const written = { ...entry, value };
    repairs.push(toEntryFault(field, written, { rule: "yaml-repaired" }));
  }
  return { fields: { ...fields, ...texts }, repairs };
}

/**
 * Puts the values in quotes that can only be meant as texts, and parses the YAML again.
 * Each value must read back as its text, because an open quote elsewhere could swallow
 * it.
 */
function readMalformed(
  yaml: string,
  { folder, error }: {
    folder: string;
    error: Error;
  },
): SkillText {
  const entries = listEntries(yaml);
  const refused = listRefused(entries);
  const meant = listMeantTexts(entries, refused);
  const lines = new Map<number, string>();
  for (const { entry: { key, line, lines: { length } }, text } of meant) {
    for (let index = 1; index < length; index++) lines.set(line + index, "");
    lines.set(line, quoteField(key, text));
  }
  const finished = replaceLines(yaml, lines);
  const fields = parseMapping(finished);
  const isRead = fields &&
    meant.every(({ entry: { key }, text }) => fields[key] === text);
  if (!isRead) {
    const faults = listYamlFaults(yaml, { entries, refused, error });
    return toSkippedText(yaml, faults);
  }
  const rule = "yaml-repaired";
  const repairs = meant.slice(0, MAX_FAULTS)
    .map(({ entry }) => toEntryFault(meantBy(entry), entry, { rule }));
  return readFields(fields, { yaml: finished, folder, repairs });
}

/** A mention of `disable-model-invocation`, even if the ends of its words are misspelled. */
const HIDING_MENTION = /disab.{1,3}mode.{0,2}invo/;

/**
 * Whether the beginning of a file mentions the flag that hides it from the model. That
 * counts if the file is skipped, wherever its frontmatter seems to end.
 */
export function mentionsHiding(text: string): boolean {
  return HIDING_MENTION.test(lettersOf(withoutNul(text)));
}

/** Returns the beginning of a text. UTF-16 is decoded with NUL between its characters. */
function withoutNul(text: string): string {
  return text.slice(0, MAX_FRONTMATTER_SIZE).replaceAll("\0", "");
}

/** Any mention of the flag hides a skipped file from the model. */
function toSkippedText(
  text: string,
  faults: readonly DiagnosticDetails[],
): SkillText {
  const start = withoutNul(text);
  const entries = listEntries(start.replace(LINE_BREAK, "\n"));
  const { value = "" } = findEntry("name", entries) ?? {};
  const name = withoutQuotes(value) ?? value;
  return {
    name: isText(name) && name.length <= MAX_CLEAN_NAME_LENGTH
      ? name
      : undefined,
    isRepaired: false,
    isHiddenFromModel: mentionsHiding(text),
    isHiddenFromUser: false,
    faults,
  };
}

function isText(value: unknown): value is string {
  // The first test is faster, and nearly all texts pass it.
  return typeof value === "string" &&
    (/[!-~]/.test(value) || oneLine(value) !== "");
}

const FLAGS = [
  {
    field: "disable-model-invocation",
    hides: "isHiddenFromModel",
    hidingValue: true,
  },
  { field: "user-invocable", hides: "isHiddenFromUser", hidingValue: false },
] as const;

export function isFlag(field: string): boolean {
  return FLAGS.some((flag) => flag.field === field);
}

/** A flag whose name is a letter off, or whose value is neither true nor false. */
interface UnclearFlag {
  readonly flag: (typeof FLAGS)[number];
  readonly key: string;
  /** Its value, if it is clear. */
  readonly said: boolean | undefined;
}

/** The length of the shortest key that can be a flag. Shorter ones skip a slow comparison. */
const MIN_FLAG_LENGTH = "userinvocable".length - 1;

/** Reads the flags among the fields. Of a flag that occurs twice, either can hide. */
function readFlags(
  fields: Record<string, unknown>,
): Hiding & { unclear: readonly UnclearFlag[] } {
  const hiding = { isHiddenFromModel: false, isHiddenFromUser: false };
  const unclear: UnclearFlag[] = [];
  for (const [key, value] of Object.entries(fields)) {
    if (key.length < MIN_FLAG_LENGTH) continue;
    const flag = FLAGS.find(({ field }) => key === field || isNear(key, field));
    if (flag === undefined) continue;
    const said = toBoolean(value);
    const shows = said === !flag.hidingValue;
    if (!shows) hiding[flag.hides] = true;
    const isClear = said !== undefined && fieldOf(key) === flag.field;
    if (!isClear) unclear.push({ flag, key, said });
  }
  return { ...hiding, unclear: unclear.slice(0, MAX_FAULTS) };
}

/** Reads a boolean as people write it. */
function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === "object") return undefined;
  const text = String(value).trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(text)) return true;
  return ["false", "no", "off", "0"].includes(text) ? false : undefined;
}

function toFlagFault(
  { flag: { field, hidingValue }, key, said }: UnclearFlag,
  entries: readonly YamlEntry[],
): DiagnosticDetails {
  const rule = "flags";
  const name = quote(key);
  const reason = said === undefined
    ? `the value of ${name} is neither true nor false, so it hides the skill`
    : `the field ${name} is almost ${quote(field)}`;
  const entry = findEntry(key, entries);
  const line = entry?.line;
  const other = key === field ? undefined : findEntry(field, entries);
  if (other !== undefined) {
    const fix = `delete it, because line ${other.line} has the flag`;
    return { rule, line, reason, fix };
  }
  const finished = `${field}: ${said ?? hidingValue}`;
  const advice = tellToWrite(finished, entry, `write ${quote(finished)}`);
  const fix = said === undefined
    ? `to keep it hidden, ${advice.fix}`
    : advice.fix;
  return { rule, reason, ...advice, fix };
}
