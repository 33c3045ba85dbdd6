/**
 * Full-text search for skills, ranked with BM25F over the name, the description, and
 * the beginning of the instructions.
 *
 * @see {@link https://en.wikipedia.org/wiki/Okapi_BM25}
 *
 * @module
 */

import { editDistance, normalizeText } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import type { Skill } from "./types.ts";

/** How much of a query, and of a skill's name or description, is used, in characters. */
const MAX_QUERY_LENGTH = 400;
const MAX_TEXT_LENGTH = 4_000;

/** How much a word counts in the name, the description, and the excerpt. */
const WEIGHTS = [2, 1, 0.3];

/** How many words these usually have. In longer ones, a word counts less. */
const USUAL_LENGTHS = [3, 35, 90];

/** The weight of a word that a query contains only incomplete or misspelled. */
const SIMILAR_WEIGHT = 0.5;

/** Words that are ignored. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can could do does for from get help how i in into is it make me my need of on or our please should some that the this to use using want we what when which with would you"
    .split(" "),
);

/** Pairs of characters that are not separated, and words of all other scripts. */
const WORDS =
  /(?=([\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]{2})).|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+/gv;

/** An index of skills. */
export class SkillIndex {
  readonly #skills: Skill[] = [];
  /** Where each word occurs: the numbers of the skills, and how much it counts there in ten bits. */
  readonly #places = new Map<string, number[]>();

  /** Indexes skills. Other tasks run in the meantime. */
  static async create(skills: Iterable<Skill>): Promise<SkillIndex> {
    const index = new SkillIndex();
    const slice = new TimeSlice();
    for (const skill of skills) {
      if (slice.isOver) await slice.pause();
      index.#add(skill);
    }
    return index;
  }

  #add(skill: Skill): void {
    const texts = [skill.description, skill.excerpt];
    const fields = [wordsOfName(skill.name), ...texts.map(splitWords)];
    const counts = new Map<string, number>();
    for (const [field, words] of fields.entries()) {
      const length = words.length / USUAL_LENGTHS[field]!;
      const weight = WEIGHTS[field]! / (0.25 + 0.75 * length);
      for (const word of words) {
        counts.set(word, (counts.get(word) ?? 0) + weight);
      }
    }
    const number = this.#skills.push(skill) - 1;
    for (const [word, count] of counts) {
      const places = this.#places.get(word) ?? [];
      places.push(number << 10 | 1_023 * count / (1.2 + count));
      this.#places.set(word, places);
    }
  }

  /** Finds the skills that match some words, or an inexact name, best match first. */
  find(query: string): Skill[] {
    const scores = new Map<number, number>();
    const words = wordsOfName(query.slice(0, MAX_QUERY_LENGTH));
    for (const word of new Set(words)) {
      // Of the words that a word stands for, the best one counts.
      const best = new Map<number, number>();
      const isKnown = this.#places.has(word);
      for (const other of isKnown ? [word] : this.#listSimilar(word)) {
        const places = this.#places.get(other)!;
        const count = places.length + 0.5;
        const rarity = Math.log(1 + (this.#skills.length + 1 - count) / count);
        for (const place of places) {
          const score = (place & 1_023) * rarity *
            (isKnown ? 1 : SIMILAR_WEIGHT);
          best.set(place >> 10, Math.max(score, best.get(place >> 10) ?? 0));
        }
      }
      for (const [number, score] of best) {
        scores.set(number, (scores.get(number) ?? 0) + score);
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b)
      .map(([number]) => this.#skills[number]!);
  }

  /** Lists the words that a word begins or, if there are none, that it may be a misspelling of. */
  #listSimilar(word: string): string[] {
    const limit = word.length < 5 ? 0 : word.length < 8 ? 1 : 2;
    const words = [...this.#places.keys()];
    const begun = words.filter((other) =>
      word.length > 1 && other.startsWith(word)
    );
    // The first letter is rarely wrong, and comparing it saves most of the time.
    return begun.length > 0
      ? begun
      : words.filter((other) =>
        other[0] === word[0] && editDistance(word, other, limit) <= limit
      );
  }
}

function matchWords(text: string): string[] {
  const lower = normalizeText(text.slice(0, MAX_TEXT_LENGTH)).toLowerCase();
  return Array.from(lower.matchAll(WORDS), ([word, pair = word]) => pair);
}

/** Splits a text into words without their endings. */
function splitWords(text: string): string[] {
  return matchWords(text).filter((word) => !STOP_WORDS.has(word))
    .map(withoutEnding);
}

/** Splits a name, and joins its words if there are several. */
function wordsOfName(name: string): string[] {
  const words = matchWords(name);
  const joined = words.length > 1 ? [withoutEnding(words.join(""))] : [];
  return [...splitWords(name), ...joined];
}

/** Removes the ending of an English word, so that its forms become the same. */
function withoutEnding(word: string): string {
  return /^[a-z]{4,}$/.test(word)
    ? word.replace(/(?<=[a-z]{3})(?:ies|e?s|ing|ed|e|y)$/, "")
    : word;
}
