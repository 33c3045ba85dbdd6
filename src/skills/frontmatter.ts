/**
 * The frontmatter of a `SKILL.md`.
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @module
 */

import { parse as parseYaml } from "jsr:@std/yaml@^1";
import { oneLine, quote } from "../text.ts";
import type { SkillFrontmatter } from "./types.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 64 * 1024;

/** Thrown when the frontmatter of a `SKILL.md` is missing or invalid. */
export class SkillSyntaxError extends SyntaxError {
  /** What is wrong. */
  readonly reason: string;
  /** The number of the line, from 1. */
  readonly line: number;
  /** How to fix it. */
  readonly hint: string;

  /** Creates an error from the reason, the line number, and the fix. */
  constructor(reason: string, line: number, hint: string) {
    super(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`);
    this.name = "SkillSyntaxError";
    this.reason = reason;
    this.line = line;
    this.hint = hint;
  }
}

/**
 * Parses the frontmatter of a `SKILL.md`: a YAML mapping between two `---`
 * lines, the first of which is the file's first line. A byte order mark, spaces
 * after the dashes, and CRLF are allowed. `name` and `description` must be
 * non-empty strings. Dates stay strings, as in YAML's core schema.
 *
 * ```ts
 * import { parseSkillMd } from "@skill-server/skill-server";
 *
 * const { name } = parseSkillMd("---\nname: pdf\ndescription: Fill forms\n---\n");
 * if (name !== "pdf") throw new Error(name);
 * ```
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @param text The text of a `SKILL.md`.
 * @returns The frontmatter, verbatim.
 * @throws {SkillSyntaxError} If the frontmatter is missing, invalid, or larger
 *   than 64 KiB.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const { yaml } = splitSkillMd(text);
  const value = parseMapping(yaml);
  for (const field of ["name", "description"]) {
    requireString(value, { field, yaml });
  }
  return value as SkillFrontmatter;
}

/**
 * Splits a `SKILL.md` into the YAML of its frontmatter and the Markdown after it.
 *
 * @throws {SkillSyntaxError} If the first line is not `---`, or if the
 *   frontmatter does not end within 64 KiB.
 */
export function splitSkillMd(text: string): { yaml: string; body: string } {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const opening = findLineEnd(text, start);
  if (!isFence(text.slice(start, opening))) {
    throw new SkillSyntaxError(
      "there is no frontmatter",
      1,
      'start the file with a line "---", followed by the lines "name: …", "description: …", and "---"',
    );
  }
  let line = opening + 1;
  while (line < text.length && line <= MAX_FRONTMATTER_SIZE) {
    const end = findLineEnd(text, line);
    if (isFence(text.slice(line, end)) && !isTooLarge(text, end)) {
      const yaml = text.slice(opening + 1, line);
      return { yaml, body: text.slice(end + 1) };
    }
    line = end + 1;
  }
  if (isTooLarge(text, text.length)) {
    throw new SkillSyntaxError(
      "the frontmatter does not end within 64 KiB",
      1,
      'end it with a line "---", and move long texts to the body',
    );
  }
  throw new SkillSyntaxError(
    "the frontmatter does not end",
    1,
    'end it with a line "---" before the Markdown',
  );
}

/** Whether the first `end` characters exceed the maximum size of the frontmatter. */
function isTooLarge(text: string, end: number): boolean {
  if (end * 3 <= MAX_FRONTMATTER_SIZE) return false;
  return new TextEncoder().encode(text.slice(0, end)).length >
    MAX_FRONTMATTER_SIZE;
}

/** Returns the index at which the line that starts at `start` ends. */
function findLineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

/** Whether a line starts or ends frontmatter. */
export function isFence(line: string): boolean {
  return /^---[ \t]*\r?$/.test(line);
}

function parseMapping(yaml: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseYaml(yaml, { schema: "core" });
  } catch (error) {
    const { reason, line, hint } = describeYamlError(error as Error, yaml);
    throw new SkillSyntaxError(reason, line + 1, hint);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SkillSyntaxError(
      "the frontmatter is not a YAML mapping",
      2,
      'write "name: …" and "description: …" on lines of their own',
    );
  }
  return value as Record<string, unknown>;
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
  if (error instanceof RangeError) {
    const reason = "the YAML is nested too deeply";
    return { reason, line: 1, hint: "reduce the nesting" };
  }
  if (/more than (?:1|one) document/.test(error.message)) {
    return findSecondDocument(yaml);
  }
  const match = /^(.*?) at line (\d+), column \d+/s.exec(error.message);
  const reason = oneLine(match?.[1] ?? error.message.split("\n")[0]!);
  const lines = yaml.trimEnd().split("\n");
  // Some parsers report an error in the last line on the line after it.
  const line = Math.min(Number(match?.[2] ?? 1), lines.length);
  return {
    reason: `the YAML is malformed: ${reason}`,
    line,
    hint: /\bduplicated\b.*\bkey\b/i.test(reason)
      ? "remove one of the duplicate keys"
      : yamlHint(lines[line - 1]!),
  };
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
  if (/^\s*[\w-]+:\s+[^"'|>\s].*(:\s|\s#|:$)/.test(line)) {
    return 'put the value in double quotes, because it contains ": " or " #"';
  }
  if (/^\s*[\w-]+:\s+[@`%&*!{}[\]>|"'-]/.test(line)) {
    return QUOTE_VALUE;
  }
  if (/[{,]\s*[\w-]+:\s+[*&!@`%]/.test(line)) return QUOTE_VALUE;
  return "check the quotes, colons, and indentation of this line and the line before it";
}

const QUOTE_VALUE =
  "put the whole value in double quotes, because its first character is special in YAML";

function requireString(
  frontmatter: Record<string, unknown>,
  { field, yaml }: { field: string; yaml: string },
): void {
  const value = frontmatter[field];
  if (typeof value === "string" && hasVisibleText(value)) return;
  if (!Object.hasOwn(frontmatter, field)) {
    const similar = Object.keys(frontmatter).find((key) =>
      key.toLowerCase() === field
    );
    throw new SkillSyntaxError(
      `the field ${quote(field)} is missing`,
      similar ? findFieldLine(similar, yaml) : 1,
      similar
        ? `write ${quote(similar)} in lowercase`
        : `add a line "${field}: …" to the frontmatter`,
    );
  }
  const isEmpty = value === null || typeof value === "string";
  throw new SkillSyntaxError(
    `the field ${quote(field)} is ${isEmpty ? "empty" : "not a string"}`,
    findFieldLine(field, yaml),
    isEmpty ? `add a value after "${field}:"` : "put its value in quotes",
  );
}

function hasVisibleText(text: string): boolean {
  return /[!-~]/.test(text) || oneLine(text) !== "";
}

/** Returns the number of the line in `SKILL.md` on which a field of the frontmatter starts. */
export function findFieldLine(field: string, yaml: string): number {
  const keys = yaml.split("\n").map((line) => {
    const [key] = line.split(":", 1);
    return key!.trimEnd().replace(/^["']|["']$/g, "");
  });
  // All fields have the same indentation as the first.
  const [, indentation = ""] = /^( *)[^\s#]/m.exec(yaml) ?? [];
  const index = keys.indexOf(indentation + field);
  return Math.max(index, 0) + 2;
}
