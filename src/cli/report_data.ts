/**
 * What `--list` and `--check` report: the object that `--json` prints.
 *
 * @module
 */

import { findNearMisses } from "./near_misses.ts";
import { folderOf, missingFolders, type Settings } from "./settings.ts";
import { SKILL_MD } from "../files/paths.ts";
import {
  checkSkill,
  findUnlisting,
  hasEffect,
  totalSize,
} from "../skills/checks.ts";
import { qualifiedName } from "../skills/names.ts";
import type {
  Problem,
  Skill,
  SkillCatalog,
  SkillSource,
} from "../skills/types.ts";

/** The skills that were found, and the problems with them. `docs/check.md` describes it. */
export type Report = Awaited<ReturnType<typeof createReport>>;

/** A skill in a report. */
export type ReportedSkill = Report["skills"][number];

/** A skill that was found, and the one that shadows it. */
interface FoundSkill {
  readonly skill: Skill;
  readonly by?: Skill | undefined;
}

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(registry: SkillSource, settings: Settings) {
  const { check = false, policy } = settings.values;
  const catalog = await registry.refresh();
  const found: FoundSkill[] = [
    ...catalog.skills.values().map((skill) => ({ skill })),
    ...catalog.shadowed,
    ...catalog.off.map((skill) => ({ skill })),
  ];
  const skills = await Array.fromAsync(
    found,
    (it) => inspect(it, { registry, check }),
  );
  const problems = [
    ...catalog.problems,
    ...skills.flatMap(({ problems }) => problems),
    ...checkFolders(catalog, { settings, found }),
  ];
  if (check && found.length === 0 && !problems.some(isError)) {
    const file = settings.roots[0]?.path ?? ".";
    problems.push({ ...NO_SKILLS, file });
  }
  return {
    /** The number of skills that were checked. */
    checked: check ? countChecked(catalog) : undefined,
    policy,
    roots: catalog.roots.map(({ root, scope, status, skills }) => {
      const { path, recursive } = root;
      return { path, scope, recursive, status, skills };
    }),
    skills: skills.map(({ entry }) => entry),
    problems: problems.map(({ rule, ...problem }) => {
      const severity = isError({ rule }) ? "error" : "warning";
      return { rule, severity, ...problem };
    }),
  };
}

/** Counts the skills that are not off, and the files that are skipped. */
function countChecked({ skills, shadowed, problems }: SkillCatalog): number {
  return new Set([
    ...skills.values().map(({ directory }) => directory),
    ...shadowed.map(({ skill }) => skill.directory),
    ...problems.flatMap(({ file }) => folderOf(file) ?? []),
  ]).size;
}

/** Whether a problem makes `--check` fail. */
export function isError(problem: Pick<Problem, "rule">): boolean {
  return !hasEffect(problem, "warning");
}

/** Describes a skill, and checks its files if the command line asks for it. */
async function inspect(
  { skill, by }: FoundSkill,
  { registry, check }: { registry: SkillSource; check: boolean },
) {
  const { name, description, scope, directory, file, state } = skill;
  const contents = state === "off"
    ? undefined
    : await registry.inspectFiles(skill);
  const problems = contents && check
    ? await checkSkill(skill, { source: registry, contents })
    : [];
  const unlisting = contents && findUnlisting(skill, contents) ||
    problems.find((problem) => hasEffect(problem, "unlisted"));
  const entry = {
    ...{ name, description, scope, directory, file, state },
    /** The line of the policy's rule that applies, if there is one. */
    ruleLine: skill.rule?.line,
    /** The file of the skill that is served by its name. */
    shadowedBy: by?.file,
    /** The name to load it by, if it is shadowed and has one. */
    qualifiedName: skill.prefix && qualifiedName(skill),
    /** The number of its files, and their total size in bytes, unless it is off. */
    files: contents?.files.length,
    size: contents && totalSize(contents.files),
    /** Why `skills/list` leaves it out, if it does. */
    unlisted: unlisting?.reason,
  };
  return { entry, problems };
}

/** Reports folders that do not exist, and what is almost a skill. */
function checkFolders(
  catalog: SkillCatalog,
  { settings, found }: { settings: Settings; found: readonly FoundSkill[] },
): Problem[] {
  const missing = missingFolders(catalog, settings).map((file) => {
    const reason = "there is no such folder";
    return { rule: "folder-missing", file, reason, hint: "check its spelling" };
  });
  const roots = catalog.roots.filter(({ status }) => status === "found")
    .map(({ root }) => root);
  const skills = new Set([
    ...found.flatMap(({ skill }) => [skill.directory, skill.realDirectory]),
    ...catalog.problems.map(({ file }) => folderOf(file) ?? file),
  ]);
  const known = skills.union(new Set(roots.map(({ path }) => path)));
  const misses = roots.filter(({ path }) => !skills.has(path))
    .flatMap((root) => findNearMisses(root.path, { root, known, depth: 0 }));
  return [...missing, ...misses];
}

const NO_SKILLS = {
  rule: "no-skills",
  reason: "there is no skill here, nor in the other folders that --list shows",
  hint:
    `add a folder with a ${SKILL_MD}, or pass another folder, as in "--check DIR"`,
};
