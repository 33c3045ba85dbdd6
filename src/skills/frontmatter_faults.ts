/**
 * What is wrong with the frontmatter of a `SKILL.md`: from a fault of the text to its
 * line, its cause, and the finished lines that fix it. A line is only called finished
 * if the YAML parser reads it.
 *
 * @module
 */

import type { Fault } from "../problems.ts";
import { oneLine, quote, withoutInvisible } from "../text.ts";
import {
  describeYamlError,
  fieldOf,
  findEntry,
  isMalformed,
  isNear,
  isSeparated,
  KNOWN_FIELDS,
  listEntries,
  MAX_FRONTMATTER_SIZE,
  parseYaml,
  quoteField,
  type RequiredField,
  tellToReplace,
  tellToWrite,
  textOf,
  writeField,
  writeNested,
  type YamlEntry,
} from "./yaml.ts";

/** The maximum number of faults of a kind that are described. */
export const MAX_FAULTS = 20;

/** A line that is almost `---`: with other dashes, more of them, or something invisible. */
const ALMOST_FENCE = /^(?:[-\u2010-\u2015]\s*){2,}$/;

const FENCE = /^---[ \t]*$/;

function isAlmostFence(line: string): boolean {
  return ALMOST_FENCE.test(withoutInvisible(line).trim()) && !FENCE.test(line);
}

/** Describes frontmatter that does not begin with the first line. */
export function describeMissingStart(text: string): Fault {
  const rule = "frontmatter-missing";
  if (/^(?:\ufffd\ufffd|-\0|\0-)/.test(text)) {
    const reason = "the file is UTF-16, not UTF-8";
    const hint = 'save it as UTF-8, for example by "Save with Encoding"';
    return { rule, line: 1, reason, hint };
  }
  const lines = text.replace(/^\ufeff/, "").split("\n");
  const [first = ""] = lines;
  if (isAlmostFence(first)) {
    const reason = 'the first line is almost "---", but not exactly';
    return { rule, reason, ...tellToWrite("---", { line: 1, lines: [first] }) };
  }
  const start = findStart(lines);
  if (start > 0) {
    const what = start === 1 ? "line 1" : `lines 1 to ${start}`;
    return {
      rule,
      line: 1,
      reason: `the frontmatter starts on line ${start + 1}, not on line 1`,
      hint: `delete ${what}, so that the file starts with "---"`,
    };
  }
  const firstText = lines.find((line) => line.trim() !== "") ?? "";
  if (startsField(firstText)) return describeNoFences(lines, findEnd(lines, 0));
  return {
    rule,
    line: 1,
    reason: 'there is no frontmatter: the first line is not "---"',
    hint:
      'start the file with a line "---", followed by the lines "name: …", "description: …", and "---"',
  };
}

/** How many lines before the frontmatter are taken for a mistake. More are a text of their own. */
const MAX_LINES_BEFORE = 10;

/** Finds the index of a line `---` that is followed by a known field, or returns -1. */
function findStart(lines: readonly string[]): number {
  return lines.slice(0, MAX_LINES_BEFORE + 1).findIndex((line, index) =>
    FENCE.test(line) && startsField(lines[index + 1] ?? "")
  );
}

function startsField(line: string): boolean {
  return listEntries(line).some(({ key }) => fieldOf(key) !== undefined);
}

/** Describes frontmatter without a line before it, and perhaps without one after it. */
function describeNoFences(lines: readonly string[], end: number): Fault {
  const rule = "frontmatter-missing";
  const reason = 'there is no line "---" before the frontmatter';
  if (FENCE.test(lines[end] ?? "")) {
    const hint = "add this line before line 1:";
    return { rule, line: 1, reason, hint, lines: ["---"] };
  }
  const finished = ["---", ...lines.slice(0, end), "---"];
  const before = { line: 1, lines: lines.slice(0, end) };
  return { rule, reason, ...tellToReplace(before, finished) };
}

/**
 * Describes frontmatter without a line `---` after it.
 *
 * @param text The file up to the maximum size of frontmatter.
 * @param isWhole Whether the file ends there.
 */
export function describeMissingEnd(text: string, isWhole: boolean): Fault {
  const rule = "frontmatter-missing";
  const lines = text.split("\n");
  const end = findEnd(lines, 1);
  if (!isWhole && end >= lines.length - 1) return describeSize();
  const next = lines.findIndex((line, index) =>
    index >= end && line.trim() !== ""
  );
  if (next > 0 && isAlmostFence(lines[next]!)) {
    const reason =
      'the line after the frontmatter is almost "---", but not exactly';
    const before = { line: next + 1, lines: [lines[next]!] };
    return { rule, reason, ...tellToWrite("---", before) };
  }
  return {
    rule,
    line: end,
    reason: 'there is no line "---" after the frontmatter',
    hint: `add this line after line ${end}:`,
    lines: ["---"],
  };
}

/** Describes frontmatter that is too large. */
export function describeSize(): Fault {
  return {
    rule: "frontmatter-missing",
    line: 1,
    reason: `the frontmatter does not end within ${
      MAX_FRONTMATTER_SIZE / 1024
    } KiB`,
    hint: "move long texts from the frontmatter into the Markdown below it",
  };
}

/**
 * Finds the number of lines up to the end of the last known field, although no line
 * says where the frontmatter ends.
 */
function findEnd(lines: readonly string[], start: number): number {
  let end = start;
  /** Whether the Markdown may have begun already. */
  let isOver = false;
  for (const [index, line] of lines.entries()) {
    if (index < start) continue;
    if (isProse(line)) break;
    if (isGap(line)) isOver = true;
    if (startsField(line)) isOver = false;
    if (!isOver) end = index + 1;
  }
  return end;
}

/** Whether a line is blank or a comment, which can be a title in Markdown. */
function isGap(line: string): boolean {
  return line.trim() === "" || line.startsWith("#");
}

/** Whether a line is not like any in frontmatter. */
function isProse(line: string): boolean {
  const isPart = /^[ \t]+\S|^- /.test(line) || listEntries(line).length > 0;
  return !isPart && !isGap(line);
}

/**
 * Describes YAML that is malformed: each entry that is, or else what the parser says. If
 * all is well above a blank line, and prose follows, Markdown has begun there.
 */
export function describeMalformed(yaml: string, error: Error): Fault[] {
  const rule = "yaml";
  const lines = yaml.split("\n");
  const end = findEnd(lines, 1);
  const hasMarkdown = lines.slice(end).some(isProse) && isGap(lines[end]!) &&
    !(parseYaml(lines.slice(0, end).join("\n")) instanceof Error);
  if (hasMarkdown) return [describeMissingEnd(yaml, true)];
  const entries = listEntries(yaml);
  const parsed = describeYamlError(error);
  const faults = [
    ...entries.filter(isMalformed).slice(0, MAX_FAULTS)
      .map((entry): Fault => ({ rule, ...describeMalformedEntry(entry) })),
    ...describeDuplicates(entries).slice(0, MAX_FAULTS),
  ];
  const [first, ...others] = faults;
  if (first === undefined) return [{ rule, ...parsed }];
  const said = `${parsed.reason}, at line ${parsed.line}`;
  return [{ ...first, reason: `${first.reason} (${said})` }, ...others];
}

/** Describes the keys that occur twice. */
function describeDuplicates(entries: readonly YamlEntry[]): Fault[] {
  const first = new Map<string, number>();
  return entries.flatMap(({ key, line }): Fault[] => {
    const before = first.get(key);
    if (before === undefined) {
      first.set(key, line);
      return [];
    }
    const reason = `the field ${quote(key)} is already on line ${before}`;
    const hint = `delete line ${before} or line ${line}`;
    return [{ rule: "yaml", line, reason, hint }];
  });
}

/** Describes a malformed entry, with the first correction that YAML can read. */
export function describeMalformedEntry(entry: YamlEntry): Omit<Fault, "rule"> {
  const { key, line } = entry;
  for (const { reason, finished } of listCorrections(entry)) {
    if (parseYaml(finished.join("\n")) instanceof Error) continue;
    return { reason, ...tellToReplace(entry, finished) };
  }
  return {
    line,
    reason: `the value of ${quote(key)} cannot be read`,
    hint: "check the quotes, colons, and indentation of this value",
  };
}

/** A reason why an entry is malformed, and its lines without it. */
interface Correction {
  readonly reason: string;
  readonly finished: readonly string[];
}

/** Lists the corrections of what may be wrong with an entry, the least change first. */
function listCorrections(entry: YamlEntry): Correction[] {
  return [correctSeparator(entry), correctTabs(entry), correctValue(entry)]
    .filter((it) => it !== undefined);
}

/** Writes a colon and a space after the key, if they are missing. */
function correctSeparator(entry: YamlEntry): Correction | undefined {
  if (isSeparated(entry)) return undefined;
  const { key, value, lines: [, ...others] } = entry;
  const first = others.length === 0
    ? writeField(key, value)
    : `${key}: ${value}`.trimEnd();
  return { reason: describeSeparator(entry), finished: [first, ...others] };
}

/** Indents with spaces, if a line is indented with a tab. */
function correctTabs(
  { key, value, lines }: YamlEntry,
): Correction | undefined {
  if (!lines.some((line) => line.startsWith("\t"))) return undefined;
  const [, ...others] = lines;
  const spaced = others.map((line) =>
    line.replace(/^[ \t]+/, (blanks) => blanks.replaceAll("\t", "  "))
  );
  const first = `${key}: ${value}`.trimEnd();
  const reason = "a line is indented with a tab";
  return { reason, finished: [first, ...spaced] };
}

/** Writes the value in quotes where it needs them, on one line unless it is metadata. */
function correctValue(entry: YamlEntry): Correction {
  const { key, value, lines: [, ...others] } = entry;
  const nested = value === "" ? others : [`  ${value}`, ...others];
  const finished = key === "metadata"
    ? ["metadata:", ...nested.map(writeNested)]
    : joinLines(entry);
  return { reason: describeQuotes(entry), finished };
}

function describeSeparator({ key, separator }: YamlEntry): string {
  if (!separator.startsWith(":")) {
    return `there is no colon after ${quote(key)}`;
  }
  return separator === ":"
    ? `there is no space after the colon of ${quote(key)}`
    : `the space after the colon of ${quote(key)} is not an ordinary one`;
}

function describeQuotes({ key, value, lines }: YamlEntry): string {
  const [, ...others] = lines;
  if (key === "metadata") return `a value in ${quote(key)} needs quotes`;
  if (/^["']/.test(value)) {
    return `the quotation marks of ${quote(key)} do not enclose its value`;
  }
  if (/^[[{]/.test(value)) {
    return `the brackets of ${quote(key)} do not enclose its value`;
  }
  return others.some((line) => /:(?:\s|$)/.test(line))
    ? `the value of ${quote(key)} has a colon on another line than its first`
    : `the value of ${quote(key)} needs quotes`;
}

/** A known field that is indented. */
const INDENTED_FIELD = new RegExp(`^\\s*(?:${KNOWN_FIELDS.join("|")}): `);

/** Writes an entry on one line, and after it the known fields that are indented below it. */
function joinLines(entry: YamlEntry): string[] {
  const isField = (line: string) => INDENTED_FIELD.test(line);
  const [first = "", ...others] = entry.lines;
  const lines = [first, ...others.filter((line) => !isField(line))];
  const text = textOf({ ...entry, lines });
  const indented = others.filter(isField).map((line) => line.trim());
  const fields = listEntries(indented.join("\n"))
    .map((field) => writeField(field.key, textOf(field)));
  const isQuoted = /^["']/.test(entry.value) && entry.key !== "name";
  const finished = isQuoted
    ? quoteField(entry.key, text)
    : writeField(entry.key, text);
  return [finished, ...fields];
}

/** Describes the required fields that are missing, are no texts, or have other names. */
export function describeMissing(
  missing: readonly RequiredField[],
  yaml: string,
): Fault[] {
  const entries = listEntries(yaml);
  const absent: RequiredField[] = [];
  const faults: Fault[] = [];
  for (const field of missing) {
    const entry = findEntry(field, entries) ??
      entries.find(({ key }) => isNear(key, field));
    if (entry === undefined) absent.push(field);
    else faults.push(describeField(field, entry));
  }
  return [...describeAbsent(absent), ...faults];
}

/** Describes the required fields that nothing is meant as, all at once. */
function describeAbsent(absent: readonly RequiredField[]): Fault[] {
  const [first] = absent;
  if (first === undefined) return [];
  const names = absent.map(quote).join(" and ");
  const lines = absent.map((field) => `"${field}: …"`).join(" and ");
  return [{
    rule: `${first}-missing`,
    line: 1,
    reason: absent.length === 1
      ? `the field ${names} is missing`
      : `the fields ${names} are missing`,
    hint: `write ${lines} between the two lines "---"`,
  }];
}

/** Describes an entry that is meant as a required field, or has no text. */
function describeField(field: RequiredField, entry: YamlEntry): Fault {
  const rule = `${field}-missing` as const;
  const text = textOf(entry);
  if (oneLine(text) === "") {
    const reason = `the field ${quote(field)} is empty`;
    const hint = `write a text after "${field}:"`;
    return { rule, line: entry.line, reason, hint };
  }
  const finished = writeField(field, text);
  const reason = describeNoText(field, entry);
  return { rule, reason, ...tellToWrite(finished, entry) };
}

/** Says why YAML reads no text for a field, although there is one. */
function describeNoText(field: RequiredField, entry: YamlEntry): string {
  if (!isSeparated(entry)) return describeSeparator(entry);
  if (entry.key !== field) {
    const near = quote(entry.key);
    return `the field ${quote(field)} is missing, but there is ${near}`;
  }
  return entry.value.startsWith("#")
    ? `YAML takes the value of ${quote(field)} for a comment`
    : `the value of ${quote(field)} is not a text`;
}
