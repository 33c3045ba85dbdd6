/**
 * The fourth step of a scan: which skill has which name, in a catalog. Also compares
 * catalogs, and logs the problems in them, each one once.
 *
 * @module
 */

import { childPath } from "../files/paths.ts";
import { describeProblem, type Problem } from "../problems.ts";
import { quote, withoutInvisible } from "../text.ts";
import { type DecidedSkill, type Decisions, isForModel } from "./decisions.ts";
import { qualifiedName, servedKey, skillKey } from "./names.ts";
import type { RootVisit, ScanStart } from "./skill_reader.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillRoot,
  SkillRootReport,
  SkillScope,
} from "./types.ts";

/** The catalog before the first scan. */
export const EMPTY_CATALOG: SkillCatalog = {
  skills: new Map(),
  problems: [],
  shadowed: [],
  skipped: [],
  off: [],
  served: new Map(),
  roots: [],
  revision: 0,
};

/** What a scan visited and decided. */
interface ScanOutcome extends Pick<ScanStart, "problems" | "previous"> {
  readonly visits: readonly RootVisit[];
  readonly decisions: Decisions;
}

/**
 * Decides which skill has which name. Returns the previous catalog if nothing changed. If
 * only its problems are others, the new one has the maps of the previous one.
 */
export function nameSkills(
  { visits, decisions, problems, previous }: ScanOutcome,
): SkillCatalog {
  const valid = decisions.skills
    .filter(({ read }) => read.said.frontmatter !== undefined);
  const known = new Map(
    listAll(previous).map((skill) => [skill.realDirectory, skill]),
  );
  const hasSameSkills = valid.length === known.size &&
    valid.every((it) => isUnchanged(it, known.get(it.realPath)));
  const rest = {
    problems: [...problems, ...decisions.problems],
    skipped: decisions.skipped,
    roots: countSkills(visits, valid),
  };
  if (hasSameSkills && isSameRest(rest, previous)) return previous;
  const { skills, shadowed, served, off } = hasSameSkills
    ? previous
    : assignNames(valid, known);
  const revision = previous.revision + 1;
  return { skills, shadowed, served, off, ...rest, revision };
}

/** Whether two catalogs differ in nothing but their skills. */
function isSameRest(
  a: Pick<SkillCatalog, "problems" | "skipped" | "roots">,
  b: SkillCatalog,
): boolean {
  return JSON.stringify([a.problems, a.skipped, a.roots]) ===
    JSON.stringify([b.problems, b.skipped, b.roots]);
}

/** Reports how many skills each root has, by the first path that lists them. */
function countSkills(
  visits: readonly RootVisit[],
  valid: readonly DecidedSkill[],
): SkillRootReport[] {
  const counts = new Map<SkillRoot, number>();
  for (const { listings: [listing], state } of valid) {
    if (state === "off") continue;
    const { root } = listing!;
    counts.set(root, (counts.get(root) ?? 0) + 1);
  }
  return visits.map(({ report }) => ({
    ...report,
    skills: counts.get(report.root) ?? 0,
  }));
}

/** Creates a skill from a folder whose frontmatter is valid. */
function createSkill(
  { realPath, scope, listings: [listing], read, state, rule }: DecidedSkill,
  prefix: SkillScope | undefined,
): Skill {
  const { path: directory, root } = listing!;
  const { isRepaired, isHiddenFromModel, isHiddenFromUser } = read.said;
  const frontmatter = read.said.frontmatter!;
  return {
    name: read.said.name!,
    description: withoutInvisible(frontmatter.description),
    frontmatter,
    directory,
    realDirectory: realPath,
    file: childPath(directory, read.fileName),
    excerpt: read.excerpt,
    version: read.version,
    scope,
    root,
    state,
    rule,
    isRepaired,
    isHiddenFromModel,
    isHiddenFromUser,
    prefix,
  };
}

/** Whether a skill is as it was, but perhaps for its name. */
function isUnchanged(
  { scope, listings: [listing], read, state, rule }: DecidedSkill,
  skill: Skill | undefined,
): skill is Skill {
  return skill !== undefined &&
    skill.frontmatter === read.said.frontmatter &&
    skill.version === read.version &&
    skill.directory === listing!.path && skill.root === listing!.root &&
    skill.scope === scope && skill.state === state && skill.rule === rule;
}

/**
 * Returns the skill that has a name: the first one. But if the user has one that the model
 * may load, a project's skill that the model may not load is passed over.
 *
 * @param skills The skills with the name, in the order of their roots.
 */
function findHolder(skills: readonly DecidedSkill[]): DecidedSkill {
  const isLoadable = ({ state, read }: DecidedSkill) =>
    isForModel({ state, ...read.said });
  const isUsers = ({ scope }: DecidedSkill) => scope === "global";
  const userHasOne = skills.some((it) => isUsers(it) && isLoadable(it));
  const candidates = userHasOne
    ? skills.filter((it) => isUsers(it) || isLoadable(it))
    : skills;
  return candidates[0]!;
}

/**
 * Decides which skill has which name, and which have only a qualified one.
 *
 * @param valid The skills, in the order of their roots.
 * @param known Skills by real path. Those that did not change stay the same objects, so
 *   that views recognize them.
 */
function assignNames(
  valid: readonly DecidedSkill[],
  known: ReadonlyMap<string, Skill>,
): Pick<SkillCatalog, "skills" | "shadowed" | "served" | "off"> {
  const create = (it: DecidedSkill, prefix?: SkillScope) => {
    const skill = known.get(it.realPath);
    return isUnchanged(it, skill) && skill.prefix === prefix
      ? skill
      : createSkill(it, prefix);
  };
  const skills = new Map<string, Skill>();
  const shadowed: ShadowedSkill[] = [];
  const groups = Map.groupBy(
    valid.filter(({ state }) => state !== "off"),
    ({ read }) => skillKey(read.said.name!),
  );
  for (const key of [...groups.keys()].sort()) {
    const assigned = assignName(groups.get(key)!, create);
    skills.set(key, assigned.holder);
    shadowed.push(...assigned.shadowed);
  }
  const off = valid.filter(({ state }) => state === "off")
    .map((it) => create(it));
  return { skills, shadowed, served: listServed(skills, shadowed), off };
}

/** Decides which of the skills with a name has it. */
function assignName(
  group: readonly DecidedSkill[],
  create: (it: DecidedSkill, prefix?: SkillScope) => Skill,
): { holder: Skill; shadowed: ShadowedSkill[] } {
  const holder = findHolder(group);
  // Nearly all names belong to one skill.
  if (group.length === 1) return { holder: create(holder), shadowed: [] };
  const firstOfScope = ({ scope }: DecidedSkill) =>
    group.find((it) => it.scope === scope)!;
  const created = new Map(group.map((it) => {
    const isQualified = it === firstOfScope(it) && it !== holder;
    return [it, create(it, isQualified ? it.scope : undefined)];
  }));
  const shadowed = group.filter((it) => it !== holder).map((it) => {
    const by = it === firstOfScope(it) ? holder : firstOfScope(it);
    return { skill: created.get(it)!, by: created.get(by)! };
  });
  return { holder: created.get(holder)!, shadowed };
}

/** Lists all skills that can be loaded, by the keys of their plain or qualified names. */
function listServed(
  skills: ReadonlyMap<string, Skill>,
  shadowed: readonly ShadowedSkill[],
): Map<string, Skill> {
  const served = new Map<string, Skill>();
  for (const skill of skills.values()) served.set(servedKey(skill), skill);
  for (const { skill } of shadowed) {
    if (skill.prefix !== undefined) served.set(servedKey(skill), skill);
  }
  return served;
}

/** Lists all skills that a scan found: those with a name, those behind them, and those that are off. */
export function listAll(
  { skills, shadowed, off }: Pick<SkillCatalog, "skills" | "shadowed" | "off">,
): Skill[] {
  return [...skills.values(), ...shadowed.map(({ skill }) => skill), ...off];
}

/** Finds what is wrong with the policy. */
export function findPolicyProblem(
  { problems }: SkillCatalog,
): Problem | undefined {
  return problems.find(({ rule }) => rule === "policy");
}

/** Returns the keys whose values differ between two maps. */
export function differingKeys<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
): Set<string> {
  return new Set(
    [...a.keys(), ...b.keys()].filter((key) => a.get(key) !== b.get(key)),
  );
}

function describeShadowed({ skill, by }: ShadowedSkill): string {
  const name = quote(skill.name);
  const advice = skill.prefix === undefined
    ? "rename it to load it"
    : `load it as ${quote(qualifiedName(skill))}`;
  return `Shadowed ${quote(skill.file)}: the name ${name} is taken by ${
    quote(by.file)
  }, which takes precedence; ${advice}`;
}

/** The maximum number of shadowed skills that are named. */
const MAX_NAMED_SHADOWED = 3;

/** Describes the shadowed skills, one line each if they are few. */
function describeAllShadowed(shadowed: readonly ShadowedSkill[]): string[] {
  return shadowed.length <= MAX_NAMED_SHADOWED
    ? shadowed.map(describeShadowed)
    : [
      `Shadowed ${shadowed.length} skills, whose names are taken by others: use --list to see them`,
    ];
}

/**
 * Logs the problems of a catalog, except those that were logged before.
 *
 * @returns The messages about all of them.
 */
export function logProblems(
  { problems, shadowed }: SkillCatalog,
  { logged, log }: {
    logged: ReadonlySet<string>;
    log: (...message: [sentence: string, ...lines: string[]]) => void;
  },
): ReadonlySet<string> {
  const messages = [
    ...problems.map(describeProblem),
    ...describeAllShadowed(shadowed).map((line): [string] => [line]),
  ];
  const now = new Set<string>();
  for (const message of messages) {
    const text = message.join("\n");
    if (!logged.has(text) && !now.has(text)) log(...message);
    now.add(text);
  }
  return now;
}
