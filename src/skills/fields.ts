/**
 * The fields of the frontmatter. If the parser refuses the whole, each field is read by
 * itself, so that a mistake costs at most the field that it is in.
 */

import { parse } from "jsr:@std/yaml@^1/parse";
import { attempt } from "../attempt.ts";
import { editDistance, isObject, oneLine } from "../text.ts";
import { findConflict, keepFirstVersion } from "./conflicts.ts";

export const REQUIRED_FIELDS = ["name", "description"] as const;

/** The flag that hides a skill from the model if it is not false. */
export const NOT_FOR_MODEL = "disable-model-invocation";

/** The flag that hides a skill from the user if it is not true. */
export const FOR_USER = "user-invocable";

export const FLAGS: readonly string[] = [NOT_FOR_MODEL, FOR_USER];

export const KNOWN_FIELDS: readonly string[] = [
  ...REQUIRED_FIELDS,
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "argument-hint",
  "when_to_use",
  ...FLAGS,
];

type Values = Readonly<Record<string, unknown>>;

/** A field as written: its first line, and the lines below it up to the next field. */
export interface Field {
  /** Empty if the lines are {@linkcode isStray}. */
  readonly key: string;
  /** What separates the key from the value on the first line: a colon, in valid YAML. */
  readonly separator: string;
  readonly value: string;
  readonly line: number;
  readonly lines: readonly string[];
}

/** A field that is not read as it is written. */
export interface RepairedField extends Field {
  /** The lines that are read instead, or `undefined` if the field is left out. */
  readonly corrected?: readonly string[] | undefined;
}

export interface ReadFields {
  readonly values: Values;
  readonly repaired: readonly RepairedField[];
}

/** @throws {SyntaxError} If the YAML is malformed. The message has a line. */
export function parseYaml(
  yaml: string,
  schema: "core" | "failsafe" = "core",
): unknown {
  return parse(yaml, { schema });
}

export function isYaml(text: string): boolean {
  // In a list, because YAML can be null.
  return attempt(() => [parseYaml(text)]) !== undefined;
}

/** Reads the fields, and lists those that are not read as they are written. */
export function readFields(yaml: string): ReadFields {
  const whole = attempt(() => parseYaml(yaml) ?? {});
  const { values, repaired } = isObject(whole)
    ? { values: whole, repaired: [] }
    : readOneByOne(yaml);
  const written = readAsWritten(values, yaml);
  return {
    values: { ...values, ...Object.fromEntries(written.map(toEntry)) },
    repaired: [...repaired, ...written],
  };
}

/** Reads each field by itself. Of fields with the same key, the first one counts. */
function readOneByOne(yaml: string): ReadFields {
  const values = new Map<string, unknown>();
  const hasConflict = findConflict(yaml) !== undefined;
  const repaired: RepairedField[] = hasConflict ? listFields(yaml) : [];
  const readable = hasConflict ? keepFirstVersion(yaml) : yaml;
  for (const field of listFields(readable)) {
    const read = values.has(field.key) ? undefined : readField(field);
    if (!read || read.entries.some(([key]) => values.has(key))) {
      repaired.push(field);
      continue;
    }
    const { corrected, entries } = read;
    if (corrected !== undefined) repaired.push({ ...field, corrected });
    for (const [key, value] of entries) values.set(key, value);
  }
  return { values: Object.fromEntries(values), repaired };
}

/** A way to read a field. */
interface Reading {
  /** Writes its lines, or nothing if this cannot be what is meant. */
  readonly write: (field: Field) => readonly string[] | undefined;
  /** Whether other fields can be in it. They are text of it otherwise. */
  readonly mayHoldFields?: boolean;
  /** Whether its value can be empty. A comment or an anchor is text of it otherwise. */
  readonly mayBeEmpty?: boolean;
}

const AS_WRITTEN: Reading = { write: ({ lines }) => lines, mayBeEmpty: true };

const CORRECTIONS: readonly Reading[] = [
  { write: quoteBelow },
  { write: outdent, mayHoldFields: true },
  { write: quoteText },
];

interface ReadField extends Pick<RepairedField, "corrected"> {
  readonly entries: readonly [string, unknown][];
}

/** Reads a field from the first lines that the parser accepts, if it accepts any. */
function readField(field: Field): ReadField | undefined {
  const corrections = hasAlias(field) ? [] : CORRECTIONS;
  for (const reading of [AS_WRITTEN, ...corrections]) {
    const { write, mayHoldFields = isStray(field), mayBeEmpty } = reading;
    const lines = write(field);
    const read = lines && attempt(() => parseYaml(lines.join("\n")));
    const entries = isObject(read) ? Object.entries(read) : [];
    const isRead = (entries.length === 1 || mayHoldFields) &&
      (mayBeEmpty || entries.every(([, it]) => it !== null));
    if (entries.length > 0 && isRead) {
      return { corrected: reading === AS_WRITTEN ? undefined : lines, entries };
    }
  }
  return undefined;
}

/** Whether a field has an alias or a merge, which mean something only with another field. */
function hasAlias({ lines }: Field): boolean {
  return lines.some((line) => {
    const value = line.replace(/^\s*(?:- +)*(?:[\w.-]+:\s+)?/, "");
    return /^[[{]/.test(value)
      ? /[\s,:[{](?:\*\w|<<\s*:)/.test(value)
      : /^(?:\*[^\s*,#]+\s*(?:#.*)?$|<<\s*:)/.test(value);
  });
}

/** Writes a colon and a space after the key. */
function separate(field: Field): readonly string[] {
  const { key, value, lines } = field;
  const isWritten = isStray(field) || isSeparated(field);
  return isWritten ? lines : [`${key}: ${value}`.trimEnd(), ...lines.slice(1)];
}

/** A line below a field: a list item, or a key and a value. */
const LINE_BELOW = /^(\s*(?:- +)?)((?:[\w.-]+: +)?)(\S.*)$/s;

/** Puts the values on the lines below a key in quotes where the parser refuses them. */
function quoteBelow(field: Field): string[] {
  const [first = "", ...below] = separate(field);
  const quoted = below.map((line) => {
    const [, start = "", key = "", value = ""] = LINE_BELOW.exec(line) ?? [];
    const readable = isYaml(key + value)
      ? value
      : JSON.stringify(unquote(value));
    return start.replaceAll("\t", "  ") + key + readable;
  });
  return [first, ...quoted];
}

/** Takes known fields out of the field above, where they are indented by mistake. */
function outdent(field: Field): string[] | undefined {
  const lines = separate(field).map((line) => line.trim());
  const isKnown = lines.slice(1)
    .some((line) => KNOWN_FIELDS.includes(readStart(line).key));
  return field.value !== "" && isKnown ? lines : undefined;
}

/** The first line of a list or a mapping below a field. */
const NESTED = /^\s*(?:-|(?:[\w.-]+|<<)\s*:)(?:\s|$)/;

/** Puts the text of a field in quotes, on one line. */
export function quoteText(field: Field): string[] | undefined {
  const { key, value, lines: [, ...below] } = field;
  const start = value.replace(/^[>|][-+\d]*(?=\s|$)/, "");
  const isText = value !== "" || !NESTED.test(below[0] ?? "");
  const lines = [start, ...below].map((line) => line.trim());
  const text = unquote(lines.filter((line) => line !== "").join(" "));
  return isStray(field) || oneLine(text) === "" || !isText
    ? undefined
    : [`${key}: ${JSON.stringify(text)}`];
}

/** Takes away the quotation marks around a text. */
function unquote(text: string): string {
  return text.trim().replace(OUTER_QUOTES, "$2$4");
}

/** Quotation marks around a whole value, or an opening one without a closing one. */
const OUTER_QUOTES = /^(["'])(.*)\1$|^(["'])((?:(?!\3).)*)$/s;

/** Reads required fields as text where YAML reads a number or a boolean: `1.10`, not `1.1`. */
function readAsWritten(values: Values, yaml: string): RepairedField[] {
  const scalars = REQUIRED_FIELDS
    .filter((key) => /number|boolean/.test(typeof values[key]));
  if (scalars.length === 0) return [];
  const fields = listFields(yaml);
  return scalars.flatMap((key) => findField(key, fields) ?? [])
    .map((field) => {
      const { key, lines } = field;
      const read = attempt(() => parseYaml(lines.join("\n"), "failsafe"));
      const text = String(isObject(read) ? read[key] : values[key]);
      return { ...field, corrected: [`${key}: ${JSON.stringify(text)}`] };
    });
}

/** Returns the key and the text of a field that is read from one line. */
export function toEntry({ corrected }: RepairedField): [string, string] {
  const read = parseYaml(corrected![0]!) as Record<string, string>;
  return Object.entries(read)[0]!;
}

/** What can be before a key: tags and anchors, quotes, bullets, and blanks. */
const BEFORE_KEY = /^(?:[!&]\S*\s|[\s"'`?*-])+/;

/** Whether a line that cannot be read for sure begins with this key. */
export function mayHaveField(key: string, lines: readonly string[]): boolean {
  return lines
    .some((line) => line.replace(BEFORE_KEY, "").startsWith(key));
}

/** Whether lines belong to no field. */
export function isStray({ key }: Pick<Field, "key">): boolean {
  return key === "";
}

export function findField(
  key: string,
  fields: readonly Field[],
): Field | undefined {
  return fields.find((field) => field.key === key);
}

/** A line that is empty for YAML. */
const BLANK = /^\s*(?:#.*)?$/;

/** What begins no field, and yet is no text of the one above. */
const NO_TEXT = /^(?:---|\.\.\.|[?:]\s|<<)/;

/** Lists the fields at the top level, even where they are not YAML. */
export function listFields(yaml: string): Field[] {
  const fields: (Field & { lines: string[] })[] = [];
  for (const [index, text] of yaml.split("\n").entries()) {
    const start = readStart(text);
    const last = fields.at(-1);
    const isBelowStray = last !== undefined && isStray(last);
    const isInBrackets = isBelowStray && /^[[{]/.test(last.lines[0]!);
    const continues = isStray(start) && (isBelowStray || !NO_TEXT.test(text));
    if (last && (continues || isInBrackets)) last.lines.push(text);
    else if (!BLANK.test(text)) {
      fields.push({ ...start, line: index + 1, lines: [text] });
    }
  }
  for (const { lines } of fields) {
    while (BLANK.test(lines.at(-1)!)) lines.pop();
  }
  return fields;
}

const START = /^(["'`]?)([A-Za-z_][\w.-]*)\1[ \t]*([:=\uff1a]\s*|$)(.*)$/s;

/** Reads the first line of a field. Without a colon and a space, its key must be known. */
function readStart(text: string): Pick<Field, "key" | "separator" | "value"> {
  const [, , key = "", separator = "", value = ""] =
    START.exec(text.trimEnd()) ?? [];
  const start = { key, separator, value };
  const isField = isSeparated(start) || meantField(key) !== undefined;
  return isField ? start : { key: "", separator: "", value: "" };
}

/** Whether a colon and a space follow the key, as YAML requires. */
export function isSeparated(
  { separator, value }: Pick<Field, "separator" | "value">,
): boolean {
  return /^:[ \t]/.test(separator) || (separator === ":" && value === "");
}

/** Returns the known field that a key means: its letters differ by at most one. */
export function meantField(key: string): string | undefined {
  const lettersOf = (text: string) => text.toLowerCase().replace(/[-_ ]/g, "");
  return KNOWN_FIELDS.find((field) => field === key) ??
    KNOWN_FIELDS.find((field) =>
      editDistance(lettersOf(key), lettersOf(field), 1) <= 1
    );
}
