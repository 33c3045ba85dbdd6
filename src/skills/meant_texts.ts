/**
 * Values of frontmatter that can only be meant as texts, although YAML refuses them, or
 * reads something else.
 */

import {
  betweenQuotes,
  fieldOf,
  findEntry,
  isNear,
  isSeparated,
  KNOWN_FIELDS,
  parseMapping,
  readKey,
  REQUIRED_FIELDS,
  type YamlEntry,
} from "./yaml.ts";

/** Line breaks that YAML does not know, behind which a flag could hide. */
const HIDING_LINE_BREAK = /[\v\f\x85\u2028\u2029]/;

/** A character that YAML reserves, so that a value beginning with it can only be a text. */
const BEGINS_A_TEXT = /^[@`]/;

/** Closed brackets with more text behind them, as in `[WIP] Review code`. */
const GOES_ON = /^[[{](?:[^[\]{}]|[[{][^[\]{}]*[\]}])*[\]}]./;

/** A value without quotes that has a colon before a blank or at its end. */
const HAS_COLON = /^(?!["'*&!|>#[{]).*:(?:[ \t]|$)/;

interface MeantText {
  readonly entry: YamlEntry;
  readonly text: string;
}

export function listMeantTexts(
  entries: readonly YamlEntry[],
  refused: readonly YamlEntry[],
): MeantText[] {
  const description = findEntry("description", entries);
  const joined = description && joinPlainLines(description);
  const continued = joined && !HIDING_LINE_BREAK.test(joined) &&
    parseMapping(description.lines.join("\n")) === undefined;
  const single = refused.flatMap((entry) => {
    const text = findMeantText(entry);
    return text === undefined ? [] : [{ entry, text }];
  });
  return continued ? [...single, { entry: description, text: joined }] : single;
}

/** Returns the text that a value on one line means, if it can mean nothing else. */
function findMeantText(
  { key, separator, value }: YamlEntry,
): string | undefined {
  const isOneLine = isSeparated({ separator, value }) &&
    !HIDING_LINE_BREAK.test(value);
  if (!isOneLine) return undefined;
  const isText = [BEGINS_A_TEXT, GOES_ON, HAS_COLON]
    .some((expression) => expression.test(value));
  if (isText) return value;
  const isRequired = REQUIRED_FIELDS.some((field) => field === key);
  return isRequired ? betweenQuotes(value) : undefined;
}

/** A line that may not continue a text: a list item, or a comment. */
const STRUCTURE = /^(?:-(?:\s|$)|#)/;

/**
 * Joins the lines of a plain text, as YAML would without the colon in it. Returns
 * `undefined` if one of them can be something else.
 */
function joinPlainLines(
  { value, lines }: YamlEntry,
): string | undefined {
  const rest = lines.slice(1);
  const isContinued = rest.length > 0 && /^[^\s"'|>&*!%@`#[{]/.test(value) &&
    rest.every((line) => /^ |^$/.test(line) && mayContinue(line.trim()));
  if (!isContinued) return undefined;
  const joined = [value, ...rest.map((line) => line.trim())].join("\n")
    .replace(/\n(\n*)/g, (_, breaks: string) => breaks || " ");
  return /:(?:\s|$)/.test(joined) ? joined : undefined;
}

/** Whether a line can continue a text, and cannot be meant as a field. */
function mayContinue(line: string): boolean {
  const { key } = readKey(line) ?? {};
  const isField = key !== undefined &&
    KNOWN_FIELDS.some((field) => fieldOf(key) === field || isNear(key, field));
  return !isField && !STRUCTURE.test(line);
}

/**
 * Returns the text of a number, `true`, or `false` as it is written, without a comment
 * behind it.
 *
 * @param read The value that YAML reads.
 */
export function textAsWritten(
  { key, value }: Pick<YamlEntry, "key" | "value">,
  read: unknown,
): string | undefined {
  const text = value.replace(/(?:^|\s)#.*$/, "").trimEnd();
  // Not a tag, and not an alias.
  const isWritten = /^[\w.+-]/.test(text) &&
    parseMapping(`${key}: ${text}`)?.[key] === read;
  return isWritten ? text : undefined;
}
