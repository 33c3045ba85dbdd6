/**
 * Catalogs: building them from the skills of a scan, comparing them, and logging
 * the problems in them, each one once.
 *
 * @module
 */

import { hasEffect } from "../problems.ts";
import { oneLine, quote, shownName, skillKey } from "../text.ts";
import { createSkill, type FoundSkill } from "./found_skills.ts";
import { isScopedKey, qualifiedName } from "./names.ts";
import type {
  Problem,
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillRootReport,
} from "./types.ts";

/** The catalog before the first scan. */
export const EMPTY_CATALOG: SkillCatalog = {
  skills: new Map(),
  problems: [],
  shadowed: [],
  off: [],
  served: new Map(),
  roots: [],
  revision: 0,
};

/** The result of a search. */
interface SearchResult {
  /** The valid skills, in the order of their roots. */
  readonly found: readonly FoundSkill[];
  readonly problems: readonly Problem[];
  readonly roots: readonly SkillRootReport[];
}

/**
 * Builds a catalog, or returns the previous one if it is the same. If only its
 * problems are others, it has the maps of the previous one.
 */
export function buildCatalog(
  { found, problems, roots: searched }: SearchResult,
  previous: SkillCatalog,
): SkillCatalog {
  const { served = [], off = [] } = Object.groupBy(
    found,
    ({ decision }) => decision.state === "off" ? "off" : "served",
  );
  const counts = Map.groupBy(served, ({ listings }) => listings[0]!.root);
  const roots = searched.map((report) => ({
    ...report,
    skills: counts.get(report.root)?.length ?? 0,
  }));
  const named = {
    ...nameSkills(served),
    off: off.map((it) => createSkill(it)!),
  };
  const all = listAll(named);
  const before = listAll(previous);
  const hasSameSkills = all.length === before.length &&
    all.every((skill, index) => skill === before[index]);
  const isSame = hasSameSkills &&
    JSON.stringify([problems, roots]) ===
      JSON.stringify([previous.problems, previous.roots]);
  if (isSame) return previous;
  return {
    ...hasSameSkills ? previous : named,
    problems,
    roots,
    revision: previous.revision + 1,
  };
}

/** Decides which skill has which name. */
function nameSkills(
  found: readonly FoundSkill[],
): Pick<SkillCatalog, "skills" | "shadowed" | "served"> {
  /** The first skills of each name, and of each name in each scope. */
  const first = new Map<string, Skill>();
  const firstInScope = {
    project: new Map<string, Skill>(),
    global: new Map<string, Skill>(),
  };
  const shadowed: ShadowedSkill[] = [];
  for (const it of found) {
    const key = skillKey(it.read.said.frontmatter!.name);
    const inScope = firstInScope[it.scope];
    const isFirstInScope = !inScope.has(key);
    const by = inScope.get(key) ?? first.get(key);
    const isPlain = by === undefined && !isScopedKey(key);
    const prefix = isFirstInScope && !isPlain ? it.scope : undefined;
    const skill = createSkill(it, prefix)!;
    if (isFirstInScope) inScope.set(key, skill);
    if (by === undefined) first.set(key, skill);
    else shadowed.push({ skill, by });
  }
  const skills = new Map(
    [...first.keys()].sort().map((key) => [key, first.get(key)!]),
  );
  const served = new Map<string, Skill>();
  for (const [key, skill] of skills) {
    served.set(skill.prefix ? skillKey(qualifiedName(skill)) : key, skill);
  }
  for (const { skill } of shadowed) {
    if (skill.prefix) served.set(skillKey(qualifiedName(skill)), skill);
  }
  return { skills, shadowed, served };
}

function listAll(
  { skills, shadowed, off }: Pick<SkillCatalog, "skills" | "shadowed" | "off">,
): Skill[] {
  return [...skills.values(), ...shadowed.map(({ skill }) => skill), ...off];
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

/** Describes a problem in one line. */
export function describeProblem(problem: Problem): string {
  const { rule, file, line, reason, hint } = problem;
  const position = line === undefined ? "" : ` (line ${line})`;
  const effect = rule === "policy"
    ? "Cannot use the policy"
    : hasEffect(problem, "skipped")
    ? "Skipped"
    : "Check";
  return oneLine(`${effect} ${quote(file)}${position}: ${reason}; ${hint}`);
}

function describeShadowed({ skill, by }: ShadowedSkill): string {
  const name = quote(shownName(skill.name));
  const advice = skill.prefix === undefined
    ? "rename it to load it"
    : `load it as ${quote(shownName(qualifiedName(skill)))}`;
  return `Shadowed ${quote(skill.file)}: the name ${name} is taken by ${
    quote(by.file)
  }, which comes first; ${advice}`;
}

/**
 * Logs the problems of a catalog, except those that were logged before.
 *
 * @returns The lines about all of them.
 */
export function logProblems(
  { problems, shadowed }: SkillCatalog,
  { logged, log }: {
    logged: ReadonlySet<string>;
    log: (line: string) => void;
  },
): ReadonlySet<string> {
  const lines = new Set([
    ...problems.map(describeProblem),
    ...shadowed.map(describeShadowed),
  ]);
  for (const line of lines.difference(logged)) log(line);
  return lines;
}
