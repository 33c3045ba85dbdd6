/**
 * What `--list` and `--check` report.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { type CheckSettings, isTarget } from "./check_targets.ts";
import { missingFolders, type Settings } from "./settings.ts";
import { currentFolder, SKILL_MD } from "../files/paths.ts";
import { quoteArgument } from "../shell_quoting.ts";
import { checkSkill, checkSkipped } from "../skills/checks.ts";
import { combineLinks } from "../skills/link_groups.ts";
import { findNearMisses, listSkillFolders } from "../skills/near_misses.ts";
import { qualifiedName } from "../skills/names.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import {
  checkFileName,
  createFinding,
  createSkipFindings,
  type Finding,
  findUnlisting,
  isUnlisting,
  totalSize,
} from "../skills/validity.ts";
import { nearestWords, quote } from "../text.ts";
import { runInSlices } from "../time_slice.ts";
import type { PolicyDecider } from "../skills/policy.ts";
import type { PolicyFile } from "../skills/policy_file.ts";
import type {
  Skill,
  SkillCatalog,
  SkillPolicy,
  SkillPolicyReport,
  SkillPolicyRule,
  SkillProblem,
  SkillSource,
} from "../skills/types.ts";

/** The skills that a report is about, as the server opens them. */
export interface SkillsToReport {
  readonly registry: SkillSource;
  /** The policy file, if one is given. */
  readonly policyFile?: PolicyFile | undefined;
}

/** The skills that were found, and the problems with them. */
export type Report = Awaited<ReturnType<typeof createReport>>;

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(
  { registry, policyFile }: SkillsToReport,
  settings: CheckSettings,
) {
  const catalog = await registry.refresh();
  const policy = findPolicyEffects({ registry, policyFile }, settings);
  const skipped = [
    ...findMissingFolders(catalog, settings),
    ...catalog.problems.filter(({ file }) => isTarget(file, settings)),
    ...await findNearMissesIn(catalog, { settings, policyFile, policy }),
  ];
  const { skills, findings: found } = await inspectSkills(registry, settings);
  const { check = false } = settings.values;
  const findings = [
    ...checkPolicy(policy, { check, catalog }),
    ...skipped.flatMap(createSkipFindings),
    ...check ? await checkRest(registry, skipped) : [],
    ...found,
  ];
  if (check) {
    findings.push(...checkCount({ skills, policy, findings }, settings));
  }
  const problems = await runInSlices(combineLinks(findings, {
    workingDirectory: currentFolder(),
    homeDirectory: settings.home,
  }));
  return {
    values: settings.values,
    policyFile: policy?.file,
    found: skills.length,
    skipped: countSkipped(skipped),
    data: {
      ...describeCatalog(catalog, skills, policy),
      unsearched: countUnsearched(catalog, settings),
      problems: problems.map(describeFinding),
    },
  };
}

/** Describes the skills as `--json` prints them. `docs/check.md` describes the shape. */
function describeCatalog(
  { roots, shadowed }: SkillCatalog,
  skills: readonly FoundSkill[],
  policy: ReportedPolicy | undefined,
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
        const { name, description, scope, directory, file } = skill;
        const decision = decisionOn(skill, policy);
        const root = described.get(skill.root)!;
        const place = { scope, directory, file, root };
        return { name, description, ...place, files, size, ...decision };
      }),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      qualifiedName: qualifiedName(skill),
      file: skill.file,
      by: by.file,
      ...decisionOn(skill, policy),
    })),
    off: policy?.off.map(({ skill, rule }) => ({
      name: skill.name,
      scope: skill.scope,
      directory: skill.directory,
      file: skill.file,
      rule: placeOfRule(rule, policy),
    })),
    unlisted: skills.filter(({ unlisted }) => unlisted !== undefined)
      .map(({ skill, unlisted: reason = "" }) => ({
        name: qualifiedName(skill),
        reason,
      })),
  };
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

function describeFinding(finding: Finding): Finding {
  const { rule, severity, file, line, reason, hint } = finding;
  return { rule, severity, file, line, reason, hint };
}

export function hasErrors({ data }: Report): boolean {
  return data.problems.some(({ severity }) => severity === "error");
}

/** Lists the files of each skill, and checks them if the command line asks for it. */
async function inspectSkills(
  source: SkillSource,
  { targets, values: { check } }: CheckSettings,
): Promise<{ skills: FoundSkill[]; findings: Finding[] }> {
  const skills: FoundSkill[] = [];
  const findings: Finding[] = [];
  for (const skill of source.catalog.served.values()) {
    if (targets.has(skill.root.path) && !isAtRoot(skill)) continue;
    const contents = await source.inspectFiles(skill);
    const found = check
      ? await Array.fromAsync(checkSkill(skill, { source, contents }))
      : [];
    for (const finding of [...checkFileName(skill), ...found]) {
      findings.push(finding);
    }
    const unlisting = check
      ? found.find(isUnlisting)
      : findUnlisting(skill, contents);
    skills.push({
      skill,
      files: contents.files.length,
      size: totalSize(contents.files),
      unlisted: unlisting?.reason,
    });
  }
  return { skills, findings };
}

/** Checks the rest of each skill that is skipped because of its frontmatter. */
async function checkRest(
  source: SkillSource,
  problems: readonly SkillProblem[],
): Promise<Finding[]> {
  const findings = await Array.fromAsync(
    problems,
    (problem) => Array.fromAsync(checkSkipped(problem, source)),
  );
  return findings.flat();
}

/** Counts the skills among what is skipped. Other problems have no names. */
function countSkipped(problems: readonly SkillProblem[]): number {
  const skipped = problems.filter(({ names }) => names !== undefined);
  return new Set(skipped.map(({ file }) => file)).size;
}

function isAtRoot({ directory, root }: Skill): boolean {
  return directory === root.path;
}

/** Reports that `--check` has found nothing to check. */
function checkCount(
  { skills, policy, findings }: {
    skills: readonly FoundSkill[];
    policy: ReportedPolicy | undefined;
    findings: readonly Finding[];
  },
  { directories, roots }: Settings,
): Finding[] {
  const isFound = skills.length > 0 || (policy?.off.length ?? 0) > 0 ||
    findings.some(({ severity }) => severity === "error");
  if (isFound) return [];
  const [file = "."] = [...directories, ...roots.map(({ path }) => path)];
  return [createFinding("no-skills", {
    file,
    reason: directories.length > 0
      ? "there is no skill in it"
      : "there is no skill here, nor in the other folders that --list shows",
    hint: directories.length > 0
      ? `if it is a skill, add a ${SKILL_MD} to it; if there are skills deeper in it, search its subfolders:\n--check --skill-dir ${
        quoteArgument(file)
      }`
      : 'pass the folder of your skills, as in "--check DIR"',
  })];
}

/** Finds what is almost a skill, except in folders that the policy switches off. */
async function findNearMissesIn(
  catalog: SkillCatalog,
  { settings, policyFile, policy }: {
    settings: CheckSettings;
    policyFile: PolicyFile | undefined;
    policy: ReportedPolicy | undefined;
  },
): Promise<SkillProblem[]> {
  const decider = policyFile && await createDecider(policyFile.load());
  const skills = [
    ...catalog.served.values(),
    ...policy?.off.map(({ skill }) => skill) ?? [],
  ];
  const faulty = catalog.problems.flatMap(({ file }) => [file, dirname(file)]);
  const roots = catalog.roots
    .filter(({ root }) => !settings.targets.has(root.path));
  return findNearMisses(roots, {
    skillFolders: new Set(
      [...skills.map(({ directory }) => directory), ...faulty],
    ),
    isOff: ({ name, scope, directory, realDirectory }) => {
      const faces = [directory, realDirectory].map((path) => ({ path, scope }));
      return decider?.decide({ names: [name], faces }).state === "off";
    },
  });
}

async function createDecider(policy: SkillPolicy): Promise<PolicyDecider> {
  const { PolicyDecider } = await import("../skills/policy.ts");
  return new PolicyDecider(policy);
}

/** Counts the skills in the folders that `--agents` would add. */
function countUnsearched(
  catalog: SkillCatalog,
  { directories, home, values }: Settings,
) {
  if (values.agents || directories.length > 0) return [];
  const known = new Set(
    [...catalog.served.values()].map(({ realDirectory }) => realDirectory),
  );
  const places = { workingDirectory: currentFolder(), homeDirectory: home };
  const usual = resolveSkillRoots(places).map(({ path }) => path);
  return resolveSkillRoots({ ...places, agents: true })
    .filter(({ path }) => !usual.includes(path))
    .map(({ path }) => {
      const skills = listSkillFolders(path)
        .filter((folder) => !known.has(folder));
      return { path, skills: skills.length };
    })
    .filter(({ skills }) => skills > 0);
}

/** Describes the effects of the policy, if there is one. */
function findPolicyEffects(
  { registry, policyFile }: SkillsToReport,
  { policyFile: file }: Settings,
): ReportedPolicy | undefined {
  const effects = registry.inspectPolicy();
  if (file === undefined || !policyFile || !effects) return undefined;
  const problems = [...policyFile.problems, ...effects.unresolved];
  return { file, problems, ...effects };
}

/** Reports the folders that the user named and that do not exist. */
function findMissingFolders(
  catalog: SkillCatalog,
  settings: Settings,
): SkillProblem[] {
  return missingFolders(catalog, settings).map((file) => ({
    file,
    kind: "folder-missing",
    reason: "there is no such folder",
    hint: "check its spelling",
  }));
}

/** The effects of a policy, and the problems with its file. */
interface ReportedPolicy extends SkillPolicyReport {
  readonly file: string;
  readonly problems: readonly SkillProblem[];
}

/** A skill, with the number and the size of its files. */
interface FoundSkill {
  readonly skill: Skill;
  readonly files: number;
  /** Their total size in bytes. */
  readonly size: number;
  /** The reason why `skills/list` omits it, if it does. */
  readonly unlisted: string | undefined;
}

/** Checks the policy file, and whether each of its rules matches a skill. */
function* checkPolicy(
  policy: ReportedPolicy | undefined,
  { check, catalog }: { check: boolean; catalog: SkillCatalog },
): Generator<Finding> {
  if (policy === undefined) return;
  const { file, problems, off, unused } = policy;
  for (const problem of problems) yield createFinding("policy", problem);
  if (!check || problems.length > 0) return;
  const skills = [...catalog.skills.values(), ...off.map(({ skill }) => skill)];
  const names = new Set(skills.map(({ name }) => name));
  for (const { line, skill } of unused) {
    const [nearest] = skill === undefined ? [] : nearestWords(skill, names);
    const reason = nearest === undefined
      ? "the rule matches no skill"
      : `the rule matches no skill; the closest name is ${quote(nearest)}`;
    const hint = "fix the rule, or remove it";
    yield createFinding("policy-unused", { file, line, reason, hint });
  }
}
