/** Explains why a file has no frontmatter that can be found: its encoding, or its fences. */

import type { DiagnosticDetails } from "../diagnostics.ts";
import { SKILL_MD } from "../skills/names.ts";
import { HEAD_SIZE } from "../skills/skill_md.ts";
import { quote } from "../text.ts";
import { fixBy, listFields, meantField } from "./fields.ts";
import { findLinkText } from "./near_misses.ts";

/** Says in which line a file is not UTF-8. */
export function explainEncoding(bytes: Uint8Array): Partial<DiagnosticDetails> {
  const [first, second] = bytes;
  const isUtf16 = (first === 0xff && second === 0xfe) ||
    (first === 0xfe && second === 0xff);
  if (isUtf16) return { reason: "the file is UTF-16, not UTF-8" };
  const lines = new TextDecoder().decode(bytes).split("\n");
  const line = 1 + lines.findIndex((it) => it.includes("\ufffd"));
  const reason =
    "the line is not UTF-8: an editor saved the file in the encoding of the system";
  return { line, reason };
}

/** What a file without frontmatter is, by its beginning, and how to fix it. */
const STARTS: readonly [start: RegExp, reason: string, fix: string][] = [
  [
    /^(?:-\0|\0-)/,
    "the file is UTF-16, not UTF-8",
    'save it as UTF-8, with "Save as" or "Save with Encoding"',
  ],
  [
    /^(?:\{\\rtf|PK\W)/,
    "the file is a document of a word processor, not plain text",
    'save it as plain text, as "SKILL.md"',
  ],
];

const FENCE = /^---[ \t]*$/;

/** A line that is almost `---`: with other dashes, more or fewer of them, or spaces. */
const ALMOST_FENCE = /^\s*(?:[-\u2010-\u2015\u2500]\s*){1,9}$/;

const CODE_FENCE = /^\s*(`{3,}|~{3,})\w*\s*$/;

/** Up to ten lines above the frontmatter. After more lines, it is a part of the text. */
const LINES_ABOVE =
  /^(?:.*\n){1,10}?(?=---[ \t]*\n(?:name|description)[ \t]*:)/;

/**
 * Says what is wrong with the beginning of a file that has no frontmatter.
 *
 * @param isWhole Whether the file has nothing more.
 */
export function explainStart(
  text: string,
  isWhole: boolean,
): Partial<DiagnosticDetails>[] {
  const start = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  const [, reason, fix] = STARTS.find(([it]) => it.test(start)) ?? [];
  if (reason !== undefined) return [{ reason, fix }];
  const link = findLinkText(SKILL_MD, start);
  if (link !== undefined) return [link];
  const [above] = LINES_ABOVE.exec(start) ?? [];
  if (above !== undefined) return [explainAbove(above, start)];
  return explainFences(start.split("\n"), isWhole);
}

/** Describes frontmatter that begins further down. */
function explainAbove(above: string, text: string): Partial<DiagnosticDetails> {
  const [mark] = above.trim().split("\n").filter((it) => CODE_FENCE.test(it));
  if (mark === undefined) {
    const line = above.split("\n").length;
    const reason = `the frontmatter starts on line ${line}, not on line 1`;
    return { reason, fix: "delete the lines above it" };
  }
  const lines = text.trimEnd().split("\n");
  const first = 1 + lines.indexOf(mark);
  const end = lines.findLastIndex((it) => CODE_FENCE.test(it)) + 1;
  const rest = end > first ? `, and line ${end}, where it ends` : "";
  return {
    line: first,
    reason: `the file is inside the code fence ${quote(mark.trim())}`,
    fix: `delete line ${first}, where the fence begins${rest}`,
  };
}

/** Describes both of the lines `---`, if they are missing or not exact. */
function explainFences(
  lines: readonly string[],
  isWhole: boolean,
): Partial<DiagnosticDetails>[] {
  const [first = ""] = lines;
  const [field] = listFields(first);
  const isField = field !== undefined && meantField(field.key) !== undefined;
  const isFence = FENCE.test(first);
  if (!isFence && !isField && !ALMOST_FENCE.test(first)) return [{}];
  const diagnostics: Partial<DiagnosticDetails>[] = [];
  if (isField) {
    const reason = 'there is no line "---" above the frontmatter';
    const fix = 'write a line "---" above this one';
    diagnostics.push({ line: 1, reason, fix });
  } else if (!isFence) diagnostics.push(almostFence(1));
  const end = indexAfterFields(lines);
  // The last line may be cut.
  if (end >= lines.length - 1 && !isWhole) {
    const reason = `the frontmatter is larger than ${HEAD_SIZE / 1024} KiB`;
    const fix =
      'write a line "---" below the last field, or move long texts below it';
    return [...diagnostics, { line: 1, reason, fix }];
  }
  const last = lines[end] ?? "";
  if (FENCE.test(last)) return diagnostics;
  if (ALMOST_FENCE.test(last)) return [...diagnostics, almostFence(end + 1)];
  const reason = 'there is no line "---" below the frontmatter';
  const fix = 'write a line "---" below this one';
  return [...diagnostics, { line: end, reason, fix }];
}

/** Returns the index of the line after the fields at the beginning of a file. */
function indexAfterFields(lines: readonly string[]): number {
  const isPart = (line: string) =>
    /^(?:[ \t]+\S|- )/.test(line) || listFields(line).length > 0;
  const index = lines.findIndex((line, index) => index > 0 && !isPart(line));
  return index < 0 ? lines.length : index;
}

function almostFence(line: number): Partial<DiagnosticDetails> {
  const reason = 'the line is almost "---", but not exactly';
  return { line, reason, fix: fixBy("---", "") };
}
