/**
 * The checks of a skill that read its files, for `--check`.
 *
 * @module
 */

import { basename, dirname, join } from "jsr:@std/path@^1";
import { faultOf, MAX_FILE_DEPTH } from "../files/faults.ts";
import { realPathIfThere } from "../files/paths.ts";
import { SKILL_MD } from "../files/paths.ts";
import { type InspectedSkillMd, inspectSkillMd } from "./frontmatter.ts";
import { KNOWN_FIELDS } from "./frontmatter_faults.ts";
import { findLinks, pathOfTarget } from "./markdown_links.ts";
import {
  checkContents,
  checkFrontmatter,
  createChange,
  createProblem,
  MAX_LINES,
  type RuleId,
  type SkillContents,
} from "./validity.ts";
import {
  findFieldLine,
  linesOf,
  listNested,
  plainTextOf,
  quoteEntry,
  renameEntry,
  splitEntries,
  type YamlEntry,
} from "./yaml_entries.ts";
import {
  editDistance,
  joinFirst,
  listInvisible,
  normalizeText,
  quote,
  withoutInvisible,
} from "../text.ts";
import type { Problem, Skill, SkillSource } from "./types.ts";

/** The maximum number of findings of one check that are reported for a skill. */
const MAX_SIMILAR = 20;

/** The maximum length of a text that a finding quotes, in characters. */
const MAX_QUOTED_LENGTH = 200;

/** The maximum number of invisible characters of a line that are named. */
const MAX_CODE_POINTS = 10;

interface CheckOptions {
  readonly source: SkillSource;
  /** What the source listed. */
  readonly contents: SkillContents;
}

/** Checks a skill in its current state. */
export async function* checkSkill(
  skill: Skill,
  options: CheckOptions,
): AsyncGenerator<Problem> {
  const { source, contents } = options;
  yield* checkMain(skill, options);
  yield* checkContents(skill, contents);
  for (const listed of contents.files) {
    if (listed.path === SKILL_MD) continue;
    try {
      await source.readFile(skill, listed.path);
    } catch (error) {
      const file = join(skill.directory, listed.path);
      yield createProblem("unreadable", { file, ...faultOf(error) });
    }
  }
}

/**
 * Checks the rest of a skill that is skipped because of its frontmatter, so that
 * its author sees everything at once. Other problems have no findings.
 */
export async function* checkSkipped(
  { file, rule, line }: Problem,
  source: SkillSource,
): AsyncGenerator<Problem> {
  const directory = dirname(file);
  const realDirectory = realPathIfThere(directory);
  const isFrontmatter = line !== undefined && rule !== "utf-16";
  if (!isFrontmatter || realDirectory === undefined) return;
  // Access to its files needs no more.
  const skill = { directory, realDirectory, file } as Skill;
  const contents = await source.inspectFiles(skill);
  yield* checkSkill(skill, { source, contents });
}

/** Checks the frontmatter, the length, the characters, and the links of a `SKILL.md`. */
async function* checkMain(
  skill: Skill,
  { source, contents }: CheckOptions,
): AsyncGenerator<Problem> {
  const { file, directory } = skill;
  let text;
  try {
    const main = await source.readFile(skill, SKILL_MD);
    if (main.text === undefined) {
      const reason = "SKILL.md is not valid UTF-8";
      const hint = "save the file as UTF-8";
      yield createProblem("utf-8", { file, reason, hint });
    }
    text = main.text ?? new TextDecoder().decode(main.bytes);
  } catch (error) {
    yield createChange(file, (error as Error).message);
    return;
  }
  const inspected = inspectSkillMd(text);
  const { faults: [fault], frontmatter, yaml = "" } = inspected;
  // A skill that was skipped has no frontmatter.
  if (fault !== undefined && skill.frontmatter !== undefined) {
    yield createChange(file, fault.reason);
    return;
  }
  const entries = splitEntries(linesOf(yaml));
  yield* checkFrontmatter({ frontmatter, file }, entries);
  const main = { ...inspected, text, entries, directory, contents };
  for (const check of CHECKS) yield* limitSimilar(file, check(main));
}

/** A `SKILL.md`, and what was found in it. */
interface CheckedMain extends InspectedSkillMd {
  readonly text: string;
  readonly entries: readonly YamlEntry[];
  readonly directory: string;
  readonly contents: SkillContents;
}

/** What a check finds in a `SKILL.md`. */
type Fault = Omit<Problem, "file" | "rule" | "line"> & {
  readonly rule: RuleId;
  readonly line?: number | undefined;
};

const CHECKS: readonly ((main: CheckedMain) => Iterable<Fault>)[] = [
  checkFieldNames,
  checkDescription,
  checkEscapes,
  checkFolderName,
  checkLength,
  checkCharacters,
  checkBody,
  checkLinks,
];

/** Reports the first faults that a check finds, and the number of the others. */
function* limitSimilar(
  file: string,
  found: Iterable<Fault>,
): Generator<Problem> {
  const faults = [...found];
  const more = faults.length - MAX_SIMILAR;
  if (more > 0) {
    const last = faults[MAX_SIMILAR - 1]!;
    const reason = `there are ${more} more like these`;
    faults.splice(MAX_SIMILAR, more, { ...last, reason });
  }
  for (const { rule, ...fault } of faults) {
    yield createProblem(rule, { file, ...fault });
  }
}

/** Reports unknown fields that differ only slightly from known ones. */
function* checkFieldNames(
  { frontmatter, entries }: CheckedMain,
): Generator<Fault> {
  for (const entry of entries) {
    const field = findKnownField(entry.key);
    if (field === undefined || !Object.hasOwn(frontmatter, entry.key)) continue;
    yield {
      rule: "field-misspelled",
      line: entry.start + 1,
      reason: `the field ${quote(entry.key)} is unknown, but ${
        quote(field)
      } is known`,
      hint: renameEntry(entry, field).hint,
    };
  }
}

/** Returns the known field that an unknown one is most likely meant to be. */
function findKnownField(key: string): string | undefined {
  if (KNOWN_FIELDS.includes(key)) return undefined;
  const name = key.toLowerCase().replaceAll("_", "-").trim();
  return KNOWN_FIELDS.find((field) => editDistance(name, field, 1) <= 1);
}

/** Checks the description for a comment that cuts it, and for placeholders. */
function* checkDescription(
  { frontmatter: { description }, entries }: CheckedMain,
): Generator<Fault> {
  if (description === undefined) return;
  const line = findFieldLine("description", entries);
  const entry = entries.find(({ key }) => key === "description");
  if (entry !== undefined && isCut(description, entry)) {
    yield {
      rule: "description-cut",
      line,
      reason: 'the description is cut off at " #", which starts a comment',
      hint: quoteEntry(entry).hint,
    };
  }
  const text = description.trim();
  if (PLACEHOLDERS.some((pattern) => pattern.test(text))) {
    const shown = quote(text.slice(0, MAX_QUOTED_LENGTH));
    yield {
      rule: "description-placeholder",
      line,
      reason: `the description ${shown} is a placeholder`,
      hint: "write what the skill does and when to use it",
    };
  }
}

/** Whether a comment hides the end of a plain value. */
function isCut(value: string, entry: YamlEntry): boolean {
  const text = plainTextOf(entry);
  return !/^[|>]/.test(entry.rest) && text.startsWith(value) &&
    /^\s+#/.test(text.slice(value.length));
}

/** Descriptions of templates that were not filled in. */
const PLACEHOLDERS = [
  /^(?:TODO|TBD|FIXME|XXX)\b/,
  /^(?:todo|tbd|placeholder|description|none|n\/a)\W*$/i,
  /^lorem ipsum\b/i,
  /^[^\p{L}\p{N}]+$/u,
  /^(?:<[^<>]*>|\[[^[\]]*\]|\{[^{}]*\})[.…]*$/,
  /^(?:replace|fill in|insert|add|enter|write)\b.{0,40}\bdescription\b/i,
  /^(?:an? |the |your )?(?:brief |short |one-line |clear |concise |skill |skill's )*description (?:here|of (?:the|this|your|what))\b/i,
  /^what (?:this|the|your) skill does\b/i,
];

/** Reports paths and regular expressions in double quotes that YAML changes. */
function* checkEscapes({ entries }: CheckedMain): Generator<Fault> {
  const nested = entries.flatMap((entry) => listNested(entry));
  for (const entry of [...entries, ...nested]) {
    const escape = findSlip([entry.rest, ...entry.more].join("\n"));
    if (escape === undefined) continue;
    const text = plainTextOf(entry).replaceAll("\\\\", "\\");
    yield {
      rule: "backslash",
      line: entry.start + 1,
      reason: `the double quotes turn ${quote(escape)} into another character`,
      hint: quoteEntry(entry, { text }).hint,
    };
  }
}

/**
 * Finds an escape in double quotes that is unlikely to be meant as one: for a
 * character that no value needs, or any one in a path of Windows. Whoever writes
 * characters by their numbers knows escapes.
 */
function findSlip(value: string): string | undefined {
  if (!value.startsWith('"') || /\\[xuU]/.test(value)) return undefined;
  let word = 1;
  for (const { 0: token, index } of value.matchAll(/(?<!^)(?:\\[^]|"|\s)/g)) {
    if (token === '"') return undefined;
    const isInPath = /^\W{0,2}[A-Za-z]:/.test(value.slice(word, index));
    if (isInPath ? /\\[^"\\/]/.test(token) : /\\[0abeftvLNP_]/.test(token)) {
      return token;
    }
    if (!token.startsWith("\\")) word = index + 1;
  }
}

function* checkFolderName(
  { frontmatter, entries, directory }: CheckedMain,
): Generator<Fault> {
  if (frontmatter.name === undefined) return;
  const name = withoutInvisible(frontmatter.name);
  const folder = basename(directory);
  if (normalizeText(folder) === normalizeText(name)) return;
  yield {
    rule: "name-folder",
    line: findFieldLine("name", entries),
    reason: `the name ${quote(name)} differs from the folder name ${
      quote(folder)
    }`,
    hint: "give the skill and its folder the same name",
  };
}

function* checkLength({ text }: CheckedMain): Generator<Fault> {
  const lines = countLineBreaks(text) + (text.endsWith("\n") ? 0 : 1);
  if (lines <= MAX_LINES) return;
  yield {
    rule: "length",
    reason: `it has ${lines} lines, more than the recommended ${MAX_LINES}`,
    hint: "move details into separate files, for the agent to read if needed",
  };
}

/** Checks a `SKILL.md` for invisible characters, which can hide text. */
function* checkCharacters(
  { text, body = "", frontmatter, entries }: CheckedMain,
): Generator<Fault> {
  const lines = linesOf(text.replace(/^\ufeff/, ""));
  const places = lines.map((text, index) => ({ text, line: index + 1 }));
  const head = lines.slice(0, firstLineOf(body, text) - 1).join("\n");
  // Characters that YAML escapes appear only in the parsed values.
  if (listInvisible(head).length === 0) {
    for (const field of ["name", "description"] as const) {
      const line = findFieldLine(field, entries);
      places.push({ text: frontmatter[field] ?? "", line });
    }
  }
  for (const { text, line } of places) {
    const characters = listInvisible(text);
    if (characters.length === 0) continue;
    yield {
      rule: "invisible-characters",
      line,
      reason: `the line contains invisible characters: ${
        joinFirst(characters, MAX_CODE_POINTS)
      }`,
      hint: "remove them, and find out where they come from",
    };
  }
}

function* checkBody({ text, body }: CheckedMain): Generator<Fault> {
  if (body === undefined || body.trim() !== "") return;
  yield {
    rule: "body-empty",
    line: firstLineOf(body, text),
    reason: "there are no instructions below the frontmatter",
    hint: "write what the agent should do",
  };
}

/** Checks the relative links in the body, each path once. */
function* checkLinks(
  { text, body = "", contents }: CheckedMain,
): Generator<Fault> {
  const isServed = createPathTest(contents);
  const firstLine = firstLineOf(body, text);
  const checked = new Set<string>();
  for (const { target, line } of findLinks(body)) {
    const path = pathOfTarget(target);
    if (path === undefined || checked.has(path)) continue;
    checked.add(path);
    if (isServed(path)) continue;
    const fault = path.split("/", 1)[0] === ".."
      ? "points outside the skill"
      : "does not point to a served file";
    yield {
      rule: "broken-link",
      line: firstLine + line,
      reason: `the link ${quote(target.slice(0, MAX_QUOTED_LENGTH))} ${fault}`,
      hint: "link to a served file, or remove the link",
    };
  }
}

/**
 * Creates a function that returns whether a path is served, or is in a folder
 * that could not be read.
 */
function createPathTest(
  { files, leftOut }: SkillContents,
): (path: string) => boolean {
  const served = new Set(
    files.flatMap(({ path }) => [path, ...listFolders(path)]),
  );
  const unread = new Set(leftOut.map(({ file }) => file));
  return (path) =>
    served.has(path) || served.has(`${path}/`) ||
    listFolders(`${path}/`).some((folder) => unread.has(folder));
}

/** Lists the folders in a path with their slashes, as deep as files are served, and `""`. */
function listFolders(path: string): string[] {
  return path.matchAll(/^|(?<=\/)/g).take(MAX_FILE_DEPTH + 1)
    .map(({ index }) => path.slice(0, index)).toArray();
}

/** Returns the number of the line on which the body of a `SKILL.md` starts. */
function firstLineOf(body: string, text: string): number {
  return countLineBreaks(text) - countLineBreaks(body) + 1;
}

function countLineBreaks(text: string): number {
  return text.split("\n").length - 1;
}
