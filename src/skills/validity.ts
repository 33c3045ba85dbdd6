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
import { SKILL_MD } from "../files/paths.ts";
import { FIELD_RULES } from "./field_rules.ts";
import { findFieldLine, type YamlEntry } from "./yaml_entries.ts";
import { quote } from "../text.ts";
import type {
  Problem,
  Skill,
  SkillFile,
  SkillFrontmatter,
  SkillSource,
} from "./types.ts";

/** The recommended length of a `SKILL.md`, in lines. */
export const MAX_LINES = 500;

/** The maximum number and total size of a skill's files according to the Skills extension. */
const MAX_SKILL_FILES = 512;
const MAX_SKILL_MIB = 16;

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
  "backslash": WARNING,
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

export type RuleId = keyof typeof RULES;

/** Creates a problem without a line if that is not known. */
export function createProblem(
  rule: RuleId,
  { line, ...place }: Omit<Problem, "rule" | "line"> & {
    line?: number | undefined;
  },
): Problem {
  return { ...place, rule, ...line === undefined ? {} : { line } };
}

/** Returns the consequences of a problem. */
export function ruleOf({ rule }: Pick<Problem, "rule">): Rule {
  return RULES[rule as RuleId];
}

/** Whether `skills/list` omits a skill because of a problem. */
export function isUnlisting(problem: Problem): boolean {
  return ruleOf(problem).effect === "unlisted";
}

/**
 * Checks frontmatter. What is missing is not checked.
 *
 * @param skill The frontmatter, and the file that contains it.
 * @param entries The entries of the frontmatter. Without them, findings have no
 *   line numbers.
 */
export function checkFrontmatter(
  { frontmatter, file }: {
    frontmatter: Partial<SkillFrontmatter>;
    file: string;
  },
  entries?: readonly YamlEntry[],
): Problem[] {
  return FIELD_RULES.flatMap(({ rule, field, hint, findFault }) => {
    const reason = Object.hasOwn(frontmatter, field) &&
      findFault(frontmatter as SkillFrontmatter);
    if (!reason) return [];
    const line = entries && findFieldLine(field, entries);
    return [createProblem(rule, { file, line, reason, hint })];
  });
}

/** Checks the name of a skill's file. Only this server also finds a `skill.md`. */
export function checkFileName({ file }: Pick<Skill, "file">): Problem[] {
  if (basename(file) === SKILL_MD) return [];
  const reason = `most programs find only ${quote(SKILL_MD)}, not ${
    quote(basename(file))
  }`;
  const hint = `rename it to ${quote(SKILL_MD)}`;
  return [createProblem("file-name-case", { file, reason, hint })];
}

/** The files of a skill, and the entries that are not served. */
export type SkillContents = Awaited<ReturnType<SkillSource["inspectFiles"]>>;

/** Checks the list of a skill's files, without reading them. */
export function checkContents(
  { directory, file }: Pick<Skill, "directory" | "file">,
  { files, leftOut }: SkillContents,
): Problem[] {
  const findings = leftOut.map(({ file: path, ...fault }) =>
    createProblem(path === "" ? "unreadable" : "not-served", {
      ...fault,
      file: join(directory, path),
    })
  );
  const isListed = !findings.some(({ rule }) => rule === "unreadable");
  if (isListed && !files.some(({ path }) => path === SKILL_MD)) {
    const reason = "SKILL.md is not among the files of the skill";
    findings.push(createChange(file, reason));
  }
  const reason = findSizeFault(files);
  if (reason !== undefined) {
    const hint = "remove what the agent does not need, or split the skill";
    findings.push(createProblem("size", { file: directory, reason, hint }));
  }
  return findings;
}

/** Returns the finding that a skill changed while it was being checked. */
export function createChange(file: string, reason: string): Problem {
  return createProblem("changed", { file, reason, hint: "try again" });
}

function findSizeFault(files: readonly SkillFile[]): string | undefined {
  if (files.length > MAX_SKILL_FILES) {
    return `the skill has more than ${MAX_SKILL_FILES} files`;
  }
  if (totalSize(files) > MAX_SKILL_MIB * 1024 * 1024) {
    return `the files are larger than ${MAX_SKILL_MIB} MiB in total`;
  }
}

export function totalSize(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}

/** Finds a reason why hosts cannot load a skill, without reading its files. */
export function findUnlisting(
  skill: Skill,
  contents: SkillContents,
): Problem | undefined {
  return [...checkFrontmatter(skill), ...checkContents(skill, contents)]
    .find(isUnlisting);
}
