// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The policy file: from YAML to rules, and kept current. A file with a fault in
 * it is not used at all, since a rule that is not understood may be the one
 * that keeps a skill out.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { parse as parseYaml } from "jsr:@std/yaml@^1";
import { DEFAULT_REFRESH_SECONDS, type SkillRegistryOptions } from "../mod.ts";
import { FolderWatcher, type WatchedFolders } from "./folder_watcher.ts";
import { describeYamlError } from "./frontmatter.ts";
import { globFault } from "./policy.ts";
import {
  type Fault,
  faultOf,
  realPaths,
  SkillFileError,
} from "./skill_files.ts";
import { nearestWords, quote } from "./text.ts";
import type {
  SkillPolicy,
  SkillPolicyRule,
  SkillProblem,
  SkillScope,
  SkillState,
} from "./types.ts";

/** Largest policy file, in bytes. */
const MAX_POLICY_SIZE = 64 * 1024;

/** The most rules that a policy may have. */
const MAX_RULES = 1_000;

const STATES: readonly SkillState[] = [
  "on",
  "pinned",
  "name-only",
  "manual",
  "off",
];

const SCOPES: readonly SkillScope[] = ["project", "global"];

const RULE_KEYS = ["state", "skill", "scope", "in"];

/** What holds until there is a good policy. */
const FALLBACK: SkillPolicy = { rules: [{ scope: "project", state: "off" }] };

/** Where a policy comes from. */
export interface PolicySource {
  /** The path of its file. */
  readonly file: string;
  /** The home folder, if it is known. */
  readonly homeDirectory?: string;
}

/** A policy cannot be used. */
export class PolicyError extends Error {
  /** Everything that is wrong with it. */
  readonly problems: readonly SkillProblem[];

  /** Makes an error of everything that is wrong with a policy. */
  constructor(problems: readonly SkillProblem[]) {
    super(problems.map(describePolicyProblem).join("\n"));
    this.name = "PolicyError";
    this.problems = problems;
  }
}

/** Says in one line what is wrong with a policy. */
function describePolicyProblem(
  { file, line, reason, hint }: SkillProblem,
): string {
  const place = line === undefined ? "" : ` (line ${line})`;
  return `Cannot use the policy ${quote(file)}${place}: ${reason}; ${hint}`;
}

/**
 * Parses the YAML of a policy.
 *
 * @throws {PolicyError} If anything is wrong with it.
 */
export function parsePolicy(text: string, source: PolicySource): SkillPolicy {
  return new PolicyParser(text.replace(/^\ufeff/, ""), source).parse();
}

/** Parses one policy. The YAML parser tells no lines, so they are found in the text. */
class PolicyParser {
  readonly #yaml: string;
  readonly #lines: readonly string[];
  readonly #source: PolicySource;
  readonly #problems: SkillProblem[] = [];

  constructor(yaml: string, source: PolicySource) {
    this.#yaml = yaml;
    this.#lines = yaml.split(/\r?\n/);
    this.#source = source;
  }

  parse(): SkillPolicy {
    const items = this.#parseRules(this.#parseMapping());
    const starts = ruleStarts(this.#lines, items.length);
    const rules = items.map((item, index) => {
      const start = starts[index]!;
      this.#checkRule(item, { start, end: starts[index + 1] });
      return { ...item as SkillPolicyRule, line: start + 1 };
    });
    if (this.#problems.length === 0) return { ...this.#source, rules };
    throw new PolicyError(this.#problems.sort((a, b) => a.line! - b.line!));
  }

  #parseMapping(): object {
    let value: unknown;
    try {
      value = parseYaml(this.#yaml, { schema: "core" });
    } catch (error) {
      const { line, ...fault } = describeYamlError(error as Error, this.#yaml);
      this.#report(line - 1, fault);
      return {};
    }
    if (isMapping(value)) return value;
    this.#report(0, { reason: "it has no rules", hint: RULES_HINT });
    return {};
  }

  #parseRules(policy: object): readonly unknown[] {
    if (this.#problems.length > 0) return [];
    for (const key of Object.keys(policy)) {
      if (key === "rules") continue;
      this.#report(
        lineOfKey(key, this.#lines),
        unknownWord("key", { word: key, words: ["rules"] }),
      );
    }
    const { rules } = policy as { rules?: unknown };
    if (Array.isArray(rules) && rules.length <= MAX_RULES) return rules;
    const line = lineOfKey("rules", this.#lines);
    if (Array.isArray(rules)) this.#report(line, TOO_MANY_RULES);
    else if (this.#problems.length === 0) {
      this.#report(line, {
        reason: "it has no list of rules",
        hint: RULES_HINT,
      });
    }
    return [];
  }

  /** Checks a rule that stands on the lines from `start` to `end`. */
  #checkRule(
    rule: unknown,
    { start, end }: { start: number; end?: number },
  ): void {
    const report = (key: string, fault: Fault | undefined) => {
      const lines = this.#lines.slice(start, end);
      if (fault) this.#report(start + lineOfKey(key, lines), fault);
    };
    if (!isMapping(rule)) return report("", NOT_A_RULE);
    for (const key of Object.keys(rule)) {
      if (RULE_KEYS.includes(key)) continue;
      report(key, unknownWord("key", { word: key, words: RULE_KEYS }));
    }
    const { state, skill, scope, in: folder } = rule as Record<string, unknown>;
    report(
      "state",
      state === undefined ? NO_STATE : wordFault("state", state, STATES),
    );
    if (scope !== undefined) report("scope", wordFault("scope", scope, SCOPES));
    if (skill !== undefined) report("skill", textFault("skill", skill));
    if (folder !== undefined) {
      report(
        "in",
        textFault("in", folder) ?? this.#homeFault(folder as string),
      );
    }
  }

  #homeFault(glob: string): Fault | undefined {
    const isKnown = this.#source.homeDirectory !== undefined;
    return isKnown || !/^~(?=$|[\\/])/.test(glob) ? undefined : {
      reason: "the home folder is not known",
      hint: 'write its whole path in place of "~"',
    };
  }

  /** Reports a fault on a line, counted from 0. */
  #report(line: number, fault: Fault): void {
    this.#problems.push({ file: this.#source.file, line: line + 1, ...fault });
  }
}

const RULES_HINT =
  'write "rules:", and below it a line "- { state: …, … }" for each rule, or "rules: []" for none';

const TOO_MANY_RULES: Fault = {
  reason: `it has more than ${MAX_RULES} rules`,
  hint: "write fewer, with globs",
};

const NOT_A_RULE: Fault = {
  reason: "the rule is not a mapping",
  hint: 'write it as "{ state: off, skill: … }"',
};

const NO_STATE: Fault = {
  reason: "the rule has no state",
  hint: `add one of: ${STATES.join(", ")}`,
};

function isMapping(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function wordFault(
  kind: string,
  value: unknown,
  words: readonly string[],
): Fault | undefined {
  if (words.includes(value as string)) return undefined;
  return unknownWord(kind, { word: String(value), words });
}

/** Says that a word is unknown, and which one may be meant. */
function unknownWord(
  kind: string,
  { word, words }: { word: string; words: readonly string[] },
): Fault {
  const [nearest] = nearestWords(word, words);
  const all = words.join(", ");
  return {
    reason: `there is no ${kind} ${quote(word)}`,
    hint: nearest === undefined
      ? `use one of: ${all}`
      : `write ${quote(nearest)} (one of: ${all})`,
  };
}

function textFault(key: string, value: unknown): Fault | undefined {
  if (typeof value === "string") return globFault(value);
  return {
    reason: `the value of ${quote(key)} is not a text`,
    hint: "put it in quotes",
  };
}

/** Returns the lines, from 0, that the rules start on; that of the list for each where these cannot be told. */
function ruleStarts(lines: readonly string[], count: number): number[] {
  const list = lineOfKey("rules", lines);
  const starts: number[] = [];
  let indentation: string | undefined;
  for (const [index, line] of lines.entries()) {
    if (index <= list || /^\s*(?:#|$)/.test(line)) continue;
    const [, indent, dash] = /^(\s*)(-(?=\s|$))?/.exec(line)!;
    indentation ??= indent!;
    if (indent!.length > indentation.length) continue;
    if (indent !== indentation || dash === undefined) break;
    starts.push(index);
  }
  return starts.length === count
    ? starts
    : Array.from({ length: count }, () => list);
}

/** Returns the first line, from 0, that has a key; the first one of all if none does. */
function lineOfKey(key: string, lines: readonly string[]): number {
  const pattern = new RegExp(
    `(?:^|[\\s{,])["']?${RegExp.escape(key)}["']?\\s*:`,
  );
  return Math.max(lines.findIndex((line) => pattern.test(line)), 0);
}

/** How a policy is kept current: like the skills. */
type PolicyWatchOptions = Pick<
  SkillRegistryOptions,
  "refreshSeconds" | "watchFolders"
>;

/**
 * A policy file that is kept current. While there is something wrong with it,
 * the last good policy holds; before there was one, no project skill is served.
 */
export class PolicyFile implements Disposable {
  readonly #source: PolicySource;
  readonly #log: (line: string) => void;
  #policy: SkillPolicy | undefined;
  /** The text that was read last, if one could be read. */
  #text: string | undefined;
  #problems: readonly SkillProblem[] = [];
  #timer: ReturnType<typeof setInterval> | undefined;
  #watcher: FolderWatcher | undefined;

  /** Reads the file for the first time. */
  constructor(source: PolicySource, log: (line: string) => void) {
    this.#source = source;
    this.#log = log;
    this.refresh();
  }

  /** The policy that holds. */
  get policy(): SkillPolicy {
    return this.#policy ?? FALLBACK;
  }

  /** What is wrong with the file now. */
  get problems(): readonly SkillProblem[] {
    return this.#problems;
  }

  /** Reads the file again. Returns whether another policy holds now. */
  refresh(): boolean {
    try {
      const text = readPolicyText(this.#source.file);
      if (text === this.#text) return false;
      this.#text = text;
      this.#policy = parsePolicy(text, this.#source);
      this.#problems = [];
      return true;
    } catch (error) {
      if (!(error instanceof PolicyError)) this.#text = undefined;
      this.#reportProblems(problemsOf(error, this.#source));
      return false;
    }
  }

  /** Calls back from now on whenever another policy holds. */
  watch(
    onChange: (policy: SkillPolicy) => unknown,
    { refreshSeconds = DEFAULT_REFRESH_SECONDS, watchFolders = true }:
      PolicyWatchOptions,
  ): void {
    const look = () => {
      this.#watchFolders();
      if (this.refresh()) onChange(this.policy);
    };
    if (refreshSeconds > 0) {
      this.#timer = setInterval(look, refreshSeconds * 1000);
      Deno.unrefTimer(this.#timer);
    }
    if (watchFolders) this.#watcher = new FolderWatcher(look, this.#log);
    look();
  }

  /** Ends watching. */
  close(): void {
    clearInterval(this.#timer);
    this.#watcher?.close();
  }

  /** Closes the file at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  #watchFolders(): void {
    this.#watcher?.update(watchedFolders(this.#source.file));
  }

  /** Reports problems to people, each once for as long as it lasts. */
  #reportProblems(problems: readonly SkillProblem[]): void {
    const known = new Set(this.#problems.map(describePolicyProblem));
    const lines = problems.map(describePolicyProblem)
      .filter((line) => !known.has(line));
    this.#problems = problems;
    const outcome = this.#policy === undefined
      ? "No project skill is served until it is fixed"
      : "The last good policy holds until it is fixed";
    for (const line of lines) this.#log(`${line}. ${outcome}`);
  }
}

/**
 * Reads the text of a policy file.
 *
 * @throws {SkillFileError} If it is not a regular file of a reasonable size.
 */
function readPolicyText(file: string): string {
  // What is not a regular file is not opened: opening a FIFO can block.
  const { isFile, size } = Deno.statSync(file);
  if (!isFile) throw new SkillFileError(file, NOT_A_FILE);
  if (size > MAX_POLICY_SIZE) throw new SkillFileError(file, TOO_LARGE);
  return Deno.readTextFileSync(file);
}

const NOT_A_FILE: Fault = {
  reason: "it is not a regular file",
  hint: "name a file",
};

const TOO_LARGE: Fault = {
  reason: `it has more than ${MAX_POLICY_SIZE} bytes`,
  hint: "make it smaller, with globs",
};

const NOT_FOUND: Fault = {
  reason: "there is no such file",
  hint: "write it, or check how its path is written",
};

function problemsOf(
  error: unknown,
  { file }: PolicySource,
): readonly SkillProblem[] {
  if (error instanceof PolicyError) return error.problems;
  const fault = error instanceof Deno.errors.NotFound
    ? NOT_FOUND
    : faultOf(error);
  return [{ file, ...fault }];
}

/** Returns what to watch for changes of a file: its name in the nearest folder that is there, and the name that a link leads to. */
function watchedFolders(file: string): WatchedFolders {
  const folders = new Map<string, Set<string>>();
  for (let path of new Set([file, ...realPaths([file])])) {
    while (realPaths([dirname(path)]).length === 0 && path !== dirname(path)) {
      path = dirname(path);
    }
    for (const folder of realPaths([dirname(path)])) {
      const names = folders.get(folder) ?? new Set();
      folders.set(folder, names.add(basename(path)));
    }
  }
  return folders;
}
