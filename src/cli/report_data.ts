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

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(
  { registry, policyFile }: SkillsToReport,
  settings: CheckSettings,
): Promise<Report> {
  const { check = false } = settings.values;
  const catalog = await registry.refresh();
  const policy = findPolicyEffects({ registry, policyFile }, settings);
  const problems = [
    ...findMissingFolders(catalog, settings),
    ...catalog.problems.filter(({ file }) => isTarget(file, settings)),
    ...await findNearMissesIn(catalog, { settings, policyFile, policy }),
  ];
  const { skills, findings: found } = await inspectSkills(registry, settings);
  const findings = [
    ...checkPolicy(policy, { check, catalog }),
    ...problems.flatMap(createSkipFindings),
    ...check ? await checkRest(registry, problems) : [],
    ...found,
  ];
  if (check) {
    findings.push(...checkCount({ skills, policy, findings }, settings));
  }
  return {
    roots: catalog.roots,
    shadowed: catalog.shadowed,
    values: settings.values,
    skipped: countSkipped(problems),
    skills,
    policy,
    findings: await runInSlices(combineLinks(findings, {
      workingDirectory: currentFolder(),
      homeDirectory: settings.home,
    })),
    unsearched: countUnsearched(catalog, settings),
  };
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
  const findings: Finding[] = [];
  for (const problem of problems) {
    for await (const finding of checkSkipped(problem, source)) {
      findings.push(finding);
    }
  }
  return findings;
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
  { skills, policy, findings }: Pick<Report, "skills" | "policy" | "findings">,
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
): UnsearchedFolder[] {
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

/** The skills that were found, and the problems with them. */
export interface Report extends Pick<SkillCatalog, "roots" | "shadowed"> {
  readonly skills: readonly FoundSkill[];
  readonly policy: ReportedPolicy | undefined;
  readonly findings: readonly Finding[];
  readonly skipped: number;
  /** What the command line asks for. */
  readonly values: Settings["values"];
  /** The folders with skills that an option would add. */
  readonly unsearched: readonly UnsearchedFolder[];
}

/** A folder with skills that is not searched. */
interface UnsearchedFolder {
  readonly path: string;
  readonly skills: number;
}

/** The effects of a policy, and the problems with its file. */
export interface ReportedPolicy extends SkillPolicyReport {
  readonly file: string;
  readonly problems: readonly SkillProblem[];
}

/** A skill, with the number and the size of its files. */
export interface FoundSkill {
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

export function hasErrors({ findings }: Report): boolean {
  return findings.some(({ severity }) => severity === "error");
}

export function placeOfRule(
  { line }: SkillPolicyRule,
  { file }: ReportedPolicy,
): { file: string; line: number } | undefined {
  return line === undefined ? undefined : { file, line };
}
