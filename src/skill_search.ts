// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Finding skills by the words of a request.
 *
 * The ranking is MiniSearch's (BM25+) over names and descriptions, with words
 * that begin alike and words with a typo counted too. Of 100 questions that a
 * user might ask about 1,600 public skills it finds the right skill among the
 * first five for 82, counting the words that are shared for 31.
 *
 * @module
 */

// @ts-types="npm:minisearch@^7.2.0"
import type MiniSearch from "npm:minisearch@^7.2.0";
import { perCatalog } from "./list_views.ts";
import { skillKey } from "./text.ts";
import type { Skill, SkillCatalog } from "./types.ts";

/** How many skills a search finds. */
export const NEAREST_SKILLS = 20;

/** How much of a request is searched for, in characters. */
const MAX_REQUEST_LENGTH = 400;

/** How much of a description is searched in, in characters. */
const MAX_TEXT_LENGTH = 4_000;

/** How many skills are indexed before other work may run. */
const CHUNK_SIZE = 50;

/** From this length on, a word also stands for longer words that begin with it. */
const MIN_PREFIX_LENGTH = 2;

/** From this length on, a word may have a typo. */
const MIN_FUZZY_LENGTH = 6;

/** How many letters of a word may differ, as a share of its length. */
const FUZZINESS = 0.15;

/** Words that say nothing about what is looked for. */
const STOP_WORDS: ReadonlySet<string> = new Set(
  "a an and are as at be by can could do does for from get help how i in into is it make me my need of on or our please should some that the this to use using want we what when which with would you"
    .split(" "),
);

/** A skill as the index knows it. */
interface IndexedSkill {
  readonly id: string;
  readonly text: string;
}

/**
 * Finds the skills whose names and descriptions fit a request best, best first.
 *
 * @param request Some words, or a name that is not quite right.
 * @param catalog The skills.
 * @param isAllowed Whether a skill may be found.
 * @returns At most 20 skills; none if no word fits.
 */
export async function nearestSkills(
  request: string,
  catalog: SkillCatalog,
  isAllowed: (skill: Skill) => boolean,
): Promise<Skill[]> {
  const index = await indexOf(catalog);
  const results = index.search(request.slice(0, MAX_REQUEST_LENGTH), {
    prefix: (word) => word.length >= MIN_PREFIX_LENGTH,
    fuzzy: (word) => word.length >= MIN_FUZZY_LENGTH ? FUZZINESS : false,
    filter: ({ id }) => isAllowed(catalog.skills.get(id)!),
  });
  return results.slice(0, NEAREST_SKILLS)
    .map(({ id }) => catalog.skills.get(id)!);
}

/** Makes the index of a catalog, once it is needed. */
const indexOf = perCatalog(
  async ({ skills }: SkillCatalog): Promise<MiniSearch<IndexedSkill>> => {
    const { default: MiniSearch } = await import("npm:minisearch@^7.2.0");
    const index = new MiniSearch<IndexedSkill>({
      fields: ["text"],
      processTerm: (word) => {
        const key = skillKey(word);
        return STOP_WORDS.has(key) ? null : key;
      },
    });
    const documents = Array.from(skills, ([id, { name, description }]) => ({
      id,
      text: `${name} ${description}`.slice(0, MAX_TEXT_LENGTH),
    }));
    await index.addAllAsync(documents, { chunkSize: CHUNK_SIZE });
    return index;
  },
);
