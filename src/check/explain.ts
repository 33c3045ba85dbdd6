/**
 * Explains why a `SKILL.md` is skipped or repaired: at which line, and what to write
 * there. The reader says no more than the parser and the name of a field.
 */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { basename, dirname } from "../fs/paths.ts";
import { MAX_NAME_LENGTH, validName } from "../skills/limits.ts";
import {
  findYaml,
  HEAD_SIZE,
  parseYaml,
  quoteRefused,
  readFields,
  REQUIRED_FIELDS,
} from "../skills/skill_md.ts";
import { isObject, oneLine, quote } from "../text.ts";
import { explainEncoding, explainStart } from "./beginning.ts";
import {
  type Field,
  findField,
  fixBy,
  isSeparated,
  listFields,
  meantField,
  plainText,
  writeField,
} from "./fields.ts";

/** Returns what to report instead of a diagnostic of the reader about a file with these bytes. */
export function explain(
  diagnostic: DiagnosticDetails,
  file: string,
  bytes: Uint8Array,
): DiagnosticDetails[] {
  const text = new TextDecoder().decode(bytes.subarray(0, HEAD_SIZE));
  const yaml = findYaml(text) ?? "";
  const fields = listFields(yaml);
  switch (diagnostic.rule) {
    case "utf-8":
      return [{ ...diagnostic, ...explainEncoding(bytes) }];
    case "frontmatter-missing":
      return explainStart(text, bytes.length < HEAD_SIZE)
        .map((it) => ({ ...diagnostic, ...it }));
    case "name-missing":
    case "description-missing":
      return explainMissing(fields, yaml, basename(dirname(file)));
    case "name-malformed": {
      const at = findField("name", fields);
      const valid = validName(plainText(at?.value ?? ""));
      const finished = valid && valid.length <= MAX_NAME_LENGTH
        ? writeField("name", valid)
        : undefined;
      return [{ ...diagnostic, fix: fixBy(finished, diagnostic.fix) }];
    }
    case "yaml":
    case "yaml-repaired": {
      const found = explainYaml(fields);
      if (found.length === 0) return [nameField(diagnostic, fields)];
      return found.map((it) => ({ ...diagnostic, ...it }));
    }
    default:
      return [diagnostic];
  }
}

/** Lists all required fields that are missing, misspelled, or not texts. */
function explainMissing(
  fields: readonly Field[],
  yaml: string,
  dir: string,
): DiagnosticDetails[] {
  const read = readFields(yaml).fields ?? {};
  const missing = REQUIRED_FIELDS.filter((name) =>
    typeof read[name] !== "string" || oneLine(read[name]) === ""
  );
  const find = (name: string) =>
    findField(name, fields) ??
      fields.find(({ key }) => meantField(key) === name);
  const absent = missing.filter((name) => find(name) === undefined);
  const written = missing.flatMap((name): DiagnosticDetails[] => {
    const at = find(name);
    return at ? [{ rule: `${name}-missing`, ...explainField(at, name) }] : [];
  });
  if (absent.length === 0) return written;
  const names = absent.map(quote).join(" and ");
  const starts = absent.map((name) => `a line that begins with "${name}:"`);
  const name = absent[0] === "name" ? validName(dir) : undefined;
  const line = name && writeField("name", name);
  // The rest may be no mapping.
  const isRead = line !== undefined &&
    readFields(line + yaml).fields?.name === name;
  const fix = `between the two lines "---", write ${starts.join(" and ")}`;
  return [{
    rule: `${absent[0]!}-missing`,
    line: 1,
    reason: absent.length === 1
      ? `the field ${names} is missing`
      : `the fields ${names} are missing`,
    fix: isRead ? `${fix}, such as:\n${line}` : fix,
  }, ...written];
}

/** Lists what is wrong with each field that the parser refuses by itself, and with repeated ones. */
function explainYaml(fields: readonly Field[]): Partial<DiagnosticDetails>[] {
  return fields.flatMap((field) => {
    const first = findField(field.key, fields)!;
    if (first !== field) {
      const reason = `the field ${
        quote(field.key)
      } is already on line ${first.line}`;
      const fix = `delete line ${first.line} or line ${field.line}`;
      return [{ line: field.line, reason, fix }];
    }
    if (isRead(field)) return [];
    const nested = explainNested(field);
    return nested.length > 0 ? nested : [explainField(field)];
  });
}

/** Whether the parser reads a field by itself, and as a text if it must be one. */
function isRead(field: Field): boolean {
  const read = isSeparated(field) &&
    attempt(() => [parseYaml(field.lines.join("\n"))]);
  if (!read) return false;
  const [fields] = read;
  return !REQUIRED_FIELDS.some((key) => key === field.key) ||
    (isObject(fields) && typeof fields[field.key] === "string");
}

/** Lists the values on the lines below a field that need quotes. */
function explainNested({ lines, line }: Field): Partial<DiagnosticDetails>[] {
  return lines.flatMap((text, index) => {
    const [, indentation = "", rest = ""] = /^( *(?:- )?)(.*)$/.exec(text) ??
      [];
    const [field] = index === 0 ? [] : listFields(rest);
    const finished = field && quoteRefused(rest);
    if (finished === undefined) return [];
    const reason = needsQuotes(field!.key);
    const fix = fixBy(indentation + finished, "put it in quotes");
    return [{ line: line + index, reason, fix }];
  });
}

function needsQuotes(key: string): string {
  return `the value of ${quote(key)} needs quotes`;
}

/** Says what is wrong with a field, which may stand for another one. */
function explainField(
  field: Field,
  meant = meantField(field.key) ?? field.key,
): Omit<DiagnosticDetails, "rule"> {
  const { line, key, value, lines } = field;
  return findLine(field) ?? {
    line,
    reason: key !== meant
      ? `the field ${quote(key)} is almost ${quote(meant)}`
      : !isSeparated(field)
      ? `there is no colon and space after ${quote(key)}`
      : oneLine(plainText(value)) === "" && !value.startsWith("#")
      ? lines.length === 1
        ? `the field ${quote(key)} has no text`
        : `the field ${quote(key)} is not a text`
      : /^["']/.test(value)
      ? `the quotation marks around ${quote(key)} do not match`
      : needsQuotes(key),
    fix: fixBy(
      finish(field, meant),
      `write a text in quotes after "${meant}:", on one line`,
    ),
  };
}

/** Finishes the line of a field whose value is on it, or of one that is misspelled. */
function finish(
  { key, value, lines }: Field,
  meant: string,
): string | undefined {
  const text = value.startsWith("#") ? value : plainText(value);
  if (lines.length > 1) {
    return key === meant ? undefined : `${meant}: ${value}`.trimEnd();
  }
  if (oneLine(text) === "") return undefined;
  return writeField(meant, meant === "name" ? validName(text) ?? text : text);
}

/** What is wrong with a line, and which line of a field it is, from 0. */
interface LineFault {
  readonly index: number;
  readonly reason: string;
  readonly fix: string;
}

/** Finds the line at fault in a field that the parser refuses, if it is not the first one as such. */
function findLine(field: Field): Omit<DiagnosticDetails, "rule"> | undefined {
  if (isSeparated(field) && isRead(field)) return undefined;
  const { index, ...rest } = findIndented(field) ?? findTab(field) ??
    findBeside(field) ?? findOutside(field) ?? findUneven(field) ??
    { index: -1, reason: "", fix: "" };
  return index < 0 ? undefined : { line: field.line + index, ...rest };
}

/** Finds a known field that is indented, as if it belonged to the one above. */
function findIndented({ key, lines }: Field): LineFault | undefined {
  for (const [index, text] of lines.entries()) {
    const finished = text.trim();
    const [inner] = index === 0 ? [] : listFields(finished);
    if (inner === undefined || meantField(inner.key) !== inner.key) continue;
    const reason = `the field ${
      quote(inner.key)
    } is indented, as if it belonged to ${quote(key)}`;
    return { index, reason, fix: fixBy(finished, "do not indent it") };
  }
}

function findTab({ key, lines }: Field): LineFault | undefined {
  const index = lines.findIndex((it) => /^ *\t\s*\S/.test(it));
  if (index < 0) return undefined;
  const reason = `the line, in the field ${
    quote(key)
  }, is indented with a tab, which YAML forbids`;
  return { index, reason, fix: "indent it with spaces" };
}

/** The start of a text on the lines below, as `>` and `|` begin it, and what follows it. */
const BLOCK = /^([>|][-+\d]*)(?:[ \t]+(?!#)(.+))?$/;

/** Finds a text that begins beside `>` or `|`. */
function findBeside({ key, value, lines }: Field): LineFault | undefined {
  const [, mark = "", text] = BLOCK.exec(value) ?? [];
  if (text === undefined) return undefined;
  const reason = `the text of ${quote(key)} begins beside ${quote(mark)}`;
  const fix = "write it on the lines below, each indented with two spaces";
  const finished = lines.length === 1 ? writeField(key, text) : undefined;
  return { index: 0, reason, fix: fixBy(finished, fix) };
}

/** Finds a line that goes on with a text, and is not indented. */
function findOutside(
  { key, value, line, lines }: Field,
): LineFault | undefined {
  const isOutside = value === "" ? /^(?![\s#]|- )./ : /^[^\s#]/;
  const index = lines.findIndex((it, index) => index > 0 && isOutside.test(it));
  if (index < 0) return undefined;
  const [, mark] = BLOCK.exec(value) ?? [];
  return mark === undefined
    ? {
      index,
      reason: `the text of ${
        quote(key)
      } goes on in this line, which is not indented`,
      fix:
        `indent the line with two spaces, or write the whole text on line ${line}`,
    }
    : {
      index,
      reason: `the text of ${quote(key)}, which ${
        quote(mark)
      } begins, is not indented`,
      fix: "indent each of its lines with two spaces",
    };
}

function findUneven({ key, value }: Field): LineFault | undefined {
  if (!BLOCK.test(value)) return undefined;
  const reason = `the lines of the text of ${
    quote(key)
  } are indented differently`;
  return { index: 0, reason, fix: "indent each of them with two spaces" };
}

/** Adds the field to what the parser says, which knows only lines. */
function nameField(
  diagnostic: DiagnosticDetails,
  fields: readonly Field[],
): DiagnosticDetails {
  const { line = 1, reason } = diagnostic;
  const at = fields.findLast((field) => field.line <= line);
  if (at === undefined) return diagnostic;
  const { length } = at.lines;
  const where = length === 1
    ? `line ${at.line}`
    : `lines ${at.line} to ${at.line + length - 1}`;
  return {
    ...diagnostic,
    reason: `${reason} (in or after the field ${quote(at.key)}, ${where})`,
  };
}
