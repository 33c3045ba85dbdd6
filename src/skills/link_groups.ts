/**
 * Combines the problems with links that point into the same folder, as dotfile
 * managers create them, and offers to trust that folder.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { LINK_OUT_OF_PROJECT, LINK_OUT_OF_SKILL } from "../files/faults.ts";
import { mayRead } from "../files/confinement.ts";
import { isAtOrBelow } from "../files/paths.ts";
import { quoteArgument } from "../shell_quoting.ts";
import { joinFirst, quote } from "../text.ts";
import type { BaseFolders } from "../files/types.ts";
import type { Steps } from "../time_slice.ts";
import type { Problem } from "./types.ts";

/** The minimum number of names in the path of a folder that is offered to be trusted. */
const MIN_DEPTH = 2;

/** The maximum number of links that a finding names. */
const MAX_NAMED = 3;

/** Links of one kind that point into one folder, or another problem. */
interface LinkGroup {
  readonly links: [Problem, ...Problem[]];
  /** The folder that contains all targets, if they are combined. */
  target: string | undefined;
}

/**
 * Combines problems with links that point out of their skills.
 *
 * @param problems All problems.
 * @param options The working directory and the home folder, which are never
 *   offered, and whether the target of a link must not be named.
 */
export function* combineLinks(
  problems: readonly Problem[],
  { isSecret = () => false, ...base }: BaseFolders & {
    isSecret?: (file: string) => boolean;
  },
): Steps<Problem[]> {
  const groups: LinkGroup[] = [];
  for (const problem of problems) {
    const { file, rule, reason } = problem;
    const target = POINTS_OUTSIDE.includes(reason) && !isSecret(file)
      ? yield* findTargetFolder(file, base)
      : undefined;
    const group = target &&
      groups.find(({ links: [first], target: other }) =>
        other !== undefined && first.rule === rule &&
        isNarrow(commonFolder(other, target), base)
      );
    if (group) {
      group.target = commonFolder(group.target!, target);
      group.links.push(problem);
    } else {
      groups.push({ links: [problem], target });
    }
  }
  return groups.map(describeGroup);
}

/** The reasons that are combined. */
const POINTS_OUTSIDE = [LINK_OUT_OF_SKILL.reason, LINK_OUT_OF_PROJECT.reason];

/** Whether a folder is small enough to be offered. */
function isNarrow(
  folder: string,
  { workingDirectory, homeDirectory }: BaseFolders,
): boolean {
  return folder.split(/[\\/]/).filter(Boolean).length >= MIN_DEPTH &&
    ![workingDirectory, homeDirectory]
      .some((path) => path && isAtOrBelow(path, folder));
}

function describeGroup({ links, target }: LinkGroup): Problem {
  const [first] = links;
  if (target === undefined) return first;
  const hint =
    `if the folder is yours and all of it can be served, add this option:\n--trust-links ${
      quoteArgument(target)
    }`;
  if (links.length === 1) {
    const reason = `${first.reason}: ${quote(target)}`;
    return { ...first, reason, hint };
  }
  const file = links.map(({ file }) => dirname(file)).reduce(commonFolder);
  const names = links.map((link) => quote(link.file.slice(file.length + 1)));
  const reason = `${links.length} links in it point outside, into ${
    quote(target)
  }: ${joinFirst(names, MAX_NAMED)}`;
  return { ...first, file, reason, hint };
}

/**
 * Returns the folder that a link points to or into, if trusting it would help.
 * Dotfile managers keep the names of files. A link to a file outside the project
 * with another name may be meant to reveal that file, or where it is.
 */
function* findTargetFolder(
  file: string,
  base: BaseFolders,
): Steps<string | undefined> {
  const project = base.workingDirectory;
  try {
    const target = Deno.realPathSync(file);
    yield;
    const isHidden = isAtOrBelow(target, Deno.realPathSync(dirname(file)));
    yield;
    const isExpected = target.endsWith(basename(file)) ||
      project !== undefined && isAtOrBelow(target, project);
    if (isHidden || !isExpected || !mayRead(target)) return undefined;
    const { isDirectory } = Deno.statSync(target);
    const folder = isDirectory ? target : dirname(target);
    return isNarrow(folder, base) ? folder : undefined;
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
