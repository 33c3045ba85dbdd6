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
  isMapping,
  isUnrepairable,
  parseYamlOrError,
} from "./yaml_errors.ts";
import {
  linesOf,
  listNested,
  plainTextOf,
  quoteEntry,
  renameEntry,
  type Repair,
  repairEntry,
  splitEntries,
  type YamlEntry,
} from "./yaml_entries.ts";
import type { SyntaxFault } from "./frontmatter.ts";
import type { SkillFrontmatter } from "./types.ts";

/** The fields without which a skill cannot be served, and what to write in them. */
const REQUIRED: Readonly<Record<string, string>> = {
  name: "the name of the skill's folder",
  description: "what the skill does and when to use it",
};

const REQUIRED_FIELDS = Object.keys(REQUIRED);

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

/** What can be said about the YAML of a frontmatter, even if it is not valid. */
export interface InspectedFrontmatter {
  readonly faults: readonly SyntaxFault[];
  /** The fields that are valid or were repaired. */
  readonly frontmatter: Partial<SkillFrontmatter>;
  /** The YAML with the repaired lines. */
  readonly yaml: string;
}

/** Finds everything that is wrong with the YAML of a frontmatter, and repairs what it can. */
export function inspectFrontmatter(yaml: string): InspectedFrontmatter {
  const parsed = parseYamlOrError(yaml);
  const isValid = isMapping(parsed) &&
    REQUIRED_FIELDS.every((field) => isText(parsed[field]));
  // Looking for faults would take half as long as parsing.
  if (isValid) return { faults: [], frontmatter: parsed, yaml };
  const repair = new FrontmatterRepair(yaml, parsed);
  const faults = new Map<unknown, SyntaxFault>();
  for (const fault of repair.findFaults()) {
    // The later hint for a line includes the repairs of the earlier one.
    const key = fault.hint.includes("\n") ? fault.line : fault;
    const earlier = faults.get(key);
    const reason = earlier
      ? `${earlier.reason}; ${fault.reason}`
      : fault.reason;
    faults.set(key, { ...fault, reason });
    if (faults.size === MAX_FAULTS) break;
  }
  return {
    faults: [...faults.values()].sort((a, b) => a.line - b.line),
    ...repair.result(),
  };
}

/** Repairs frontmatter entry by entry. */
class FrontmatterRepair {
  /** The lines of the YAML, with the entries repaired so far. */
  readonly #lines: string[];
  /** What they were parsed to last. */
  #parsed: unknown;
  /** Whether there is too much YAML to repair its entries. */
  readonly #isLong: boolean;
  /** The fields whose values could not be repaired. */
  readonly #unrepaired = new Set<string>();

  constructor(yaml: string, parsed: unknown) {
    this.#lines = linesOf(yaml);
    this.#parsed = parsed;
    this.#isLong = yaml.length > MAX_REPAIRED_LENGTH ||
      this.#lines.length > MAX_REPAIRED_LINES;
  }

  /** The YAML, with the entries repaired so far. */
  get #repaired(): string {
    return this.#lines.join("\n");
  }

  *findFaults(): Generator<SyntaxFault> {
    if (
      !isMapping(this.#parsed) && !isUnrepairable(this.#parsed) && !this.#isLong
    ) {
      yield* this.#repairEntries(splitEntries(this.#lines, KNOWN_FIELDS));
      yield* this.#dropDuplicates();
      this.#parsed = parseYamlOrError(this.#repaired);
    }
    if (isMapping(this.#parsed)) {
      for (const field of REQUIRED_FIELDS) yield* this.#checkField(field);
    } else if (this.#parsed instanceof Error) {
      const fault = describeYamlError(this.#parsed, this.#repaired);
      yield { rule: "yaml", ...fault };
    } else {
      const reason = "the frontmatter is not a YAML mapping";
      const hint = 'write "name: …" and "description: …" on lines of their own';
      yield { rule: "yaml", reason, line: 2, hint };
    }
  }

  *#repairEntries(
    entries: readonly YamlEntry[],
    isNested = false,
  ): Generator<SyntaxFault> {
    for (const entry of entries) {
      const parsed = this.#parse(entry);
      if (!entry.isGlued && !(parsed instanceof Error)) continue;
      const nested = isNested ? [] : listNested(entry, KNOWN_FIELDS);
      const faults = [...this.#repairEntries(nested, true)];
      yield* faults;
      if (faults.length > 0) continue;
      const { key, indentation } = entry;
      const { reason, hint, lines } = repairEntry(entry);
      if (lines === undefined && !isNested) this.#unrepaired.add(key);
      this.#replace(entry, lines ?? [`${indentation}${key}: ''`]);
      yield { rule: "yaml", reason, line: entry.start + 1, hint };
    }
  }

  #parse({ start, more }: YamlEntry): unknown {
    return parseYamlOrError([this.#lines[start], ...more].join("\n"));
  }

  /** Replaces the lines of an entry, and keeps the number of lines. */
  #replace({ start, more }: YamlEntry, lines: readonly string[]): void {
    const count = more.length + 1;
    const blank = Array(count - lines.length).fill("");
    this.#lines.splice(start, count, ...lines, ...blank);
  }

  *#dropDuplicates(): Generator<SyntaxFault> {
    const byKey = Map.groupBy(splitEntries(this.#lines), ({ key }) => key);
    for (const [key, [first, ...others]] of byKey) {
      const place = `here and on line ${first!.start + 1}`;
      const reason = `the field ${quote(key)} appears twice: ${place}`;
      const hint = "remove one of the two";
      for (const entry of others) {
        this.#replace(entry, []);
        yield { rule: "yaml", reason, line: entry.start + 1, hint };
      }
    }
  }

  /** Finds out why a required field is not a text. */
  *#checkField(field: string): Generator<SyntaxFault> {
    if (this.#unrepaired.has(field)) return;
    if (!isMapping(this.#parsed) || isText(this.#parsed[field])) return;
    const entries = splitEntries(this.#lines);
    const { entry, reason, hint, lines } = Object.hasOwn(this.#parsed, field)
      ? describeValue(field, { entries, value: this.#parsed[field] })
      : describeMissing(field, entries);
    const line = (entry?.start ?? 0) + 1;
    yield { rule: `${field}-missing`, reason, line, hint };
    if (entry === undefined || lines === undefined || this.#isLong) return;
    this.#replace(entry, lines);
    this.#parsed = parseYamlOrError(this.#repaired);
    // A field that got its right name can have a wrong value.
    yield* this.#checkField(field);
  }

  /** Returns what remains after the faults were found. */
  result(): Omit<InspectedFrontmatter, "faults"> {
    const all = isMapping(this.#parsed) ? this.#parsed : this.#parseEntries();
    const fields = Object.entries(all).filter(([field, value]) =>
      !this.#unrepaired.has(field) &&
      (isText(value) || !REQUIRED_FIELDS.includes(field))
    );
    return { yaml: this.#repaired, frontmatter: Object.fromEntries(fields) };
  }

  /** Parses the first entries one by one, without those that are malformed. */
  #parseEntries(): Record<string, unknown> {
    const mappings = splitEntries(this.#lines).slice(0, MAX_REPAIRED_LINES)
      .map((entry) => this.#parse(entry)).filter(isMapping);
    return Object.fromEntries(mappings.flatMap(Object.entries));
  }
}

/** A fault of a required field, and the entry that is meant to be the field. */
interface FieldFault extends Repair {
  readonly reason: string;
  readonly entry?: YamlEntry | undefined;
}

/** Describes a required field whose value is not a text. */
function describeValue(
  field: string,
  { entries, value }: { entries: readonly YamlEntry[]; value: unknown },
): FieldFault {
  const entry = entries.find(({ key }) => key === field);
  const cause = entry?.rest.startsWith("#")
    ? ', because "#" starts a comment'
    : "";
  const [fault, otherwise] = value === null || typeof value === "string"
    ? [`is empty${cause}`, `write ${REQUIRED[field]} after "${field}:"`]
    : ["is not a string", "write it as one text in quotes"];
  const repair = entry !== undefined && isText(plainTextOf(entry))
    ? quoteEntry(entry, { otherwise })
    : { hint: otherwise };
  return { entry, reason: `the field ${quote(field)} ${fault}`, ...repair };
}

/** Describes a required field that is missing or has another name. */
function describeMissing(
  field: string,
  entries: readonly YamlEntry[],
): FieldFault {
  const unknown = entries.filter(({ key }) => !KNOWN_FIELDS.includes(key));
  const keys = unknown.map(({ key }) => key);
  const nearest = nearestWords(field, keys)[0] ??
    keys.find((key) => key.length > 3 && field.startsWith(key));
  const entry = unknown.find(({ key }) => key === nearest);
  const reason = `the field ${quote(field)} is missing`;
  if (entry === undefined) {
    const hint = `add a line "${field}: …" with ${REQUIRED[field]}`;
    return { reason, hint };
  }
  return {
    entry,
    reason: `${reason}, but there is a field ${quote(entry.key)}`,
    ...renameEntry(entry, field),
  };
}

function isText(value: unknown): boolean {
  return typeof value === "string" && oneLine(value) !== "";
}
