/**
 * The checks of what a scan knows about a skill, each a function that returns what is
 * wrong: its frontmatter, and the list of its files. `skills/list` leaves a skill out if
 * hosts could not load it.
 *
 * @see {@link https://agentskills.io/specification}
 */

import { basename, join } from "../fs/paths.ts";
import {
  type Diagnostic,
  type DiagnosticDetails,
  hasEffect,
} from "../diagnostics.ts";
import {
  isObject,
  listInvisible,
  normalizeText,
  quote,
  withoutInvisible,
} from "../text.ts";
import { textAsWritten } from "./meant_texts.ts";
import { validName } from "./names.ts";
import type { Skill, SkillFile, SkillFiles } from "./types.ts";
import {
  findEntry,
  findNested,
  quoteField,
  REQUIRED_FIELDS,
  tellToWrite,
  writeText,
  type YamlEntry,
} from "./yaml.ts";

/** The maximum lengths according to the specification, in characters. */
const MAX_NAME_LENGTH = 64;
export const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;

/** The maximum depth of frontmatter that is sent, in levels. */
const MAX_JSON_DEPTH = 64;

/**
 * The maximum length of frontmatter that is sent, in characters. With aliases,
 * a short YAML text can become enormous.
 */
const MAX_JSON_LENGTH = 256 * 1024;

/** The approximate length as JSON of a value that is not a string, in characters. */
const USUAL_JSON_LENGTH = 8;

/** The maximum number of files of a skill, and their total size, that hosts accept. */
const MAX_FILES = 512;
const MAX_MIB = 16;

/** The maximum number of files and folders of a skill that `skills/list` lists. */
export const MAX_LISTED_ENTRIES = 4 * MAX_FILES;

export interface CheckedSkill extends Skill {
  readonly contents: SkillFiles;
  /** The text of its `SKILL.md`, which is empty if it was not read. */
  readonly text: string;
  readonly entries: readonly YamlEntry[];
}

/** Returns faults of the `SKILL.md`, and problems with other files. */
export type Check = (
  skill: CheckedSkill,
) => (DiagnosticDetails | Diagnostic)[] | DiagnosticDetails | undefined;

export const CHECKS: readonly Check[] = [
  checkName,
  checkDescription,
  checkInvisible,
  checkJson,
  checkCompatibility,
  checkMetadata,
  checkFiles,
];

export const NOT_UTF_8: DiagnosticDetails = {
  rule: "utf-8",
  reason: "it is not valid UTF-8",
  fix: "save the file as UTF-8",
};

/**
 * Says why `skills/list` leaves a skill out, if hosts cannot load it. The contents of its
 * other files are not checked.
 *
 * @param main The text of its `SKILL.md`, unless that is not UTF-8.
 */
export function findUnlistingFault(
  skill: Skill,
  contents: SkillFiles,
  main: string | undefined,
): DiagnosticDetails | undefined {
  if (main === undefined) return NOT_UTF_8;
  if (skill.isRepaired) {
    const reason = "the frontmatter needs quotes around a value";
    const fix = "run --check, and write the lines that it prints";
    return { rule: "yaml-repaired", reason, fix };
  }
  return runChecks(CHECKS, { ...skill, contents, text: "", entries: [] })
    .find((diagnostic) => hasEffect(diagnostic, "unlisted"));
}

/** Runs checks. A fault without a file is one of the `SKILL.md`. */
export function runChecks(
  checks: readonly Check[],
  skill: CheckedSkill,
): Diagnostic[] {
  return checks.flatMap((check) => check(skill) ?? [])
    .map((fault) => ({ file: skill.file, ...fault }));
}

function checkName(skill: CheckedSkill): DiagnosticDetails[] {
  const name = withoutInvisible(skill.frontmatter.name);
  const valid = validName(name);
  const folder = basename(skill.directory);
  const entry = findEntry("name", skill.entries);
  const line = entry?.line;
  const faults: DiagnosticDetails[] = [];
  if (name.length > MAX_NAME_LENGTH) {
    const reason =
      `the name has ${name.length} characters, and the limit is ${MAX_NAME_LENGTH}`;
    faults.push({ rule: "name-length", line, reason, fix: "shorten it" });
  } else if (name !== valid) {
    const rules = "a-z, 0-9, and single hyphens between them";
    const reason = `the name ${quote(name)} does not consist of ${rules}`;
    const finished = valid && writeText("name", valid);
    const fix = "write a name of these characters";
    const advice = tellToWrite(finished, entry, fix);
    faults.push({ rule: "name-characters", reason, ...advice });
  }
  if (valid !== undefined && valid !== normalizeText(folder)) {
    const reason = name === valid
      ? `the name ${quote(valid)} differs from the folder name ${quote(folder)}`
      : `the folder name ${quote(folder)} differs from ${
        quote(valid)
      }, the valid form of the name`;
    const rename = `rename the folder to ${quote(valid)}, unless that exists`;
    // It would not help to write a name that hosts refuse.
    const isValid = validName(folder) === folder;
    const advice = tellToWrite(
      isValid ? writeText("name", folder) : undefined,
      entry,
      "write the name of the folder as the name",
    );
    const fix = isValid ? `${rename}, or ${advice.fix}` : rename;
    faults.push({ rule: "name-folder", reason, ...advice, fix });
  }
  return faults;
}

function checkDescription(skill: CheckedSkill): DiagnosticDetails | undefined {
  const { description } = skill.frontmatter;
  const { length } = [...withoutInvisible(description)];
  if (length <= MAX_DESCRIPTION_LENGTH) return undefined;
  const reason =
    `the description has ${length} characters, and the limit is ${MAX_DESCRIPTION_LENGTH}`;
  const fix = "shorten it, and move details into the body";
  const line = findEntry("description", skill.entries)?.line;
  return { rule: "description-length", line, reason, fix };
}

/** Lists remove these characters, but hosts would show them to the model. */
function checkInvisible(skill: CheckedSkill): DiagnosticDetails[] {
  return REQUIRED_FIELDS.flatMap((field): DiagnosticDetails[] => {
    const [first] = listInvisible(skill.frontmatter[field]);
    if (first === undefined) return [];
    const line = findEntry(field, skill.entries)?.line;
    const reason = `the ${field} has invisible characters, such as ${first}`;
    const fix = "remove them, and find out where they come from";
    return [{ rule: "hidden-characters", line, reason, fix }];
  });
}

function checkJson(skill: CheckedSkill): DiagnosticDetails | undefined {
  let left = MAX_JSON_LENGTH;
  const fits = (value: unknown, depth: number): boolean => {
    left -= typeof value === "string" ? value.length : USUAL_JSON_LENGTH;
    if (left < 0 || depth > MAX_JSON_DEPTH) return false;
    if (typeof value === "string") return value.isWellFormed();
    if (typeof value === "number") return Number.isFinite(value);
    return Object.entries(value ?? {}).flat()
      .every((item) => fits(item, depth + 1));
  };
  if (fits(skill.frontmatter, 0)) return undefined;
  const reason =
    "the frontmatter is too large, is nested too deeply, or has a value that JSON cannot represent";
  const fix = "keep it small and flat, without values such as .inf";
  const line = findEntry("name", skill.entries)?.line;
  return { rule: "frontmatter-json", line, reason, fix };
}

function checkCompatibility(
  skill: CheckedSkill,
): DiagnosticDetails | undefined {
  const { compatibility = "any" } = skill.frontmatter;
  const isShort = typeof compatibility === "string" && compatibility !== "" &&
    [...compatibility].length <= MAX_COMPATIBILITY_LENGTH;
  if (isShort) return undefined;
  const rule = "compatibility";
  const reason =
    `${rule} is not a text of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`;
  const fix = "write it as one short text, or remove it";
  const line = findEntry(rule, skill.entries)?.line;
  return { rule, line, reason, fix };
}

/** The usual fault is a version without quotes. */
function checkMetadata(skill: CheckedSkill): DiagnosticDetails[] {
  const rule = "metadata";
  const { metadata = {} } = skill.frontmatter;
  const entry = findEntry(rule, skill.entries);
  const line = entry?.line;
  if (!isObject(metadata)) {
    const reason = "metadata is not a mapping of texts";
    const fix = "write a key and a text in quotes on each line below it";
    return [{ rule, line, reason, fix }];
  }
  const keys = Object.keys(metadata)
    .filter((key) => typeof metadata[key] !== "string");
  return keys.map((key): DiagnosticDetails => {
    const reason = `the value of ${quote(key)} in metadata is not a text`;
    const fix = "write it as one text in quotes";
    const nested = entry && findNested(key, entry);
    if (nested === undefined) return { rule, line, reason, fix };
    const text = textAsWritten(nested, metadata[key]);
    const finished = text && nested.indentation + quoteField(key, text);
    return { rule, reason, ...tellToWrite(finished, nested, fix) };
  });
}

function checkFiles({ directory, contents }: CheckedSkill): Diagnostic[] {
  const { files, leftOut, entries } = contents;
  const diagnostics = leftOut.map(({ file: path, reason, fix }): Diagnostic => {
    const rule = path === "" ? "unreadable" : "not-served";
    return { rule, file: join(directory, path), reason, fix };
  });
  const isTooMuch = files.length > MAX_FILES ||
    entries > MAX_LISTED_ENTRIES || totalSize(files) > MAX_MIB * 1024 * 1024;
  if (isTooMuch) {
    const reason =
      `the skill has more than ${MAX_FILES} files, ${MAX_LISTED_ENTRIES} files and folders, or ${MAX_MIB} MiB`;
    const fix = "remove what the agent does not need, or split the skill";
    diagnostics.push({ rule: "size", file: directory, reason, fix });
  }
  return diagnostics;
}

export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
