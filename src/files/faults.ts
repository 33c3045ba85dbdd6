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

/** Thrown when a file of a skill cannot be read. */
export class SkillFileError extends Error {
  /** What is wrong. */
  readonly reason: string;
  /** How to fix it. */
  readonly hint: string;
  /** Creates an error from the path, the reason, and the fix. */
  constructor(path: string, fault: { reason: string; hint: string }) {
    super(`Cannot read ${quote(path)}: ${fault.reason}; ${fault.hint}`);
    this.name = "SkillFileError";
    this.reason = fault.reason;
    this.hint = fault.hint;
  }
}

/** What is wrong, and how to fix it. */
export interface Fault {
  readonly reason: string;
  readonly hint: string;
}

/** For a file that does not exist, and also for one that does not belong to the skill. */
export const NOT_THERE: Fault = {
  reason: "there is no such file in the skill",
  hint: "pass the path of a file relative to the skill's folder",
};

export const LINK_OUT_OF_SKILL: Fault = {
  reason:
    "it is a link that points outside its skill, or to a hidden file or folder",
  hint:
    "replace it with the file itself, or, if you trust the folder DIR that it points into, use --trust-links DIR",
};

export const LINK_BACK: Fault = {
  reason: "it is a link to a folder that contains it",
  hint: "remove it",
};

export const LINK_TO_NOTHING: Fault = {
  reason: "it is a link to a missing file or folder",
  hint: "fix or remove the link",
};

export const LINK_OUT_OF_PROJECT: Fault = {
  reason: "it is a link that points outside the project",
  hint:
    "replace it with the folder itself, or, if you trust the folder DIR that it points into, use --trust-links DIR",
};

export const IS_A_FOLDER: Fault = {
  reason: "it is a folder",
  hint: "pass the path of a file",
};

export const NOT_A_FILE: Fault = {
  reason: "it is not a regular file",
  hint: "replace it with a regular file",
};

export const WAS_REPLACED: Fault = {
  reason: "it was replaced while it was being read",
  hint: "try again",
};

export const TOO_DEEP: Fault = {
  reason: `its entries are more than ${MAX_FILE_DEPTH} levels deep`,
  hint: "move them closer to the SKILL.md",
};

export const TOO_MANY_ENTRIES: Fault = {
  reason:
    `the limit of ${MAX_WALKED_ENTRIES} entries was reached here, and the rest was skipped`,
  hint: "move files that the skill does not need out of it",
};

export const NAME_IS_MISREAD: Fault = {
  reason: "Windows reads its name as something else",
  hint: "rename it",
};

export const NAME_IS_NOT_UTF_8: Fault = {
  reason: "its name is not valid UTF-8, so it cannot be opened",
  hint: "rename it",
};

const ONLY_WITH_ALL: Fault = {
  reason: "Deno reads network folders and devices only with --allow-all",
  hint: "copy it to a local folder",
};

/** Describes an error of the file system and how to fix it. */
export function faultOf(error: unknown): Fault {
  if (error instanceof SkillFileError) {
    const { reason, hint } = error;
    return { reason, hint };
  }
  const { NotFound, NotADirectory } = Deno.errors;
  if (error instanceof NotFound || error instanceof NotADirectory) {
    return LINK_TO_NOTHING;
  }
  if (error instanceof Deno.errors.NotCapable) {
    if (error.message.includes("--allow-all")) return ONLY_WITH_ALL;
    return {
      reason: "Deno is not allowed to read it",
      hint: "add it to the folders of --allow-read",
    };
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return {
      reason: "you have no permission to read it",
      hint: "grant yourself read permission, or remove it",
    };
  }
  if (error instanceof Deno.errors.FilesystemLoop) {
    return {
      reason: "it is a link to itself",
      hint: LINK_TO_NOTHING.hint,
    };
  }
  return {
    reason: `the operating system refuses to read it (${
      oneLine((error as Error).message)
    })`,
    hint: "replace it with a readable file or folder",
  };
}

/**
 * Whether an error may pass by itself, such as too many open files or a network
 * folder that is out of reach. Errors that say something about the file do not.
 */
export function isPassing(error: unknown): boolean {
  const { NotCapable, PermissionDenied } = Deno.errors;
  const isAboutFile = isAbsence(error) || error instanceof SkillFileError ||
    error instanceof NotCapable || error instanceof PermissionDenied;
  return !isAboutFile;
}

/** Describes an error that may pass, for something that stays as it was. */
export function passingFault(error: unknown): Fault {
  return {
    reason: `it cannot be read for the moment (${
      oneLine((error as Error).message)
    }), so what was found in it before stays`,
    hint: "the next attempt follows in a second",
  };
}

export function tooLarge(size: number, maxFileSize: number): Fault {
  return {
    reason: `it has ${size} bytes, and the limit is ${maxFileSize}`,
    hint: "make it smaller, or raise --max-file-size",
  };
}

/** Whether an error means that a path does not exist. */
export function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.FilesystemLoop ||
    error instanceof TypeError; // a NUL in the path
}
