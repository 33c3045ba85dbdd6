/**
 * The checks of a skill that read its files, for `--check`.
 *
 * @module
 */

import { basename, dirname, join, normalize } from "jsr:@std/path@^1";
import { attempt, faultOf } from "../files/faults.ts";
import { SKILL_MD } from "../files/paths.ts";
import {
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
import { editDistance, listInvisible, quote } from "../text.ts";
import type { Problem, Skill, SkillSource } from "./types.ts";

/** The maximum number of broken links that are reported for a skill. */
const MAX_LINKS = 20;

/** The maximum length of a target that a problem quotes, in characters. */
const MAX_QUOTED_LENGTH = 200;

/** A valid `SKILL.md`, and the files beside it. */
interface CheckedMain extends CheckedFrontmatter {
  readonly text: string;
  readonly contents: SkillContents;
}

/** The checks of a `SKILL.md`. The scan has reported what is wrong with its YAML. */
const CHECKS: readonly ((main: CheckedMain) => TextProblem[])[] = [
  checkFrontmatter,
  checkFieldNames,
  checkCut,
  checkCharacters,
  checkLinks,
];

/** Checks a skill in its current state. */
export async function checkSkill(
  skill: Skill,
  { source, contents }: { source: SkillSource; contents: SkillContents },
): Promise<Problem[]> {
  const problems = [...checkFileName(skill), ...checkContents(skill, contents)];
  for (const { path } of contents.files) {
    try {
      const { bytes, text } = await source.readFile(skill, path);
      if (path !== SKILL_MD) continue;
      const main = checkMain(text ?? new TextDecoder().decode(bytes), {
        folder: basename(skill.directory),
        contents,
      });
      if (text === undefined) main.push(NOT_UTF_8);
      problems.push(...main.map((it) => ({ file: skill.file, ...it })));
    } catch (error) {
      const file = join(skill.directory, path);
      problems.push({ file, ...faultOf(error), rule: "unreadable" });
    }
  }
  return problems;
}

/** Checks the `SKILL.md`. It may no longer be what was scanned. */
function checkMain(
  text: string,
  rest: Pick<CheckedMain, "folder" | "contents">,
): TextProblem[] {
  const { frontmatter, problems } = readSkillText(text);
  return frontmatter === undefined
    ? [...problems]
    : CHECKS.flatMap((check) => check({ frontmatter, text, ...rest }));
}

const NOT_UTF_8: TextProblem = {
  rule: "utf-8",
  reason: "it is not valid UTF-8",
  hint: "save the file as UTF-8",
};

/** Checks the name of a skill's file. Only this server also finds a `skill.md`. */
function checkFileName({ file }: Skill): Problem[] {
  const name = quote(basename(file));
  const reason = `most programs find only ${quote(SKILL_MD)}, not ${name}`;
  const hint = `rename it to ${quote(SKILL_MD)}`;
  return basename(file) === SKILL_MD
    ? []
    : [{ rule: "file-name-case", file, reason, hint }];
}

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
  const isCut = value.startsWith(`${frontmatter.description} #`);
  const reason = 'the description is cut off at " #", which starts a comment';
  const hint = writeLine(quoteField("description", value));
  return isCut ? [{ rule: "description-cut", line, reason, hint }] : [];
}

/** Reports the first line with invisible characters, which can hide text. */
function checkCharacters({ text }: CheckedMain): TextProblem[] {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/);
  const index = lines.findIndex((line) => listInvisible(line).length > 0);
  if (index === -1) return [];
  const [first] = listInvisible(lines[index]!);
  return [{
    rule: "invisible-characters",
    line: index + 1,
    reason: `there are invisible characters, such as ${first}`,
    hint: "remove them, and find out where they come from",
  }];
}

/** Reports links in the body that lead to no served file, each path once. */
function checkLinks({ text, contents }: CheckedMain): TextProblem[] {
  const paths = contents.files.map(({ path }) => path);
  const served = new Set([".", ...paths, ...paths.flatMap(listFolders)]);
  const links = Map.groupBy(findLinks(text), ({ path }) => path);
  return [...links.values()].map(([first]) => first!)
    .filter(({ path }) => !served.has(path)).slice(0, MAX_LINKS)
    .map(({ target, line }) => ({
      rule: "broken-link",
      line,
      reason: `the link ${
        quote(target.slice(0, MAX_QUOTED_LENGTH))
      } does not point to a served file`,
      hint:
        "link to a file of the skill that is not hidden, or remove the link",
    }));
}

/** Lists the folders that contain a file of a skill. */
function listFolders(path: string): string[] {
  const folder = dirname(path);
  return folder === "." ? [] : [folder, ...listFolders(folder)];
}

/** Fenced code, code spans, escaped brackets, and comments. What does not end reaches to the end. */
const CODE =
  /^[ \t>*+\-\d.)]*(`{3,}(?![^\n]*`)|~{3,})[^]*?(?:\n[ \t>]*\1[`~]*[ \t]*$|$(?![^]))|(?<![`\\])(`+)(?!`)[^\n]{1,1000}?(?<!`)\2(?!`)|\\\[[^[\]\n]*\]|<!--[^]*?(?:-->|$(?![^]))/gm;

/** The target of a link or an image, in angle brackets or plain. */
const LINK =
  /(?<!\\)\]\(\s*(?:<([^<>\n]*)>|((?:[^\s()<>]|\([^\s()<>]*\))+))(?=\s*[)"'])/g;

/** What no relative path contains: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^(?:[a-z][a-z\d+.-]*:|[/\\#?~@])|[{}$*|]|\.\.\./i;

/** A relative link in Markdown. Any `..` in its path leads outside the skill. */
interface Link {
  readonly target: string;
  readonly path: string;
  readonly line: number;
}

/** Finds the relative links and images in Markdown that are neither in code nor in comments. */
function findLinks(markdown: string): Link[] {
  const prose = markdown.replaceAll("\r\n", "\n")
    .replace(CODE, (code) => code.replace(/[^\n]+/g, ""));
  return prose.split("\n").flatMap((text, index) =>
    Array.from(text.matchAll(LINK), ([, quoted, plain = ""]) => {
      const target = (quoted ?? plain).replace(/\\(\W|_)/g, "$1");
      return { target, path: pathOf(target), line: index + 1 };
    })
  ).filter(({ target }) => !NO_PATH.test(target));
}

/** Returns the path that a link names, normalized to slashes, but none at its end. */
function pathOf(target: string): string {
  const [written = ""] = target.split(/[?#]/, 1);
  const path = attempt(() => decodeURIComponent(written)) ?? written;
  return normalize(path).replaceAll("\\", "/").replace(/\/$/, "");
}
