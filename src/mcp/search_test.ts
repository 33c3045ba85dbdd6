import assert from "node:assert/strict";
import { SkillIndex } from "./search.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";

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
  const index = await SkillIndex.create(catalog.skills.values());
  return (await index.search(query)).map(({ name }) => name);
}

const CATALOG = catalogOf(
  ["pdf", "Fill forms and extract text from documents", "# PDF\nUse qpdf."],
  ["skill-creator", "Write new skills"],
  ["git-workflow", "Commit changes and resolve conflicts"],
  ["deploy", "Release to production", "Restart the canary first."],
);

Deno.test("SkillIndex.search() finds words in names, descriptions, and instructions", async () => {
  assert.deepEqual(await search("git", CATALOG), ["git-workflow"]);
  assert.deepEqual(await search("extract", CATALOG), ["pdf"]);
  assert.deepEqual(await search("how do I use the canary?", CATALOG), [
    "deploy",
  ]);
  assert.deepEqual(await search("nothing similar", CATALOG), []);
  assert.deepEqual(await search("", CATALOG), []);
});

Deno.test("SkillIndex.search() ranks names above descriptions, those above instructions, and rare words above common ones", async () => {
  const maps = catalogOf(
    ["a", "Other text here", "About maps"],
    ["b", "Draw maps here"],
    ["maps", "Other text here"],
  );
  assert.deepEqual(await search("maps", maps), ["maps", "b", "a"]);
  const tests = ["a", "b"].map((name) => [name, "Test code"] as const);
  const others = [["c", "Test spreadsheets"], ["d", "Format code"]] as const;
  const catalog = catalogOf(...tests, ...others);
  assert.equal((await search("spreadsheets test", catalog))[0], "c");
  assert.equal((await search("code format", catalog))[0], "d");
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

Deno.test("SkillIndex.search() finds names with other separators or none", async () => {
  for (const query of ["skillcreator", "Skill_Creator", "skill creator"]) {
    assert.equal((await search(query, CATALOG))[0], "skill-creator", query);
  }
  const catalog = catalogOf(["websearch", "d"], ["web-tools", "d"]);
  assert.equal((await search("web search", catalog))[0], "websearch");
});

Deno.test("SkillIndex.search() completes and corrects only words that no skill contains", async () => {
  assert.deepEqual(await search("workfl", CATALOG), ["git-workflow"]);
  assert.deepEqual(await search("conflcits", CATALOG), ["git-workflow"]);
  assert.deepEqual(await search("documants", CATALOG), ["pdf"]);
  const catalog = catalogOf(["a", "for testing"], ["b", "a testament"]);
  assert.deepEqual(await search("test", catalog), ["a"]);
});

Deno.test("SkillIndex.search() searches scripts that do not separate words", async () => {
  const catalog = catalogOf(
    ["a", "从PDF文件中提取文本"],
    ["b", "表計算ファイルを作成する"],
    ["c", "Привести код в порядок"],
  );
  assert.deepEqual(await search("提取文本", catalog), ["a"]);
  assert.deepEqual(await search("ファイル", catalog), ["b"]);
  assert.deepEqual(await search("КОД", catalog), ["c"]);
});

Deno.test("SkillIndex.search() gives no first place to a skill that contains every word", async () => {
  const subjects = Array.from({ length: 60 }, (_, i) => `subject${i}`);
  const skills = subjects.map((subject) =>
    [`about-${subject}`, `Work with ${subject} in the usual way`] as const
  );
  const words = subjects.join(" ");
  for (
    const stuffed of [
      ["stuffed", words, words],
      [words, "Everything", words],
      ["stuffed", `${words} `.repeat(5), `${words} `.repeat(2)],
    ] as const
  ) {
    const catalog = catalogOf(stuffed, ...skills);
    for (const subject of subjects) {
      const [first] = await search(`work with ${subject}`, catalog);
      assert.equal(first, `about-${subject}`);
    }
  }
});

/** Counts how often other tasks run during some work. */
async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let isDone = false;
  const count = () => {
    turns++;
    if (!isDone) setTimeout(count);
  };
  setTimeout(count);
  await work();
  isDone = true;
  return turns;
}

Deno.test("SkillIndex.create() lets other tasks run", async () => {
  const skills = Array.from(
    { length: 6_000 },
    (_, i) => [`skill-${i}`, `Do the thing number ${i} `.repeat(40)] as const,
  );
  const catalog = catalogOf(...skills);
  const turns = await countTurns(() =>
    SkillIndex.create(catalog.skills.values())
  );
  assert.ok(turns >= 3, `${turns} turns`);
});

Deno.test("SkillIndex.search() lets other tasks run while it looks for similar words", async () => {
  let number = 0;
  const nextWord = () => `a${(number++).toString(36).padStart(5, "0")}`;
  const nextText = () => Array.from({ length: 140 }, nextWord).join(" ");
  const skills = Array.from(
    { length: 2_000 },
    (_, i) => [`skill-${i}`, nextText()] as const,
  );
  const index = await SkillIndex.create(catalogOf(...skills).skills.values());
  const query = Array.from({ length: 60 }, (_, i) => `azzz${i}q`).join(" ");
  const turns = await countTurns(() => index.search(query));
  assert.ok(turns >= 3, `${turns} turns`);
});

Deno.test("SkillIndex.search() finds compatibility forms of characters", async () => {
  const catalog = catalogOf(["データベース", "SQL"], ["pdf", "Ｆｏｒｍｓ"]);
  assert.deepEqual(await search("ﾃﾞｰﾀﾍﾞｰｽ", catalog), ["データベース"]);
  assert.deepEqual(await search("forms", catalog), ["pdf"]);
});
