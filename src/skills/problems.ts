/**
 * Describes problems with skills.
 *
 * @module
 */

import { quote } from "../text.ts";
import type { SkillProblem } from "./types.ts";

/** Describes a problem in one line. */
export function describeProblem(
  { file, line, reason, hint }: SkillProblem,
): string {
  const position = line === undefined ? "" : ` (line ${line})`;
  return `Skipped ${quote(file)}${position}: ${reason}; ${hint}`;
}
