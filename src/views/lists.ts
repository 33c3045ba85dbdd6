/**
 * Writes lists of skills: lines that fit into a limit, XML in the wording of a tool's
 * contract, and JSON. No skill can break out of a list.
 */

import { STATES } from "../policy/states.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { escapeXml, formatIndentedJson, truncate } from "../text.ts";
import { listEntries, type SkillEntry } from "./entries.ts";
import { findEmptyListReason } from "./instructions.ts";
import type { ListView, ToolOptions } from "./options.ts";
import { MAX_PART_SIZE, sizeInText, sizeOf } from "./results.ts";

/**
 * The limit for a list of skills or files, in characters. Codex truncated a list of
 * 41,000, and the names of 1,200 skills need 30,000.
 */
export const MAX_LIST_LENGTH = 36_000;

/** What separates a description from the name before it. */
const COLON = ": ";

/** The minimum length of a shortened description with its colon. A shorter one says nothing. */
const MIN_DESCRIPTION_LENGTH = 22;

export function formatLine({ name, description }: SkillEntry): string {
  return description === ""
    ? `\n- ${name}`
    : `\n- ${name}${COLON}${description}`;
}

/** Formats the first lines of a list, and says how to find the other skills. */
function formatLines(entries: readonly SkillEntry[], total: number): string {
  const lines = entries.map(formatLine).join("");
  const missing = total - entries.length;
  return missing > 0 ? lines + formatMore(missing) : lines;
}

function formatMore(missing: number): string {
  return `\n(and ${missing} more: pass a name to load one, or words that describe the task to search)`;
}

/** Lists skills within a limit, one on each line, with shortened descriptions if necessary. */
export function fitList(
  entries: readonly SkillEntry[],
  limit: number = MAX_LIST_LENGTH,
): string {
  const room = limit - formatMore(entries.length).length;
  const lengthOfName = ({ name }: SkillEntry) => `\n- ${name}`.length;
  const fitting = fitEntries(entries, room, lengthOfName);
  return formatLines(fitting, entries.length);
}

/** Lists as many skills with whole descriptions as fit into a limit, one on each line. */
export function takeList(
  entries: readonly SkillEntry[],
  limit: number,
): string {
  const room = limit - formatMore(entries.length).length;
  const lengthOf = (entry: SkillEntry) => formatLine(entry).length;
  return formatLines(takeFitting(entries, room, lengthOf), entries.length);
}

/**
 * Lists skills as JSON within {@linkcode MAX_PART_SIZE}. A note says how many are
 * missing, or why there are none.
 */
export function fitJsonList<Json extends object>(
  catalog: SkillCatalog,
  options: ToolOptions,
  toJson: (entry: SkillEntry) => Json,
): { items: Json[]; notes: string[] } {
  const entries = listEntries("model", catalog);
  const lengthOfName = (entry: SkillEntry) =>
    sizeInText(formatIndentedJson([toJson(withoutDescription(entry))]));
  let limit = MAX_PART_SIZE;
  let items: Json[];
  let excess: number;
  do {
    items = fitEntries(entries, limit, lengthOfName).map(toJson);
    excess = sizeOf(formatIndentedJson(items)) - MAX_PART_SIZE;
    // Descriptions are cut by characters, which take up to four bytes.
    limit -= excess / 4 + 1_000;
  } while (excess > 0);
  const missing = entries.length - items.length;
  const note = missing > 0
    ? formatMore(missing).trim()
    : findEmptyListReason(catalog, options);
  return { items, notes: note === undefined ? [] : [note] };
}

/**
 * Returns the entries in the first of these forms that fits into a list:
 *
 * 1. all as they are
 * 2. all names, global ones first, with shortened descriptions
 * 3. the global entries, as if they were alone, and then what fits of the project's
 * 4. the first names
 *
 * @param lengthOfName Returns the length of an entry in the list without its description.
 */
export function fitEntries(
  entries: readonly SkillEntry[],
  limit: number,
  lengthOfName: (entry: SkillEntry) => number,
): readonly SkillEntry[] {
  const room = limit - total(entries, lengthOfName);
  if (room >= total(entries, lengthOfDescription)) return entries;
  const [globalOnes, projectOnes] = partition(entries, isGlobal);
  if (room >= 0) {
    return shortenDescriptions([...globalOnes, ...projectOnes], room);
  }
  if (globalOnes.length === 0 || projectOnes.length === 0) {
    const names = entries.map(withoutDescription);
    return takeFitting(names, limit, lengthOfName);
  }
  const first = fitEntries(globalOnes, limit, lengthOfName);
  const rest = limit - total(first, lengthOfName) -
    total(first, lengthOfDescription);
  return [...first, ...fitEntries(projectOnes, rest, lengthOfName)];
}

/** Takes the first items whose lengths together are within a limit. */
export function takeFitting<T>(
  items: readonly T[],
  limit: number,
  lengthOf: (item: T) => number,
): readonly T[] {
  let size = 0;
  for (const [index, item] of items.entries()) {
    size += lengthOf(item);
    if (size > limit) return items.slice(0, index);
  }
  return items;
}

/**
 * Shortens descriptions until they fit. Pinned ones come first. Each scope has half of
 * the room that they leave, and the other one gets what it does not need.
 */
function shortenDescriptions(
  entries: readonly SkillEntry[],
  room: number,
): SkillEntry[] {
  const isPinned = ({ skill }: SkillEntry) => STATES[skill.state].isFirst;
  const [pinned, others] = partition(entries, isPinned);
  const [globalOnes, projectOnes] = partition(others, isGlobal);
  const first = shortenAlike(pinned, room);
  const rest = room - total(first, lengthOfDescription);
  const share = Math.max(
    rest / 2,
    rest - total(globalOnes, lengthOfDescription),
  );
  const last = shortenAlike(projectOnes, share);
  const restOfGlobal = rest - total(last, lengthOfDescription);
  const middle = shortenAlike(globalOnes, restOfGlobal);
  return [...first, ...middle, ...last];
}

/**
 * Cuts descriptions at the largest common length at which all fit. Shorter ones leave
 * their room to the others.
 */
function shortenAlike(
  entries: readonly SkillEntry[],
  room: number,
): SkillEntry[] {
  const lengths = entries.map(lengthOfDescription).sort((a, b) => a - b);
  let rest = room;
  for (const [index, length] of lengths.entries()) {
    const share = Math.floor(rest / (lengths.length - index));
    if (length > share) {
      return share < MIN_DESCRIPTION_LENGTH
        ? entries.map(withoutDescription)
        : entries.map((entry) => shorten(entry, share - COLON.length));
    }
    rest -= length;
  }
  return [...entries];
}

function shorten(entry: SkillEntry, length: number): SkillEntry {
  return { ...entry, description: truncate(entry.description, length) };
}

function withoutDescription(entry: SkillEntry): SkillEntry {
  return { ...entry, description: "" };
}

/** Returns the length of a description in a list, with its colon. */
function lengthOfDescription({ description }: SkillEntry): number {
  return description === "" ? 0 : COLON.length + description.length;
}

function isGlobal({ skill }: SkillEntry): boolean {
  return skill.scope === "global";
}

function partition<T>(
  items: readonly T[],
  isFirst: (item: T) => boolean,
): [T[], T[]] {
  return [items.filter(isFirst), items.filter((item) => !isFirst(item))];
}

function total(
  entries: readonly SkillEntry[],
  lengthOf: (entry: SkillEntry) => number,
): number {
  return entries.reduce((sum, entry) => sum + lengthOf(entry), 0);
}

/**
 * Formats a list as XML. As the contract requires, the names are plain. The locations
 * tell skills of the same name apart.
 */
export function formatAvailableSkills(
  { catalog, options }: ListView,
  locationOf: (skill: Skill) => string,
): string {
  const entries = listEntries("model", catalog);
  const elements = entries.map(({ skill, description }) => {
    const { name } = skill;
    const location = locationOf(skill);
    const lines = Object.entries({ name, description, location })
      .filter(([, text]) => text)
      .map(([key, text]) => `<${key}>${escapeXml(text)}</${key}>\n`);
    return `<skill>\n${lines.join("")}</skill>`;
  });
  const list = elements.join("\n") ||
    (findEmptyListReason(catalog, options) ?? "");
  return `<available_skills>\n${list}\n</available_skills>`;
}
