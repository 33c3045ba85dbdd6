/** Follows the hints that `--check` prints, literally, as a person does. */

import assert from "node:assert/strict";

/** How to fix a problem. */
interface Fix {
  readonly fix: string;
  readonly line?: number | undefined;
}

/** Writes the finished line of each problem with a text: a new one, or one in place of another. */
export function followFixes(text: string, diagnostics: readonly Fix[]): string {
  const lines = text.split("\n");
  for (const { fix: advice, line = 0 } of diagnostics) {
    const [fix = "", finished] = advice.split("\n");
    const isNew = /^between the two lines "---", .*, such as:$/.test(fix);
    if (!isNew) assert.match(fix, /\bwrite this line instead:$/);
    lines.splice(isNew ? 1 : line - 1, isNew ? 0 : 1, finished!);
  }
  return lines.join("\n");
}
