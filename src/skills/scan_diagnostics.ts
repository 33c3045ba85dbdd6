/** Diagnostics of the scan. */

import type { DiagnosticDetails } from "../diagnostics.ts";
import { isAbsolute, isThere, mayRead, withDirsAbove } from "../fs/paths.ts";
import type { SkillScope } from "./types.ts";

export const LINK_OUT_OF_PROJECT: DiagnosticDetails = {
  rule: "link-outside",
  reason: "it is a link that points outside the project",
  fix: "replace it with the folder itself",
};

export const LINK_OUT_OF_ROOTS: DiagnosticDetails = {
  rule: "link-outside",
  reason: "it is a link that points outside the skill folders",
  fix: "replace it with the folder itself",
};

/** Mistakes in settings files, where no shell expands paths, and their fixes. */
const MISWRITTEN: readonly [sign: RegExp, mistake: string, fix: string][] = [
  [
    /\$\{?\w|%\w+%/,
    "no shell replaces the variable in its path",
    "write the path that the variable stands for",
  ],
  [/["']/, "the quotes are part of its path", "remove the quotes"],
  [
    /[*?]/,
    "no shell expands the wildcard in its path",
    "write the path of each folder",
  ],
  [/\bfile:[\\/]/, "it is a URL, not a path", "write the path alone"],
  [
    /\/(?:[A-Za-z]:\\|[A-Z]:\/)/,
    "it is a path for Windows",
    'in WSL, write "/mnt/c/" instead of "C:\\"',
  ],
  [
    /;|(?<!^\w):[\\/~]/,
    'only "," separates paths',
    'write "," between the paths',
  ],
];

/** For a missing root that must exist, or a missing trusted directory. */
export function missingDir(path: string): DiagnosticDetails {
  const rule = "folder-missing";
  const reason = "there is no such folder";
  // The part that exists, such as the working directory, may have any signs.
  const existing = withDirsAbove(path)
    .find((dir) => isAbsolute(dir) && mayRead(dir) && isThere(dir)) ?? "";
  const missing = path.slice(existing.replace(/[\\/]$/, "").length);
  const [, mistake, fix] = MISWRITTEN.find(([sign]) => sign.test(missing)) ??
    [];
  return fix === undefined
    ? { rule, reason, fix: "check its spelling, or create it" }
    : { rule, reason: `${reason}, because ${mistake}`, fix };
}

export const ROOT_IS_A_FILE: DiagnosticDetails = {
  rule: "not-a-folder",
  reason: "it is a file, not a folder of skills",
  fix:
    "pass the path of a folder; to make the file a skill, move it to a folder of its own as SKILL.md",
};

export const PROJECT_IS_SLOW: DiagnosticDetails = {
  rule: "too-many",
  reason: "reading the skills of the project takes too long",
  fix: "pass its folder as one to search",
};

/** For a root with more directories than the scan visits, alone or with those of its project. */
export function tooManyDirs(
  limit: number,
  scope: SkillScope,
): DiagnosticDetails {
  const subject = scope === "global"
    ? "it has"
    : "the skill folders of the project have";
  return {
    rule: "too-many",
    reason:
      `${subject} more than ${limit} folders and links, and the scan skips the rest`,
    fix: "pass it, or a folder closer to the skills, as one to search",
  };
}
