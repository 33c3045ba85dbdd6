/**
 * Writes lists of skills: lines that fit into a limit, XML in the wording of a tool's
 * contract, JSON, and a summary in one line. No skill can break out of a list.
 */

import { findPolicyDiagnostic } from "../skills/catalog.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { escapeXml, formatIndentedJson, truncate } from "../text.ts";
import { globalFirst, listEntries, type SkillEntry } from "./entries.ts";

/**
 * The default limit for a list of skills, in characters. Codex truncated a list of
 * 41,000, and the names of 1,200 skills need 30,000.
 */
export const DEFAULT_DESCRIPTION_LIMIT = 36_000;

/** The minimum length of a shortened description with its colon. A shorter one says nothing. */
const MIN_DESCRIPTION_LENGTH = 22;

/** Formats an entry as a line of a list. */
export function formatLine({ name, description }: SkillEntry): string {
  return description === "" ? `\n- ${name}` : `\n- ${name}: ${description}`;
}

export function formatMore(missing: number): string {
  return `\n(and ${missing} more: pass a name to load one, or words that describe the task to search)`;
}

/**
 * Lists skills, one on each line, within a limit. If the names do not fit, the last
 * line says how to find the other skills.
 */
export function fitList(
  entries: readonly SkillEntry[],
  limit: number = DEFAULT_DESCRIPTION_LIMIT,
): string {
  const room = limit - formatMore(entries.length).length;
  const fitting = fitEntries(entries, room, (it) => formatLine(it).length);
  const missing = entries.length - fitting.length;
  const list = fitting.map(formatLine).join("");
  return missing > 0 ? list + formatMore(missing) : list;
}

/** The limit for a list of skills as JSON, in characters. A result can contain it twice. */
const MAX_JSON_LENGTH = 400_000;

/** Creates a list of skills as JSON, and a note that says what is missing and why. */
export function fitJsonList<Json extends object>(
  catalog: SkillCatalog,
  toJson: (entry: SkillEntry) => Json,
): { items: Json[]; notes: string[] } {
  const entries = listEntries("model", catalog);
  const lengthOf = ({ description, ...rest }: SkillEntry) =>
    formatIndentedJson([toJson({ ...rest, description: "" })]).length +
    description.length;
  const items = fitEntries(entries, MAX_JSON_LENGTH, lengthOf).map(toJson);
  const missing = entries.length - items.length;
  const note = missing > 0
    ? formatMore(missing).trim()
    : findEmptyListReason(catalog);
  return { items, notes: note === undefined ? [] : [note] };
}

/**
 * Returns the entries that fit into a list: all of them as they are, or else the names
 * that fit, and descriptions in the room that they leave, those of pinned skills first,
 * then those of global ones, then those of the project's.
 *
 * @param lengthOf Returns the length that an entry takes in the list.
 */
export function fitEntries(
  entries: readonly SkillEntry[],
  limit: number,
  lengthOf: (entry: SkillEntry) => number,
): readonly SkillEntry[] {
  if (sum(entries.map(lengthOf)) <= limit) return entries;
  const ordered = globalFirst(entries);
  const names = ordered.map((entry) => ({ ...entry, description: "" }));
  let room = limit;
  const end = names.findIndex((name) => (room -= lengthOf(name)) < 0);
  if (end >= 0 && hasBothScopes(entries)) {
    // Names of a clone do not take the room of the user's descriptions.
    const own = entries.filter(isGlobal);
    const fitting = fitEntries(own, limit, lengthOf);
    const rest = limit - sum(fitting.map(lengthOf));
    const others = entries.filter((entry) => !isGlobal(entry));
    return [...fitting, ...fitEntries(others, rest, lengthOf)];
  }
  if (end >= 0) return names.slice(0, end);
  const fitting: SkillEntry[] = [];
  const groups = Map.groupBy(ordered, groupOf);
  for (const group of [...groups.keys()].sort()) {
    const members = groups.get(group)!;
    const needs = members.map((entry) =>
      lengthOf(entry) - lengthOf({ ...entry, description: "" })
    );
    const common = commonLength(needs, room);
    const shortened = members.map((entry, index) =>
      shorten(entry, needs[index]! - common)
    );
    room -= sum(needs.map((need) => Math.min(need, common)));
    fitting.push(...shortened);
  }
  return fitting;
}

function isGlobal({ skill }: SkillEntry): boolean {
  return skill.scope === "global";
}

function hasBothScopes(entries: readonly SkillEntry[]): boolean {
  return entries.some(isGlobal) && !entries.every(isGlobal);
}

/** Returns which descriptions an entry's is cut with: the higher the number, the sooner. */
function groupOf({ skill }: SkillEntry): number {
  if (skill.state === "pinned") return 0;
  return skill.scope === "global" ? 1 : 2;
}

/** Returns an entry with a description that is shorter by some characters. */
function shorten(entry: SkillEntry, excess: number): SkillEntry {
  const { description } = entry;
  return excess <= 0 ? entry : {
    ...entry,
    description: truncate(description, description.length - excess),
  };
}

/**
 * Returns the largest length that all can have in a room. What is shorter leaves its
 * room to the others.
 */
function commonLength(lengths: readonly number[], room: number): number {
  const sorted = lengths.toSorted((a, b) => a - b);
  let rest = room;
  for (const [index, length] of sorted.entries()) {
    const share = Math.floor(rest / (sorted.length - index));
    if (length > share) return share < MIN_DESCRIPTION_LENGTH ? 0 : share;
    rest -= length;
  }
  return Infinity;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

/** Returns why there are no skills at all if the policy is the reason, in one line. */
export function findNoSkillsReason(catalog: SkillCatalog): string | undefined {
  return catalog.served.size === 0 && findPolicyDiagnostic(catalog)
    ? "No skills are served, because the policy is not valid. The server's log says how to fix it."
    : undefined;
}

/** Returns what to tell the user if there are no skills for the model, in one line. */
export function findEmptyListReason(catalog: SkillCatalog): string | undefined {
  if (listEntries("model", catalog).length > 0) return undefined;
  return findNoSkillsReason(catalog) ??
    "There are no skills. Tell the user to put skills, which are folders with a file SKILL.md, into the folders of this server, or to choose the folder that holds them in its settings.";
}

/** Formats entries as XML. The location tells which are the user's and which the project's. */
export function formatAvailableSkills(
  entries: readonly SkillEntry[],
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const elements = entries.map(({ skill, description }) => {
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

/** The maximum length of the line that summarizes the skills: what Codex shows, in characters. */
const MAX_SUMMARY_LENGTH = 250;

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
  const entries = listEntries("model", catalog);
  if (entries.length === 0) {
    return findNoSkillsReason(catalog) ?? `${purpose}. There are none yet.`;
  }
  const names = entries.filter(({ skill }) => skill.scope === "global")
    .map(({ name }) => name).filter((name) => PLAIN_NAME.test(name));
  const whole = `${purpose}: ${names.join(", ")}.`;
  const isWhole = names.length === entries.length &&
    whole.length <= MAX_SUMMARY_LENGTH;
  if (isWhole) return whole;
  const more = names.length > 0 ? `, such as ${names.join(", ")}` : ".";
  return truncate(
    `${purpose}: ${entries.length} in total${more}`,
    MAX_SUMMARY_LENGTH,
  );
}
