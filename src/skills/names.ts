/**
 * Qualified names, which have a prefix. They select shadowed skills: if `git` is
 * a skill of the project, `global:git` is the user's own skill with that name.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { isScope, parsePrefixedUri, parseSkillUri } from "./uri.ts";
import { oneLine, skillKey } from "../text.ts";
import type { ShadowedSkill, Skill, SkillCatalog } from "./types.ts";

/** A shadowed skill that has no prefix yet, and the key of its name. */
export interface UnprefixedSkill extends ShadowedSkill {
  readonly key: string;
}

/**
 * Assigns a prefix to each shadowed skill: its scope if that is unique, or the
 * name of its root's folder, with a number if necessary. The name of a folder is
 * no prefix if it is also the name of a skill, so every URI is unambiguous.
 *
 * @param skills The skills with plain names, by key.
 * @param options The shadowed skills in the order of their roots, and the owner
 *   of the copies that have prefixes.
 */
export function withPrefixes(
  skills: ReadonlyMap<string, Skill>,
  { shadowed, variants }: {
    shadowed: readonly UnprefixedSkill[];
    variants: SkillVariants;
  },
): ShadowedSkill[] {
  const taken = new Set<string>();
  // Skills with the same name in the same root share a list, so that no prefix is
  // tried twice.
  const lists = new Map<string, Generator<string>>();
  return shadowed.map(({ skill, by, key }) => {
    const { scope, root: { path } } = skill;
    const list = lists.get(`${scope} ${key} ${path}`) ??
      generatePrefixes(skill);
    lists.set(`${scope} ${key} ${path}`, list);
    for (;;) {
      const prefix: string = list.next().value;
      const prefixKey = skillKey(prefix);
      const qualified = `${prefixKey}:${key}`;
      const isTaken = taken.has(qualified) || prefix === by.scope ||
        prefix !== scope && (skills.has(prefixKey) || skills.has(qualified));
      if (isTaken) continue;
      taken.add(qualified);
      return { skill: variants.create(skill, { prefix }), by };
    }
  });
}

/** Generates the possible prefixes for the skills of a root, best first, without end. */
function* generatePrefixes(
  { scope, root: { path } }: Skill,
): Generator<string, never> {
  yield scope;
  const parent = basename(path) === "skills" ? dirname(path) : path;
  const folder = oneLine(basename(parent)) || "root";
  if (!isScope(folder)) yield folder;
  for (let number = 2;; number++) yield `${folder}-${number}`;
}

/** Creates copies of skills with other properties. */
export class SkillVariants {
  /** The last copy of each skill. A WeakMap, because copies are useless without the skill. */
  readonly #variants = new WeakMap<Skill, Skill>();

  /** Copies a skill. A repeated call returns the same object. */
  create(skill: Skill, properties: Pick<Skill, "state" | "prefix">): Skill {
    const known = this.#variants.get(skill);
    const isSame = known !== undefined &&
      Object.entries(properties).every(([key, value]) =>
        known[key as keyof typeof properties] === value
      );
    if (isSame) return known;
    const variant = { ...skill, ...properties };
    this.#variants.set(skill, variant);
    return variant;
  }
}

/**
 * Returns the qualified name of a skill, or its plain name if it has no prefix. A
 * plain name that begins with a scope is qualified, too.
 */
export function qualifiedName({ name, prefix, scope }: Skill): string {
  if (prefix !== undefined) return `${prefix}:${name}`;
  return SCOPED_NAME.test(skillKey(name)) ? `${scope}:${name}` : name;
}

const SCOPED_NAME = /^(project|global):(.+)$/s;

/** Returns all skills that can be loaded, by the keys of their plain or qualified names. */
export function withQualifiedNames(
  skills: ReadonlyMap<string, Skill>,
  shadowed: readonly ShadowedSkill[],
): ReadonlyMap<string, Skill> {
  if (shadowed.length === 0) return skills;
  const all = [...skills.values(), ...shadowed.map(({ skill }) => skill)];
  return new Map(all.map((skill) => [skillKey(qualifiedName(skill)), skill]));
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
  const skill = findInScope(rest!, { scope, catalog });
  if (skill !== undefined) return skill;
  const plain = catalog.skills.get(key);
  return plain?.scope === scope ? plain : undefined;
}

/** Finds the first skill of a scope with a name, given by its key. */
function findInScope(
  key: string,
  { scope, catalog }: { scope: string; catalog: SkillCatalog },
): Skill | undefined {
  const plain = catalog.skills.get(key);
  if (plain?.scope === scope) return plain;
  const shadowed = catalog.served.get(`${scope}:${key}`);
  return shadowed?.prefix === scope ? shadowed : undefined;
}

/** Finds the skill and the path that a `skill://` URI refers to. */
export function findResource(
  uri: string,
  catalog: SkillCatalog,
): { skill: Skill; path: string | undefined } | undefined {
  const parsed = parseSkillUri(uri);
  const isPlain = parsed !== undefined && !isScope(parsed.name);
  const skill = isPlain ? catalog.skills.get(skillKey(parsed.name)) : undefined;
  if (skill !== undefined) return { skill, path: parsed!.path };
  const { prefix = "", name = "", path } = parsePrefixedUri(uri) ?? {};
  const found = isScope(prefix)
    ? findInScope(skillKey(name), { scope: skillKey(prefix), catalog })
    : findWithPrefix(prefix, { name, catalog });
  return found && { skill: found, path };
}

function findWithPrefix(
  prefix: string,
  { name, catalog }: { name: string; catalog: SkillCatalog },
): Skill | undefined {
  const skill = catalog.served.get(skillKey(`${prefix}:${name}`));
  const isMatch = skill?.prefix !== undefined &&
    skillKey(skill.prefix) === skillKey(prefix);
  return isMatch ? skill : undefined;
}

/** Whether a name consists only of the characters that hosts accept. */
export function isHostName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}
