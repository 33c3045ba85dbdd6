/**
 * The lists of skills, their order, and their forms: lines that fit into a limit, XML in
 * the wording of a tool's contract, and a summary in one line. In every list, the
 * user's own skills precede the project's, so that a cloned repository pushes none of
 * them out. A list prints no name that does not load its skill.
 */

import { isForModel, STATES } from "../policy/states.ts";
import { findPolicyDiagnostic } from "../skills/catalog.ts";
import { MAX_DESCRIPTION_LENGTH } from "../skills/limits.ts";
import { qualifiedName } from "../skills/names.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { escapeXml, oneLine, truncate } from "../text.ts";
import { deriveOnce } from "./derive_once.ts";

export function isForUser({ isHiddenFromUser }: Skill): boolean {
  return !isHiddenFromUser;
}

/** The last rank of the user's own skills in lists. The project's follow. */
const LAST_RANK_OF_USER = Math.max(
  ...Object.values(STATES).map(({ rank }) => rank),
);

/**
 * Returns the rank of a skill in lists: the user's own first, by their states. A
 * project's skill precedes them only if it is pinned by a rule for projects.
 */
function rankOf({ state, scope, policyRule }: Skill): number {
  const { rank } = STATES[state];
  if (scope !== "project") return rank;
  const isPreferred = state === "pinned" && policyRule?.scope === "project";
  return isPreferred ? 0 : LAST_RANK_OF_USER + rank;
}

/** Whether a skill is listed among the project's, after the user's own. */
export function isAmongProjects(skill: Skill): boolean {
  return rankOf(skill) > LAST_RANK_OF_USER;
}

/**
 * Returns the sort key of an item in a paged list: the rank of its skill, then what
 * identifies the item there, such as the name of a prompt. It is shorter than a URI,
 * because cursors contain it.
 */
export function sortKeyOf(skill: Skill, id: string): string {
  return `${rankOf(skill)} ${id}`;
}

export interface ListedSkill {
  readonly skill: Skill;
  /** A name that loads it, on one line. */
  readonly name: string;
  /** The beginning of its description, on one line. */
  readonly description: string;
}

/** Returns as much of a skill's description as the specification allows. */
export function listedDescription(
  { description }: Pick<Skill, "description">,
): string {
  // A character has one or two code units.
  if (description.length <= MAX_DESCRIPTION_LENGTH) return description;
  const start = description.slice(0, 2 * MAX_DESCRIPTION_LENGTH + 1);
  const characters = Array.from(start);
  if (characters.length <= MAX_DESCRIPTION_LENGTH) return description;
  const end = "...";
  const kept = characters.slice(0, MAX_DESCRIPTION_LENGTH - end.length);
  return kept.join("") + end;
}

/** Describes a skill for lists. An unchanged one stays the same object. */
const toListed = deriveOnce((skill: Skill): ListedSkill => ({
  skill,
  name: qualifiedName(skill),
  description: oneLine(listedDescription(skill)),
}));

/** Lists skills by the names that load them. Of equal rank, they stay in their order. */
export function listByName(skills: Iterable<Skill>): ListedSkill[] {
  return [...skills].sort((a, b) => rankOf(a) - rankOf(b)).map(toListed);
}

/**
 * Lists the skills that the tools list for the model. The name of a project's skill
 * that shadows one of the user's says so.
 */
export const listForModel = deriveOnce((catalog: SkillCatalog) => {
  const shadowing = new Set(
    catalog.shadowed.filter(({ skill }) => skill.scope === "global")
      .map(({ by }) => by),
  );
  const skills = catalog.skills.values().filter(isForModel);
  return listByName(skills).map((listed) => {
    const { skill, name } = listed;
    const { isDescribed } = STATES[skill.state];
    const isMarked = skill.scope === "project" && shadowing.has(skill);
    if (isDescribed && !isMarked) return listed;
    return {
      skill,
      name: isMarked ? `${skill.scope}:${name}` : name,
      description: isDescribed ? listed.description : "",
    };
  });
});

/** Returns why there are no skills at all if the policy is the reason, in one line. */
export function findNoSkillsReason(catalog: SkillCatalog): string | undefined {
  return catalog.served.size === 0 && findPolicyDiagnostic(catalog)
    ? "No skills are served, because the policy is not valid. The server's log says how to fix it."
    : undefined;
}

/** Returns what to tell the user if there are no skills for the model, in one line. */
export function findEmptyListReason(catalog: SkillCatalog): string | undefined {
  if (listForModel(catalog).length > 0) return undefined;
  return findNoSkillsReason(catalog) ??
    "There are no skills. Tell the user to put skills, which are folders with a file SKILL.md, into the folders of this server, or to choose the folder that holds them in its settings.";
}

/**
 * Formats skills for the model as XML. All texts are escaped, so no skill can break out of
 * the list.
 */
export function formatAvailableSkills(
  skills: readonly ListedSkill[],
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const elements = skills.map(({ skill, description }) => {
    // The location tells which of the user's and the project's it is.
    const { name } = skill;
    const location = locationOf(skill);
    const lines = Object.entries({ name, description, location })
      .filter(([, text]) => text)
      .map(([key, text]) => `<${key}>${escapeXml(text)}</${key}>\n`);
    return `<skill>\n${lines.join("")}</skill>`;
  });
  const list = elements.join("\n") || (findEmptyListReason(catalog) ?? "");
  return `<available_skills>\n${list}\n</available_skills>`;
}

/** Formats a skill as a line of a list, which no skill can break out of. */
export function formatSkill({ name, description }: ListedSkill): string {
  return description === "" ? `\n- ${name}` : `\n- ${name}: ${description}`;
}

/**
 * The default limit for a list of skills, in characters. Codex truncated a list of
 * 41,000, and the names of 1,200 skills need 30,000.
 */
export const DEFAULT_DESCRIPTION_LIMIT = 36_000;

export function formatMore(missing: number): string {
  return `\n(and ${missing} more: pass a name to load one, or words that describe the task to search)`;
}

/**
 * Lists skills, one on each line, within a limit. If the names do not fit, the last line
 * says how to find the other skills.
 */
export function fitList(
  skills: readonly ListedSkill[],
  limit: number = DEFAULT_DESCRIPTION_LIMIT,
): string {
  const fitting = fitSkills(skills, {
    limit: limit - formatMore(skills.length).length,
    lengthOf: (listed) => formatSkill(listed).length,
  });
  const missing = skills.length - fitting.length;
  const list = fitting.map(formatSkill).join("");
  return missing > 0 ? list + formatMore(missing) : list;
}

interface ListSize {
  /** The maximum total length. */
  readonly limit: number;
  readonly lengthOf: (listed: ListedSkill) => number;
}

/**
 * Returns the skills that fit into a list, with descriptions that fill it. While the user's
 * own skills need more, the project's get at most a quarter, and never more than they need.
 */
export function fitSkills(
  skills: readonly ListedSkill[],
  { limit, lengthOf }: ListSize,
): ListedSkill[] {
  const needOf = (list: readonly ListedSkill[]) =>
    list.reduce((sum, listed) => sum + lengthOf(listed), 0);
  const users = skills.filter(({ skill }) => !isAmongProjects(skill));
  const projects = skills.filter(({ skill }) => isAmongProjects(skill));
  const reserved = Math.min(limit / 4, needOf(projects));
  // The room that the user's skills leave once they are shortened stays free. If the
  // project's got it, a lower limit could make their descriptions longer.
  const rest = Math.max(reserved, limit - needOf(users));
  return [
    ...fitSection(users, { limit: limit - reserved, lengthOf }),
    ...fitSection(projects, { limit: rest, lengthOf }),
  ];
}

/**
 * Returns the skills that fit into a section of a list: the names first, then the
 * descriptions of pinned skills, then those of the others.
 */
function fitSection(
  skills: readonly ListedSkill[],
  list: ListSize,
): readonly ListedSkill[] {
  const shortenAll = (pinnedLength: number, otherLength: number) =>
    skills.map((listed) => {
      const isPinned = listed.skill.state === "pinned";
      return shorten(listed, isPinned ? pinnedLength : otherLength);
    });
  const names = takeFitting(shortenAll(0, 0), list);
  if (names.length < skills.length) return names;
  const fits = (pinnedLength: number, otherLength: number) => {
    const shortened = shortenAll(pinnedLength, otherLength);
    return takeFitting(shortened, list).length === skills.length;
  };
  const pinnedLength = longestThatFits((length) => fits(length, 0));
  const otherLength = pinnedLength === Infinity
    ? longestThatFits((length) => fits(pinnedLength, length))
    : 0;
  return shortenAll(pinnedLength, otherLength);
}

function takeFitting(
  skills: readonly ListedSkill[],
  { limit, lengthOf }: ListSize,
): readonly ListedSkill[] {
  let rest = limit;
  const end = skills.findIndex((listed) => {
    rest -= lengthOf(listed);
    return rest < 0;
  });
  return end < 0 ? skills : skills.slice(0, end);
}

/** The minimum length of a shortened description, in characters. A shorter one says nothing. */
const MIN_DESCRIPTION_LENGTH = 20;

/** Returns the largest common length of descriptions that fits. If it is infinite, they are whole. */
function longestThatFits(fits: (length: number) => boolean): number {
  if (fits(Infinity)) return Infinity;
  // A character has one or two code units.
  let [longest, tooLong] = [0, 2 * MAX_DESCRIPTION_LENGTH];
  while (longest + 1 < tooLong) {
    const length = Math.floor((longest + tooLong) / 2);
    if (fits(length)) longest = length;
    else tooLong = length;
  }
  return longest < MIN_DESCRIPTION_LENGTH ? 0 : longest;
}

function shorten(listed: ListedSkill, limit: number): ListedSkill {
  if (listed.description.length <= limit) return listed;
  return { ...listed, description: truncate(listed.description, limit) };
}

/** The maximum length of the line that summarizes the skills: what Codex shows, in characters. */
export const MAX_SUMMARY_LENGTH = 250;

/** The names that are plain enough for the server's own sentences. */
export const PLAIN_NAME = /^[a-z0-9-]{1,64}$/;

/**
 * Summarizes the skills in one line of limited length, after a text without a period.
 * Some clients show the model nothing else until it searches for tools.
 */
export function summarizeSkills(
  catalog: SkillCatalog,
  purpose: string,
): string {
  const skills = listForModel(catalog);
  if (skills.length === 0) {
    return findNoSkillsReason(catalog) ?? `${purpose}. There are none yet.`;
  }
  const names = skills.filter(({ skill }) => skill.scope === "global")
    .map(({ name }) => name).filter((name) => PLAIN_NAME.test(name));
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
