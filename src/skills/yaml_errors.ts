/**
 * Parsing YAML, and what is wrong with YAML that cannot be parsed.
 *
 * @module
 */

import { parse as parseYaml } from "jsr:@std/yaml@^1";
import { isObject, oneLine } from "../text.ts";

/** Parses YAML. Returns the error if it is malformed. */
export function parseYamlOrError(yaml: string): unknown {
  try {
    return parseTexts(yaml) ?? parseYaml(yaml, { schema: "core" });
  } catch (error) {
    return error;
  }
}

/**
 * Parses YAML in which each line is a field with a short name and a text, as in
 * most `SKILL.md` files. The first scan of 1,000 skills takes a tenth less time
 * than with the YAML parser. Returns `undefined` for all other YAML.
 */
function parseTexts(yaml: string): Record<string, string> | undefined {
  const fields: Record<string, string> = {};
  for (const line of yaml.split("\n")) {
    if (line === "") continue;
    const [, key, plain, text = plain] = TEXT_FIELD.exec(line) ?? [];
    const isClear = key !== undefined && !Object.hasOwn(fields, key) &&
      (plain === undefined || !NOT_A_TEXT.test(plain));
    if (!isClear) return undefined;
    fields[key] = text!;
  }
  return Object.keys(fields).length > 0 ? fields : undefined;
}

/** A line with a plain or a quoted text of printable ASCII characters. */
const TEXT_FIELD =
  /^(?!null|true|false)([a-z][a-z-]{0,63}): (?:([A-Za-z][ -~]*)|"([ !#-[\]-~]*)")$/;

/** What makes something else of a plain text. */
const NOT_A_TEXT = /: | #|[ :]$|^(?:null|true|false)$/i;

/** Whether a result of {@linkcode parseYamlOrError} is a mapping. */
export function isMapping(parsed: unknown): parsed is Record<string, unknown> {
  return isObject(parsed) && !(parsed instanceof Error);
}

/** Whether a result of {@linkcode parseYamlOrError} cannot be repaired entry by entry. */
export function isUnrepairable(parsed: unknown): boolean {
  return parsed instanceof Error &&
    (isTooDeep(parsed) || MANY_DOCUMENTS.test(parsed.message));
}

const MANY_DOCUMENTS = /more than (?:1|one) document/;

/** Whether YAML is nested too deeply, for the parser or for the stack. */
function isTooDeep(error: Error): boolean {
  return error instanceof RangeError || /\bmaxDepth\b/.test(error.message);
}

/**
 * Describes an error of the YAML parser.
 *
 * @returns The reason, the number of the line in the YAML, from 1, and the fix.
 */
export function describeYamlError(
  error: Error,
  yaml: string,
): { reason: string; line: number; hint: string } {
  const lines = yaml.trimEnd().split("\n");
  if (isTooDeep(error)) {
    const reason = "the YAML is nested too deeply";
    const line = lines.findIndex((line) => line.trim() !== "") + 1;
    return { reason, line, hint: "reduce the nesting" };
  }
  if (MANY_DOCUMENTS.test(error.message)) {
    const reason = "there is more than one YAML document";
    const index = lines.findIndex((line, index) =>
      index > 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(line)
    );
    const hint = "remove this line and everything after it";
    return { reason, line: Math.max(index, 0) + 1, hint };
  }
  const reason = describeMalformed(error);
  const [, place = 1] = / at line (\d+), column/.exec(error.message) ?? [];
  // Some parsers report an error in the last line on the line after it.
  const line = Math.min(Number(place), lines.length);
  const hint = /\bduplicated\b.*\bkey\b/i.test(reason)
    ? "remove one of the duplicate keys"
    : describeFix(lines[line - 1]!);
  return { reason, line, hint };
}

/** Describes an error of the YAML parser without its place. */
export function describeMalformed({ message }: Error): string {
  const [text] = message.split(/ at line \d+, column \d+|\n/, 1);
  return `the YAML is malformed: ${oneLine(text!)}`;
}

function describeFix(line: string): string {
  if (/^\s*\t/.test(line)) return "indent with spaces instead of tabs";
  if (/[:,{-]\s+[@`%&*!|>]/.test(line)) {
    return "put the value that begins with a special character in single quotes";
  }
  return "check the quotes, colons, and indentation of this line and the line before it";
}
