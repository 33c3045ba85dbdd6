/**
 * Parses the policy file and reloads it when it changes. A file with any error
 * is not used at all, because the invalid rule might be the one that turns off a
 * skill.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import {
  attempt,
  faultOf,
  NOT_A_FILE,
  SkillFileError,
} from "../files/faults.ts";
import { isAtOrBelow, realPathOf } from "../files/paths.ts";
import { isObject, nearestWords, quote } from "../text.ts";
import { describeYamlError, parseYaml } from "./frontmatter.ts";
import { baseOf, checkGlobs } from "./policy.ts";
import { PolicyError, type PolicyFault } from "./policy_error.ts";
import { listGlobFolders } from "./rule_folders.ts";
import type {
  SkillPolicy,
  SkillPolicyRule,
  SkillPolicySource,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The maximum size of a policy file, in bytes. */
const MAX_POLICY_SIZE = 64 * 1024;

/** The maximum number of rules in a policy. */
const MAX_RULES = 1_000;

const STATES: SkillState[] = ["on", "pinned", "name-only", "manual", "off"];

const SCOPES: SkillScope[] = ["project", "global"];

const RULE_KEYS = ["state", "skill", "scope", "in"];

/** Where a policy comes from. */
export type PolicyOrigin =
  & Required<Pick<SkillPolicy, "file">>
  & Pick<SkillPolicy, "homeDirectory">;

/** What is wrong on a line, counted from 1. */
type LineFault = PolicyFault & { readonly line?: number | undefined };

/**
 * Parses the YAML of a policy.
 *
 * @throws {PolicyError} If it is invalid.
 */
export function parsePolicy(text: string, source: PolicyOrigin): SkillPolicy {
  const policy = parseYaml(text);
  const items = isObject(policy) && Array.isArray(policy.rules)
    ? policy.rules
    : [];
  const lines = findRuleLines(text, items.length);
  const rules: SkillPolicyRule[] = items
    .map((item, index) => ({ ...item, line: lines[index] }));
  const faults = [
    ...checkPolicy(policy),
    ...items.flatMap((item, index) => {
      const faults: LineFault[] = checkRule(item);
      return faults.length > 0
        ? faults.map((fault) => ({ ...fault, line: lines[index] }))
        : checkGlobs(rules[index]!, source);
    }),
  ];
  if (faults.length === 0) return { ...source, rules };
  throw new PolicyError(
    faults.map((fault) => ({ file: source.file, ...fault })),
  );
}

/** Checks everything but the rules. */
function checkPolicy(policy: unknown): LineFault[] {
  if (policy instanceof Error) return [describeYamlError(policy)];
  const { rules, ...others } = isObject(policy) ? policy : {};
  const keys = checkWords("key", Object.keys(others), ["rules"]);
  // The key may be misspelled.
  const isMissing = !Array.isArray(rules) && keys.length === 0;
  const isLong = Array.isArray(rules) && rules.length > MAX_RULES;
  return [...keys, ...isMissing ? [NO_RULES] : [], ...isLong ? [TOO_MANY] : []]
    .map((fault) => ({ line: 1, ...fault }));
}

/** Checks everything in a rule but its globs. */
function checkRule(rule: unknown): PolicyFault[] {
  if (!isObject(rule)) return [NOT_A_RULE];
  const { state, scope = "global" } = rule;
  return [
    ...checkWords("key", Object.keys(rule), RULE_KEYS),
    ...state === undefined ? [NO_STATE] : checkWords("state", [state], STATES),
    ...checkWords("scope", [scope], SCOPES),
    ...["skill", "in"]
      .filter((key) => !["string", "undefined"].includes(typeof rule[key]))
      .map((key) => ({
        reason: `the value of ${quote(key)} is not a text`,
        hint: 'put it in quotes, and write a list as "{a,b}"',
      })),
  ];
}

const NO_RULES: PolicyFault = {
  reason: "it has no list of rules",
  hint:
    'write "rules:", and below it a line "- { state: …, … }" for each rule, or "rules: []" for none',
};

const TOO_MANY: PolicyFault = {
  reason: `it has more than ${MAX_RULES} rules`,
  hint: "use globs to write fewer rules",
};

const NOT_A_RULE: PolicyFault = {
  reason: "the rule is not a mapping",
  hint: 'write it as "{ state: off, skill: … }"',
};

const NO_STATE: PolicyFault = {
  reason: "the rule has no state",
  hint: `add one of: ${STATES.join(", ")}`,
};

/** Reports unknown words, and suggests similar ones. */
function checkWords(
  kind: string,
  values: readonly unknown[],
  words: readonly string[],
): PolicyFault[] {
  return values.map(String).filter((value) => !words.includes(value))
    .map((value) => {
      const [nearest] = nearestWords(value, words);
      const all = words.join(", ");
      return {
        reason: `there is no ${kind} ${quote(value)}`,
        hint: nearest === undefined
          ? `use one of: ${all}`
          : `write ${quote(nearest)} (one of: ${all})`,
      };
    });
}

/**
 * Returns the line, from 1, on which each rule starts, or the list if the rules are
 * not on lines of their own. The YAML parser does not report it.
 */
function findRuleLines(text: string, count: number): number[] {
  const lines = text.split("\n");
  const items = lines.flatMap((line, index) =>
    /^\s*-(?:\s|$)/.test(line)
      ? [{ line: index + 1, indentation: line.indexOf("-") }]
      : []
  );
  const rules = items
    .filter(({ indentation }) => indentation === items[0]!.indentation);
  const list = lines.findIndex((line) => /^\W?rules\W/.test(line));
  return rules.length === count
    ? rules.map(({ line }) => line)
    : Array(count).fill(Math.max(list, 0) + 1);
}

/** A policy file that is reloaded when it changes. */
export class PolicyFile implements SkillPolicySource {
  readonly #source: PolicyOrigin;
  #text: string | undefined;
  #policy: SkillPolicy | undefined;

  /** Creates the source of a policy. Nothing is read yet. */
  constructor(source: PolicyOrigin) {
    this.#source = source;
  }

  get file(): string {
    return this.#source.file;
  }

  load(): SkillPolicy {
    const text = readPolicyText(this.file);
    if (text !== this.#text || this.#policy === undefined) {
      this.#policy = undefined;
      this.#text = text;
      this.#policy = parsePolicy(text, this.#source);
    }
    return this.#policy;
  }
}

/**
 * Reads the text of a policy file.
 *
 * @throws {PolicyError} If it cannot be read.
 */
function readPolicyText(file: string): string {
  try {
    // Check first, because opening a FIFO can block.
    const { isFile, size } = Deno.statSync(file);
    if (isFile && size <= MAX_POLICY_SIZE) return Deno.readTextFileSync(file);
    throw new SkillFileError(file, isFile ? TOO_LARGE : NOT_A_FILE);
  } catch (error) {
    const isMissing = error instanceof Deno.errors.NotFound;
    const { reason, hint } = isMissing ? NO_FILE : faultOf(error);
    throw new PolicyError([{ file, reason, hint }]);
  }
}

const NO_FILE: PolicyFault = {
  reason: "there is no such file",
  hint: "create it, or check the spelling of its path",
};

const TOO_LARGE = {
  rule: "policy",
  reason: `it has more than ${MAX_POLICY_SIZE} bytes`,
  hint: "use globs to make it smaller",
};

/**
 * Lists the paths that must be readable to use a policy and to notice its
 * changes: the file, and the folders of its rules, with the targets of links. The
 * home folder and the folders above it are left out. Also returns the glob of a
 * rule that cannot be used without one of these, if there is any.
 */
export function listPolicyPermissions(
  source: PolicyOrigin,
): { paths: string[]; refused: string | undefined } {
  const { file, homeDirectory: home } = source;
  // An invalid policy has no rules.
  const policy = attempt(() => parsePolicy(readPolicyText(file), source));
  const isTooMuch = (path: string) =>
    path === dirname(path) || home !== undefined && isAtOrBelow(home, path);
  const globs = (policy?.rules ?? []).flatMap((rule) => rule.in ?? []);
  const folders = globs.flatMap((glob) =>
    listGlobFolders(glob, baseOf(source)).map(({ path }) => ({ path, glob }))
  );
  const paths = [file, ...folders.map(({ path }) => path)]
    .flatMap((path) => [path, realPathOf(path)]);
  return {
    paths: [...new Set(paths)].filter((path) => !isTooMuch(path)),
    refused: folders.find(({ path }) => isTooMuch(path))?.glob,
  };
}
