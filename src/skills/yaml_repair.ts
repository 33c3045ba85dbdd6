/**
 * Repairs an entry of YAML, and describes what is wrong with it.
 *
 * @module
 */

import { isObject, oneLine, quote } from "../text.ts";
import { parserMessage, parseYamlOrError } from "./yaml_errors.ts";
import {
  isBlockScalar,
  plainTextOf,
  quoteYaml,
  splitEntries,
  type YamlEntry,
} from "./yaml_lines.ts";

/** The maximum length of a line that a hint shows, in characters. */
const MAX_SHOWN_LENGTH = 2_000;

/** The finished lines of an entry, and the hint that shows them. */
export interface Repair {
  readonly lines: readonly string[];
  readonly hint: string;
}

/**
 * Repairs an entry that starts on a line of the YAML. Returns `undefined` if no
 * repair keeps the author's text.
 */
export function repairEntry(
  entry: YamlEntry,
  line: number,
): Repair | undefined {
  const divided = divideName(entry);
  if (divided !== undefined) {
    const hint = `write these lines instead:\n${divided}`;
    return { lines: [divided], hint };
  }
  const spaced = [`${entry.indentation}${entry.key}: ${entry.rest}`]
    .concat(entry.more);
  if (
    entry.isGlued && !(parseYamlOrError(spaced.join("\n")) instanceof Error)
  ) {
    return { lines: spaced, hint: writeHint(spaced[0]!) };
  }
  const untabbed = spaced.map((line) =>
    line.replace(/^\s+/, (space) => space.replaceAll("\t", "  "))
  );
  const hasTabs = untabbed.some((line, index) => line !== spaced[index]);
  if (hasTabs && !(parseYamlOrError(untabbed.join("\n")) instanceof Error)) {
    return { lines: untabbed, hint: "indent with spaces instead of tabs" };
  }
  const written = quoteEntry(entry);
  return written === undefined
    ? undefined
    : { lines: [written], hint: replaceHint(entry, { line, written }) };
}

/**
 * Divides a name and the description after it on the same line, where programs
 * that format Markdown without knowing frontmatter put it.
 */
function divideName(
  { key, indentation, rest, more }: YamlEntry,
): string | undefined {
  const place = key === "name" ? rest.indexOf(" description: ") : -1;
  if (place === -1) return undefined;
  const name = rest.slice(0, place).trim();
  const text = rest.slice(place + " description: ".length);
  const [entry] = splitEntries([`${indentation}description: ${text}`, ...more]);
  const description = entry && quoteEntry(entry);
  if (description === undefined) return undefined;
  return `${indentation}name: ${name}\n${description}`;
}

/**
 * Writes an entry on one line with its value in quotes. Returns `undefined` if
 * the line would be very long, or would not parse to the author's text.
 */
export function quoteEntry(
  entry: YamlEntry,
  text: string = plainTextOf(entry),
): string | undefined {
  const { key, indentation } = entry;
  const line = `${indentation}${key}: ${quoteYaml(text)}`;
  const parsed = tryParse(line);
  const isKept = isMapping(parsed) && parsed[key] === text;
  return isKept && line.length <= MAX_SHOWN_LENGTH ? line : undefined;
}

/** Returns the hint to write a line in place of an entry that starts on a line of the YAML. */
export function replaceHint(
  { more }: YamlEntry,
  { line, written }: { line: number; written: string },
): string {
  return more.length === 0
    ? writeHint(written)
    : `write this instead of lines ${line} to ${
      line + more.length
    }:\n${written}`;
}

export function writeHint(written: string): string {
  return `write this line instead:\n${written}`;
}

export function isWriteHint(hint: string): boolean {
  return hint.includes("\n");
}

/** Returns the hint for a value for which there is no finished line. */
export function describeQuoting(entry: YamlEntry): string {
  return isBlockScalar(entry)
    ? `indent all lines below "${entry.key}:" by the same number of spaces`
    : "put the value in single quotes on one line, and write each single quote in it twice";
}

/** Describes why the value of an entry cannot be parsed. */
export function describeValueFault(entry: YamlEntry, parsed: unknown): string {
  const { key, rest, isGlued } = entry;
  const value = `the value of ${quote(key)}`;
  if (divideName(entry) !== undefined) {
    return "the name and the description are on the same line";
  }
  if (isGlued) return `there is no space after ${quote(`${key}:`)}`;
  const mark = rest[0] ?? "";
  const message = parsed instanceof Error ? parsed.message : "";
  if (/^\s*\t/m.test([rest, ...entry.more].join("\n"))) {
    return `${value} is indented with tabs`;
  }
  if (mark === '"' || mark === "'") {
    const marks = rest.split(mark).length - 1;
    if (marks === 1) return `${value} has no closing quote`;
    return mark === '"' && /escape|hexadecimal/i.test(message)
      ? `${value} has a backslash in double quotes, where it starts an escape`
      : `${value} has text after its closing quote`;
  }
  if (isBlockScalar(entry)) {
    return `the lines of ${value} are not indented alike`;
  }
  if (/^[@`%&*!{}[\]|>,?-]/.test(rest)) {
    return `${value} begins with ${quote(mark)}, which is special in YAML`;
  }
  if (/:(?:\s|$)/.test(rest)) {
    return `${value} contains a colon, which starts another value in YAML`;
  }
  const isOutdented = entry.more.some((line) =>
    line.trim() !== "" && /^\s*/.exec(line)![0].length <=
      entry.indentation.length
  );
  if (isOutdented) {
    return `${value} continues on a line that is not indented`;
  }
  return `the YAML is malformed: ${oneLine(parserMessage(message))}`;
}

/** Writes the first line of an entry with another key, if it is short. */
export function renameEntry(
  { indentation, rest }: YamlEntry,
  key: string,
): string | undefined {
  const line = `${indentation}${key}: ${rest}`.trimEnd();
  return line.length <= MAX_SHOWN_LENGTH ? line : undefined;
}

/** Whether a value is a YAML mapping. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Error);
}

/** Parses YAML. Returns `undefined` if it is malformed. */
export function tryParse(yaml: string): unknown {
  const parsed = parseYamlOrError(yaml);
  return parsed instanceof Error ? undefined : parsed;
}
