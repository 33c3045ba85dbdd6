/**
 * The frontmatter of a `SKILL.md`: finding it, parsing it, and reading its flags.
 *
 * People write values that YAML does not allow without quotes, above all those with a
 * colon. Many programs read them anyway. So if the frontmatter does not parse, a value
 * that can only be meant as a text is put in quotes, and it is parsed again. Anything
 * else that is malformed is skipped, and `frontmatter_faults.ts` says how to fix it.
 *
 * A valid frontmatter costs no more than one match and the YAML parser. No
 * expression takes more than linear time, whatever the text.
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @module
 */

import type { Fault } from "../problems.ts";
import { editDistance, isObject, oneLine, quote } from "../text.ts";
import {
  describeMalformed,
  describeMalformedEntry,
  describeMissing,
  describeMissingEnd,
  describeMissingStart,
  describeSize,
  MAX_FAULTS,
} from "./frontmatter_faults.ts";
import type { SkillFrontmatter } from "./types.ts";
import {
  findEntry,
  isClearlyText,
  isMalformed,
  isSeparated,
  lettersOf,
  listEntries,
  MAX_FRONTMATTER_SIZE,
  parseYaml,
  quoteField,
  REQUIRED_FIELDS,
  tellToWrite,
  textOf,
  type YamlEntry,
} from "./yaml.ts";

/**
 * The lines `---` and the YAML between them, which begins with a line break, so that
 * its lines have the numbers of the file.
 */
const FRONTMATTER =
  /^\ufeff?---[ \t]*(?=[\r\n])([^]*?[\r\n])---[ \t]*(?=[\r\n]|$)/;

/** The first line of a file with frontmatter. */
const START = /^\ufeff?---[ \t]*(?:[\r\n]|$)/;

/** The ends of lines in YAML. */
const LINE_BREAK = /\r\n?/g;

/** Whom the flags hide a skill from, even if the rest does not parse. */
interface Hiding {
  readonly isHiddenFromModel: boolean;
  readonly isHiddenFromUser: boolean;
}

/** What a `SKILL.md` says. */
export interface SkillText extends Hiding {
  /** The frontmatter, if it has a name and a description, as it is served. */
  readonly frontmatter?: SkillFrontmatter | undefined;
  /** Whether the frontmatter parses only after a repair. Hosts could not read it. */
  readonly isRepaired: boolean;
  /** What is wrong with it. */
  readonly problems: readonly Fault[];
  /** The name as far as it can be read, even if the rest cannot. */
  readonly name?: string | undefined;
}

/**
 * Parses the frontmatter of a `SKILL.md`: a YAML mapping between two `---`
 * lines, the first of which is the file's first line. A byte order mark, spaces
 * after the dashes, CRLF, and CR are allowed. `name` and `description` must be
 * non-empty strings. Dates stay strings, as in YAML's core schema. A value on one
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
  const { frontmatter, problems } = readSkillText(text);
  if (frontmatter !== undefined) return frontmatter;
  const { reason, line = 1, hint, lines = [] } = problems[0]!;
  const sentence = oneLine(
    `Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`,
  );
  throw new SyntaxError([sentence, ...lines].join("\n"));
}

/** Reads the frontmatter of a `SKILL.md`, and finds out what is wrong with it. */
export function readSkillText(text: string): SkillText {
  const yaml = findYaml(text);
  if (typeof yaml !== "string") return skip(text, [yaml]);
  const parsed = parsePlain(yaml) ?? parseYaml(yaml);
  return parsed instanceof Error
    ? readMalformed(yaml, parsed)
    : readFields(parsed, yaml);
}

/** Returns the YAML between the lines `---`, or what is wrong with these. */
export function findYaml(text: string): string | Fault {
  const start = text.slice(0, MAX_FRONTMATTER_SIZE + 2);
  const [frontmatter, yaml] = FRONTMATTER.exec(start) ?? [];
  if (frontmatter === undefined || yaml === undefined) {
    const lines = start.replace(LINE_BREAK, "\n");
    return START.test(start)
      ? describeMissingEnd(lines, text.length <= MAX_FRONTMATTER_SIZE)
      : describeMissingStart(lines);
  }
  // A character of UTF-16 takes at most three bytes in UTF-8.
  const isSmall = frontmatter.length * 3 <= MAX_FRONTMATTER_SIZE ||
    new TextEncoder().encode(frontmatter).length <= MAX_FRONTMATTER_SIZE;
  if (!isSmall) return describeSize();
  return yaml.includes("\r") ? yaml.replace(LINE_BREAK, "\n") : yaml;
}

/** A key that YAML reads as it is written. */
const PLAIN_KEY = /^(?!(?:true|false|null)$)[a-z][a-z-]*$/i;

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

/** Reads fields that were parsed, perhaps after repairs. */
function readFields(
  parsed: unknown,
  yaml: string,
  repairs: readonly Fault[] = [],
): SkillText {
  const fields = isObject(parsed) ? parsed : {};
  const missing = REQUIRED_FIELDS.filter((field) => !isText(fields[field]));
  if (missing.length > 0) {
    return skip(yaml, [...describeMissing(missing, yaml), ...repairs]);
  }
  const frontmatter = fields as SkillFrontmatter;
  const { hiding, unclear } = readFlags(listFields(fields));
  const entries = unclear.length > 0 ? listEntries(yaml) : [];
  const faults = unclear.slice(0, MAX_FAULTS)
    .map((flag) => describeFlag(flag, entries));
  return {
    frontmatter,
    name: frontmatter.name,
    isRepaired: repairs.length > 0,
    ...hiding,
    problems: [...repairs, ...faults],
  };
}

/**
 * Puts the values in quotes that can only be meant as texts, and parses the YAML again.
 * If a flag on some line is not set then, something else has become a part of a text.
 */
function readMalformed(yaml: string, error: Error): SkillText {
  const lines = yaml.split("\n");
  const repaired = listEntries(yaml).filter(needsOnlyQuotes);
  for (const { key, value, line } of repaired) {
    lines[line - 1] = quoteField(key, value);
  }
  const finished = lines.join("\n");
  const parsed = parseYaml(finished);
  if (parsed instanceof Error) {
    return skip(yaml, describeMalformed(yaml, error));
  }
  const repairs = repaired.slice(0, MAX_FAULTS).map((entry): Fault => ({
    rule: "yaml-repaired",
    ...describeMalformedEntry(entry),
  }));
  const said = readFields(parsed, finished, repairs);
  const { hiding } = readFlags(listStatements(yaml));
  const isLoosened = hiding.isHiddenFromModel && !said.isHiddenFromModel ||
    hiding.isHiddenFromUser && !said.isHiddenFromUser;
  return isLoosened ? skip(yaml, describeMalformed(yaml, error)) : said;
}

/**
 * Whether an entry on one line is malformed only because its text needs quotes. Metadata
 * is no text.
 */
function needsOnlyQuotes(entry: YamlEntry): boolean {
  return entry.key !== "metadata" && entry.lines.length === 1 &&
    isSeparated(entry) &&
    isClearlyText(entry.value) && isMalformed(entry);
}

/** Returns what a file says that is skipped. A name or a flag on any line counts. */
function skip(text: string, problems: readonly Fault[]): SkillText {
  // UTF-16 is decoded with NUL between its characters.
  const start = text.slice(0, MAX_FRONTMATTER_SIZE).replaceAll("\0", "");
  const entries = listEntries(start.replace(LINE_BREAK, "\n"));
  const name = findEntry("name", entries);
  const { hiding } = readFlags(listStatements(start));
  return {
    name: name && isText(textOf(name)) ? textOf(name) : undefined,
    isRepaired: false,
    ...hiding,
    problems,
  };
}

function isText(value: unknown): value is string {
  // Nearly all texts contain a visible character of ASCII, and this takes less time.
  return typeof value === "string" &&
    (/[!-~]/.test(value) || oneLine(value) !== "");
}

/** A flag. */
interface Flag {
  readonly field: string;
  /** Its name without hyphens, as {@linkcode lettersOf} returns it. */
  readonly letters: string;
  /** What it sets, and the value with which it hides a skill. */
  readonly sets: keyof Hiding;
  readonly hidingValue: boolean;
}

const FLAGS: readonly Flag[] = [
  {
    field: "disable-model-invocation",
    letters: "disablemodelinvocation",
    sets: "isHiddenFromModel",
    hidingValue: true,
  },
  {
    field: "user-invocable",
    letters: "userinvocable",
    sets: "isHiddenFromUser",
    hidingValue: false,
  },
];

/** Whether a field is a flag. */
export function isFlag(field: string): boolean {
  return FLAGS.some((flag) => flag.field === field);
}

/** A flag whose name is misspelled, or whose value is neither true nor false. */
interface UnclearFlag {
  readonly flag: Flag;
  /** The key as it is written. */
  readonly key: string;
  readonly isMisspelled: boolean;
}

/** What the flags of a skill say. What is unclear hides it. */
interface ReadFlags {
  readonly hiding: Hiding;
  readonly unclear: readonly UnclearFlag[];
}

/** A key and its value. */
type Statement = readonly [key: string, value: unknown];

/** Fields that are no flags. Nearly all are among these, and comparing takes a while. */
const USUAL_FIELDS: ReadonlySet<string> = new Set([
  "name",
  "description",
  "license",
  "metadata",
  "allowed-tools",
]);

/** Reads the flags among some keys and values. Of a flag that occurs twice, either can hide. */
function readFlags(statements: Iterable<Statement>): ReadFlags {
  const hiding = { isHiddenFromModel: false, isHiddenFromUser: false };
  const unclear: UnclearFlag[] = [];
  for (const [key, value] of statements) {
    if (USUAL_FIELDS.has(key)) continue;
    const letters = lettersOf(key);
    const flag = FLAGS.find((it) => editDistance(letters, it.letters, 1) <= 1);
    if (flag === undefined) continue;
    const isMisspelled = letters !== flag.letters;
    const said = isMisspelled ? undefined : toBoolean(value);
    if (said === undefined) unclear.push({ flag, key, isMisspelled });
    const hides = said === undefined || said === flag.hidingValue;
    if (hides) hiding[flag.sets] = true;
  }
  return { hiding, unclear };
}

/** Reads a boolean as people write it. Returns `undefined` for anything else. */
function toBoolean(value: unknown): boolean | undefined {
  if (typeof value === "object") return undefined;
  const text = String(value).trim().toLowerCase();
  if (["true", "yes", "on", "1"].includes(text)) return true;
  return ["false", "no", "off", "0"].includes(text) ? false : undefined;
}

/**
 * Lists the fields of a mapping, and those that its merge key `<<` adds. With aliases, a
 * short text can name the same mapping millions of times, so each is listed once.
 */
function listFields(fields: Record<string, unknown>): Statement[] {
  if (!Object.hasOwn(fields, "<<")) return Object.entries(fields);
  const mappings = new Set([fields]);
  for (const { "<<": merged } of mappings) {
    if (isObject(merged)) mappings.add(merged);
    if (!Array.isArray(merged)) continue;
    for (const other of new Set(merged)) {
      if (isObject(other)) mappings.add(other);
    }
  }
  return [...mappings].flatMap((mapping) => Object.entries(mapping));
}

/**
 * Lists what the lines of a text state that may not be YAML, at any indentation. Other
 * programs end lines at more characters than YAML does.
 */
function listStatements(text: string): Statement[] {
  const lines = text.split(/[\r\n\v\f\u0085\u2028\u2029]+/)
    .map((line) => line.trim()).filter((line) => !line.startsWith("#"));
  return lines.flatMap((line) => {
    // There may be a mapping on the line, such as that of a merge key.
    const parts = line.includes("{") ? line.split(/[{,]/) : [line];
    return parts.map(readStatement);
  });
}

function readStatement(line: string): Statement {
  const end = line.search(/[:=\uff1a]/);
  if (end === -1) return readWithoutColon(line);
  const value = line.slice(end + 1).replace(/(?:^|\s)#.*/, "");
  return [line.slice(0, end), value.replace(/[\s"'}]/g, "")];
}

/** Reads a line on which a flag is not followed by a colon. Then it has no clear value. */
function readWithoutColon(line: string): Statement {
  const letters = lettersOf(line);
  const flag = FLAGS.find((it) => letters.startsWith(it.letters));
  return [flag?.letters ?? "", undefined];
}

/** Describes a flag that hides a skill because it is unclear. */
function describeFlag(
  { flag, key, isMisspelled }: UnclearFlag,
  entries: readonly YamlEntry[],
): Fault {
  const rule = "flags";
  const { field, hidingValue } = flag;
  const entry = findEntry(key, entries);
  const name = quote(key);
  const reason = isMisspelled
    ? `the field ${name} hides the skill, because it is almost ${quote(field)}`
    : `the value of ${name} is neither true nor false, so it hides the skill`;
  const other = findEntry(field, entries);
  if (isMisspelled && entry && other) {
    const { line } = entry;
    const hint = `delete line ${line}, because line ${other.line} has the flag`;
    return { rule, line, reason, hint };
  }
  const advice = tellToWrite(`${field}: ${hidingValue}`, entry);
  const hint = `to keep it hidden, ${advice.hint}`;
  return { rule, reason, ...advice, hint };
}
