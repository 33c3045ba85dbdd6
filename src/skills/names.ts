/**
 * Qualified names, which have a prefix. They select shadowed skills: if `git` is
 * a skill of the project, `global:git` is the user's own skill with that name.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { parsePrefixedUri, parseSkillUri } from "./uri.ts";
import { oneLine, skillKey } from "../text.ts";
import type { ShadowedSkill, Skill, SkillCatalog, SkillRoot } from "./types.ts";

/** A shadowed skill that has no prefix yet, and the key of its name. */
export interface UnprefixedSkill extends ShadowedSkill {
  readonly key: string;
}

/**
 * Assigns a prefix to each shadowed skill: its scope if that is unique, or the
 * name of its root's folder, with a number if necessary. A prefix is never the
 * name of a skill, so every URI is unambiguous.
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
    const { scope, path } = skill.root;
    const list = lists.get(`${scope} ${key} ${path}`) ??
      generatePrefixes(skill.root);
    lists.set(`${scope} ${key} ${path}`, list);
    for (;;) {
      const prefix: string = list.next().value;
      const prefixKey = skillKey(prefix);
      const qualified = `${prefixKey}:${key}`;
      const isTaken = taken.has(qualified) || prefix === by.scope ||
        skills.has(prefixKey) || skills.has(qualified);
      if (isTaken) continue;
      taken.add(qualified);
      return { skill: variants.create(skill, { prefix }), by };
    }
  });
}

/** Generates the possible prefixes for the skills of a root, best first, without end. */
function* generatePrefixes(
  { path, scope }: SkillRoot,
): Generator<string, never> {
  yield scope;
  const parent = basename(path) === "skills" ? dirname(path) : path;
  const folder = oneLine(basename(parent)) || "root";
  // These prefixes are reserved for scopes.
  if (folder !== "project" && folder !== "global") yield folder;
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

/** Returns the qualified name of a skill, or its plain name if it has no prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${name}`;
}

/** Returns all skills that can be loaded, by the keys of their plain or qualified names. */
export function withQualifiedNames(
  skills: ReadonlyMap<string, Skill>,
  shadowed: readonly ShadowedSkill[],
): ReadonlyMap<string, Skill> {
  if (shadowed.length === 0) return skills;
  const qualified = shadowed.map(({ skill }) =>
    [skillKey(qualifiedName(skill)), skill] as const
  );
  return new Map([...skills, ...qualified]);
}

/** Finds a skill by its plain or qualified name. Plain names take precedence. */
export function findSkill(
  name: string,
  catalog: SkillCatalog,
): Skill | undefined {
  const key = skillKey(name);
  const skill = catalog.served.get(key);
  if (skill !== undefined) return skill;
  // A skill with a plain name can also be qualified by its scope.
  const [, scope, plainKey] = /^(project|global):(.+)$/s.exec(key) ?? [];
  const plain = catalog.skills.get(plainKey ?? "");
  return plain?.scope === scope ? plain : undefined;
}

/** Finds the skill and the path that a `skill://` URI refers to. */
export function findResource(
  uri: string,
  catalog: SkillCatalog,
): { skill: Skill; path: string | undefined } | undefined {
  const parsed = parseSkillUri(uri);
  const skill = parsed && catalog.skills.get(skillKey(parsed.name));
  if (skill !== undefined) return { skill, path: parsed!.path };
  const { prefix = "", name, path } = parsePrefixedUri(uri) ?? {};
  const shadowed = catalog.served.get(skillKey(`${prefix}:${name}`));
  const isMatch = shadowed?.prefix !== undefined &&
    skillKey(shadowed.prefix) === skillKey(prefix);
  return isMatch ? { skill: shadowed, path } : undefined;
}
