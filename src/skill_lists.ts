/**
 * Lists of skills as a model reads them: whole in the words of a contract, or
 * in as few characters as it takes.
 *
 * @module
 */

import { escapeXml, oneLine } from "./text.ts";
import type { Skill, SkillCatalog } from "./types.ts";

/** How many characters the line has that says what the skills are about. */
const MAX_ABOUT_LENGTH = 250;

/** The skills that a model may load by itself, in the order of lists. */
export function modelSkills({ skills }: SkillCatalog): Skill[] {
  return inListOrder([...skills.values()].filter(isForModel));
}

/** Whether a model may load a skill by itself. */
export function isForModel({ frontmatter, state }: Skill): boolean {
  return frontmatter["disable-model-invocation"] !== true && state !== "manual";
}

/** The skills that a user may load, in the order of lists. */
export function userSkills({ skills }: SkillCatalog): Skill[] {
  return inListOrder([...skills.values()].filter(isForUser));
}

/** Whether a user may load a skill. */
export function isForUser({ frontmatter }: Skill): boolean {
  return frontmatter["user-invocable"] !== false;
}

/** Puts pinned skills first and those listed by name only last. */
export function inListOrder(skills: Skill[]): Skill[] {
  return skills.sort((a, b) => listRank(a) - listRank(b));
}

/** Returns where a skill stands in lists: lower comes first. */
export function listRank({ state }: Skill): number {
  return state === "pinned" ? 0 : state === "name-only" ? 2 : 1;
}

/** Returns the key by which lists of a protocol sort a skill, or something of it, called by a text. */
export function listKey(skill: Skill, text: string): string {
  return `${listRank(skill)} ${text}`;
}

/** Lists skills as XML, so that none can break out of the list. */
export function availableSkills(
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const skills = modelSkills(catalog).map((skill) =>
    `<skill>
<name>${escapeXml(oneLine(skill.name))}</name>
<description>${escapeXml(skill.description.trim())}</description>
<location>${escapeXml(oneLine(locationOf(skill)))}</location>
</skill>`
  );
  return `<available_skills>\n${skills.join("\n")}\n</available_skills>`;
}

/** Returns how many characters the names and descriptions have together: a whole list has more. */
export function textLength(catalog: SkillCatalog): number {
  return modelSkills(catalog).reduce(
    (sum, { name, description }) =>
      sum + name.length + description.trim().length,
    0,
  );
}

/** Lists a skill in one line. */
export function skillLine({ name, description }: Skill): string {
  return `- ${oneLine(name)}: ${oneLine(description)}`;
}

/** How much room a list has, in characters. */
export interface ListRoom {
  /** The room in the tool's description. */
  readonly descriptionLimit: number;
  /** The room in the description of the tool's parameter. */
  readonly parameterLimit: number;
  /** The room in both together if that is enough for every name. */
  readonly namesLimit: number;
  /** What ends a text that is cut. */
  readonly ellipsis: string;
}

/** A list of skills, divided between the places where it arrives. */
export interface DividedList {
  /** The tool's description. */
  readonly description: string;
  /** What the description of the tool's parameter ends with. */
  readonly parameter: string;
}

/** What goes before the rest of a list in the description of a parameter. */
const PARAMETER_HEAD = ". More skills:";

/** What the description ends with if the list goes on in the parameter. */
const CONTINUED = "\n(more skills are listed with the parameter)";

/**
 * Lists skills after a usage text in the room that there is: every name, and of
 * the descriptions as much as fits, the same share for each. Pinned skills keep
 * their descriptions first, skills listed by name only get theirs last.
 * Where even the names have no room, the last line says how to find the others.
 */
export function divideList(
  usage: string,
  skills: readonly Skill[],
  listRoom: ListRoom,
): DividedList {
  const head = `${usage}\n\nSkills:`;
  const lines = skills.map(createLine);
  const overhead = head.length +
    (listRoom.parameterLimit > 0
      ? CONTINUED.length + PARAMETER_HEAD.length
      : 0);
  const list = withRoomForNames(listRoom, { lines, overhead });
  const { descriptionLimit, parameterLimit, ellipsis } = list;
  let room = descriptionLimit + parameterLimit - overhead;
  for (;;) {
    const fitted = fitLines(lines, { room, ellipsis });
    const divided = divideLines(head, fitted, list);
    // A line that has no room left in the description moves on as a whole.
    const excess = divided.parameter.length - parameterLimit;
    if (excess <= 0) return divided;
    room -= excess;
  }
}

/** Adds the room that the names lack, if it is enough for all of them. */
function withRoomForNames(
  list: ListRoom,
  { lines, overhead }: { lines: readonly Line[]; overhead: number },
): ListRoom {
  const { descriptionLimit, parameterLimit, namesLimit } = list;
  const names = lines.map(({ name }) => name);
  // At most the length of a name is lost where the list is divided.
  const lost = parameterLimit > 0
    ? names.reduce((most, { length }) => Math.max(most, length), 0)
    : 0;
  const needed = overhead + totalLength(names) + lost;
  const missing = needed - descriptionLimit - parameterLimit;
  if (missing <= 0 || needed > namesLimit) return list;
  return parameterLimit > 0
    ? { ...list, parameterLimit: parameterLimit + missing }
    : { ...list, descriptionLimit: descriptionLimit + missing };
}

/** Puts lines into the description while they fit, and the rest into the parameter. */
function divideLines(
  head: string,
  lines: readonly string[],
  { descriptionLimit, parameterLimit }: ListRoom,
): DividedList {
  const whole = head + lines.join("");
  if (whole.length <= descriptionLimit || parameterLimit === 0) {
    return { description: whole, parameter: "" };
  }
  let description = head;
  let count = 0;
  for (const line of lines) {
    const length = description.length + line.length + CONTINUED.length;
    if (length > descriptionLimit) break;
    description += line;
    count++;
  }
  return {
    description: description + CONTINUED,
    parameter: PARAMETER_HEAD + lines.slice(count).join(""),
  };
}

/** A list that has to fit. */
interface FittedList {
  readonly room: number;
  readonly ellipsis: string;
}

/** A skill as a line of a list, in its two parts. */
interface Line {
  readonly rank: number;
  readonly name: string;
  readonly description: string;
}

function createLine(skill: Skill): Line {
  return {
    rank: listRank(skill),
    name: `\n- ${escapeXml(oneLine(skill.name))}`,
    description: `: ${escapeXml(oneLine(skill.description))}`,
  };
}

/** Returns a list with as much of each description as there is room for. */
function fitLines(
  lines: readonly Line[],
  { room, ellipsis }: FittedList,
): string[] {
  let rest = room - totalLength(lines.map(({ name }) => name));
  if (rest < 0) return fitNames(lines, room);
  const texts: string[] = [];
  for (const wanted of [0, 1, 2]) {
    const group = lines.filter(({ rank }) => rank === wanted);
    const fitted = fitDescriptions(group, { room: rest, ellipsis });
    rest -= totalLength(fitted);
    group.forEach(({ name }, index) => texts.push(name + fitted[index]!));
  }
  return texts;
}

/** Cuts the descriptions of lines so that they share the room. */
function fitDescriptions(
  lines: readonly Line[],
  { room, ellipsis }: FittedList,
): string[] {
  const share = fairShare(lines.map(({ description }) => description), room);
  return lines.map(({ description }) =>
    share > `: ${ellipsis}`.length || description.length <= share
      ? shorten(description, { limit: share, ellipsis })
      : ""
  );
}

function totalLength(texts: readonly string[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0);
}

/** Returns how long each text may be so that together they fit the room. */
function fairShare(texts: readonly string[], room: number): number {
  const lengths = texts.map(({ length }) => length).sort((a, b) => a - b);
  let rest = room;
  for (const [index, length] of lengths.entries()) {
    const share = Math.floor(rest / (lengths.length - index));
    if (length > share) return share;
    rest -= length;
  }
  return Infinity;
}

/** Cuts a text to a number of characters, at the end of a word where it can. */
function shorten(
  text: string,
  { limit, ellipsis }: { limit: number; ellipsis: string },
): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - ellipsis.length).toWellFormed()
    .replace(/&[a-z]*$/, "");
  const word = cut.lastIndexOf(" ");
  return (word > limit / 2 ? cut.slice(0, word) : cut) + ellipsis;
}

/** Lists as many names as there is room for, and says how to find the others. */
function fitNames(lines: readonly Line[], room: number): string[] {
  const lastLine = (count: number) =>
    `\n(and ${count} more: ask for one by its name, or for words of the task to search)`;
  const names: string[] = [];
  let rest = room - lastLine(lines.length).length;
  for (const { name } of lines) {
    if (name.length > rest) break;
    rest -= name.length;
    names.push(name);
  }
  return [...names, lastLine(lines.length - names.length)];
}

/**
 * Says in one line of at most 250 characters what the skills are about. Some
 * clients show the model no more before it searches for tools.
 *
 * @param catalog The skills.
 * @param purpose What comes before the names, without a period.
 */
export function aboutSkills(catalog: SkillCatalog, purpose: string): string {
  const names = tellingNames(modelSkills(catalog));
  if (names.length === 0) return `${purpose}. There are none yet.`;
  const more = (count: number) => count > 0 ? ` and ${count} more` : "";
  const line = (count: number) =>
    `${purpose}: ${names.slice(0, count).join(", ")}${
      more(names.length - count)
    }.`;
  let count = 1;
  while (count < names.length && line(count + 1).length <= MAX_ABOUT_LENGTH) {
    count++;
  }
  return line(count).length <= MAX_ABOUT_LENGTH
    ? line(count)
    : `${purpose}: ${names.length} of them.`;
}

/**
 * Orders names so that the first few say most: pinned skills first, then one
 * name of each family (names that share their first word), large families
 * before small ones, and so on until all are in.
 */
function tellingNames(skills: readonly Skill[]): string[] {
  const pinned = skills.filter(({ state }) => state === "pinned");
  const others = skills.filter(({ state }) => state !== "pinned");
  const families = Map.groupBy(
    others.map(({ name }) => oneLine(name)),
    (name) => /^[\p{L}\p{N}]*/u.exec(name)![0].toLowerCase(),
  );
  const ordered = [...families.values()].sort((a, b) => b.length - a.length);
  const ranked = ordered.flatMap((family) =>
    family.sort((a, b) => a.length - b.length).map((name, rank) => ({
      name,
      rank,
    }))
  );
  ranked.sort((a, b) => a.rank - b.rank);
  return [
    ...pinned.map(({ name }) => oneLine(name)),
    ...ranked.map(({ name }) => name),
  ];
}
