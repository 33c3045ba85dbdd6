/**
 * The checks of a skill, each a function that returns what is wrong. `--check` reports
 * everything, and `skills/list` leaves a skill out if hosts could not load it.
 *
 * @see {@link https://agentskills.io/specification}
 *
 * @module
 */

import { basename, join, normalize } from "jsr:@std/path@^1";
import { attempt, faultOf } from "../files/faults.ts";
import {
  findField,
  findMisspelled,
  KNOWN_FIELDS,
  writeLine,
} from "./frontmatter.ts";
import {
  isObject,
  listInvisible,
  normalizeText,
  quote,
  withoutInvisible,
} from "../text.ts";
import { type Fault, hasEffect, type Problem } from "../problems.ts";
import { SKILL_MD } from "./names.ts";
import type { Skill, SkillFile, SkillFiles, SkillSource } from "./types.ts";

/** The maximum lengths according to the specification, in characters. */
const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;

/** The maximum depth of frontmatter that is sent, in levels. */
const MAX_DEPTH = 64;

/**
 * The maximum length of frontmatter that is sent, in characters. With aliases,
 * a short YAML text can become enormous.
 */
const MAX_SENT_LENGTH = 256 * 1024;

/** The maximum number of files of a skill, and their total size, that hosts accept. */
const MAX_FILES = 512;
const MAX_MIB = 16;

/** The maximum number of broken links that are reported for a skill. */
const MAX_LINKS = 20;

/** A skill, and what is known about it. */
interface CheckedSkill extends Skill {
  readonly contents: SkillFiles;
  /** The text of its `SKILL.md`, which is empty if it was not read. */
  readonly text: string;
}

/** A check returns what is wrong, if anything is. */
type Check = (skill: CheckedSkill) => Finding[] | Finding | undefined;

/** A problem, which is one of the `SKILL.md` unless it names another file. */
type Finding = Fault & {
  readonly file?: string;
  /** The field whose line it is about. */
  readonly field?: string;
};

/** The checks of what a scan knows about a skill: its frontmatter and the list of its files. */
const CHECKS: readonly Check[] = [
  checkName,
  checkDescription,
  checkHiddenCharacters,
  checkJson,
  checkOtherFields,
  checkFiles,
];

/** The checks of the text of a `SKILL.md`. The scan has reported what is wrong with its YAML. */
const TEXT_CHECKS: readonly Check[] = [
  checkFieldNames,
  checkCharacters,
  checkLinks,
];

/** Finds a reason why hosts cannot load a skill, and `skills/list` leaves it out. */
export function findUnlisting(
  skill: Skill,
  contents: SkillFiles,
): Pick<Problem, "rule" | "reason"> | undefined {
  if (skill.isRepaired) {
    const reason =
      "the frontmatter needs quotes around a value, or spaces for tabs";
    return { rule: "yaml-repaired", reason };
  }
  return run(CHECKS, { ...skill, contents, text: "" })
    .find((problem) => hasEffect(problem, "unlisted"));
}

/** Checks a skill, and whether its files can be read. */
export async function checkSkill(
  skill: Skill,
  { source, contents }: { source: SkillSource; contents: SkillFiles },
): Promise<Problem[]> {
  const problems: Problem[] = [];
  let text = "";
  for (const { path } of contents.files) {
    const file = join(skill.directory, path);
    try {
      const content = await source.readFile(skill, path);
      if (path !== SKILL_MD) continue;
      text = content.text ?? new TextDecoder().decode(content.bytes);
      if (content.text !== undefined) continue;
      const reason = "it is not valid UTF-8";
      const hint = "save the file as UTF-8";
      problems.push({ rule: "utf-8", file, reason, hint });
    } catch (error) {
      problems.push({ file, ...faultOf(error), rule: "unreadable" });
    }
  }
  const checked = { ...skill, contents, text };
  return [...run([...CHECKS, ...TEXT_CHECKS], checked), ...problems];
}

function run(checks: readonly Check[], skill: CheckedSkill): Problem[] {
  return checks.flatMap((check) => check(skill) ?? [])
    .map(({ field = "", ...finding }) => {
      const { line } = findField(field, skill.text) ?? {};
      return { file: skill.file, line, ...finding };
    });
}

/** Checks the name, and that the folder has it. */
function checkName({ frontmatter, directory }: CheckedSkill): Finding[] {
  const field = "name";
  const name = withoutInvisible(frontmatter.name);
  const valid = name.toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const folder = basename(directory);
  const findings: Finding[] = [];
  if (name.length > MAX_NAME_LENGTH) {
    const reason =
      `the name has ${name.length} characters, and the limit is ${MAX_NAME_LENGTH}`;
    findings.push({ rule: "name-length", field, reason, hint: "shorten it" });
  } else if (name !== valid) {
    const reason = `the name ${
      quote(name)
    } does not consist of a-z, 0-9, and single hyphens between them`;
    const hint = valid === ""
      ? "write a name of these characters"
      : writeLine(`name: ${valid}`);
    findings.push({ rule: "name-characters", field, reason, hint });
  }
  if (valid !== "" && valid !== normalizeText(folder)) {
    const reason = `the name ${quote(valid)} differs from the folder name ${
      quote(folder)
    }`;
    const hint = `rename the folder to ${quote(valid)}, or the skill`;
    findings.push({ rule: "name-folder", field, reason, hint });
  }
  return findings;
}

function checkDescription(
  { frontmatter }: CheckedSkill,
): Finding | undefined {
  const { length } = [...withoutInvisible(frontmatter.description)];
  if (length <= MAX_DESCRIPTION_LENGTH) return undefined;
  const reason =
    `the description has ${length} characters, and the limit is ${MAX_DESCRIPTION_LENGTH}`;
  const hint = "shorten it, and move details into the body";
  return { rule: "description-length", field: "description", reason, hint };
}

/** Lists remove these characters, but hosts would show them to the model. */
function checkHiddenCharacters({ frontmatter }: CheckedSkill): Finding[] {
  return (["name", "description"] as const).flatMap((field) => {
    const [first] = listInvisible(frontmatter[field]);
    if (first === undefined) return [];
    const reason = `the ${field} has invisible characters, such as ${first}`;
    const hint = "remove them, and find out where they come from";
    return [{ rule: "hidden-characters", field, reason, hint }];
  });
}

/** Checks whether JSON can represent the frontmatter exactly, and is not too large. */
function checkJson({ frontmatter }: CheckedSkill): Finding | undefined {
  let room = MAX_SENT_LENGTH;
  const fits = (value: unknown, depth: number): boolean => {
    room -= typeof value === "string" ? value.length : 8;
    if (room < 0 || depth > MAX_DEPTH) return false;
    if (typeof value === "string") return value.isWellFormed();
    if (typeof value === "number") return Number.isFinite(value);
    return Object.entries(value ?? {}).flat()
      .every((item) => fits(item, depth + 1));
  };
  if (fits(frontmatter, 0)) return undefined;
  const reason =
    "the frontmatter is too large, is nested too deeply, or has a value that JSON cannot represent";
  const hint = "keep it small and flat, without values such as .inf";
  return { rule: "frontmatter-json", field: "name", reason, hint };
}

/** Checks the other fields. Most often, metadata has a version without quotes. */
function checkOtherFields({ frontmatter }: CheckedSkill): Finding[] {
  const { compatibility = "any", metadata = {} } = frontmatter;
  const findings: Finding[] = [];
  const isShort = typeof compatibility === "string" && compatibility !== "" &&
    [...compatibility].length <= MAX_COMPATIBILITY_LENGTH;
  if (!isShort) {
    const field = "compatibility";
    const reason =
      `${field} is not a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`;
    const hint = "write it as one short text, or remove it";
    findings.push({ rule: field, field, reason, hint });
  }
  const areTexts = isObject(metadata) &&
    Object.values(metadata).every((value) => typeof value === "string");
  if (!areTexts) {
    const field = "metadata";
    const reason = "metadata is not a mapping of texts";
    const hint = "write a key and a text in quotes on each line below it";
    findings.push({ rule: field, field, reason, hint });
  }
  return findings;
}

/** Checks the list of a skill's files. */
function checkFiles({ directory, contents }: CheckedSkill): Finding[] {
  const { files, leftOut } = contents;
  const findings = leftOut.map(({ file: path, reason, hint }): Finding => {
    const rule = path === "" ? "unreadable" : "not-served";
    return { rule, file: join(directory, path), reason, hint };
  });
  const isTooMuch = files.length > MAX_FILES ||
    totalSize(files) > MAX_MIB * 1024 * 1024;
  if (isTooMuch) {
    const reason =
      `the skill has more than ${MAX_FILES} files, or more than ${MAX_MIB} MiB`;
    const hint = "remove what the agent does not need, or split the skill";
    findings.push({ rule: "size", file: directory, reason, hint });
  }
  return findings;
}

/** Returns the total size of files, in bytes. */
export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Reports unknown fields that differ only slightly from known ones. */
function checkFieldNames({ frontmatter, text }: CheckedSkill): Finding[] {
  return KNOWN_FIELDS.flatMap((field) => {
    const key = findMisspelled(field, frontmatter);
    const place = key === undefined ? undefined : findField(key, text);
    if (key === undefined || place === undefined) return [];
    const { line, value } = place;
    const reason = `the field ${quote(key)} is unknown, but ${
      quote(field)
    } is known`;
    const hint = writeLine(`${field}: ${value}`);
    return [{ rule: "field-misspelled", line, reason, hint }];
  });
}

/** Reports the first line with invisible characters, which can hide text. */
function checkCharacters({ text }: CheckedSkill): Finding | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r?\n/).map(listInvisible);
  const index = lines.findIndex((characters) => characters.length > 0);
  if (index === -1) return undefined;
  return {
    rule: "invisible-characters",
    line: index + 1,
    reason: `there are invisible characters, such as ${lines[index]![0]}`,
    hint: "remove them, and find out where they come from",
  };
}

/** Reports links in the body that lead to no served file, each path once. */
function checkLinks({ text, contents }: CheckedSkill): Finding[] {
  const served = new Set([
    ".",
    ...contents.files.flatMap(({ path }) => {
      const names = path.split("/");
      return names.map((_, index) => names.slice(0, index + 1).join("/"));
    }),
  ]);
  const links = Map.groupBy(findLinks(text), ({ path }) => path);
  return [...links.values()].map(([first]) => first!)
    .filter(({ path }) => !served.has(path)).slice(0, MAX_LINKS)
    .map(({ target, line }) => ({
      rule: "broken-link",
      line,
      reason: `the link ${quote(target)} does not point to a served file`,
      hint:
        "link to a file of the skill that is not hidden, or remove the link",
    }));
}

/** Fenced code, code spans, and comments. What does not end reaches to the end. */
const CODE =
  /^[ \t>*+\-\d.)]*(`{3,}|~{3,})[^]*?(?:\n[ \t>]*\1[ \t]*$|$(?![^]))|(?<!\\)(`{1,2})[^`\n]+\2|<!--[^]*?(?:-->|$(?![^]))/gm;

/** The target of a link or an image, in angle brackets or plain. */
const LINK = /\]\((?:<([^<>\n]*)>|([^\s()<>]+))(?=\)|\s["'])/g;

/** What the path of a file of the skill does not contain: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^[/#?~@]|[\\:{}$*|]|\.\.\./;

/** Finds the relative links and images in Markdown that are neither in code nor in comments. */
function findLinks(
  markdown: string,
): { target: string; path: string; line: number }[] {
  const prose = markdown.replaceAll("\r\n", "\n")
    .replace(CODE, (code) => code.replace(/[^\n]+/g, ""));
  return prose.split("\n").flatMap((text, index) =>
    Array.from(text.matchAll(LINK), ([, quoted, plain = ""]) => {
      const target = quoted ?? plain;
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
