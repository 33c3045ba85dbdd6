/**
 * Resolves names: the one lookup for tools, prompts, completion, and URIs.
 *
 * Names with `project:` or `global:` match only skills of that scope. Otherwise, the
 * first of these lookups that finds anything decides:
 *
 * 1. the name, regardless of case
 * 2. `plugin:name`, such as `office:pdf` for `office/skills/pdf`, a global skill first
 * 3. the name of the directory, if exactly one skill has it
 * 4. for `a:b`, the name `b`, if exactly one global skill has it
 *
 * A skill that is off or skipped keeps its names and loads nothing, so that no other
 * skill loads in its place. The lookup also returns skills that are hidden from the
 * viewer, which the caller then refuses.
 */

import { basename } from "../fs/paths.ts";
import { isHiddenFrom, isOff } from "../policy/states.ts";
import { listAll } from "../skills/catalog.ts";
import {
  cleanName,
  isScoped,
  parseSkillUri,
  skillKey,
} from "../skills/names.ts";
import { byScope } from "../skills/project.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { MAX_LENGTHS } from "../text.ts";

type NamedSkills = Pick<
  SkillCatalog,
  "skills" | "shadowed" | "off" | "skipped"
>;

/** A skill, or the place that one holds while it is off or skipped. */
interface Named extends Pick<Skill, "name" | "scope" | "plugin"> {
  /** The skill, unless it is off or skipped. */
  readonly skill?: Skill;
  /** The name of its directory, unless it is skipped. */
  readonly dir?: string;
}

const SCOPED = /^(project|global):(.*)$/is;

/** Returns the skill that has a name, exactly as it is written. */
export function resolve(text: string, catalog: NamedSkills): Skill | undefined {
  const { names, plugins, dirs } = indexOf(catalog);
  const key = skillKey(text);
  if (key === "") return undefined;
  const [named] = listNamed(text, names);
  if (named !== undefined || isScoped(key)) return named?.skill;
  const inPlugins = plugins.get(key);
  if (inPlugins !== undefined) return inPlugins[0]?.skill;

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
 * Returns the skill that a `skill://` URI means to hosts, and the path in the skill. The
 * path is `undefined` for the skill itself, and empty for the collection of its files.
 * Ignores what models add: a fragment, and a second slash before the path.
 */
export function resolveUri(
  uri: string,
  catalog: NamedSkills,
): { skill: Skill; path: string | undefined } | undefined {
  const plain = uri.replace(/#.*$/s, "")
    .replace(/^(skill:\/\/[^/]+\/)\//, "$1");
  const { name, path } = parseSkillUri(plain) ?? {};
  if (name === undefined || (path ?? "").length > MAX_LENGTHS.path) {
    return undefined;
  }
  const skill = resolve(name, catalog);
  const isFound = skill !== undefined && !isHiddenFrom("host", skill);
  return isFound ? { skill, path } : undefined;
}

/** Whether any skill has a name, even one that is off, skipped, or hidden. */
export function isNameTaken(name: string, catalog: NamedSkills): boolean {
  const { names, plugins } = indexOf(catalog);
  return listNamed(name, names).length > 0 || plugins.has(skillKey(name));
}

/** Lists the skills that have a name, in the scope with which it begins, if any. */
function listNamed(text: string, names: Index["names"]): readonly Named[] {
  const [, scope, name = text] = SCOPED.exec(cleanName(text)) ?? [];
  const named = names.get(skillKey(name)) ?? [];
  return scope === undefined
    ? named
    : named.filter((it) => it.scope === scope.toLowerCase());
}

function listByLastPart(key: string, names: Index["names"]): Named[] {
  const start = key.lastIndexOf(":") + 1;
  const matches = start === 0 ? [] : names.get(key.slice(start)) ?? [];
  return matches.filter(({ scope }) => scope === "global");
}

type Index = ReturnType<typeof createIndex>;

/** The names in each catalog. */
const indexes = new WeakMap<NamedSkills, Index>();

function indexOf(catalog: NamedSkills): Index {
  const index = indexes.get(catalog) ?? createIndex(catalog);
  indexes.set(catalog, index);
  return index;
}

/** Groups all names by their keys, the first choice first. */
function createIndex(catalog: NamedSkills) {
  const all: Named[] = [
    ...listAll(catalog).map(toNamed),
    // The name of a skipped skill is not certain, so it has all names that it may have.
    ...catalog.skipped.flatMap(({ names, scope, plugin }) =>
      names.map((name) => ({ name, scope, plugin }))
    ),
  ];
  const inPlugins = all.filter(({ plugin }) => plugin !== undefined)
    .sort(byLoadableAndScope);
  const inDirs = all.filter(({ dir }) => dir !== undefined);
  return {
    names: Map.groupBy(all, ({ name }) => skillKey(name)),
    plugins: Map.groupBy(
      inPlugins,
      ({ plugin, name }) => skillKey(`${plugin}:${name}`),
    ),
    dirs: Map.groupBy(inDirs, ({ dir }) => skillKey(dir!)),
  };
}

function toNamed(skill: Skill): Named {
  const { name, scope, plugin, directory } = skill;
  const named = { name, scope, plugin, dir: basename(directory) };
  return isOff(skill) ? named : { ...named, skill };
}

/** Sorts skills that can be loaded first, and then global skills before project skills. */
function byLoadableAndScope(a: Named, b: Named): number {
  return Number(a.skill === undefined) - Number(b.skill === undefined) ||
    byScope(a, b);
}
