/**
 * Combines the findings about links that point into the same folder, as dotfile
 * managers create them, and offers to trust that folder.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { LINK_OUT_OF_PROJECT, LINK_OUT_OF_SKILL } from "../files/faults.ts";
import { isAtOrBelow } from "../files/paths.ts";
import type { Finding } from "../skills/validity.ts";
import { quote } from "../text.ts";

/** The minimum number of names in the path of a folder that is offered to be trusted. */
const MIN_DEPTH = 2;

/** The maximum number of links that a finding names. */
const MAX_NAMED = 3;

/** Links of one kind that point into one folder. */
interface LinkGroup {
  readonly findings: Finding[];
  /** The folder that contains all targets. */
  target: string;
}

/**
 * Combines findings about links that point out of their skills.
 *
 * @param findings All findings.
 * @param options The working directory and the home folder, which are never
 *   offered, and a function that quotes an argument for the shell.
 */
export function combineLinks(
  findings: readonly Finding[],
  { project, home, quoteArgument }: {
    project: string | undefined;
    home: string | undefined;
    quoteArgument: (argument: string) => string;
  },
): Finding[] {
  const isNarrow = (folder: string) =>
    folder.split(/[\\/]/).filter(Boolean).length >= MIN_DEPTH &&
    ![project, home].some((path) => path && isAtOrBelow(path, folder));
  const groups: LinkGroup[] = [];
  const kept = findings.flatMap((finding): (Finding | LinkGroup)[] => {
    const target = findTargetFolder(finding, project);
    if (target === undefined || !isNarrow(target)) return [finding];
    const group = groups.find((group) =>
      group.findings[0]!.rule === finding.rule &&
      isNarrow(commonFolder(group.target, target))
    );
    if (group === undefined) {
      const added = { findings: [finding], target };
      groups.push(added);
      return [added];
    }
    group.target = commonFolder(group.target, target);
    group.findings.push(finding);
    return [];
  });
  return kept.map((item) =>
    "target" in item ? describe(item, quoteArgument) : item
  );
}

function describe(
  { findings, target }: LinkGroup,
  quoteArgument: (argument: string) => string,
): Finding {
  const [first] = findings;
  const hint =
    `if the folder is yours and all of it can be served, add this option:\n--trust-links ${
      quoteArgument(target)
    }`;
  if (findings.length === 1) {
    const reason = `${first!.reason}: ${quote(target)}`;
    return { ...first!, reason, hint };
  }
  const file = findings.map(({ file }) => dirname(file)).reduce(commonFolder);
  const names = findings.slice(0, MAX_NAMED)
    .map((finding) => quote(finding.file.slice(file.length + 1)));
  const more = findings.length > MAX_NAMED ? ", …" : "";
  const reason = `${findings.length} links in it point outside, into ${
    quote(target)
  }: ${names.join(", ")}${more}`;
  return { ...first!, file, reason, hint };
}

/**
 * Returns the folder that a link points to or into, if trusting it would help.
 * Dotfile managers keep the names of files. A link to a file outside the project
 * with another name may be meant to reveal that file, or where it is.
 */
function findTargetFolder(
  { file, reason }: Finding,
  project: string | undefined,
): string | undefined {
  const isLink = reason === LINK_OUT_OF_SKILL.reason ||
    reason === LINK_OUT_OF_PROJECT.reason;
  if (!isLink) return undefined;
  try {
    const target = Deno.realPathSync(file);
    const isHidden = isAtOrBelow(target, Deno.realPathSync(dirname(file)));
    const isExpected = target.endsWith(basename(file)) ||
      project !== undefined && isAtOrBelow(target, project);
    if (isHidden || !isExpected) return undefined;
    return Deno.statSync(target).isDirectory ? target : dirname(target);
  } catch {
    return undefined;
  }
}

/** Returns the longest path of a folder that contains two paths. */
function commonFolder(a: string, b: string): string {
  let folder = a;
  while (!isAtOrBelow(b, folder)) folder = dirname(folder);
  return folder;
}
