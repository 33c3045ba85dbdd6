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

/** The options, in the form that `parseArgs` of `node:util` expects. */
export const OPTIONS = {
  "tools": { type: "string" },
  "skill-dir": { type: "string", multiple: true },
  "agents": { type: "boolean" },
  "policy": { type: "string" },
  "name-only": { type: "string", multiple: true },
  "trust-links": { type: "string", multiple: true },
  "max-file-size": { type: "string" },
  "description-limit": { type: "string" },
  "refresh": { type: "string" },
  "no-watch": { type: "boolean" },
  "shell-timeout": { type: "string" },
  "auto-install-deps": { type: "boolean" },
  "list": { type: "boolean" },
  "check": { type: "boolean" },
  "json": { type: "boolean" },
  "as": { type: "string" },
  "print-config": { type: "string" },
  "link": { type: "boolean" },
  "url": { type: "string" },
  "help": { type: "boolean", short: "h" },
  "version": { type: "boolean", short: "V" },
} as const;

type OptionName = keyof typeof OPTIONS;

const OPTION_NAMES = Object.keys(OPTIONS) as OptionName[];

/** The options that do something other than serve, or that say how to do it. */
const OTHER_OPTIONS: readonly OptionName[] = [
  ...["list", "check", "json", "as"] as const,
  ...["print-config", "link", "url", "help", "version"] as const,
];

/** The options that affect a running server. */
export const SERVING_OPTIONS: readonly OptionName[] = OPTION_NAMES
  .filter((name) => !OTHER_OPTIONS.includes(name));

/** The values of the options that accept only some. */
const CHOICES: { readonly [Name in OptionName]?: readonly string[] } = {
  "tools": TOOLSET_NAMES,
  "as": [OTHER_CLIENTS, ...CLIENT_NAMES],
  "print-config": CLIENT_NAMES,
};

/** What the other options that take a value require. */
const VALUES: { readonly [Name in OptionName]?: string } = {
  "skill-dir": "a folder",
  "policy": "the path of a file",
  "name-only": "a folder",
  "trust-links": "a folder",
  "max-file-size": "a number of megabytes",
  "description-limit": "a number of characters",
  "refresh": "a number of seconds",
  "shell-timeout": "a number of seconds",
  "url": "a URL such as https://skills.example.com/mcp",
};

/** Thrown for an invalid command line or an invalid environment variable. */
export class UsageError extends Error {}

/** A parsed command line. */
export type CommandLine = ReturnType<typeof parseCommandLine>;

/**
 * Parses the command line.
 *
 * @throws {UsageError} If it is invalid.
 */
export function parseCommandLine(args: readonly string[]) {
  const given = {
    args: withoutSeparator(args),
    options: OPTIONS,
    allowPositionals: true,
  } as const;
  // The strict parser's messages do not say what was probably meant.
  const { tokens } = parseArgs({ ...given, strict: false, tokens: true });
  const options = tokens.filter((token) => token.kind === "option");
  for (const option of options) checkOption(option, given.args);
  const command = parseArgs({
    ...given,
    args: joinNumbers(given.args, options),
  });
  checkCombination(command.values);
  return command;
}

/** Drops a leading "--" before an option. Task runners require it to pass options on. */
function withoutSeparator([first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return [];
  const [, name] = /^--([\w-]+)/.exec(rest[0] ?? "") ?? [];
  const isPassedOn = first === "--" && name !== undefined && isOption(name);
  return isPassedOn ? rest : [first, ...rest];
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
  if (OPTIONS[name].type === "boolean") {
    if (value === undefined) return;
    throw new UsageError(
      `Cannot use --${name} with the value ${quote(value)}: it takes none`,
    );
  }
  const choices = CHOICES[name];
  const isMissing = value === undefined || value.trim() === "" ||
    (!inlineValue && /^-(?!\d)/.test(value));
  if (isMissing) {
    const expected = choices ? `one of ${choices.join(", ")}` : VALUES[name];
    throw new UsageError(`--${name} requires ${expected}`);
  }
  if (choices && !choices.includes(value)) {
    throw new UsageError(
      `Invalid --${name} ${quote(value)}: ${suggest(value, choices)}`,
    );
  }
}

/** Joins each option to its value if that is a negative number, as the strict parser requires. */
function joinNumbers(
  args: readonly string[],
  options: readonly WrittenOption[],
): string[] {
  const joined = [...args];
  for (const { rawName, value, inlineValue, index } of options.toReversed()) {
    if (inlineValue || !value?.startsWith("-")) continue;
    joined.splice(index, 2, `${rawName}=${value}`);
  }
  return joined;
}

/** Says which of the values was probably meant, or lists all of them. */
function suggest(value: string, values: readonly string[]): string {
  const near = nearestWords(value, values).slice(0, 3);
  return near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `expected one of ${values.join(", ")}`;
}

function unknownOption(
  { rawName, name, index }: WrittenOption,
  args: readonly string[],
): UsageError {
  // In "-list", the parser sees the options -l, -i, -s, and -t.
  const isGroup = !rawName.startsWith("--");
  const written = isGroup ? args[index]! : rawName;
  const [near] = nearestWords(
    isGroup ? written.slice(1) : name,
    OPTION_NAMES,
  );
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

/** @throws {UsageError} If options do not go together. */
function checkCombination(
  values: ReturnType<typeof parseArgs<{ options: typeof OPTIONS }>>["values"],
): void {
  const { json, list, check, as, url, link, "print-config": client } = values;
  const report = check ? "--check" : list ? "--list" : undefined;
  if (json && report === undefined) {
    throw new UsageError("--json requires --list or --check");
  }
  if (as !== undefined && check) {
    throw new UsageError("Cannot combine --as with --check: use --list");
  }
  if (as !== undefined && !list) throw new UsageError("--as requires --list");
  if (client === undefined) {
    const name = url !== undefined ? "--url" : link ? "--link" : undefined;
    if (name === undefined) return;
    throw new UsageError(`${name} requires --print-config`);
  }
  if (report !== undefined) {
    throw new UsageError(
      `Cannot combine --print-config with ${report}: use one of them`,
    );
  }
}
