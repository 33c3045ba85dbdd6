/**
 * Parses the command line, and says what was probably meant where it is
 * invalid.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { type Option, OPTIONS } from "./options.ts";
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
  const { values, positionals } = parse(args);
  const checked: Record<string, unknown> = values;
  for (const [name, value] of Object.entries(values)) {
    const option: Option = OPTIONS[name as keyof typeof OPTIONS];
    for (const text of [value].flat()) {
      if (typeof text === "string") checkValue(text, { name, option });
    }
    const { choices, requires = [name] } = option;
    if (!requires.some((other) => checked[other])) {
      const names = requires.map((other) => `--${other}`).join(" or ");
      throw new UsageError(`--${name} requires ${names}`);
    }
    // The case of a choice does not matter.
    if (choices) checked[name] = String(value).toLowerCase();
  }
  if (positionals.some((word) => word.trim() === "")) {
    throw new UsageError("DIR must not be empty");
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
    const { message } = error as Error;
    const [, written, word] = /^Unknown option '(-+([^']*))/.exec(message) ??
      [];
    if (written === undefined) throw new UsageError(message);
    const [near] = nearestWords(word!, Object.keys(OPTIONS));
    const advice = near ? `: did you mean --${near}?` : "";
    throw new UsageError(`Unknown option ${quote(written)}${advice}`);
  }
}

/**
 * Checks the value of an option.
 *
 * @throws {UsageError} If it is not of the right kind.
 */
function checkValue(
  value: string,
  { name, option }: { name: string; option: Option },
): void {
  const { choices, expected, isValid = (value) => value.trim() !== "" } =
    option;
  const isKnown = choices?.includes(value.toLowerCase()) ?? isValid(value);
  if (isKnown) return;
  const near = nearestWords(value, choices ?? []).slice(0, 3);
  const advice = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `expected ${choices ? `one of ${choices.join(", ")}` : expected}`;
  throw new UsageError(`Invalid --${name} ${quote(value)}: ${advice}`);
}
