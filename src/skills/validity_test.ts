import assert from "node:assert/strict";
import { isDeepStrictEqual } from "node:util";
import { join } from "jsr:@std/path@^1";
import fc from "npm:fast-check@^4";
import {
  checkContents,
  checkFrontmatter,
  findUnlisting,
  hasEffect,
  type SkillContents,
} from "./validity.ts";
import { stringifyJson } from "../text.ts";
import type { Skill, SkillFile } from "./types.ts";

const file = join("skills", "git", "SKILL.md");

const skill = {
  name: "git",
  description: "d",
  directory: join("skills", "git"),
  file,
  frontmatter: { name: "git", description: "d" },
} as Skill;

/** Creates a `SKILL.md` of 10 bytes and files of the given sizes. */
function filesOf(...sizes: number[]): SkillFile[] {
  return ["SKILL.md", ...sizes.keys()].map((path, index) => ({
    path: String(path),
    size: sizes[index - 1] ?? 10,
    version: "",
    isRacy: false,
  }));
}

function contentsOf(
  files: SkillFile[],
  ...leftOut: string[]
): SkillContents {
  const fault = { rule: "skipped", reason: "it is locked", hint: "unlock" };
  return { files, leftOut: leftOut.map((file) => ({ file, ...fault })) };
}

function rulesOf(contents: SkillContents): string[] {
  return checkContents(skill, contents).map(({ rule, file }) =>
    `${rule} ${file.replaceAll("\\", "/")}`
  );
}

Deno.test("checkContents() distinguishes an unreadable skill directory from entries that are left out", () => {
  assert.deepEqual(rulesOf(contentsOf(filesOf())), []);
  assert.deepEqual(rulesOf(contentsOf(filesOf(), "a/", "b.md")), [
    "not-served skills/git/a/",
    "not-served skills/git/b.md",
  ]);
  assert.deepEqual(rulesOf(contentsOf([], "")), ["unreadable skills/git"]);
  assert.deepEqual(rulesOf(contentsOf([])), ["changed skills/git/SKILL.md"]);
});

Deno.test("checkContents() allows at most 512 files and 16 MiB", () => {
  const many = filesOf(...Array(512).fill(0));
  const [main, ...others] = filesOf(8 * 2 ** 20, 8 * 2 ** 20);
  const empty = { ...main!, size: 0 };
  assert.deepEqual(rulesOf(contentsOf(many.slice(0, 512))), []);
  assert.deepEqual(rulesOf(contentsOf(many)), ["size skills/git"]);
  assert.deepEqual(rulesOf(contentsOf([empty, ...others])), []);
  assert.deepEqual(rulesOf(contentsOf([main!, ...others])), [
    "size skills/git",
  ]);
});

Deno.test("findUnlisting() applies the rules that hosts enforce, not warnings", () => {
  const contents = contentsOf(filesOf(), "a.md");
  const ruleFor = (frontmatter: object, isRepaired = false) =>
    findUnlisting({
      ...skill,
      frontmatter: { ...skill.frontmatter, ...frontmatter },
      isRepaired,
    }, contents)?.rule;
  assert.deepEqual(
    [
      ruleFor({ license: 1, "allowed-tools": ["Read"], other: "\u200b" }),
      ruleFor({ description: "\u26a0\ufe0f Care" }),
      ruleFor({ name: "Git" }),
      ruleFor({ description: "d".repeat(1_025) }),
      ruleFor({ description: "x\u{e0041}" }),
      ruleFor({ description: "x\u202ey" }),
      ruleFor({ metadata: { version: 1 } }),
      ruleFor({ size: Infinity }),
      ruleFor({}, true),
      findUnlisting(skill, contentsOf([], ""))!.rule,
    ],
    [
      undefined,
      undefined,
      "name-characters",
      "description-length",
      "hidden-characters",
      "hidden-characters",
      "metadata",
      "frontmatter-json",
      "yaml-repaired",
      "unreadable",
    ],
  );
});

Deno.test("frontmatter that hosts can load survives a JSON round trip", () => {
  const string = fc.string({ unit: "binary", maxLength: 3 });
  const { value } = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 3 },
      string,
      fc.constantFrom("\ud800", "a\udfffb", null, true, NaN, -Infinity, 1.5),
      fc.array(tie("value"), { maxLength: 3 }),
      fc.dictionary(string, tie("value"), {
        maxKeys: 3,
        noNullPrototype: true,
      }),
    ),
  }));
  fc.assert(
    fc.property(value, (field) => {
      const frontmatter = { name: "git", description: "d", field };
      const isListed = !checkFrontmatter({ frontmatter, folder: "git" })
        .some((problem) => hasEffect(problem, "unlisted"));
      const sent = JSON.parse(stringifyJson(frontmatter));
      assert.equal(isListed, isDeepStrictEqual(sent, frontmatter));
    }),
    { numRuns: 300 },
  );
});
