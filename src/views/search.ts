/** Full-text search for skills with MiniSearch, which ranks matches with BM25. */

import MiniSearch from "npm:minisearch@^7";
import type { Skill } from "../skills/types.ts";
import { normalizeText } from "../text.ts";

/** How much of a query or a field is searched, in characters. */
const MAX_TEXT_LENGTH = 1_024;

/** How many words of a query are searched for. */
const MAX_WORDS = 60;

/** The weight of a word in each field, as measured with `tools/search_questions.json`. */
const WEIGHTS = { name: 1, description: 1, excerpt: 0.2 };

const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can could do does for from get help how i in into is it make me my need of on or our please should some that the this to use using want we what when which with would you"
    .split(" "),
);

/** Overlapping pairs of characters in scripts without spaces, and words in all others. */
const WORDS =
  /(?=([\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]{2})).|[[\p{L}\p{M}\p{N}]--[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}]]+/gv;

/** Returns a function that lists the skills that match some words, best match first. */
export async function indexSkills(
  skills: Iterable<Skill>,
): Promise<(query: string) => Skill[]> {
  const indexed = [...skills];
  const index = new MiniSearch<{ id: number; skill: Skill }>({
    fields: Object.keys(WEIGHTS),
    extractField: ({ id, skill }, field) =>
      field === "id" ? id : skill[field as keyof typeof WEIGHTS],
    tokenize: (text, field) =>
      field === "name" ? splitName(text) : splitWords(text),
    processTerm: (word) => word,
  });
  await index.addAllAsync(indexed.map((skill, id) => ({ id, skill })));
  const isUnknown = (word: string) =>
    index.search(word, { tokenize: (text) => [text] }).length === 0;
  return (query) => {
    const found = index.search(query, {
      tokenize: (text) => [...new Set(splitName(text))].slice(0, MAX_WORDS),
      boost: WEIGHTS,
      // Only words that no skill contains are completed and corrected.
      prefix: isUnknown,
      fuzzy: (word) => word.length >= 5 && isUnknown(word) && 0.25,
      maxFuzzy: 2,
    });
    return found.map(({ id }) => indexed[id]!);
  };
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
