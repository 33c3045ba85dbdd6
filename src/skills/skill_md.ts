/**
 * Reads a `SKILL.md`: the YAML between two `---` lines, which must have a name and a
 * description. Its diagnostics are short. `src/check/explain_skill_md.ts` says more.
 */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { oneLine, quote } from "../text.ts";
import { findConflict } from "./conflicts.ts";
import {
  findField,
  FOR_USER,
  listFields,
  mayHaveField,
  NOT_FOR_MODEL,
  type ReadFields,
  readFields,
  REQUIRED_FIELDS,
} from "./fields.ts";
import { cleanName, isScoped } from "./names.ts";
import type { SkillFrontmatter } from "./types.ts";

/** How much of a `SKILL.md` a scan reads, in bytes. The frontmatter must end there. */
export const HEAD_SIZE = 16 * 1024;

/** How much of the instructions is kept for searching, in bytes. */
const EXCERPT_SIZE = 800;

/** The maximum length of a clean name, in characters. */
const MAX_SERVED_NAME_LENGTH = 200;

interface Flags {
  /**
   * Whether flags may be where none can be read: the frontmatter has no end in the head,
   * or the file is not UTF-8.
   */
  readonly hasUnknownFlags: boolean;
  readonly isHiddenFromModel: boolean;
  readonly isHiddenFromUser: boolean;
}

/** A `SKILL.md` that is served. */
export interface ValidSkillMd extends Flags {
  /** The fields as the server serves them. */
  readonly frontmatter: SkillFrontmatter;
  /** The clean name. */
  readonly name: string;
  readonly excerpt: string;
  /** Why a field is not read as it is written, if one is not. */
  readonly diagnostic: DiagnosticDetails | undefined;
}

/** A `SKILL.md` that is not served. */
interface SkippedSkillMd extends Flags {
  readonly frontmatter?: undefined;
  /** What looks like the name. */
  readonly name: string | undefined;
  /** Why the file is skipped. */
  readonly diagnostic: DiagnosticDetails;
}

export type SkillMd = ValidSkillMd | SkippedSkillMd;

/**
 * Parses the frontmatter of a `SKILL.md`: a YAML mapping between two `---`
 * lines, the first of which is the file's first line. A byte order mark, spaces
 * after the dashes, CRLF, and CR are allowed. `name` and `description` must be
 * non-empty strings, and the name at most 200 characters that do not begin with
 * `project:` or `global:`. Dates stay strings, as in YAML's core schema. If the parser
 * refuses the YAML, each field is read by itself, and one that it refuses is read as if
 * it were corrected, or else left out.
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
 * @returns The fields.
 * @throws {SyntaxError} If the frontmatter is missing, invalid, or larger than
 *   16 KiB. The message names the line, and how to fix it.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const read = readSkillMd(encoder.encode(text));
  if (read.frontmatter !== undefined) return read.frontmatter;
  const { reason, line = 1, fix } = read.diagnostic;
  throw new SyntaxError(
    `Cannot parse SKILL.md: ${reason} (line ${line}); ${fix}`,
  );
}

/** Reads a `SKILL.md` from its first {@linkcode HEAD_SIZE} bytes, or more. */
export function readSkillMd(bytes: Uint8Array): SkillMd {
  const head = decodeHead(bytes);
  if (head === undefined) return { ...skip(NOT_UTF_8), hasUnknownFlags: true };
  const [frontmatter] = FRONTMATTER.exec(head) ?? [];
  if (frontmatter === undefined) return skipWithoutFrontmatter(head);
  // V8 would keep the whole head in memory for a slice of it. This decodes only the
  // frontmatter.
  const end = encoder.encode(frontmatter).length;
  const yaml = findYaml(decoder.decode(bytes.subarray(0, end)))!;
  const read = readFields(yaml);
  const flags = { ...readFlags(read), hasUnknownFlags: false };
  const refusal = findRefusal(read, yaml);
  if (refusal) return { ...skip(refusal, frontmatter), ...flags };
  const { values, repaired: [first] } = read;
  return {
    frontmatter: values as SkillFrontmatter,
    name: cleanName(values.name as string),
    excerpt: decoder.decode(bytes.subarray(end, end + EXCERPT_SIZE)),
    ...flags,
    diagnostic: first &&
      { ...REPAIRED, line: first.line, ...findConflict(yaml) },
  };
}

/**
 * The `---` lines and the YAML between them. The YAML begins with a line break, so that
 * its line numbers are those of the file.
 */
const FRONTMATTER =
  /^\ufeff?---[ \t]*(?=[\r\n])([^]*?[\r\n])---[ \t]*(?=[\r\n]|$)/;

/** Returns the YAML of a `SKILL.md`, with line feeds. */
export function findYaml(text: string): string | undefined {
  return FRONTMATTER.exec(text)?.[1]?.replace(/\r\n?/g, "\n");
}

export function withoutFrontmatter(text: string): string {
  return text.replace(FRONTMATTER, "");
}

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes the beginning of a file. Returns `undefined` if it is not UTF-8. */
function decodeHead(bytes: Uint8Array): string | undefined {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  // The end of the head can cut a character in two.
  const stream = bytes.length >= HEAD_SIZE;
  return attempt(() => strict.decode(bytes.subarray(0, HEAD_SIZE), { stream }));
}

/** Returns the line where a field begins, or else the first line. */
function lineOf(key: string, yaml: string): number {
  return findField(key, listFields(yaml))?.line ?? 1;
}

/** Says why these cannot be the fields of a skill, if they cannot. */
function findRefusal(
  { values }: ReadFields,
  yaml: string,
): DiagnosticDetails | undefined {
  const missing = REQUIRED_FIELDS.find((field) => !isText(values[field]));
  if (missing !== undefined) {
    return {
      rule: `${missing}-missing`,
      line: lineOf(missing, yaml),
      reason: `the field ${quote(missing)} is missing or is not text`,
      fix: `write a line with "${missing}:" and text in quotes`,
      ...findConflict(yaml),
    };
  }
  // Cleaning empties a name that is far too long.
  const name = cleanName(values.name as string);
  const reason = name === "" || name.length > MAX_SERVED_NAME_LENGTH
    ? `the name has more than ${MAX_SERVED_NAME_LENGTH} characters`
    : isScoped(name)
    ? 'the name begins with "project:" or "global:", which are reserved for scopes'
    : undefined;
  return reason === undefined ? undefined : {
    rule: "name-malformed",
    line: lineOf("name", yaml),
    reason,
    fix: "write another name",
  };
}

/** Whether a required field has a value that it can have. */
export function isText(value: unknown): value is string {
  return typeof value === "string" && oneLine(value) !== "";
}

const YES = /^(?:true|yes|on)$/i;
const NO = /^(?:false|no|off)$/i;

/** Whether a value of a flag is true or false. */
export function isFlagValue(value: unknown): boolean {
  return typeof value !== "object" &&
    (YES.test(String(value)) || NO.test(String(value)));
}

/** Reads the two flags. One that is not clear, or in a repaired field, hides the skill. */
function readFlags(
  { values, repaired }: ReadFields,
): Omit<Flags, "hasUnknownFlags"> {
  const isShown = (flag: string, shown: RegExp) => {
    const value = values[flag];
    const lines = repaired.flatMap((field) => field.lines);
    return !mayHaveField(flag, lines) && (value === undefined ||
      (typeof value !== "object" && shown.test(String(value))));
  };
  return {
    isHiddenFromModel: !isShown(NOT_FOR_MODEL, NO),
    isHiddenFromUser: !isShown(FOR_USER, YES),
  };
}

function skipWithoutFrontmatter(head: string): SkippedSkillMd {
  const conflict = findConflict(head.replace(/\r\n?/g, "\n"));
  // UTF-16 without a byte order mark has zeros.
  const hasUnknownFlags = conflict !== undefined || /^\s*---|\0/.test(head);
  const isOpen = /^\ufeff?---[ \t]*[\r\n]/.test(head);
  const diagnostic = { ...isOpen ? NO_END : NO_FRONTMATTER, ...conflict };
  const lines = hasUnknownFlags ? head.split(/\r\n?|\n/) : [];
  return {
    ...skip(diagnostic, head),
    hasUnknownFlags,
    isHiddenFromModel: mayHaveField(NOT_FOR_MODEL, lines),
    isHiddenFromUser: mayHaveField(FOR_USER, lines),
  };
}

/** @param text The beginning of the file, which may show its name. */
function skip(diagnostic: DiagnosticDetails, text = ""): SkippedSkillMd {
  return {
    name: findWrittenName(text),
    hasUnknownFlags: false,
    isHiddenFromModel: false,
    isHiddenFromUser: false,
    diagnostic,
  };
}

/** Finds what looks like a name, without the parser, which is slow with a stranger's text. */
export function findWrittenName(text: string): string | undefined {
  const [, written = ""] = /^name:(.*)$/m.exec(text) ?? [];
  const name = oneLine(written).replace(/^(["'])(.*)\1$/, "$2");
  return name === "" || name.length > MAX_SERVED_NAME_LENGTH ? undefined : name;
}

export const NOT_UTF_8: DiagnosticDetails = {
  rule: "utf-8",
  line: 1,
  reason: "the file is not UTF-8",
  fix: 'save it as UTF-8, with "Save as" or "Save with Encoding"',
};

const NO_FRONTMATTER: DiagnosticDetails = {
  rule: "frontmatter-missing",
  line: 1,
  reason:
    'the file does not begin with a line "---", fields, and another line "---"',
  fix:
    'begin the file with a line "---", a line with "name:" and the name of the folder, a line with "description:" and what the skill is for, and another line "---"',
};

export const NO_END: DiagnosticDetails = {
  rule: "frontmatter-missing",
  line: 1,
  reason: `there is no line "---" below the frontmatter, in the first ${
    HEAD_SIZE / 1024
  } KiB`,
  fix: 'write a line "---" below the fields, or shorten them',
};

/** `--check` names each of the fields. */
export const REPAIRED: DiagnosticDetails = {
  rule: "yaml",
  reason: "a field of the frontmatter needs a correction",
  fix: "put its text in quotes, and indent what is below it equally",
};
