/**
 * The options of the command line, and the parser, which says what was probably meant
 * where the command line is invalid. The table of options drives `--help` and
 * docs/options.md, too.
 */

import { parseArgs } from "node:util";
import { DEFAULT_REFRESH_SECONDS } from "../skills/roots.ts";
import { nearestWords, quote } from "../text.ts";
import { CLIENT_NAMES, OTHER_CLIENTS, PROFILE_NAMES } from "../mcp/clients.ts";
import { DEFAULT_DESCRIPTION_LIMIT } from "../mcp/lists.ts";
import { DEFAULT_SHELL_TIMEOUT } from "../mcp/toolsets/shell.ts";
import { TOOLSET_NAMES } from "../mcp/toolsets/toolsets.ts";

/** An option, with what `parseArgs` of `node:util` needs to know about it. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly short?: string;
  /** The placeholder of its value in the help. */
  readonly value?: string;
  readonly help: string;
  /** The only values that it accepts. */
  readonly choices?: readonly string[];
  /** A description of a valid value, if there are no choices. */
  readonly expected?: string;
  readonly isValid?: (value: string) => boolean;
  /** The options that it goes with. One of them must be given. */
  readonly requires?: readonly string[];
}

/** The minimum length limit, in characters. It suffices to say what a tool does. */
const MIN_DESCRIPTION_LIMIT = 300;

/** The longest interval that a timer supports, in seconds. */
const MAX_SECONDS = 2_000_000;

/** The maximum size of files, in MiB: what hosts accept of a skill in total. */
export const MAX_FILE_MIB = 16;

/** Converts a valid number of MiB to bytes. */
export function parseMebibytes(value: string | undefined): number | undefined {
  const mebibytes = Number(value);
  const size = Math.round(mebibytes * 1024 * 1024);
  return size >= 1 && mebibytes <= MAX_FILE_MIB ? size : undefined;
}

const DIRS = {
  type: "string",
  multiple: true,
  value: "DIR",
  expected: "a folder",
} as const;

function seconds(min: number) {
  return {
    type: "string",
    value: "SECONDS",
    expected: `a number of seconds from ${min} to ${MAX_SECONDS}`,
    isValid: (value: string) =>
      Number(value) >= min && Number(value) <= MAX_SECONDS,
  } as const;
}

/** The options that affect a running server. */
const SERVING = {
  "skill-dir": {
    ...DIRS,
    help: "also search DIR and its subfolders; repeatable",
  },
  "recursive": {
    type: "boolean",
    help: "search the subfolders of all folders, as --skill-dir does",
  },
  "agents": {
    type: "boolean",
    help: "also search ./.agents/skills and ~/.agents/skills",
  },
  "trust-links": {
    ...DIRS,
    help: "allow links into DIR; repeatable",
  },
  "tools": {
    type: "string",
    value: "SET",
    choices: TOOLSET_NAMES,
    help: `toolset: ${
      TOOLSET_NAMES.join(", ")
    } (default: skill); skilljack is that of Skilljack 0.5; newer versions call its tool load-skill`,
  },
  "profile": {
    type: "string",
    value: "NAME",
    choices: PROFILE_NAMES,
    help: `give every client what this one gets: ${
      PROFILE_NAMES.join(", ")
    } (default: by its name)`,
  },
  "policy": {
    type: "string",
    value: "FILE",
    expected: "the path of a file",
    help: "file with rules for which skills to serve, and how prominently",
  },
  "max-file-size": {
    type: "string",
    value: "MIB",
    expected: `a number of MiB greater than 0, up to ${MAX_FILE_MIB}`,
    isValid: (value) => parseMebibytes(value) !== undefined,
    help: "size limit for files, up to 16 (default: 1)",
  },
  "description-limit": {
    type: "string",
    value: "CHARS",
    expected:
      `a number of characters of at least ${MIN_DESCRIPTION_LIMIT}, or 0 for no limit`,
    isValid: (value) =>
      Number.isSafeInteger(Number(value)) &&
      (Number(value) === 0 || Number(value) >= MIN_DESCRIPTION_LIMIT),
    help:
      `length limit for the list of skills that the model sees, at least ${MIN_DESCRIPTION_LIMIT}; 0 for none (default: what the client shows, at most ${DEFAULT_DESCRIPTION_LIMIT})`,
  },
  "refresh": {
    ...seconds(0),
    help:
      `scan at least every SECONDS, 0 for no timer (default: ${DEFAULT_REFRESH_SECONDS})`,
  },
  "no-watch": {
    type: "boolean",
    help: "rely on --refresh instead of watching folders",
  },
  "shell-timeout": {
    ...seconds(0.1),
    help: `time limit for shell commands (default: ${DEFAULT_SHELL_TIMEOUT})`,
  },
  "remote": {
    type: "boolean",
    help:
      "give clients URIs instead of paths, and run no commands, because their tools cannot open files here, as in a container",
  },
  "log-loads": {
    type: "boolean",
    help:
      "log a line to stderr for each skill that a client loads, with the time and the client",
  },
  "auto-install-deps": {
    type: "boolean",
    help:
      'before a shell command that contains "py", install the packages that Python files import (requires sh and pipreqs)',
  },
} as const satisfies Readonly<Record<string, Option>>;

/** The options that a server has, in the order of the help. */
export const SERVING_OPTIONS = Object.keys(SERVING) as (keyof typeof SERVING)[];

/** All options: those of a server, and those that ask for something else. */
export const OPTIONS = {
  ...SERVING,
  "list": { type: "boolean", help: "list the skills and where they come from" },
  "check": {
    type: "boolean",
    help:
      "check every skill, or only those given as DIR (folders, files of skills, or names of skills), and print what to fix; exit with 1 if there are errors or no skills",
  },
  "strict": {
    type: "boolean",
    help: "with --check: also exit with 1 if there are warnings",
    requires: ["check"],
  },
  "json": {
    type: "boolean",
    help: "print the output of --list or --check as JSON",
    requires: ["list", "check"],
  },
  "as": {
    type: "string",
    value: "CLIENT",
    choices: [OTHER_CLIENTS, ...CLIENT_NAMES],
    help:
      `with --list: print what the model sees in an MCP client, or, with the name ${OTHER_CLIENTS}, in an unknown one`,
    requires: ["list"],
  },
  "print-config": {
    type: "string",
    value: "CLIENT",
    choices: CLIENT_NAMES,
    help: "print the configuration for an MCP client",
  },
  "help": { type: "boolean", short: "h", help: "show the help" },
  "version": { type: "boolean", short: "V", help: "show the version" },
} as const satisfies Readonly<Record<string, Option>>;

/** Returns the first option that asks for something other than a server, if there is one. */
export function findTerminalOption(
  { values }: CommandLine,
): string | undefined {
  return Object.keys(values).find((name) => !Object.hasOwn(SERVING, name));
}

/** Thrown for an invalid command line or an invalid environment variable. */
export class UsageError extends Error {}

type Values = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS }>
>["values"];

export interface CommandLine {
  values: { [Name in keyof Values]: Values[Name] | undefined };
  positionals: string[];
}

/** @throws {UsageError} If the command line is invalid. */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  for (const [name, value] of Object.entries(values)) {
    const option: Option = OPTIONS[name as keyof typeof OPTIONS];
    const texts = [value].flat().filter((it) => typeof it === "string");
    for (const text of texts) {
      const advice = findValueAdvice(text, option);
      if (advice === undefined) continue;
      throw new UsageError(`Invalid --${name} ${quote(text)}: ${advice}`);
    }
    const { requires } = option;
    if (requires && !requires.some((other) => other in values)) {
      const names = requires.map((other) => `--${other}`).join(" or ");
      throw new UsageError(`--${name} requires ${names}`);
    }
  }
  if (positionals.some((word) => word.trim() === "")) {
    throw new UsageError('Invalid DIR "": expected a folder');
  }
  return { values, positionals };
}

function parse(args: readonly string[]): CommandLine {
  try {
    return parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
    });
  } catch (error) {
    throw new UsageError(formatParseError((error as Error).message));
  }
}

function formatParseError(message: string): string {
  const [, unknown] = /^Unknown option '(-[^']*)/.exec(message) ?? [];
  if (unknown !== undefined) {
    const word = unknown.replace(/^-+/, "");
    const [near] = nearestWords(word, Object.keys(OPTIONS));
    const advice = near === undefined ? "" : `: did you mean --${near}?`;
    return `Unknown option ${quote(unknown)}${advice}`;
  }
  const [, flag] = /^Option '--([\w-]+)' does not/.exec(message) ?? [];
  if (flag !== undefined) return `--${flag} takes no value: remove it`;
  const [, name] = /'--([\w-]+)(?: <value>)?' argument /.exec(message) ?? [];
  const option: Option | undefined = OPTIONS[name as keyof typeof OPTIONS];
  return option === undefined
    ? message
    : `--${name} requires a value: expected ${expectationOf(option)}`;
}

function findValueAdvice(value: string, option: Option): string | undefined {
  const { choices, isValid = () => true } = option;
  const isGiven = value.trim() !== "";
  if (isGiven && (choices?.includes(value) ?? isValid(value))) return undefined;
  const near = nearestWords(value, choices ?? []).slice(0, 3);
  if (near.length > 0) return `did you mean ${near.join(" or ")}?`;
  return `expected ${expectationOf(option)}`;
}

function expectationOf({ choices, expected }: Option): string {
  return choices ? `one of ${choices.join(", ")}` : String(expected);
}
