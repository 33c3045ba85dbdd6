/**
 * Explains why the reader skipped or repaired a `SKILL.md`: at which line, and what to
 * write there.
 */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails, Rule } from "../diagnostics.ts";
import { basename, dirname } from "../fs/paths.ts";
import { MAX_NAME_LENGTH, validName } from "../skills/limits.ts";
import {
  findYaml,
  HEAD_SIZE,
  isText,
  parseYaml,
  quoteRefused,
  readFields,
  REQUIRED_FIELDS,
} from "../skills/skill_md.ts";
import { isObject, oneLine, quote } from "../text.ts";
import { explainEncoding, explainStart } from "./beginning.ts";
import {
  type Details,
  explainMisspelling,
  type Field,
  findField,
  fixBy,
  isSeparated,
  KNOWN_FIELDS,
  listFields,
  locateField,
  meantField,
  plainText,
  writeField,
} from "./fields.ts";

/** A `SKILL.md` that the reader skipped or repaired. */
interface BrokenFile {
  readonly diagnostic: DiagnosticDetails;
  /** The name of its directory. */
  readonly dir: string;
  /** Its beginning. */
  readonly text: string;
  readonly yaml: string;
  readonly fields: readonly Field[];
}

/** Explains diagnostics of the reader. The fields that an explanation returns replace theirs. */
const EXPLANATIONS: Partial<
  Record<Rule, (file: BrokenFile) => Partial<DiagnosticDetails>[]>
> = {
  "utf-8": ({ text }) => [explainEncoding(text)],
  "frontmatter-missing": ({ text }) => explainStart(text),
  "name-missing": explainFields,
  "description-missing": explainFields,
  "name-malformed": explainName,
  "yaml": explainYaml,
  "yaml-repaired": explainYaml,
};

/** Returns what to report instead of the reader's diagnostic of a file with these bytes. */
export function explain(
  diagnostic: DiagnosticDetails,
  file: string,
  bytes: Uint8Array,
): DiagnosticDetails[] {
  const text = new TextDecoder().decode(bytes.subarray(0, HEAD_SIZE));
  const yaml = findYaml(text) ?? "";
  const found = EXPLANATIONS[diagnostic.rule]?.({
    diagnostic,
    dir: basename(dirname(file)),
    text,
    yaml,
    fields: listFields(yaml),
  }) ?? [];
  return found.length === 0
    ? [diagnostic]
    : found.map((it) => ({ ...diagnostic, ...it }));
}

/** Lists all required fields that are missing, misspelled, or not text. */
function explainFields(file: BrokenFile): DiagnosticDetails[] {
  const read = attempt(() => readFields(file.yaml).fields) ?? {};
  const missing = REQUIRED_FIELDS.filter((name) => !isText(read[name]));
  const fieldOf = (name: string) =>
    file.fields.find(({ key }) => meantField(key) === name);
  const absent = missing.filter((name) => fieldOf(name) === undefined);
  const written = missing.flatMap((name): DiagnosticDetails[] => {
    const field = fieldOf(name);
    if (field === undefined) return [];
    const found = field.key === name
      ? explainField(field)
      : [explainMisspelling(field, name)];
    return found.map((it) => ({ rule: `${name}-missing`, ...it }));
  });
  return absent.length > 0
    ? [explainAbsent(absent, file), ...written]
    : written;
}

function explainAbsent(
  names: readonly (typeof REQUIRED_FIELDS[number])[],
  { dir, fields }: BrokenFile,
): DiagnosticDetails {
  const starts = names.map((name) => `a line that begins with "${name}:"`);
  const fix = `between the two lines "---", write ${starts.join(" and ")}`;
  // Another line can only be added to fields.
  const name = names[0] === "name" && fields.length > 0
    ? validName(dir)
    : undefined;
  const list = names.map(quote).join(" and ");
  return {
    rule: `${names[0]!}-missing`,
    line: 1,
    reason: names.length === 1
      ? `the field ${list} is missing`
      : `the fields ${list} are missing`,
    fix: name ? `${fix}, such as:\n${writeField("name", name)}` : fix,
  };
}

function explainName({ diagnostic, fields }: BrokenFile): Details[] {
  const name = validName(plainText(findField("name", fields)?.value ?? ""));
  const value = name && name.length <= MAX_NAME_LENGTH ? name : undefined;
  return [locateField({ ...diagnostic, field: "name", value }, fields)];
}

/** Lists what is wrong with repeated fields, and with those that the parser refuses. */
function explainYaml(file: BrokenFile): Details[] {
  const { fields } = file;
  const found = fields.flatMap((field): Details[] => {
    const first = findField(field.key, fields)!;
    if (first !== field) return [explainRepeated(field, first)];
    return isRead(field) ? [] : explainField(field);
  });
  return found.length > 0 ? found : [nameField(file)];
}

function explainRepeated({ key, line }: Field, first: Field): Details {
  const reason = `the field ${quote(key)} is already on line ${first.line}`;
  return { line, reason, fix: `delete line ${first.line} or line ${line}` };
}

/** Whether the parser reads a field by itself, and as text if it is a required one. */
function isRead(field: Field): boolean {
  const read = isSeparated(field) &&
    attempt(() => [parseYaml(field.lines.join("\n"))]);
  if (!read) return false;
  const [fields] = read;
  return !REQUIRED_FIELDS.some((key) => key === field.key) ||
    (isObject(fields) && typeof fields[field.key] === "string");
}

/** The mistakes in how a field is laid out on its lines, or in the lines below the first. */
const LAYOUT_MISTAKES: readonly ((field: Field) => Details[])[] = [
  explainInside,
  explainIndentedField,
  explainTab,
  explainTextBesideMark,
  explainUnindentedText,
];

/** Says what is wrong with a field that the parser refuses, or that is not text. */
function explainField(field: Field): Details[] {
  const mistakes = isRead(field) ? [] : LAYOUT_MISTAKES;
  const found = mistakes.map((explainMistake) => explainMistake(field))
    .find((it) => it.length > 0);
  return found ?? [explainValue(field)];
}

/** Lists the values on the lines below a field that need quotes. */
function explainInside({ lines, line }: Field): Details[] {
  return lines.flatMap((text, index): Details[] => {
    const [, indentation = "", rest = ""] = /^( *(?:- )?)(.*)$/.exec(text) ??
      [];
    const [inner] = index === 0 ? [] : listFields(rest);
    const quoted = inner && quoteRefused(rest);
    if (quoted === undefined) return [];
    const reason = needsQuotes(inner!.key);
    const fix = fixBy(indentation + quoted, "put it in quotes");
    return [{ line: line + index, reason, fix }];
  });
}

/** Finds a known field that is indented, as if it belonged to the field above it. */
function explainIndentedField({ key, line, lines }: Field): Details[] {
  const text = lines.map((it) => it.trim()).join("\n");
  const inner = listFields(text).slice(1)
    .find(({ key }) => KNOWN_FIELDS.includes(key));
  if (inner === undefined) return [];
  const name = quote(inner.key);
  return [{
    line: line + inner.line - 1,
    reason: `the field ${name} is indented, as if it belonged to ${quote(key)}`,
    fix: fixBy(inner.lines[0], "do not indent it"),
  }];
}

function explainTab({ key, line, lines }: Field): Details[] {
  const index = lines.findIndex((it) => /^ *\t\s*\S/.test(it));
  if (index < 0) return [];
  const name = quote(key);
  const reason =
    `this line of the field ${name} is indented with a tab, which YAML forbids`;
  return [{ line: line + index, reason, fix: "indent it with spaces" }];
}

/** Finds text on the same line as `>` or `|`, which begin text on the lines below. */
function explainTextBesideMark({ key, line, value, lines }: Field): Details[] {
  const [, mark = "", text] = /^([>|][-+\d]*)[ \t]+(?!#)(.+)$/.exec(value) ??
    [];
  if (text === undefined) return [];
  const finished = lines.length === 1 ? writeField(key, text) : undefined;
  return [{
    line,
    reason: `the text of ${quote(key)} begins on the same line as ${
      quote(mark)
    }`,
    fix: fixBy(
      finished,
      "write it on the lines below, each indented with two spaces",
    ),
  }];
}

/** Finds a line that continues the text of a field without indentation. */
function explainUnindentedText({ key, line, value, lines }: Field): Details[] {
  const continues = value === "" ? /^(?![\s#]|- )./ : /^[^\s#]/;
  const index = lines.findIndex((it, at) => at > 0 && continues.test(it));
  if (index < 0) return [];
  const reason = `the text of ${
    quote(key)
  } continues on this line, which is not indented`;
  const fix = "indent each line of the text with two spaces";
  return [{ line: line + index, reason, fix }];
}

/** Describes a value on the first line of its field, and writes that line if possible. */
function explainValue(field: Field): Details {
  const { key, line, value, lines } = field;
  const text = oneLine(plainText(value));
  const finished = lines.length > 1 || text === ""
    ? undefined
    : writeField(key, key === "name" ? validName(text) ?? text : text);
  const otherwise = `write text in quotes after "${key}:", on one line`;
  return { line, reason: reasonFor(field), fix: fixBy(finished, otherwise) };
}

/** Says what is wrong with the first line of a field. */
function reasonFor(field: Field): string {
  const { key, value, lines } = field;
  const name = quote(key);
  if (!isSeparated(field)) return `there is no colon and space after ${name}`;
  if (oneLine(plainText(value)) === "") {
    const state = lines.length === 1 ? "is empty" : "is not text";
    return `the field ${name} ${state}`;
  }
  return /^["']/.test(value)
    ? `the quotation marks around ${name} do not match`
    : needsQuotes(key);
}

function needsQuotes(key: string): string {
  return `the value of ${quote(key)} needs quotes`;
}

/** Adds the field to what the parser says, which knows only lines. */
function nameField({ diagnostic, fields }: BrokenFile): Details {
  const { line = 1, reason } = diagnostic;
  const at = fields.findLast((field) => field.line <= line);
  if (at === undefined) return diagnostic;
  const where = `in or after the field ${quote(at.key)}`;
  return { ...diagnostic, reason: `${reason} (${where})` };
}
