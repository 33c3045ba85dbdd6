/**
 * What is wrong with a `SKILL.md` whose frontmatter does not start or end with a
 * line `---`, how to fix it, and where the frontmatter most likely is.
 *
 * @module
 */

import { KNOWN_FIELDS } from "./frontmatter_faults.ts";
import { linesOf, splitEntries } from "./yaml_lines.ts";
import type { SkillSyntaxFault } from "./types.ts";
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

/** Whether a line starts or ends frontmatter. */
export function isFence(line: string): boolean {
  return /^---[ \t]*\r?$/.test(line);
}

/** A `SKILL.md`, split at its fences or where they most likely belong. */
export interface FencedText {
  readonly faults: readonly SkillSyntaxFault[];
  /** The YAML, with its line numbers of the file, if it was found. */
  readonly yaml: string | undefined;
  /** The Markdown after it, up to the end of the file. */
  readonly body: string | undefined;
}

/** Finds out why the frontmatter of a `SKILL.md` does not start or end, and where it is. */
export function findFences(text: string): FencedText {
  const none = { yaml: undefined, body: undefined };
  if (isUtf16(text)) return { faults: [IS_UTF_16], ...none };
  const lines = linesOf(text.replace(/^\ufeff/, "").slice(0, MAX_LENGTH))
    .slice(0, MAX_LINES);
  const opening = findOpening(lines);
  if (opening.first === undefined) return { faults: opening.faults, ...none };
  const { first } = opening;
  const near = lines.findIndex((line, index) =>
    index >= first && NEAR_FENCE.test(line)
  );
  const end = near === -1 ? findBody(lines, first) : near;
  const yaml = lines.slice(first, end);
  const isFound = splitEntries(yaml)
    .some(({ key }) => KNOWN_FIELDS.includes(key.toLowerCase()));
  const isEnded = near !== -1 && isFence(lines[near]!);
  const faults = isEnded || opening.coversEnd
    ? opening.faults
    : [...opening.faults, describeEnd(lines, { end, near, isFound })];
  if (!isFound) return { faults, ...none };
  return {
    faults,
    yaml: "\n".repeat(first) + yaml.join("\n"),
    body: skipLines(text, near === -1 ? end : end + 1),
  };
}

/** What is wrong with the start of the frontmatter. */
interface Opening {
  readonly faults: readonly SkillSyntaxFault[];
  /** The index of the first line of the YAML, if it was found. */
  readonly first?: number | undefined;
  /** Whether the hint also says how to end the frontmatter. */
  readonly coversEnd?: boolean;
}

function findOpening(lines: readonly string[]): Opening {
  if (isFence(lines[0]!)) return { faults: [], first: 1 };
  const start = lines.findIndex((line) => line.trim() !== "");
  const fence = lines.findIndex((line) => isFence(line));
  const { first, coversEnd, ...fault } = start === -1
    ? { reason: "the file is empty", hint: TEMPLATE }
    : describeStart(lines, { start, fence }) ??
      { reason: "there is no frontmatter", hint: TEMPLATE };
  const kind = "frontmatter-missing";
  return { faults: [{ kind, line: 1, ...fault }], first, coversEnd };
}

/** A fault without its kind, and the YAML after it. The line is 1 if it is missing. */
type StartFault =
  & Pick<SkillSyntaxFault, "reason" | "hint">
  & Pick<Opening, "first" | "coversEnd">
  & { line?: number };

/** Describes the first line with text, if it shows what the author meant. */
function describeStart(
  lines: readonly string[],
  { start, fence }: { start: number; fence: number },
): StartFault | undefined {
  const text = lines[start]!;
  const line = start + 1;
  if (fence === start) {
    return {
      reason: 'there are blank lines before the first "---"',
      hint: 'remove the blank lines before the first "---"',
      first: line,
    };
  }
  if (NEAR_FENCE.test(text)) {
    const last = lines.findIndex((line, index) =>
      index > start && NEAR_FENCE.test(line) && !isFence(line)
    );
    const other = last === -1 ? "" : ` and on line ${last + 1}`;
    return {
      reason: `line ${line} is ${quote(text)} instead of "---"`,
      line,
      hint: `write "---" on line ${line}${other}`,
      first: line,
      coversEnd: last !== -1,
    };
  }
  if (/^\s*(?:```|~~~)/.test(text) && isFence(lines[line] ?? "")) {
    const hint = "remove this line, and the line that ends the code block";
    const reason = "the frontmatter is in a code block";
    return { reason, line, hint, first: line + 1 };
  }
  if (FIELD.test(text)) {
    const end = findBody(lines, start) + 1;
    const other = fence === -1 ? ` and another one before line ${end}` : "";
    return {
      reason: 'there is no line "---" before the frontmatter',
      line,
      hint: `insert a line "---" before line ${line}${other}`,
      first: start,
      coversEnd: true,
    };
  }
  if (fence > 0 && FIELD.test(lines[fence + 1] ?? "")) {
    const place = `which starts on line ${fence + 1}`;
    return {
      reason: `there is text before the frontmatter, ${place}`,
      hint: "move the frontmatter to the start of the file",
      first: fence + 1,
    };
  }
}

const TEMPLATE =
  'start the file with a line "---", followed by the lines "name: …", "description: …", and "---"';

const IS_UTF_16: SkillSyntaxFault = {
  kind: "utf-16",
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
): SkillSyntaxFault {
  const kind = "frontmatter-missing";
  const reason = "the frontmatter does not end";
  if (!isFound) {
    const hint = 'end it with a line "---" before the Markdown';
    return { kind, reason, line: 1, hint };
  }
  if (near !== -1) {
    return {
      kind,
      reason: `${reason}, because line ${near + 1} is ${
        quote(lines[near]!)
      } instead of "---"`,
      line: near + 1,
      hint: "write this line instead:\n---",
    };
  }
  const isWhole = lines.slice(end).every((line) => line.trim() === "");
  const hint = isWhole
    ? "add this line at the end of the file:\n---"
    : `insert this line before line ${end + 1}:\n---`;
  return { kind, reason, line: end + (isWhole ? 0 : 1), hint };
}

/**
 * Returns the index of the line from `first` on which the Markdown most likely
 * starts, or the number of lines if there is none.
 */
function findBody(lines: readonly string[], first: number): number {
  const isBody = (line: string, index: number) => {
    const isEntry = splitEntries(lines.slice(index + 1, index + 2)).length > 0;
    return index >= first &&
      (/^#{1,6}\s/.test(line) || line.trim() === "" && !isEntry);
  };
  const start = lines.findIndex(isBody);
  return start === -1 ? lines.length : start;
}

function skipLines(text: string, count: number): string {
  let start = 0;
  for (let line = 0; line < count; line++) {
    const end = text.indexOf("\n", start);
    if (end === -1) return "";
    start = end + 1;
  }
  return text.slice(start);
}
