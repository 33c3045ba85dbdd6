/**
 * Which skill a name means: the one lookup for tools, prompts, completion, and URIs.
 *
 * `project:` and `global:` are tried first, and never fall through. Otherwise, the
 * first of these that anything has decides:
 *
 * 1. the name, regardless of case
 * 2. `plugin:name`, such as `office:pdf` for `office/skills/pdf`, a global skill first
 * 3. the name of the directory, if exactly one skill has it
 * 4. for `a:b`, the name `b`, if exactly one global skill has it
 *
 * Skills that are off or skipped are found, too, and load nothing: no other skill loads
 * in their place. The lookup also returns a skill that is hidden from the caller's
 * viewer, so that the caller refuses it.
 */

import { basename } from "../fs/paths.ts";
import { cleanName, parseSkillUri, skillKey } from "../skills/names.ts";
import { byScope } from "../skills/project.ts";
import type { Skill, SkillCatalog, SkillScope } from "../skills/types.ts";
import { MAX_LENGTHS } from "../text.ts";

type NamedSkills = Pick<
  SkillCatalog,
  "skills" | "shadowed" | "off" | "skipped"
>;

/** What has a name. There is no skill if it is off or skipped. */
interface Match {
  readonly skill?: Skill;
  readonly scope: SkillScope;
}

/** What each key means, the first choice first. */
type Index = ReadonlyMap<string, readonly Match[]>;

const SCOPED = /^(project|global):(.*)$/is;

/** Returns the skill that a text means as it is written. */
export function resolve(text: string, catalog: NamedSkills): Skill | undefined {
  const { names, scoped, plugins, dirs } = indexOf(catalog);
  const [, scope, name] = SCOPED.exec(cleanName(text)) ?? [];
  if (scope !== undefined) {
    const key = `${scope.toLowerCase()}:${skillKey(name!)}`;
    return scoped.get(key)?.[0]?.skill;
  }
  const key = skillKey(text);
  if (key === "") return undefined;
  const named = names.get(key) ?? plugins.get(key);
  if (named !== undefined) return named[0]?.skill;

  const inDirs = dirs.get(key);
  const meant = inDirs ?? listByLastPart(key, names);
  return meant.length === 1 ? meant[0]?.skill : undefined;
}

/**
 * Returns the skill that a name means in a tool or a prompt: as it is written, or else
 * without a slash at its start or end and without `/SKILL.md`.
 */
export function resolveName(
  text: string,
  catalog: NamedSkills,
): Skill | undefined {
  return resolve(text, catalog) ??
    resolve(text.trim().replace(/^\/|\/(?:SKILL\.md)?$/gi, ""), catalog);
}

/**
 * Returns the skill that a `skill://` URI means, and the path in the skill. The path is
 * `undefined` for the skill itself, and empty for the collection of its files.
 */
export function resolveUri(
  uri: string,
  catalog: NamedSkills,
): { skill: Skill; path: string | undefined } | undefined {
  const { name, path } = parseSkillUri(uri) ?? {};
  if (name === undefined || (path ?? "").length > MAX_LENGTHS.path) {
    return undefined;
  }
  const skill = resolve(name, catalog);
  return skill && { skill, path };
}

function listByLastPart(key: string, names: Index): readonly Match[] {
  const start = key.lastIndexOf(":") + 1;
  const matches = start === 0 ? [] : names.get(key.slice(start)) ?? [];
  return matches.filter(({ scope }) => scope === "global");
}

/** What the names in each catalog mean. */
const indexes = new WeakMap<NamedSkills, ReturnType<typeof createIndex>>();

function indexOf(catalog: NamedSkills): ReturnType<typeof createIndex> {
  const index = indexes.get(catalog) ?? createIndex(catalog);
  indexes.set(catalog, index);
  return index;
}

function createIndex(catalog: NamedSkills) {
  const { skills, shadowed, off, skipped } = catalog;
  const names = new Map<string, Match[]>();
  const scoped = new Map<string, Match[]>();
  const plugins = new Map<string, Match[]>();
  const dirs = new Map<string, Match[]>();
  const add = (
    match: Match,
    { name, scope, plugin }: Pick<Skill, "name" | "scope" | "plugin">,
  ) => {
    const key = skillKey(name);
    append(names, key, match);
    append(scoped, `${scope}:${key}`, match);
    if (plugin !== undefined) {
      append(plugins, skillKey(`${plugin}:${name}`), match);
    }
  };
  const loadable = [
    ...skills.values(),
    ...shadowed.map(({ skill }) => skill),
  ];
  for (const skill of loadable) {
    const match = { skill, scope: skill.scope };
    add(match, skill);
    append(dirs, skillKey(basename(skill.directory)), match);
  }
  for (const skill of off) {
    const match = { scope: skill.scope };
    add(match, skill);
    append(dirs, skillKey(basename(skill.directory)), match);
  }
  // What a skipped skill would be named is unknown, so it has all names that it may
  // have.
  for (const { names, ...skill } of skipped) {
    for (const name of names) add({ scope: skill.scope }, { ...skill, name });
  }
  for (const matches of plugins.values()) matches.sort(byGlobalFirst);
  return { names, scoped, plugins, dirs };
}

function append(index: Map<string, Match[]>, key: string, match: Match): void {
  const matches = index.get(key);
  if (matches === undefined) index.set(key, [match]);
  else matches.push(match);
}

/** Sorts what can be loaded first, and then global skills before those of the project. */
function byGlobalFirst(a: Match, b: Match): number {
  return Number(a.skill === undefined) - Number(b.skill === undefined) ||
    byScope(a, b);
}
