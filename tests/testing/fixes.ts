/**
 * Follows the hints that `--check` prints, literally, as a person does.
 *
 * @module
 */

import assert from "node:assert/strict";

/** A problem as `--check` prints it. */
export interface PrintedProblem {
  readonly file: string;
  readonly line: number | undefined;
  readonly rule: string;
  readonly reason: string;
  readonly hint: string;
  /** The lines to copy. */
  readonly lines: readonly string[];
}

/** How to fix a problem. */
type Fix = Pick<PrintedProblem, "hint" | "lines"> & {
  readonly line?: number | undefined;
};

/** Reads the problems in the output of `--check`. */
export function readProblems(output: string): PrintedProblem[] {
  const [printed = ""] = output.split(/\n\nChecked \d+ skill/, 1);
  const starts = /^(?=\S+: (?:error|warning)\[[\w-]+\]: )/m;
  return printed.split(starts).filter((text) => text.trim() !== "").map(
    (text) => {
      const [start = "", fix = "", ...lines] = text.replace(/\n$/, "")
        .split("\n");
      const [, file = "", line, rule = "", reason = ""] =
        /^(\S+?)(?::(\d+))?: \w+\[([\w-]+)\]: (.*)$/.exec(start) ?? [];
      assert.match(fix, /^ {2}fix: ./, text);
      const number = line === undefined ? undefined : Number(line);
      const hint = fix.slice("  fix: ".length);
      return { file, line: number, rule, reason, hint, lines };
    },
  );
}

/** Follows the hints about a text, the last line first, so that the numbers stay right. */
export function followHints(
  text: string,
  problems: readonly Fix[],
): string {
  const lines = text.split("\n");
  const sorted = problems.toSorted((a, b) => (b.line ?? 0) - (a.line ?? 0));
  for (const problem of sorted) followHint(lines, problem);
  return lines.join("\n");
}

function followHint(lines: string[], problem: Fix): void {
  const { hint, line = 0, lines: finished } = problem;
  const numbers = Array.from(hint.matchAll(/line (\d+)/g), ([, it]) => +it!);
  const [, from, to] = /lines (\d+) to (\d+)/.exec(hint)?.map(Number) ?? [];
  const [first = line] = from === undefined ? numbers : [from];
  const last = to ?? first;
  if (/write (?:this line|these lines) instead(?: of .*)?:$/.test(hint)) {
    lines.splice(first - 1, last - first + 1, ...finished);
  } else if (/^add this line after line \d+:$/.test(hint)) {
    lines.splice(first, 0, ...finished);
  } else if (/^add this line before line \d+:$/.test(hint)) {
    lines.splice(first - 1, 0, ...finished);
  } else if (/^delete line/.test(hint)) {
    lines.splice(first - 1, last - first + 1);
  } else {
    assert.fail(`There is nothing to follow in: ${hint}`);
  }
}
