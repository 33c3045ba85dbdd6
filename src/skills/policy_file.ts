/**
 * Reads and parses a policy file. A file with any error is not used at all, because
 * the invalid rule might be the one that turns off a skill.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import * as z from "npm:zod@^4/mini";
import {
  attempt,
  faultOf,
  NOT_A_FILE,
  SkillFileError,
} from "../files/faults.ts";
import type { Fault } from "../problems.ts";
import { quote } from "../text.ts";
import { describeYamlError, parseYaml } from "./frontmatter.ts";
import { listGlobFolders, PolicyError, type PolicyFault } from "./glob.ts";
import type { SkillPolicyRule } from "./types.ts";

/** The maximum size of a policy file, in bytes. */
const MAX_POLICY_SIZE = 64 * 1024;

const STATES = ["on", "pinned", "name-only", "manual", "off"] as const;

const RULE = z.strictObject({
  state: z.enum(STATES),
  skill: z.optional(z.string()),
  scope: z.optional(z.enum(["project", "global"])),
  in: z.optional(z.string()),
});

const POLICY = z.strictObject({ rules: z.array(RULE) });

/** The rules in a policy file, and its text. */
export interface LoadedPolicy {
  readonly text: string;
  readonly rules: readonly SkillPolicyRule[];
}

/**
 * Loads a policy file, unless it is the same as before. The globs of its rules are
 * not checked.
 *
 * @throws {PolicyError} If it cannot be read, or is invalid.
 */
export function loadPolicy(file: string, last?: LoadedPolicy): LoadedPolicy {
  const text = readPolicyText(file);
  return text === last?.text ? last : { text, rules: parseRules(text) };
}

/** Parses the YAML of a policy. */
function parseRules(text: string): SkillPolicyRule[] {
  const yaml = parseYaml(text);
  if (yaml instanceof Error) throw new PolicyError([describeYamlError(yaml)]);
  const lines = findRuleLines(text);
  const { data, error } = z.safeParse(POLICY, yaml);
  if (error) {
    const faults = error.issues.map((issue) => {
      const line = lines[Number(issue.path[1])] ?? 1;
      return { ...describeIssue(issue), line };
    });
    throw new PolicyError(faults.sort((a, b) => a.line - b.line));
  }
  return data.rules
    .map((rule, index) => ({ ...rule, line: lines[index] ?? 1 }));
}

/** Describes how a policy differs from the schema. */
function describeIssue(issue: z.core.$ZodIssue): PolicyFault {
  const { path } = issue;
  const kind = path.length === 2 ? "rule" : String(path.at(-1) ?? "policy");
  const reason = issue.code === "unrecognized_keys"
    ? `there is no key ${quote(issue.keys.join(", "))}`
    : `the value of ${quote(kind)} is missing or malformed`;
  return { reason, hint: FORM };
}

const FORM = `write "rules:", and below it each rule on a line, such as "- { ${
  Object.keys(RULE.shape).join(": …, ")
}: … }", with a state of ${STATES.join(", ")}`;

/**
 * Returns the line, from 1, on which each rule starts, if the rules are on lines of
 * their own. The YAML parser does not report it.
 */
function findRuleLines(text: string): number[] {
  const indentations = text.split("\n")
    .map((line) => /^(\s*)-(?:\s|$)/.exec(line)?.[1]);
  const first = indentations.find((it) => it !== undefined);
  return indentations.flatMap((it, index) =>
    it !== undefined && it === first ? [index + 1] : []
  );
}

/** Reads the text of a policy file. */
function readPolicyText(file: string): string {
  try {
    // Check first, because opening a FIFO can block.
    const { isFile, size } = Deno.statSync(file);
    if (isFile && size <= MAX_POLICY_SIZE) return Deno.readTextFileSync(file);
    throw new SkillFileError(file, isFile ? TOO_LARGE : NOT_A_FILE);
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound;
    throw new PolicyError([isMissing ? NO_FILE : faultOf(error)]);
  }
}

const NO_FILE: PolicyFault = {
  reason: "there is no such file",
  hint: "create it, or check the spelling of its path",
};

const TOO_LARGE: Fault = {
  rule: "policy",
  reason: `it has more than ${MAX_POLICY_SIZE} bytes`,
  hint: "use globs to make it smaller",
};

/** Lists the folders of the rules in a policy file, each with its glob. An invalid policy has none. */
export function listRuleFolders(
  file: string,
  homeDirectory: string | undefined,
): { path: string; glob: string }[] {
  const base = { workingDirectory: dirname(file), homeDirectory };
  const rules = attempt(() => loadPolicy(file).rules) ?? [];
  return rules.flatMap((rule) => rule.in ?? []).flatMap((glob) =>
    attempt(() => listGlobFolders(glob, base))
      ?.map(({ path }) => ({ path, glob })) ?? []
  );
}
