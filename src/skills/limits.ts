/**
 * What hosts with the Skills extension accept, according to the specification.
 * `skills/list` omits a skill that breaks a limit. Everything else serves it.
 *
 * @see {@link https://agentskills.io/specification}
 */

import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import { basename, join } from "../fs/paths.ts";
import { listInvisible, withoutInvisible } from "../invisible.ts";
import { isObject, normalizeText, quote } from "../text.ts";
import { REPAIRED } from "./skill_md.ts";
import type { Skill, SkillFile, SkillFiles } from "./types.ts";

const MAX_NAME_LENGTH = 64;
export const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;
const MAX_FILES = 512;
const MAX_MIB = 16;

/** The maximum total size of a skill's files, in bytes. */
export const MAX_SKILL_SIZE: number = MAX_MIB * 1024 * 1024;

/** The maximum number of files and directories of a skill that `skills/list` lists. */
export const MAX_LISTED_ENTRIES = 4 * MAX_FILES;

/** Aliases can make short YAML enormous, or make it contain itself. */
const MAX_JSON_DEPTH = 64;
const MAX_FRONTMATTER_LENGTH = 256 * 1024;

/** The rules about fields, each of which lists what is wrong with a skill. */
export const LIMITS: readonly ((skill: Skill) => DiagnosticDetails[])[] = [
  checkName,
  checkDescription,
  checkCharacters,
  checkJson,
  checkCompatibility,
  checkMetadata,
];

/** Returns why hosts cannot load a skill, if they cannot. */
export function findUnlistingReason(
  skill: Skill,
  contents: SkillFiles,
): DiagnosticDetails | undefined {
  if (skill.isRepaired) return REPAIRED;
  const [reason] = [
    ...LIMITS.flatMap((limit) => limit(skill)),
    ...checkSize(skill, contents),
    ...listSkippedFiles(skill, contents)
      .filter(({ rule }) => rule === "unreadable"),
  ];
  return reason;
}

/**
 * Returns a name in the form that hosts accept: `a-z`, `0-9`, and single hyphens
 * between them. Returns `undefined` if it has letters of other alphabets.
 */
export function validName(name: string): string | undefined {
  const text = normalizeText(withoutInvisible(name));
  const others = text.replace(/[^\p{L}\p{N}]/gu, "").replace(/\p{ASCII}/gu, "");
  if (others !== "") return undefined;
  const valid = text.toLowerCase().replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return valid === "" ? undefined : valid;
}

export function isValidName(name: string): boolean {
  return validName(name) === name && name.length <= MAX_NAME_LENGTH;
}

/** Returns the valid name that a skill should have: its directory's, or a form of its own. */
export function meantName(name: string, dir: string): string | undefined {
  return [dir, validName(name) ?? ""].find(isValidName);
}

function checkName(
  { frontmatter, directory }: Skill,
): DiagnosticDetails[] {
  const field = "name";
  const name = withoutInvisible(frontmatter.name);
  const value = meantName(name, basename(directory));
  const at = { field, ...value && { value } };
  const { length } = [...name];
  if (length > MAX_NAME_LENGTH) {
    const reason =
      `the name has ${length} characters, and the limit is ${MAX_NAME_LENGTH}`;
    return [{ rule: "name-length", ...at, reason, fix: "shorten it" }];
  }
  if (name === validName(name)) return [];
  const characters = "a-z, 0-9, and single hyphens between them";
  const reason = `the name ${quote(name)} must consist of ${characters}`;
  const fix = "write a name of these characters";
  return [{ rule: "name-characters", ...at, reason, fix }];
}

function checkDescription(
  { frontmatter: { description } }: Skill,
): DiagnosticDetails[] {
  const { length } = [...withoutInvisible(description)];
  if (length <= MAX_DESCRIPTION_LENGTH) return [];
  return [{
    rule: "description-length",
    field: "description",
    reason:
      `the description has ${length} characters, and the limit is ${MAX_DESCRIPTION_LENGTH}`,
    fix: "shorten it, and move details into the body",
  }];
}

/** Lists remove these characters, but hosts would show them to the model. */
function checkCharacters({ frontmatter }: Skill): DiagnosticDetails[] {
  return ["name", "description"].flatMap((field): DiagnosticDetails[] => {
    const [first] = listInvisible(String(frontmatter[field]));
    if (first === undefined) return [];
    const reason = `the ${field} has invisible characters, such as ${first}`;
    const fix = "remove them, and find out where they come from";
    return [{ rule: "field-characters", field, reason, fix }];
  });
}

function checkJson(
  { frontmatter }: Skill,
): DiagnosticDetails[] {
  let left = MAX_FRONTMATTER_LENGTH;
  const fits = (value: unknown, depth: number): boolean => {
    left -= typeof value === "string" ? value.length : 8;
    if (left < 0 || depth > MAX_JSON_DEPTH) return false;
    if (typeof value === "string") return value.isWellFormed();
    if (typeof value === "number") return Number.isFinite(value);
    return Object.entries(value ?? {}).flat()
      .every((item) => fits(item, depth + 1));
  };
  if (fits(frontmatter, 0)) return [];
  return [{
    rule: "frontmatter-json",
    line: 1,
    reason:
      "the frontmatter is too large, is nested too deeply, or has a value that JSON cannot represent",
    fix: "keep it small and flat, without values such as .inf",
  }];
}

function checkCompatibility(
  { frontmatter: { compatibility = "any" } }: Skill,
): DiagnosticDetails[] {
  const isShort = typeof compatibility === "string" && compatibility !== "" &&
    [...compatibility].length <= MAX_COMPATIBILITY_LENGTH;
  if (isShort) return [];
  const field = "compatibility";
  const reason =
    `${field} is not text of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`;
  const fix = "write it as short text, or remove it";
  return [{ rule: field, field, reason, fix }];
}

/** The usual mistake is a version without quotes, which YAML reads as a number. */
function checkMetadata(
  { frontmatter: { metadata = {} } }: Skill,
): DiagnosticDetails[] {
  const field = "metadata";
  if (!isObject(metadata)) {
    const reason = "metadata is not a mapping of keys to text";
    const fix = "write a key and text in quotes on each line below it";
    return [{ rule: field, field, reason, fix }];
  }
  return Object.entries(metadata)
    .filter(([, value]) => typeof value !== "string")
    .map(([key]) => ({
      rule: field,
      field: `${field}.${key}`,
      reason: `the value of ${quote(key)} in metadata is not text`,
      fix: "write it as text in quotes",
    }));
}

/** Describes the files and directories of a skill that the server does not serve. */
export function listSkippedFiles(
  { directory }: Skill,
  { skipped }: SkillFiles,
): Diagnostic[] {
  return skipped.map(({ file: path, reason, fix }) => ({
    rule: path === "" ? "unreadable" : "not-served",
    file: join(directory, path),
    reason,
    fix,
  }));
}

export function checkSize(
  { directory }: Skill,
  { files, entryCount, isComplete }: SkillFiles,
): Diagnostic[] {
  const isTooMuch = !isComplete || files.length > MAX_FILES ||
    entryCount > MAX_LISTED_ENTRIES ||
    totalSize(files) > MAX_SKILL_SIZE;
  if (!isTooMuch) return [];
  return [{
    rule: "size",
    file: directory,
    reason:
      `the skill has more than ${MAX_FILES} files, ${MAX_LISTED_ENTRIES} files and folders, or ${MAX_MIB} MiB`,
    fix: "remove what the agent does not need, or split the skill",
  }];
}

export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
