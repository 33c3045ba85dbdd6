/**
 * What `--list` and `--check` report: the object that `--json` prints.
 *
 * @module
 */

import { folderOf, missingFolders, type Settings } from "./settings.ts";
import { isAtOrBelowAny, SKILL_MD } from "../files/paths.ts";
import { checkSkill } from "../skills/checks.ts";
import { findNearMisses } from "../skills/near_misses.ts";
import { qualifiedName } from "../skills/names.ts";
import { findUnlisting, hasEffect, totalSize } from "../skills/validity.ts";
import type {
  Problem,
  Skill,
  SkillCatalog,
  SkillSource,
} from "../skills/types.ts";

/** The skills that were found, and the problems with them. `docs/check.md` describes it. */
export type Report = Awaited<ReturnType<typeof createReport>>;

type DescribedSkill = Pick<
  Skill,
  "name" | "description" | "scope" | "directory" | "file" | "state"
>;

/** A skill in a report. */
export interface ReportedSkill extends DescribedSkill {
  /** The line of the policy's rule that applies, if there is one. */
  readonly ruleLine?: number | undefined;
  /** The file of the skill that is served by its name. */
  readonly shadowedBy?: string | undefined;
  /** The name to load it by, if it is shadowed and has one. */
  readonly qualifiedName?: string | undefined;
  /** The number of its files, and their total size in bytes, unless it is off. */
  readonly files?: number;
  readonly size?: number;
  /** Why `skills/list` leaves it out, if it does. */
  readonly unlisted?: string | undefined;
}

/** A skill that was found, and the one that shadows it. */
interface FoundSkill {
  readonly skill: Skill;
  readonly by?: Skill | undefined;
}

/** What a report is made from. */
interface Sources {
  readonly registry: SkillSource;
  readonly settings: Settings;
  readonly catalog: SkillCatalog;
  /** The skills, with those that are shadowed or off. */
  readonly found: readonly FoundSkill[];
  /** The folders on the command line of `--check` that are skills. What lies in them is not meant. */
  readonly alone: readonly string[];
}

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(registry: SkillSource, settings: Settings) {
  const { check, policy: policyFile } = settings.values;
  const catalog = await registry.refresh();
  const sources = collect({ registry, settings, catalog });
  const isMeant = (folder: string) =>
    sources.alone.includes(folder) || !isAtOrBelowAny(folder, sources.alone);
  const asked = sources.found
    .filter(({ skill }) => isMeant(skill.directory));
  const skills = await Array.fromAsync(asked, (it) => inspect(it, sources));
  const ofScan = catalog.problems
    .filter(({ file }) => isMeant(folderOf(file) ?? file));
  const problems = [
    ...ofScan,
    ...skills.flatMap(({ problems }) => problems),
    ...checkFolders(sources),
  ];
  const checked = new Set([
    ...skills.filter(({ entry }) => entry.files !== undefined)
      .map(({ entry }) => entry.directory),
    ...ofScan.flatMap(({ file }) => folderOf(file) ?? []),
  ]);
  return {
    /** The number of skills that were checked. */
    checked: check ? checked.size : undefined,
    policy: policyFile,
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

/** Whether a problem makes `--check` fail. */
export function isError(problem: Pick<Problem, "rule">): boolean {
  return !hasEffect(problem, "warning");
}

/** Collects all skills that a scan found. */
function collect(
  scan: Pick<Sources, "registry" | "settings" | "catalog">,
): Sources {
  const { settings, catalog } = scan;
  const { check } = settings.values;
  const found: FoundSkill[] = [
    ...catalog.skills.values().map((skill) => ({ skill })),
    ...catalog.shadowed,
    ...catalog.off.map((skill) => ({ skill })),
  ];
  const folders = new Set([
    ...found.map(({ skill }) => skill.directory),
    ...catalog.problems.map(({ file }) => folderOf(file)),
  ]);
  const alone = settings.directories
    .filter((path) => check && folders.has(path));
  return { ...scan, found, alone };
}

/** Describes a skill, and checks its files if the command line asks for it. */
async function inspect(
  { skill, by }: FoundSkill,
  { registry, settings }: Sources,
): Promise<{ entry: ReportedSkill; problems: Problem[] }> {
  const { name, description, scope, directory, file, state } = skill;
  const entry = {
    ...{ name, description, scope, directory, file, state },
    ruleLine: skill.rule?.line,
    shadowedBy: by?.file,
    qualifiedName: skill.prefix && qualifiedName(skill),
  };
  if (state === "off") return { entry, problems: [] };
  const contents = await registry.inspectFiles(skill);
  const found = settings.values.check
    ? await checkSkill(skill, { source: registry, contents })
    : [];
  const unlisting = findUnlisting(skill, contents) ??
    found.find((problem) => hasEffect(problem, "unlisted"));
  return {
    entry: {
      ...entry,
      files: contents.files.length,
      size: totalSize(contents.files),
      unlisted: unlisting?.reason,
    },
    problems: found,
  };
}

/** Reports folders that do not exist, what is almost a skill, and, if there is nothing else, that. */
function checkFolders(
  { catalog, settings, found, alone }: Sources,
): Problem[] {
  const known = new Set([
    ...found.flatMap(({ skill }) => [skill.directory, skill.realDirectory]),
    ...catalog.problems.map(({ file }) => folderOf(file) ?? file),
  ]);
  const problems: Problem[] = missingFolders(catalog, settings)
    .map((file) => ({
      rule: "folder-missing",
      file,
      reason: "there is no such folder",
      hint: "check its spelling",
    }));
  const roots = catalog.roots
    .filter(({ root: { path } }) => !isAtOrBelowAny(path, alone));
  problems.push(...findNearMisses(roots, known));
  const isEmpty = settings.values.check && found.length === 0 &&
    ![...problems, ...catalog.problems].some(isError);
  if (isEmpty) {
    problems.push({
      rule: "no-skills",
      file: settings.roots[0]?.path ?? ".",
      reason:
        "there is no skill here, nor in the other folders that --list shows",
      hint:
        `add a folder with a ${SKILL_MD}, or pass another folder, as in "--check DIR"`,
    });
  }
  return problems;
}
