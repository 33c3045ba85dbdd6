/**
 * Full-text search for skills, ranked with BM25F over the name, the description, and
 * the beginning of the instructions.
 *
 * @see {@link https://en.wikipedia.org/wiki/Okapi_BM25}
 */

import type { Skill } from "../skills/types.ts";
import { editDistance, normalizeText } from "../text.ts";
import { TimeSlice } from "../tasks.ts";

/** How much of a query is used, and of a name, description, or excerpt, in characters. */
const MAX_QUERY_LENGTH = 400;
const MAX_TEXT_LENGTH = 1_024;

/**
 * How many unknown words of a query are completed or corrected. For each of them, all
 * words with the same first character are compared, and skills can contain a million.
 */
const MAX_UNKNOWN_WORDS = 8;

interface Field {
  readonly wordsOf: (skill: Skill) => string[];
  readonly weight: number;
  /** How many words it usually has. In a longer one, a word counts less. */
  readonly usualLength: number;
}

const FIELDS: readonly Field[] = [
  { wordsOf: ({ name }) => wordsOfName(name), weight: 2, usualLength: 3 },
  {
    wordsOf: ({ description }) => splitWords(description),
    weight: 1,
    usualLength: 35,
  },
  {
    wordsOf: ({ excerpt }) => splitWords(excerpt),
    weight: 0.3,
    usualLength: 90,
  },
];

/** The parameters of BM25: how much the length counts, and how soon repetition stops counting. */
const LENGTH_INFLUENCE = 0.75;
const SATURATION = 1.2;

/** The weight of a word that a query contains only incomplete or misspelled. */
const SIMILAR_WEIGHT = 0.5;

/**
 * How many bits of a posting are for the weight of the word. The others are for the number
 * of the skill, which can be two million.
 */
const WEIGHT_BITS = 10;
const MAX_WEIGHT = 2 ** WEIGHT_BITS - 1;

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can could do does for from get help how i in into is it make me my need of on or our please should some that the this to use using want we what when which with would you"
    .split(" "),
);

/** Pairs of characters that are not separated, and words of all other scripts. */
const WORDS =
  /(?=([\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]{2})).|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+/gv;

export class SkillIndex {
  readonly #skills: Skill[] = [];
  /**
   * The postings of each word: the numbers of the skills that contain it, and how much
   * it counts there, each in one number.
   */
  readonly #postings = new Map<string, number[]>();
  readonly #wordsByStart = new Map<string, string[]>();

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
    const frequencies = new Map<string, number>();
    for (const { wordsOf, weight, usualLength } of FIELDS) {
      const words = wordsOf(skill);
      const length = words.length / usualLength;
      const norm = 1 - LENGTH_INFLUENCE + LENGTH_INFLUENCE * length;
      for (const word of words) {
        const frequency = frequencies.get(word) ?? 0;
        frequencies.set(word, frequency + weight / norm);
      }
    }
    const number = this.#skills.push(skill) - 1;
    for (const [word, frequency] of frequencies) {
      const saturated = frequency / (SATURATION + frequency);
      const weight = Math.floor(MAX_WEIGHT * saturated);
      const isNew = !this.#postings.has(word);
      if (isNew) addTo(this.#wordsByStart, word[0]!, word);
      addTo(this.#postings, word, number << WEIGHT_BITS | weight);
    }
  }

  /**
   * Lists the skills that match some words, or an inexact name, best match first. Other
   * tasks run in the meantime, because skills can contain any number of words.
   */
  async search(query: string): Promise<Skill[]> {
    const slice = new TimeSlice();
    const scores = new Map<number, number>();
    const words = [
      ...new Set(wordsOfName(query.slice(0, MAX_QUERY_LENGTH))),
    ];
    const known = words.filter((word) => this.#postings.has(word));
    const unknown = words.filter((word) => !this.#postings.has(word))
      .slice(0, MAX_UNKNOWN_WORDS);
    for (const word of [...known, ...unknown]) {
      for (const [number, score] of await this.#scoreWord(word, slice)) {
        scores.set(number, (scores.get(number) ?? 0) + score);
      }
    }
    return [...scores].sort(([a, x], [b, y]) => y - x || a - b)
      .map(([number]) => this.#skills[number]!);
  }

  /** Scores the skills for a word. Of the words that it stands for, the best one counts. */
  async #scoreWord(
    word: string,
    slice: TimeSlice,
  ): Promise<Map<number, number>> {
    const best = new Map<number, number>();
    const isKnown = this.#postings.has(word);
    const weight = isKnown ? 1 : SIMILAR_WEIGHT;
    const words = isKnown ? [word] : await this.#listSimilar(word, slice);
    for (const other of words) {
      if (slice.isOver) await slice.pause();
      const postings = this.#postings.get(other)!;
      const rarity = weight * rarityOf(postings.length, this.#skills.length);
      for (const posting of postings) {
        const number = posting >> WEIGHT_BITS;
        const score = (posting & MAX_WEIGHT) * rarity;
        best.set(number, Math.max(score, best.get(number) ?? 0));
      }
    }
    return best;
  }

  /**
   * Lists the words that begin with a word, or else those that it may be a misspelling of.
   * Its first character is rarely wrong.
   */
  async #listSimilar(word: string, slice: TimeSlice): Promise<string[]> {
    const limit = maxMistakes(word);
    const begun: string[] = [];
    const similar: string[] = [];
    for (const other of this.#wordsByStart.get(word[0]!) ?? []) {
      if (slice.isOver) await slice.pause();
      if (word.length > 1 && other.startsWith(word)) begun.push(other);
      else if (editDistance(word, other, limit) <= limit) similar.push(other);
    }
    return begun.length > 0 ? begun : similar;
  }
}

function addTo<T>(lists: Map<string, T[]>, key: string, value: T): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

/** Returns how rare a word in some of all skills is, as BM25 defines it. */
function rarityOf(count: number, total: number): number {
  return Math.log(1 + (total - count + 0.5) / (count + 0.5));
}

function maxMistakes({ length }: string): number {
  if (length < 5) return 0;
  return length < 8 ? 1 : 2;
}

function matchWords(text: string): string[] {
  const start = normalizeText(text.slice(0, MAX_TEXT_LENGTH), "NFKC");
  const lower = start.toLowerCase();
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
