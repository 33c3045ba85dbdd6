/**
 * Which skills are listed, in which order, and how: in lines that fit into a limit, as
 * XML in the wording of a tool's contract, or summarized in one line. In every list, the
 * user's own skills precede the project's, so that a cloned repository pushes none of
 * them out.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import { qualifiedName } from "../skills/names.ts";
import { SkillSearch } from "../skills/search.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import { escapeXml, oneLine, shownName, truncate } from "../text.ts";
import { deriveOnce } from "./paging.ts";

/** Whether the model can load a skill. */
export function isForModel({ isHiddenFromModel, state }: Skill): boolean {
  return !isHiddenFromModel && state !== "manual";
}

/** Whether the user can load a skill. */
export function isForUser({ isHiddenFromUser }: Skill): boolean {
  return !isHiddenFromUser;
}

/** Lists the skills that the model can load, in list order. */
export function listModelSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForModel).sort(byListRank);
}

/** Lists the skills that the user can load, in list order. */
export function listUserSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForUser).sort(byListRank);
}

/** Compares two skills by their places in lists. */
export function byListRank(a: Skill, b: Skill): number {
  return listRank(a) - listRank(b);
}

/**
 * Returns the rank of a skill in lists: pinned ones first, those listed by name only
 * last, and among equals the user's own first.
 */
function listRank({ state, scope }: Skill): number {
  const rank = state === "pinned" ? 0 : state === "name-only" ? 2 : 1;
  return 2 * rank + (scope === "project" ? 1 : 0);
}

/** Returns the sort key of an item in a paged list: the rank of its skill, then a text. */
export function listKey(skill: Skill, text: string): string {
  return `${listRank(skill)} ${text}`;
}

/**
 * Returns how much of something the project's skills get: what they need, but at most
 * half while the user's own skills need the rest.
 */
function shareOfProject(
  total: number,
  { own, project }: { own: number; project: number },
): number {
  return Math.min(project, Math.max(total / 2, total - own));
}

/** The maximum number of results of a search. */
const MAX_RESULTS = 20;

/** Searches the user's own skills and the project's separately. */
export class RankedSearch {
  readonly #own: SkillSearch;
  readonly #project: SkillSearch;

  /** Creates a search for skills that are allowed as results. */
  constructor(isAllowed: (skill: Skill) => boolean) {
    const searchIn = (scope: Skill["scope"]) =>
      new SkillSearch((skill) => skill.scope === scope && isAllowed(skill));
    this.#own = searchIn("global");
    this.#project = searchIn("project");
  }

  /** Finds the 20 skills that match some words, in list order, then best match first. */
  async find(query: string, catalog: SkillCatalog): Promise<Skill[]> {
    const own = await this.#own.find(query, catalog);
    const project = await this.#project.find(query, catalog);
    const count = shareOfProject(MAX_RESULTS, {
      own: own.length,
      project: project.length,
    });
    return [...own.slice(0, MAX_RESULTS - count), ...project.slice(0, count)]
      .sort(byListRank);
  }
}

/** The default limit for the list of skills, in characters. */
export const DEFAULT_DESCRIPTION_LIMIT = 30_000;

/**
 * The limit for a list whose names alone exceed the default limit, in
 * characters. Codex truncated a list of 41,000.
 */
export const NAMES_LIMIT = 36_000;

/** A skill as lists show it. */
export interface ListedSkill {
  readonly skill: Skill;
  /** Its name, on one line. */
  readonly name: string;
  /** Its description, on one line. */
  readonly description: string;
  /** Its scope, if it shadows a skill of the user's. */
  readonly mark?: "project";
}

/** The texts about a skill that all lists share. */
const textsOf = deriveOnce((skill: Skill) => ({
  name: shownName(qualifiedName(skill)),
  description: oneLine(skill.description),
}));

/** Describes skills for lists. */
export function describeSkills(
  skills: readonly Skill[],
  { shadowed }: SkillCatalog,
): ListedSkill[] {
  const shadowing = new Set(
    shadowed.filter(({ skill }) => skill.scope === "global")
      .map(({ by }) => by),
  );
  return skills.map((skill) => ({
    skill,
    ...textsOf(skill),
    ...(skill.scope === "project" && shadowing.has(skill) &&
      { mark: skill.scope }),
  }));
}

/**
 * Lists the skills that the tools list for the model. Those listed by name only have
 * no description, whether or not there is room for it.
 */
export const listForModel = deriveOnce((catalog: SkillCatalog) =>
  describeSkills(listModelSkills(catalog), catalog).map((listed) =>
    listed.skill.state === "name-only" ? { ...listed, description: "" } : listed
  )
);

/** Finds a skill by its name, or by what lists show of a long name. */
export function findByName(
  name: string,
  registry: SkillSource,
): Skill | undefined {
  const isShortened = name.endsWith("...") && shownName(name) === name;
  const served = isShortened ? registry.catalog.served.values() : [].values();
  return registry.find(name) ??
    served.find((skill) => textsOf(skill).name === name);
}

/** Returns why there are no skills at all if the policy is the reason, in one line. */
export function findPolicyFault(
  { served, problems }: SkillCatalog,
): string | undefined {
  const problem = problems.find(({ rule }) => rule === "policy");
  if (served.size > 0 || problem === undefined) return undefined;
  const { file, line } = problem;
  const place = shownName(basename(file)) + (line ? `, line ${line}` : "");
  return `No skills are served, because the policy is not valid (${place}). The server's log says how to fix it.`;
}

/**
 * Formats the skills for the model as XML. All texts are escaped, so no skill
 * can break out of the list.
 */
export function formatAvailableSkills(
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const skills = listForModel(catalog).map((listed) => {
    const { skill, name, description, mark } = listed;
    const location = locationOf(skill);
    const scope = mark === location ? undefined : mark;
    const lines = Object.entries({ name, description, location, scope })
      .filter(([, text]) => text)
      .map(([key, text]) => `<${key}>${escapeXml(text!)}</${key}>\n`);
    return `<skill>\n${lines.join("")}</skill>`;
  });
  const list = skills.join("\n") || (findPolicyFault(catalog) ?? "");
  return `<available_skills>\n${list}\n</available_skills>`;
}

/**
 * Formats a skill as a line of a list, which no skill can break out of. By the name in
 * it, the skill can be loaded.
 */
export function formatSkill(
  { name, description, mark }: ListedSkill,
  limit = Infinity,
): string {
  const text = truncate(description, limit);
  const line = `${mark ? `${mark}:` : ""}${name}${text && `: ${text}`}`;
  return `\n- ${escapeXml(line)}`;
}

/** Formats the line of a skill without its description. */
export function formatName(listed: ListedSkill): string {
  return formatSkill(listed, 0);
}

/** The maximum lengths of descriptions to try: of pinned skills, and of others. */
const LADDER = [
  ...[Infinity, 200, 80, 0].map((others) => ({ pinned: Infinity, others })),
  ...[200, 80, 0].map((pinned) => ({ pinned, others: 0 })),
];

/** Returns the last line of a list that lacks some skills. */
function formatMore(count: number): string {
  return `\n(and ${count} more: pass a name to load one, or words that describe the task to search)`;
}

/**
 * Lists skills, one on each line, within a limit. Names come before descriptions. A
 * project's skills take at most half of the room while the user's own need it. If
 * the names do not fit, the last line says how to find the other skills.
 */
export function fitList(
  skills: readonly ListedSkill[],
  limit: number,
): string {
  const room = limit - formatMore(skills.length).length;
  const { own = [], project = [] } = Object.groupBy(
    skills,
    ({ skill }) => skill.scope === "project" ? "project" : "own",
  );
  const share = shareOfProject(room, {
    own: lengthOf(own, formatSkill),
    project: lengthOf(project, formatSkill),
  });
  const theirs = takeFitting(project, share);
  const ours = takeFitting(own, room - lengthOf(theirs, formatName));
  const theirRoom = Math.min(share, room - lengthOf(ours, formatName));
  const lines = new Map([
    ...fitDescriptions(ours, room - theirRoom),
    ...fitDescriptions(theirs, theirRoom),
  ]);
  const missing = skills.length - lines.size;
  return skills.map((listed) => lines.get(listed) ?? "").join("") +
    (missing > 0 ? formatMore(missing) : "");
}

/** Returns the length of a list of skills. */
export function lengthOf(
  skills: readonly ListedSkill[],
  format: (listed: ListedSkill) => string,
): number {
  return skills.reduce((sum, listed) => sum + format(listed).length, 0);
}

/** Returns as many skills as have room for their names. */
function takeFitting(skills: ListedSkill[], room: number): ListedSkill[] {
  let rest = room;
  const end = skills.findIndex((it) => (rest -= formatName(it).length) < 0);
  return end < 0 ? skills : skills.slice(0, end);
}

/** Formats skills whose names fit, with the longest descriptions that fit as well. */
function fitDescriptions(
  skills: readonly ListedSkill[],
  room: number,
): [ListedSkill, string][] {
  const formats = LADDER.map(({ pinned, others }) => (listed: ListedSkill) =>
    formatSkill(listed, listed.skill.state === "pinned" ? pinned : others)
  );
  const format = formats.find((it) => lengthOf(skills, it) <= room)!;
  return skills.map((listed) => [listed, format(listed)]);
}

/** The maximum length of the line that summarizes the skills, in characters. */
const MAX_SUMMARY_LENGTH = 250;

/** The names that may stand in the server's own sentences, which no skill should speak in. */
const PLAIN_NAME = /^[a-z0-9-]{1,64}$/;

/**
 * Summarizes the skills in one line of at most 250 characters, after a text
 * without a period. Some clients show the model nothing else until it searches
 * for tools.
 */
export function summarizeSkills(
  catalog: SkillCatalog,
  purpose: string,
): string {
  const skills = listForModel(catalog);
  if (skills.length === 0) {
    return findPolicyFault(catalog) ?? `${purpose}. There are none yet.`;
  }
  const names = skills.map(({ name }) => name)
    .filter((name) => PLAIN_NAME.test(name));
  let summary = `${purpose}: ${skills.length} in total.`;
  for (let count = 1; count <= names.length; count++) {
    const rest = skills.length - count;
    const more = rest > 0 ? ` and ${rest} more` : "";
    const line = `${purpose}: ${names.slice(0, count).join(", ")}${more}.`;
    if (line.length > MAX_SUMMARY_LENGTH) break;
    summary = line;
  }
  return summary;
}
