/**
 * What can be wrong with a file or folder, and how to fix it.
 *
 * @module
 */

import { oneLine, quote } from "../text.ts";

/** The maximum number of names in the path of a file. */
export const MAX_FILE_DEPTH = 10;

/** The maximum number of entries that are visited to list the files of a skill. */
export const MAX_WALKED_ENTRIES = 20_000;

/** The maximum number of folders and links that are visited below one root. */
export const MAX_SEARCHED_FOLDERS = 50_000;

/** Thrown when a file of a skill cannot be read. */
export class SkillFileError extends Error {
  /** What is wrong. */
  readonly reason: string;
  /** How to fix it. */
  readonly hint: string;
  /** The kind of fault, if it is known. */
  readonly kind: string | undefined;
  /** Creates an error from the path, the reason, the fix, and the kind of fault. */
  constructor(
    path: string,
    fault: { reason: string; hint: string; kind?: string },
  ) {
    super(`Cannot read ${quote(path)}: ${fault.reason}; ${fault.hint}`);
    this.name = "SkillFileError";
    this.reason = fault.reason;
    this.hint = fault.hint;
    this.kind = fault.kind;
  }
}

/** What is wrong, and how to fix it. */
export interface Fault {
  /** The kind of fault, by which reports can be filtered. */
  readonly kind?: string;
  readonly reason: string;
  readonly hint: string;
}

/** For a file that does not exist, and also for one that does not belong to the skill. */
export const NOT_THERE: Fault = {
  reason: "there is no such file in the skill",
  hint: "pass the path of a file relative to the skill's folder",
};

export const LINK_OUT_OF_SKILL: Fault = {
  kind: "link-outside",
  reason:
    "it is a link that points outside its skill, or to a hidden file or folder",
  hint:
    "replace it with the file itself, or, if you trust the folder DIR that it points into, use --trust-links DIR",
};

export const LINK_BACK: Fault = {
  kind: "link-broken",
  reason: "it is a link to a folder that contains it",
  hint: "remove it",
};

export const LEADS_BACK: Fault = {
  reason: "it contains the link that leads to it",
  hint: "remove the link",
};

export const LINK_TO_NOTHING: Fault = {
  kind: "link-broken",
  reason: "it is a link to a missing file or folder",
  hint: "fix or remove the link",
};

export const LINK_OUT_OF_PROJECT: Fault = {
  kind: "link-outside",
  reason: "it is a link that points outside the project",
  hint:
    "replace it with the folder itself, or, if you trust the folder DIR that it points into, use --trust-links DIR",
};

export const ROOT_OUT_OF_PROJECT: Fault = {
  kind: "link-outside",
  reason: 'it has the scope "project", but it is outside the project folder',
  hint:
    'give the root the scope "global", or pass its project as workingDirectory',
};

export const ROOT_IS_A_FILE: Fault = {
  kind: "not-a-folder",
  reason: "it is a file, where a folder of skills was expected",
  hint:
    "pass the path of a folder; to make the file a skill, move it to a folder of its own as SKILL.md",
};

export const ROOT_IS_A_SKILL: Fault = {
  kind: "root-is-skill",
  reason: "it is a skill itself, where a folder of skills was expected",
  hint: "pass the folder that contains it, or use --skill-dir",
};

export const TOO_MANY_FOLDERS: Fault = {
  kind: "too-many",
  reason: `it has more than ${MAX_SEARCHED_FOLDERS} folders and links`,
  hint: "pass a folder closer to the skills",
};

export const IS_A_FOLDER: Fault = {
  kind: "not-a-file",
  reason: "it is a folder",
  hint: "pass the path of a file",
};

export const SKILL_MD_IS_A_FOLDER: Fault = {
  kind: "not-a-file",
  reason: "it is a folder, where a file was expected",
  hint:
    "move the Markdown file out of it, remove the folder, and give the file its name",
};

export const NOT_A_FILE: Fault = {
  kind: "not-a-file",
  reason: "it is not a regular file",
  hint: "replace it with a regular file",
};

export const WAS_REPLACED: Fault = {
  kind: "changed",
  reason: "it was replaced while it was being read",
  hint: "try again",
};

export const TOO_DEEP: Fault = {
  kind: "too-many",
  reason: `its entries are more than ${MAX_FILE_DEPTH} levels deep`,
  hint: "move them closer to the SKILL.md",
};

export const TOO_MANY_ENTRIES: Fault = {
  kind: "too-many",
  reason:
    `the limit of ${MAX_WALKED_ENTRIES} entries was reached here, and the rest was skipped`,
  hint: "move files that the skill does not need out of it",
};

export const NAME_IS_MISREAD: Fault = {
  reason: "Windows reads its name as something else",
  hint: "rename it",
};

export const NAME_IS_NOT_UTF_8: Fault = {
  kind: "name-encoding",
  reason: "its name is not valid UTF-8, so it cannot be opened",
  hint: "rename it",
};

const ONLY_WITH_ALL: Fault = {
  kind: "permission",
  reason: "Deno reads network folders and devices only with --allow-all",
  hint: "copy it to a local folder",
};

const NOT_ALLOWED: Fault = {
  kind: "permission",
  reason: "Deno is not allowed to read it",
  hint: "add it to the folders of --allow-read",
};

const NO_PERMISSION: Fault = {
  kind: "permission",
  reason: "you have no permission to read it",
  hint: "grant yourself read permission, or remove it",
};

/** Describes an error of the file system and how to fix it. */
export function faultOf(error: unknown): Fault {
  const { NotFound, NotADirectory, FilesystemLoop } = Deno.errors;
  if (error instanceof SkillFileError) {
    const { reason, hint, kind } = error;
    return kind === undefined ? { reason, hint } : { kind, reason, hint };
  }
  if (error instanceof Deno.errors.NotCapable) {
    return error.message.includes("--allow-all") ? ONLY_WITH_ALL : NOT_ALLOWED;
  }
  if (error instanceof Deno.errors.PermissionDenied) return NO_PERMISSION;
  if (error instanceof NotFound || error instanceof NotADirectory) {
    return LINK_TO_NOTHING;
  }
  if (error instanceof FilesystemLoop) {
    return { ...LINK_TO_NOTHING, reason: "it is a link to itself" };
  }
  return {
    reason: `the operating system refuses to read it (${messageOf(error)})`,
    hint: "replace it with a readable file or folder",
  };
}

/** Returns what a function returns, or `undefined` if it throws an error, whatever the reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

/**
 * Whether an error may pass by itself, such as too many open files or a network
 * folder that is out of reach. Errors that say something about the file do not.
 */
export function isPassing(error: unknown): boolean {
  const { NotCapable, PermissionDenied } = Deno.errors;
  return !isAbsence(error) &&
    ![SkillFileError, NotCapable, PermissionDenied]
      .some((type) => error instanceof type);
}

/** Describes an error that may pass, for something that stays as it was. */
export function passingFault(error: unknown): Fault {
  return {
    reason: `it cannot be read for the moment (${
      messageOf(error)
    }), so what was found in it before stays`,
    hint: "the next attempt follows in a second",
  };
}

function messageOf(error: unknown): string {
  return oneLine((error as Error).message);
}

export function tooLarge(size: number, maxFileSize: number): Fault {
  return {
    kind: "too-large",
    reason: `it has ${inMegabytes(size)} MB, and the limit is ${
      inMegabytes(maxFileSize)
    } MB`,
    hint: "make it smaller, or raise --max-file-size",
  };
}

export function moreProblems(count: number): Fault {
  return {
    kind: "too-many",
    reason: `it has ${count} more problems that are not listed`,
    hint: "fix the listed ones first",
  };
}

/** Converts bytes to megabytes as `--max-file-size` counts them, rounded up. */
function inMegabytes(bytes: number): number {
  const size = bytes / 1024 / 1024;
  const digits = size < 0.01 ? 1_000_000 : 100;
  return Math.ceil(size * digits) / digits;
}

/** Whether an error means that a path does not exist. */
export function isAbsence(error: unknown): boolean {
  const { NotFound, NotADirectory, FilesystemLoop } = Deno.errors;
  // A NUL in the path is a TypeError.
  return [NotFound, NotADirectory, FilesystemLoop, TypeError]
    .some((type) => error instanceof type);
}
