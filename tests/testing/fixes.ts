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

/** Writes the finished line of each problem with a text in place of the line it is about. */
export function followHints(
  text: string,
  problems: readonly Fix[],
): string {
  const lines = text.split("\n");
  for (const { hint, line = 0, lines: finished } of problems) {
    assert.match(hint, /^(?:to keep it hidden, )?write this line instead:$/);
    assert.equal(finished.length, 1, hint);
    lines[line - 1] = finished[0]!;
  }
  return lines.join("\n");
}
