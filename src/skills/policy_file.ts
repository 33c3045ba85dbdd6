/**
 * Parses the policy file and reloads it when it changes. A file with any error
 * is not used at all, because the invalid rule might be the one that turns off a
 * skill.
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
import { isAtOrBelow, realPathOf } from "../files/paths.ts";
import { nearestWords, quote } from "../text.ts";
import { describeYamlError, parseYaml } from "./frontmatter.ts";
import { baseOf } from "./policy.ts";
import { PolicyError, type PolicyFault } from "./policy_error.ts";
import { listGlobFolders } from "./rule_folders.ts";
import type { SkillPolicy, SkillPolicySource } from "./types.ts";

/** The maximum size of a policy file, in bytes. */
const MAX_POLICY_SIZE = 64 * 1024;

/** The maximum number of rules in a policy. */
const MAX_RULES = 1_000;

const RULE = z.strictObject({
  state: z.enum(["on", "pinned", "name-only", "manual", "off"]),
  skill: z.optional(z.string()),
  scope: z.optional(z.enum(["project", "global"])),
  in: z.optional(z.string()),
});

const POLICY = z.strictObject({
  rules: z.array(RULE).check(z.maxLength(MAX_RULES)),
});

/** Where a policy comes from. */
type PolicyOrigin =
  & Required<Pick<SkillPolicy, "file">>
  & Pick<SkillPolicy, "homeDirectory">;

/**
 * Parses the YAML of a policy. Its globs are not checked.
 *
 * @throws {PolicyError} If it is invalid.
 */
export function parsePolicy(text: string, source: PolicyOrigin): SkillPolicy {
  const { file } = source;
  const yaml = parseYaml(text);
  if (yaml instanceof Error) {
    throw new PolicyError([{ file, ...describeYamlError(yaml) }]);
  }
  const lines = findRuleLines(text);
  const { data, error } = z.safeParse(POLICY, yaml, { reportInput: true });
  if (error) {
    const problems = error.issues.flatMap((issue) => {
      const line = lines[Number(issue.path[1])] ?? 1;
      return describeIssue(issue).map((fault) => ({ file, line, ...fault }));
    });
    throw new PolicyError(problems.sort((a, b) => a.line - b.line));
  }
  const rules = data.rules
    .map((rule, index) => ({ ...rule, line: lines[index] ?? 1 }));
  return { ...source, rules };
}

/** Describes how a policy differs from the schema. */
function describeIssue(issue: z.core.$ZodIssue): PolicyFault[] {
  const { code, path, input } = issue;
  if (code === "unrecognized_keys") {
    const { shape } = path.length === 0 ? POLICY : RULE;
    const words = Object.keys(shape);
    return issue.keys.map((key) => describeWord(key, { kind: "key", words }));
  }
  if (code === "too_big") {
    const reason = `it has more than ${MAX_RULES} rules`;
    return [{ reason, hint: "use globs to write fewer rules" }];
  }
  const kind = path.length === 2 ? "rule" : String(path.at(-1) ?? "policy");
  if (code === "invalid_value" && typeof input === "string") {
    return [describeWord(input, { kind, words: issue.values.map(String) })];
  }
  return [{
    reason: `the value of ${quote(kind)} is missing or malformed`,
    hint:
      'write "rules:", and below it each rule on a line, such as "- { skill: \'{git,pdf}\', state: off }"',
  }];
}

/** Describes an unknown word, and suggests a similar one. */
function describeWord(
  word: string,
  { kind, words }: { kind: string; words: readonly string[] },
): PolicyFault {
  const [nearest] = nearestWords(word, words);
  const all = words.join(", ");
  return {
    reason: `there is no ${kind} ${quote(word)}`,
    hint: nearest === undefined
      ? `use one of: ${all}`
      : `write ${quote(nearest)} (one of: ${all})`,
  };
}

/**
 * Returns the line, from 1, on which each rule starts, if the rules are on lines of
 * their own. The YAML parser does not report it.
 */
function findRuleLines(text: string): number[] {
  const items = text.split("\n").flatMap((line, index) =>
    /^\s*-(?:\s|$)/.test(line)
      ? [{ line: index + 1, indentation: line.indexOf("-") }]
      : []
  );
  return items.filter((item) => item.indentation === items[0]!.indentation)
    .map(({ line }) => line);
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
    attempt(() => listGlobFolders(glob, baseOf(source)))
      ?.map(({ path }) => ({ path, glob })) ?? []
  );
  const paths = [file, ...folders.map(({ path }) => path)]
    .flatMap((path) => [path, realPathOf(path)]);
  return {
    paths: [...new Set(paths)].filter((path) => !isTooMuch(path)),
    refused: folders.find(({ path }) => isTooMuch(path))?.glob,
  };
}
