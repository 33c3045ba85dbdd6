import assert from "node:assert/strict";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { SkillIndex } from "./search.ts";

/** Creates a catalog of skills with names, descriptions, and instructions. */
function catalogOf(
  ...skills: (readonly [
    name: string,
    description: string,
    instructions?: string,
  ])[]
): SkillCatalog {
  const entries = skills.map(([name, description, instructions = ""]) => {
    const frontmatter = { name, description };
    const skill = { name, description, frontmatter, excerpt: instructions };
    return [name, skill as Skill] as const;
  });
  return { skills: new Map(entries) } as Partial<SkillCatalog> as SkillCatalog;
}

/** Returns the names of the skills that match a query best. */
async function search(query: string, catalog: SkillCatalog): Promise<string[]> {
  const skills = [...catalog.skills.values()];
  const found = await new SkillIndex().search(query, skills);
  return found.map(({ name }) => name);
}

const CATALOG = catalogOf(
  ["pdf", "Fill forms and extract text from documents", "# PDF\nUse qpdf."],
  ["skill-creator", "Write new skills"],
  ["git-workflow", "Commit changes and resolve conflicts"],
  ["deploy", "Release to production", "Restart the canary first."],
  ["websearch", "d"],
  ["web-tools", "d"],
  ["unit", "for testing"],
  ["will", "a testament"],
);

Deno.test("SkillIndex.search() finds words in names, descriptions, and instructions", async () => {
  const cases = [
    ["git", "git-workflow"],
    ["extract", "pdf"],
    ["how do I use the canary?", "deploy"],
    ["nothing similar"],
    // With other separators, or none.
    ["skillcreator", "skill-creator"],
    ["web search", "websearch", "web-tools"],
    // Words that no skill contains are completed and corrected, and no others.
    ["workfl", "git-workflow"],
    ["conflcits", "git-workflow"],
    ["documants", "pdf"],
    ["test", "unit"],
  ] as const;
  for (const [query, ...names] of cases) {
    assert.deepEqual(await search(query, CATALOG), names, query);
  }
});

Deno.test("SkillIndex.search() ranks instructions below names and descriptions", async () => {
  const maps = catalogOf(
    ["a", "Other text here", "About maps"],
    ["b", "Draw maps here"],
    ["maps", "Other text here"],
  );
  const found = await search("maps", maps);
  assert.deepEqual(found.toSorted(), ["a", "b", "maps"]);
  assert.equal(found.at(-1), "a");
});

Deno.test("SkillIndex.search() ignores plural, -ing, and -ed", async () => {
  const forms = [
    ["form", "forms"],
    ["query", "queries"],
    ["box", "boxes"],
    ["commit", "committing"],
    ["merge", "merged"],
    ["deploy", "deployed"],
    ["analysis", "analysis"],
    ["class", "classes"],
  ] as const;
  for (const [word, form] of forms) {
    assert.deepEqual(await search(form, catalogOf(["x", word])), ["x"], form);
    assert.deepEqual(await search(word, catalogOf(["x", form])), ["x"], word);
  }
});

Deno.test("SkillIndex.search() gives no first place to a skill that contains every word", async () => {
  const subjects = Array.from({ length: 60 }, (_, i) => `subject${i}`);
  const skills = subjects.map((subject) =>
    [`about-${subject}`, `Work with ${subject} in the usual way`] as const
  );
  const words = subjects.join(" ");
  const cases = [
    ["stuffed", words, words],
    [words, "Everything", words],
    ["stuffed", `${words} `.repeat(5), `${words} `.repeat(2)],
  ] as const;
  for (const stuffed of cases) {
    const catalog = catalogOf(stuffed, ...skills);
    const [first] = await search("work with subject7", catalog);
    assert.equal(first, "about-subject7");
  }
});

Deno.test("SkillIndex.search() searches scripts that do not separate words", async () => {
  const catalog = catalogOf(
    ["a", "从PDF文件中提取文本"],
    ["b", "表計算ファイルを作成する"],
    ["c", "Привести код в порядок"],
    ["データベース", "SQL"],
    ["e", "Ｆｏｒｍｓ"],
  );
  const cases = [
    ["提取文本", "a"],
    ["ファイル", "b"],
    ["КОД", "c"],
    ["ﾃﾞｰﾀﾍﾞｰｽ", "データベース"],
    ["forms", "e"],
  ];
  for (const [query, name] of cases) {
    assert.deepEqual(await search(query!, catalog), [name], query);
  }
});

Deno.test("SkillIndex.search() prefers a rare word to several common ones", async () => {
  const common = Array.from({ length: 20 }, (_, index) => {
    const description = index < 10 ? "Write code" : "Draw maps";
    return [`skill${index}`, description] as const;
  });
  const catalog = catalogOf(...common, ["x", "Draw mocks"], ["docks", "y"]);
  assert.equal((await search("write code of mocks", catalog))[0], "x");
  assert.deepEqual(await search("mocks", catalog), ["x"]);
  assert.equal((await search("dockz", catalog))[0], "docks");
});

Deno.test("SkillIndex.search() finds what the skills are at the time", async () => {
  const index = new SkillIndex();
  const [a, b, c] = catalogOf(["a", "maps"], ["b", "maps"], ["c", "maps"])
    .skills.values();
  const find = async (...skills: Skill[]) =>
    (await index.search("map", skills)).map(({ name }) => name).toSorted();
  assert.deepEqual(await find(a!, b!), ["a", "b"]);
  const [changed] = catalogOf(["b", "forms"]).skills.values();
  assert.deepEqual(await find(changed!, c!), ["c"]);
  const both = await Promise.all([find(a!, b!), find(a!, b!, c!)]);
  assert.deepEqual(both, [["a", "b"], ["a", "b", "c"]]);
  assert.deepEqual(await find(), []);
});
