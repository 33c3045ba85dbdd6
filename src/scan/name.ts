/** The fourth step of a scan: which skill has which name, in a catalog. */

import { basename, childPath } from "../fs/paths.ts";
import { isForModel, isOff } from "../policy/states.ts";
import { listAll } from "../skills/catalog.ts";
import { pluginOf, servedKey, skillKey } from "../skills/names.ts";
import { byOwner } from "../skills/roots.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillRoot,
  SkillRootReport,
} from "../skills/types.ts";
import { withoutInvisible } from "../text.ts";
import type { DecidedSkill, Decisions } from "./decide.ts";
import { isInGroup, type RootVisit, type ScanStart } from "./record.ts";

interface NamingInput extends Pick<ScanStart, "diagnostics" | "previous"> {
  readonly visits: readonly RootVisit[];
  readonly decisions: Decisions;
}

/**
 * Decides which skill has which name. Returns the previous catalog if nothing changed. If
 * its skills did not change, the new one keeps the maps of the previous one.
 */
export function nameSkills(
  { visits, decisions, diagnostics, previous }: NamingInput,
): SkillCatalog {
  const valid = decisions.skills
    .filter(({ read }) => read.parsed.frontmatter !== undefined);
  const known = new Map(
    listAll(previous).map((skill) => [skill.realDirectory, skill]),
  );
  const hasSameSkills = valid.length === known.size &&
    valid.every((it) => isUnchanged(it, known.get(it.realPath)));
  const rest = {
    diagnostics: [...diagnostics, ...decisions.diagnostics],
    skipped: decisions.skipped,
    roots: countSkills(visits, valid),
  };
  if (hasSameSkills && isSameRest(rest, previous)) return previous;
  const named = hasSameSkills ? previous : createSkills(valid, known);
  return { ...named, ...rest, revision: previous.revision + 1 };
}

function isSameRest(
  a: Pick<SkillCatalog, "diagnostics" | "skipped" | "roots">,
  b: SkillCatalog,
): boolean {
  return JSON.stringify([a.diagnostics, a.skipped, a.roots]) ===
    JSON.stringify([b.diagnostics, b.skipped, b.roots]);
}

/** Reports how many skills each root has, by the first path that lists them. */
function countSkills(
  visits: readonly RootVisit[],
  valid: readonly DecidedSkill[],
): SkillRootReport[] {
  const counts = new Map<SkillRoot, number>();
  for (const skill of valid) {
    if (isOff(skill)) continue;
    const { root } = skill.listings[0]!;
    counts.set(root, (counts.get(root) ?? 0) + 1);
  }
  return visits.map(({ report }) => ({
    ...report,
    skills: counts.get(report.root) ?? 0,
  }));
}

function createSkill(
  { realPath, listings: [listing], read, ...decided }: DecidedSkill,
  prefix: string | undefined,
): Skill {
  const { path: directory, root } = listing!;
  const { isRepaired, isHiddenFromUser } = read.parsed;
  const frontmatter = read.parsed.frontmatter!;
  return {
    name: read.parsed.name!,
    description: withoutInvisible(frontmatter.description),
    frontmatter,
    directory,
    realDirectory: realPath,
    file: childPath(directory, read.fileName),
    excerpt: read.parsed.excerpt,
    fileVersion: read.fileVersion,
    scope: decided.scope,
    root,
    state: decided.state,
    policyRule: decided.policyRule,
    hiddenFrom: decided.hiddenFrom,
    isRepaired,
    isHiddenFromUser,
    plugin: pluginOf(directory),
    prefix,
  };
}

/** Whether a skill is as it was, except perhaps its prefix. */
function isUnchanged(
  { listings: [listing], read, ...decided }: DecidedSkill,
  skill: Skill | undefined,
): skill is Skill {
  return skill !== undefined &&
    skill.frontmatter === read.parsed.frontmatter &&
    skill.fileVersion === read.fileVersion &&
    skill.directory === listing!.path && skill.root === listing!.root &&
    skill.scope === decided.scope && skill.state === decided.state &&
    skill.policyRule === decided.policyRule &&
    skill.hiddenFrom === decided.hiddenFrom;
}

interface NamedSkill {
  readonly decided: DecidedSkill;
  /** Its scope or plugin, if it has only a qualified name. */
  readonly prefix?: string | undefined;
  /** The skill that has the name instead, if there is one. */
  readonly by?: DecidedSkill;
}

/**
 * Names and creates the skills, which are in the order of their roots. Known ones that did
 * not change stay the same objects, so that views recognize them.
 */
function createSkills(
  valid: readonly DecidedSkill[],
  known: ReadonlyMap<string, Skill>,
): Pick<SkillCatalog, "skills" | "shadowed" | "served" | "names" | "off"> {
  const { on = [], off = [] } = Object.groupBy(
    valid,
    (skill) => isOff(skill) ? "off" : "on",
  );
  const { named, pluginSkills } = assignNames(on);
  const created = new Map(
    named.map(({ decided, prefix }) => [
      decided,
      keepOrCreate(decided, prefix, known),
    ]),
  );
  const skills = new Map<string, Skill>();
  const shadowed: ShadowedSkill[] = [];
  for (const { decided, by } of named) {
    const skill = created.get(decided)!;
    if (by === undefined) skills.set(skillKey(skill.name), skill);
    else shadowed.push({ skill, by: created.get(by)! });
  }
  const served = listServed(skills, shadowed);
  const names = new Map<string, Skill>();
  // Of equal keys, the last one counts.
  for (const [key, decided] of pluginSkills) {
    names.set(key, created.get(decided)!);
  }
  for (const [key, skill] of skills) names.set(`${skill.scope}:${key}`, skill);
  for (const [key, skill] of served) names.set(key, skill);
  return {
    skills,
    shadowed,
    served,
    names,
    off: off.map((decided) => keepOrCreate(decided, undefined, known)),
  };
}

/** Decides which skill has which name, in the order of the keys of the names. */
function assignNames(
  skills: readonly DecidedSkill[],
): { named: NamedSkill[]; pluginSkills: ReadonlyMap<string, DecidedSkill> } {
  const found = Map.groupBy(skills, ({ read }) => skillKey(read.parsed.name!));
  const byKey = new Map(
    [...found.keys()].sort()
      .map((key) => [key, preferOwnNames(found.get(key)!)]),
  );
  const pluginSkills = listPluginSkills([...byKey.values()].flat());
  const named = [...byKey.keys()]
    .flatMap((key) => assignName(key, byKey, pluginSkills));
  return { named, pluginSkills };
}

/**
 * Sorts the skills of each root: those outside groups first, then those in folders of
 * their names. The others are often copies.
 */
function preferOwnNames(skills: readonly DecidedSkill[]): DecidedSkill[] {
  const isOther = ({ listings: [listing], read }: DecidedSkill) =>
    skillKey(basename(listing!.path)) !== skillKey(read.parsed.name!);
  const byRoot = Map.groupBy(skills, ({ listings }) => listings[0]!.root);
  return [...byRoot.values()].flatMap((inRoot) =>
    inRoot.toSorted((a, b) =>
      Number(isInGroup(a.listings[0]!)) - Number(isInGroup(b.listings[0]!)) ||
      Number(isOther(a)) - Number(isOther(b))
    )
  );
}

/** Returns the key of a skill's name behind that of its plugin, if it is in one. */
function pluginKey(
  { listings: [listing], read }: DecidedSkill,
): string | undefined {
  const plugin = pluginOf(listing!.path);
  return plugin && `${skillKey(plugin)}:${skillKey(read.parsed.name!)}`;
}

/** Lists the first skill of each name in a plugin, the user's own before the project's. */
function listPluginSkills(
  skills: readonly DecidedSkill[],
): Map<string, DecidedSkill> {
  const found = new Map<string, DecidedSkill>();
  for (const skill of skills.toSorted(byOwner)) {
    const key = pluginKey(skill);
    if (key !== undefined && !found.has(key)) found.set(key, skill);
  }
  return found;
}

/**
 * Chooses the skill that gets a name: the first one, unless that is a project's and would
 * hide one of the user's.
 *
 * @param skills The skills with the name, in the order of their roots.
 * @param pluginSkill The skill of a plugin that has it as its qualified name.
 */
function chooseHolder(
  skills: readonly DecidedSkill[],
  pluginSkill: DecidedSkill | undefined,
): DecidedSkill {
  const isUsers = ({ scope }: DecidedSkill) => scope === "global";
  // A skill that is hidden from the model must not take the name of a visible one.
  const userHasOne = skills.some((it) => isUsers(it) && isForModel(it));
  const first = skills
    .find((it) => !userHasOne || isUsers(it) || isForModel(it))!;
  // One named `tools:git` must not hide the skill `git` of the user's plugin `tools`.
  return pluginSkill?.scope === "global" && first.scope === "project"
    ? skills.find(isUsers) ?? pluginSkill
    : first;
}

/** Decides which of the skills with a name gets it, and which get a qualified name. */
function assignName(
  key: string,
  byKey: ReadonlyMap<string, readonly DecidedSkill[]>,
  pluginSkills: ReadonlyMap<string, DecidedSkill>,
): NamedSkill[] {
  const skills = byKey.get(key)!;
  const holder = chooseHolder(skills, pluginSkills.get(key));
  return skills.map((decided) => {
    if (decided === holder) return { decided };
    const first = skills.find(({ scope }) => scope === decided.scope)!;
    if (decided === first) {
      return { decided, prefix: decided.scope, by: holder };
    }
    const inPlugin = pluginKey(decided);
    const isLoadable = inPlugin !== undefined && !byKey.has(inPlugin) &&
      pluginSkills.get(inPlugin) === decided;
    const prefix = isLoadable ? pluginOf(decided.listings[0]!.path) : undefined;
    return { decided, prefix, by: first };
  });
}

function keepOrCreate(
  decided: DecidedSkill,
  prefix: string | undefined,
  known: ReadonlyMap<string, Skill>,
): Skill {
  const skill = known.get(decided.realPath);
  return isUnchanged(decided, skill) && skill.prefix === prefix
    ? skill
    : createSkill(decided, prefix);
}

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
