/**
 * The frontmatter of a `SKILL.md`.
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @module
 */

import { type FencedText, findFences, isFence } from "./frontmatter_fences.ts";
import { hasRequiredFields, repairFrontmatter } from "./frontmatter_faults.ts";
import { parseYamlOrError } from "./yaml_errors.ts";
import { isMapping } from "./yaml_repair.ts";
import { oneLine } from "../text.ts";
import type { SkillFrontmatter, SkillSyntaxFault } from "./types.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 64 * 1024;

/** Thrown when the frontmatter of a `SKILL.md` is missing or invalid. */
export class SkillSyntaxError extends SyntaxError {
  /** What is wrong. */
  readonly reason: string;
  /** The number of the line, from 1. */
  readonly line: number;
  /** How to fix it. If there is a second line, it is the text to write. */
  readonly hint: string;
  /** The ID of the rule in `docs/check.md`. */
  readonly kind: string;
  /** The other faults of the frontmatter. */
  readonly others: readonly SkillSyntaxFault[];

  /** Creates an error from the first fault and the others. */
  constructor(
    { reason, line, hint, kind }: SkillSyntaxFault,
    others: readonly SkillSyntaxFault[] = [],
  ) {
    super(oneLine(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`));
    this.name = "SkillSyntaxError";
    this.reason = reason;
    this.line = line;
    this.hint = hint;
    this.kind = kind;
    this.others = others;
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
  const { faults, frontmatter } = inspectSkillMd(text);
  const [fault, ...others] = faults;
  if (fault !== undefined) throw new SkillSyntaxError(fault, others);
  return frontmatter as SkillFrontmatter;
}

/** What can be said about a `SKILL.md`, even if it is not valid. */
export interface InspectedSkillMd extends FencedText {
  /** The fields that are valid or were repaired. */
  readonly frontmatter: Partial<SkillFrontmatter>;
}

/** Finds the frontmatter and the faults of a `SKILL.md`, and repairs what it can. */
export function inspectSkillMd(text: string): InspectedSkillMd {
  const fenced = splitSkillMd(text);
  if (fenced.yaml === undefined) return { ...fenced, frontmatter: {} };
  const value = parseYamlOrError(fenced.yaml);
  if (isMapping(value) && hasRequiredFields(value)) {
    return { ...fenced, frontmatter: value };
  }
  const { faults, ...repaired } = repairFrontmatter(fenced.yaml, value);
  return { ...fenced, ...repaired, faults: [...fenced.faults, ...faults] };
}

/** Splits a `SKILL.md` into the YAML of its frontmatter and the Markdown after it. */
function splitSkillMd(text: string): FencedText {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const opening = findLineEnd(text, start);
  if (!isFence(text.slice(start, opening))) return findFences(text);
  let line = opening + 1;
  while (line < text.length && line <= MAX_FRONTMATTER_SIZE) {
    const end = findLineEnd(text, line);
    if (isFence(text.slice(line, end)) && !isTooLarge(text, end)) {
      // With the line break before it, the lines have the numbers of the file.
      const yaml = text.slice(opening, line);
      return { faults: [], yaml, body: text.slice(end + 1) };
    }
    line = end + 1;
  }
  return isTooLarge(text, text.length)
    ? { faults: [TOO_LARGE], yaml: undefined, body: undefined }
    : findFences(text);
}

const TOO_LARGE: SkillSyntaxFault = {
  kind: "frontmatter-size",
  reason: "the frontmatter does not end within 64 KiB",
  line: 1,
  hint: 'end it with a line "---", and move long texts to the body',
};

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

/**
 * Returns the number of the line on which a field of the frontmatter starts. The
 * YAML has the line numbers of the file.
 */
export function findFieldLine(field: string, yaml: string): number {
  const keys = yaml.split("\n").map((line) => {
    const [key] = line.split(":", 1);
    return key!.trimEnd().replace(/^["']|["']$/g, "");
  });
  // All fields have the same indentation as the first.
  const [, indentation = ""] = /^( *)[^\s#]/m.exec(yaml) ?? [];
  const index = keys.indexOf(indentation + field);
  return index === -1 ? 2 : index + 1;
}
