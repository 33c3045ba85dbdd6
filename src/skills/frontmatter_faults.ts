/**
 * What is wrong with a frontmatter that cannot be used, and how to fix it.
 *
 * 1. Each entry is parsed on its own, so that all faults are found at once.
 * 2. A hint shows the finished line in quotes that keep the author's text. It is
 *    shown only if it parses to that text.
 * 3. What remains after the repairs is checked like the frontmatter of a valid
 *    skill.
 *
 * The YAML has the line numbers of the file, from 1.
 *
 * @module
 */

import { isObject, nearestWords, oneLine, quote } from "../text.ts";
import {
  describeYamlError,
  isUnrepairable,
  parserMessage,
  parseYamlOrError,
} from "./yaml_errors.ts";
import {
  isBlockScalar,
  linesOf,
  plainTextOf,
  quoteYaml,
  splitEntries,
  type YamlEntry,
} from "./yaml_lines.ts";
import type { SkillFrontmatter, SkillSyntaxFault } from "./types.ts";

/** The fields without which a skill cannot be served. */
const REQUIRED_FIELDS = ["name", "description"];

/** The fields of the frontmatter that have a meaning. */
export const KNOWN_FIELDS: readonly string[] = [
  ...REQUIRED_FIELDS,
  "license",
  "compatibility",
  "metadata",
  "allowed-tools",
  "disable-model-invocation",
  "user-invocable",
];

/** The maximum length of a line that a hint shows, in characters. */
const MAX_SHOWN_LENGTH = 2_000;

/**
 * The maximum size of frontmatter that is repaired, in characters and in lines.
 * Each entry is parsed several times.
 */
const MAX_REPAIRED_LENGTH = 8 * 1024;
const MAX_REPAIRED_LINES = 200;

/** The maximum number of faults that are reported for one frontmatter. */
const MAX_FAULTS = 20;

/** Frontmatter after its repair. */
export interface RepairedFrontmatter {
  /** What was wrong with it. */
  readonly faults: SkillSyntaxFault[];
  /** The fields that are fine or were repaired. */
  readonly frontmatter: Partial<SkillFrontmatter>;
  /** The YAML with the repaired lines. */
  readonly yaml: string;
}

/**
 * Finds everything that is wrong with YAML that is not valid frontmatter, and
 * repairs what it can.
 *
 * @param yaml The YAML.
 * @param parsed The result of {@linkcode parseYamlOrError}.
 */
export function repairFrontmatter(
  yaml: string,
  parsed: unknown,
): RepairedFrontmatter {
  const faults: SkillSyntaxFault[] = [];
  const repair = new FrontmatterRepair(yaml);
  for (const fault of repair.findFaults(parsed)) {
    const same = faults.findIndex(({ line }) => line === fault.line);
    // The later hint for a line includes the repairs of the earlier one.
    const isSame = same !== -1 && isWriteHint(faults[same]!.hint) &&
      isWriteHint(fault.hint);
    if (!isSame) faults.push(fault);
    else {
      const { reason } = faults[same]!;
      faults[same] = { ...fault, reason: `${reason}; ${fault.reason}` };
    }
    if (faults.length === MAX_FAULTS) break;
  }
  return { faults: faults.toSorted(byLine), ...repair.result(parsed) };
}

function byLine(a: SkillSyntaxFault, b: SkillSyntaxFault): number {
  return a.line - b.line;
}

/** Repairs frontmatter entry by entry. */
class FrontmatterRepair {
  readonly #yaml: string;
  /** The lines of the YAML, with the entries repaired so far. */
  readonly #lines: string[];
  /** Whether some lines are left out, so that entries cannot be repaired. */
  readonly #isLong: boolean;
  /** The fields whose values could not be repaired. */
  readonly #unrepaired = new Set<string>();

  constructor(yaml: string) {
    this.#yaml = yaml;
    const start = linesOf(yaml.slice(0, MAX_REPAIRED_LENGTH));
    this.#lines = start.slice(0, MAX_REPAIRED_LINES);
    this.#isLong = yaml.length > MAX_REPAIRED_LENGTH ||
      start.length > MAX_REPAIRED_LINES;
  }

  *findFaults(whole: unknown): Generator<SkillSyntaxFault> {
    if (isMapping(whole)) return yield* this.#checkFields(whole);
    if (whole instanceof Error && (this.#isLong || isUnrepairable(whole))) {
      return yield { kind: "yaml", ...describeYamlError(whole, this.#yaml) };
    }
    if (this.#isLong) return yield NOT_A_MAPPING;
    yield* this.#repairEntries(this.#lines);
    yield* this.#dropDuplicates();
    const parsed = parseYamlOrError(this.#lines.join("\n"));
    if (parsed instanceof Error) {
      const fault = describeYamlError(parsed, this.#lines.join("\n"));
      return yield { kind: "yaml", ...fault };
    }
    if (!isMapping(parsed)) return yield NOT_A_MAPPING;
    yield* this.#checkFields(parsed);
  }

  /** Repairs the entries among some lines, which start after an offset in an outer entry. */
  *#repairEntries(
    lines: readonly string[],
    offset = 0,
  ): Generator<SkillSyntaxFault> {
    for (const entry of splitEntries(lines, KNOWN_FIELDS)) {
      const text = [lines[entry.start], ...entry.more].join("\n");
      const parsed = parseYamlOrError(text);
      const isFine = !entry.isGlued &&
        (!(parsed instanceof Error) || this.#isAliasKnown(parsed));
      if (isFine) continue;
      const start = entry.start + offset;
      const isOuter = entry.rest.trim() === "" && offset === 0 &&
        splitEntries(entry.more).length > 0;
      if (isOuter) {
        const before = this.#lines.join("\n");
        yield* this.#repairEntries(entry.more, start + 1);
        if (this.#lines.join("\n") !== before) continue;
      }
      const repair = repairEntry(entry, start + 1);
      if (repair === undefined && offset === 0) {
        this.#unrepaired.add(entry.key);
      }
      const written = repair?.lines ??
        [`${entry.indentation}${entry.key}: ''`];
      this.#replace(start, entry.more.length + 1, written);
      yield {
        kind: "yaml",
        reason: describeValueFault(entry, parsed),
        line: start + 1,
        hint: repair?.hint ?? describeQuoting(entry),
      };
    }
  }

  /** Whether an error is about an alias whose anchor is in another entry. */
  #isAliasKnown({ message }: Error): boolean {
    const [, name] = /unidentified alias "([^"]*)"/.exec(message) ?? [];
    return name !== undefined && this.#yaml.includes(`&${name}`);
  }

  /** Replaces lines, and keeps the number of lines. */
  #replace(start: number, count: number, lines: readonly string[]): void {
    const blank = Array(Math.max(count - lines.length, 0)).fill("");
    this.#lines.splice(start, count, ...lines.slice(0, count), ...blank);
  }

  *#dropDuplicates(): Generator<SkillSyntaxFault> {
    const first = new Map<string, number>();
    for (const { key, start, more } of splitEntries(this.#lines)) {
      const other = first.get(key);
      first.set(key, other ?? start);
      if (other === undefined) continue;
      this.#replace(start, more.length + 1, []);
      yield {
        kind: "yaml",
        reason: `the field ${quote(key)} appears twice: here and on line ${
          other + 1
        }`,
        line: start + 1,
        hint: "remove one of the two",
      };
    }
  }

  *#checkFields(
    frontmatter: Readonly<Record<string, unknown>>,
  ): Generator<SkillSyntaxFault> {
    for (const field of REQUIRED_FIELDS) {
      yield* this.#checkField(field, frontmatter);
    }
  }

  *#checkField(
    field: string,
    frontmatter: Readonly<Record<string, unknown>>,
  ): Generator<SkillSyntaxFault> {
    const found = findFieldFault(frontmatter, { field, lines: this.#lines });
    if (found === undefined) return;
    const { entry, written, ...fault } = found;
    yield fault;
    const isRepaired = entry !== undefined && written !== undefined &&
      !this.#isLong;
    if (!isRepaired) {
      this.#unrepaired.add(field);
      return;
    }
    this.#replace(entry.start, entry.more.length + 1, written);
    // A field that got its right name can have a wrong value.
    const repaired = tryParse(this.#lines.join("\n"));
    if (isMapping(repaired)) yield* this.#checkField(field, repaired);
  }

  /** Returns what remains after the faults were found. */
  result(whole: unknown): Omit<RepairedFrontmatter, "faults"> {
    const yaml = this.#isLong ? this.#yaml : this.#lines.join("\n");
    const parsed = this.#isLong ? whole : parseYamlOrError(yaml);
    const all = isMapping(parsed) ? parsed : this.#parseEntries();
    const fields = Object.entries(all)
      .filter(([field]) => !this.#unrepaired.has(field));
    return { yaml, frontmatter: Object.fromEntries(fields) };
  }

  /** Parses the entries one by one, without those that are malformed or cut off. */
  #parseEntries(): Record<string, unknown> {
    const entries = splitEntries(this.#lines);
    if (this.#isLong) entries.pop();
    const values = entries.flatMap(({ key, start, more }) => {
      const parsed = tryParse([this.#lines[start], ...more].join("\n"));
      return isMapping(parsed) ? [[key, parsed[key]] as const] : [];
    });
    return Object.fromEntries(values);
  }
}

/** The finished lines of an entry, and the hint that shows them. */
interface Repair {
  readonly lines: readonly string[];
  readonly hint: string;
}

/**
 * Repairs an entry that starts on a line of the YAML. Returns `undefined` if no
 * repair keeps the author's text.
 */
function repairEntry(entry: YamlEntry, line: number): Repair | undefined {
  const divided = divideName(entry);
  if (divided !== undefined) {
    const hint = `write these lines instead:\n${divided}`;
    return { lines: [divided], hint };
  }
  const spaced = [`${entry.indentation}${entry.key}: ${entry.rest}`]
    .concat(entry.more);
  if (
    entry.isGlued && !(parseYamlOrError(spaced.join("\n")) instanceof Error)
  ) {
    return { lines: spaced, hint: writeHint(spaced[0]!) };
  }
  const untabbed = spaced.map((line) =>
    line.replace(/^\s+/, (space) => space.replaceAll("\t", "  "))
  );
  const hasTabs = untabbed.some((line, index) => line !== spaced[index]);
  if (hasTabs && !(parseYamlOrError(untabbed.join("\n")) instanceof Error)) {
    return { lines: untabbed, hint: "indent with spaces instead of tabs" };
  }
  const written = quoteEntry(entry);
  return written === undefined
    ? undefined
    : { lines: [written], hint: replaceHint(entry, { line, written }) };
}

/**
 * Divides a name and the description after it on the same line, where programs
 * that format Markdown without knowing frontmatter put it.
 */
function divideName(
  { key, indentation, rest, more }: YamlEntry,
): string | undefined {
  const place = key === "name" ? rest.indexOf(" description: ") : -1;
  if (place === -1) return undefined;
  const name = rest.slice(0, place).trim();
  const text = rest.slice(place + " description: ".length);
  const [entry] = splitEntries([`${indentation}description: ${text}`, ...more]);
  const description = entry && quoteEntry(entry);
  if (description === undefined) return undefined;
  return `${indentation}name: ${name}\n${description}`;
}

/**
 * Writes an entry on one line with its value in quotes. Returns `undefined` if
 * the line would be very long, or would not parse to the author's text.
 */
export function quoteEntry(
  entry: YamlEntry,
  text: string = plainTextOf(entry),
): string | undefined {
  const { key, indentation } = entry;
  const line = `${indentation}${key}: ${quoteYaml(text)}`;
  const parsed = tryParse(line);
  const isKept = isMapping(parsed) && parsed[key] === text;
  return isKept && line.length <= MAX_SHOWN_LENGTH ? line : undefined;
}

/** Returns the hint to write a line in place of an entry that starts on a line of the YAML. */
export function replaceHint(
  { more }: YamlEntry,
  { line, written }: { line: number; written: string },
): string {
  return more.length === 0
    ? writeHint(written)
    : `write this instead of lines ${line} to ${
      line + more.length
    }:\n${written}`;
}

function writeHint(written: string): string {
  return `write this line instead:\n${written}`;
}

function isWriteHint(hint: string): boolean {
  return hint.includes("\n");
}

/** Returns the hint for a value for which there is no finished line. */
function describeQuoting(entry: YamlEntry): string {
  return isBlockScalar(entry)
    ? `indent all lines below "${entry.key}:" by the same number of spaces`
    : "put the value in single quotes on one line, and write each single quote in it twice";
}

/** Describes why the value of an entry cannot be parsed. */
function describeValueFault(entry: YamlEntry, parsed: unknown): string {
  const { key, indentation, rest, isGlued } = entry;
  const value = `the value of ${quote(key)}`;
  if (divideName(entry) !== undefined) {
    return "the name and the description are on the same line";
  }
  if (isGlued) return `there is no space after ${quote(`${key}:`)}`;
  const mark = rest[0] ?? "";
  const message = parsed instanceof Error ? parsed.message : "";
  if (/^\s*\t/m.test([rest, ...entry.more].join("\n"))) {
    return `${value} is indented with tabs`;
  }
  if (indentation.includes("\t")) {
    return `the field ${quote(key)} is indented with tabs`;
  }
  if (mark === '"' || mark === "'") {
    const marks = rest.split(mark).length - 1;
    if (marks === 1) return `${value} has no closing quote`;
    return mark === '"' && /escape|hexadecimal/i.test(message)
      ? `${value} has a backslash in double quotes, where it starts an escape`
      : `${value} has text after its closing quote`;
  }
  if (isBlockScalar(entry)) {
    return `the lines of ${value} are not indented alike`;
  }
  if (/^[@`%&*!{}[\]|>,?-]/.test(rest)) {
    return `${value} begins with ${quote(mark)}, which is special in YAML`;
  }
  if (/:(?:\s|$)/.test(rest)) {
    return `${value} contains a colon, which starts another value in YAML`;
  }
  const isOutdented = entry.more.some((line) =>
    line.trim() !== "" && /^\s*/.exec(line)![0].length <=
      entry.indentation.length
  );
  if (isOutdented) {
    return `${value} continues on a line that is not indented`;
  }
  return `the YAML is malformed: ${oneLine(parserMessage(message))}`;
}

const NOT_A_MAPPING: SkillSyntaxFault = {
  kind: "yaml",
  reason: "the frontmatter is not a YAML mapping",
  line: 2,
  hint: 'write "name: …" and "description: …" on lines of their own',
};

/** A fault of a required field, and the lines that repair an entry. */
interface FieldFault extends SkillSyntaxFault {
  readonly entry?: YamlEntry | undefined;
  readonly written?: readonly string[] | undefined;
}

/** Finds out why a required field is not a text. */
function findFieldFault(
  frontmatter: Readonly<Record<string, unknown>>,
  { field, lines }: { field: string; lines: readonly string[] },
): FieldFault | undefined {
  const value = frontmatter[field];
  if (typeof value === "string" && hasVisibleText(value)) return undefined;
  const kind = `${field}-missing`;
  const entries = splitEntries(lines);
  if (!Object.hasOwn(frontmatter, field)) {
    const found = findMisspelled(field, entries);
    return { kind, ...found ?? describeMissing(field) };
  }
  const entry = entries.find(({ key }) => key === field);
  const line = (entry?.start ?? 0) + 1;
  const isEmpty = value === null || typeof value === "string";
  const written = entry && hasVisibleText(plainTextOf(entry))
    ? quoteEntry(entry)
    : undefined;
  const hint = written !== undefined
    ? replaceHint(entry!, { line, written })
    : isEmpty
    ? `write ${DESCRIPTIONS[field]} after "${field}:"`
    : "write it as one text in quotes";
  const reason = describeEmpty(field, entry, isEmpty);
  const fault = { kind, reason, line, hint };
  return written === undefined
    ? fault
    : { ...fault, entry, written: [written] };
}

const DESCRIPTIONS: Readonly<Record<string, string>> = {
  name: "the name of the skill's folder",
  description: "what the skill does and when to use it",
};

function describeEmpty(
  field: string,
  entry: YamlEntry | undefined,
  isEmpty: boolean,
): string {
  if (!isEmpty) return `the field ${quote(field)} is not a string`;
  const isComment = entry?.rest.startsWith("#") ?? false;
  return `the field ${quote(field)} is empty${
    isComment ? ', because "#" starts a comment' : ""
  }`;
}

function describeMissing(
  field: string,
): Omit<SkillSyntaxFault, "kind"> {
  return {
    reason: `the field ${quote(field)} is missing`,
    line: 1,
    hint: `add a line "${field}: …" with ${DESCRIPTIONS[field]}`,
  };
}

/** Finds the entry that is meant to be a required field. */
function findMisspelled(
  field: string,
  entries: readonly YamlEntry[],
): Omit<FieldFault, "kind"> | undefined {
  const unknown = entries.filter(({ key }) => !KNOWN_FIELDS.includes(key));
  const keys = unknown.map(({ key }) => key);
  const nearest = keys.find((key) => key.toLowerCase() === field) ??
    nearestWords(field, keys)[0] ??
    keys.find((key) => key.length > 3 && field.startsWith(key));
  const entry = unknown.find(({ key }) => key === nearest);
  if (entry === undefined) return undefined;
  const line = renameEntry(entry, field);
  return {
    reason: `the field ${quote(field)} is missing, but there is a field ${
      quote(entry.key)
    }`,
    line: entry.start + 1,
    hint: line === undefined
      ? `write "${field}:" instead of "${entry.key}:"`
      : writeHint(line),
    entry,
    written: line === undefined ? undefined : [line, ...entry.more],
  };
}

/** Writes the first line of an entry with another key, if it is short. */
export function renameEntry(
  { indentation, rest }: YamlEntry,
  key: string,
): string | undefined {
  const line = `${indentation}${key}: ${rest}`.trimEnd();
  return line.length <= MAX_SHOWN_LENGTH ? line : undefined;
}

function hasVisibleText(text: string): boolean {
  return /[!-~]/.test(text) || oneLine(text) !== "";
}

/** Whether frontmatter has the two required fields. */
export function hasRequiredFields(
  frontmatter: Readonly<Record<string, unknown>>,
): boolean {
  return REQUIRED_FIELDS.every((field) => {
    const value = frontmatter[field];
    return typeof value === "string" && hasVisibleText(value);
  });
}

/** Whether a value is a YAML mapping. */
export function isMapping(value: unknown): value is Record<string, unknown> {
  return isObject(value) && !(value instanceof Error);
}

function tryParse(yaml: string): unknown {
  const parsed = parseYamlOrError(yaml);
  return parsed instanceof Error ? undefined : parsed;
}
