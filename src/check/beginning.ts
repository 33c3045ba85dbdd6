/** Explains why a file has no readable frontmatter: its encoding, or its fences. */

import type { Diagnostic } from "../diagnostics.ts";
import { isStray, listFields, meantField } from "../skills/fields.ts";
import { SKILL_MD } from "../skills/names.ts";
import { findLinkText } from "../skills/near_misses.ts";
import { NO_END, NOT_UTF_8 } from "../skills/skill_md.ts";
import { quote } from "../text.ts";
import { writeInstead } from "./field_lines.ts";

/** Names the first line that is not UTF-8, in a text with U+FFFD for such bytes. */
export function explainEncoding(
  text: string,
): Pick<Diagnostic, "line" | "reason" | "fix"> {
  return {
    line: 1 + text.split("\n").findIndex((it) => it.includes("\ufffd")),
    reason:
      "the line is not UTF-8, because an editor saved the file in another encoding",
    fix: NOT_UTF_8.fix,
  };
}

const DOCUMENT = {
  line: 1,
  reason: "the file is a word processor document, not plain text",
  fix: 'save it as plain text, as "SKILL.md"',
};

/** The beginning of a Rich Text file, as TextEdit saves it, or of a Word document. */
const DOCUMENT_START = /^(?:\{\\rtf|PK\W)/;

const FENCE = /^---[ \t]*$/;

/** A line that is almost `---`: with other dashes, more or fewer of them, or spaces. */
const ALMOST_FENCE = /^\s*(?:[-\u2010-\u2015\u2500]\s*){1,9}$/;

/** An indented line `---` above an indented field. */
const INDENTED_FRONTMATTER = /^(?:[ \t]*\n)?[ \t]+---[ \t]*\n[ \t]+\S/;

const INDENTED = {
  line: 1,
  reason: "the frontmatter is indented",
  fix: "delete the spaces before its lines",
};

const CODE_FENCE = /^\s*(`{3,}|~{3,})\w*\s*$/;

/** Up to ten lines above the frontmatter. Below more lines, it is part of the text. */
const LINES_ABOVE =
  /^(?:.*\n){1,10}?(?=---[ \t]*\n(?:name|description)[ \t]*:)/;

/** Describes the fences of a file, if it has anything like frontmatter. */
export function explainStart(text: string): Partial<Diagnostic>[] {
  const start = text.replace(/\r\n?/g, "\n");
  if (DOCUMENT_START.test(start)) return [DOCUMENT];
  const link = findLinkText(SKILL_MD, start);
  if (link !== undefined) return [link];
  if (INDENTED_FRONTMATTER.test(start)) return [INDENTED];
  const [above] = LINES_ABOVE.exec(start) ?? [];
  if (above !== undefined) {
    const codeFence = above.split("\n").find((it) => CODE_FENCE.test(it));
    return codeFence === undefined
      ? [explainLinesAbove(above)]
      : [explainCodeFence(codeFence, start)];
  }
  const lines = start.split("\n");
  const [first = ""] = lines;
  const looksLikeFrontmatter = ALMOST_FENCE.test(first) ||
    listFields(first).some(({ key }) => meantField(key) !== undefined);
  return looksLikeFrontmatter
    ? [...explainTopFence(first), ...explainBottomFence(lines)]
    : [];
}

function explainLinesAbove(above: string): Partial<Diagnostic> {
  const line = above.split("\n").length;
  const reason = `the frontmatter starts on line ${line}, not on line 1`;
  return { line: 1, reason, fix: "delete the lines above it" };
}

function explainCodeFence(
  codeFence: string,
  text: string,
): Partial<Diagnostic> {
  const lines = text.trimEnd().split("\n");
  const first = 1 + lines.indexOf(codeFence);
  const last = 1 + lines.findLastIndex((it) => CODE_FENCE.test(it));
  const end = last > first ? `, and line ${last}, where it ends` : "";
  return {
    line: first,
    reason: `the file is inside the code fence ${quote(codeFence.trim())}`,
    fix: `delete line ${first}, where the fence begins${end}`,
  };
}

function explainTopFence(line: string): Partial<Diagnostic>[] {
  if (FENCE.test(line)) return [];
  if (ALMOST_FENCE.test(line)) return [almostFence(1)];
  const reason = 'there is no line "---" above the frontmatter';
  return [{ line: 1, reason, fix: 'write a line "---" above this one' }];
}

/** Describes the line below the fields, unless it is `---`. */
function explainBottomFence(lines: readonly string[]): Partial<Diagnostic>[] {
  const isPart = (line: string) =>
    !ALMOST_FENCE.test(line) &&
    (/^(?:[ \t]+\S|- )/.test(line) ||
      listFields(line).some((field) => !isStray(field)));
  const found = lines.findIndex((line, index) => index > 0 && !isPart(line));
  const end = found < 0 ? lines.length : found;
  const last = lines[end] ?? "";
  if (FENCE.test(last)) return [];
  if (ALMOST_FENCE.test(last)) return [almostFence(end + 1)];
  const { reason } = NO_END;
  return [{ line: end, reason, fix: 'write a line "---" below this one' }];
}

function almostFence(line: number): Partial<Diagnostic> {
  const reason = 'the line is almost "---", but not exactly';
  return { line, reason, ...writeInstead("---", "") };
}
