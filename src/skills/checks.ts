/**
 * The checks of a skill that read its files, for `--check`.
 *
 * @module
 */

import { basename, dirname, join } from "jsr:@std/path@^1";
import { faultOf, MAX_FILE_DEPTH } from "../files/faults.ts";
import { isThere } from "../files/confinement.ts";
import { SKILL_MD } from "../files/paths.ts";
import {
  findFieldLine,
  type InspectedSkillMd,
  inspectSkillMd,
} from "./frontmatter.ts";
import { KNOWN_FIELDS } from "./frontmatter_faults.ts";
import { findLinks, type Link, pathOfTarget } from "./markdown_links.ts";
import {
  checkContents,
  checkFrontmatter,
  createFinding,
  type Finding,
  MAX_LINES,
  type RuleId,
  type SkillContents,
} from "./validity.ts";
import {
  linesOf,
  plainTextOf,
  splitEntries,
  type YamlEntry,
} from "./yaml_lines.ts";
import { quoteEntry, renameEntry, replaceHint } from "./yaml_repair.ts";
import {
  editDistance,
  listInvisible,
  normalizeText,
  quote,
  withoutInvisible,
} from "../text.ts";
import type { Skill, SkillProblem, SkillSource } from "./types.ts";

/** The maximum number of findings of one kind that are reported for a skill. */
const MAX_SIMILAR = 20;

/** The maximum length of a link's target in a finding, in characters. */
const MAX_TARGET_LENGTH = 200;

/** The maximum number of invisible characters of a line that are named. */
const MAX_CODE_POINTS = 10;

interface CheckOptions {
  readonly source: SkillSource;
  /** What the source listed. */
  readonly contents: SkillContents;
  /** Whether its frontmatter is known to be invalid. Default: `false`. */
  readonly isSkipped?: boolean;
}

/** Checks a skill in its current state. */
export async function* checkSkill(
  skill: Skill,
  options: CheckOptions,
): AsyncGenerator<Finding> {
  const { source, contents } = options;
  yield* checkMain(skill, options);
  yield* checkContents(skill, contents);
  for (const listed of contents.files) {
    if (listed.path === SKILL_MD) continue;
    try {
      await source.readFile(skill, listed);
    } catch (error) {
      const file = join(skill.directory, listed.path);
      yield createFinding("unreadable", { file, ...faultOf(error) });
    }
  }
}

/** The rules that invalid frontmatter violates. */
const FRONTMATTER_RULES: readonly (string | undefined)[] = [
  "frontmatter-missing",
  "frontmatter-size",
  "yaml",
  "name-missing",
  "description-missing",
] satisfies RuleId[];

/**
 * Checks the rest of a skill that is skipped because of its frontmatter, so that
 * its author sees everything at once. Other problems have no findings.
 */
export async function* checkSkipped(
  { file, kind }: SkillProblem,
  source: SkillSource,
): AsyncGenerator<Finding> {
  const directory = dirname(file);
  if (!FRONTMATTER_RULES.includes(kind) || !isThere(directory)) return;
  const name = basename(directory);
  const skill: Skill = {
    name,
    description: "",
    frontmatter: { name, description: "" },
    excerpt: new Uint8Array(),
    directory,
    realDirectory: Deno.realPathSync(directory),
    file,
    size: 0,
    version: "",
    scope: "global",
    root: { path: dirname(directory), scope: "global", recursive: false },
  };
  const contents = await source.inspectFiles(skill);
  yield* checkSkill(skill, { source, contents, isSkipped: true });
}

/** Checks the frontmatter, the length, the characters, and the links of a `SKILL.md`. */
async function* checkMain(
  skill: Skill,
  { source, contents, isSkipped = false }: CheckOptions,
): AsyncGenerator<Finding> {
  const { file } = skill;
  let text;
  try {
    const main = await source.readFile(skill, SKILL_MD);
    if (main.text === undefined) {
      yield createFinding("utf-8", { file, ...NOT_UTF_8 });
    }
    text = main.text ?? new TextDecoder().decode(main.bytes);
  } catch (error) {
    yield createChanged(file, (error as Error).message);
    return;
  }
  const { faults: [fault], ...inspected } = inspectSkillMd(text);
  if (fault !== undefined && !isSkipped) {
    yield createChanged(file, fault.reason);
    return;
  }
  const { yaml = "", body } = inspected;
  const main = { ...inspected, file, yaml };
  yield* checkFrontmatter(main, yaml);
  yield* checkFieldNames(main);
  yield* checkDescription(main);
  yield* checkEscapes(main);
  yield* checkFolderName(main, skill);
  yield* checkLength(skill, text);
  yield* checkCharacters(main, text);
  if (body === undefined) return;
  const firstLine = countLineBreaks(text) - countLineBreaks(body) + 1;
  if (body.trim() === "") {
    yield createFinding("body-empty", { file, line: firstLine, ...BODY_EMPTY });
  }
  yield* checkLinks(skill, { body, firstLine, contents });
}

function createChanged(file: string, reason: string): Finding {
  return createFinding("changed", { file, reason, hint: "check it again" });
}

interface CheckedMain extends Pick<InspectedSkillMd, "frontmatter"> {
  readonly file: string;
  readonly yaml: string;
}

const NOT_UTF_8 = {
  reason: "SKILL.md is not valid UTF-8",
  hint: "save the file as UTF-8",
};

const BODY_EMPTY = {
  reason: "there are no instructions below the frontmatter",
  hint: "write what the agent should do",
};

/** Reports unknown fields that differ only slightly from known ones. */
function* checkFieldNames(
  { frontmatter, file, yaml }: CheckedMain,
): Generator<Finding> {
  const misspelled = splitEntries(linesOf(yaml)).flatMap((entry) => {
    const field = Object.hasOwn(frontmatter, entry.key)
      ? findKnownField(entry.key)
      : undefined;
    return field === undefined ? [] : [{ entry, field }];
  });
  for (const { entry, field } of misspelled.slice(0, MAX_SIMILAR)) {
    const line = renameEntry(entry, field);
    yield createFinding("field-misspelled", {
      file,
      line: entry.start + 1,
      reason: `the field ${quote(entry.key)} is unknown, but ${
        quote(field)
      } is known`,
      hint: line === undefined
        ? `write "${field}:"`
        : `write this line instead:\n${line}`,
    });
  }
}

/** Returns the known field that an unknown one is most likely meant to be. */
function findKnownField(key: string): string | undefined {
  if (KNOWN_FIELDS.includes(key)) return undefined;
  const name = key.slice(0, MAX_FIELD_LENGTH).toLowerCase()
    .replaceAll("_", "-").trim();
  return KNOWN_FIELDS.find((field) => editDistance(name, field, 1) <= 1);
}

/** How many characters of the name of a field are compared. */
const MAX_FIELD_LENGTH = 100;

/** Checks the description for a comment that cuts it, and for placeholders. */
function* checkDescription(
  { frontmatter: { description }, file, yaml }: CheckedMain,
): Generator<Finding> {
  if (description === undefined) return;
  const entries = splitEntries(linesOf(yaml));
  const entry = entries.find(({ key }) => key === "description");
  const line = findFieldLine("description", yaml);
  const text = entry && plainTextOf(entry);
  const isCut = entry && /^[^"'|>]/.test(entry.rest) && /\s#/.test(text!) &&
    text!.startsWith(description) && text !== description;
  const written = isCut ? quoteEntry(entry) : undefined;
  if (written !== undefined) {
    yield createFinding("description-cut", {
      file,
      line,
      reason: 'the description is cut off at " #", which starts a comment',
      hint: replaceHint(entry!, { line, written }),
    });
  }
  if (PLACEHOLDERS.some((pattern) => pattern.test(description.trim()))) {
    yield createFinding("description-placeholder", {
      file,
      line,
      reason: `the description ${
        quote(description.trim().slice(0, MAX_TARGET_LENGTH))
      } is a placeholder`,
      hint: "write what the skill does and when to use it",
    });
  }
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
function* checkEscapes({ file, yaml }: CheckedMain): Generator<Finding> {
  const entries = splitEntries(linesOf(yaml));
  const slips = [...entries, ...entries.flatMap(listNested)]
    .flatMap((entry) => {
      const escape = findSlip([entry.rest, ...entry.more].join("\n"));
      return escape === undefined ? [] : [{ entry, escape }];
    });
  for (const { entry, escape } of slips.slice(0, MAX_SIMILAR)) {
    const text = plainTextOf(entry).replaceAll("\\\\", "\\");
    const written = quoteEntry(entry, text);
    const line = entry.start + 1;
    yield createFinding("backslash", {
      file,
      line,
      reason: `the double quotes turn ${quote(escape)} into another character`,
      hint: written === undefined
        ? "put the value in single quotes"
        : replaceHint(entry, { line, written }),
    });
  }
}

/** Lists the entries of a mapping below an entry. */
function listNested({ rest, start, more }: YamlEntry): YamlEntry[] {
  if (rest.trim() !== "") return [];
  return splitEntries(more)
    .map((entry) => ({ ...entry, start: start + 1 + entry.start }));
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
  { frontmatter, file, yaml }: CheckedMain,
  { directory }: Skill,
): Generator<Finding> {
  if (frontmatter.name === undefined) return;
  const name = withoutInvisible(frontmatter.name);
  const folder = basename(directory);
  if (normalizeText(folder) === normalizeText(name)) return;
  yield createFinding("name-folder", {
    file,
    line: findFieldLine("name", yaml),
    reason: `the name ${quote(name)} differs from the folder name ${
      quote(folder)
    }`,
    hint: "give the skill and its folder the same name",
  });
}

function* checkLength({ file }: Skill, text: string): Generator<Finding> {
  const lines = countLineBreaks(text) + (text.endsWith("\n") ? 0 : 1);
  if (lines <= MAX_LINES) return;
  yield createFinding("length", {
    file,
    reason: `it has ${lines} lines, more than the recommended ${MAX_LINES}`,
    hint: "move details into separate files, for the agent to read if needed",
  });
}

/** Checks a `SKILL.md` for invisible characters, which can hide text. */
function* checkCharacters(
  { file, frontmatter, yaml }: CheckedMain,
  text: string,
): Generator<Finding> {
  const { name = "", description = "" } = frontmatter;
  if (listInvisible(text + name + description).length === 0) return;
  const places = text.replace(/^\ufeff/, "").split(/\r?\n/)
    .map((text, index) => ({ line: index + 1, text }));
  // Characters that YAML escapes appear only in the parsed values.
  if (listInvisible(yaml).length === 0) {
    places.push({ line: findFieldLine("name", yaml), text: name });
    places.push({
      line: findFieldLine("description", yaml),
      text: description,
    });
  }
  const found = places.flatMap(({ line, text }) =>
    describeInvisible(text).map((reason) => ({ line, reason }))
  );
  const hint = "remove them, and find out where they come from";
  yield* limitSimilar({ rule: "invisible-characters", file, hint }, found);
}

/** Describes the invisible characters in a line. Returns an empty array if there are none. */
function describeInvisible(line: string): string[] {
  const characters = listInvisible(line);
  if (characters.length === 0) return [];
  const shown = characters.slice(0, MAX_CODE_POINTS).join(", ");
  const more = characters.length > MAX_CODE_POINTS ? ", …" : "";
  return [`the line contains invisible characters: ${shown}${more}`];
}

/** Checks the relative links in the body, each target once. */
function* checkLinks(
  { file }: Skill,
  { body, firstLine, contents }: {
    body: string;
    firstLine: number;
    contents: SkillContents;
  },
): Generator<Finding> {
  const isServed = createPathTest(contents);
  const targets = new Set<string>();
  const broken = new Map<string, Link>();
  for (const link of findLinks(body)) {
    if (targets.has(link.target)) continue;
    targets.add(link.target);
    const path = pathOfTarget(link.target);
    if (path === undefined || broken.has(path) || isServed(path)) continue;
    broken.set(path, link);
  }
  const found = [...broken].map(([path, { target, line }]) => {
    const fault = path.split("/", 1)[0] === ".."
      ? "points outside the skill"
      : "does not point to a served file";
    const shown = quote(target.slice(0, MAX_TARGET_LENGTH));
    return {
      line: firstLine + line,
      reason: `the link ${shown} ${fault}`,
    };
  });
  const hint = "link to a served file, or remove the link";
  yield* limitSimilar({ rule: "broken-link", file, hint }, found);
}

/**
 * Creates a function that returns whether a path is served, or is in a folder
 * that could not be read.
 */
function createPathTest(
  { files, leftOut }: SkillContents,
): (path: string) => boolean {
  const served = new Set(files.flatMap(({ path }) => listPrefixes(path)));
  const unreadable = new Set(
    leftOut.map(({ file }) => file)
      .filter((file) => file === "" || file.endsWith("/"))
      .map((folder) => folder.slice(0, -1)),
  );
  return (path) =>
    path === "" || served.has(path) ||
    listPrefixes(path).some((prefix) => unreadable.has(prefix));
}

/** Lists the prefixes of a path, starting with the skill directory, as deep as files are served. */
function listPrefixes(path: string): string[] {
  const names = path.split("/", MAX_FILE_DEPTH);
  return ["", ...names.map((_, index) => names.slice(0, index + 1).join("/"))];
}

/** Reports the first findings of one kind, and the number of the others. */
function* limitSimilar(
  { rule, ...rest }: { rule: RuleId; file: string; hint: string },
  found: readonly { line: number; reason: string }[],
): Generator<Finding> {
  const reported = found.slice(0, MAX_SIMILAR);
  for (const place of reported) {
    yield createFinding(rule, { ...rest, ...place });
  }
  const more = found.length - reported.length;
  if (more === 0) return;
  const reason = `there are ${more} more like these`;
  yield createFinding(rule, { ...rest, line: reported.at(-1)!.line, reason });
}

function countLineBreaks(text: string): number {
  return text.split("\n").length - 1;
}
