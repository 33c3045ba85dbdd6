// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Names with a prefix. They reach the skills that others of the same name
 * shadow: `global:git` where the plain name is that of the project's skill.
 *
 * @module
 */

import { basename, dirname } from "jsr:@std/path@^1";
import { perCatalog } from "./list_views.ts";
import { parsePrefixedUri, parseSkillUri } from "./skill_uri.ts";
import { oneLine, skillKey } from "./text.ts";
import type { ShadowedSkill, Skill, SkillCatalog, SkillRoot } from "./types.ts";

/** A shadowed skill that has no prefix yet, and the key of its name. */
export interface UnnamedSkill extends ShadowedSkill {
  readonly key: string;
}

/**
 * Gives each shadowed skill its prefix: its scope if it is the first of its
 * name there, else the name of its root's folder, with a number where that is
 * taken too. No prefix is the name of a skill, so no URI means two files.
 *
 * @param skills The skills that have their plain names, by their keys.
 * @param shadowed The others, in the order of their roots.
 */
export function withPrefixes(
  skills: ReadonlyMap<string, Skill>,
  shadowed: readonly UnnamedSkill[],
): ShadowedSkill[] {
  const taken = new Set<string>();
  // One list for the skills of one name in one root, so that each goes on where the last one ended.
  const lists = new Map<string, Generator<string>>();
  return shadowed.map(({ skill, by, key }) => {
    const { scope, path } = skill.root;
    const list = lists.get(`${scope} ${key} ${path}`) ?? prefixesOf(skill.root);
    lists.set(`${scope} ${key} ${path}`, list);
    for (;;) {
      const prefix: string = list.next().value;
      const prefixKey = skillKey(prefix);
      const qualified = `${prefixKey}:${key}`;
      const isTaken = taken.has(qualified) || prefix === by.scope ||
        skills.has(prefixKey) || skills.has(qualified);
      if (isTaken) continue;
      taken.add(qualified);
      return { skill: variantOf(skill, { prefix }), by };
    }
  });
}

/** Lists the prefixes that the skills of a root may have, the best first, without end. */
function* prefixesOf({ path, scope }: SkillRoot): Generator<string, never> {
  yield scope;
  const parent = basename(path) === "skills" ? dirname(path) : path;
  const folder = oneLine(basename(parent)) || "root";
  // A folder of that name is no scope.
  if (folder !== "project" && folder !== "global") yield folder;
  for (let number = 2;; number++) yield `${folder}-${number}`;
}

/** Returns a skill with other properties, the same object each time it is asked for. */
export function variantOf(
  skill: Skill,
  properties: Pick<Skill, "state" | "prefix">,
): Skill {
  const known = variants.get(skill);
  const isSame = known !== undefined &&
    Object.entries(properties).every(([key, value]) =>
      known[key as keyof typeof properties] === value
    );
  if (isSame) return known;
  const variant = { ...skill, ...properties };
  variants.set(skill, variant);
  return variant;
}

/** The variant of each skill that was asked for last. */
const variants = new WeakMap<Skill, Skill>();

/** Returns the name that reaches a skill wherever it stands: plain, or with its prefix. */
export function qualifiedName({ name, prefix }: Skill): string {
  return prefix === undefined ? name : `${prefix}:${name}`;
}

/** Returns the skills that can be loaded, by the keys of the names that reach them. */
export const servedSkills: (
  catalog: SkillCatalog,
) => ReadonlyMap<string, Skill> = perCatalog(({ skills, shadowed }) => {
  if (shadowed.length === 0) return skills;
  const qualified = shadowed.map(({ skill }) =>
    [skillKey(qualifiedName(skill)), skill] as const
  );
  return new Map([...skills, ...qualified]);
});

/** Finds a skill by its name or its qualified name. A skill whose plain name it is comes first. */
export function findSkill(
  name: string,
  catalog: SkillCatalog,
): Skill | undefined {
  const key = skillKey(name);
  const skill = servedSkills(catalog).get(key);
  if (skill !== undefined) return skill;
  // A skill that has its plain name is also reached by that of its scope.
  const [, scope, plainKey] = /^(project|global):(.+)$/s.exec(key) ?? [];
  const plain = catalog.skills.get(plainKey ?? "");
  return plain?.scope === scope ? plain : undefined;
}

/** Finds the skill and the path in it that a `skill://` URI stands for. */
export function findResource(
  uri: string,
  catalog: SkillCatalog,
): { skill: Skill; path: string | undefined } | undefined {
  const place = parseSkillUri(uri);
  const skill = place && catalog.skills.get(skillKey(place.name));
  if (skill !== undefined) return { skill, path: place!.path };
  const { prefix = "", name, path } = parsePrefixedUri(uri) ?? {};
  const shadowed = servedSkills(catalog).get(skillKey(`${prefix}:${name}`));
  const isIt = shadowed?.prefix !== undefined &&
    skillKey(shadowed.prefix) === skillKey(prefix);
  return isIt ? { skill: shadowed, path } : undefined;
}
