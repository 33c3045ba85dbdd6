/**
 * Repairs an entry of YAML, and describes what is wrong with it.
 *
 * @module
 */

import { quote } from "../text.ts";
import {
  describeMalformed,
  isMapping,
  parseYamlOrError,
} from "./yaml_errors.ts";
import {
  isBlockScalar,
  plainTextOf,
  quoteYaml,
  type YamlEntry,
} from "./yaml_lines.ts";

/** The maximum length of a line that a hint shows, in characters. */
const MAX_SHOWN_LENGTH = 2_000;

/** How to fix an entry, and the finished lines, if there are any. */
export interface Repair {
  readonly hint: string;
  readonly lines?: readonly string[];
}

/** Repairs an entry that cannot be parsed, if the author's text can be kept. */
export function repairEntry(entry: YamlEntry): Repair {
  const divided = divideName(entry);
  if (divided !== undefined) {
    const hint = `write these lines instead:\n${divided}`;
    return { lines: [divided], hint };
  }
  const { key, indentation, rest, more } = entry;
  const spaced = [`${indentation}${key}: ${rest}`, ...more];
  if (entry.isGlued && isValid(spaced)) return writeLines(spaced);
  const untabbed = spaced.map((line) =>
    line.replace(/^\s+/, (space) => space.replaceAll("\t", "  "))
  );
  const hasTabs = untabbed.some((line, index) => line !== spaced[index]);
  if (hasTabs && isValid(untabbed)) {
    return { lines: untabbed, hint: "indent with spaces instead of tabs" };
  }
  const otherwise = isBlockScalar(entry)
    ? `indent all lines below "${key}:" by the same number of spaces`
    : "put the value in single quotes on one line, and write each single quote in it twice";
  return quoteEntry(entry, { otherwise });
}

function isValid(lines: readonly string[]): boolean {
  return !(parseYamlOrError(lines.join("\n")) instanceof Error);
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
export function describeValueFault(entry: YamlEntry, parsed: unknown): string {
  const { key, rest, more, indentation } = entry;
  const value = `the value of ${quote(key)}`;
  if (divideName(entry) !== undefined) {
    return "the name and the description are on the same line";
  }
  if (entry.isGlued) return `there is no space after ${quote(`${key}:`)}`;
  const error = parsed as Error;
  const mark = rest[0] ?? "";
  if (/^\s*\t/m.test([rest, ...more].join("\n"))) {
    return `${value} is indented with tabs`;
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
  const isOutdented = more.some((line) => {
    const indent = line.search(/\S/);
    return indent !== -1 && indent <= indentation.length;
  });
  return isOutdented
    ? `${value} continues on a line that is not indented`
    : describeMalformed(error);
}
