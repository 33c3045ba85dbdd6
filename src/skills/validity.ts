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
import { findField, type TextProblem, writeLine } from "./frontmatter.ts";
import {
  isObject,
  joinFirst,
  listInvisible,
  normalizeText,
  quote,
  withoutInvisible,
} from "../text.ts";
import type { Problem, Skill, SkillFile, SkillSource } from "./types.ts";

/**
 * The IDs of the rules, which `docs/check.md` describes, by what follows from a
 * problem:
 *
 * - `skipped`: an error because of which something is not served at all
 * - `unlisted`: an error because of which `skills/list` leaves the skill out
 * - `error`: an error without an effect
 * - `warning`: advice, with which `--check` succeeds
 */
export const RULES = {
  skipped: [
    ...["folder-missing", "not-a-folder", "file-name", "loose-file"],
    ...["frontmatter-missing", "frontmatter-size", "yaml"],
    ...["name-missing", "description-missing", "too-large", "not-a-file"],
    ...["link-outside", "link-broken", "permission"],
    ...["too-many", "skipped"],
  ],
  unlisted: [
    ...["yaml-repaired", "name-characters", "name-length"],
    ...["description-length", "hidden-characters", "compatibility", "metadata"],
    ...["frontmatter-json", "utf-8", "size", "unreadable", "changed"],
  ],
  error: ["policy", "no-skills", "name-folder", "flags"],
  warning: [
    ...["field-misspelled", "description-cut"],
    ...["invisible-characters", "broken-link", "not-served"],
    ...["file-name-case", "nested-too-deep", "archive", "policy-unused"],
  ],
} as const;

/** Whether a problem has a certain effect. */
export function hasEffect(
  { rule }: Pick<Problem, "rule">,
  effect: keyof typeof RULES,
): boolean {
  return (RULES[effect] as readonly string[]).includes(rule);
}

/** Frontmatter, and what is known about it. */
export interface CheckedFrontmatter {
  /** Its fields. Required ones may be missing. */
  readonly frontmatter: Record<string, unknown>;
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

/** A problem with a field of the frontmatter. */
type FieldProblem = TextProblem & { readonly field: string };

/** The checks of frontmatter. */
const CHECKS: readonly ((checked: CheckedFrontmatter) => FieldProblem[])[] = [
  checkName,
  checkFolder,
  checkDescription,
  checkHiddenCharacters,
  checkJson,
  checkCompatibility,
  checkMetadata,
];

/** Checks frontmatter. */
export function checkFrontmatter(checked: CheckedFrontmatter): TextProblem[] {
  const problems = CHECKS.flatMap((check) => check(checked));
  return problems.map(({ field, ...problem }) => {
    const { line } = findField(field, checked.text ?? "") ?? {};
    return { ...problem, ...line !== undefined && { line } };
  });
}

/** Returns a field without invisible characters, or nothing if it is no text. */
function textOf({ frontmatter }: CheckedFrontmatter, field: string): string {
  const value = frontmatter[field];
  return typeof value === "string" ? withoutInvisible(value) : "";
}

function checkName(checked: CheckedFrontmatter): FieldProblem[] {
  const field = "name";
  const name = textOf(checked, field);
  const { length } = name;
  if (length > MAX_NAME_LENGTH) {
    const reason =
      `the name has ${length} characters, and the limit is ${MAX_NAME_LENGTH}`;
    return [{ rule: "name-length", field, reason, hint: "shorten it" }];
  }
  const valid = toValidName(name);
  if (name === valid) return [];
  const reason = `the name ${
    quote(name)
  } does not consist of a-z, 0-9, and single hyphens between them`;
  const hint = valid === ""
    ? "write a name of these characters"
    : writeLine(`name: ${valid}`);
  return [{ rule: "name-characters", field, reason, hint }];
}

/** Checks that the folder has the name of the skill, once that is valid. */
function checkFolder(checked: CheckedFrontmatter): FieldProblem[] {
  const { folder } = checked;
  const name = toValidName(textOf(checked, "name"));
  const isSame = ["", normalizeText(folder)].includes(name);
  const reason = `the name ${quote(name)} differs from the folder name ${
    quote(folder)
  }`;
  const hint = `rename the folder to ${quote(name)}, or the skill`;
  return isSame ? [] : [{ rule: "name-folder", field: "name", reason, hint }];
}

function toValidName(name: string): string {
  return name.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");
}

function checkDescription(checked: CheckedFrontmatter): FieldProblem[] {
  const { length } = [...textOf(checked, "description")];
  const reason =
    `the description has ${length} characters, and the limit is ${MAX_DESCRIPTION_LENGTH}`;
  const hint = "shorten it, and move details into the body";
  return length <= MAX_DESCRIPTION_LENGTH
    ? []
    : [{ rule: "description-length", field: "description", reason, hint }];
}

/** Lists remove these characters, but hosts would show them to the model. */
function checkHiddenCharacters(
  { frontmatter }: CheckedFrontmatter,
): FieldProblem[] {
  const rule = "hidden-characters";
  return ["name", "description"].flatMap((field) => {
    const value = frontmatter[field];
    const [first] = typeof value === "string" ? listInvisible(value) : [];
    const reason = `the ${field} has invisible characters, such as ${first}`;
    const hint = "remove them, and find out where they come from";
    return first === undefined ? [] : [{ rule, field, reason, hint }];
  });
}

/** Checks whether JSON can represent the frontmatter exactly, and is not too large. */
function checkJson({ frontmatter }: CheckedFrontmatter): FieldProblem[] {
  let room = MAX_SENT_LENGTH;
  const fits = (value: unknown, depth: number): boolean => {
    room -= typeof value === "string" ? value.length : 8;
    if (room < 0 || depth > MAX_DEPTH) return false;
    if (typeof value === "string") return value.isWellFormed();
    if (typeof value === "number") return Number.isFinite(value);
    return Object.entries(value ?? {}).flat()
      .every((item) => fits(item, depth + 1));
  };
  const reason =
    "the frontmatter is too large, is nested too deeply, or has a value that JSON cannot represent";
  const hint = "keep it small and flat, without values such as .inf";
  return fits(frontmatter, 0)
    ? []
    : [{ rule: "frontmatter-json", field: "name", reason, hint }];
}

function checkCompatibility(
  { frontmatter: { compatibility: value = "any" } }: CheckedFrontmatter,
): FieldProblem[] {
  const field = "compatibility";
  const isValid = typeof value === "string" && value !== "" &&
    [...value].length <= MAX_COMPATIBILITY_LENGTH;
  const reason =
    `${field} is not a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`;
  const hint = "write it as one short text, or remove it";
  return isValid ? [] : [{ rule: field, field, reason, hint }];
}

/** Checks that metadata are texts. Most often, one is a version without quotes. */
function checkMetadata(
  { frontmatter: { metadata = {} } }: CheckedFrontmatter,
): FieldProblem[] {
  const field = "metadata";
  if (!isObject(metadata)) {
    const reason = "metadata is not a mapping";
    const hint = "write a key and a text in quotes on each line below it";
    return [{ rule: field, field, reason, hint }];
  }
  const keys = Object.keys(metadata)
    .filter((key) => typeof metadata[key] !== "string").map(quote);
  const reason = `in metadata, these are not texts: ${joinFirst(keys, 5)}`;
  return keys.length === 0
    ? []
    : [{ rule: field, field, reason, hint: "put the values in quotes" }];
}

/** The files of a skill, and the entries that are not served. */
export type SkillContents = Pick<
  Awaited<ReturnType<SkillSource["inspectFiles"]>>,
  "files" | "leftOut"
>;

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
  const isTooMuch = files.length > MAX_FILES ||
    totalSize(files) > MAX_MIB * 1024 * 1024;
  if (isTooMuch) {
    const reason =
      `the skill has more than ${MAX_FILES} files, or more than ${MAX_MIB} MiB`;
    const hint = "remove what the agent does not need, or split the skill";
    problems.push({ rule: "size", file: directory, reason, hint });
  }
  return problems;
}

/** Returns the total size of files, in bytes. */
export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Finds a reason why hosts cannot load a skill, and `skills/list` leaves it out. */
export function findUnlisting(
  skill: Pick<Skill, "frontmatter" | "directory" | "file" | "isRepaired">,
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
  ].find((problem) => hasEffect(problem, "unlisted"));
}
