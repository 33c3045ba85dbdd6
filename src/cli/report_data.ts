/**
 * What `--list` and `--check` report.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { type CheckSettings, isTarget } from "./check_targets.ts";
import { missingFolders, type Settings } from "./settings.ts";
import { currentFolder, SKILL_MD } from "../files/paths.ts";
import { quoteArgument } from "../shell_quoting.ts";
import { checkSkill, checkSkipped } from "../skills/checks.ts";
import { findNearMisses, listSkillFolders } from "../skills/near_misses.ts";
import { qualifiedName } from "../skills/names.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import {
  checkFileName,
  createProblem,
  findUnlisting,
  isUnlisting,
  type Rule,
  ruleOf,
  totalSize,
} from "../skills/validity.ts";
import { nearestWords, quote } from "../text.ts";
import type { PolicyFile } from "../skills/policy_file.ts";
import type {
  Problem,
  Skill,
  SkillCatalog,
  SkillPolicyRule,
  SkillSource,
} from "../skills/types.ts";

/** The skills that a report is about, as the server opens them. */
export interface SkillsToReport {
  readonly registry: SkillSource;
  /** The policy file, if one is given. */
  readonly policyFile?: PolicyFile | undefined;
}

/** What a report is made from. */
interface Sources extends SkillsToReport {
  readonly catalog: SkillCatalog;
  readonly settings: CheckSettings;
  readonly policy: ReportedPolicy | undefined;
}

/** The skills that were found, and the problems with them. */
export type Report = Awaited<ReturnType<typeof createReport>>;

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(
  skills: SkillsToReport,
  settings: CheckSettings,
) {
  const catalog = await skills.registry.refresh();
  const policy = findPolicyEffects(skills, settings);
  const sources = { ...skills, catalog, settings, policy };
  const problemsOfScan = catalog.problems
    .filter(({ file }) => isTarget(file, settings));
  const skipped = [
    ...findMissingFolders(sources),
    ...problemsOfScan,
    ...await findNearMissesIn(sources),
  ];
  const found = await inspectSkills(sources);
  const { check } = settings.values;
  const findings = [
    ...checkPolicy(sources),
    ...skipped,
    ...check ? await checkRest(skipped, skills) : [],
    ...found.flatMap(({ findings }) => findings),
  ];
  const isEmpty = found.length === 0 && !policy?.off.length &&
    !findings.some(isError);
  if (check && isEmpty) findings.push(findNothing(settings));
  const problems = findings;
  return {
    values: settings.values,
    policyFile: policy?.file,
    found: found.length,
    skipped: countSkipped(problemsOfScan),
    data: {
      ...describeCatalog(found, sources),
      unsearched: countUnsearched(sources),
      problems: problems.map(describeProblem),
    },
  };
}

/** Describes the skills as `--json` prints them. `docs/check.md` describes the shape. */
function describeCatalog(
  skills: readonly FoundSkill[],
  { catalog: { roots, shadowed }, policy }: Sources,
) {
  const described = new Map(
    roots.map(({ root, scope, status, skills }) => {
      const { path, recursive } = root;
      return [root, { path, scope, recursive, status, skills }] as const;
    }),
  );
  return {
    roots: [...described.values()],
    skills: skills.filter(({ skill }) => skill.prefix === undefined)
      .map(({ skill, files, size }) => {
        const { name, ...place } = placeOf(skill);
        const { description } = skill;
        const root = described.get(skill.root)!;
        const decision = decisionOn(skill, policy);
        return { name, description, ...place, root, files, size, ...decision };
      }),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      qualifiedName: qualifiedName(skill),
      file: skill.file,
      by: by.file,
      ...decisionOn(skill, policy),
    })),
    off: policy?.off.map(({ skill, rule }) => ({
      ...placeOf(skill),
      rule: placeOfRule(rule, policy),
    })),
    unlisted: skills.filter(({ unlisted }) => unlisted !== undefined)
      .map(({ skill, unlisted: reason = "" }) => ({
        name: qualifiedName(skill),
        reason,
      })),
  };
}

function placeOf({ name, scope, directory, file }: Skill) {
  return { name, scope, directory, file };
}

/** Returns the state of a skill and the rule that applies, if there is a policy. */
function decisionOn(skill: Skill, policy: ReportedPolicy | undefined) {
  if (policy === undefined) return undefined;
  const rule = placeOfRule(policy.rules.get(skill), policy);
  return { state: skill.state ?? "on", rule };
}

/** Returns the place of a rule. The rule that replaces an unusable policy has none. */
function placeOfRule(
  rule: SkillPolicyRule | undefined,
  { file }: ReportedPolicy,
) {
  return rule?.line === undefined ? undefined : { file, line: rule.line };
}

/** A problem as it is printed. */
export interface PrintedProblem extends Problem {
  readonly severity: Rule["severity"];
}

function describeProblem(problem: Problem): PrintedProblem {
  const { severity } = ruleOf(problem);
  const { rule, file, line, reason, hint } = problem;
  const place = line === undefined ? { file } : { file, line };
  return { rule, severity, ...place, reason, hint };
}

export function hasErrors({ data }: Report): boolean {
  return data.problems.some(isError);
}

export function isError(problem: Problem): boolean {
  return ruleOf(problem).severity === "error";
}

/** A skill, with what was found out about its files. */
type FoundSkill = Awaited<ReturnType<typeof inspectSkills>>[number];

/** Lists the files of each skill, and checks them if the command line asks for it. */
async function inspectSkills({ registry, catalog, settings }: Sources) {
  const { targets, values: { check } } = settings;
  const skills = [...catalog.served.values()].filter(({ directory, root }) =>
    !targets.has(root.path) || directory === root.path
  );
  return await Array.fromAsync(skills, async (skill) => {
    const contents = await registry.inspectFiles(skill);
    const found = check
      ? await Array.fromAsync(checkSkill(skill, { source: registry, contents }))
      : [];
    const unlisting = check
      ? found.find(isUnlisting)
      : findUnlisting(skill, contents);
    return {
      skill,
      files: contents.files.length,
      /** The total size of the files in bytes. */
      size: totalSize(contents.files),
      /** The reason why `skills/list` omits the skill, if it does. */
      unlisted: unlisting?.reason,
      findings: [...checkFileName(skill), ...found],
    };
  });
}

/** Checks the rest of each skill that is skipped because of its frontmatter. */
async function checkRest(
  problems: readonly Problem[],
  { registry }: SkillsToReport,
): Promise<Problem[]> {
  const first = new Map(problems.toReversed().map((it) => [it.file, it]));
  const findings = await Array.fromAsync(
    [...first.values()].reverse(),
    (problem) => Array.fromAsync(checkSkipped(problem, registry)),
  );
  return findings.flat();
}

/** Counts the skills that are skipped. */
function countSkipped(problems: readonly Problem[]): number {
  const files = problems.map(({ file }) => file)
    .filter((file) => basename(file).toLowerCase() === "skill.md");
  return new Set(files).size;
}

/** Reports that `--check` has found nothing to check. */
function findNothing({ directories, roots }: Settings): Problem {
  const isGiven = directories.length > 0;
  const file = roots[0]?.path ?? ".";
  return createProblem("no-skills", {
    file,
    reason: isGiven
      ? "there is no skill in it"
      : "there is no skill here, nor in the other folders that --list shows",
    hint: isGiven
      ? `if it is a skill, add a ${SKILL_MD} to it; if there are skills deeper in it, search its subfolders:\n--check --skill-dir ${
        quoteArgument(file)
      }`
      : 'pass the folder of your skills, as in "--check DIR"',
  });
}

/** Finds what is almost a skill, except in folders that the policy switches off. */
async function findNearMissesIn(
  { catalog, settings, policyFile, policy }: Sources,
): Promise<Problem[]> {
  const decider = policyFile &&
    await createDecider(policyFile);
  const skills = [
    ...catalog.served.values(),
    ...policy?.off.map(({ skill }) => skill) ?? [],
  ];
  const faulty = catalog.problems.map(({ file }) => dirname(file));
  const roots = catalog.roots
    .filter(({ root }) => !settings.targets.has(root.path));
  return findNearMisses(roots, {
    skillFolders: new Set(
      [...skills.map(({ directory }) => directory), ...faulty],
    ),
    isOff: (paths, scope) => {
      const names = [basename(paths[0]!)];
      return decider?.decide({ names, scope, paths }).state === "off";
    },
  });
}

async function createDecider(policyFile: PolicyFile) {
  const { PolicyDecider } = await import("../skills/policy.ts");
  try {
    const decider = new PolicyDecider(policyFile.load());
    decider.expand();
    return decider;
  } catch {
    return undefined;
  }
}

/** Counts the skills in the folders that `--agents` would add. */
function countUnsearched({ catalog, settings }: Sources) {
  const { directories, home, values } = settings;
  if (values.agents || directories.length > 0) return [];
  const known = new Set(
    [...catalog.served.values()].map(({ realDirectory }) => realDirectory),
  );
  const roots = resolveSkillRoots({
    workingDirectory: currentFolder(),
    homeDirectory: home,
    directories: [],
    agents: true,
  });
  return roots.map(({ path }) => {
    const unknown = listSkillFolders(path)
      .filter((folder) => !known.has(folder));
    return { path, skills: unknown.length };
  }).filter(({ skills }) => skills > 0);
}

/** The effects of a policy, and the problems with its file. */
type ReportedPolicy = NonNullable<ReturnType<typeof findPolicyEffects>>;

/** Describes the effects of the policy, if there is one. */
function findPolicyEffects(
  { registry, policyFile }: SkillsToReport,
  { policyFile: file }: Settings,
) {
  const effects = registry.inspectPolicy();
  if (file === undefined || !policyFile || !effects) return undefined;
  const problems: Problem[] = [];
  return { file, problems, ...effects };
}

/** Reports the folders that the user named and that do not exist. */
function findMissingFolders({ catalog, settings }: Sources): Problem[] {
  return missingFolders(catalog, settings).map((file) => ({
    file,
    rule: "folder-missing",
    reason: "there is no such folder",
    hint: "check its spelling",
  }));
}

/** Checks the policy file, and whether each of its rules matches a skill. */
function* checkPolicy(
  { policy, catalog, settings: { values } }: Sources,
): Generator<Problem> {
  if (policy === undefined) return;
  const { file, problems, off, unused } = policy;
  for (const problem of problems) yield problem;
  if (!values.check || problems.length > 0) return;
  const skills = [...catalog.skills.values(), ...off.map(({ skill }) => skill)];
  const names = new Set(skills.map(({ name }) => name));
  for (const { line, skill } of unused) {
    const [nearest] = skill === undefined ? [] : nearestWords(skill, names);
    const advice = nearest && `; the closest name is ${quote(nearest)}`;
    const reason = `the rule matches no skill${advice ?? ""}`;
    const hint = "fix the rule, or remove it";
    yield createProblem("policy-unused", { file, line, reason, hint });
  }
}
