/**
 * The checks of a skill that read its files, for `--check`.
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { faultOf, MAX_FILE_DEPTH } from "../files/faults.ts";
import { SKILL_MD } from "../files/paths.ts";
import { findFieldLine, splitSkillMd } from "./frontmatter.ts";
import {
  KNOWN_FIELDS,
  quoteEntry,
  renameEntry,
  replaceHint,
} from "./frontmatter_faults.ts";
import { findLinks, type Link, pathOf } from "./markdown_links.ts";
import {
  checkContents,
  checkFrontmatter,
  createFinding,
  type Finding,
  MAX_LINES,
  type RuleId,
  type SkillContents,
} from "./validity.ts";
import { linesOf, plainTextOf, splitEntries } from "./yaml_lines.ts";
import { editDistance, listInvisible, normalizeText, quote } from "../text.ts";
import type { Skill, SkillSource } from "./types.ts";

/** The maximum number of findings of one kind that are reported for a skill. */
const MAX_SIMILAR = 20;

/** The maximum length of a link's target in a finding, in characters. */
const MAX_TARGET_LENGTH = 200;

/** The maximum number of invisible characters of a line that are named. */
const MAX_CODE_POINTS = 10;

/** Checks a skill in its current state, with the contents that its source listed. */
export async function* checkSkill(
  skill: Skill,
  { source, contents }: { source: SkillSource; contents: SkillContents },
): AsyncGenerator<Finding> {
  yield* checkMain(skill, { source, contents });
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

/** Checks the frontmatter, the length, the characters, and the links of a `SKILL.md`. */
async function* checkMain(
  skill: Skill,
  { source, contents }: { source: SkillSource; contents: SkillContents },
): AsyncGenerator<Finding> {
  const { file } = skill;
  let text, yaml, body;
  try {
    const main = await source.readFile(skill, SKILL_MD);
    if (main.text === undefined) {
      yield createFinding("utf-8", { file, ...NOT_UTF_8 });
    }
    text = main.text ?? new TextDecoder().decode(main.bytes);
    ({ yaml, body } = splitSkillMd(text));
  } catch (error) {
    const reason = (error as Error).message;
    yield createFinding("changed", { file, reason, hint: "check it again" });
    return;
  }
  yield* checkFrontmatter(skill, yaml);
  yield* checkFieldNames(skill, yaml);
  yield* checkDescription(skill, yaml);
  yield* checkFolderName(skill, yaml);
  yield* checkLength(skill, text);
  yield* checkCharacters(skill, { text, yaml });
  const firstLine = countLineBreaks(yaml) + 3;
  if (body.trim() === "") {
    yield createFinding("body-empty", { file, line: firstLine, ...BODY_EMPTY });
  }
  yield* checkLinks(skill, { body, firstLine, contents });
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
  { frontmatter, file }: Skill,
  yaml: string,
): Generator<Finding> {
  const entries = splitEntries(linesOf(yaml));
  for (const key of Object.keys(frontmatter)) {
    if (KNOWN_FIELDS.includes(key)) continue;
    const name = key.toLowerCase().replaceAll("_", "-").trim();
    const field = KNOWN_FIELDS.find((field) =>
      editDistance(name.slice(0, MAX_FIELD_LENGTH), field, 1) <= 1
    );
    if (field === undefined) continue;
    const entry = entries.find((entry) => entry.key === key);
    const line = entry && renameEntry(entry, field);
    yield createFinding("field-misspelled", {
      file,
      line: findFieldLine(key, yaml),
      reason: `the field ${quote(key)} is unknown, but ${
        quote(field)
      } is known`,
      hint: line === undefined
        ? `write "${field}:"`
        : `write this line instead:\n${line}`,
    });
  }
}

/** How many characters of the name of a field are compared. */
const MAX_FIELD_LENGTH = 100;

/** Checks the description for a comment that cuts it, and for placeholders. */
function* checkDescription(
  { frontmatter: { description }, file }: Skill,
  yaml: string,
): Generator<Finding> {
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
      hint: replaceHint(entry!, { line: line - 1, written }),
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

function* checkFolderName(
  { name, directory, file }: Skill,
  yaml: string,
): Generator<Finding> {
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
  { file, frontmatter }: Skill,
  { text, yaml }: { text: string; yaml: string },
): Generator<Finding> {
  const { name, description } = frontmatter;
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
    const path = pathOf(link.target);
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

/** Counts the line breaks in a text. */
function countLineBreaks(text: string): number {
  return text.split("\n").length - 1;
}
