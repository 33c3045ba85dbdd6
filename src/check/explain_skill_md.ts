/** Explains why the reader skipped or repaired a `SKILL.md`, and what to write instead. */

import type { Diagnostic, Rule } from "../diagnostics.ts";
import { basename, dirname } from "../fs/paths.ts";
import { findConflict } from "../skills/conflicts.ts";
import {
  type Field,
  findField,
  isSeparated,
  isStray,
  isYaml,
  listFields,
  meantField,
  quoteText,
  readFields,
  type RepairedField,
  REQUIRED_FIELDS,
  toEntry,
} from "../skills/fields.ts";
import { meantName, validName } from "../skills/limits.ts";
import { findYaml, HEAD_SIZE, isText } from "../skills/skill_md.ts";
import { quote } from "../text.ts";
import { explainEncoding, explainStart } from "./beginning.ts";
import {
  addLine,
  explainMisspelling,
  insteadOf,
  MAX_PER_FILE,
  writeField,
  writeInstead,
} from "./field_lines.ts";

/** Returns what to report instead of the reader's diagnostic of a file with these bytes. */
export function explainSkillMd(
  diagnostic: Diagnostic,
  bytes: Uint8Array,
): Diagnostic[] {
  const text = new TextDecoder().decode(bytes.subarray(0, HEAD_SIZE));
  const yaml = findYaml(text) ?? "";
  if (findConflict(yaml === "" ? text : yaml)) return [diagnostic];
  const found = explainRule(diagnostic, text, yaml);
  return found.length === 0
    ? [diagnostic]
    : found.slice(0, MAX_PER_FILE).map((it) => ({ ...diagnostic, ...it }));
}

/** Explains a diagnostic of the reader. What it returns replaces parts of that. */
function explainRule(
  diagnostic: Diagnostic,
  text: string,
  yaml: string,
): Partial<Diagnostic>[] {
  const dir = basename(dirname(diagnostic.file));
  switch (diagnostic.rule) {
    case "utf-8":
      return [explainEncoding(text)];
    case "frontmatter-missing":
      return explainStart(text);
    case "name-missing":
    case "description-missing":
    case "yaml":
      return explainFields(yaml, dir);
    case "name-malformed": {
      const value = meantName(String(readFields(yaml).values.name), dir);
      const named = { ...diagnostic, field: "name", ...value && { value } };
      return [addLine(named, listFields(yaml))];
    }
    default:
      return [];
  }
}

/** Lists the required fields that are missing, and the fields that need a correction. */
function explainFields(yaml: string, dir: string): Partial<Diagnostic>[] {
  const { values, repaired } = readFields(yaml);
  const fields = listFields(yaml);
  const missing = REQUIRED_FIELDS.filter((name) => !isText(values[name]));
  const meantBy = ({ key }: Field) =>
    missing.find((name) => name === meantField(key));
  const absent = missing
    .filter((name) => !fields.some((field) => meantBy(field) === name));
  const unread = fields.filter(meantBy)
    .filter((field) => !repaired.some(({ line }) => line === field.line));
  const wrong = [...repaired, ...unread].sort((a, b) => a.line - b.line)
    // Text that is no field is probably what is absent.
    .filter((field) => !isStray(field) || absent.length === 0);
  return [
    ...absent.length > 0 ? [explainAbsent(absent, dir, fields)] : [],
    ...wrong.flatMap((field): Partial<Diagnostic>[] => {
      const name = meantBy(field);
      if (name === undefined) {
        return explainField(field, dir, fields)
          .map((it) => ({ rule: "yaml", ...it }));
      }
      const rule: Rule = `${name}-missing`;
      return name === field.key
        ? explainField(field, dir, fields).map((it) => ({ rule, ...it }))
        : [{ rule, ...explainMisspelling(field, name) }];
    }),
  ];
}

/** Says where to write the required fields that are missing. */
function explainAbsent(
  names: readonly (typeof REQUIRED_FIELDS[number])[],
  dir: string,
  fields: readonly Field[],
): Partial<Diagnostic> {
  const list = names.map(quote).join(" and ");
  const rule: Rule = `${names[0]!}-missing`;
  const reason = names.length === 1
    ? `the field ${list} is missing`
    : `the fields ${list} are missing`;
  const starts = names.map((name) => `a line that begins with "${name}:"`);
  const lines = `write ${starts.join(" and ")}`;
  const stray = fields.find(isStray);
  if (stray !== undefined) {
    const { line } = stray;
    return { rule, line, reason, fix: `instead of this text, ${lines}` };
  }
  const fix = `between the two lines "---", ${lines}`;
  // Another line can only be added to fields.
  const isAdded = names[0] === "name" && fields.length > 0;
  const name = isAdded ? validName(dir) : undefined;
  if (name === undefined) return { rule, line: 1, reason, fix };
  const copy = writeField("name", name);
  return { rule, line: 1, reason, fix: `${fix}, such as:`, copy };
}

const STRAY = {
  reason: "this text belongs to no field",
  fix: "delete it, or begin it with the name of a field, a colon, and a space",
};

/** Says what is wrong with a field, or with lines in it, and what to write instead. */
function explainField(
  field: RepairedField,
  dir: string,
  fields: readonly Field[],
): Partial<Diagnostic>[] {
  const { key, line, lines } = field;
  if (isStray(field)) return [{ line, ...STRAY }];
  const first = findField(key, fields)!;
  if (first.line !== line) {
    const reason = `the field ${quote(key)} is already on line ${first.line}`;
    return [{ line, reason, fix: "delete one of the two" }];
  }
  const corrected = field.corrected ?? quoteText(field);
  if (corrected === undefined) {
    return [
      lines.length > 1 ? explainMalformed(field) : explainEmpty(field, dir),
    ];
  }
  return corrected.length > 1
    ? explainLines(field, corrected)
    : [explainText({ ...field, corrected }, dir)];
}

/** Describes a field that can be read from one line. */
function explainText(field: RepairedField, dir: string): Partial<Diagnostic> {
  const { key, line, lines } = field;
  const [, read] = toEntry(field);
  const text = key === "name" ? meantName(read, dir) ?? read : read;
  const finished = writeField(key, text);
  const otherwise = "put its text in quotes, on one line";
  const fix = writeInstead(finished, otherwise, insteadOf(field));
  const below = lines.findIndex((it, index) => index > 0 && /^\S/.test(it));
  if (below < 0) return { line, reason: reasonFor(field, finished), ...fix };
  const reason = `the text of ${
    quote(key)
  } continues on this line, which is not indented`;
  return { line: line + below, reason, ...fix };
}

function reasonFor(field: Field, finished: string): string {
  const name = quote(field.key);
  if (!isSeparated(field)) return `there is no colon and space after ${name}`;
  if (/^["']/.test(field.value)) {
    return `the quotation marks around ${name} do not match`;
  }
  if (finished.endsWith('"')) return `the value of ${name} needs quotes`;
  return isYaml(field.lines.join("\n"))
    ? `the value of ${name} is not text`
    : `YAML cannot read the value of ${name}`;
}

/** Describes the lines of a field that are read otherwise. */
function explainLines(
  field: Field,
  corrected: readonly string[],
): Partial<Diagnostic>[] {
  return corrected.flatMap((finished, index) => {
    const written = field.lines[index]!;
    if (finished === written) return [];
    const [inner = field] = listFields(written.replace(/^\s*(?:- +)?/, ""));
    const reason = finished.trim() === written.trim()
      ? "the indentation of this line is wrong"
      : reasonFor(isStray(inner) ? field : inner, finished);
    const fix = writeInstead(finished, "put it in quotes");
    return [{ line: field.line + index, reason, ...fix }];
  });
}

function explainMalformed(field: Field): Partial<Diagnostic> {
  const { key, line } = field;
  const reason = `the field ${quote(key)} is malformed, or not text`;
  return { line, reason, fix: CHECK_LINES };
}

const CHECK_LINES =
  "write text in quotes on one line, or indent the lines below equally, with spaces, and put text with special characters in quotes";

function explainEmpty({ key, line }: Field, dir: string): Partial<Diagnostic> {
  const meant = key === "name" ? meantName("", dir) : undefined;
  const finished = meant && writeField(key, meant);
  const fix = writeInstead(finished, `write text in quotes after "${key}:"`);
  return { line, reason: `the field ${quote(key)} is empty`, ...fix };
}
