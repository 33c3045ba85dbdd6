/**
 * The checks of a skill that read its files, for `--check`.
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { attempt, faultOf, MAX_FILE_DEPTH } from "../files/faults.ts";
import { SKILL_MD } from "../files/paths.ts";
import {
  bodyOf,
  findField,
  KNOWN_FIELDS,
  quoteField,
  readSkillText,
  type TextProblem,
  writeLine,
} from "./frontmatter.ts";
import {
  checkContents,
  type CheckedFrontmatter,
  checkFrontmatter,
  type SkillContents,
} from "./validity.ts";
import {
  editDistance,
  joinFirst,
  listInvisible,
  nearestWords,
  quote,
} from "../text.ts";
import type { Problem, Skill, SkillSource } from "./types.ts";

/** The maximum number of problems of one check that are reported for a skill. */
const MAX_SIMILAR = 20;

/** The maximum length of a text that a problem quotes, in characters. */
const MAX_QUOTED_LENGTH = 200;

/** The maximum number of lines, or of characters in a line, that a problem names. */
const MAX_NAMED = 10;

/** The recommended length of a `SKILL.md`, in lines. */
const MAX_LINES = 500;

/** Checks a skill in its current state. */
export async function checkSkill(
  skill: Skill,
  { source, contents }: { source: SkillSource; contents: SkillContents },
): Promise<Problem[]> {
  const problems = [
    ...await checkMain(skill, { source, contents }),
    ...checkContents(skill, contents),
  ];
  for (const listed of contents.files) {
    if (listed.path === SKILL_MD) continue;
    try {
      await source.readFile(skill, listed.path);
    } catch (error) {
      const file = join(skill.directory, listed.path);
      problems.push({ file, ...faultOf(error), rule: "unreadable" });
    }
  }
  return problems;
}

/** Checks the `SKILL.md`. The scan has reported what is wrong with its YAML. */
async function checkMain(
  skill: Skill,
  { source, contents }: { source: SkillSource; contents: SkillContents },
): Promise<Problem[]> {
  const { file, directory } = skill;
  const changed = (reason: string) => [
    { rule: "changed", file, reason, hint: "try again" },
  ];
  const main = await source.readFile(skill, SKILL_MD).catch((error) => error);
  if (main instanceof Error) return changed(main.message);
  const text = main.text ?? new TextDecoder().decode(main.bytes);
  const { frontmatter, problems: [fault] } = readSkillText(text);
  if (frontmatter === undefined) return changed(fault!.reason);
  const checked = { frontmatter, folder: basename(directory), text, contents };
  const problems = CHECKS.flatMap((check) => limitSimilar(check(checked)))
    .map((problem): Problem => ({ file, ...problem }));
  const hint = "save the file as UTF-8";
  const reason = "it is not valid UTF-8";
  return main.text === undefined
    ? [{ rule: "utf-8", file, reason, hint }, ...problems]
    : problems;
}

/** Reports the first problems that a check finds, and the number of the others. */
function limitSimilar(problems: readonly TextProblem[]): TextProblem[] {
  const more = problems.length - MAX_SIMILAR;
  if (more <= 0) return [...problems];
  const reason = `there are ${more} more like these`;
  const shown = problems.slice(0, MAX_SIMILAR);
  return [...shown, { ...shown.at(-1)!, reason }];
}

/** A valid `SKILL.md`, and the files beside it. */
interface CheckedMain extends CheckedFrontmatter {
  readonly text: string;
  readonly contents: SkillContents;
}

const CHECKS: readonly ((main: CheckedMain) => TextProblem[])[] = [
  checkFrontmatter,
  checkFieldNames,
  checkCut,
  checkPlaceholder,
  checkLength,
  checkCharacters,
  checkBody,
  checkLinks,
];

/** Reports unknown fields that differ only slightly from known ones. */
function checkFieldNames({ frontmatter, text }: CheckedMain): TextProblem[] {
  return Object.keys(frontmatter).flatMap((key) => {
    const name = key.toLowerCase().replaceAll("_", "-").trim();
    const field = KNOWN_FIELDS.includes(key)
      ? undefined
      : KNOWN_FIELDS.find((field) => editDistance(name, field, 1) <= 1);
    const place = findField(key, text);
    if (field === undefined || place === undefined) return [];
    const { line, value } = place;
    const reason = `the field ${quote(key)} is unknown, but ${
      quote(field)
    } is known`;
    const hint = writeLine(`${field}: ${value}`);
    return [{ rule: "field-misspelled", line, reason, hint }];
  });
}

/** Reports a comment that hides the end of the description. */
function checkCut({ frontmatter, text }: CheckedMain): TextProblem[] {
  const { line = 1, value = "" } = findField("description", text) ?? {};
  const { description } = frontmatter;
  const isCut = value.startsWith(`${description} #`);
  const reason = 'the description is cut off at " #", which starts a comment';
  const hint = writeLine(quoteField("description", value));
  return isCut ? [{ rule: "description-cut", line, reason, hint }] : [];
}

/** Reports the description of a template that was not filled in. */
function checkPlaceholder({ frontmatter, text }: CheckedMain): TextProblem[] {
  const description = frontmatter.description.trim();
  if (!PLACEHOLDER.test(description)) return [];
  const shown = quote(description.slice(0, MAX_QUOTED_LENGTH));
  return [{
    rule: "description-placeholder",
    line: findField("description", text)?.line ?? 1,
    reason: `the description ${shown} is a placeholder`,
    hint: "write what the skill does and when to use it",
  }];
}

const PLACEHOLDER =
  /^(?:(?:TODO|TBD|FIXME|XXX)\b|[^\p{L}\p{N}]+$|<[^<>]*>$|\[[^[\]]*\]$|\{[^{}]*\}$|(?:[Rr]eplace|[Ff]ill in|[Ii]nsert|[Aa]dd) .{0,40}\bdescription\b|(?:[Aa]n? |[Tt]he |[Yy]our )?(?:\w+ ){0,3}[Dd]escription (?:here|of (?:the|this|your|what))\b|What (?:this|the|your) skill does\b)/u;

function checkLength({ text }: CheckedMain): TextProblem[] {
  const lines = text.split("\n").length - (text.endsWith("\n") ? 1 : 0);
  const reason =
    `it has ${lines} lines, more than the recommended ${MAX_LINES}`;
  const hint =
    "move details into separate files, for the agent to read if needed";
  return lines > MAX_LINES ? [{ rule: "length", reason, hint }] : [];
}

/** Reports invisible characters, which can hide text. */
function checkCharacters({ text }: CheckedMain): TextProblem[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  return lines.flatMap((text, index) => {
    const characters = listInvisible(text);
    if (characters.length === 0) return [];
    const shown = joinFirst(characters, MAX_NAMED);
    return [{
      rule: "invisible-characters",
      line: index + 1,
      reason: `the line contains invisible characters: ${shown}`,
      hint: "remove them, and find out where they come from",
    }];
  });
}

function checkBody({ text }: CheckedMain): TextProblem[] {
  const reason = "there are no instructions below the frontmatter";
  const hint = "write what the agent should do";
  return bodyOf(text).trim() === ""
    ? [{ rule: "body-empty", reason, hint }]
    : [];
}

/** Reports links in the body that lead to no served file, each path once. */
function checkLinks({ text, contents }: CheckedMain): TextProblem[] {
  const isServed = createPathTest(contents);
  const broken = new Map<string, { target: string; lines: Set<number> }>();
  for (const { target, line } of findLinks(text)) {
    const path = pathOfTarget(target);
    if (path === undefined || isServed(path)) continue;
    const known = broken.get(path);
    if (known === undefined) {
      broken.set(path, { target, lines: new Set([line]) });
    } else known.lines.add(line);
  }
  return [...broken].map(([path, { target, lines }], index) => {
    const shown = quote(target.slice(0, MAX_QUOTED_LENGTH));
    const all = joinFirst([...lines].map(String), MAX_NAMED);
    const places = lines.size > 1 ? ` (lines ${all})` : "";
    const near = index < MAX_SIMILAR ? findNear(path, contents) : undefined;
    return {
      rule: "broken-link",
      line: [...lines][0]!,
      reason: `the link ${shown} ${describeTarget(path)}${places}`,
      hint: near === undefined
        ? "link to a served file, or remove the link"
        : `link to ${quote(near)} instead`,
    };
  });
}

function describeTarget(path: string): string {
  if (path.startsWith("..")) return "points outside the skill";
  return /(?:^|\/)(?:\.|node_modules(?:\/|$)|__pycache__(?:\/|$))/.test(path)
    ? "points to a hidden file or folder, which is not served"
    : "does not point to a served file";
}

/** Finds the file that a link is most likely meant to point to. */
function findNear(path: string, { files }: SkillContents): string | undefined {
  const name = basename(path);
  const paths = files.map(({ path }) => path)
    .filter((path) => path !== SKILL_MD);
  return paths.find((other) => basename(other) === name) ??
    nearestWords(path, paths)[0] ??
    paths.find((other) => other.toLowerCase().endsWith(name.toLowerCase()));
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

/** Fenced code, code spans, escaped brackets, and comments. What does not end reaches to the end. */
const CODE =
  /^[ \t>*+\-\d.)]*(`{3,}(?![^\n]*`)|~{3,})[^]*?(?:\n[ \t>]*\1[`~]*[ \t]*$|$(?![^]))|(?<![`\\])(`+)(?!`)(?:[^\n]|\n(?![ \t]*\n)){1,1000}?(?<!`)\2(?!`)|\\\[[^[\]\n]*\]|<!--[^]*?(?:-->|$(?![^]))/gm;

/** The target of a link or an image, or of a link reference definition. */
const LINK =
  /(?<!\\)\]\(\s*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()<>]*\))+))(?:\s+["'(][^\n"')]*["')])?\s*\)|^ {0,3}\[[^\]\n^][^\]\n]*\]:[ \t]*<?([^\s<>]+)>?[ \t]*(?:["'(].*)?$/gm;

/** Finds the links and images in Markdown that are neither in code nor in comments. */
function* findLinks(
  markdown: string,
): Generator<{ target: string; line: number }> {
  const prose = markdown.replaceAll("\r\n", "\n")
    .replace(CODE, (code) => code.replace(/[^\n]+/g, ""));
  let line = 1;
  let end = 0;
  for (
    const { index, 1: quoted, 2: plain, 3: defined } of prose.matchAll(LINK)
  ) {
    for (; end < index; end++) if (prose[end] === "\n") line++;
    const target = quoted ?? plain ?? defined!;
    yield { target: target.replace(/\\([!-/:-@[-`{-~])/g, "$1"), line };
  }
}

/**
 * Returns the path in the skill that a target refers to, or `undefined` if the
 * target is not a relative path. Any `..` that remains points outside the skill.
 */
function pathOfTarget(target: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|[/\\#?~@])|[{}$*|]|\.\.\./i.test(target)) {
    return undefined;
  }
  const [written = ""] = target.split(/[?#]/, 1);
  const path = attempt(() => decodeURIComponent(written)) ?? written;
  const names: string[] = [];
  for (const name of path.replaceAll("\\", "/").split("/")) {
    if (name === "" || name === ".") continue;
    const isUp = name === ".." && (names.at(-1) ?? "..") !== "..";
    if (isUp) names.pop();
    else names.push(name);
  }
  return names.join("/");
}
