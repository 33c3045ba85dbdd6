/**
 * The frontmatter of a `SKILL.md`.
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @module
 */

import { FENCE, type FencedText, findFences } from "./frontmatter_fences.ts";
import { inspectFrontmatter } from "./frontmatter_faults.ts";
import { oneLine } from "../text.ts";
import type { Problem, SkillFrontmatter } from "./types.ts";

/** The maximum size of the frontmatter in bytes, including its two `---` lines. */
export const MAX_FRONTMATTER_SIZE = 64 * 1024;

/** A problem with the frontmatter of a `SKILL.md`. */
export type SyntaxFault = Required<Omit<Problem, "file">>;

/** Thrown when the frontmatter of a `SKILL.md` is missing or invalid. */
export class SkillSyntaxError extends SyntaxError {
  /** What is wrong. */
  readonly reason: string;
  /** The number of the line, from 1. */
  readonly line: number;
  /** How to fix it. If there is a second line, it is the text to write. */
  readonly hint: string;
  /** The ID of the rule in `docs/check.md`. */
  readonly rule: string;

  /** Creates an error from what is wrong. */
  constructor({ rule, reason, line, hint }: Required<Omit<Problem, "file">>) {
    super(oneLine(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`));
    this.name = "SkillSyntaxError";
    this.reason = reason;
    this.line = line;
    this.hint = hint;
    this.rule = rule;
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
  const [fault] = faults;
  if (fault !== undefined) throw new SkillSyntaxError(fault);
  return frontmatter as SkillFrontmatter;
}

/** What can be said about a `SKILL.md`, even if it is not valid. */
export interface InspectedSkillMd extends FencedText {
  /** The fields that are valid or were repaired. */
  readonly frontmatter: Partial<SkillFrontmatter>;
}

/** Finds the frontmatter and the faults of a `SKILL.md`, and repairs what it can. */
export function inspectSkillMd(text: string): InspectedSkillMd {
  const { faults, ...fenced } = splitSkillMd(text);
  if (fenced.yaml === undefined) return { faults, frontmatter: {} };
  const inspected = inspectFrontmatter(fenced.yaml);
  return { ...fenced, ...inspected, faults: [...faults, ...inspected.faults] };
}

/** Splits a `SKILL.md` into the YAML of its frontmatter and the Markdown after it. */
function splitSkillMd(text: string): FencedText {
  const [frontmatter = text, yaml] = FRONTMATTER.exec(text) ?? [];
  if (OPENING.test(text) && isTooLarge(frontmatter)) {
    return { faults: [TOO_LARGE] };
  }
  if (yaml === undefined) return findFences(text);
  return { faults: [], yaml, body: text.slice(frontmatter.length + 1) };
}

const OPENING = new RegExp(`^\ufeff?${FENCE}`);

/** The YAML begins with a line break, so that its lines have the numbers of the file. */
const FRONTMATTER = new RegExp(
  String.raw`${OPENING.source}(\n(?:[^]*?\n)??)${FENCE}`,
);

function isTooLarge(frontmatter: string): boolean {
  return new TextEncoder().encode(frontmatter).length > MAX_FRONTMATTER_SIZE;
}

const TOO_LARGE: SyntaxFault = {
  rule: "frontmatter-size",
  reason: "the frontmatter does not end within 64 KiB",
  line: 1,
  hint: 'end it with a line "---", and move long texts to the body',
};

// TEMPORARY
export { FENCE };
export interface SkillText {
  readonly frontmatter?: SkillFrontmatter;
  readonly isRepaired: boolean;
  readonly problems: readonly Omit<Problem, "file">[];
  readonly name?: string;
  readonly isHiddenFromModel: boolean;
  readonly isHiddenFromUser: boolean;
}
export function readSkillText(text: string): SkillText {
  const { faults, frontmatter } = inspectSkillMd(text);
  const name = /^name: *(.*)/m.exec(text)?.[1]?.trim().replace(
    /^["']|["']$/g,
    "",
  );
  const isValid = faults.length === 0;
  return {
    ...isValid ? { frontmatter: frontmatter as SkillFrontmatter } : {},
    isRepaired: false,
    problems: faults,
    ...name ? { name } : {},
    isHiddenFromModel: isValid
      ? frontmatter["disable-model-invocation"] === true
      : /^["']?disable-model-invocation["']?\s*:\s*true\b/m.test(text),
    isHiddenFromUser: frontmatter["user-invocable"] === false,
  };
}
