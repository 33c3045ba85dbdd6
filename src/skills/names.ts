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
    shadowed: readonly ShadowedSkill[];
    variants: SkillVariants;
  },
): ShadowedSkill[] {
  const taken = new Set<string>();
  // Skills with the same name in the same root share a list, so that no prefix is
  // tried twice.
  const lists = new Map<string, Generator<string>>();
  return shadowed.map(({ skill, by }) => {
    const { scope, root } = skill;
    const key = skillKey(skill.name);
    const place = `${scope} ${key} ${root.path}`;
    const list = lists.get(place) ?? generatePrefixes(skill);
    lists.set(place, list);
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
    const variant = { ...skill, ...properties };
    const { state, prefix } = variant;
    const known = this.#variants.get(skill);
    const isSame = known?.state === state && known?.prefix === prefix;
    if (known !== undefined && isSame) return known;
    this.#variants.set(skill, variant);
    return variant;
  }
}

/**
 * Returns the qualified name of a skill, or its plain name if it has no prefix. A
 * plain name that begins with a scope is qualified, too.
 */
export function qualifiedName({ name, prefix, scope }: Skill): string {
  if (prefix !== undefined) return withPrefix(prefix, name);
  return SCOPED_NAME.test(skillKey(name)) ? withPrefix(scope, name) : name;
}

/** Like the key of the name alone, this ignores spaces around the name. */
function withPrefix(prefix: string, name: string): string {
  return `${prefix}:${oneLine(name)}`;
}

const SCOPED_NAME = /^(project|global):(.+)$/s;

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
    all.set(skillKey(qualifiedName(skill)), skill);
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
    findPrefixed(scope, { name: rest!, catalog }),
    catalog.skills.get(key),
  ];
  return found.find((skill) => skill?.scope === scope);
}

/** Finds the skill with a prefix, or the first skill if the prefix is its scope. */
function findPrefixed(
  prefix: string,
  { name, catalog }: { name: string; catalog: SkillCatalog },
): Skill | undefined {
  const prefixKey = skillKey(prefix);
  const first = catalog.skills.get(skillKey(name));
  if (first?.scope === prefixKey) return first;
  const skill = catalog.served.get(skillKey(withPrefix(prefix, name)));
  const isMatch = skill?.prefix !== undefined &&
    skillKey(skill.prefix) === prefixKey;
  return isMatch ? skill : undefined;
}

/** Finds the skill and the path that a `skill://` URI refers to. */
export function findResource(
  uri: string,
  catalog: SkillCatalog,
): { skill: Skill; path: string | undefined } | undefined {
  const plain = parseSkillUri(uri);
  if (plain !== undefined && !isScope(plain.name)) {
    const skill = catalog.skills.get(skillKey(plain.name));
    if (skill !== undefined) return { skill, path: plain.path };
  }
  const { prefix = "", name = "", path } = parsePrefixedUri(uri) ?? {};
  const skill = findPrefixed(prefix, { name, catalog });
  return skill && { skill, path };
}

/** Whether a name consists only of the characters that hosts accept. */
export function isHostName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}
