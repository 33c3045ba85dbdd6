/**
 * Parses the policy file and reloads it when it changes. A file with any error
 * is not used at all, because the invalid rule might be the one that turns off a
 * skill.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { describeYamlError, parseYaml } from "./frontmatter.ts";
import { expandBraces, findGlobFault } from "./glob.ts";
import { attempt, faultOf } from "../files/faults.ts";
import { isAtOrBelow, realPathOf } from "../files/paths.ts";
import { isObject, nearestWords, quote } from "../text.ts";
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

/**
 * Parses the YAML of a policy. The YAML parser does not report line numbers, so
 * they are found in the text.
 *
 * @throws {PolicyError} If it is invalid.
 */
export function parsePolicy(text: string, source: PolicyOrigin): SkillPolicy {
  const lines = text.split(/\r?\n/);
  const problems: (PolicyFault & { file: string; line: number })[] = [];
  const report = (line: number, fault: PolicyFault) =>
    problems.push({ file: source.file, line: line + 1, ...fault });
  const items = parseRules(text, report);
  const starts = findRuleLines(lines, items.length);
  const rules = items.map((item, index) => {
    const start = starts[index]!;
    const own = lines.slice(start, starts[index + 1]);
    for (const [key, fault] of checkRule(item, source)) {
      if (fault) report(start + findKeyLine(key, own), fault);
    }
    return { ...item as SkillPolicyRule, line: start + 1 };
  });
  if (problems.length === 0) return { ...source, rules };
  throw new PolicyError(problems.sort((a, b) => a.line - b.line));
}

/** Returns the list of rules, and reports faults on lines counted from 0. */
function parseRules(
  yaml: string,
  report: (line: number, fault: PolicyFault) => void,
): readonly unknown[] {
  const policy = parseYaml(yaml);
  if (policy instanceof Error) {
    const { line, ...fault } = describeYamlError(policy);
    report(line - 1, fault);
  } else if (!isObject(policy)) {
    report(0, { reason: "it has no rules", hint: RULES_HINT });
  } else {
    const lines = yaml.split(/\r?\n/);
    const { rules, ...others } = policy;
    for (const key of Object.keys(others)) {
      report(findKeyLine(key, lines), checkWord("key", key, ["rules"])!);
    }
    const line = findKeyLine("rules", lines);
    if (Array.isArray(rules)) {
      if (rules.length <= MAX_RULES) return rules;
      report(line, {
        reason: `it has more than ${MAX_RULES} rules`,
        hint: "use globs to write fewer rules",
      });
    } else if (Object.keys(others).length === 0) {
      // Otherwise, a misspelled key has been reported.
      report(line, { reason: "it has no list of rules", hint: RULES_HINT });
    }
  }
  return [];
}

/** Checks a rule. Each fault belongs to a key. */
function* checkRule(
  rule: unknown,
  source: PolicyOrigin,
): Generator<[key: string, fault: PolicyFault | undefined]> {
  if (!isObject(rule)) return yield ["", NOT_A_RULE];
  for (const key of Object.keys(rule)) {
    yield [key, checkWord("key", key, RULE_KEYS)];
  }
  const { state, skill, scope, in: folder } = rule;
  yield [
    "state",
    state === undefined ? NO_STATE : checkWord("state", state, STATES),
  ];
  if (scope !== undefined) yield ["scope", checkWord("scope", scope, SCOPES)];
  if (skill !== undefined) yield ["skill", checkGlob("skill", skill)];
  if (folder !== undefined) {
    const fault = checkGlob("in", folder);
    yield ["in", fault ?? checkHome(folder as string, source)];
  }
}

function checkHome(
  glob: string,
  { homeDirectory }: PolicyOrigin,
): PolicyFault | undefined {
  const isKnown = homeDirectory !== undefined ||
    !expandBraces(glob).some((folder) => /^~(?=$|[\\/])/.test(folder));
  return isKnown ? undefined : {
    reason: "the home folder is unknown",
    hint: 'write its absolute path instead of "~"',
  };
}

const RULES_HINT =
  'write "rules:", and below it a line "- { state: …, … }" for each rule, or "rules: []" for none';

const NOT_A_RULE: PolicyFault = {
  reason: "the rule is not a mapping",
  hint: 'write it as "{ state: off, skill: … }"',
};

const NO_STATE: PolicyFault = {
  reason: "the rule has no state",
  hint: `add one of: ${STATES.join(", ")}`,
};

/** Reports an unknown word and suggests a similar one. */
function checkWord(
  kind: string,
  value: unknown,
  words: readonly string[],
): PolicyFault | undefined {
  if (words.includes(value as string)) return undefined;
  const word = String(value);
  const [nearest] = nearestWords(word, words);
  const all = words.join(", ");
  return {
    reason: `there is no ${kind} ${quote(word)}`,
    hint: nearest === undefined
      ? `use one of: ${all}`
      : `write ${quote(nearest)} (one of: ${all})`,
  };
}

function checkGlob(key: string, value: unknown): PolicyFault | undefined {
  if (typeof value === "string") return findGlobFault(value);
  if (Array.isArray(value) && value.every((item) => typeof item === "string")) {
    return {
      reason: `the value of ${quote(key)} is a list`,
      hint: `write it as ${quote(`{${value.join(",")}}`)}`,
    };
  }
  return {
    reason: `the value of ${quote(key)} is not a string`,
    hint: "put it in quotes",
  };
}

/**
 * Returns the line, from 0, on which each rule starts, or on which the list
 * starts if the rules cannot be located.
 */
function findRuleLines(lines: readonly string[], count: number): number[] {
  const list = findKeyLine("rules", lines);
  const next = lines.findIndex((line, index) =>
    index > list && /^[^\s#-]/.test(line)
  );
  const items = lines.entries().take(next === -1 ? Infinity : next)
    .drop(list + 1).filter(([, line]) => /^\s*-(?:\s|$)/.test(line));
  // The items of a list in a rule are indented further.
  const [starts = []] = Map.groupBy(items, ([, line]) => line.indexOf("-"))
    .values();
  return starts.length === count
    ? starts.map(([index]) => index)
    : Array(count).fill(list);
}

/** Returns the first line, from 0, that contains a key, or 0 if none does. */
function findKeyLine(key: string, lines: readonly string[]): number {
  const pattern = new RegExp(
    `(?:^|[\\s{,])["']?${RegExp.escape(key)}["']?\\s*:`,
  );
  return Math.max(lines.findIndex((line) => pattern.test(line)), 0);
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
    throw new PolicyError([{ ...isFile ? TOO_LARGE : NOT_A_FILE, file }]);
  } catch (error) {
    if (error instanceof PolicyError) throw error;
    const isMissing = error instanceof Deno.errors.NotFound;
    throw new PolicyError([{ ...isMissing ? NO_FILE : faultOf(error), file }]);
  }
}

const NO_FILE: PolicyFault = {
  reason: "there is no such file",
  hint: "create it, or check the spelling of its path",
};

const NOT_A_FILE: PolicyFault = {
  reason: "it is not a regular file",
  hint: "pass the path of a file",
};

const TOO_LARGE: PolicyFault = {
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
  const base = { workingDirectory: dirname(file), homeDirectory: home };
  // An invalid policy has no rules.
  const policy = attempt(() => parsePolicy(readPolicyText(file), source));
  const isTooMuch = (path: string) =>
    path === dirname(path) || home !== undefined && isAtOrBelow(home, path);
  const folders = (policy?.rules ?? []).flatMap(({ in: glob }) =>
    glob === undefined
      ? []
      : listGlobFolders(glob, base).map(({ path }) => ({ path, glob }))
  );
  const all = [file, ...folders.map(({ path }) => path)]
    .flatMap((path) => [path, realPathOf(path)]);
  const paths = [...new Set(all)].filter((path) => !isTooMuch(path));
  return { paths, refused: folders.find(({ path }) => isTooMuch(path))?.glob };
}
