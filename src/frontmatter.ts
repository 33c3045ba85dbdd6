// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The frontmatter of a `SKILL.md`.
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @module
 */

import { parse as parseYaml } from "jsr:@std/yaml@^1";
import { oneLine, quote } from "./text.ts";
import type { SkillFrontmatter } from "./types.ts";

/** Largest frontmatter, in bytes, its two `---` lines included. */
export const MAX_FRONTMATTER_SIZE = 64 * 1024;

/** `SKILL.md` cannot be understood. */
export class SkillSyntaxError extends SyntaxError {
  /** What is the matter. */
  readonly reason: string;
  /** The line it is about, from 1. */
  readonly line: number;
  /** How to mend it. */
  readonly hint: string;

  /** Makes an error that tells the reason, the line, and how to mend it. */
  constructor(reason: string, line: number, hint: string) {
    super(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`);
    this.name = "SkillSyntaxError";
    this.reason = reason;
    this.line = line;
    this.hint = hint;
  }
}

/**
 * Reads the frontmatter of a `SKILL.md`: after an optional byte order mark the
 * first line is `---`, a later line `---` closes it (blanks may follow, CRLF is
 * fine), and between them stands a YAML mapping whose `name` and `description`
 * are texts with something in them. Dates stay texts (YAML's core schema).
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
 * @throws {SkillSyntaxError} If there is no such frontmatter, or it is larger than 64 KiB.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const { yaml } = splitSkillMd(text);
  const value = parseMapping(yaml);
  for (const field of ["name", "description"]) {
    requireText(value, { field, yaml });
  }
  return value as SkillFrontmatter;
}

/**
 * Splits a `SKILL.md` into the YAML between its two `---` lines and the Markdown
 * after them.
 * @throws {SkillSyntaxError} If there are no such lines.
 */
export function splitSkillMd(text: string): { yaml: string; body: string } {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const opening = lineEnd(text, start);
  if (!isFence(text.slice(start, opening))) {
    throw new SkillSyntaxError(
      "there is no frontmatter",
      1,
      'make "---" the first line, then name: and description:, then "---" again',
    );
  }
  let line = opening + 1;
  while (line < text.length && line <= MAX_FRONTMATTER_SIZE) {
    const end = lineEnd(text, line);
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
      'close it with a line "---", and move what is long into the body',
    );
  }
  throw new SkillSyntaxError(
    "the frontmatter does not end",
    1,
    'close it with a line "---" before the Markdown begins',
  );
}

/** Whether the first `end` characters are more bytes than a frontmatter may have. */
function isTooLarge(text: string, end: number): boolean {
  if (end * 3 <= MAX_FRONTMATTER_SIZE) return false;
  return new TextEncoder().encode(text.slice(0, end)).length >
    MAX_FRONTMATTER_SIZE;
}

/** Returns where the line that begins at `start` ends. */
function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

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
      'write it as "name: …" and "description: …", a line each',
    );
  }
  return value as Record<string, unknown>;
}

/** Says what an error of the YAML parser means: the reason, the line of the YAML, from 1, and how to fix it. */
export function describeYamlError(
  error: Error,
  yaml: string,
): { reason: string; line: number; hint: string } {
  if (error instanceof RangeError) {
    const reason = "the YAML is nested too deeply";
    return { reason, line: 1, hint: "write it flat" };
  }
  const place = /^(.*?) at line (\d+), column \d+/s.exec(error.message);
  const reason = oneLine(place?.[1] ?? error.message.split("\n")[0]!);
  const lines = yaml.trimEnd().split("\n");
  // Some parsers report a fault in the last line on the line after it.
  const line = Math.min(Number(place?.[2] ?? 1), lines.length);
  return {
    reason: `the YAML is malformed: ${reason}`,
    line,
    hint: yamlHint(lines[line - 1]!),
  };
}

function yamlHint(line: string): string {
  if (/^\s*\t/.test(line)) return "indent with spaces, not with tabs";
  if (/^\s*[\w-]+:\s+[^"'|>\s].*(:\s|\s#|:$)/.test(line)) {
    return 'put the value in double quotes, since it holds ": " or " #"';
  }
  if (/^\s*[\w-]+:\s+[@`%&*!{}[\]>|"'-]/.test(line)) {
    return QUOTE_VALUE;
  }
  if (/[{,]\s*[\w-]+:\s+[*&!@`%]/.test(line)) return QUOTE_VALUE;
  return "check this line and the one before: quotes, colons, indentation";
}

const QUOTE_VALUE =
  "put the whole value in double quotes, since its first character means something in YAML";

function requireText(
  frontmatter: Record<string, unknown>,
  { field, yaml }: { field: string; yaml: string },
): void {
  const value = frontmatter[field];
  if (typeof value === "string" && oneLine(value) !== "") return;
  if (!Object.hasOwn(frontmatter, field)) {
    const similar = Object.keys(frontmatter).find((key) =>
      key.toLowerCase() === field
    );
    throw new SkillSyntaxError(
      `the field ${quote(field)} is missing`,
      similar ? lineOf(similar, yaml) : 1,
      similar
        ? `write ${quote(similar)} in lower case`
        : `add a line "${field}: …" to the frontmatter`,
    );
  }
  const isEmpty = value === null || typeof value === "string";
  throw new SkillSyntaxError(
    `the field ${quote(field)} is ${isEmpty ? "empty" : "not a text"}`,
    lineOf(field, yaml),
    isEmpty ? `write something after "${field}:"` : "put its value in quotes",
  );
}

/**
 * Returns the line of a `SKILL.md` that a field of its frontmatter begins on.
 */
export function lineOf(field: string, yaml: string): number {
  const keys = yaml.split("\n").map((line) => {
    const [key] = line.split(":", 1);
    return key!.trimEnd().replace(/^["']|["']$/g, "");
  });
  // What is indented is a field of another one, or all of them are.
  const [, indentation = ""] = /^( *)[^\s#]/m.exec(yaml) ?? [];
  const index = keys.indexOf(indentation + field);
  return Math.max(index, 0) + 2;
}
