/**
 * Full-text search for skills.
 *
 * Skills are ranked with BM25F over three fields: the name, the description, and
 * the beginning of the instructions.
 *
 * 1. Words that differ only in their ending (plural, -ing, -ed) are the same.
 * 2. The words of a name joined together are a word too, in skills and queries.
 * 3. A word that no skill contains stands for the words that it begins, or else
 *    for similarly spelled ones.
 * 4. Chinese and Japanese do not separate words, so pairs of characters count.
 *
 * `deno task bench` measures the ranking. Porter's stemmer, a squared inverse
 * document frequency, and more rules for endings did not improve it.
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

/** How much of a query is used, in characters. */
const MAX_QUERY_LENGTH = 400;

/** How much of a skill's name or description is searched, in characters. */
const MAX_TEXT_LENGTH = 4_000;

/** The weights of the fields: the name, the description, and the excerpt. */
const WEIGHTS = [2, 1, 0.3];

/** How much repetition of a word counts. Usual values lie between 1.2 and 2. */
const SATURATION = 1.2;

/** How much the length of a field counts, between 0 and 1. */
const LENGTH_NORMALIZATION = 0.75;

/** The weight of a word that a query contains only incomplete or misspelled. */
const SIMILAR_WEIGHT = 0.5;

/** The minimum length of a word that stands for the words that it begins. */
const MIN_PREFIX_LENGTH = 2;

/** The minimum lengths of words in which one typo and two typos are tolerated. */
const MIN_TYPO_LENGTHS = [5, 8];

/** Words that are ignored. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can could do does for from get help how i in into is it make me my need of on or our please should some that the this to use using want we what when which with would you"
    .split(" "),
);

/** Some skills, and the search in them. */
export interface SearchableSkills {
  readonly registry: SkillSource;
  readonly search: SkillSearch;
}

/** Searches the skills that are allowed as results. Keeps the index of the last catalog. */
export class SkillSearch {
  readonly #isAllowed: (skill: Skill) => boolean;
  #catalog: SkillCatalog | undefined;
  #index: Promise<SkillIndex> | undefined;

  /**
   * @param isAllowed Whether a skill is allowed as a result. Other skills have no
   *   influence on the results.
   */
  constructor(isAllowed: (skill: Skill) => boolean) {
    this.#isAllowed = isAllowed;
  }

  /**
   * Finds the skills that match a query best.
   *
   * @param query Some words, or an inexact name.
   * @param catalog The skills.
   * @returns At most 20 skills, best match first.
   */
  async find(query: string, catalog: SkillCatalog): Promise<Skill[]> {
    if (this.#catalog !== catalog) {
      this.#catalog = catalog;
      this.#index = createIndex(
        [...catalog.skills.values()].filter(this.#isAllowed),
      );
    }
    return (await this.#index!).find(query.slice(0, MAX_QUERY_LENGTH));
  }
}

/** Indexes skills, and lets other tasks run in between. */
async function createIndex(skills: readonly Skill[]): Promise<SkillIndex> {
  const index = new SkillIndex();
  const slice = new TimeSlice();
  for (const skill of skills) {
    if (slice.isOver) await slice.pause();
    index.add(skill);
  }
  return index;
}

/** A skill, and its words by number. */
interface IndexedSkill {
  readonly skill: Skill;
  /** The words of all fields. One array, because each takes 300 bytes more than its numbers. */
  readonly ids: Uint32Array;
  /** The number of words in each field. */
  readonly lengths: readonly number[];
}

/** A word of a query, or one of several words that it stands for. */
interface QueryWord {
  /** The position of the word in the query. */
  readonly position: number;
  /** How much it counts. */
  readonly weight: number;
}

class SkillIndex {
  readonly #skills: IndexedSkill[] = [];
  /** The numbers of the words without their endings. */
  readonly #stems = new Map<string, number>();
  /** The numbers of the words as they are spelled. */
  readonly #words = new Map<string, number>();
  /** In how many skills each word occurs, by its number. */
  readonly #frequencies: number[] = [];
  /** The total length of each field. */
  readonly #lengths = WEIGHTS.map(() => 0);

  add(skill: Skill): void {
    const { name, description, excerpt } = skill;
    const joined = joinWords(name);
    const words = splitWords(name);
    if (joined !== undefined) words.push(joined);
    const texts = [description, excerptDecoder.decode(excerpt)].map(splitWords);
    const fields = [words, ...texts];
    const lengths = fields.map(({ length }) => length);
    lengths.forEach((length, field) => this.#lengths[field]! += length);
    const ids = Uint32Array.from(fields.flat(), (word) => this.#numberOf(word));
    for (const id of new Set(ids)) this.#frequencies[id]! += 1;
    this.#skills.push({ skill, ids, lengths });
  }

  #numberOf(word: string): number {
    const known = this.#words.get(word);
    if (known !== undefined) return known;
    const stem = withoutEnding(word);
    const id = this.#stems.get(stem) ?? this.#frequencies.push(0) - 1;
    this.#stems.set(stem, id);
    this.#words.set(word, id);
    return id;
  }

  find(query: string): Skill[] {
    const words = this.#parse(query);
    const found = this.#skills.flatMap((indexed) => {
      const score = this.#score(indexed, words);
      return score > 0 ? [{ skill: indexed.skill, score }] : [];
    });
    return found.sort((a, b) => b.score - a.score).slice(0, MAX_RESULTS)
      .map(({ skill }) => skill);
  }

  /** Returns the known words of a query and those that its unknown words stand for, by number. */
  #parse(query: string): Map<number, QueryWord> {
    const found = new Map<number, QueryWord>();
    const words = [...new Set(splitWords(query))];
    for (const [position, word] of words.entries()) {
      const known = this.#stems.get(withoutEnding(word));
      const ids = known === undefined ? this.#listSimilar(word) : [known];
      const weight = known === undefined ? SIMILAR_WEIGHT : 1;
      for (const id of ids) {
        found.set(id, { position, weight: weight * this.#rarityOf(id) });
      }
    }
    const joined = this.#stems.get(withoutEnding(joinWords(query) ?? ""));
    if (joined !== undefined) {
      const weight = this.#rarityOf(joined);
      found.set(joined, { position: words.length, weight });
    }
    return found;
  }

  #rarityOf(id: number): number {
    const count = this.#frequencies[id]!;
    return Math.log(1 + (this.#skills.length - count + 0.5) / (count + 0.5));
  }

  /** Lists the words that a word begins or, if there are none, that it may be a misspelling of. */
  #listSimilar(word: string): number[] {
    if (word.length < MIN_PREFIX_LENGTH) return [];
    const typos = MIN_TYPO_LENGTHS.filter((min) => word.length >= min).length;
    const listIds = (isMatch: (other: string) => boolean) =>
      this.#words.entries().filter(([other]) => isMatch(other))
        .map(([, id]) => id).toArray();
    const begun = listIds((other) => other.startsWith(word));
    if (begun.length > 0) return begun;
    // The first letter is rarely wrong, and comparing it saves most of the time.
    return listIds((other) =>
      other[0] === word[0] && editDistance(word, other, typos) <= typos
    );
  }

  /**
   * Returns the score of a skill. An occurrence of a word counts by the weight and
   * the relative length of its field.
   */
  #score(
    { ids, lengths }: IndexedSkill,
    words: ReadonlyMap<number, QueryWord>,
  ): number {
    const counts = new Map<number, number>();
    let end = 0;
    for (const [field, length] of lengths.entries()) {
      const average = this.#lengths[field]! / this.#skills.length;
      const weight = WEIGHTS[field]! /
        (1 + LENGTH_NORMALIZATION * (length / average - 1));
      for (const id of ids.subarray(end, end += length)) {
        if (words.has(id)) counts.set(id, (counts.get(id) ?? 0) + weight);
      }
    }
    const scores: number[] = [];
    for (const [id, count] of counts) {
      const { position, weight } = words.get(id)!;
      const score = weight * count / (SATURATION + count);
      scores[position] = Math.max(scores[position] ?? 0, score);
    }
    return scores.reduce((sum, score) => sum + score, 0);
  }
}

const excerptDecoder = new TextDecoder();

/** Words of scripts that separate words, and runs of characters of those that do not. */
const WORDS =
  /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]+|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+/gv;

const UNSEPARATED = /^[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]{2}/v;

/** Splits a text into lowercase words, without those that are ignored. */
function splitWords(text: string): string[] {
  return matchWords(text).flatMap((word) =>
    STOP_WORDS.has(word) ? [] : UNSEPARATED.test(word) ? pairsOf(word) : [word]
  );
}

/** Joins the words of a name, if there are several. */
function joinWords(name: string): string | undefined {
  const words = matchWords(name);
  return words.length > 1 ? words.join("") : undefined;
}

function matchWords(text: string): string[] {
  return normalizeText(text.slice(0, MAX_TEXT_LENGTH)).toLowerCase()
    .match(WORDS) ?? [];
}

/** Returns each pair of adjacent characters. */
function pairsOf(run: string): string[] {
  const characters = [...run];
  return characters.slice(1).map((character, index) =>
    characters[index]! + character
  );
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
