/**
 * Finding skills by the words of a request.
 *
 * @module
 */

import { skillKey } from "./text.ts";
import type { Skill } from "./types.ts";

/** How many skills, or files, it lists where there are more. */
export const NEAREST_SKILLS = 20;

/** How many words of a name that is not found are looked for. */
const MAX_SEARCH_WORDS = 20;

/**
 * Returns the skills whose names and descriptions share most with a text, the
 * nearest first.
 */
export function nearestSkills(
  text: string,
  skills: readonly Skill[],
): Skill[] {
  const wanted = [...wordsOf(text)].slice(0, MAX_SEARCH_WORDS);
  const score = (skill: Skill) => {
    const { name, description } = wordsOfSkill(skill);
    let sum = 0;
    for (const word of wanted) {
      if (name.has(word)) sum += 4;
      else if ([...name].some((other) => isLike(word, other))) sum += 2;
      if (description.has(word)) sum += 1;
    }
    return sum;
  };
  return skills
    .map((skill) => ({ skill, score: score(skill) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, NEAREST_SKILLS)
    .map(({ skill }) => skill);
}

/** Returns the words of a skill, which are taken apart once for each skill. */
function wordsOfSkill(skill: Skill): SkillWords {
  let words = skillWords.get(skill);
  if (words === undefined) {
    const { name, description } = skill;
    words = { name: wordsOf(name), description: wordsOf(description) };
    skillWords.set(skill, words);
  }
  return words;
}

/** The words of a skill's name and description. */
type SkillWords = Record<"name" | "description", ReadonlySet<string>>;

const skillWords = new WeakMap<Skill, SkillWords>();

/** Whether one word begins with the other. */
function isLike(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

function wordsOf(text: string): Set<string> {
  return new Set(skillKey(text).match(/[\p{L}\p{N}]+/gu) ?? []);
}
