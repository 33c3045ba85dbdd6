/**
 * What `--list` and `--check` report: the object that `--json` prints.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import {
  type CheckSettings,
  findTargets,
  type Targets,
} from "./check_targets.ts";
import { folderOf, missingFolders, type Settings } from "./settings.ts";
import { isAtOrBelowAny, SKILL_MD } from "../files/paths.ts";
import { checkSkill } from "../skills/checks.ts";
import { findNearMisses } from "../skills/near_misses.ts";
import { qualifiedName } from "../skills/names.ts";
import {
  checkFileName,
  findUnlisting,
  hasEffect,
  isUnlisting,
  totalSize,
} from "../skills/validity.ts";
import { nearestWords, quote, skillKey } from "../text.ts";
import type { PolicyFile } from "../skills/policy_file.ts";
import type {
  Problem,
  Skill,
  SkillCatalog,
  SkillPolicyReport,
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
  readonly targets: Targets;
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
  const targets = findTargets(catalog, settings);
  const sources = { ...skills, catalog, settings, targets, policy };
  const found = await inspectSkills(sources);
  const ofScan = catalog.problems
    .filter(({ file }) => targets.has(folderOf(file) ?? file));
  const problems = [
    ...checkPolicy(sources),
    ...ofScan,
    ...found.flatMap(({ problems }) => problems),
    ...checkFolders(sources, found.length + (policy?.off.length ?? 0)),
  ];
  const checked = new Set([
    ...found.map(({ skill }) => skill.directory),
    ...ofScan.flatMap(({ file }) => folderOf(file) ?? []),
  ]);
  return {
    /** The number of skills that were checked. */
    checked: settings.values.check ? checked.size : undefined,
    ...describeSkills(found, sources),
    problems: problems.map(({ rule, ...problem }) => {
      const severity = isError({ rule }) ? "error" : "warning";
      return { rule, severity, ...problem };
    }),
  };
}

/** Describes where the skills were found, and how they are served. */
function describeSkills(
  found: readonly FoundSkill[],
  { policy, catalog, settings }: Sources,
) {
  const describe = (skill: Skill) => {
    const { name, scope, directory, file, state } = skill;
    const rule = policy?.rules.get(skill)?.line;
    return {
      name,
      scope,
      directory,
      file,
      state: policy && (state ?? "on"),
      ruleLine: rule,
    };
  };
  return {
    policy: settings.values.policy,
    roots: catalog.roots.map(({ root, scope, status, skills }) => {
      const { path, recursive } = root;
      return { path, scope, recursive, status, skills };
    }),
    skills: found.filter(({ by }) => by === undefined)
      .map(({ skill, files, size }) => {
        const { description } = skill;
        return { ...describe(skill), description, files, size };
      }),
    shadowed: catalog.shadowed.map(({ skill, by }) => ({
      ...describe(skill),
      /** The name to load it by, if it has one. */
      qualifiedName: skill.prefix && qualifiedName(skill),
      by: by.file,
    })),
    off: policy?.off.map(({ skill, rule }) => {
      return {
        ...describe(skill),
        state: "off" as const,
        ruleLine: rule?.line,
      };
    }),
    unlisted: found.flatMap(({ skill, by, unlisted }) =>
      unlisted && (by === undefined || skill.prefix)
        ? [{ name: qualifiedName(skill), reason: unlisted.reason }]
        : []
    ),
  };
}

/** Whether a problem makes `--check` fail. */
export function isError(problem: Pick<Problem, "rule">): boolean {
  return !hasEffect(problem, "warning");
}

/** A skill, with what was found out about its files. */
type FoundSkill = Awaited<ReturnType<typeof inspectSkills>>[number];

/** Lists the files of each skill, and checks them if the command line asks for it. */
async function inspectSkills(
  { registry, catalog, settings, targets }: Sources,
) {
  const all = [
    ...[...catalog.skills.values()].map((skill) => ({ skill, by: undefined })),
    ...catalog.shadowed,
  ];
  const asked = all.filter(({ skill }) =>
    targets.has(skill.directory, skill.name)
  );
  return await Array.fromAsync(asked, async ({ skill, by }) => {
    const contents = await registry.inspectFiles(skill);
    const found = settings.values.check
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

/** Reports folders that do not exist, what is almost a skill, and, if there is nothing else, that. */
function checkFolders(
  { catalog, settings, targets, policy }: Sources,
  found: number,
): Problem[] {
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
    ...catalog.problems.map(({ file }) => folderOf(file) ?? file),
  ]);
  const unasked = [...settings.namedIn, ...targets.alone];
  const roots = catalog.roots
    .filter(({ root: { path } }) => !isAtOrBelowAny(path, unasked));
  const isNamed = (path: string) =>
    settings.names.has(skillKey(basename(path)));
  const problems = [
    ...missingFolders(catalog, settings)
      .filter((path) => found === 0 || !isNamed(path))
      .map((file) => ({
        rule: "folder-missing",
        file,
        reason: "there is no such folder",
        hint: "check its spelling",
      })),
    ...findNearMisses(roots, known),
  ];
  const isEmpty = settings.values.check && found === 0 &&
    ![...problems, ...catalog.problems].some(isError);
  return isEmpty ? [...problems, describeNothing(settings)] : problems;
}

/** Reports that `--check` has found nothing to check. */
function describeNothing({ roots }: Settings): Problem {
  return {
    rule: "no-skills",
    file: roots[0]?.path ?? ".",
    reason:
      "there is no skill here, nor in the other folders that --list shows",
    hint:
      `add a folder with a ${SKILL_MD}, or pass another folder, as in "--check DIR"`,
  };
}

/** Checks whether each rule of the policy matches a skill. */
function checkPolicy({ policy, catalog, settings }: Sources): Problem[] {
  const { check, policy: file } = settings.values;
  const isInvalid = catalog.problems.some(({ rule }) => rule === "policy");
  if (!check || policy === undefined || isInvalid) return [];
  const off = policy.off.map(({ skill }) => skill);
  const names = [...catalog.skills.values(), ...off].map(({ name }) => name);
  return policy.unused.map(({ line = 1, skill = "", in: folder = "" }) => {
    const [nearest] = nearestWords(skill, names);
    const advice = nearest ? `; the closest name is ${quote(nearest)}` : "";
    const reason = `the rule matches no skill${advice}`;
    const hint = skill === "" && folder.endsWith("/*")
      ? `skills lie deeper than that: write ${quote(`${folder}*`)}`
      : "fix the rule, or remove it";
    return { rule: "policy-unused", file: file!, line, reason, hint };
  });
}
