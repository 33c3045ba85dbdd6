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

import { nearestWords, oneLine, quote } from "../text.ts";
import {
  describeYamlError,
  isUnrepairable,
  parseYamlOrError,
} from "./yaml_errors.ts";
import {
  linesOf,
  plainTextOf,
  splitEntries,
  type YamlEntry,
} from "./yaml_lines.ts";
import {
  describeQuoting,
  describeValueFault,
  isMapping,
  isWriteHint,
  quoteEntry,
  renameEntry,
  repairEntry,
  replaceHint,
  tryParse,
  writeHint,
} from "./yaml_repair.ts";
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

/**
 * The maximum size of frontmatter that is repaired, in characters and in lines.
 * Each entry is parsed several times.
 */
const MAX_REPAIRED_LENGTH = 8 * 1024;
const MAX_REPAIRED_LINES = 200;

/** The maximum number of faults that are reported for one frontmatter. */
const MAX_FAULTS = 20;

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
    if (entry === undefined || written === undefined || this.#isLong) return;
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
    const fields = Object.entries(all).filter(([field, value]) =>
      !this.#unrepaired.has(field) &&
      (isText(value) || !REQUIRED_FIELDS.includes(field))
    );
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
  if (isText(value)) return undefined;
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

function hasVisibleText(text: string): boolean {
  return /[!-~]/.test(text) || oneLine(text) !== "";
}

export function hasRequiredFields(
  frontmatter: Readonly<Record<string, unknown>>,
): boolean {
  return REQUIRED_FIELDS.every((field) => isText(frontmatter[field]));
}

function isText(value: unknown): value is string {
  return typeof value === "string" && hasVisibleText(value);
}
