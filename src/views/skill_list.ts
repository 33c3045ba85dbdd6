/**
 * Which skills are listed, in which order, and how: in lines that fit into a limit, as
 * XML in the wording of a tool's contract, or summarized in one line. In every list, the
 * user's own skills precede the project's, so that a cloned repository pushes none of
 * them out.
 *
 * @module
 */

import { qualifiedName } from "../skills/names.ts";
import { SkillIndex } from "../skills/search.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
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

/** Lists the skills that are allowed, in list order. */
export function listSkills(
  skills: ReadonlyMap<string, Skill>,
  isAllowed: (skill: Skill) => boolean,
): Skill[] {
  return [...skills.values()].filter(isAllowed).sort(byListRank);
}

/** Compares two skills by their places in lists. */
function byListRank(a: Skill, b: Skill): number {
  return listRank(a) - listRank(b);
}

/**
 * Returns the rank of a skill in lists: pinned ones first, those listed by name only
 * last, and among equals the user's own first.
 */
function listRank({ state, scope, rule }: Skill): number {
  const rank = state === "pinned" ? 1 : state === "name-only" ? 3 : 2;
  if (scope !== "project") return rank;
  return state === "pinned" && rule?.scope === "project" ? 0 : 3 + rank;
}

/** Returns the sort key of an item in a paged list: the rank of its skill, then a text. */
export function listKey(skill: Skill, text: string): string {
  return `${listRank(skill)} ${text}`;
}

/**
 * Returns how much of something the project's skills get at most: half, or what the
 * user's own skills leave.
 */
function shareOfProject(total: number, own: number): number {
  return Math.max(total / 2, total - own);
}

/** The maximum number of results of a search. */
const MAX_RESULTS = 20;

/** The skills that the model can find. The others have no influence on the results. */
const indexOf = deriveOnce(({ skills }: SkillCatalog) =>
  SkillIndex.create(skills.values().filter(isForModel))
);

/** Finds the 20 skills that match some words, in list order, then best match first. */
export async function findByWords(
  words: string,
  catalog: SkillCatalog,
): Promise<Skill[]> {
  const index = await indexOf(catalog);
  const { global: own = [], project = [] } = Object.groupBy(
    await index.find(words),
    ({ scope }) => scope,
  );
  const theirs = project.slice(0, shareOfProject(MAX_RESULTS, own.length));
  const ours = own.slice(0, MAX_RESULTS - theirs.length);
  return [...ours, ...theirs].sort(byListRank);
}

/** A skill as lists show it. */
export interface ListedSkill {
  readonly skill: Skill;
  /** Its name, on one line. */
  readonly name: string;
  /** Its description, on one line. */
  readonly description: string;
}

/** Describes a skill for lists. */
export const describeSkill = deriveOnce((skill: Skill): ListedSkill => ({
  skill,
  name: shownName(qualifiedName(skill)),
  description: oneLine(skill.description),
}));

/**
 * Lists the skills that the tools list for the model. Those listed by name only have
 * no description, whether or not there is room for it. The name of a project's skill
 * that shadows one of the user's says so.
 */
export const listForModel = deriveOnce((catalog: SkillCatalog) => {
  const shadowing = new Set(
    catalog.shadowed.filter(({ skill }) => skill.scope === "global")
      .map(({ by }) => by),
  );
  return listSkills(catalog.skills, isForModel).map((skill): ListedSkill => {
    const { name, description } = describeSkill(skill);
    const isMarked = skill.scope === "project" && shadowing.has(skill);
    return {
      skill,
      name: isMarked ? `project:${name}` : name,
      description: skill.state === "name-only" ? "" : description,
    };
  });
});

/** Returns why there are no skills at all if the policy is the reason, in one line. */
export function findPolicyFault(
  { served, problems }: SkillCatalog,
): string | undefined {
  const isInvalid = problems.some(({ rule }) => rule === "policy");
  return served.size === 0 && isInvalid
    ? "No skills are served, because the policy is not valid. The server's log says how to fix it."
    : undefined;
}

/**
 * Formats the skills for the model as XML. All texts are escaped, so no skill
 * can break out of the list.
 */
export function formatAvailableSkills(
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const skills = listForModel(catalog).map(({ skill, description }) => {
    // The location tells which of the user's and the project's it is.
    const { name } = describeSkill(skill);
    const location = locationOf(skill);
    const lines = Object.entries({ name, description, location })
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
function formatSkill(
  { name, description }: ListedSkill,
  limit: number,
): string {
  const text = truncate(description, limit);
  return `\n- ${escapeXml(name + (text && `: ${text}`))}`;
}

/**
 * The default limit for a list of skills, in characters. Codex truncated a list of
 * 41,000, and the names of 1,200 skills need 30,000.
 */
export const DEFAULT_DESCRIPTION_LIMIT = 36_000;

/** Returns the last line of a list that lacks some skills. */
function formatMore(count: number): string {
  return `\n(and ${count} more: pass a name to load one, or words that describe the task to search)`;
}

/**
 * Lists skills, one on each line, within a limit. All names come before descriptions,
 * and the user's own skills before a project's, which take at most half of the room
 * while the user's own need it. If the names do not fit, the last line says how to find
 * the other skills.
 */
export function fitList(
  skills: readonly ListedSkill[],
  limit: number = DEFAULT_DESCRIPTION_LIMIT,
): string {
  const room = limit - formatMore(skills.length).length;
  const { global: own = [], project = [] } = Object.groupBy(
    skills,
    ({ skill }) => skill.scope,
  );
  const share = shareOfProject(room, lengthOf(formatSkills(own)));
  const names = lengthOf(formatSkills(project, 0));
  const ours = fitLines(own, room - Math.min(share, names));
  const theirs = fitLines(project, Math.min(share, room - lengthOf(ours)));
  const lines = { global: ours.values(), project: theirs.values() };
  const missing = skills.length - ours.length - theirs.length;
  return skills.map(({ skill }) => lines[skill.scope].next().value).join("") +
    (missing > 0 ? formatMore(missing) : "");
}

/** Formats skills with descriptions of at most a length. */
export function formatSkills(
  skills: readonly ListedSkill[],
  limit = Infinity,
): string[] {
  return skills.map((listed) => formatSkill(listed, limit));
}

function lengthOf(lines: readonly string[]): number {
  return lines.join("").length;
}

/** The maximum lengths of descriptions to try. With none, only pinned skills have theirs. */
const LADDER = [Infinity, 200, 80, 0];

/**
 * Formats skills with the longest descriptions for which there is room, or else as
 * many names as fit. Pinned skills keep their descriptions as long as possible.
 */
function fitLines(skills: readonly ListedSkill[], room: number): string[] {
  const names = formatSkills(skills, 0);
  let rest = room;
  const fitting = names.filter((line) => (rest -= line.length) >= 0);
  if (rest < 0) return fitting;
  for (const limit of LADDER) {
    const lines = skills.map((listed) =>
      formatSkill(listed, listed.skill.state === "pinned" ? Infinity : limit)
    );
    if (lengthOf(lines) <= room) return lines;
  }
  return names;
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
  const whole = `${purpose}: ${names.join(", ")}.`;
  const isWhole = names.length === skills.length &&
    whole.length <= MAX_SUMMARY_LENGTH;
  if (isWhole) return whole;
  const more = names.length > 0 ? `, such as ${names.join(", ")}` : ".";
  return truncate(
    `${purpose}: ${skills.length} in total${more}`,
    MAX_SUMMARY_LENGTH,
  );
}
