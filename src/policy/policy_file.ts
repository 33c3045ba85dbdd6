/** Reads a policy file, and validates policies. */

import * as z from "npm:zod@^4/mini";
import { attempt } from "../attempt.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { diagnosticOf, isAbsence, SkillFileError } from "../fs/errors.ts";
import { dirname, resolvePath } from "../fs/paths.ts";
import { locate, readLocated } from "../fs/read.ts";
import { parseYaml } from "../skills/fields.ts";
import { isScoped, SCOPES } from "../skills/names.ts";
import { Project } from "../skills/project.ts";
import { NOT_UTF_8 } from "../skills/skill_md.ts";
import type { AppliedPolicyRule } from "../skills/types.ts";
import { isObject, oneLine } from "../text.ts";
import { STATE_NAMES } from "./states.ts";

const EMPTY = "It must not be empty";

/** A condition: one string, or a list of strings. An empty one is a mistake. */
const listOf = (text: z.ZodMiniString) =>
  z.pipe(
    z.transform((value) => [value].flat()),
    z.array(text).check(z.minLength(1, EMPTY)),
  );

// What would match nothing is a mistake, so that no rule silently has no effect.
const NAME = z.string().check(
  z.minLength(1, EMPTY),
  z.regex(/^[^,]*$/, "Write several names as a list, such as [pdf, git]"),
  z.refine(
    (name) => !isScoped(name),
    "Write the name alone, and the scope as another condition, such as scope: global",
  ),
);

const DIR = z.string({
  error: ({ input }) =>
    input === null
      ? 'It is empty, as is ~ without quotes: write "~" for the home folder'
      : undefined,
}).check(
  z.minLength(1, EMPTY),
  z.regex(
    /^[^*?]*$/,
    "Wildcards do not work here: a rule matches everything in a folder",
  ),
  z.regex(
    /^(?!\$\{?\w|%\w+%)/,
    "Variables do not work here: write ~ for the home folder",
  ),
  z.regex(
    /^(?![^{]*\{[^,]*,)/,
    "Braces do not work here: write a list of folders",
  ),
);

/** YAML 1.1 writes "off" as false. */
const STATE = z.pipe(
  z.transform((state) => state === false ? "off" : String(state).toLowerCase()),
  z.enum(STATE_NAMES, `It must be one of ${STATE_NAMES.join(", ")}`),
);

const RULE = z.strictObject({
  state: STATE,
  skill: z.optional(listOf(NAME)),
  scope: z.optional(z.enum(SCOPES)),
  in: z.optional(listOf(DIR)),
});

const POLICY = z.strictObject({ rules: z.array(RULE) }, {
  error: ({ input }) => {
    if (input === null) return "The file is empty";
    return Array.isArray(input)
      ? 'Write "rules:" on the first line, and this list below it'
      : undefined;
  },
});

/** The last contents of a policy file. A file with diagnostics has no rules. */
export interface PolicyFile {
  readonly text?: string;
  readonly rules: readonly AppliedPolicyRule[];
  readonly diagnostics: readonly Diagnostic[];
}

/** Loads a policy file, unless its text has not changed. */
export function loadPolicy(
  file: string,
  project: Project,
  last?: PolicyFile,
): PolicyFile {
  let text: string;
  try {
    text = readText(file, project);
  } catch (error) {
    return unusable(file, [isAbsence(error) ? NO_FILE : diagnosticOf(error)]);
  }
  return text === last?.text ? last : { text, ...parseRules(text, file) };
}

/** @param source The path of the policy's file, or the name of the option with it. */
function unusable(
  source: string,
  problems: readonly Pick<Diagnostic, "line" | "reason" | "fix">[],
): PolicyFile {
  const diagnostics = problems
    .map((it): Diagnostic => ({ ...it, rule: "policy", file: source }));
  return { rules: [], diagnostics };
}

/** @throws {Error} If the file leads out of the project, is unreadable, or is not UTF-8. */
function readText(file: string, project: Project): string {
  const realPath = project.enter(file);
  const located = locate(file, (path) => path === realPath);
  const decoder = new TextDecoder("utf-8", { fatal: true });
  const bytes = readLocated(located);
  const text = attempt(() => decoder.decode(bytes));
  if (text === undefined) throw new SkillFileError(file, NOT_UTF_8);
  return text;
}

const NO_FILE = {
  reason: "there is no such file",
  fix: "create it, or check the spelling of its path",
};

/** Passes on the parser's message, whose line numbers are those of the text. */
function explainYaml(
  { message }: Error,
): Pick<Diagnostic, "line" | "reason" | "fix"> {
  const [text = message, line = "1"] = message.split(/ at line (\d+), /, 2);
  return {
    line: Number(line),
    reason: `the YAML is malformed: ${oneLine(text)}`,
    fix:
      "check the quotes, colons, and indentation of this line and the lines before it",
  };
}

function parseRules(text: string, file: string): PolicyFile {
  let parsed: unknown;
  try {
    parsed = parseYaml(text);
  } catch (error) {
    return unusable(file, [explainYaml(error as Error)]);
  }
  // An empty file may be half written, but rules that are commented out are none.
  const hasComment = /^[ \t]*#/m.test(text);
  const policy = parsed ?? {};
  return checkPolicy(
    hasComment && isObject(policy)
      ? { ...policy, rules: policy.rules ?? [] }
      : parsed,
    file,
  );
}

/** Checks a policy against the schema. */
export function checkPolicy(policy: unknown, source: string): PolicyFile {
  const { localeError } = z.locales.en();
  const { data, error } = z.safeParse(POLICY, policy, { error: localeError });
  if (error) return unusable(source, error.issues.map(explainIssue));
  const rules = data.rules
    .map((rule, index) => ({ ...rule, place: `rules[${index}]` }));
  return { rules, diagnostics: [] };
}

function explainIssue(
  { path, message }: z.core.$ZodIssue,
): Pick<Diagnostic, "reason" | "fix"> {
  const member = z.core.toDotPath(path);
  return {
    reason: member === "" ? message : `${member}: ${message}`,
    fix: 'write rules as in "rules: [{ skill: pdf, state: off }]"',
  };
}

/**
 * Lists the directories in the rules of a policy file as absolute paths. An invalid
 * file has none.
 *
 * @throws {Error} If one starts with `~` and the home directory is unknown.
 */
export function listRuleDirs(
  file: string,
  homeDirectory: string | undefined,
): string[] {
  const base = { workingDirectory: dirname(file), homeDirectory };
  return loadPolicy(file, new Project({})).rules
    .flatMap((rule) => [rule.in ?? []].flat())
    .map((path) => resolvePath(path, base));
}
