/** Adds the target of a broken symlink to its diagnostic. */

import { attempt } from "../attempt.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { dirname, isThere, resolve, withDirsAbove } from "../fs/paths.ts";
import { quote } from "../text.ts";

/** Adds the target of a symlink as written, and the part of it that exists. */
export function addSymlinkTarget(diagnostic: Diagnostic): Diagnostic {
  const { rule, file, reason } = diagnostic;
  const mayBeLink = rule.startsWith("link-") || rule === "not-served";
  const target = mayBeLink ? attempt(() => Deno.readLinkSync(file)) : undefined;
  if (target === undefined) return diagnostic;
  const path = resolve(dirname(file), target);
  const found = withDirsAbove(path).find(isThere);
  const part = found === path || found === undefined
    ? ""
    : ` (only ${quote(found)} of that path exists)`;
  return { ...diagnostic, reason: `${reason}: ${quote(target)}${part}` };
}
