/**
 * Parses the command line. One table of options defines the parser, `--help`, and
 * docs/options.md. Error messages suggest corrections.
 */

import { parseArgs } from "node:util";
import { RULES } from "../diagnostics.ts";
import { TOOLSET_NAMES } from "../features/toolsets/toolsets.ts";
import {
  DEFAULT_REFRESH_SECONDS,
  MAX_REFRESH_SECONDS,
} from "../skills/roots.ts";
import { nearestWords, quote } from "../text.ts";
import {
  CLIENT_NAMES,
  OTHER_CLIENTS,
  PROFILE_NAMES,
} from "../views/clients.ts";
import { DEFAULT_TOOLSET } from "../views/options.ts";

/** An option, as `parseArgs` of `node:util` takes it, and its documentation. */
export interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly short?: string;
  /** The placeholder for its value in the help. */
  readonly value?: string;
  readonly help: string;
  /** Whether few people need it, so that the help lists it last. */
  readonly isRare?: boolean;
  /** Its valid values, if there are only a few. */
  readonly choices?: readonly string[];
  /** A description of a valid value. Default: its choices. */
  readonly expected?: string;
  readonly isValid?: (value: string) => boolean;
  readonly requires?: readonly string[];
  /** Options that would have no effect beside it. */
  readonly excludes?: readonly string[];
}

const DIRS = {
  type: "string",
  multiple: true,
  value: "DIR",
  expected: "a folder",
} as const;

/** The options that make the program print something and exit. */
const PRINTING = {
  "list": {
    type: "boolean",
    help:
      "list the skills, their folders, and their problems; with names or words after it, show these skills in full",
  },
  "check": {
    type: "boolean",
    help:
      "check every skill, or only those in DIR, and print how to fix the problems; exit with 1 if there are errors or no skills",
  },
  "strict": {
    type: "boolean",
    help: "with --check: also exit with 1 if there are warnings",
    requires: ["check"],
  },
  "ignore": {
    type: "string",
    multiple: true,
    value: "RULE[:DIR],…",
    isValid: (value) =>
      value.split(",").every((part) =>
        !part.trim().endsWith(":") &&
        Object.hasOwn(RULES, part.replace(/:.*/s, "").trim())
      ),
    expected:
      "the name of a rule, as --check prints it in brackets, with a colon and a folder or without, and commas between several",
    help:
      "with --check: ignore the problems of this rule, everywhere or in DIR; repeatable",
    requires: ["check"],
  },
  "json": {
    type: "boolean",
    help: "print the output of --list or --check as JSON",
    requires: ["list", "check"],
  },
  "as": {
    type: "string",
    excludes: ["check"],
    value: "CLIENT",
    choices: [OTHER_CLIENTS, ...CLIENT_NAMES],
    help:
      `with --list: print what the model sees in this MCP client ("${OTHER_CLIENTS}": in any other client)`,
    requires: ["list"],
  },
  "print-config": {
    type: "string",
    excludes: ["check", "list"],
    value: "CLIENT",
    choices: CLIENT_NAMES,
    help: "print the configuration for an MCP client, and say where to put it",
  },
  "help": { type: "boolean", short: "h", help: "show this help" },
  "version": { type: "boolean", short: "V", help: "show the version" },
} as const satisfies Readonly<Record<string, Option>>;

/** Options of a running server. */
const SERVING = {
  "skill-dir": {
    ...DIRS,
    help: "also search DIR, six levels deep, but not in its skills; repeatable",
  },
  "agents": {
    type: "boolean",
    help: "also search ./.agents/skills and ~/.agents/skills",
  },
  "trust-links": {
    ...DIRS,
    help: "follow links into DIR; repeatable",
  },
  "policy": {
    type: "string",
    value: "FILE",
    expected: "the path of a file",
    help: "apply the rules in this file, which decide who sees which skills",
  },
  "tools": {
    type: "string",
    value: "SET",
    choices: TOOLSET_NAMES,
    help: `which tools the model gets: ${
      TOOLSET_NAMES.join(", ")
    } (default: ${DEFAULT_TOOLSET})`,
  },
  "profile": {
    type: "string",
    value: "NAME",
    choices: PROFILE_NAMES,
    isRare: true,
    help:
      "treat every client like the client NAME (default: recognize each client by the name that it sends)",
  },
  "remote": {
    type: "boolean",
    help:
      "send URIs instead of paths, and run no commands, for clients that cannot open the files of this machine or container",
  },
  "refresh": {
    type: "string",
    value: "SECONDS",
    expected: `a number of seconds from 0 to ${MAX_REFRESH_SECONDS}`,
    isValid: (value) =>
      Number(value) >= 0 && Number(value) <= MAX_REFRESH_SECONDS,
    isRare: true,
    help:
      `scan the folders at least this often; 0 turns the timer off (default: ${DEFAULT_REFRESH_SECONDS})`,
  },
  "no-watch": {
    type: "boolean",
    help: "do not watch or compare the folders; rely on --refresh",
  },
  "log-loads": {
    type: "boolean",
    help:
      "log to stderr each skill that a client loads, with the time and the client",
  },
  "auto-install-deps": {
    type: "boolean",
    isRare: true,
    help:
      'with --tools agentskills: before a shell command that contains "py", install the packages that Python files of the skill import (requires sh and pipreqs)',
  },
} as const satisfies Readonly<Record<string, Option>>;

export const SERVING_OPTIONS = Object.keys(SERVING) as (keyof typeof SERVING)[];

/** All options, in the order of the help. */
export const OPTIONS = { ...PRINTING, ...SERVING } as const;

export const VARIABLES: Readonly<Record<string, string>> = {
  SKILLS_DIR:
    "the folders to search if no DIR is given, separated by commas; --tools skilljack searches them, too, after DIR",
  MAX_FILE_SIZE_MB:
    "the size limit for each file of a skill, in MiB (default: 1)",
  CLAUDE_CONFIG_DIR: "the folder that replaces ~/.claude",
};

/** Returns the first option that makes the program print instead of serve, if any. */
export function findPrintingOption(
  { values }: CommandLine,
): string | undefined {
  return Object.keys(values).find((name) => Object.hasOwn(PRINTING, name));
}

export class UsageError extends Error {
  override name = "UsageError";
}

type Values = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS }>
>["values"];

export interface CommandLine {
  values: { [Name in keyof Values]: Values[Name] | undefined };
  positionals: string[];
}

export function parseCommandLine(args: readonly string[]): CommandLine {
  const { values, positionals } = parse(args);
  for (const [name, value] of Object.entries(values)) {
    const option: Option = OPTIONS[name as keyof typeof OPTIONS];
    for (const text of [value].flat()) {
      if (typeof text === "string") refuseInvalid(name, text, option);
    }
    if (!values.help && !values.version) {
      refuseCombination(name, option, values);
    }
  }
  const empty = positionals.find((word) => /^[\s,]*$/.test(word));
  if (empty !== undefined) {
    throw new UsageError(`Invalid DIR ${quote(empty)}: expected a folder`);
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

/** Replaces a message of `parseArgs` with one that contains the fix. */
function formatParseError(message: string): string {
  const [, unknown] = /^Unknown option '(-[^']*)/.exec(message) ?? [];
  if (unknown !== undefined) {
    const word = unknown.replace(/^-+/, "");
    if (/^(?:allow|deny|no-config|import-map)\b/.test(word)) {
      return `Cannot use ${unknown} after the module: it is an option of Deno; write it before the module, or install or compile the program with it`;
    }
    if (/^(?:host|port)$/.test(word)) {
      return `Cannot use ${unknown}: this program serves on stdin and stdout; serve over HTTP with deno serve (docs/http.md)`;
    }
    const [near] = nearestWords(word, Object.keys(OPTIONS));
    const advice = near === undefined ? "" : `: did you mean --${near}?`;
    return `Unknown option ${quote(unknown)}${advice}`;
  }
  const [, flag] = /^Option '(?:-\w, )?--([\w-]+)' does not/.exec(message) ??
    [];
  if (flag !== undefined) return `--${flag} takes no value: remove it`;
  const [, name] = /'--([\w-]+)(?: <value>)?' argument /.exec(message) ?? [];
  const option: Option | undefined = OPTIONS[name as keyof typeof OPTIONS];
  return option === undefined
    ? message
    : `--${name} requires a value: expected ${expectationOf(option)}`;
}

/** @throws {UsageError} If an option has an invalid value. */
function refuseInvalid(name: string, value: string, option: Option): void {
  const { choices, isValid = () => true } = option;
  const isGiven = value.trim() !== "";
  if (isGiven && (choices?.includes(value) ?? isValid(value))) return;
  const near = nearestWords(value, choices ?? []).slice(0, 3);
  const advice = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `expected ${expectationOf(option)}`;
  throw new UsageError(`Invalid --${name} ${quote(value)}: ${advice}`);
}

function expectationOf({ choices = [], expected }: Option): string {
  return expected ?? `one of ${choices.join(", ")}`;
}

/** @throws {UsageError} If an option needs another one, or excludes one that is there. */
function refuseCombination(
  name: string,
  { requires, excludes = [] }: Option,
  values: CommandLine["values"],
): void {
  const excluded = excludes.find((other) => other in values);
  if (excluded !== undefined) {
    throw new UsageError(
      `--${name} and --${excluded} cannot be combined: use one of them`,
    );
  }
  if (!requires || requires.some((other) => other in values)) return;
  const names = requires.map((other) => `--${other}`).join(" or ");
  throw new UsageError(`--${name} requires ${names}`);
}
