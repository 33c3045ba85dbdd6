/**
 * The rules for valid skills, and for skills that hosts can load.
 *
 * Each rule has an ID. This module checks the rules that do not require reading
 * files, for `--list`, `--check`, `skills/list`, and `skills/get`. The other
 * rules apply only to `--check`, which reads the files.
 *
 * @see {@link https://agentskills.io/specification}
 *
 * @module
 */

import { basename, join } from "jsr:@std/path@^1";
import { findFieldLine } from "./frontmatter.ts";
import { SKILL_MD } from "../files/paths.ts";
import { isHostName } from "./names.ts";
import { quote } from "../text.ts";
import type {
  Skill,
  SkillFile,
  SkillFrontmatter,
  SkillProblem,
} from "./types.ts";

/** The maximum length of a name according to the specification, in characters. */
const MAX_NAME_LENGTH = 64;

/** The maximum length of a description according to the specification, in characters. */
const MAX_DESCRIPTION_LENGTH = 1024;

/** The maximum length of `compatibility` according to the specification, in characters. */
const MAX_COMPATIBILITY_LENGTH = 500;

/** The recommended length of a `SKILL.md`, in lines. */
export const MAX_LINES = 500;

/** The maximum number of files of a skill according to the Skills extension. */
const MAX_SKILL_FILES = 512;

/** The maximum total size of a skill's files according to the Skills extension, in MiB. */
const MAX_SKILL_MIB = 16;

/** The maximum depth of frontmatter that is sent, in levels. */
const MAX_FRONTMATTER_DEPTH = 64;

/**
 * The maximum length of frontmatter that is sent, in characters. With aliases,
 * a short YAML text can become enormous.
 */
const MAX_FRONTMATTER_LENGTH = 256 * 1024;

/** The consequences of breaking a rule. */
export interface Rule {
  /** An error makes `--check` fail. */
  readonly severity: "error" | "warning";
  /**
   * What happens to the skill: it is skipped, or it is served but omitted from
   * `skills/list`, because hosts cannot load it. Default: nothing.
   */
  readonly effect?: "skipped" | "unlisted";
}

/** A rule for what cannot be served at all. */
const SKIPPED = { severity: "error", effect: "skipped" } as const;

/** A rule that hosts enforce. */
const UNLISTED = { severity: "error", effect: "unlisted" } as const;

const WARNING = { severity: "warning" } as const;

/** The rules by their IDs. `docs/check.md` describes each. */
export const RULES = {
  "policy": { severity: "error" },
  "no-skills": { severity: "error" },
  "folder-missing": SKIPPED,
  "not-a-folder": SKIPPED,
  "root-is-skill": SKIPPED,
  "file-name": SKIPPED,
  "frontmatter-missing": SKIPPED,
  "frontmatter-size": SKIPPED,
  "utf-16": SKIPPED,
  "yaml": SKIPPED,
  "name-missing": SKIPPED,
  "description-missing": SKIPPED,
  "too-large": SKIPPED,
  "not-a-file": SKIPPED,
  "link-outside": SKIPPED,
  "link-broken": SKIPPED,
  "name-encoding": SKIPPED,
  "permission": SKIPPED,
  "too-many": SKIPPED,
  "skipped": SKIPPED,
  "name-characters": UNLISTED,
  "name-length": UNLISTED,
  "name-folder": { severity: "error" },
  "description-length": UNLISTED,
  "compatibility": UNLISTED,
  "metadata": UNLISTED,
  "frontmatter-json": UNLISTED,
  "utf-8": UNLISTED,
  "size": UNLISTED,
  "unreadable": UNLISTED,
  "changed": UNLISTED,
  "license": WARNING,
  "allowed-tools": WARNING,
  "flags": WARNING,
  "field-misspelled": WARNING,
  "description-cut": WARNING,
  "description-placeholder": WARNING,
  "body-empty": WARNING,
  "length": WARNING,
  "invisible-characters": WARNING,
  "broken-link": WARNING,
  "not-served": WARNING,
  "file-name-case": WARNING,
  "no-skill-md": WARNING,
  "nested-too-deep": WARNING,
  "loose-file": WARNING,
  "policy-unused": WARNING,
} as const satisfies Readonly<Record<string, Rule>>;

/** The ID of a rule. */
export type RuleId = keyof typeof RULES;

/** A violation of a rule. */
export interface Finding extends Omit<SkillProblem, "kind" | "others"> {
  readonly rule: RuleId;
  readonly severity: Rule["severity"];
}

/** Creates a finding with the severity of its rule. */
export function createFinding(
  rule: RuleId,
  { kind: _, ...problem }: Omit<SkillProblem, "others">,
): Finding {
  return { rule, severity: RULES[rule].severity, ...problem };
}

/** Returns a finding for each fault of something that is skipped. */
export function createSkipFindings(
  { others = [], ...first }: SkillProblem,
): Finding[] {
  const { file } = first;
  return [first, ...others.map((fault) => ({ file, ...fault }))]
    .map((fault) => createFinding(ruleOf(fault), fault));
}

function ruleOf({ kind = "" }: Pick<SkillProblem, "kind">): RuleId {
  return Object.hasOwn(RULES, kind) ? kind as RuleId : "skipped";
}

/** Whether `skills/list` omits a skill because of a finding. */
export function isUnlisting({ rule }: Finding): boolean {
  const { effect }: Rule = RULES[rule];
  return effect === "unlisted";
}

/** A rule about a field of the frontmatter. */
interface FieldRule {
  readonly rule: RuleId;
  readonly field: string;
  /**
   * How to fix a violation. The hint is the same for all skills, so that
   * reports can group findings.
   */
  readonly hint: string;
  /** Returns what is wrong with the field, if anything. */
  readonly findFault: (frontmatter: SkillFrontmatter) => string | undefined;
}

/** @see {@link https://agentskills.io/specification#frontmatter} */
const FIELD_RULES: readonly FieldRule[] = [
  {
    rule: "name-characters",
    field: "name",
    hint: "use only a-z, 0-9, and single hyphens between them in the name",
    findFault: ({ name }) =>
      isHostName(name)
        ? undefined
        : "the name does not consist of a-z, 0-9, and single hyphens",
  },
  {
    rule: "name-length",
    field: "name",
    hint: `shorten the name to ${MAX_NAME_LENGTH} characters`,
    findFault: ({ name }) =>
      name.length > MAX_NAME_LENGTH
        ? `the name is longer than ${MAX_NAME_LENGTH} characters`
        : undefined,
  },
  {
    rule: "description-length",
    field: "description",
    hint:
      `shorten the description to ${MAX_DESCRIPTION_LENGTH} characters, and move details into the body`,
    findFault: ({ description }) =>
      [...description].length > MAX_DESCRIPTION_LENGTH
        ? `the description is longer than ${MAX_DESCRIPTION_LENGTH} characters`
        : undefined,
  },
  {
    rule: "compatibility",
    field: "compatibility",
    hint:
      `write compatibility as a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters, or remove it`,
    findFault: ({ compatibility = "any" }) =>
      isString(compatibility, MAX_COMPATIBILITY_LENGTH)
        ? undefined
        : `compatibility is not a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`,
  },
  {
    rule: "metadata",
    field: "metadata",
    hint: "write metadata as a mapping with its values in quotes, or remove it",
    findFault: ({ metadata = {} }) =>
      isMapOfStrings(metadata)
        ? undefined
        : "metadata is not a mapping of strings",
  },
  {
    rule: "frontmatter-json",
    field: "name",
    hint:
      "keep the frontmatter small and flat, with values that JSON can represent",
    findFault: findJsonFault,
  },
  {
    rule: "license",
    field: "license",
    hint: "write the name of the license, or of its file, as a string",
    findFault: ({ license = "" }) =>
      typeof license === "string" ? undefined : "license is not a string",
  },
  {
    rule: "allowed-tools",
    field: "allowed-tools",
    hint: "write allowed-tools as one string of tools separated by spaces",
    findFault: ({ "allowed-tools": tools = "" }) => {
      if (typeof tools !== "string") return "allowed-tools is not a string";
      // Commas in parentheses belong to a tool's own pattern.
      return tools.replace(/\([^()]*\)/g, "").includes(",")
        ? "allowed-tools is separated by commas"
        : undefined;
    },
  },
  ...["disable-model-invocation", "user-invocable"].map((field) => ({
    rule: "flags" as const,
    field,
    hint: "write true or false, without quotes",
    findFault: ({ [field]: flag = true }: SkillFrontmatter) =>
      typeof flag === "boolean"
        ? undefined
        : `${field} is not true or false, so it has no effect`,
  })),
];

function isString(value: unknown, maxLength: number): boolean {
  return typeof value === "string" && value !== "" &&
    [...value].length <= maxLength;
}

function isMapOfStrings(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === "string");
}

/** Returns the reason why JSON cannot represent frontmatter exactly, if there is one. */
function findJsonFault(frontmatter: SkillFrontmatter): string | undefined {
  let room = MAX_FRONTMATTER_LENGTH;
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
    if (parents.length >= MAX_FRONTMATTER_DEPTH) {
      return `the frontmatter is nested more than ${MAX_FRONTMATTER_DEPTH} levels deep`;
    }
    for (const [key, item] of Object.entries(value)) {
      const fault = findFault(key, parents) ??
        findFault(item, [...parents, value]);
      if (fault !== undefined) return fault;
    }
  };
  return findFault(frontmatter, []);
}

/**
 * Checks frontmatter.
 *
 * @param skill The frontmatter, and the file that contains it.
 * @param yaml The YAML of the frontmatter. Without it, findings have no line numbers.
 */
export function checkFrontmatter(
  { frontmatter, file }: Pick<Skill, "frontmatter" | "file">,
  yaml?: string,
): Finding[] {
  return FIELD_RULES.flatMap(({ rule, field, hint, findFault }) => {
    const reason = findFault(frontmatter);
    if (reason === undefined) return [];
    const line = yaml === undefined ? undefined : findFieldLine(field, yaml);
    return [createFinding(rule, { file, line, reason, hint })];
  });
}

/** Checks the name of a skill's file. Only this server also finds a `skill.md`. */
export function checkFileName({ file }: Pick<Skill, "file">): Finding[] {
  if (basename(file) === SKILL_MD) return [];
  const reason = `most programs find only ${quote(SKILL_MD)}, not ${
    quote(basename(file))
  }`;
  const hint = `rename it to ${quote(SKILL_MD)}`;
  return [createFinding("file-name-case", { file, reason, hint })];
}

/** The files of a skill, and the entries that are not served. */
export interface SkillContents {
  readonly files: readonly SkillFile[];
  /**
   * The entries that are not served, with paths relative to the skill
   * directory. The path of an unreadable folder ends with `/`. The path of the
   * skill directory itself is empty.
   */
  readonly leftOut: readonly SkillProblem[];
}

/** Checks the list of a skill's files, without reading them. */
export function checkContents(
  { directory, file }: Pick<Skill, "directory" | "file">,
  { files, leftOut }: SkillContents,
): Finding[] {
  const findings = leftOut.map(({ file: path, ...fault }) =>
    createFinding(path === "" ? "unreadable" : "not-served", {
      ...fault,
      file: join(directory, path),
    })
  );
  const isListed = !findings.some(({ rule }) => rule === "unreadable");
  if (isListed && !files.some(({ path }) => path === SKILL_MD)) {
    findings.push(createFinding("changed", { file, ...MISSING }));
  }
  const reason = findSizeFault(files);
  if (reason !== undefined) {
    const hint = "remove what the agent does not need, or split the skill";
    findings.push(createFinding("size", { file: directory, reason, hint }));
  }
  return findings;
}

const MISSING = {
  reason: "SKILL.md is not among the files of the skill",
  hint: "try again",
};

function findSizeFault(files: readonly SkillFile[]): string | undefined {
  if (files.length > MAX_SKILL_FILES) {
    return `the skill has more than ${MAX_SKILL_FILES} files`;
  }
  if (totalSize(files) > MAX_SKILL_MIB * 1024 * 1024) {
    return `the files are larger than ${MAX_SKILL_MIB} MiB in total`;
  }
}

/** Returns the total size of files, in bytes. */
export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Finds a reason why hosts cannot load a skill, without reading its files. */
export function findUnlisting(
  skill: Skill,
  contents: SkillContents,
): Finding | undefined {
  return [...checkFrontmatter(skill), ...checkContents(skill, contents)]
    .find(isUnlisting);
}
