/**
 * Parses the command line, and says what was probably meant where it is
 * invalid.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type Option, OPTIONS, SERVING_OPTIONS } from "./options.ts";
import { nearestWords, quote } from "../text.ts";

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
  // The strict parser's messages do not say what was probably meant, and it
  // rejects negative numbers.
  const { tokens, values, positionals } = parseArgs({
    args: [...args],
    options: OPTIONS,
    allowPositionals: true,
    strict: false,
    tokens: true,
  });
  for (const token of tokens) {
    if (token.kind !== "option") continue;
    checkOption(token, args);
    // The case of a choice does not matter.
    const { choices }: Option = OPTIONS[token.name as keyof typeof OPTIONS];
    if (choices) values[token.name] = token.value!.toLowerCase();
  }
  const command = { values, positionals } as CommandLine;
  const conflict = findConflict(command);
  if (conflict !== undefined) throw new UsageError(conflict);
  return command;
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
  if (!Object.hasOwn(OPTIONS, name)) throw unknownOption(option, args);
  const { type, choices, expected, isValid }: Option =
    OPTIONS[name as keyof typeof OPTIONS];
  if (type === "boolean") {
    if (value === undefined) return;
    throw new UsageError(
      `Cannot use --${name} with the value ${quote(value)}: it takes none`,
    );
  }
  const all = choices && `one of ${choices.join(", ")}`;
  const isMissing = value === undefined || value.trim() === "" ||
    (!inlineValue && /^-(?!\d)/.test(value));
  if (isMissing) {
    throw new UsageError(`--${name} requires ${all ?? expected}`);
  }
  if (choices?.includes(value.toLowerCase()) ?? isValid?.(value) ?? true) {
    return;
  }
  const near = nearestWords(value, choices ?? []).slice(0, 3);
  const advice = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `expected ${all ?? expected}`;
  throw new UsageError(`Invalid --${name} ${quote(value)}: ${advice}`);
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
    : /^--(?:allow|deny)-/.test(written)
    ? ": write options of Deno before the module"
    : "";
  return new UsageError(`Unknown option ${quote(written)}${advice}`);
}

/** Says which options do not go together, if any. */
function findConflict(
  { values, positionals }: CommandLine,
): string | undefined {
  const { json, list, check, as, url, "print-config": client } = values;
  const report = check ? "--check" : list ? "--list" : undefined;
  if (positionals.some((word) => word.trim() === "")) {
    return "DIR must not be empty";
  }
  if (json && !report) return "--json requires --list or --check";
  if (as && check) return "Cannot combine --as with --check: use --list";
  if (as && !list) return "--as requires --list";
  if (url && !client) return "--url requires --print-config";
  if (client && report) {
    return `Cannot combine --print-config with ${report}: use one of them`;
  }
  const serving = SERVING_OPTIONS.find((name) => values[name] !== undefined);
  if (url && serving) {
    return `Cannot combine --url with --${serving}: set it where that server runs`;
  }
}
