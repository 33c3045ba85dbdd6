/** Conflicts that Git could not resolve, and wrote into a file. */

import type { Diagnostic } from "../diagnostics.ts";

/** A line that begins a conflict, is between its versions, or ends it. */
const MARK = /^(?:<{7} |\|{7}(?: |$)|={7}$|>{7} )/;

/** Describes the first conflict in a text with line feeds. */
export function findConflict(
  text: string,
): Pick<Diagnostic, "line" | "reason" | "fix"> | undefined {
  const index = text.split("\n").findIndex((it) =>
    /^(?:<{7}|>{7}) \S/.test(it)
  );
  if (index < 0) return undefined;
  return {
    line: index + 1,
    reason: "the file has unresolved Git conflicts",
    fix:
      'from each line "<<<<<<<" to the next line ">>>>>>>", keep only what is right',
  };
}

/** Keeps the first version in each conflict. The lines stay where they are. */
export function keepFirstVersion(text: string): string {
  let lastMark = ">";
  return text.split("\n").map((line) => {
    const isMark = MARK.test(line);
    if (isMark && (line[0] === "<" || lastMark !== ">")) lastMark = line[0]!;
    return isMark || lastMark === "=" || lastMark === "|" ? "" : line;
  }).join("\n");
}
