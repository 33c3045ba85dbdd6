/**
 * What is wrong with YAML that cannot be parsed, and how to fix it.
 *
 * @module
 */

import { parse as parseYaml } from "jsr:@std/yaml@^1";
import { oneLine } from "../text.ts";

/** Parses YAML. Returns the error if it is malformed. */
export function parseYamlOrError(yaml: string): unknown {
  try {
    return parseYaml(yaml, { schema: "core" });
  } catch (error) {
    return error;
  }
}

/** Whether YAML cannot be repaired entry by entry. */
export function isUnrepairable(error: Error): boolean {
  return isTooDeep(error) ||
    /more than (?:1|one) document/.test(error.message);
}

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
  if (isTooDeep(error)) {
    const reason = "the YAML is nested too deeply";
    const line = yaml.slice(0, yaml.search(/\S/)).split("\n").length;
    return { reason, line, hint: "reduce the nesting" };
  }
  if (/more than (?:1|one) document/.test(error.message)) {
    return findSecondDocument(yaml);
  }
  const [, , place] = /^(.*?) at line (\d+), column \d+/s.exec(error.message) ??
    [];
  const lines = yaml.trimEnd().split("\n");
  // Some parsers report an error in the last line on the line after it.
  const line = Math.min(Number(place ?? 1), lines.length);
  const reason = oneLine(parserMessage(error.message));
  return {
    reason: `the YAML is malformed: ${reason}`,
    line,
    hint: /\bduplicated\b.*\bkey\b/i.test(reason)
      ? "remove one of the duplicate keys"
      : yamlHint(lines[line - 1]!),
  };
}

/** Returns the message of the YAML parser, without the place. */
export function parserMessage(message: string): string {
  const [, reason] = /^(.*?) at line (\d+), column \d+/s.exec(message) ?? [];
  return reason ?? message.split("\n")[0]!;
}

/** Describes the fault that YAML consists of more than one document. */
function findSecondDocument(
  yaml: string,
): { reason: string; line: number; hint: string } {
  const index = yaml.split("\n").findIndex((line, index) =>
    index > 0 && /^(?:---|\.\.\.)(?:\s|$)/.test(line)
  );
  return {
    reason: "there is more than one YAML document",
    line: Math.max(index, 0) + 1,
    hint: "remove this line and everything after it",
  };
}

function yamlHint(line: string): string {
  if (/^\s*\t/.test(line)) return "indent with spaces instead of tabs";
  if (/[:,{-]\s+[@`%&*!|>]/.test(line)) {
    return "put the value that begins with a special character in single quotes";
  }
  return "check the quotes, colons, and indentation of this line and the line before it";
}
