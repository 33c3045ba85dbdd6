/**
 * The faults of the frontmatter of a `SKILL.md`: the line, the cause, and the fix. A
 * finished line is printed only if it follows from one line of the file, and the YAML
 * parser reads it. Everything else is said in words.
 */

import type { DiagnosticDetails, Rule } from "../diagnostics.ts";
import { MAX_LENGTHS, quote, withoutInvisible } from "../text.ts";
import { cleanName, isScoped, SKILL_MD, validName } from "./names.ts";
import { isLinkText, toLinkTextDiagnostic } from "./scan_diagnostics.ts";
import {
  fieldOf,
  findEntry,
  finishLine,
  isNear,
  isSeparated,
  KNOWN_FIELDS,
  listEntries,
  MAX_FRONTMATTER_SIZE,
  parseMapping,
  replaceLines,
  type RequiredField,
  tellToWrite,
  toYamlFault,
  withoutQuotes,
  writeText,
  type YamlEntry,
} from "./yaml.ts";

/** The maximum number of faults of a kind that are described. */
export const MAX_FAULTS = 20;

/** A line that is almost `---`: with other dashes, more of them, or one long dash. */
const ALMOST_FENCE = /^(?:(?:[-\u2010-\u2015]\s*){2,}|[\u2010-\u2015])$/;

function isAlmostFence(line: string): boolean {
  return ALMOST_FENCE.test(withoutInvisible(line).trim());
}

function toFenceFault(line: number): DiagnosticDetails {
  const reason = 'the line is almost "---", but not exactly';
  const fix = "write this line instead:";
  return { rule: "frontmatter-missing", line, reason, fix, lines: ["---"] };
}

/** Up to ten lines above the frontmatter. After more lines, it is part of the text. */
const LINES_BEFORE =
  /^(?:.*\n){1,10}?(?=---[ \t]*\n(?:name|description)[ \t]*:)/;

/** Describes frontmatter that does not begin with the first line. */
export function toStartFault(text: string): DiagnosticDetails {
  const fault = { rule: "frontmatter-missing", line: 1 } as const;
  if (/^(?:\ufffd\ufffd|-\0|\0-)/.test(text)) {
    const reason = "the file is UTF-16, not UTF-8";
    const fix = 'save it as UTF-8, by "Save as" or "Save with Encoding"';
    return { ...fault, reason, fix };
  }
  if (/^(?:\{\\rtf|PK\W)/.test(text)) {
    const reason = "the file is a document of a word processor, not plain text";
    return { ...fault, reason, fix: 'save it as plain text, as "SKILL.md"' };
  }
  if (isLinkText(text)) return toLinkTextDiagnostic(SKILL_MD);
  const [first = ""] = text.split("\n", 1);
  if (isAlmostFence(first)) return toFenceFault(1);
  const [before] = LINES_BEFORE.exec(text) ?? [];
  if (before !== undefined) {
    const start = before.split("\n").length;
    const reason = `the frontmatter starts on line ${start}, not on line 1`;
    return { ...fault, reason, fix: "delete the lines above it" };
  }
  const [entry] = listEntries(first);
  if (entry !== undefined && KNOWN_FIELDS.includes(entry.key)) {
    const isClosed = /^---[ \t]*$/m.test(text);
    const end = isClosed ? "" : ", and another one below the last field";
    return {
      ...fault,
      reason: 'there is no line "---" above the frontmatter',
      fix: `write a line "---" above this line${end}`,
    };
  }
  return {
    ...fault,
    reason: 'there is no frontmatter: the first line is not "---"',
    fix:
      'start the file with a line "---", a line with "name:" and the name of the folder, a line with "description:" and what the skill is for, and another line "---"',
  };
}

/** Frontmatter that has no end, or is too large. */
export const NO_END: DiagnosticDetails = {
  rule: "frontmatter-missing",
  line: 1,
  reason: `there is no line "---" after the frontmatter within ${
    MAX_FRONTMATTER_SIZE / 1024
  } KiB`,
  fix:
    'write a line "---" below the last field, or move long texts into the Markdown below it',
};

/** Describes frontmatter without a line `---` after it. */
export function toEndFault(text: string): DiagnosticDetails {
  const lines = text.split("\n");
  const end = lines.findIndex((line, index) =>
    index > 0 && isAlmostFence(line)
  );
  // Below the frontmatter, such a line can be a part of the Markdown.
  const isEnd = end > 0 &&
    parseMapping(lines.slice(1, end).join("\n")) !== undefined;
  return isEnd ? toFenceFault(end + 1) : NO_END;
}

/**
 * Describes malformed YAML: each line that the parser refuses by itself, if the YAML is
 * valid once these are finished, or else a single fault.
 *
 * @param options The entries, those of them that the parser refuses, and its error.
 */
export function listYamlFaults(
  yaml: string,
  { entries, refused, error }: {
    entries: readonly YamlEntry[];
    refused: readonly YamlEntry[];
    error: Error;
  },
): DiagnosticDetails[] {
  const isFinished = parsesFinished(yaml, refused);
  const options = { rule: "yaml", isFinished } as const;
  const described = refused.slice(0, MAX_FAULTS)
    .map((entry) => toEntryFault(meantBy(entry), entry, options));
  const faults = isFinished ? described : [
    findDuplicateKey(entries) ?? described[0] ?? toParserFault(yaml, error),
  ];
  const lines = yaml.split("\n");
  return faults.map((fault) => {
    const text = lines[(fault.line ?? 1) - 1] ?? "";
    const sentence = findSentence(fault.reason, text);
    return sentence === undefined ? fault : { ...fault, sentence };
  });
}

/** The faults of YAML, in words that quote nothing. */
export const YAML_SENTENCES = {
  tab: "a line is indented with a tab",
  twice: "a field is there twice",
  quote: "a quotation mark is open",
  colon: "a value with a colon needs quotes",
} as const;

const OPEN_QUOTE = /^[^:"']*:\s*(?:"[^"]*|'[^']*)$/;

const SECOND_COLON = /^[^:]*:\s.*:(?:\s|$)/;

/** Says what is wrong with a line of YAML without quoting it, if that is known. */
function findSentence(reason: string, line: string): string | undefined {
  if (/^ *\t/.test(line)) return YAML_SENTENCES.tab;
  if (/duplicat|already on line/.test(reason)) return YAML_SENTENCES.twice;
  if (OPEN_QUOTE.test(line)) return YAML_SENTENCES.quote;
  return SECOND_COLON.test(line) ? YAML_SENTENCES.colon : undefined;
}

export function meantBy({ key }: YamlEntry): string {
  return fieldOf(key) ?? key;
}

function parsesFinished(yaml: string, entries: readonly YamlEntry[]): boolean {
  const lines = new Map<number, string>();
  for (const entry of entries) {
    const line = finishLine(meantBy(entry), entry);
    if (line === undefined) return false;
    lines.set(entry.line, line);
  }
  return parseMapping(replaceLines(yaml, lines)) !== undefined;
}

/** Describes an entry that YAML does not read as the field that it means. */
export function toEntryFault(
  field: string,
  entry: YamlEntry,
  { rule, isFinished = true }: { rule: Rule; isFinished?: boolean },
): DiagnosticDetails {
  const { line, lines, value } = entry;
  const [first = ""] = lines;
  const finished = isFinished ? finishLine(field, entry) : undefined;
  const fix = lines.length > 1
    ? "write it on one line, in quotes"
    : withoutQuotes(value) === undefined
    ? "put it in quotes that do not occur in it, ' or \""
    : `write a text in quotes after "${field}:"`;
  const reason = formatEntryReason(field, entry);
  // If the value goes on below, only the spelling of the field is finished.
  const advice = tellToWrite(finished, { line, lines: [first] }, fix);
  return { rule, reason, ...advice };
}

function formatEntryReason(field: string, entry: YamlEntry): string {
  const key = quote(entry.key);
  if (entry.key !== field) return `the field ${key} is almost ${quote(field)}`;
  if (!isSeparated(entry)) return `there is no colon and space after ${key}`;
  return /^["']*$/.test(entry.value)
    ? `the field ${key} has no text`
    : `the value of ${key} needs quotes`;
}

function findDuplicateKey(
  entries: readonly YamlEntry[],
): DiagnosticDetails | undefined {
  const byKey = Map.groupBy(entries, ({ key }) => key).values();
  const [first, second] = byKey.find((same) => same.length > 1) ?? [];
  return first && second && {
    rule: "yaml",
    line: second.line,
    reason: `the field ${quote(first.key)} is already on line ${first.line}`,
    fix: `delete line ${first.line} or line ${second.line}`,
  };
}

function toParserFault(yaml: string, error: Error): DiagnosticDetails {
  const fault = { rule: "yaml", ...toYamlFault(error) } as const;
  const { line } = fault;
  const indented = yaml.split("\n")[line - 1] ?? "";
  if (!/^ *\t/.test(indented)) return fault;
  const text = indented.trimStart();
  const [entry] = listEntries(text);
  // A known field is meant as one, not as a part of the field above.
  const isField = entry !== undefined && KNOWN_FIELDS.includes(entry.key) &&
    parseMapping(replaceLines(yaml, new Map([[line, text]]))) !== undefined;
  const finished = isField ? text : undefined;
  const advice = tellToWrite(
    finished,
    { line, lines: [indented] },
    "indent this line with spaces",
  );
  return { ...fault, ...advice };
}

export function listMissingFields(
  missing: readonly RequiredField[],
  { yaml, folder, fields }: {
    yaml: string;
    folder: string;
    fields: Readonly<Record<string, unknown>>;
  },
): DiagnosticDetails[] {
  const entries = listEntries(yaml);
  const find = (field: RequiredField) =>
    findEntry(field, entries) ??
      entries.find(({ key }) => isNear(key, field));
  const absent = missing.filter((field) => find(field) === undefined);
  const faults = missing.flatMap((field): DiagnosticDetails[] => {
    const entry = find(field);
    if (entry === undefined) return [];
    return Array.isArray(fields[entry.key])
      ? [toListFault(field, entry)]
      : [toEntryFault(field, entry, { rule: `${field}-missing` })];
  });
  return [...listAbsentFields(absent, yaml, folder), ...faults];
}

function toListFault(
  field: RequiredField,
  { line }: YamlEntry,
): DiagnosticDetails {
  const reason = `the field ${quote(field)} is a list`;
  const fix = `write one text in quotes after "${field}:"`;
  return { rule: `${field}-missing`, line, reason, fix };
}

/** The maximum length of a clean name, in characters. */
export const MAX_CLEAN_NAME_LENGTH = 200;

export function findNameFault(
  name: string,
  yaml: string,
): DiagnosticDetails | undefined {
  const reason = findNameReason(name);
  if (reason === undefined) return undefined;
  const entry = findEntry("name", listEntries(yaml));
  const valid = validName(name);
  const finished = valid === undefined || valid.length > MAX_CLEAN_NAME_LENGTH
    ? undefined
    : writeText("name", valid);
  const advice = tellToWrite(finished, entry, "write another name");
  return { rule: "name-malformed", reason, ...advice };
}

function findNameReason(written: string): string | undefined {
  const name = cleanName(written);
  const isLong = written.length > MAX_LENGTHS.name ||
    name.length > MAX_CLEAN_NAME_LENGTH;
  if (isLong) {
    return `the name has more than ${MAX_CLEAN_NAME_LENGTH} characters`;
  }
  if (name === "") return "the name has no visible characters";
  if (isScoped(name)) {
    return 'the name begins with "project:" or "global:", which say whose a skill is';
  }
  return undefined;
}

/** Describes all required fields without an entry in one fault. */
function listAbsentFields(
  absent: readonly RequiredField[],
  yaml: string,
  folder: string,
): DiagnosticDetails[] {
  const [first] = absent;
  if (first === undefined) return [];
  const names = absent.map(quote).join(" and ");
  const starts = absent.map((field) => `a line that begins with "${field}:"`);
  const fix = `between the two lines "---", write ${starts.join(" and ")}`;
  const name = first === "name" ? validName(folder) : undefined;
  const line = name === undefined ? undefined : writeText("name", name);
  const isRead = line !== undefined &&
    parseMapping(line + yaml)?.name === name;
  return [{
    rule: `${first}-missing`,
    line: 1,
    reason: absent.length === 1
      ? `the field ${names} is missing`
      : `the fields ${names} are missing`,
    fix: isRead ? `${fix}, such as:` : fix,
    ...isRead ? { lines: [line] } : {},
  }];
}
