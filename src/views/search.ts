/** Full-text search for skills with MiniSearch, which ranks matches with BM25. */

import MiniSearch, { type SearchResult } from "npm:minisearch@^7";
import { remember } from "../remember.ts";
import type { SkillSource } from "../skills/source.ts";
import type { Skill, SkillScope } from "../skills/types.ts";
import { inTurns } from "../tasks.ts";
import { nearestWords, normalizeText } from "../text.ts";

/** How much of a query or a field is searched, in characters. */
const MAX_TEXT_LENGTH = 1_024;

/**
 * How many words each field of a skill has in the index, at least: those of a shorter
 * field are repeated, so that each counts more. Measured with
 * `tools/search_questions.json`.
 */
const LENGTHS = { name: 20, description: 150, excerpt: 1 };

/** BM25 counts repetitions (`k`), but not the length of a skill (`b`, `d`). */
const RANKING = { bm25: { k: 5, b: 0, d: 0 }, maxFuzzy: 2 };

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can could do does for from get help how i in into is it make me my need of on or our please should some that the this to use using want we what when which with would you"
    .split(" "),
);

/** Overlapping pairs of characters in scripts without spaces, and words in all others. */
const WORDS =
  /(?=([\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]{2})).|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+/gv;

/** The indexes of a registry, which live as long as the registry. */
export const indexesOf: (
  registry: SkillSource,
) => Readonly<Record<SkillScope, SkillIndex>> = remember(() => ({
  global: new SkillIndex(),
  project: new SkillIndex(),
}));

export class SkillIndex {
  /** Frontmatters, which scans keep until their files change. */
  readonly #indexed = new Set<object>();
  /** Has a single field, so that a word of a name is as rare as it is anywhere. */
  readonly #index = new MiniSearch<{ id: object; words: string }>({
    fields: ["words"],
    tokenize: (words) => words.split(" "),
    processTerm: (word) => word,
  });

  /**
   * Lists the skills that match some words, or whose names these may mean if a word is in
   * no skill, best match first. Indexes the skills that are new or have changed first.
   */
  async search(query: string, skills: readonly Skill[]): Promise<Skill[]> {
    const byId = new Map<object, Skill>(
      skills.map((skill) => [skill.frontmatter, skill]),
    );
    await this.#update(byId);
    const words = [...new Set(splitName(query))];
    const exact = this.#index.search(words.join(" "), RANKING);
    const known = new Set(exact.flatMap(({ terms }) => terms));
    const isUnknown = (word: string) => !known.has(word);
    const found = this.#index.search(words.join(" "), {
      ...RANKING,
      // Only words that no skill contains are completed and corrected.
      prefix: isUnknown,
      fuzzy: (word) => word.length >= 5 && isUnknown(word) && 0.25,
    });
    const matches = found.sort((a, b) => scoreOf(b) - scoreOf(a))
      .flatMap(({ id }) => byId.get(id) ?? []);
    if (words.length > 0 && !words.some(isUnknown)) return matches;
    const byName = new Map(skills.map((skill) => [skill.name, skill]));
    const near = nearestWords(query, byName.keys())
      .map((name) => byName.get(name)!);
    return [...new Set([...near, ...matches])];
  }

  /** Takes over what has changed. Other searches may do so meanwhile. */
  async #update(skills: ReadonlyMap<object, Skill>): Promise<void> {
    for (const id of this.#indexed.difference(skills)) {
      this.#indexed.delete(id);
      this.#index.discard(id);
    }
    for await (const [id, skill] of inTurns(skills)) {
      if (this.#indexed.has(id)) continue;
      this.#indexed.add(id);
      this.#index.add({ id, words: listWords(skill).join(" ") });
    }
  }
}

/** MiniSearch multiplies by the number of words, so that common ones outweigh a rare one. */
function scoreOf({ score, queryTerms }: SearchResult): number {
  return score / queryTerms.length;
}

/** Lists the words of a skill as often as they count. */
function listWords({ name, description, excerpt }: Skill): string[] {
  return [
    ...repeat(splitName(name), LENGTHS.name),
    ...repeat(splitWords(description), LENGTHS.description),
    ...repeat(splitWords(excerpt), LENGTHS.excerpt),
  ];
}

/** Repeats a list until it has a length, if it has any items. */
function repeat(words: string[], length: number): string[] {
  const times = Math.ceil(length / Math.max(words.length, 1));
  return Array.from({ length: times }, () => words).flat();
}

/** Splits a text into words without their endings. */
function splitWords(text: string): string[] {
  return matchWords(text).filter((word) => !STOP_WORDS.has(word))
    .map(withoutEnding);
}

/** Splits a name, and adds its words joined as one, because people write names both ways. */
function splitName(name: string): string[] {
  const words = matchWords(name);
  const joined = words.length > 1 ? [withoutEnding(words.join(""))] : [];
  return [...splitWords(name), ...joined];
}

function matchWords(text: string): string[] {
  const start = normalizeText(text.slice(0, MAX_TEXT_LENGTH), "NFKC");
  const lower = start.toLowerCase();
  return Array.from(lower.matchAll(WORDS), ([word, pair = word]) => pair);
}

/** Removes the ending of an English word, so that its forms become the same. */
function withoutEnding(word: string): string {
  return /^[a-z]{4,}$/.test(word)
    ? word.replace(/(?<=[a-z]{3})(?:ies|e?s|ing|ed|e|y)$/, "")
    : word;
}
