/** The faults of the directories of skills, and the options of the program that help. */

import { diagnosticOf, SkillFileError } from "../fs/errors.ts";
import { isAtOrBelow } from "../fs/paths.ts";
import type { DiagnosticDetails, Rule } from "../diagnostics.ts";
import type { SkillScope } from "./types.ts";

export const LINK_OUT_OF_PROJECT: DiagnosticDetails = {
  rule: "link-outside",
  reason: "it is a link that points outside the project",
  fix: "replace it with the folder itself",
};

export const LINK_OUT_OF_ROOTS: DiagnosticDetails = {
  rule: "link-outside",
  reason: "it is a link that points outside the folders of skills",
  fix: "replace it with the folder itself",
};

/** What people write into settings that no shell reads, and what to write instead. */
const MISWRITTEN: readonly [sign: RegExp, reason: string, fix: string][] = [
  [
    /\$\{?\w|%\w+%/,
    "there is no such folder, because nothing replaces the variable in it",
    "write the path that the variable stands for",
  ],
  [
    /["']/,
    "there is no such folder, because the quotes are a part of its path",
    "remove the quotes",
  ],
  [/\bfile:[\\/]/, "it is a URL, not a path", 'remove "file://"'],
  [
    /(?<!^\w):[\\/~]/,
    'there is no such folder, because ":" does not separate paths',
    'write "," between the paths',
  ],
];

/** For a directory that was named, and does not exist. */
export function rootIsMissing(path: string): DiagnosticDetails {
  const [, reason = "there is no such folder", fix] =
    MISWRITTEN.find(([sign]) => sign.test(path)) ?? [];
  return {
    rule: "folder-missing",
    reason,
    fix: fix ??
      "check its spelling, or create it; --list shows the skills that are found",
  };
}

export const ROOT_IS_A_FILE: DiagnosticDetails = {
  rule: "not-a-folder",
  reason: "it is a file, where a folder of skills was expected",
  fix:
    "pass the path of a folder; to make the file a skill, move it to a folder of its own as SKILL.md",
};

export const PROJECT_IS_SLOW: DiagnosticDetails = {
  rule: "too-many",
  reason: "reading the skills of the project takes too long",
  fix: "name its folder as DIR to read all of them",
};

/** For a root with more directories than are searched. */
export function tooManyDirs(limit: number): DiagnosticDetails {
  return {
    rule: "too-many",
    reason:
      `it has more than ${limit} folders and links, and only the first ones are searched`,
    fix: "name it, or a folder closer to the skills, as DIR",
  };
}

const HELPFUL_OPTIONS: Partial<Record<Rule, string>> = {
  "link-outside":
    "or, if you trust the folder DIR that it points into, use --trust-links DIR",
  "too-large":
    'or raise the limit for files (MAX_FILE_SIZE_MB, or "Largest file" in the settings)',
};

/** Directories of package managers, into which the user's links may lead. */
const STORES = ["/nix/store", "/gnu/store"];

/** Describes an error as {@linkcode diagnosticOf} does, and adds the option that helps. */
export function skillDiagnosticOf(
  error: unknown,
  scope?: SkillScope,
): DiagnosticDetails {
  const fault = diagnosticOf(error);
  const target = error instanceof SkillFileError ? error.target : undefined;
  const store = STORES.find((it) => target && isAtOrBelow(target, it));
  const option = store && scope === "global"
    ? `or use --trust-links ${store}`
    : HELPFUL_OPTIONS[fault.rule];
  return option === undefined
    ? fault
    : { ...fault, fix: `${fault.fix}, ${option}` };
}
