/**
 * Qualified names. If `git` is a skill of the project, `global:git` is the user's
 * own skill with that name, and `project:git` is another name for the first one.
 *
 * @module
 */

import { oneLine, skillKey } from "../text.ts";
import type {
  ShadowedSkill,
  Skill,
  SkillCatalog,
  SkillScope,
} from "./types.ts";
import { isScope, parsePrefixedUri, parseSkillUri } from "./uri.ts";

const SCOPED_NAME = /^(project|global):(.+)$/s;

/**
 * Returns the qualified name of a skill, or its plain name if it is served under
 * that. A plain name that begins with a scope is qualified, too.
 */
export function qualifiedName({ name, prefix, scope }: Skill): string {
  if (prefix !== undefined) return `${prefix}:${oneLine(name)}`;
  return SCOPED_NAME.test(skillKey(name)) ? `${scope}:${oneLine(name)}` : name;
}

/** Returns all skills that can be loaded, by the keys of their plain or qualified names. */
export function withQualifiedNames(
  skills: ReadonlyMap<string, Skill>,
  shadowed: readonly ShadowedSkill[],
): ReadonlyMap<string, Skill> {
  const all = new Map<string, Skill>();
  for (const [key, skill] of skills) {
    all.set(SCOPED_NAME.test(key) ? `${skill.scope}:${key}` : key, skill);
  }
  for (const { skill } of shadowed) {
    if (skill.prefix !== undefined) {
      all.set(skillKey(qualifiedName(skill)), skill);
    }
  }
  return all;
}

/**
 * Finds a skill by its plain or qualified name. A name that begins with a scope
 * always means the first skill of that scope.
 */
export function findSkill(
  name: string,
  catalog: SkillCatalog,
): Skill | undefined {
  const key = skillKey(name);
  const [, scope, rest] = SCOPED_NAME.exec(key) ?? [];
  if (scope === undefined) return catalog.served.get(key);
  const found = [
    findInScope(scope as SkillScope, { key: rest!, catalog }),
    catalog.skills.get(key),
  ];
  return found.find((skill) => skill?.scope === scope);
}

/** Finds the first skill of a scope. */
function findInScope(
  scope: SkillScope,
  { key, catalog }: { key: string; catalog: SkillCatalog },
): Skill | undefined {
  const first = catalog.skills.get(key);
  return first?.scope === scope
    ? first
    : catalog.served.get(skillKey(`${scope}:${key}`));
}

/**
 * Finds the skill that a `skill://` URI refers to, and the path in the skill. The path
 * is `undefined` for the skill itself, and empty for the collection of its files.
 */
export function findResource(
  uri: string,
  catalog: SkillCatalog,
): { skill: Skill; path: string | undefined } | undefined {
  const plain = parseSkillUri(uri);
  if (plain !== undefined && !isScope(plain.name)) {
    const skill = catalog.skills.get(skillKey(plain.name));
    return skill && { skill, path: plain.path };
  }
  const { prefix = "", name = "", path } = parsePrefixedUri(uri) ?? {};
  if (!isScope(prefix)) return undefined;
  const scope = skillKey(prefix) as SkillScope;
  const skill = findInScope(scope, { key: skillKey(name), catalog });
  return skill && { skill, path };
}
