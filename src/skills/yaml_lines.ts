/**
 * The entries of a YAML mapping as their author wrote them, whether or not they
 * are valid YAML.
 *
 * @module
 */

import { escapeCodePoint, escapeHidden } from "../text.ts";

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
    const match = line.startsWith(indentation)
      ? KEY.exec(line.slice(indentation.length))
      : null;
    if (match === null) return [];
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
  const [, space, character] = /^(\s*)(.?)/.exec(line)!;
  const isText = isBlockScalar({ rest }) && space!.length > indentation.length;
  return character === "" || character === "#" && !isText;
}

/**
 * A key in double quotes, in single quotes, or plain, and the text after its
 * colon. A plain key with a space is rather the middle of a text.
 */
const KEY =
  /^(?:"([^"\\]*)"|'([^']*)'|([^\s"'#&*!|>%@`{}[\],:-][^\s:#]{0,200}))\s*:([ \t]+|)(.*)$/;

/** Whether the value of an entry is a text in lines below a `|` or `>`. */
export function isBlockScalar({ rest }: Pick<YamlEntry, "rest">): boolean {
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
  const endsWord = next > 0 && /\S/.test(inner[next - 1]!) &&
    /^.(?:[\s,.;:!?)]|$)/.test(inner.slice(next));
  if (endsWord && inner[next + 1] !== mark) return text;
  return mark === '"'
    ? inner.replaceAll('\\"', '"')
    : inner.replaceAll("''", "'");
}

/**
 * Writes a text as a YAML value on one line. Single quotes keep every character,
 * so they are used unless some characters are invisible.
 */
export function quoteYaml(text: string): string {
  if (escapeHidden(text) === text) return `'${text.replaceAll("'", "''")}'`;
  const escaped = escapeHidden(
    text.replace(/["\\]/g, "\\$&").replaceAll("\n", "\\n")
      .replaceAll("\t", "\\t"),
    escapeCodePoint,
  );
  return `"${escaped}"`;
}
