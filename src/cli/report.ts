/** The report of `--list` and `--check`, which `--json` prints verbatim. */

import config from "../../deno.json" with { type: "json" };
import { attempt } from "../attempt.ts";
import { listElsewhere } from "../check/elsewhere.ts";
import { explain } from "../check/explain.ts";
import {
  checkLooseFile,
  explainMissingDir,
  listNearMisses,
  readHead,
} from "../check/near_misses.ts";
import {
  checkSkill,
  checkTogether,
  hasRoom,
  type Room,
} from "../check/rules.ts";
import { addSymlinkTarget } from "../check/symlink_target.ts";
import {
  type Diagnostic,
  type DiagnosticDetails,
  isError,
  type ReportedDiagnostic,
  RULES,
} from "../diagnostics.ts";
import { diagnosticOf } from "../fs/errors.ts";
import {
  currentDir,
  dirname,
  isAtOrBelow,
  isAtOrBelowAny,
  realPathOf,
  relative,
} from "../fs/paths.ts";
import { dirOf, type Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import { totalSize } from "../skills/limits.ts";
import { qualifiedName, SKILL_MD } from "../skills/names.ts";
import { isMarkedAsNonSkill, isNamedSkills } from "../skills/roots.ts";
import type { SkillSource } from "../skills/source.ts";
import type {
  Skill,
  SkillCatalog,
  SkillFiles,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
} from "../skills/types.ts";
import { isOff } from "../skills/visibility.ts";
import { byCodeUnits } from "../text.ts";

/** Opens a registry with some settings, without scanning. */
export type OpenSkills = (
  settings: Settings,
  options?: Pick<SkillRegistryOptions, "log">,
) => SkillSource;

/** For registries whose diagnostics are printed instead of logged. */
export const SILENT = { log: () => {} };

/** The skills and diagnostics of a scan. `docs/check.md` describes them. */
export type Report = Awaited<ReturnType<typeof createReport>>;

/**
 * Scans the roots once, and creates the report of `--check` or `--list`.
 */
export async function createReport(settings: Settings, openSkills: OpenSkills) {
  const { check = false, list, policy, ignore = [] } = settings.values;
  const registry = openSkills(settings, SILENT);
  const catalog = await registry.refresh();
  const found = listAll(catalog);
  const roots = catalog.roots
    .filter((it) => !isMissingOptionalRoot(it, settings));
  const served = new Set(catalog.served.values());
  const projectRoom = { ...PROJECT_ROOM };
  const roomOf = ({ scope }: SkillRoot) =>
    scope === "project" ? projectRoom : NO_LIMIT;
  const skills = await Array.fromAsync(
    found,
    (skill) => {
      const loadedAs = served.has(skill) ? qualifiedName(skill) : undefined;
      const room = roomOf(skill.root);
      return inspect(skill, loadedAs, { registry, check, roots, room });
    },
  );
  const diagnostics = [
    ...catalog.diagnostics.flatMap((it) => explainOne(it, settings)),
    ...skills.flatMap((skill) => skill.diagnostics),
    ...check ? checkTogether(found.filter((skill) => !isOff(skill))) : [],
    // `--check` may see only some of the skills.
    ...list ? registry.listUnusedRules() : [],
    ...await listUnsearched(catalog, settings, openSkills),
    ...listMisses(catalog, roomOf),
    ...listUninspected(projectRoom, roots),
  ];
  const checked = listChecked(catalog, found);
  const empty = check ? listEmptyDirs(checked, diagnostics, settings) : [];
  return {
    version: config.version,
    checked: check ? checked.size : undefined,
    policy,
    roots: roots.map(toReportedRoot),
    skills: skills.map(({ reported }) => reported),
    diagnostics: [...diagnostics, ...empty]
      .filter(({ rule }) => !ignore.includes(rule))
      .map(addSymlinkTarget).map(toReported).toSorted((a, b) =>
        byCodeUnits(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0)
      ),
  };
}

/** The room that the roots of a project share, because a stranger may have written it. */
const PROJECT_ROOM: Readonly<Room> = {
  entries: 20_000,
  bytes: 64 * 1024 * 1024,
  time: 60_000,
};

const NO_LIMIT: Room = { entries: Infinity, bytes: Infinity, time: Infinity };

/** Reports that there was no room for some of the project's files. */
function listUninspected(
  room: Room,
  roots: readonly SkillRootReport[],
): Diagnostic[] {
  const inProject = roots.find(({ root }) => root.scope === "project");
  if (inProject === undefined || hasRoom(room)) return [];
  return [{
    rule: "too-many",
    file: inProject.root.path,
    reason:
      "the project has too many files for a report, so some of them were not checked",
    fix: "pass its folder, or a folder of a skill, as DIR to check all files",
  }];
}

/** Replaces a diagnostic of the scan with more detailed ones. */
function explainOne(diagnostic: Diagnostic, settings: Settings): Diagnostic[] {
  const { rule, file } = diagnostic;
  const { check = false } = settings.values;
  if (rule === "folder-missing") {
    return [explainMissingDir(diagnostic, settings)];
  }
  if (rule === "not-a-folder" && check) {
    const among = isNamedSkills(dirname(file));
    return among ? checkLooseFile(file) : [diagnostic];
  }
  const bytes = dirOf(file) === undefined ? new Uint8Array() : readHead(file);
  if (bytes.length === 0) return [diagnostic];
  return explain(diagnostic, file, bytes).map((it) => ({ ...it, file }));
}

/** Reports skills in directories that no root covers. */
async function listUnsearched(
  catalog: SkillCatalog,
  settings: Settings,
  openSkills: OpenSkills,
): Promise<Diagnostic[]> {
  // Users should correct a misspelled folder first.
  const isMisspelled = catalog.diagnostics
    .some(({ rule }) => rule === "folder-missing");
  if (isMisspelled) return [];
  return await listElsewhere(catalog, settings, (roots) => {
    // Without the policy, skills that are off are found, too.
    const options = { ...settings.options, policy: undefined };
    return openSkills({ ...settings, roots, options }, SILENT).refresh();
  });
}

/** Lists the near misses in the roots and around skills. */
function listMisses(
  catalog: SkillCatalog,
  roomOf: (root: SkillRoot) => Room,
): Diagnostic[] {
  const roots = catalog.roots.filter(({ status }) => status === "found")
    .map(({ root }) => root);
  const skipped = catalog.skipped.flatMap(({ diagnostics }) => diagnostics)
    .map(({ file }) => dirname(file));
  const skills = listAll(catalog).map(({ directory }) => directory);
  return listNearMisses(roots, [...skills, ...skipped], roomOf);
}

function toReported({ line, ...rest }: Diagnostic): ReportedDiagnostic {
  const relativePath = pathFromHere(rest.file);
  return {
    severity: isError(rest) ? "error" : "warning",
    effect: RULES[rest.rule],
    ...relativePath === undefined ? {} : { relativePath },
    ...rest,
    ...line === undefined ? {} : { line },
  };
}

/** Returns the relative path of a file in the working directory. */
export function pathFromHere(path: string): string | undefined {
  const dir = currentDir();
  return dir !== undefined && isAtOrBelow(path, dir)
    ? relative(dir, path) || "."
    : undefined;
}

/** Whether a missing root is an optional one inside a directory that the user passed. */
function isMissingOptionalRoot(
  { root: { path, mustExist }, status }: SkillRootReport,
  { dirs }: Settings,
): boolean {
  return status === "missing" && !mustExist && !dirs.includes(path) &&
    isAtOrBelowAny(path, dirs);
}

function toReportedRoot(
  { root, scope, status, skills, repeated }: SkillRootReport,
) {
  const { path, recursive } = root;
  return { path, scope, recursive, status, skills, repeated };
}

/**
 * Reports each given directory without a skill to check, or that there is no skill at
 * all. Directories with other errors need no report.
 */
function listEmptyDirs(
  checked: ReadonlySet<string>,
  diagnostics: readonly Diagnostic[],
  { dirs }: Settings,
): Diagnostic[] {
  // Without a valid policy, nothing is served.
  if (diagnostics.some(({ rule }) => rule === "policy")) return [];
  const failed = diagnostics.filter(isError).map(({ file }) => file);
  // Several directories can lead to one skill.
  const looked = [...checked, ...failed].map(realPathOf);
  if (dirs.length === 0 && looked.length > 0) return [];
  // Next to skills, files and directories such as `_old` need not be skills.
  const isEmpty = (dir: string) =>
    !attempt(() => Deno.statSync(dir).isFile) &&
    !(isNamedSkills(dirname(dir)) && isMarkedAsNonSkill(dir)) &&
    !looked.some((path) => isAtOrBelow(path, realPathOf(dir)));
  const named = dirs.length > 0 ? dirs : [currentDir() ?? "."];
  return named.filter(isEmpty).map((file) => ({ file, ...NO_SKILLS }));
}

const NO_SKILLS: DiagnosticDetails = {
  rule: "no-skills",
  reason: "there is no skill to check",
  fix:
    `add a folder with a ${SKILL_MD}, or pass another folder; --list shows which ones are searched`,
};

function listChecked(
  { diagnostics }: SkillCatalog,
  found: readonly Skill[],
): Set<string> {
  return new Set([
    ...found.filter((skill) => !isOff(skill))
      .map(({ directory }) => directory),
    ...diagnostics.flatMap(({ file }) => dirOf(file) ?? []),
  ]);
}

/**
 * Returns the part of the report about one skill.
 *
 * @param loadedAs The name that loads it, unless it is off or there is none.
 */
async function inspect(
  skill: Skill,
  loadedAs: string | undefined,
  { registry, check, roots, room }: {
    registry: SkillSource;
    check: boolean;
    roots: readonly SkillRootReport[];
    room: Room;
  },
) {
  const { name, description, scope, directory, file, state, hiddenFrom } =
    skill;
  const contents = isOff(skill)
    ? undefined
    : await listFiles(skill, registry, room);
  const diagnostics = contents && check && hasRoom(room)
    ? await checkSkill(skill, { registry, contents, room })
      .catch((error) => [{ file, ...diagnosticOf(error) }])
    : [];
  const shadowing = registry.catalog.shadowed.find((it) => it.skill === skill);
  const reported = {
    name,
    loadedAs,
    description,
    scope,
    // Two roots can have the same path, if only one of them is recursive.
    root: roots.findIndex(({ root }) => root === skill.root),
    directory,
    file,
    state,
    hiddenFrom,
    policyRule: skill.policyRule?.path,
    shadowedBy: shadowing?.by.file,
    files: contents?.files.length,
    size: contents && totalSize(contents.files),
  };
  return { reported, diagnostics };
}

/** Lists the files of a skill, unless there is no room for them. */
async function listFiles(
  skill: Skill,
  registry: SkillSource,
  room: Room,
): Promise<SkillFiles | undefined> {
  if (room.entries < 0) return undefined;
  const contents = await registry.listFiles(skill);
  room.entries -= contents.entries;
  return contents;
}
