/**
 * The lines `---` that start and end the frontmatter of a `SKILL.md`. If one of
 * them is missing or wrong: how to fix it, and where the frontmatter most likely
 * is.
 *
 * @module
 */

import { KNOWN_FIELDS } from "./frontmatter_faults.ts";
import { linesOf, splitEntries } from "./yaml_entries.ts";
import type { SyntaxFault } from "./frontmatter.ts";
import { quote } from "../text.ts";

/** How many lines are searched for the frontmatter. */
const MAX_LINES = 100;

/** How much of a text is searched, in characters. */
const MAX_LENGTH = 64 * 1024;

/** A line that is likely meant as `---`. */
const NEAR_FENCE =
  /^\s*(?:-{2,}|[-\u2010-\u2015]+|\*{3,}|_{3,}|={3,}|\+{3,})\s*$/;

/** The first line of frontmatter without a fence. */
const FIELD = /^(?:name|description)\s*:/i;

/** The pattern of a line that starts or ends frontmatter. */
export const FENCE = String.raw`---[ \t]*\r?(?=\n|$)`;

function isFence(line = ""): boolean {
  return /^---[ \t]*$/.test(line);
}

/** A `SKILL.md`, split at its fences or where they most likely belong. */
export interface FencedText {
  readonly faults: readonly SyntaxFault[];
  /** The YAML, with its line numbers of the file, if it was found. */
  readonly yaml?: string;
  /** The Markdown after it, up to the end of the file. */
  readonly body?: string;
}

/** Finds out why the frontmatter of a `SKILL.md` does not start or end, and where it is. */
export function findFences(text: string): FencedText {
  if (isUtf16(text)) return { faults: [IS_UTF_16] };
  const lines = linesOf(text.replace(/^\ufeff/, "").slice(0, MAX_LENGTH))
    .slice(0, MAX_LINES);
  const { first, fault, coversEnd = false } = findOpening(lines);
  const faults = fault ? [{ rule: RULE, line: 1, ...fault }] : [];
  if (first === undefined) return { faults };
  const near = lines.findIndex((line, index) =>
    index >= first && NEAR_FENCE.test(line)
  );
  const end = near === -1 ? findBody(lines, first) : near;
  const yaml = lines.slice(first, end);
  const isFound = splitEntries(yaml)
    .some(({ key }) => KNOWN_FIELDS.includes(key.toLowerCase()));
  if (!isFence(lines[near]) && !coversEnd) {
    faults.push(describeEnd(lines, { end, near, isFound }));
  }
  if (!isFound) return { faults };
  return {
    faults,
    yaml: "\n".repeat(first) + yaml.join("\n"),
    body: text.split("\n").slice(near === -1 ? end : end + 1).join("\n"),
  };
}

/** The rule of all faults but {@linkcode IS_UTF_16}. */
const RULE = "frontmatter-missing";

/** The start of the frontmatter. */
interface Opening {
  /** What is wrong with it. The line is 1 if it is missing. */
  readonly fault?: { reason: string; hint: string; line?: number };
  /** The index of the first line of the YAML, if it was found. */
  readonly first?: number;
  /** Whether the hint also says how to end the frontmatter. */
  readonly coversEnd?: boolean;
}

function findOpening(lines: readonly string[]): Opening {
  if (isFence(lines[0])) return { first: 1 };
  const start = lines.findIndex((line) => line.trim() !== "");
  if (start === -1) {
    return { fault: { reason: "the file is empty", hint: TEMPLATE } };
  }
  const fence = lines.findIndex((line) => isFence(line));
  return describeStart(lines, { start, fence }) ??
    { fault: { reason: "there is no frontmatter", hint: TEMPLATE } };
}

/** Describes the first line with text, if it shows what the author meant. */
function describeStart(
  lines: readonly string[],
  { start, fence }: { start: number; fence: number },
): Opening | undefined {
  const text = lines[start]!;
  const line = start + 1;
  if (fence === start) {
    const reason = 'there are blank lines before the first "---"';
    const hint = 'remove the blank lines before the first "---"';
    return { fault: { reason, hint }, first: line };
  }
  if (NEAR_FENCE.test(text)) {
    const last = lines.findIndex((line, index) =>
      index > start && NEAR_FENCE.test(line) && !isFence(line)
    );
    const other = last === -1 ? "" : ` and on line ${last + 1}`;
    const reason = describeNearFence(lines, start);
    const hint = `write "---" on line ${line}${other}`;
    const fault = { reason, line, hint };
    return { fault, first: line, coversEnd: last !== -1 };
  }
  if (/^\s*(?:```|~~~)/.test(text) && isFence(lines[line])) {
    const reason = "the frontmatter is in a code block";
    const hint = "remove this line, and the line that ends the code block";
    return { fault: { reason, line, hint }, first: line + 1 };
  }
  if (FIELD.test(text)) {
    const end = findBody(lines, start) + 1;
    const other = fence === -1 ? ` and another one before line ${end}` : "";
    const reason = 'there is no line "---" before the frontmatter';
    const hint = `insert a line "---" before line ${line}${other}`;
    return { fault: { reason, line, hint }, first: start, coversEnd: true };
  }
  if (fence > 0 && FIELD.test(lines[fence + 1] ?? "")) {
    const place = `which starts on line ${fence + 1}`;
    const reason = `there is text before the frontmatter, ${place}`;
    const hint = "move the frontmatter to the start of the file";
    return { fault: { reason, hint }, first: fence + 1 };
  }
}

function describeNearFence(lines: readonly string[], index: number): string {
  return `line ${index + 1} is ${quote(lines[index]!)} instead of "---"`;
}

const TEMPLATE =
  'start the file with a line "---", followed by the lines "name: …", "description: …", and "---"';

const IS_UTF_16: SyntaxFault = {
  rule: "utf-16",
  reason: "the file is encoded as UTF-16",
  line: 1,
  hint: "save it with the encoding UTF-8",
};

/** Whether a text is UTF-16 that was decoded as UTF-8. */
function isUtf16(text: string): boolean {
  return /^(?:\ufffd\ufffd)?(?:[^\0]\0|\0[^\0]){2}/.test(text);
}

/** Describes where frontmatter that does not end should end. */
function describeEnd(
  lines: readonly string[],
  { end, near, isFound }: { end: number; near: number; isFound: boolean },
): SyntaxFault {
  const fault = { rule: RULE, reason: "the frontmatter does not end", line: 1 };
  if (!isFound) {
    return { ...fault, hint: 'end it with a line "---" before the Markdown' };
  }
  if (near !== -1) {
    const reason = `${fault.reason}, because ${describeNearFence(lines, near)}`;
    const hint = "write this line instead:\n---";
    return { ...fault, reason, line: near + 1, hint };
  }
  if (lines.slice(end).every((line) => line.trim() === "")) {
    const hint = "add this line at the end of the file:\n---";
    return { ...fault, line: end, hint };
  }
  const hint = `insert this line before line ${end + 1}:\n---`;
  return { ...fault, line: end + 1, hint };
}

/**
 * Returns the index of the line from `first` on which the Markdown most likely
 * starts, or the number of lines if there is none.
 */
function findBody(lines: readonly string[], first: number): number {
  const start = lines.findIndex((line, index) => {
    const [next] = splitEntries(lines.slice(index + 1, index + 2));
    return index >= first &&
      (/^#{1,6}\s/.test(line) || line.trim() === "" && next === undefined);
  });
  return start === -1 ? lines.length : start;
}
