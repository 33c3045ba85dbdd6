/**
 * Reads and parses a policy file. A file with any error is not used at all, because
 * the invalid rule might be the one that turns off a skill.
 */

import * as z from "npm:zod@^4/mini";
import { attempt } from "../attempt.ts";
import {
  diagnosticOf,
  IS_A_FOLDER,
  isAbsence,
  NOT_A_FILE,
} from "../fs/errors.ts";
import { dirname } from "../fs/paths.ts";
import { locate, readLocated } from "../fs/read.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { SCOPES } from "../skills/names.ts";
import { Project } from "../skills/project.ts";
import type { SkillPolicyRule } from "../skills/types.ts";
import { parseYaml, toYamlFault } from "../skills/yaml.ts";
import { nearestWords, quote } from "../text.ts";
import {
  MAX_POLICY_FAULTS,
  PolicyError,
  resolveRuleFolder,
  textsOf,
} from "./policy_rules.ts";
import { STATE_NAMES } from "./states.ts";

const MAX_POLICY_KIB = 64;

/** The maximum number of names and folders in all rules, which each scan compares. */
const MAX_TEXTS = 1_000;

/** A word that people also capitalize, such as `Off`. */
const lenientEnum = <const Words extends readonly string[]>(words: Words) =>
  z.pipe(
    z.pipe(z.string(), z.transform((text) => text.trim().toLowerCase())),
    z.enum(words),
  );

const TEXTS = z.union([z.string(), z.array(z.string())]);

const RULE = z.strictObject({
  state: lenientEnum(STATE_NAMES),
  skill: z.optional(TEXTS),
  scope: z.optional(lenientEnum(SCOPES)),
  in: z.optional(TEXTS),
});

const POLICY = z.strictObject({ rules: z.array(RULE) });

export interface LoadedPolicy {
  readonly text: string;
  readonly rules: readonly SkillPolicyRule[];
}

/**
 * Loads a policy file, unless it is the same as before. Its names and folders are not
 * checked.
 *
 * @param project The project. A link in it must not lead to a file outside.
 * @throws {PolicyError} If it cannot be read or is malformed.
 */
export function loadPolicy(
  file: string,
  project: Project,
  last?: LoadedPolicy,
): LoadedPolicy {
  const text = readPolicyText(file, project);
  return text === last?.text ? last : { text, rules: parseRules(text) };
}

function parseRules(text: string): SkillPolicyRule[] {
  const lines = listRuleLines(text);
  const { data, error } = z
    .safeParse(POLICY, parsePolicyYaml(text), { reportInput: true });
  if (error) {
    const faults = error.issues.slice(0, MAX_POLICY_FAULTS).map((issue) => {
      const line = lines[Number(issue.path[1])] ?? 1;
      return { ...toIssueFault(issue), line };
    });
    throw new PolicyError(...faults.sort((a, b) => a.line - b.line));
  }
  const texts = data.rules
    .flatMap((rule) => [...textsOf(rule.skill), ...textsOf(rule.in)]);
  if (texts.length > MAX_TEXTS) throw new PolicyError(TOO_MANY_TEXTS);
  return data.rules
    .map((rule, index) => ({ ...rule, line: lines[index] ?? 1 }));
}

function parsePolicyYaml(text: string): unknown {
  try {
    return parseYaml(text);
  } catch (error) {
    throw new PolicyError(toYamlFault(error as Error));
  }
}

function toIssueFault(
  issue: z.core.$ZodIssue,
): Pick<DiagnosticDetails, "reason" | "fix"> {
  const { path } = issue;
  const kind = path.length === 2 ? "rule" : String(path.at(-1) ?? "policy");
  const reason = issue.code === "unrecognized_keys"
    ? `there is no key ${quote(issue.keys.join(", "))}`
    : formatBadValue(kind, issue.input);
  const near = listMeant(issue).map(quote).join(" or ");
  if (near !== "") return { reason, fix: `write ${near}, if you meant that` };
  const fix = issue.code === "invalid_value"
    ? `write one of these: ${issue.values.join(", ")}`
    : FORMS[kind] ?? FORM;
  return { reason, fix };
}

function formatBadValue(kind: string, value: unknown): string {
  if (value === undefined) return `${quote(kind)} is missing`;
  const shown = typeof value === "object" ? "" : ` ${quote(String(value))}`;
  return `the value${shown} of ${quote(kind)} is malformed`;
}

const FORMS: Readonly<Record<string, string>> = {
  skill: 'write a name in quotes, or a list of these, as in ["a", "b"]',
  in: 'write a folder in quotes, or a list of these, as in ["~/a", "~/b"]',
};

function listMeant(issue: z.core.$ZodIssue): string[] {
  if (issue.code === "unrecognized_keys") {
    const { shape } = issue.path.length === 0 ? POLICY : RULE;
    return issue.keys.flatMap((key) => nearestWords(key, Object.keys(shape)));
  }
  if (issue.code !== "invalid_value") return [];
  const word = String(issue.input);
  // A short word may mean the opposite: "no" is near "on".
  return word.length > 3 ? nearestWords(word, issue.values.map(String)) : [];
}

const FORM =
  `write "rules:", and below it each rule on a line, such as "- { skill: pdf, state: off }"; the keys are ${
    Object.keys(RULE.shape).join(", ")
  }, and the states ${STATE_NAMES.join(", ")}`;

/**
 * Returns the line, from 1, on which each rule starts, if the rules are on lines of
 * their own. The YAML parser does not report it.
 */
function listRuleLines(text: string): number[] {
  const indentations = text.split("\n")
    .map((line) => /^(\s*)-(?:\s|$)/.exec(line)?.[1]);
  const first = indentations.find((it) => it !== undefined);
  return indentations.flatMap((it, index) =>
    it !== undefined && it === first ? [index + 1] : []
  );
}

function readPolicyText(file: string, project: Project): string {
  try {
    const located = locate(file, () => true);
    if (project.leadsOut(file, located.realPath)) {
      throw new PolicyError(OUT_OF_PROJECT);
    }
    const diagnostic = findFileDiagnostic(located.status);
    if (diagnostic !== undefined) throw new PolicyError(diagnostic);
    return new TextDecoder().decode(readLocated(located));
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    throw new PolicyError(isAbsence(error) ? NO_FILE : diagnosticOf(error));
  }
}

function findFileDiagnostic(
  { isDirectory, isFile, size }: Deno.FileInfo,
): DiagnosticDetails | undefined {
  if (isDirectory) return IS_A_FOLDER;
  if (!isFile) return NOT_A_FILE;
  return size > MAX_POLICY_KIB * 1024 ? TOO_LARGE : undefined;
}

const NO_FILE: DiagnosticDetails = {
  rule: "policy",
  reason: "there is no such file",
  fix: "create it, or check the spelling of its path",
};

const OUT_OF_PROJECT: DiagnosticDetails = {
  rule: "policy",
  reason: "it lies outside the project, and a link in the project leads to it",
  fix: "pass the path of the file itself",
};

const TOO_LARGE: DiagnosticDetails = {
  rule: "policy",
  reason: `it has more than ${MAX_POLICY_KIB} KiB`,
  fix: "write patterns and folders instead of single skills",
};

const TOO_MANY_TEXTS: DiagnosticDetails = {
  ...TOO_LARGE,
  reason: `its rules have more than ${MAX_TEXTS} names and folders`,
};

/**
 * Lists the absolute folders of the rules in a policy file, each with its text. An
 * invalid policy has none.
 */
export function listRuleFolders(
  file: string,
  homeDirectory: string | undefined,
): { path: string; text: string }[] {
  const base = { workingDirectory: dirname(file), homeDirectory };
  const { rules = [] } = attempt(() => loadPolicy(file, new Project({}))) ?? {};
  return rules.flatMap((rule) => textsOf(rule.in))
    .flatMap((text) => {
      const path = resolveRuleFolder(text, base);
      return path === undefined ? [] : [{ path, text }];
    });
}
