/**
 * The entries of a YAML mapping as their author wrote them, whether or not they
 * are valid YAML: what is wrong with them, and how to repair them.
 *
 * @module
 */

import { escapeCodePoint, escapeHidden, quote } from "../text.ts";
import {
  describeMalformed,
  isMapping,
  parseYamlOrError,
} from "./yaml_errors.ts";

/** The maximum length of a line that a hint shows, in characters. */
const MAX_SHOWN_LENGTH = 2_000;

/** An entry of a block mapping: a key, and the lines of its value. */
export interface YamlEntry {
  readonly key: string;
  /** The index of its first line. */
  readonly start: number;
  /** The whitespace before the key. */
  readonly indentation: string;
  /** The text after the key's colon. */
  readonly rest: string;
  /** The other lines of its value. */
  readonly more: readonly string[];
  /** Whether there is no space after the colon. */
  readonly isGlued: boolean;
}

/** Splits a text into lines, without their line breaks. */
export function linesOf(text: string): string[] {
  return text.split(/\r?\n/);
}

/**
 * Splits the lines of a block mapping into its entries. A line that cannot start
 * an entry continues the previous one.
 *
 * @param lines The lines.
 * @param fields Keys that start an entry even without a space after the colon.
 */
export function splitEntries(
  lines: readonly string[],
  fields: readonly string[] = [],
): YamlEntry[] {
  const first = lines.find((line) => /^\s*[^\s#]/.test(line)) ?? "";
  const [indentation] = /^\s*/.exec(first)!;
  const starts = lines.flatMap((line, start) => {
    const match = line.startsWith(indentation) &&
      KEY.exec(line.slice(indentation.length));
    if (!match) return [];
    const [, double, single, plain, space, rest] = match;
    const key = (double ?? single ?? plain)!.trimEnd();
    const isGlued = space === "" && rest !== "";
    if (isGlued && !fields.includes(key)) return [];
    return [{ key, start, indentation, rest: rest!, isGlued }];
  });
  return starts.map((entry, index) => {
    const next = starts[index + 1]?.start ?? lines.length;
    const more = lines.slice(entry.start + 1, next);
    while (more.length > 0 && isAfterValue(more.at(-1)!, entry)) more.pop();
    return { ...entry, more };
  });
}

/** Lists the entries of a mapping in the lines below an entry. */
export function listNested(
  { rest, start, more }: YamlEntry,
  fields?: readonly string[],
): YamlEntry[] {
  if (rest.trim() !== "") return [];
  return splitEntries(more, fields)
    .map((entry) => ({ ...entry, start: start + 1 + entry.start }));
}

/**
 * Returns the number of the line on which an entry starts, from 1, or on which the
 * YAML starts in its file if there is no such entry.
 */
export function findFieldLine(
  field: string,
  entries: readonly YamlEntry[],
): number {
  return (entries.find(({ key }) => key === field)?.start ?? 1) + 1;
}

/** Whether a line below a value is blank, or a comment that is not part of it. */
function isAfterValue(
  line: string,
  { rest, indentation }: Pick<YamlEntry, "rest" | "indentation">,
): boolean {
  const place = line.search(/\S/);
  const isText = isBlockScalar({ rest }) && place > indentation.length;
  return place === -1 || line[place] === "#" && !isText;
}

/**
 * A key in double quotes, in single quotes, or plain, and the text after its
 * colon. A plain key with a space is rather the middle of a text.
 */
const KEY =
  /^(?:"([^"\\]*)"|'([^']*)'|([^\s"'#&*!|>%@`{}[\],:-][^\s:#]{0,200}))\s*:([ \t]+|)([^]*)$/;

/** Whether the value of an entry is a text in lines below a `|` or `>`. */
function isBlockScalar({ rest }: Pick<YamlEntry, "rest">): boolean {
  return /^[|>][-+\d]{0,2}(?:\s+#.*)?\s*$/.test(rest);
}

/**
 * Returns the value of an entry as a plain text, even if it is not valid YAML.
 * Lines are joined with spaces, unless the author wants to keep them, and quotes
 * around the whole value are removed.
 */
export function plainTextOf(entry: YamlEntry): string {
  const lines = isBlockScalar(entry) ? entry.more : [entry.rest, ...entry.more];
  const text = lines.map((line) => line.trim()).join("\n").trim();
  if (isBlockScalar(entry) && entry.rest.startsWith("|")) return text;
  // As in YAML, a line break is a space, and a blank line is a line break.
  const folded = text.replace(/\n+/g, (breaks) => breaks.slice(1) || " ");
  return isBlockScalar(entry) ? folded : withoutQuotes(folded);
}

/** Removes the quotes around a text, and resolves the escapes of quotes in it. */
function withoutQuotes(text: string): string {
  const mark = text[0];
  if (mark !== '"' && mark !== "'") return text;
  const last = text.lastIndexOf(mark);
  // Without a closing quote, the opening one is a slip.
  if (last === 0) return text.slice(1).trim();
  const isComment = /^\s+#/.test(text.slice(last + 1));
  if (last < text.length - 1 && !isComment) return text;
  const inner = text.slice(1, last);
  // In `"a" and "b"`, the quotes are part of the text.
  const next = inner.search(mark === '"' ? /(?<!\\)"/ : /'/);
  const endsWord = /^.(?:[\s,.;:!?)]|$)/.test(inner.slice(next));
  if (endsWord && /\S/.test(inner[next - 1] ?? " ")) return text;
  return mark === '"'
    ? inner.replaceAll('\\"', '"')
    : inner.replaceAll("''", "'");
}

/**
 * Writes a text as a YAML value on one line. Single quotes keep every character,
 * so they are used unless some characters are invisible.
 */
function quoteYaml(text: string): string {
  if (escapeHidden(text) === text) return `'${text.replaceAll("'", "''")}'`;
  return escapeHidden(JSON.stringify(text.toWellFormed()), escapeCodePoint);
}

/** How to fix an entry, and the finished lines, if there are any. */
export interface Repair {
  readonly hint: string;
  readonly lines?: readonly string[];
}

/**
 * Describes why an entry cannot be parsed, and repairs it, if the author's text can
 * be kept.
 */
export function repairEntry(entry: YamlEntry): Repair & { reason: string } {
  const divided = divideName(entry);
  if (divided !== undefined) {
    const reason = "the name and the description are on the same line";
    const hint = `write these lines instead:\n${divided}`;
    return { reason, hint, lines: [divided] };
  }
  const { key, indentation, rest, more } = entry;
  const spaced = [`${indentation}${key}: ${rest}`, ...more];
  const error = parseYamlOrError(spaced.join("\n"));
  const reason = entry.isGlued || !(error instanceof Error)
    ? `there is no space after ${quote(`${key}:`)}`
    : describeValueFault(entry, error);
  if (!(error instanceof Error)) return { reason, ...writeLines(spaced) };
  const lines = spaced.map((line) =>
    line.replace(/^\s+/, (space) => space.replaceAll("\t", "  "))
  );
  if (!(parseYamlOrError(lines.join("\n")) instanceof Error)) {
    return { reason, hint: "indent with spaces instead of tabs", lines };
  }
  const otherwise = isBlockScalar(entry)
    ? `indent all lines below "${key}:" by the same number of spaces`
    : "put the value in single quotes on one line, and write each single quote in it twice";
  return { reason, ...quoteEntry(entry, { otherwise }) };
}

/**
 * Divides a name and the description after it on the same line, where programs
 * that format Markdown without knowing frontmatter put it.
 */
function divideName(entry: YamlEntry): string | undefined {
  const [name, ...others] = entry.rest.split(" description: ");
  if (entry.key !== "name" || others.length === 0) return undefined;
  const rest = others.join(" description: ").trimStart();
  const { lines } = quoteEntry({ ...entry, key: "description", rest });
  return lines && `${entry.indentation}name: ${name!.trim()}\n${lines[0]}`;
}

/**
 * Writes an entry on one line with its value in quotes, unless the line would be
 * very long, or would not parse to the author's text.
 */
export function quoteEntry(
  entry: YamlEntry,
  { text = plainTextOf(entry), otherwise = "put the value in single quotes" }: {
    text?: string;
    /** The hint if there is no finished line. */
    otherwise?: string;
  } = {},
): Repair {
  const { key, indentation, start, more } = entry;
  const line = `${indentation}${key}: ${quoteYaml(text)}`;
  const parsed = parseYamlOrError(line);
  const isKept = isMapping(parsed) && parsed[key] === text;
  if (!isKept || line.length > MAX_SHOWN_LENGTH) return { hint: otherwise };
  if (more.length === 0) return writeLines([line]);
  const place = `lines ${start + 1} to ${start + 1 + more.length}`;
  return { lines: [line], hint: `write this instead of ${place}:\n${line}` };
}

/** Writes an entry with another key, unless its first line is very long. */
export function renameEntry(entry: YamlEntry, key: string): Repair {
  const line = `${entry.indentation}${key}: ${entry.rest}`.trimEnd();
  return line.length <= MAX_SHOWN_LENGTH
    ? writeLines([line, ...entry.more])
    : { hint: `write "${key}:" instead of "${entry.key}:"` };
}

/** Returns the repair of an entry whose first line is wrong. */
function writeLines(lines: readonly string[]): Repair {
  return { lines, hint: `write this line instead:\n${lines[0]}` };
}

/** Describes why the value of an entry cannot be parsed. */
function describeValueFault(entry: YamlEntry, error: Error): string {
  const { key, rest, more, indentation } = entry;
  const value = `the value of ${quote(key)}`;
  const mark = rest[0] ?? "";
  const text = [rest, ...more].join("\n");
  if (/^\s*\t/m.test(text)) return `${value} is indented with tabs`;
  if (/[^\P{Cc}\t\n\x85]/u.test(text)) {
    return `${value} contains an invisible character, which YAML does not allow`;
  }
  if (mark === '"' || mark === "'") {
    const marks = rest.split(mark).length - 1;
    if (marks === 1) return `${value} has no closing quote`;
    return mark === '"' && /escape|hexadecimal/i.test(error.message)
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
  const isOutdented = more.some((line) =>
    /^\S/.test(line.slice(indentation.length))
  );
  return isOutdented
    ? `${value} continues on a line that is not indented`
    : describeMalformed(error);
}
