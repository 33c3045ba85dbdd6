/**
 * Full-text search for skills, ranked with BM25F over the name, the description, and
 * the beginning of the instructions. Words that differ only in their ending are the
 * same, and the words of a name joined together are a word too. A word that no skill
 * has stands for those that it begins, or else for similarly spelled ones. Chinese and
 * Japanese do not separate words, so pairs of characters count.
 *
 * @see {@link https://en.wikipedia.org/wiki/Okapi_BM25}
 *
 * @module
 */

import { editDistance, normalizeText } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import type { Skill, SkillCatalog, SkillSource } from "./types.ts";

/** The maximum number of results. */
const MAX_RESULTS = 20;

/** How much of a query, and of a skill's name or description, is used, in characters. */
const MAX_QUERY_LENGTH = 400;
const MAX_TEXT_LENGTH = 4_000;

/** The weights of the name, the description, and the excerpt. */
const WEIGHTS = [2, 1, 0.3];

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

/** Some skills, and the search in them. */
export interface SearchableSkills {
  readonly registry: SkillSource;
  readonly search: SkillSearch;
}

/** The words of skills, each with a number. */
interface SkillIndex {
  /** The words of each skill: the number of the word times three, plus that of the field. */
  readonly codes: Map<Skill, Uint32Array>;
  /** The numbers of the words, as they are spelled and without their endings. */
  readonly numbers: Map<string, number>;
  /** In how many skills each word occurs, by its number. */
  readonly frequencies: number[];
  /** The total length of each field, in words. */
  readonly lengths: number[];
}

/** Searches the skills that are allowed as results. Keeps the index of the last catalog. */
export class SkillSearch {
  readonly #isAllowed: (skill: Skill) => boolean;
  #catalog: SkillCatalog | undefined;
  #index: Promise<SkillIndex> | undefined;

  /** Creates a search. Skills that are not allowed have no influence on its results. */
  constructor(isAllowed: (skill: Skill) => boolean) {
    this.#isAllowed = isAllowed;
  }

  /** Finds the 20 skills that match some words, or an inexact name, best match first. */
  async find(query: string, catalog: SkillCatalog): Promise<Skill[]> {
    if (this.#catalog !== catalog) this.#index = this.#createIndex(catalog);
    this.#catalog = catalog;
    const index = await this.#index!;
    const words = findWords(query.slice(0, MAX_QUERY_LENGTH), index);
    return [...index.codes].map(([skill, codes]) => {
      return { skill, score: scoreOf(codes, { words, index }) };
    }).filter(({ score }) => score > 0)
      .sort((a, b) => b.score - a.score)
      .slice(0, MAX_RESULTS).map(({ skill }) => skill);
  }

  async #createIndex({ skills }: SkillCatalog): Promise<SkillIndex> {
    const lengths = WEIGHTS.map(() => 0);
    const numbers = new Map();
    const index = { codes: new Map(), numbers, frequencies: [], lengths };
    const slice = new TimeSlice();
    for (const skill of skills.values()) {
      if (slice.isOver) await slice.yield();
      if (this.#isAllowed(skill)) addSkill(skill, index);
    }
    return index;
  }
}

function addSkill(skill: Skill, index: SkillIndex): void {
  const { codes, numbers, frequencies, lengths } = index;
  const texts = [skill.description, new TextDecoder().decode(skill.excerpt)];
  const fields = [wordsOfName(skill.name), ...texts.map(splitWords)];
  const found = fields.flatMap((words, field) => {
    lengths[field]! += words.length;
    return words.map((word) => {
      const stem = withoutEnding(word);
      const number = numbers.get(stem) ?? frequencies.push(0) - 1;
      numbers.set(stem, number).set(word, number);
      return number * WEIGHTS.length + field;
    });
  });
  codes.set(skill, Uint32Array.from(found));
  for (const number of new Set(found.map(wordOf))) frequencies[number]! += 1;
}

function wordOf(code: number): number {
  return Math.floor(code / WEIGHTS.length);
}

/** A word of a query, or one that it stands for: its place there, and how much it counts. */
interface QueryWord {
  readonly position: number;
  readonly weight: number;
}

/** Finds the words of a query in an index, by their numbers. */
function findWords(query: string, index: SkillIndex): Map<number, QueryWord> {
  const found = new Map<number, QueryWord>();
  const words = new Set(wordsOfName(query));
  for (const [position, word] of [...words].entries()) {
    const known = index.numbers.get(withoutEnding(word));
    const numbers = known === undefined ? listSimilar(word, index) : [known];
    for (const number of numbers) {
      const count = index.frequencies[number]!;
      const rarity = Math.log(
        1 + (index.codes.size - count + 0.5) / (count + 0.5),
      );
      const weight = known === undefined ? SIMILAR_WEIGHT * rarity : rarity;
      found.set(number, { position, weight });
    }
  }
  return found;
}

/** Lists the words that a word begins or, if there are none, that it may be a misspelling of. */
function listSimilar(word: string, { numbers }: SkillIndex): number[] {
  const limit = word.length < 5 ? 0 : word.length < 8 ? 1 : 2;
  const list = (isMatch: (other: string) => boolean) =>
    [...numbers].filter(([other]) => isMatch(other)).map(([, number]) =>
      number
    );
  const begun = list((other) => word.length > 1 && other.startsWith(word));
  // The first letter is rarely wrong, and comparing it saves most of the time.
  return begun.length > 0
    ? begun
    : list((other) =>
      other[0] === word[0] && editDistance(word, other, limit) <= limit
    );
}

/** Returns the score of a skill. A word counts by the weight and the relative length of its field. */
function scoreOf(
  codes: Uint32Array,
  { words, index }: { words: Map<number, QueryWord>; index: SkillIndex },
): number {
  const lengths = WEIGHTS.map(() => 0);
  for (const code of codes) lengths[code % WEIGHTS.length]! += 1;
  const weights = WEIGHTS.map((weight, field) => {
    const average = index.lengths[field]! / index.codes.size;
    return weight / (0.25 + 0.75 * lengths[field]! / average);
  });
  const counts = new Map<QueryWord, number>();
  for (const code of codes) {
    const word = words.get(wordOf(code));
    if (word === undefined) continue;
    counts.set(word, (counts.get(word) ?? 0) + weights[code % WEIGHTS.length]!);
  }
  // Of the words that a word of the query stands for, the best one counts.
  const scores: number[] = [];
  for (const [{ position, weight }, count] of counts) {
    const score = weight * count / (1.2 + count);
    scores[position] = Math.max(scores[position] ?? 0, score);
  }
  return scores.reduce((sum, score) => sum + score, 0);
}

function matchWords(text: string): string[] {
  const lower = normalizeText(text.slice(0, MAX_TEXT_LENGTH)).toLowerCase();
  return Array.from(lower.matchAll(WORDS), ([word, pair = word]) => pair);
}

function splitWords(text: string): string[] {
  return matchWords(text).filter((word) => !STOP_WORDS.has(word));
}

/** Splits a name, and joins its words if there are several. */
function wordsOfName(name: string): string[] {
  const words = matchWords(name);
  return [...splitWords(name), ...words.length > 1 ? [words.join("")] : []];
}

/** Removes the ending of an English word, so that its forms become the same. */
function withoutEnding(word: string): string {
  if (word.length < 4 || !/^[a-z]+$/.test(word)) return word;
  const singular = word.replace(/ies$/, "y")
    .replace(/(?<=ch|sh|ss|x|z)es$|(?<![isu])s$/, "");
  const stem = singular.replace(/(?<=[aeiouy].*[^aeiouy].*)(?:ing|ed)$/, "")
    .replace(/([^aeiouls])\1$/, "$1");
  return stem.length > 4 ? stem.replace(/e$/, "").replace(/y$/, "i") : stem;
}
