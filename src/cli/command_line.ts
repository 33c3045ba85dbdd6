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
    if (!Object.hasOwn(OPTIONS, token.name)) {
      // In "-list", the parser sees the options -l, -i, -s, and -t.
      const isLong = token.rawName.startsWith("--");
      throw unknownOption(isLong ? token.rawName : args[token.index]!);
    }
    const option: Option = OPTIONS[token.name as keyof typeof OPTIONS];
    checkValue(token, option);
    const { requires = [token.name] } = option;
    if (!requires.some((name) => values[name])) {
      const names = requires.map((name) => `--${name}`).join(" or ");
      throw new UsageError(`--${token.name} requires ${names}`);
    }
    // The case of a choice does not matter.
    if (option.choices) values[token.name] = token.value!.toLowerCase();
  }
  if (positionals.some((word) => word.trim() === "")) {
    throw new UsageError("DIR must not be empty");
  }
  return { values, positionals } as CommandLine;
}

/**
 * Checks whether an option has a value of the right kind.
 *
 * @throws {UsageError} If something is wrong.
 */
function checkValue(
  { name, value, inlineValue }: {
    name: string;
    value?: string | undefined;
    /** Whether the value follows an equals sign. */
    inlineValue?: boolean | undefined;
  },
  { type, choices, expected, isValid }: Option,
): void {
  if (type === "boolean") {
    if (value === undefined) return;
    throw new UsageError(
      `Cannot use --${name} with the value ${quote(value)}: it takes none`,
    );
  }
  const all = choices ? `one of ${choices.join(", ")}` : expected;
  const isMissing = value === undefined || value.trim() === "" ||
    (!inlineValue && /^-(?!\d)/.test(value));
  if (isMissing) throw new UsageError(`--${name} requires ${all}`);
  if (choices?.includes(value.toLowerCase()) ?? isValid?.(value) ?? true) {
    return;
  }
  const near = nearestWords(value, choices ?? []).slice(0, 3);
  const advice = near.length > 0
    ? `did you mean ${near.join(" or ")}?`
    : `expected ${all}`;
  throw new UsageError(`Invalid --${name} ${quote(value)}: ${advice}`);
}

function unknownOption(written: string): UsageError {
  const word = written.replace(/^-+/, "");
  const [near] = nearestWords(word, Object.keys(OPTIONS));
  const advice = near
    ? `: did you mean --${near}?`
    : /^--(?:allow|deny)-/.test(written)
    ? ": write options of Deno before the module"
    : "";
  return new UsageError(`Unknown option ${quote(written)}${advice}`);
}
