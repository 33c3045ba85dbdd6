/**
 * What `--list` and `--check` report: the object that `--json` prints.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { type CheckSettings, isTarget } from "./check_targets.ts";
import { missingFolders, type Settings } from "./settings.ts";
import { currentFolder, SKILL_MD } from "../files/paths.ts";
import { checkSkill } from "../skills/checks.ts";
import { findNearMisses, listSkillFolders } from "../skills/near_misses.ts";
import { qualifiedName } from "../skills/names.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import {
  checkFileName,
  findUnlisting,
  hasEffect,
  isUnlisting,
  totalSize,
} from "../skills/validity.ts";
import { nearestWords, quote } from "../text.ts";
import type { PolicyFile } from "../skills/policy_file.ts";
import type {
  Problem,
  Skill,
  SkillCatalog,
  SkillPolicyReport,
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
  /** The effects of the policy, if there is one. */
  readonly policy: SkillPolicyReport | undefined;
}

/** The skills that were found, and the problems with them. `docs/check.md` describes it. */
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
  const policy = skills.policyFile && skills.registry.inspectPolicy();
  const sources = { ...skills, catalog, settings, policy };
  const found = await inspectSkills(sources);
  const ofScan = catalog.problems
    .filter(({ file }) => isTarget(file, settings));
  const files = [
    ...found.map(({ skill }) => skill.file),
    ...ofScan.map(({ file }) => file).filter(isMain),
  ];
  const problems = [
    ...checkPolicy(sources),
    ...findMissingFolders(sources),
    ...ofScan,
    ...findNearMissesIn(sources),
    ...found.flatMap(({ problems }) => problems),
  ];
  const { check } = settings.values;
  const isEmpty = found.length === 0 && !policy?.off.length &&
    !problems.some(isError);
  if (check && isEmpty) problems.push(findNothing(settings));
  return {
    /** The number of skills that were checked. */
    checked: check ? new Set(files).size : undefined,
    ...describeSkills(found, sources),
    unsearched: countUnsearched(sources),
    problems: problems.map(({ rule, ...problem }) => {
      const severity = isError({ rule }) ? "error" : "warning";
      return { rule, severity, ...problem };
    }),
  };
}

/** Describes where the skills were found, and how they are served. */
function describeSkills(found: readonly FoundSkill[], sources: Sources) {
  const { policy, catalog, settings } = sources;
  return {
    policy: policy && settings.values.policy,
    roots: catalog.roots.map(({ root, scope, status, skills }) => {
      return {
        path: root.path,
        scope,
        recursive: root.recursive,
        status,
        skills,
      };
    }),
    skills: found.filter(({ by }) => by === undefined)
      .map(({ skill, files, size }) => {
        const rest = { description: skill.description, files, size };
        return { ...placeOf(skill), ...rest, ...decisionOn(skill, sources) };
      }),
    shadowed: catalog.shadowed.map(({ skill, by }) => ({
      ...placeOf(skill),
      /** The name to load it by, if it has one. */
      qualifiedName: skill.prefix && qualifiedName(skill),
      by: by.file,
      ...decisionOn(skill, sources),
    })),
    off: policy?.off.map(({ skill, rule }) => {
      return { ...placeOf(skill), rule: placeOfRule(rule, sources) };
    }),
    unlisted: found.flatMap(({ skill, by, unlisted }) =>
      unlisted && (by === undefined || skill.prefix)
        ? [{ name: qualifiedName(skill), reason: unlisted.reason }]
        : []
    ),
  };
}

/** Whether a path is that of a `SKILL.md`. */
function isMain(path: string): boolean {
  return basename(path).toLowerCase() === SKILL_MD.toLowerCase();
}

/** Whether a problem makes `--check` fail. */
export function isError(problem: Pick<Problem, "rule">): boolean {
  return !hasEffect(problem, "warning");
}

function placeOf({ name, scope, directory, file }: Skill) {
  return { name, scope, directory, file };
}

/** Returns the state of a skill and the rule that applies, if there is a policy. */
function decisionOn(skill: Skill, sources: Sources) {
  const { policy } = sources;
  if (policy === undefined) return undefined;
  const rule = placeOfRule(policy.rules.get(skill), sources);
  return { state: skill.state ?? "on", rule };
}

/** Returns the place of a rule. The rule that replaces an unusable policy has none. */
function placeOfRule(
  rule: SkillPolicyRule | undefined,
  { settings: { values: { policy: file } } }: Sources,
) {
  if (rule?.line === undefined || file === undefined) return undefined;
  return { file, line: rule.line };
}

/** A skill, with what was found out about its files. */
type FoundSkill = Awaited<ReturnType<typeof inspectSkills>>[number];

/** Lists the files of each skill, and checks them if the command line asks for it. */
async function inspectSkills({ registry, catalog, settings }: Sources) {
  const { targets, values: { check } } = settings;
  const all = [
    ...[...catalog.skills.values()].map((skill) => ({ skill, by: undefined })),
    ...catalog.shadowed,
  ];
  const skills = all.filter(({ skill: { directory, root } }) =>
    !targets.has(root.path) || directory === root.path
  );
  return await Array.fromAsync(skills, async ({ skill, by }) => {
    const contents = await registry.inspectFiles(skill);
    const found = check
      ? await checkSkill(skill, { source: registry, contents })
      : [];
    return {
      skill,
      /** The skill that shadows it. */
      by,
      files: contents.files.length,
      /** The total size of the files in bytes. */
      size: totalSize(contents.files),
      /** Why `skills/list` leaves the skill out, if it does. */
      unlisted: findUnlisting(skill, contents) ?? found.find(isUnlisting),
      problems: [...checkFileName(skill), ...found],
    };
  });
}

/** Reports that `--check` has found nothing to check. */
function findNothing({ directories, roots }: Settings): Problem {
  const isGiven = directories.length > 0;
  return {
    rule: "no-skills",
    file: roots[0]?.path ?? ".",
    reason: isGiven
      ? "there is no skill in it"
      : "there is no skill here, nor in the other folders that --list shows",
    hint: isGiven
      ? `add a folder with a ${SKILL_MD} to it, or pass another folder`
      : 'pass the folder of your skills, as in "--check DIR"',
  };
}

/** Finds what is almost a skill, beside the skills that the scan found. */
function findNearMissesIn({ catalog, settings, policy }: Sources): Problem[] {
  const skills = [
    ...catalog.skills.values(),
    ...catalog.shadowed.map(({ skill }) => skill),
    ...policy?.off.map(({ skill }) => skill) ?? [],
  ];
  const known = new Set([
    ...skills.flatMap(({ directory, realDirectory }) => [
      directory,
      realDirectory,
    ]),
    ...catalog.problems.map(({ file }) => isMain(file) ? dirname(file) : file),
  ]);
  const { targets } = settings;
  const roots = catalog.roots.filter(({ root }) => !targets.has(root.path));
  return findNearMisses(roots, known);
}

/** Counts the skills in the folders that `--agents` would add. */
function countUnsearched({ catalog, settings }: Sources) {
  const { directories, home: homeDirectory, values } = settings;
  if (values.agents || directories.length > 0) return [];
  const known = new Set(
    [...catalog.served.values()].map(({ realDirectory }) => realDirectory),
  );
  const workingDirectory = currentFolder();
  const places = { workingDirectory, homeDirectory, directories: [] };
  return resolveSkillRoots({ ...places, agents: true }).map(({ path }) => {
    const unknown = listSkillFolders(path)
      .filter((folder) => !known.has(folder));
    return { path, skills: unknown.length };
  }).filter(({ skills }) => skills > 0);
}

/** Reports the folders that the user named and that do not exist. */
function findMissingFolders({ catalog, settings }: Sources): Problem[] {
  const reason = "there is no such folder";
  const hint = "check its spelling";
  return missingFolders(catalog, settings)
    .map((file) => ({ rule: "folder-missing", file, reason, hint }));
}

/** Checks the policy file, and whether each of its rules matches a skill. */
function checkPolicy(
  { policy, catalog, settings }: Sources,
): Problem[] {
  const { values } = settings;
  const { policy: file } = values;
  if (policy === undefined || file === undefined) return [];
  const isInvalid = catalog.problems.some(({ rule }) => rule === "policy");
  if (!values.check || isInvalid) return [];
  const skills = [
    ...catalog.skills.values(),
    ...policy.off.map(({ skill }) => skill),
  ];
  const names = new Set(skills.map(({ name }) => name));
  return policy.unused.map(({ line = 1, skill }) => {
    const [nearest] = skill === undefined ? [] : nearestWords(skill, names);
    const advice = nearest ? `; the closest name is ${quote(nearest)}` : "";
    const reason = `the rule matches no skill${advice}`;
    const hint = "fix the rule, or remove it";
    return { rule: "policy-unused", file, line, reason, hint };
  });
}
