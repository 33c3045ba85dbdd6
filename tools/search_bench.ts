/**
 * Measures how well the search finds skills: the questions in
 * `search_questions.json` are phrased as a model phrases its task, and each names
 * the skill that it is about. They were written from the descriptions of 100
 * skills drawn at random, before any ranking was seen.
 *
 *     deno task bench --search FOLDER
 *
 * FOLDER contains a clone of each of these repositories on GitHub:
 * anthropics/skills, obra/superpowers, wshobson/agents,
 * K-Dense-AI/claude-scientific-skills, Orchestra-Research/AI-research-SKILLs,
 * coreyhaines31/marketingskills, openai/skills, trailofbits/skills,
 * vercel-labs/agent-skills, github/awesome-copilot, and
 * sickn33/antigravity-awesome-skills.
 *
 * @module
 */

import { scanSkillRoots, type SkillCatalog } from "../mod.ts";
import { SkillSearch } from "../src/skills/search.ts";
import questions from "./search_questions.json" with { type: "json" };

/** How many of the first results count. */
const RANKS = [1, 5, 20];

/** Prints how many questions, and how many names without separators, find their skill. */
export async function measureSearch(folder: string): Promise<void> {
  const root = { path: folder, scope: "global", recursive: true } as const;
  const catalog = await scanSkillRoots([root]);
  const search = new SkillSearch(() => true);
  const start = performance.now();
  await search.find("index", catalog);
  const indexed = performance.now();
  const names = [...catalog.skills.values()].map(({ name }) => name)
    .filter((name) => /^[a-z0-9]+(-[a-z0-9]+)+$/.test(name));
  const known = questions.filter(({ skill }) =>
    catalog.skills.has(skill.toLowerCase())
  );
  const asked = performance.now();
  const counts = await countFound(search, catalog, known);
  const searched = performance.now() - asked;
  const joined = await countFound(
    search,
    catalog,
    names.map((skill) => ({ question: skill.replaceAll("-", ""), skill })),
  );
  console.log(`${catalog.skills.size} skills in ${folder}`);
  for (const [index, rank] of RANKS.entries()) {
    console.log(
      `among the first ${rank}: ${
        counts[index]
      } of ${known.length} questions, ${
        joined[index]
      } of ${names.length} names without separators`,
    );
  }
  console.log(
    `${(indexed - start).toFixed(0)} ms for the index, ${
      (searched / known.length).toFixed(1)
    } ms per search`,
  );
}

/** Counts the questions whose skill is among the first results, for each rank. */
async function countFound(
  search: SkillSearch,
  catalog: SkillCatalog,
  asked: readonly { question: string; skill: string }[],
): Promise<number[]> {
  const counts = RANKS.map(() => 0);
  for (const { question, skill } of asked) {
    const found = await search.find(question, catalog);
    const rank = found.findIndex(({ name }) => name === skill);
    RANKS.forEach((limit, index) => {
      if (rank >= 0 && rank < limit) counts[index]!++;
    });
  }
  return counts;
}
