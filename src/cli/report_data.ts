/**
 * What `--list` and `--check` report.
 *
 * @module
 */

import { missingFolders, type Settings } from "./settings.ts";
import { checkSkill } from "../skills/checks.ts";
import {
  createFinding,
  type Finding,
  findUnlisting,
  isUnlisting,
  totalSize,
} from "../skills/validity.ts";
import { nearestWords, quote } from "../text.ts";
import type { PolicyFile } from "../skills/policy_file.ts";
import type {
  Skill,
  SkillCatalog,
  SkillPolicyReport,
  SkillPolicyRule,
  SkillProblem,
  SkillSource,
} from "../skills/types.ts";

/** The skills that a report is about, as the server opens them. */
export interface OpenSkills {
  readonly registry: SkillSource;
  /** The policy file, if one is given. */
  readonly policyFile?: PolicyFile | undefined;
}

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(
  { registry, policyFile }: OpenSkills,
  settings: Settings,
): Promise<Report> {
  const { check = false } = settings.values;
  const catalog = await registry.refresh();
  const policy = findPolicyEffects({ registry, policyFile }, settings);
  const findings = [
    ...checkPolicy(policy, { check, catalog }),
    ...[...findMissingFolders(catalog, settings), ...catalog.problems]
      .flatMap(findFaults),
  ];
  const skills: FoundSkill[] = [];
  for (const skill of catalog.served.values()) {
    const contents = registry.inspectFiles(skill);
    const found = check
      ? [...checkSkill(skill, { source: registry, contents })]
      : [];
    for (const finding of found) findings.push(finding);
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
  return { ...catalog, skills, policy, findings };
}

/** Returns a finding for each fault of a skipped file or folder. */
function findFaults({ others = [], ...first }: SkillProblem): Finding[] {
  const { file } = first;
  return [first, ...others.map((fault) => ({ file, ...fault }))]
    .map((fault) => createFinding("skipped", fault));
}

/** Describes the effects of the policy, if there is one. */
function findPolicyEffects(
  { registry, policyFile }: OpenSkills,
  { policyFile: file }: Settings,
): ReportedPolicy | undefined {
  const effects = registry.inspectPolicy();
  if (file === undefined || !policyFile || !effects) return undefined;
  return { file, problems: policyFile.problems, ...effects };
}

/** Reports the folders that the user named and that do not exist. */
function findMissingFolders(
  catalog: SkillCatalog,
  settings: Settings,
): SkillProblem[] {
  return missingFolders(catalog, settings).map((file) => ({
    file,
    reason: "there is no such folder",
    hint: "check its spelling",
  }));
}

/** The skills that were found, and the problems with them. */
export interface Report extends Omit<SkillCatalog, "skills" | "problems"> {
  readonly skills: readonly FoundSkill[];
  readonly policy: ReportedPolicy | undefined;
  readonly findings: readonly Finding[];
}

/** The effects of a policy, and the problems with its file. */
export interface ReportedPolicy extends SkillPolicyReport {
  readonly file: string;
  readonly problems: readonly SkillProblem[];
}

/** A skill, with the number and the size of its files. */
export interface FoundSkill {
  readonly skill: Skill;
  /** The number of its files. */
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

/** Whether there is an error in a report. */
export function hasErrors({ findings }: Report): boolean {
  return findings.some(({ severity }) => severity === "error");
}

/** Returns the file and line of a rule, if it is from the policy file. */
export function placeOf(
  { line }: SkillPolicyRule,
  { file }: ReportedPolicy,
): { file: string; line: number } | undefined {
  return line === undefined ? undefined : { file, line };
}
