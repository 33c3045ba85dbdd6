/**
 * Reads a `SKILL.md`: the YAML between two `---` lines, which must have a name and a
 * description. Its diagnostics are short. `src/check/explain.ts` says more.
 */

import { parse } from "jsr:@std/yaml@^1/parse";
import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { isObject, oneLine, quote } from "../text.ts";
import { cleanName, isScoped } from "./names.ts";
import type { SkillFrontmatter } from "./types.ts";

/** How much of a `SKILL.md` a scan reads, in bytes. The frontmatter must end there. */
export const HEAD_SIZE = 16 * 1024;

/** How much of the instructions is kept for searching, in bytes. */
const EXCERPT_SIZE = 800;

/** The maximum length of a clean name, in characters. */
const MAX_SERVED_NAME_LENGTH = 200;

/** What a `SKILL.md` says. */
export interface SkillMd {
  /** The fields as the server serves them, or `undefined` if it skips the file. */
  readonly frontmatter?: SkillFrontmatter | undefined;
  /** The clean name, or whatever looks like the name in a skipped file. */
  readonly name?: string | undefined;
  /** The beginning of its instructions. */
  readonly excerpt: string;
  /** Whether a value of the frontmatter needs quotes that are not there. */
  readonly isRepaired: boolean;
  /**
   * Whether flags may be where none can be read: the parser refuses the frontmatter, or
   * it has no end in the head, or the file is not UTF-8.
   */
  readonly hasUnknownFlags: boolean;
  readonly isHiddenFromModel: boolean;
  readonly isHiddenFromUser: boolean;
  /** Why the file is skipped or repaired. */
  readonly diagnostic?: DiagnosticDetails | undefined;
}

/**
 * Parses the frontmatter of a `SKILL.md`: a YAML mapping between two `---`
 * lines, the first of which is the file's first line. A byte order mark, spaces
 * after the dashes, CRLF, and CR are allowed. `name` and `description` must be
 * non-empty strings, and the name at most 200 characters that do not begin with
 * `project:` or `global:`. Dates stay strings, as in YAML's core schema. If the parser
 * refuses the YAML, values on one line that it refuses by themselves are read as if
 * they had quotes.
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
 * @throws {SyntaxError} If the frontmatter is missing, invalid, or larger than
 *   16 KiB. The message names the line, and how to fix it.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const { frontmatter, diagnostic } = readSkillMd(encoder.encode(text));
  if (frontmatter !== undefined) return frontmatter;
  const { reason, line = 1, fix } = diagnostic!;
  throw new SyntaxError(
    `Cannot parse SKILL.md: ${reason} (line ${line}); ${fix}`,
  );
}

/** Reads a `SKILL.md` from its first {@linkcode HEAD_SIZE} bytes, or more. */
export function readSkillMd(bytes: Uint8Array): SkillMd {
  const head = decodeHead(bytes);
  if (head === undefined) return { ...skip(NOT_UTF_8), hasUnknownFlags: true };
  const [frontmatter] = FRONTMATTER.exec(head) ?? [];
  if (frontmatter === undefined) {
    // UTF-16 without a byte order mark has zeros.
    const hasUnknownFlags = /^\s*---|\0/.test(head);
    return { ...skip(NO_FRONTMATTER, head), hasUnknownFlags };
  }
  // V8 would keep the whole head in memory for a slice of it. This decodes only the
  // frontmatter.
  const end = encoder.encode(frontmatter).length;
  const yaml = findYaml(decoder.decode(bytes.subarray(0, end)))!;
  try {
    const { fields, isRepaired, isRefused } = readFields(yaml);
    const flags = { ...readFlags(fields), hasUnknownFlags: isRefused };
    const refusal = findRefusal(fields, yaml);
    if (refusal) return { ...skip(refusal, frontmatter), ...flags };
    return {
      frontmatter: fields as SkillFrontmatter,
      name: cleanName(fields.name as string),
      excerpt: decoder.decode(bytes.subarray(end, end + EXCERPT_SIZE)),
      isRepaired,
      ...flags,
      diagnostic: isRepaired ? REPAIRED : undefined,
    };
  } catch (error) {
    const diagnostic = toYamlDiagnostic(error as Error);
    return { ...skip(diagnostic, frontmatter), hasUnknownFlags: true };
  }
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

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Decodes the beginning of a file. Returns `undefined` if it is not UTF-8. */
function decodeHead(bytes: Uint8Array): string | undefined {
  const strict = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  // The end of the head can cut a character in two.
  const stream = bytes.length >= HEAD_SIZE;
  return attempt(() => strict.decode(bytes.subarray(0, HEAD_SIZE), { stream }));
}

/** @throws {SyntaxError} If the YAML is malformed. The message has a line. */
export function parseYaml(
  yaml: string,
  schema: "core" | "failsafe" = "core",
): unknown {
  return parse(yaml, { schema });
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the fields, with quotes around the values that need them.
 *
 * @throws {SyntaxError} If the YAML is malformed even with these quotes.
 */
export function readFields(
  yaml: string,
): { fields: Fields; isRepaired: boolean; isRefused: boolean } {
  const parsed = attempt(() => parseYaml(yaml));
  const isRefused = parsed === undefined;
  const readable = isRefused ? quoteRefusedLines(yaml) : yaml;
  const fields = toFields(isRefused ? parseYaml(readable) : parsed);
  const scalars = REQUIRED_FIELDS
    .filter((field) => /number|boolean/.test(typeof fields[field]));
  return {
    fields: { ...fields, ...takeAsWritten(scalars, fields, readable) },
    isRepaired: isRefused || scalars.length > 0,
    isRefused,
  };
}

function toFields(parsed: unknown): Fields {
  return isObject(parsed) ? parsed : {};
}

/** Returns fields as text where YAML reads a number or a boolean: `1.10`, not `1.1`. */
function takeAsWritten(
  names: readonly string[],
  fields: Fields,
  yaml: string,
): Fields {
  if (names.length === 0) return {};
  const written = attempt(() => toFields(parseYaml(yaml, "failsafe"))) ?? {};
  return Object.fromEntries(
    names.map((name) => [name, String(written[name] ?? fields[name])]),
  );
}

/** The fields that every skill must have. */
export const REQUIRED_FIELDS = ["name", "description"] as const;

/**
 * Puts one-line values at the top level in quotes if the parser refuses them by
 * themselves, such as a value with a colon and a space.
 */
function quoteRefusedLines(yaml: string): string {
  const lines = yaml.split("\n");
  return lines.map((line, index) => {
    const continues = /^[ \t]+\S/.test(lines[index + 1] ?? "");
    return continues ? line : quoteRefused(line) ?? line;
  }).join("\n");
}

/** Puts the value of a line in quotes if the parser refuses the line by itself. */
export function quoteRefused(line: string): string | undefined {
  const [, key, value] = /^([\w-]+):[ \t]+(\S.*)$/.exec(line.trimEnd()) ?? [];
  if (value === undefined || attempt(() => [parseYaml(line)])) return undefined;
  return `${key}: ${JSON.stringify(value.replace(OUTER_QUOTES, "$2$4"))}`;
}

/** Quotation marks around a whole value, or an opening one without a closing one. */
const OUTER_QUOTES = /^(["'])(.*)\1$|^(["'])((?:(?!\3).)*)$/;

/** Returns the line where a field begins, or else the first line. */
function lineOf(field: string, yaml: string): number {
  const lines = yaml.split("\n");
  return 1 + Math.max(0, lines.findIndex((it) => it.startsWith(`${field}:`)));
}

/** Says why these cannot be the fields of a skill, if they cannot. */
function findRefusal(
  fields: Fields,
  yaml: string,
): DiagnosticDetails | undefined {
  const missing = REQUIRED_FIELDS.find((field) => !isText(fields[field]));
  if (missing !== undefined) {
    return {
      rule: `${missing}-missing`,
      line: lineOf(missing, yaml),
      reason: `the field ${quote(missing)} is missing or is not text`,
      fix: `write a line with "${missing}:" and text in quotes`,
    };
  }
  // Cleaning empties a name that is far too long.
  const name = cleanName(fields.name as string);
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

/** Reads the two flags. A value that is neither true nor false hides the skill. */
function readFlags(
  fields: Fields,
): Pick<SkillMd, "isHiddenFromModel" | "isHiddenFromUser"> {
  const isShown = (flag: string, shown: RegExp) => {
    const value = fields[flag];
    return value === undefined ||
      (typeof value !== "object" && shown.test(String(value)));
  };
  return {
    isHiddenFromModel: !isShown("disable-model-invocation", NO),
    isHiddenFromUser: !isShown("user-invocable", YES),
  };
}

/** @param text The beginning of the file, which may show its name. */
function skip(diagnostic: DiagnosticDetails, text = ""): SkillMd {
  const [, written = ""] = /^name:(.*)$/m.exec(text) ?? [];
  const name = oneLine(written).replace(/^(["'])(.*)\1$/, "$2");
  return {
    name: name === "" || name.length > MAX_SERVED_NAME_LENGTH
      ? undefined
      : name,
    excerpt: "",
    isRepaired: false,
    hasUnknownFlags: false,
    isHiddenFromModel: false,
    isHiddenFromUser: false,
    diagnostic,
  };
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

/** `--check` names each of the values. */
export const REPAIRED: DiagnosticDetails = {
  rule: "yaml-repaired",
  reason: "the frontmatter needs quotes around a value",
  fix: "run --check, and write the lines that it prints",
};

/** Returns the parser's message. Its line numbers are those of the file. */
export function toYamlDiagnostic({ message }: Error): DiagnosticDetails {
  const [text = message, line = "1"] = message.split(/ at line (\d+), /, 2);
  return {
    rule: "yaml",
    line: Number(line),
    reason: `the YAML is malformed: ${oneLine(text)}`,
    fix:
      "check the quotes, colons, and indentation of this line and the lines before it; write each value on one line, after its colon",
  };
}
