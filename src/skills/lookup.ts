/**
 * Looks up names: the one lookup for the scan, tools, prompts, completion, and URIs. What
 * a viewer may not see is as if it were unknown.
 *
 * The first of these that the viewer can load is meant:
 *
 * 1. a skill of this name, regardless of case; a project's that is hidden from the model
 *    has to wait
 * 2. a global skill that is called so in another way
 * 3. a project's skill of this name that is hidden from the model
 * 4. a project's skill that is called so in another way, if no global skill is called so
 *
 * A skill is called so in another way:
 *
 * - as `plugin:name`, such as `office:pdf` for `office/skills/pdf`
 * - else by the name of its directory or prompt, if exactly one skill has that
 * - else, if it is global, by what follows the last colon, if exactly one has that name
 *
 * In each scope, the first way in which any skill is called so decides, also if that skill
 * is off, hidden, or broken: nothing else loads in its place. So a clone takes a name of
 * the user only with a skill of exactly that name that the model may load.
 *
 * Names with `project:` or `global:` match only skills of that scope.
 */

import { basename } from "../fs/paths.ts";
import { remember } from "../remember.ts";
import { MAX_LENGTHS } from "../text.ts";
import { listAll } from "./catalog.ts";
import {
  cleanName,
  parseSkillUri,
  SCOPED,
  SCOPES,
  skillKey,
  toPromptName,
} from "./names.ts";
import type {
  Skill,
  SkillCatalog,
  SkillScope,
  SkippedSkill,
  Viewer,
} from "./types.ts";
import { sees } from "./visibility.ts";

/** What a viewer finds under a name: a skill, or one that is skipped, or neither. */
interface Lookup {
  readonly skill?: Skill;
  readonly skipped?: SkippedSkill;
}

/**
 * Returns what a text means to a viewer: as it is written, or else without `skill://` or
 * a slash at its start, and without a slash or `/SKILL.md` at its end.
 */
export function lookUp(
  text: string,
  viewer: Viewer,
  catalog: SkillCatalog,
): Lookup {
  const names = namesOf(catalog);
  const found = names.lookUp(text, viewer);
  if (found.skill ?? found.skipped) return found;
  const plain = text.trim()
    .replace(/^(?:skill:\/)?\/|\/(?:SKILL\.md)?$/gi, "");
  return names.lookUp(plain, viewer);
}

/** What a `skill://` URI means. */
export interface FoundResource {
  readonly skill: Skill;
  /** `undefined` for the skill itself, and empty for the collection of its files. */
  readonly path: string | undefined;
}

/**
 * Finds what a `skill://` URI means to hosts. Ignores what models add: a fragment, and a
 * second slash before the path. Some clients write a slash in the path as `%2F`.
 */
export function lookUpUri(
  uri: string,
  catalog: SkillCatalog,
): FoundResource | undefined {
  const [, start = uri, rest = ""] =
    /^(skill:\/\/[^/#]+\/?)(?:\/|%2f)?([^#]*)/i.exec(uri) ?? [];
  const plain = start + rest.replace(/%2f/gi, "/");
  const { name = "", path } = parseSkillUri(plain) ?? {};
  if ((path ?? "").length > MAX_LENGTHS.path) return undefined;
  const { skill } = lookUp(name, "host", catalog);
  return skill && { skill, path };
}

/** Whose a name is. */
type Owner = Skill | SkippedSkill;

/** The owners of names by their keys, the first choice first. */
type Owners = Map<string, Owner[]>;

/** The names of skills, and what each means. */
export class SkillNames {
  readonly #names: Owners = new Map();
  /** By `plugin:name`. */
  readonly #plugins: Owners = new Map();
  /** By the names of directories and prompts. */
  readonly #others: Owners = new Map();

  /** @param skills All skills, the first choice first. */
  constructor(
    skills: readonly Skill[],
    skipped: readonly SkippedSkill[],
  ) {
    for (const skill of skills) {
      this.#add(skill, skill.name);
      for (const name of listOtherNames(skill)) add(skill, name, this.#others);
    }
    // The name of a skipped skill is not certain, so it has all names that it may have.
    for (const skill of skipped) {
      for (const name of skill.names) this.#add(skill, name);
    }
  }

  #add(owner: Owner, name: string): void {
    const { plugin } = owner;
    add(owner, name, this.#names);
    if (plugin !== undefined) add(owner, `${plugin}:${name}`, this.#plugins);
  }

  /** Returns what a text means to a viewer, exactly as it is written. */
  lookUp(text: string, viewer: Viewer): Lookup {
    const { scopes, key } = parseName(text);
    const loads = (owner: Owner): owner is Skill =>
      isSkill(owner) && sees(viewer, owner);
    const meantIn = (scope: SkillScope) =>
      scopes.includes(scope) ? this.#listMeant(key, scope) : [];
    const named = listOwners(key, scopes, this.#names).filter(loads);
    const meantGlobal = meantIn("global");
    const meantInProject = meantIn("project");
    const [skill] = [
      ...named.filter((it) => !yieldsToGlobal(it)),
      ...meantGlobal.filter(loads),
      ...named,
      ...meantGlobal.length === 0 ? meantInProject.filter(loads) : [],
    ];
    if (skill !== undefined) return { skill };
    const isSkipped = (owner: Owner): owner is SkippedSkill =>
      !isSkill(owner) && sees(viewer, owner);
    return { skipped: [...meantGlobal, ...meantInProject].find(isSkipped) };
  }

  /** Lists what the first step that finds anything in a scope finds there. */
  #listMeant(key: string, scope: SkillScope): readonly Owner[] {
    const inScope = (key: string, owners: Owners) =>
      listOwners(key, [scope], owners);
    const steps = [
      inScope(key, this.#names),
      inScope(key, this.#plugins),
      onlyOne(inScope(key, this.#others)),
      // The name of another plugin means no project's skill.
      scope === "global" ? onlyOne(inScope(lastPartOf(key), this.#names)) : [],
    ];
    return steps.find((owners) => owners.length > 0) ?? [];
  }
}

function isSkill(owner: Owner): owner is Skill {
  return "realDirectory" in owner;
}

/** Lists what a skill is called otherwise: the names of its directory and of its prompt. */
function listOtherNames({ name, plugin, directory }: Skill): string[] {
  const names = plugin === undefined ? [name] : [name, `${plugin}:${name}`];
  return [basename(directory), ...names.map(toPromptName)]
    .filter((other) => !names.includes(other));
}

function add(owner: Owner, name: string, owners: Owners): void {
  const key = skillKey(name);
  if (key === "") return;
  const others = owners.getOrInsertComputed(key, () => []);
  if (others.at(-1) !== owner) others.push(owner);
}

function listOwners(
  key: string,
  scopes: readonly SkillScope[],
  owners: Owners,
): readonly Owner[] {
  return (owners.get(key) ?? []).filter(({ scope }) => scopes.includes(scope));
}

/** Of several, none is meant. */
function onlyOne(owners: readonly Owner[]): readonly Owner[] {
  return owners.length === 1 ? owners : [];
}

/** Whether a skill has its name only if no global skill is meant by it. */
function yieldsToGlobal(skill: Skill): boolean {
  return skill.scope === "project" && !sees("model", skill);
}

/** Returns the names in a catalog. */
const namesOf = remember((catalog: SkillCatalog) =>
  new SkillNames(listAll(catalog), catalog.skipped)
);

/** Returns what follows the last colon in a name, such as that of a plugin. */
export function lastPartOf(name: string): string {
  return name.slice(name.lastIndexOf(":") + 1);
}

/** Splits a name into a key and the scopes that it means: the one before the key, or both. */
export function parseName(
  text: string,
): { scopes: readonly SkillScope[]; key: string } {
  const [, scope, name = text] = SCOPED.exec(cleanName(text)) ?? [];
  const scopes = scope === undefined
    ? SCOPES
    : SCOPES.filter((it) => it === scope.toLowerCase());
  return { scopes, key: skillKey(name) };
}
