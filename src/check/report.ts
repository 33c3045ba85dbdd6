/** The report of `--list` and `--check`: what is found, and what is wrong with it. */

import config from "../../deno.json" with { type: "json" };
import { attempt } from "../attempt.ts";
import {
  type Diagnostic,
  type DiagnosticDetails,
  isError,
  type ReportedDiagnostic,
  RULES,
  withAdvice,
} from "../diagnostics.ts";
import { diagnosticOf } from "../fs/errors.ts";
import {
  basename,
  dirname,
  findWorkingDirectory,
  isAtOrBelow,
  isAtOrBelowAny,
  namesIn,
  realPathOf,
  relative,
} from "../fs/paths.ts";
import type { Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import { totalSize } from "../skills/limits.ts";
import {
  qualifiedName,
  servedKey,
  SKILL_MD,
  skillKey,
} from "../skills/names.ts";
import { isUsedUp, listNearMisses } from "../skills/near_misses.ts";
import {
  isMarkedAsNonSkill,
  isNamedSkills,
  limitingScope,
} from "../skills/roots.ts";
import { dirOfSkillMd } from "../skills/skill_file.ts";
import type { SkillSource } from "../skills/source.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillFiles,
  SkillRegistryOptions,
  SkillRoot,
  SkillRootReport,
  SkillScope,
} from "../skills/types.ts";
import { isOff } from "../skills/visibility.ts";
import { byCodeUnits } from "../text.ts";
import { listOtherRoots, reportDeeper, reportPlaces } from "./elsewhere.ts";
import { addSymlinkTarget, explainScan } from "./explain_scan.ts";
import { type Budget, checkSkill, checkTogether, isWithin } from "./rules.ts";

/** Opens a registry that logs nothing, because its diagnostics are printed. */
export type OpenRegistry = (
  roots: readonly SkillRoot[],
  options: SkillRegistryOptions,
) => SkillSource;

/** The skills and diagnostics of a scan. `docs/check.md` describes them. */
export interface Report {
  readonly version: string;
  /** How many skills were checked, with `--check`. */
  readonly checked: number | undefined;
  readonly policy: string | undefined;
  readonly errors: number;
  readonly warnings: number;
  readonly ignored: number;
  readonly roots: readonly ReportedRoot[];
  readonly skills: readonly ReportedSkill[];
  readonly diagnostics: ReportedDiagnostic[];
}

export interface ReportedRoot {
  readonly path: string;
  readonly scope: SkillScope;
  readonly recursive: boolean | undefined;
  readonly status: SkillRootReport["status"];
  readonly skills: number;
  readonly repeated: number;
}

export interface ReportedSkill extends
  Pick<
    Skill,
    | "name"
    | "description"
    | "scope"
    | "directory"
    | "file"
    | "state"
    | "hiddenFrom"
    | "isHiddenFromUser"
  > {
  /** The name in lists that loads it, if there is one. */
  readonly loadedAs: string | undefined;
  /** The position of its root in the report: several roots can have the same path. */
  readonly root: number;
  readonly policyRule: string | undefined;
  /** The `SKILL.md` of the skill that its name loads, if that is another. */
  readonly shadowedBy: string | undefined;
  /** Whether it has the files of that one. */
  readonly isCopy: boolean | undefined;
  /** The number of its files. */
  readonly files: number | undefined;
  /** Their total size in bytes. */
  readonly size: number | undefined;
  /** If names or words choose skills: all names that load it. */
  readonly names?: readonly string[];
  /** If names or words choose skills: the paths of its files. */
  readonly paths?: readonly string[] | undefined;
}

/** What the parts of a report share. */
interface ReportContext {
  readonly settings: Settings;
  readonly registry: SkillSource;
  /** The roots to show. */
  readonly roots: readonly SkillRootReport[];
  readonly budgets: Readonly<Record<SkillScope, Budget>>;
}

export async function createReport(
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<Report> {
  const { check = false, policy } = settings.values;
  const { words } = settings;
  const registry = openRegistry(settings.roots, settings.options);
  const catalog = await registry.refresh();
  const roots = catalog.roots
    .filter((it) => !isMissingOptionalRoot(it, settings));
  const budgets = { project: { ...PROJECT_BUDGET }, global: NO_LIMIT };
  const context = { settings, registry, roots, budgets };
  const skills = selectSkills(listAll(catalog), words);
  const inspected = await Array.fromAsync(
    skills,
    (skill) => inspect(skill, context),
  );
  const diagnostics = (await diagnose(inspected, context, openRegistry))
    .filter((it) => words.length === 0 || isAbout(it, words));
  const kept = diagnostics.filter((it) => !isIgnored(it, settings));
  const checked = listChecked(catalog, skills);
  const emptyDirs = check ? listEmptyDirs(checked, kept, settings) : [];
  const unexplained = reportEmptyDirs(emptyDirs, kept, skills, settings)
    .filter((it) => !isIgnored(it, settings));
  const judged = [...kept, ...unexplained]
    .map((it) => withSeverity(it, emptyDirs));
  const errors = judged.filter(({ severity }) => severity === "error").length;
  return {
    version: config.version,
    checked: check ? checked.size : undefined,
    policy,
    errors,
    warnings: judged.length - errors,
    ignored: diagnostics.length - kept.length,
    roots: roots.map(toReportedRoot),
    skills: inspected.map(({ reported }) => reported),
    diagnostics: judged.map(addSymlinkTarget).toSorted((a, b) =>
      byCodeUnits(a.file, b.file) || (a.line ?? 0) - (b.line ?? 0)
    ),
  };
}

export function toJson(report: Report): object {
  const diagnostics = report.diagnostics.map((it) => ({
    ...it,
    effect: RULES[it.rule],
    relativePath: pathFromHere(it.file),
  }));
  return { ...report, diagnostics };
}

async function diagnose(
  inspected: readonly InspectedSkill[],
  { settings, registry, roots, budgets }: ReportContext,
  openRegistry: OpenRegistry,
): Promise<Diagnostic[]> {
  const { catalog } = registry;
  const { check, list } = settings.values;
  return [
    ...catalog.diagnostics.flatMap((it) => explainScan(it, settings)),
    ...inspected.flatMap((it) => it.diagnostics),
    ...check ? checkTogether(inspected.map(({ reported }) => reported)) : [],
    // `--check` may see only some of the skills.
    ...list ? registry.listUnusedRules() : [],
    ...await listUnsearched(catalog, settings, openRegistry),
    ...listNearMisses(catalog, budgets),
    ...listUninspected(budgets.project, roots),
  ];
}

/** Reports the directories in which there is no skill to check, for no other reason. */
function reportEmptyDirs(
  emptyDirs: readonly string[],
  diagnostics: readonly Diagnostic[],
  skills: readonly Skill[],
  { dirs, options: { advice } }: Settings,
): Diagnostic[] {
  return emptyDirs
    .filter((dir) => !diagnostics.some(({ file }) => isAtOrBelow(file, dir)))
    .map((file) => {
      const isTurnedOff = skills.some(({ directory }) =>
        dirs.length === 0 || isAtOrBelow(directory, file)
      );
      return { file, ...isTurnedOff ? ALL_OFF : withAdvice(NO_SKILLS, advice) };
    });
}

/** Says whether `--check` fails. A warning can be the reason why there is no skill. */
function withSeverity(
  diagnostic: Diagnostic,
  emptyDirs: readonly string[],
): ReportedDiagnostic {
  const isFailure = isError(diagnostic) ||
    isAtOrBelowAny(diagnostic.file, emptyDirs);
  return { ...diagnostic, severity: isFailure ? "error" : "warning" };
}

/** Returns the skills with these names, or else those with a word in a text, if there are words. */
function selectSkills(
  skills: readonly Skill[],
  words: readonly string[],
): readonly Skill[] {
  if (words.length === 0) return skills;
  const keys = words.map(skillKey);
  const named = skills.filter((skill) =>
    listNames(skill).some((name) => keys.includes(skillKey(name)))
  );
  return named.length > 0 ? named : skills.filter(({ name, description }) => {
    const text = `${name}\n${description}`.toLowerCase();
    return keys.some((key) => text.includes(key));
  });
}

function listNames({ name, plugin, scope, directory }: Skill): string[] {
  const names = plugin === undefined ? [name] : [name, `${plugin}:${name}`];
  const scoped = names.map((name) => `${scope}:${name}`);
  return [...new Set([...names, ...scoped, basename(directory)])];
}

/** Whether the file of a diagnostic, or its directory, has one of the words in its name. */
function isAbout({ file }: Diagnostic, words: readonly string[]): boolean {
  const names = namesIn(file).slice(-2).join("\n").toLowerCase();
  return words.some((word) => names.includes(skillKey(word)));
}

/** Whether `--ignore` names the rule of a diagnostic, in every folder or in its own. */
function isIgnored(
  { rule, file }: Diagnostic,
  { ignored }: Settings,
): boolean {
  return ignored.some((it) =>
    it.rule === rule && (it.dir === undefined || isAtOrBelow(file, it.dir))
  );
}

/** What the roots of a project share, because a stranger may have written it. */
const PROJECT_BUDGET: Readonly<Budget> = {
  entries: 20_000,
  bytes: 64 * 1024 * 1024,
  time: 60_000,
};

const NO_LIMIT: Budget = { entries: Infinity, bytes: Infinity, time: Infinity };

/** Reports that the budget did not suffice for some of the project's files. */
function listUninspected(
  budget: Budget,
  roots: readonly SkillRootReport[],
): Diagnostic[] {
  const inProject = roots.find(({ root, status }) =>
    root.isLimited && status === "found"
  );
  if (inProject === undefined || isWithin(budget)) return [];
  return [{
    rule: "too-many",
    file: inProject.root.path,
    reason:
      "the project has too many files for a report, so some of them were not checked",
    fix: "pass its folder, or a folder of a skill, as DIR to check all files",
  }];
}

async function listUnsearched(
  catalog: SkillCatalog,
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<Diagnostic[]> {
  // Users should correct a misspelled folder first.
  const isMisspelled = catalog.roots
    .some(({ root, status }) => root.mustExist && status === "missing");
  if (isMisspelled) return [];
  const { places, deep } = listOtherRoots(catalog, settings);
  const roots = [...settings.roots, ...places, ...deep];
  // Without the policy, skills that are off are found, too.
  const options = { ...settings.options, policy: undefined };
  const found = await openRegistry(roots, options).refresh();
  return [
    ...reportPlaces(places, found),
    ...reportDeeper(deep, found, settings),
  ];
}

/** Returns a path relative to the working directory, if it is in that. */
export function pathFromHere(path: string): string | undefined {
  const dir = findWorkingDirectory();
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
  { root, scope, status, skillCount, repeatedCount }: SkillRootReport,
): ReportedRoot {
  const { path, recursive } = root;
  const counts = { skills: skillCount, repeated: repeatedCount };
  return { path, scope, recursive, status, ...counts };
}

/**
 * Lists each given directory without a skill to check or an error, or else the working
 * directory if there is nothing at all.
 */
function listEmptyDirs(
  checked: ReadonlySet<string>,
  diagnostics: readonly Diagnostic[],
  { dirs }: Settings,
): string[] {
  // Without a valid policy, nothing is served.
  if (diagnostics.some(({ rule }) => rule === "policy")) return [];
  const failed = diagnostics.filter(isError).map(({ file }) => file);
  // Several directories can lead to one skill.
  const covered = [...checked, ...failed].map(realPathOf);
  if (dirs.length === 0 && covered.length > 0) return [];
  // Next to skills, files and directories such as `_old` need not be skills.
  const isEmpty = (dir: string) =>
    !attempt(() => Deno.statSync(dir).isFile) &&
    !(isNamedSkills(dirname(dir)) && isMarkedAsNonSkill(dir)) &&
    !covered.some((path) => isAtOrBelow(path, realPathOf(dir)));
  const named = dirs.length > 0 ? dirs : [findWorkingDirectory() ?? "."];
  return named.filter(isEmpty);
}

const NO_SKILLS: DiagnosticDetails = {
  rule: "no-skills",
  reason: "there is no skill to check",
  fix: `add a folder with a ${SKILL_MD}, or pass another folder`,
};

const ALL_OFF: DiagnosticDetails = {
  rule: "no-skills",
  reason:
    "there is no skill to check, because the policy turns off all of them",
  fix: "change the policy",
};

function listChecked(
  { diagnostics }: SkillCatalog,
  found: readonly Skill[],
): Set<string> {
  return new Set([
    ...found.filter((skill) => !isOff(skill))
      .map(({ directory }) => directory),
    ...diagnostics.flatMap(({ file }) => dirOfSkillMd(file) ?? []),
  ]);
}

/** A skill in the report, and what is wrong with it. */
interface InspectedSkill {
  readonly reported: ReportedSkill;
  readonly diagnostics: readonly Diagnostic[];
}

async function inspect(
  skill: Skill,
  context: ReportContext,
): Promise<InspectedSkill> {
  const { registry, settings, budgets } = context;
  const budget = budgets[limitingScope(skill.root)];
  const contents = isOff(skill)
    ? undefined
    : await listFiles(skill, registry, budget);
  const diagnostics = contents && settings.values.check && isWithin(budget)
    ? await checkSkill(skill, registry, contents, budget)
      .catch((error) => [{ file: skill.file, ...diagnosticOf(error) }])
    : [];
  const reported = await toReportedSkill(skill, contents, context);
  return { reported, diagnostics };
}

async function toReportedSkill(
  skill: Skill,
  contents: SkillFiles | undefined,
  { registry, settings: { words }, roots, budgets }: ReportContext,
): Promise<ReportedSkill> {
  const { name, description, scope, directory, file } = skill;
  const { state, hiddenFrom, isHiddenFromUser } = skill;
  const { served, shadowed } = registry.catalog;
  const shadowing = shadowed.find((it) => it.skill === skill);
  const isServed = served.get(servedKey(skill)) === skill;
  return {
    name,
    loadedAs: isServed ? qualifiedName(skill) : undefined,
    description,
    scope,
    root: roots.findIndex(({ root }) => root === skill.root),
    directory,
    file,
    state,
    hiddenFrom,
    isHiddenFromUser,
    policyRule: skill.policyRule?.place,
    shadowedBy: shadowing?.by.file,
    isCopy: shadowing && contents &&
      await hasSameFiles(
        shadowing,
        registry,
        budgets[limitingScope(skill.root)],
      ),
    files: contents?.files.length,
    size: contents && totalSize(contents.files),
    ...words.length === 0 ? {} : {
      names: listNames(skill).filter((it) => registry.find(it) === skill),
      paths: contents?.files.map(({ path }) => path),
    },
  };
}

/** Lists the files of a skill, unless the budget is used up. */
async function listFiles(
  skill: Skill,
  registry: SkillSource,
  budget: Budget,
): Promise<SkillFiles | undefined> {
  if (isUsedUp(budget)) return undefined;
  const contents = await registry.listFiles(skill);
  const { entryCount, isComplete } = contents;
  // Of a list that was cut, at least one entry is left.
  budget.entries -= isComplete ? entryCount : entryCount + 1;
  return contents;
}

/** Whether a skill has the files of the one that shadows it, if the budget suffices for both. */
async function hasSameFiles(
  { skill, by }: ShadowedSkill,
  registry: SkillSource,
  budget: Budget,
): Promise<boolean> {
  const digest = async (it: Skill) => {
    const { files } = await registry.listFiles(it);
    budget.bytes -= totalSize(files);
    if (!isWithin(budget)) return undefined;
    const digests = files.map(async (file) => [
      file.path,
      (await registry.digest(it, file)).digest,
    ]);
    return JSON.stringify(await Promise.all(digests));
  };
  const [mine, theirs] = await Promise.all([digest(skill), digest(by)])
    .catch(() => []);
  return mine !== undefined && mine === theirs;
}
