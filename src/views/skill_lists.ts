/**
 * Lists of skills for the model: complete, in the wording of a tool's contract,
 * or shortened to fit a limit.
 *
 * @module
 */

import type { ClientProfile } from "./client_profiles.ts";
import { deriveOnce } from "./list_views.ts";
import { escapeXml, oneLine } from "../text.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { skillFileUri } from "../skills/uri.ts";

/** The maximum length of the line that summarizes the skills, in characters. */
const MAX_SUMMARY_LENGTH = 250;

/** Lists the skills that the model can load, in list order. */
export function listModelSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForModel).toSorted(byListRank);
}

/**
 * Lists the skills that the tools list for the model, in list order. Those listed
 * by name only have an empty description, whether or not there is room for it.
 */
export function listToolSkills(catalog: SkillCatalog): Skill[] {
  return listModelSkills(catalog).map((skill) =>
    skill.state === "name-only" ? { ...skill, description: "" } : skill
  );
}

/** Whether the model can load a skill. */
export function isForModel({ isHiddenFromModel, state }: Skill): boolean {
  return !isHiddenFromModel && state !== "manual";
}

/** Lists the skills that the user can load, in list order. */
export function listUserSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForUser).toSorted(byListRank);
}

/** Whether the user can load a skill. */
export function isForUser({ isHiddenFromUser }: Skill): boolean {
  return !isHiddenFromUser;
}

export function byListRank(a: Skill, b: Skill): number {
  return listRank(a) - listRank(b);
}

/** Returns the rank of a skill in lists: pinned ones first, those listed by name only last. */
function listRank({ state }: Skill): number {
  return state === "pinned" ? 0 : state === "name-only" ? 2 : 1;
}

/** Returns the sort key of an item in a paged list: the rank of its skill, then a text. */
export function listKey(skill: Skill, text: string): string {
  return `${listRank(skill)} ${text}`;
}

/**
 * Formats the skills for the model as XML. All texts are escaped, so no skill
 * can break out of the list.
 */
export function formatAvailableSkills(
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const skills = listToolSkills(catalog).map((skill) => {
    const description = escapeXml(skill.description.trim());
    const lines = [
      `<name>${escapeXml(oneLine(skill.name))}</name>`,
      ...(description ? [`<description>${description}</description>`] : []),
      `<location>${escapeXml(oneLine(locationOf(skill)))}</location>`,
    ];
    return `<skill>\n${lines.join("\n")}\n</skill>`;
  });
  return `<available_skills>\n${skills.join("\n")}\n</available_skills>`;
}

/**
 * Formats the text of a `SKILL.md` for the model. It begins with the skill's
 * directory, because the instructions may refer to files in it.
 */
export function formatLoadedSkill(
  skill: Skill,
  text: string,
  options: DirectoryOptions,
): string {
  const directory = directoryOf(skill, options);
  return `Loading: ${skill.name}\nBase directory: ${directory}\n\n${text}`;
}

export interface DirectoryOptions {
  /**
   * Whether clients are on other machines, where the paths of this machine mean
   * nothing. Default: `false`.
   */
  readonly isRemote?: boolean;
}

/** Returns how the model refers to the directory of a skill: by its path or its URI. */
export function directoryOf(
  skill: Skill,
  { isRemote }: DirectoryOptions,
): string {
  return isRemote ? skillFileUri(skill, "") : skill.directory;
}

export function formatSkillLine(skill: Skill): string {
  const description = oneLine(skill.description);
  return `- ${oneLine(skill.name)}${description && `: ${description}`}`;
}

/** A list of skills, divided between a tool's description and its parameter's. */
export interface DividedList {
  /** The tool's description. */
  readonly description: string;
  /** The text to append to the description of the tool's parameter. */
  readonly parameter: string;
}

/** The text before the rest of a list in the description of a parameter. */
const PARAMETER_HEAD = ". More skills:";

/** The end of a tool's description whose list continues in the parameter. */
const CONTINUED = "\n(the description of the parameter lists more skills)";

/**
 * Lists skills after a usage text, within the limits of a client. Every name is
 * listed, and the descriptions share the remaining room equally. Pinned skills get
 * their descriptions first, and skills listed by name only get theirs last. If the
 * names do not fit either, the last line says how to find the other skills.
 */
export function divideList(
  usage: string,
  skills: readonly Skill[],
  profile: ClientProfile,
): DividedList {
  const head = `${usage}\n\nSkills:`;
  const lines = skills.map(createLine);
  const overhead = head.length +
    (profile.parameterLimit > 0 ? CONTINUED.length + PARAMETER_HEAD.length : 0);
  const limits = extendForNames(profile, { lines, overhead });
  const { descriptionLimit, parameterLimit, ellipsis } = limits;
  let room = descriptionLimit + parameterLimit - overhead;
  for (;;) {
    const fitted = fitLines(lines, { room, ellipsis });
    const divided = divideLines(head, fitted, limits);
    // A line that does not fit into the description moves to the parameter whole.
    const excess = divided.parameter.length - parameterLimit;
    if (excess <= 0) return divided;
    room -= excess;
  }
}

/** Extends the limits so that all names fit, if the limit for names allows it. */
function extendForNames(
  profile: ClientProfile,
  { lines, overhead }: { lines: readonly Line[]; overhead: number },
): ClientProfile {
  const { descriptionLimit, parameterLimit, namesLimit } = profile;
  const lengths = lines.map(({ name }) => name.length);
  // Dividing the list wastes at most the length of one name.
  const lost = parameterLimit > 0
    ? lengths.reduce((most, length) => Math.max(most, length), 0)
    : 0;
  const needed = lengths.reduce((sum, length) => sum + length, overhead + lost);
  const missing = needed - descriptionLimit - parameterLimit;
  if (missing <= 0 || needed > namesLimit) return profile;
  const last = parameterLimit > 0 ? "parameterLimit" : "descriptionLimit";
  return { ...profile, [last]: profile[last] + missing };
}

/** Puts as many lines as fit into the description and the rest into the parameter. */
function divideLines(
  head: string,
  lines: readonly string[],
  { descriptionLimit, parameterLimit }: ClientProfile,
): DividedList {
  const whole = head + lines.join("");
  if (whole.length <= descriptionLimit || parameterLimit === 0) {
    return { description: whole, parameter: "" };
  }
  const room = descriptionLimit - head.length - CONTINUED.length;
  const count = countFitting(lines, room);
  return {
    description: head + lines.slice(0, count).join("") + CONTINUED,
    parameter: PARAMETER_HEAD + lines.slice(count).join(""),
  };
}

/** Returns how many texts fit into some room, one after another. */
function countFitting(texts: readonly string[], room: number): number {
  let length = 0;
  const index = texts.findIndex((text) => (length += text.length) > room);
  return index < 0 ? texts.length : index;
}

/** The two parts of a skill's line in a list, which all clients share. */
const createLine = deriveOnce((skill: Skill) => {
  const description = escapeXml(oneLine(skill.description));
  return {
    rank: listRank(skill),
    name: `\n- ${escapeXml(oneLine(skill.name))}`,
    description: description && `: ${description}`,
  };
});

type Line = ReturnType<typeof createLine>;

/** Truncates the descriptions of lines to fit. Those of the same rank share the room equally. */
function fitLines(
  lines: readonly Line[],
  { room, ellipsis }: { room: number; ellipsis: string },
): string[] {
  let rest = lines.reduce((rest, { name }) => rest - name.length, room);
  if (rest < 0) return fitNames(lines, room);
  const texts: string[] = [];
  for (const group of Map.groupBy(lines, ({ rank }) => rank).values()) {
    const limit = fairShare(group, rest);
    for (const { name, description } of group) {
      const text = truncate(description, { limit, ellipsis });
      rest -= text.length;
      texts.push(name + text);
    }
  }
  return texts;
}

/** Returns the maximum length of each description with which all of them fit. */
function fairShare(lines: readonly Line[], room: number): number {
  const lengths = lines.map(({ description }) => description.length)
    .sort((a, b) => a - b);
  let rest = room;
  for (const [index, length] of lengths.entries()) {
    const share = Math.floor(rest / (lengths.length - index));
    if (length > share) return share;
    rest -= length;
  }
  return Infinity;
}

/** Truncates a description to a number of characters, after a whole word if possible. */
function truncate(
  text: string,
  { limit, ellipsis }: { limit: number; ellipsis: string },
): string {
  if (text.length <= limit) return text;
  if (limit <= `: ${ellipsis}`.length) return "";
  const cut = text.slice(0, limit - ellipsis.length).toWellFormed()
    .replace(/&[a-z]*$/, "");
  const word = cut.lastIndexOf(" ");
  return (word > limit / 2 ? cut.slice(0, word) : cut) + ellipsis;
}

/** Lists as many names as fit, and says how to find the other skills. */
function fitNames(lines: readonly Line[], room: number): string[] {
  const lastLine = (count: number) =>
    `\n(and ${count} more: pass a name to load one, or words that describe the task to search)`;
  const names = lines.map(({ name }) => name);
  const count = countFitting(names, room - lastLine(names.length).length);
  return [...names.slice(0, count), lastLine(names.length - count)];
}

/**
 * Summarizes the skills in one line of at most 250 characters, after a text
 * without a period. Some clients show the model nothing else until it searches
 * for tools.
 */
export function summarizeSkills(
  catalog: SkillCatalog,
  purpose: string,
): string {
  const skills = listModelSkills(catalog);
  if (skills.length === 0) return `${purpose}. There are none yet.`;
  let summary = `${purpose}: ${skills.length} in total.`;
  const names: string[] = [];
  for (const name of orderForSummary(skills)) {
    names.push(name);
    const rest = skills.length - names.length;
    const more = rest > 0 ? ` and ${rest} more` : "";
    const line = `${purpose}: ${names.join(", ")}${more}.`;
    if (line.length > MAX_SUMMARY_LENGTH) break;
    summary = line;
  }
  return summary;
}

/**
 * Orders the names of skills so that the first few represent all of them:
 * pinned skills first, then one name of each family (names with the same first
 * word), starting with the largest family, then a second name of each, and so on.
 */
function* orderForSummary(skills: readonly Skill[]): Generator<string> {
  const { pinned = [], others = [] } = Object.groupBy(
    skills,
    ({ state }) => state === "pinned" ? "pinned" : "others",
  );
  yield* pinned.map(({ name }) => oneLine(name));
  const families = [
    ...Map.groupBy(
      others.map(({ name }) => oneLine(name)),
      (name) => /^[\p{L}\p{N}]*/u.exec(name)![0].toLowerCase(),
    ).values(),
  ].sort((a, b) => b.length - a.length);
  for (const family of families) family.sort((a, b) => a.length - b.length);
  const largest = families[0]?.length ?? 0;
  for (let rank = 0; rank < largest; rank++) {
    yield* families.flatMap((family) => family[rank] ?? []);
  }
}
