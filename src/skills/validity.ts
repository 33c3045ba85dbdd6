/**
 * The rules for valid skills, and the checks of what a scan knows about a skill: its
 * frontmatter and the list of its files. No check here reads a file.
 *
 * Each check is a function that returns what is wrong. `skills/list` leaves a skill
 * out if a check finds what keeps hosts from loading it.
 *
 * @see {@link https://agentskills.io/specification}
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { SKILL_MD } from "../files/paths.ts";
import {
  findField,
  quoteField,
  type TextProblem,
  writeLine,
} from "./frontmatter.ts";
import {
  isObject,
  listInvisible,
  normalizeText,
  quote,
  withoutInvisible,
} from "../text.ts";
import type {
  Problem,
  Skill,
  SkillFile,
  SkillFrontmatter,
  SkillSource,
} from "./types.ts";

/**
 * What follows from a problem:
 *
 * - `"skipped"`: an error because of which something is not served at all
 * - `"unlisted"`: an error because of which `skills/list` leaves the skill out
 * - `"error"`: an error without an effect
 * - `"warning"`: advice, with which `--check` succeeds
 */
type Effect = "skipped" | "unlisted" | "error" | "warning";

/** The rules by their IDs. `docs/check.md` describes each. */
export const RULES: Readonly<Record<string, Effect>> = {
  "policy": "error",
  "no-skills": "error",
  "folder-missing": "skipped",
  "not-a-folder": "skipped",
  "file-name": "skipped",
  "loose-file": "skipped",
  "frontmatter-missing": "skipped",
  "frontmatter-size": "skipped",
  "utf-16": "skipped",
  "yaml": "skipped",
  "name-missing": "skipped",
  "description-missing": "skipped",
  "too-large": "skipped",
  "not-a-file": "skipped",
  "link-outside": "skipped",
  "link-broken": "skipped",
  "name-encoding": "skipped",
  "permission": "skipped",
  "too-many": "skipped",
  "skipped": "skipped",
  "yaml-repaired": "unlisted",
  "name-characters": "unlisted",
  "name-length": "unlisted",
  "name-folder": "error",
  "description-length": "unlisted",
  "hidden-characters": "unlisted",
  "compatibility": "unlisted",
  "metadata": "unlisted",
  "frontmatter-json": "unlisted",
  "flags": "error",
  "utf-8": "unlisted",
  "size": "unlisted",
  "unreadable": "unlisted",
  "changed": "unlisted",
  "license": "warning",
  "allowed-tools": "warning",
  "field-misspelled": "warning",
  "description-cut": "warning",
  "description-placeholder": "warning",
  "body-empty": "warning",
  "length": "warning",
  "invisible-characters": "warning",
  "broken-link": "warning",
  "not-served": "warning",
  "file-name-case": "warning",
  "nested-too-deep": "warning",
  "archive": "warning",
  "policy-unused": "warning",
};

/** The severity of a problem. An error makes `--check` fail. */
export function severityOf({ rule }: Pick<Problem, "rule">) {
  return RULES[rule] === "warning" ? "warning" : "error";
}

/** Whether `skills/list` leaves a skill out because of a problem. */
export function isUnlisting({ rule }: Pick<Problem, "rule">): boolean {
  return RULES[rule] === "unlisted";
}

/** Frontmatter, and what is known about it. */
export interface CheckedFrontmatter {
  readonly frontmatter: SkillFrontmatter;
  /** The name of the skill's folder. */
  readonly folder: string;
  /** The text that contains the frontmatter. Without it, problems have no lines. */
  readonly text?: string | undefined;
}

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

/** Checks frontmatter. */
export function checkFrontmatter(checked: CheckedFrontmatter): TextProblem[] {
  const { frontmatter, text = "" } = checked;
  const simple = FIELD_RULES.flatMap(({ rule, field, findFault, hint }) => {
    const reason = findFault(frontmatter);
    return reason ? [{ rule, ...placeOf(field, text), reason, hint }] : [];
  });
  return [...checkName(checked), ...simple, ...checkMetadata(checked)];
}

/** Returns the line of a field, if it is known. */
function placeOf(field: string, text: string): { line?: number } {
  const line = findField(field, text)?.line;
  return line === undefined ? {} : { line };
}

/** A rule for the value of a field, with the same fix for all violations. */
interface FieldRule {
  readonly rule: string;
  readonly field: string;
  /** Returns what is wrong, if anything. */
  readonly findFault: (frontmatter: SkillFrontmatter) => string | undefined;
  readonly hint: string;
}

const FIELD_RULES: readonly FieldRule[] = [
  {
    rule: "description-length",
    field: "description",
    findFault: ({ description }) => {
      const { length } = [...description];
      if (length <= MAX_DESCRIPTION_LENGTH) return undefined;
      return `the description has ${length} characters, and the limit is ${MAX_DESCRIPTION_LENGTH}`;
    },
    hint: "shorten it, and move details into the body",
  },
  ...["name", "description"].map((field) => ({
    // Lists remove these characters, but hosts would show them to the model.
    rule: "hidden-characters",
    field,
    findFault: ({ [field]: value }: SkillFrontmatter) => {
      const [first] = listInvisible(String(value));
      return first && `the ${field} has invisible characters, such as ${first}`;
    },
    hint: "remove them, and find out where they come from",
  })),
  {
    rule: "frontmatter-json",
    field: "name",
    findFault: findJsonFault,
    hint:
      "keep the frontmatter small and flat, with values that JSON can represent",
  },
  {
    rule: "compatibility",
    field: "compatibility",
    findFault: ({ compatibility: value = "any" }) =>
      typeof value === "string" && value !== "" &&
        [...value].length <= MAX_COMPATIBILITY_LENGTH
        ? undefined
        : `compatibility is not a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`,
    hint: "write it as one short text, or remove it",
  },
  {
    rule: "license",
    field: "license",
    findFault: ({ license = "" }) =>
      typeof license === "string" ? undefined : "license is not a string",
    hint: "write the name of the license, or of its file, as a string",
  },
  {
    rule: "allowed-tools",
    field: "allowed-tools",
    findFault: ({ "allowed-tools": tools = "" }) => {
      if (typeof tools !== "string") return "allowed-tools is not a string";
      // Commas in parentheses belong to a tool's own pattern.
      return tools.replace(/\([^()]*\)/g, "").includes(",")
        ? "allowed-tools is separated by commas"
        : undefined;
    },
    hint: "write it as one string of tools separated by spaces",
  },
];

/** Checks the name and the name of the folder. Both are one problem with one fix. */
function checkName(
  { frontmatter, folder, text = "" }: CheckedFrontmatter,
): TextProblem[] {
  const place = placeOf("name", text);
  const name = withoutInvisible(frontmatter.name);
  const fault = findNameFault(name);
  if (fault === undefined) {
    const reason = `the name ${quote(name)} differs from the folder name ${
      quote(folder)
    }`;
    const hint = `rename the folder to ${quote(name)}, or the skill`;
    return normalizeText(folder) === name
      ? []
      : [{ rule: "name-folder", ...place, reason, hint }];
  }
  const valid = name.toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  const rename = folder === valid
    ? ""
    : `name the folder ${quote(valid)}, and `;
  const hint = valid === "" || valid.length > MAX_NAME_LENGTH
    ? `use at most ${MAX_NAME_LENGTH} of a-z, 0-9, and single hyphens between them`
    : `${rename}${writeLine(`name: ${valid}`)}`;
  const rule = name.length > MAX_NAME_LENGTH
    ? "name-length"
    : "name-characters";
  return [{ rule, ...place, reason: `the name ${fault}`, hint }];
}

/** Returns what hosts do not accept about a name, if anything. */
function findNameFault(name: string): string | undefined {
  if (name.length > MAX_NAME_LENGTH) {
    return `has ${name.length} characters, and the limit is ${MAX_NAME_LENGTH}`;
  }
  if (isHostName(name)) return undefined;
  const fault = /[^a-z0-9-]/.test(name)
    ? "has other characters than a-z, 0-9, and hyphens"
    : name.startsWith("-")
    ? "begins with a hyphen"
    : name.endsWith("-")
    ? "ends with a hyphen"
    : "has two hyphens in a row";
  return `${quote(name)} ${fault}`;
}

/** Reports each value that is not a string. Most often, it is a version without quotes. */
function checkMetadata(
  { frontmatter: { metadata = {} }, text = "" }: CheckedFrontmatter,
): TextProblem[] {
  const rule = "metadata";
  const place = placeOf(rule, text);
  if (!isObject(metadata)) {
    const reason = "metadata is not a mapping";
    const hint = "write a key and a text in quotes on each line below it";
    return [{ rule, ...place, reason, hint }];
  }
  const lines = text.split("\n");
  const { line: start = lines.length } = place;
  return Object.entries(metadata).flatMap(([key, value]) => {
    if (typeof value === "string") return [];
    const reason = `the value of ${quote(key)} in metadata is not a string`;
    const index = lines.findIndex((line, index) =>
      index >= start && line.trimStart().startsWith(`${key}:`)
    );
    const [, indentation = "", rest = ""] =
      /^(\s*)[^:]+:\s*([^]*)/.exec(lines[index] ?? "") ?? [];
    const hint = rest === "" || typeof value === "object" && value !== null
      ? "write it as one text in quotes, or remove it"
      : writeLine(
        indentation.replace(/\t/g, "  ") + quoteField(key, rest.trim()),
      );
    const own = index === -1 ? place : { line: index + 1 };
    return [{ rule, ...own, reason, hint }];
  });
}

/** Returns why JSON cannot represent frontmatter exactly, if it cannot. */
function findJsonFault(frontmatter: SkillFrontmatter): string | undefined {
  let room = MAX_SENT_LENGTH;
  const findFault = (value: unknown, parents: object[]): string | undefined => {
    room -= typeof value === "string" ? value.length : 8;
    if (room < 0) return "the frontmatter is too large";
    if (typeof value === "string" && !value.isWellFormed()) {
      return "the frontmatter contains a lone surrogate";
    }
    if (typeof value === "number" && !Number.isFinite(value)) {
      return `the frontmatter contains the number ${value}`;
    }
    if (typeof value !== "object" || value === null) return undefined;
    if (parents.includes(value)) return "the frontmatter contains itself";
    if (parents.length >= MAX_DEPTH) {
      return `the frontmatter is nested more than ${MAX_DEPTH} levels deep`;
    }
    for (const item of Object.entries(value).flat()) {
      const fault = findFault(item, [...parents, value]);
      if (fault !== undefined) return fault;
    }
  };
  return findFault(frontmatter, []);
}

/** Checks the name of a skill's file. Only this server also finds a `skill.md`. */
export function checkFileName({ file }: Pick<Skill, "file">): Problem[] {
  const name = quote(basename(file));
  const reason = `most programs find only ${quote(SKILL_MD)}, not ${name}`;
  const hint = `rename it to ${quote(SKILL_MD)}`;
  return basename(file) === SKILL_MD
    ? []
    : [{ rule: "file-name-case", file, reason, hint }];
}

/** The files of a skill, and the entries that are not served. */
export type SkillContents = Awaited<ReturnType<SkillSource["inspectFiles"]>>;

/** Checks the list of a skill's files. */
export function checkContents(
  { directory, file }: Pick<Skill, "directory" | "file">,
  { files, leftOut }: SkillContents,
): Problem[] {
  const problems = leftOut.map(({ file: path, reason, hint }) => {
    const rule = path === "" ? "unreadable" : "not-served";
    return { rule, file: join(directory, path), reason, hint };
  });
  const isListed = !problems.some(({ rule }) => rule === "unreadable");
  if (isListed && !files.some(({ path }) => path === SKILL_MD)) {
    const reason = "SKILL.md is not among the files of the skill";
    problems.push({ rule: "changed", file, reason, hint: "try again" });
  }
  const reason = files.length > MAX_FILES
    ? `the skill has more than ${MAX_FILES} files`
    : totalSize(files) > MAX_MIB * 1024 * 1024
    ? `the files are larger than ${MAX_MIB} MiB in total`
    : undefined;
  if (reason !== undefined) {
    const hint = "remove what the agent does not need, or split the skill";
    problems.push({ rule: "size", file: directory, reason, hint });
  }
  return problems;
}

/** Returns the total size of files, in bytes. */
export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** What decides whether hosts can load a skill. */
type HostedSkill = Pick<
  Skill,
  "frontmatter" | "directory" | "file" | "isRepaired"
>;

/** Finds a reason why hosts cannot load a skill, and `skills/list` leaves it out. */
export function findUnlisting(
  skill: HostedSkill,
  contents: SkillContents,
): TextProblem | undefined {
  if (skill.isRepaired) {
    const reason =
      "the frontmatter needs quotes around a value, or spaces for tabs";
    return { rule: "yaml-repaired", reason, hint: "run with --check" };
  }
  const { frontmatter, directory } = skill;
  return [
    ...checkFrontmatter({ frontmatter, folder: basename(directory) }),
    ...checkContents(skill, contents),
  ].find(isUnlisting);
}

/** Whether a name consists only of the characters that hosts accept. */
function isHostName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}
