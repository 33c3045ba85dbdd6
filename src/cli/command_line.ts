/**
 * Parses the command line, and says what was probably meant where it is
 * invalid.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { CLIENT_NAMES } from "./clients.ts";
import { nearestWords, quote } from "../text.ts";
import { OTHER_CLIENTS } from "../views/client_profiles.ts";
import { TOOLSET_NAMES } from "../views/toolsets.ts";

/** An option, in the form that `parseArgs` of `node:util` expects, and what its value must be. */
interface Option {
  readonly type: "string" | "boolean";
  readonly multiple?: boolean;
  readonly short?: string;
  /** The only values that it accepts. */
  readonly choices?: readonly string[];
  /** What its value is, if there are no choices. */
  readonly value?: string;
  /** Which of these values it accepts. */
  readonly range?: string;
  readonly isInRange?: (value: string) => boolean;
}

/** The minimum length limit, in characters. It leaves room to say what a tool does. */
export const MIN_DESCRIPTION_LIMIT = 300;

/** The longest interval that a timer supports, in seconds. */
const MAX_SECONDS = 2_000_000;

const FLAG = { type: "boolean" } as const;
const FOLDERS = { type: "string", multiple: true, value: "a folder" } as const;

function seconds(min: number) {
  return {
    type: "string",
    value: "a number of seconds",
    range: `from ${min} to ${MAX_SECONDS}`,
    isInRange: (value: string) =>
      Number(value) >= min && Number(value) <= MAX_SECONDS,
  } as const;
}

/** Converts a number of megabytes to bytes, if it is valid. */
export function parseMegabytes(value: string | undefined): number | undefined {
  const size = Math.round(Number(value) * 1024 * 1024);
  return size >= 1 && Number.isSafeInteger(size) ? size : undefined;
}

/** The options that affect a running server. */
const SERVING = {
  "tools": { type: "string", choices: TOOLSET_NAMES },
  "skill-dir": FOLDERS,
  "agents": FLAG,
  "policy": { type: "string", value: "the path of a file" },
  "name-only": FOLDERS,
  "trust-links": FOLDERS,
  "max-file-size": {
    type: "string",
    value: "a number of megabytes",
    range: "greater than 0",
    isInRange: (value) => parseMegabytes(value) !== undefined,
  },
  "description-limit": {
    type: "string",
    value: "a number of characters",
    range: `of at least ${MIN_DESCRIPTION_LIMIT}, or 0 for no limit`,
    isInRange: (value) =>
      Number.isSafeInteger(Number(value)) &&
      (Number(value) === 0 || Number(value) >= MIN_DESCRIPTION_LIMIT),
  },
  "refresh": seconds(0),
  "no-watch": FLAG,
  "shell-timeout": seconds(0.1),
  "auto-install-deps": FLAG,
} as const satisfies Readonly<Record<string, Option>>;

export const SERVING_OPTIONS = Object.keys(SERVING) as (keyof typeof SERVING)[];

/** All options. The others do something else than serve, or say how to do it. */
export const OPTIONS = {
  ...SERVING,
  "list": FLAG,
  "check": FLAG,
  "json": FLAG,
  "as": { type: "string", choices: [OTHER_CLIENTS, ...CLIENT_NAMES] },
  "print-config": { type: "string", choices: CLIENT_NAMES },
  "link": FLAG,
  "url": {
    type: "string",
    value: "a URL such as https://skills.example.com/mcp",
    isInRange: (value) => /^https?:$/.test(URL.parse(value)?.protocol ?? ""),
  },
  "help": { type: "boolean", short: "h" },
  "version": { type: "boolean", short: "V" },
} as const satisfies Readonly<Record<string, Option>>;

type OptionName = keyof typeof OPTIONS;

/** Thrown for an invalid command line or an invalid environment variable. */
export class UsageError extends Error {}

/** A parsed command line. */
export type CommandLine = ReturnType<
  typeof parseArgs<{ options: typeof OPTIONS; allowPositionals: true }>
>;

/**
 * Parses the command line.
 *
 * @throws {UsageError} If it is invalid.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const given = withoutSeparator(args);
  // The strict parser's messages do not say what was probably meant, and it
  // rejects negative numbers.
  const { tokens, values, positionals } = parseArgs({
    args: given,
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind === "option") checkOption(token, given);
  }
  const command = { values, positionals } as CommandLine;
  const conflict = findConflict(command.values);
  if (conflict !== undefined) throw new UsageError(conflict);
  return command;
}

/** Drops a leading "--" before an option. Task runners require it to pass options on. */
function withoutSeparator(args: readonly string[]): string[] {
  const [, name = ""] = /^--([\w-]+)/.exec(args[1] ?? "") ?? [];
  return args.slice(args[0] === "--" && isOption(name) ? 1 : 0);
}

function isOption(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

/** An option as it was written. */
interface WrittenOption {
  readonly name: string;
  readonly rawName: string;
  readonly value?: string | undefined;
  /** Whether the value follows an equals sign. */
  readonly inlineValue?: boolean | undefined;
  readonly index: number;
}

/**
 * Checks the name of an option, and whether it has a value of the right kind.
 *
 * @throws {UsageError} If something is wrong.
 */
function checkOption(option: WrittenOption, args: readonly string[]): void {
  const { name, value, inlineValue } = option;
  if (!isOption(name)) throw unknownOption(option, args);
  const expected: Option = OPTIONS[name];
  if (expected.type === "boolean") {
    if (value === undefined) return;
    throw new UsageError(
      `Cannot use --${name} with the value ${quote(value)}: it takes none`,
    );
  }
  const { choices, range = "", isInRange } = expected;
  const isMissing = value === undefined || value.trim() === "" ||
    (!inlineValue && /^-(?!\d)/.test(value));
  if (isMissing) {
    const kind = choices ? `one of ${choices.join(", ")}` : expected.value;
    throw new UsageError(`--${name} requires ${kind}`);
  }
  const advice = choices?.includes(value) === false
    ? suggest(value, choices)
    : isInRange?.(value) === false
    ? `expected ${expected.value} ${range}`.trimEnd()
    : undefined;
  if (advice === undefined) return;
  throw new UsageError(`Invalid --${name} ${quote(value)}: ${advice}`);
}

/** Says which of the values was probably meant, or lists all of them. */
function suggest(value: string, values: readonly string[]): string {
  const near = nearestWords(value, values).slice(0, 3);
  return near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `expected one of ${values.join(", ")}`;
}

function unknownOption(
  { rawName, index }: WrittenOption,
  args: readonly string[],
): UsageError {
  // In "-list", the parser sees the options -l, -i, -s, and -t.
  const written = rawName.startsWith("--") ? rawName : args[index]!;
  const word = written.replace(/^-+/, "");
  const [near] = nearestWords(word, Object.keys(OPTIONS));
  const advice = near
    ? `: did you mean --${near}?`
    : DENO_OPTION.test(written)
    ? ": write options of Deno before the module"
    : "";
  return new UsageError(`Unknown option ${quote(written)}${advice}`);
}

/** The options of `deno run` and `deno serve` that users of the server need. */
const DENO_OPTION =
  /^--(?:(?:allow|deny)-\w+|port|host|parallel|import-map|no-prompt|cached-only|reload)$/;

/** Says which options do not go together, if any. */
function findConflict(values: CommandLine["values"]): string | undefined {
  const { json, list, check, as, url, link, "print-config": client } = values;
  const report = check ? "--check" : list ? "--list" : undefined;
  if (json && !report) return "--json requires --list or --check";
  if (as && check) return "Cannot combine --as with --check: use --list";
  if (as && !list) return "--as requires --list";
  if (url && !client) return "--url requires --print-config";
  if (link && !client) return "--link requires --print-config";
  if (client && report) {
    return `Cannot combine --print-config with ${report}: use one of them`;
  }
}
