/**
 * What is wrong with a `SKILL.md` whose frontmatter does not start or end with a
 * line `---`, and how to fix it.
 *
 * @module
 */

import {
  findFrontmatterFaults,
  hasRequiredFields,
  isMapping,
} from "./frontmatter_faults.ts";
import { parseYamlOrError } from "./yaml_errors.ts";
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

const FENCE = /^---[ \t]*$/;

/** Finds out why the first line of a `SKILL.md` is not `---`. */
export function findOpeningFault(text: string): SkillSyntaxFault {
  if (isUtf16(text)) return IS_UTF_16;
  const lines = linesOf(text.replace(/^\ufeff/, "").slice(0, MAX_LENGTH))
    .slice(0, MAX_LINES);
  const first = lines.findIndex((line) => line.trim() !== "");
  const fence = lines.findIndex((line) => FENCE.test(line));
  const fault = first === -1
    ? { reason: "the file is empty", hint: TEMPLATE }
    : describeStart(lines, { first, fence }) ??
      { reason: "there is no frontmatter", hint: TEMPLATE };
  return { kind: "frontmatter-missing", line: 1, ...fault };
}

/** A fault without its kind. The line is 1 if it is missing. */
type StartFault = Pick<SkillSyntaxFault, "reason" | "hint"> & { line?: number };

/** Describes the first line with text, if it shows what the author meant. */
function describeStart(
  lines: readonly string[],
  { first, fence }: { first: number; fence: number },
): StartFault | undefined {
  const start = lines[first]!;
  const line = first + 1;
  if (fence === first) {
    return {
      reason: 'there are blank lines before the first "---"',
      hint: 'remove the blank lines before the first "---"',
    };
  }
  if (NEAR_FENCE.test(start)) {
    const last = lines.findIndex((line, index) =>
      index > first && NEAR_FENCE.test(line) && !FENCE.test(line)
    );
    const other = last === -1 ? "" : ` and on line ${last + 1}`;
    const reason = `line ${line} is ${quote(start)} instead of "---"`;
    return { reason, line, hint: `write "---" on line ${line}${other}` };
  }
  if (/^\s*(?:```|~~~)/.test(start) && FENCE.test(lines[line] ?? "")) {
    const hint = "remove this line, and the line that ends the code block";
    return { reason: "the frontmatter is in a code block", line, hint };
  }
  if (FIELD.test(start)) {
    const end = findBody(lines) + 1;
    const other = fence === -1 ? ` and another one before line ${end}` : "";
    const reason = 'there is no line "---" before the frontmatter';
    return {
      reason,
      line,
      hint: `insert a line "---" before line ${line}${other}`,
    };
  }
  if (fence > 0 && FIELD.test(lines[fence + 1] ?? "")) {
    const place = `which starts on line ${fence + 1}`;
    const reason = `there is text before the frontmatter, ${place}`;
    return { reason, hint: "move the frontmatter to the start of the file" };
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

/**
 * Finds out where frontmatter that does not end should end, and what else is
 * wrong with it.
 */
export function findClosingFaults(
  text: string,
): [SkillSyntaxFault, ...SkillSyntaxFault[]] {
  const kind = "frontmatter-missing";
  const lines = linesOf(text.slice(0, MAX_LENGTH)).slice(0, MAX_LINES);
  const near = lines.findIndex((line, index) =>
    index > 0 && NEAR_FENCE.test(line)
  );
  const end = near === -1 ? findBody(lines) : near;
  const yaml = lines.slice(1, end).join("\n");
  const keys = splitEntries(linesOf(yaml)).map(({ key }) => key);
  if (!keys.includes("name") && !keys.includes("description")) {
    const hint = 'end it with a line "---" before the Markdown';
    return [{ kind, reason: "the frontmatter does not end", line: 1, hint }];
  }
  const isWhole = lines.slice(end).every((line) => line.trim() === "");
  const fault = near === -1
    ? {
      reason: "the frontmatter does not end",
      hint: isWhole
        ? "add this line at the end of the file:\n---"
        : `insert this line before line ${end + 1}:\n---`,
    }
    : {
      reason: `the frontmatter does not end, because line ${near + 1} is ${
        quote(lines[near]!)
      } instead of "---"`,
      hint: "write this line instead:\n---",
    };
  const parsed = parseYamlOrError(yaml);
  const isValid = isMapping(parsed) && hasRequiredFields(parsed);
  const others = isValid ? [] : findFrontmatterFaults(yaml, parsed);
  return [{ kind, ...fault, line: end + (isWhole ? 0 : 1) }, ...others];
}

/**
 * Returns the index of the line on which the Markdown most likely starts, or the
 * number of lines if there is none.
 */
function findBody(lines: readonly string[]): number {
  const isBody = (line: string, index: number) => {
    const isEntry = splitEntries(lines.slice(index + 1, index + 2)).length > 0;
    return index > 0 &&
      (/^#{1,6}\s/.test(line) || line.trim() === "" && !isEntry);
  };
  const start = lines.findIndex(isBody);
  return start === -1 ? lines.length : start;
}
