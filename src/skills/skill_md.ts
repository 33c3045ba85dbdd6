/**
 * Reads a `SKILL.md`: the YAML between two lines `---`, which must have a name and a
 * description. One sentence says why a file is skipped. `src/check/explain.ts` says
 * more.
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
const MAX_NAME_LENGTH = 200;

/** What a `SKILL.md` says. */
export interface SkillMd {
  /** The fields as they are served. If there are none, the file is skipped. */
  readonly frontmatter?: SkillFrontmatter | undefined;
  /** The clean name, or what looks like the name in a file that is skipped. */
  readonly name?: string | undefined;
  /** The beginning of its instructions. */
  readonly excerpt: string;
  /** Whether its frontmatter could be read only after a repair. */
  readonly isRepaired: boolean;
  readonly isHiddenFromModel: boolean;
  readonly isHiddenFromUser: boolean;
  /** Why the file is skipped, or which value was repaired. */
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
  if (head === undefined) return skip(NOT_UTF_8);
  const [frontmatter] = FRONTMATTER.exec(head) ?? [];
  if (frontmatter === undefined) return skip(NO_FRONTMATTER, head);
  // A string keeps the text that it was cut from in memory. This leaves out the rest.
  const end = encoder.encode(frontmatter).length;
  const yaml = findYaml(decoder.decode(bytes.subarray(0, end)))!;
  const { fields, diagnostic } = readFields(yaml);
  if (fields === undefined) return skip(diagnostic!, frontmatter);
  const hiding = readFlags(fields);
  const refusal = findRefusal(fields, yaml);
  if (refusal !== undefined) {
    return { ...skip(refusal, frontmatter), ...hiding };
  }
  return {
    frontmatter: fields as SkillFrontmatter,
    name: cleanName(fields.name as string),
    excerpt: decoder.decode(bytes.subarray(end, end + EXCERPT_SIZE)),
    isRepaired: diagnostic !== undefined,
    ...hiding,
    diagnostic,
  };
}

/**
 * The lines `---` and the YAML between them, which begins with a line break, so that
 * its lines have the numbers of the file.
 */
const FRONTMATTER =
  /^\ufeff?---[ \t]*(?=[\r\n])([^]*?[\r\n])---[ \t]*(?=[\r\n]|$)/;

/** Returns the YAML at the beginning of a text, with line feeds. */
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

/** Reads the fields, and says which value had to be repaired, or why they cannot be read. */
export function readFields(
  yaml: string,
): { fields?: Record<string, unknown>; diagnostic?: DiagnosticDetails } {
  try {
    return takeScalars(toFields(parseYaml(yaml)), yaml);
  } catch (error) {
    const quoted = quoteRefusedLines(yaml);
    const fields = attempt(() => toFields(parseYaml(quoted)));
    if (fields === undefined) {
      return { diagnostic: toYamlDiagnostic(error as Error) };
    }
    const others = quoted.split("\n");
    const index = yaml.split("\n").findIndex((line, at) => line !== others[at]);
    const diagnostic = needsQuotes(others[index]!.split(":", 1)[0]!, index + 1);
    return { fields: takeScalars(fields, quoted).fields, diagnostic };
  }
}

function toFields(parsed: unknown): Record<string, unknown> {
  return isObject(parsed) ? parsed : {};
}

/** Takes a name or a description as it is written where YAML reads a number or a boolean. */
function takeScalars(
  fields: Record<string, unknown>,
  yaml: string,
): { fields: Record<string, unknown>; diagnostic?: DiagnosticDetails } {
  const [first, ...others] = REQUIRED_FIELDS
    .filter((field) => /number|boolean/.test(typeof fields[field]));
  if (first === undefined) return { fields };
  const written = attempt(() => toFields(parseYaml(yaml, "failsafe"))) ?? {};
  const taken = [first, ...others]
    .map((field) => [field, String(written[field] ?? fields[field])]);
  return {
    fields: { ...fields, ...Object.fromEntries(taken) },
    diagnostic: needsQuotes(first, lineOf(first, yaml)),
  };
}

/** The fields that every skill has. */
export const REQUIRED_FIELDS = ["name", "description"] as const;

/**
 * The repair: puts each value in quotes that is on one line at the top level, and that
 * the parser refuses by itself, as it does if the value has a colon and a space.
 */
function quoteRefusedLines(yaml: string): string {
  const lines = yaml.split("\n");
  return lines.map((line, index) => {
    const goesOn = /^[ \t]+\S/.test(lines[index + 1] ?? "");
    return goesOn ? line : quoteRefused(line) ?? line;
  }).join("\n");
}

/** Puts a value in quotes if it is on one line, and the parser refuses the line by itself. */
export function quoteRefused(line: string): string | undefined {
  const [, key, value] = /^([\w-]+):[ \t]+(\S.*)$/.exec(line.trimEnd()) ?? [];
  if (value === undefined || attempt(() => [parseYaml(line)])) return undefined;
  return `${key}: ${JSON.stringify(value.replace(OUTER_QUOTES, "$2$4"))}`;
}

/** Quotation marks around a whole text, or one at its start that nothing closes. */
const OUTER_QUOTES = /^(["'])(.*)\1$|^(["'])((?:(?!\3).)*)$/;

/** Returns the line on which a field begins, or else the first one. */
function lineOf(field: string, yaml: string): number {
  const lines = yaml.split("\n");
  return 1 + Math.max(0, lines.findIndex((it) => it.startsWith(`${field}:`)));
}

/** Says why the fields cannot be those of a skill, if they cannot. */
function findRefusal(
  fields: Readonly<Record<string, unknown>>,
  yaml: string,
): DiagnosticDetails | undefined {
  const missing = REQUIRED_FIELDS.find((field) => !isText(fields[field]));
  if (missing !== undefined) {
    return {
      rule: `${missing}-missing`,
      line: lineOf(missing, yaml),
      reason: `the field ${quote(missing)} is missing, or is not a text`,
      fix: `write a line with "${missing}:" and a text in quotes`,
    };
  }
  // Cleaning empties a name that is far too long.
  const name = cleanName(fields.name as string);
  const reason = name === "" || name.length > MAX_NAME_LENGTH
    ? `the name has more than ${MAX_NAME_LENGTH} characters`
    : isScoped(name)
    ? 'the name begins with "project:" or "global:", which say whose a skill is'
    : undefined;
  return reason === undefined ? undefined : {
    rule: "name-malformed",
    line: lineOf("name", yaml),
    reason,
    fix: "write another name",
  };
}

function isText(value: unknown): value is string {
  return typeof value === "string" && oneLine(value) !== "";
}

const YES = /^(?:true|yes|on)$/i;
const NO = /^(?:false|no|off)$/i;

/** Reads the two flags. A value that is neither true nor false hides the skill. */
function readFlags(
  fields: Readonly<Record<string, unknown>>,
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

/** @param text The beginning of the file, in which its name may be readable. */
function skip(diagnostic: DiagnosticDetails, text = ""): SkillMd {
  const [, written = ""] = /^name:(.*)$/m.exec(text) ?? [];
  const name = oneLine(written).replace(/^(["'])(.*)\1$/, "$2");
  return {
    name: name === "" || name.length > MAX_NAME_LENGTH ? undefined : name,
    excerpt: "",
    isRepaired: false,
    isHiddenFromModel: false,
    isHiddenFromUser: false,
    diagnostic,
  };
}

const NOT_UTF_8: DiagnosticDetails = {
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

function needsQuotes(field: string, line: number): DiagnosticDetails {
  return {
    rule: "yaml-repaired",
    line,
    reason: `the value of ${quote(field)} needs quotes`,
    fix: "put it in quotes, because other programs cannot read it",
  };
}

/** Says what the parser says, whose lines are those of the file. */
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
