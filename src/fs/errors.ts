/** Errors of files and directories, and their diagnostics. */

import type { Diagnostic, DiagnosticDetails, Rule } from "../diagnostics.ts";
import { oneLine, quoteSent, truncate } from "../text.ts";

/** Thrown when the server cannot read a file or directory of a skill, or a root. */
export class SkillFileError extends Error {
  /** What is wrong. */
  readonly reason: string;
  /** How to fix it. */
  readonly fix: string;
  /** The ID of the rule in `docs/check.md`. */
  readonly rule: Rule;
  /** Creates an error about a path. */
  constructor(
    path: string,
    { rule, reason, fix }: Pick<Diagnostic, "rule" | "reason" | "fix">,
  ) {
    super(`Cannot read ${quoteSent(path)}: ${reason}; ${fix}`);
    this.name = "SkillFileError";
    this.reason = reason;
    this.fix = fix;
    this.rule = rule;
  }
}

/** For a file that does not exist or does not belong to the skill. */
export const NOT_THERE: DiagnosticDetails = {
  rule: "file-missing",
  reason: "the skill serves no such file",
  fix:
    "pass the path of a file relative to the skill's folder, with the same capital letters",
};

/** For a path such as `../git/SKILL.md`, whether or not it exists. */
export const LEADS_OUT: DiagnosticDetails = {
  rule: "file-missing",
  reason: "the path leads outside the skill, which serves only its own files",
  fix:
    "pass the path of a file in the skill, or load another skill by its name",
};

export const LINK_OUTSIDE: DiagnosticDetails = {
  rule: "link-outside",
  reason:
    "it is a link that points outside its skill, or to a hidden file or folder",
  fix: "replace it with the file itself",
};

const LINK_TO_NOTHING: DiagnosticDetails = {
  rule: "link-broken",
  reason: "it is a link to a missing file or folder",
  fix: "fix or remove the link",
};

const LINK_TO_INVALID_NAME: DiagnosticDetails = {
  rule: "link-broken",
  reason: "it leads to a file or folder whose name is not valid UTF-8",
  fix: "rename that, or remove the link",
};

export const IS_A_DIR: DiagnosticDetails = {
  rule: "not-a-file",
  reason: "it is a folder",
  fix: "pass the path of a file",
};

export const NOT_A_FILE: DiagnosticDetails = {
  rule: "not-a-file",
  reason: "it is not a regular file",
  fix: "replace it with a regular file",
};

const NOT_ALLOWED: DiagnosticDetails = {
  rule: "permission",
  reason: "Deno is not allowed to read it",
  fix: Deno.build.standalone
    ? "compile the executable with it among the folders of --allow-read"
    : "add it to the folders of --allow-read (network folders and devices need --allow-all)",
};

const NO_PERMISSION: DiagnosticDetails = {
  rule: "permission",
  reason: "you have no permission to read it",
  fix:
    "grant yourself read permission (on macOS, in System Settings > Privacy & Security), or leave it out",
};

export function diagnosticOf(error: unknown): DiagnosticDetails {
  if (error instanceof SkillFileError) {
    const { rule, reason, fix } = error;
    return { rule, reason, fix };
  }
  if (isOneOf(error, ["NotCapable"])) return NOT_ALLOWED;
  if (isOneOf(error, ["PermissionDenied", "EACCES", "EPERM"])) {
    return NO_PERMISSION;
  }
  if (isOneOf(error, [INVALID_NAME])) return LINK_TO_INVALID_NAME;
  if (isAbsence(error)) return LINK_TO_NOTHING;
  if (!isSystemError(error)) return unexpected(error);
  return {
    rule: "inaccessible",
    reason: `the operating system cannot read it (${formatSystemError(error)})`,
    fix: fixFor(error),
  };
}

function fixFor(error: unknown): string {
  if (isOneOf(error, [ONLY_IN_CLOUD])) {
    return "download it, because it may be only in the cloud";
  }
  return isTemporary(error)
    ? "try again, or check the disk or network that holds it"
    : "replace it with a readable file or folder";
}

/** Matches the first word that can begin a path. Paths must stay on this machine. */
const PATH = /(?<!\S)\S*["\\/]/;

/** For an error that only a defect of the server can cause. */
export function unexpected(error: unknown): DiagnosticDetails {
  const [words = ""] = oneLine(String(error)).split(PATH, 1);
  return {
    rule: "inaccessible",
    reason: `the server failed (${truncate(words.trimEnd(), 200)})`,
    fix: "report this line to the maintainers of skill-server",
  };
}

type SystemError = Error & { readonly code?: string };

function isSystemError(error: unknown): error is SystemError {
  return error instanceof Error &&
    ("code" in error || OS_ERROR.test(error.message));
}

const OS_ERROR = /^.*?\(os error \d+\)/;

/** Describes an error of the operating system without its path. */
function formatSystemError(
  { message, name, code = name }: SystemError,
): string {
  const [described = code] = OS_ERROR.exec(message) ?? [];
  return oneLine(described);
}

/** How Deno fails if a real path is not valid UTF-8. The message has that path. */
const INVALID_NAME = "InvalidData";

const ABSENCE = [
  "NotFound",
  "NotADirectory",
  "FilesystemLoop",
  "ENOENT",
  "ENOTDIR",
  "ELOOP",
  // No name on the disk can be this long.
  "ENAMETOOLONG",
  INVALID_NAME,
];

/** Whether an error means that a path leads to nothing that the server can name. */
export function isAbsence(error: unknown): boolean {
  return isOneOf(error, ABSENCE) || isNulInPath(error);
}

function isNulInPath(error: unknown): boolean {
  return error instanceof TypeError &&
    isOneOf(error, ["EINVAL", "ERR_INVALID_ARG_VALUE"]);
}

/** What a read fails with if iCloud or OneDrive keeps the content elsewhere. */
const ONLY_IN_CLOUD = "EDEADLK";

const TEMPORARY =
  "EDEADLK EIO EMFILE ENFILE ENOMEM EAGAIN EBUSY EINTR ESTALE ETIMEDOUT EHOSTDOWN EHOSTUNREACH ENETDOWN ENOTCONN"
    .split(" ");

/** Whether an error is temporary, such as too many open files or an unreachable disk. */
export function isTemporary(error: unknown): boolean {
  return isOneOf(error, TEMPORARY);
}

/** The numbers of temporary errors on each system. For most of these, Deno has no codes. */
const CODES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  linux: {
    5: "EIO",
    23: "ENFILE",
    35: ONLY_IN_CLOUD,
    100: "ENETDOWN",
    112: "EHOSTDOWN",
    116: "ESTALE",
  },
  darwin: {
    5: "EIO",
    11: ONLY_IN_CLOUD,
    23: "ENFILE",
    50: "ENETDOWN",
    64: "EHOSTDOWN",
    70: "ESTALE",
  },
};

/**
 * Whether the name of an error is one of these, or its code, as set by Deno and
 * `node:fs`, or that of the number in Deno's message.
 */
function isOneOf(error: unknown, ids: readonly string[]): boolean {
  const { name = "", code = "", message = "" } = error as Partial<
    Error & { code: string }
  >;
  const [, number = 0] = /^[^"':]*\(os error (\d+)\)/.exec(message) ?? [];
  const known = CODES[Deno.build.os]?.[+number] ?? "";
  return [name, code, known].some((id) => ids.includes(id));
}

/** For a file that is larger than a limit in bytes. */
export function tooLarge(maxFileSize: number): DiagnosticDetails {
  return {
    rule: "too-large",
    reason: `it is larger than ${+(maxFileSize / 1024 / 1024).toFixed(3)} MiB`,
    fix: "make it smaller",
  };
}
