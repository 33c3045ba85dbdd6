import assert from "node:assert/strict";
import {
  formatProblem,
  hasEffect,
  isError,
  type Problem,
  type ProblemRule,
  RULES,
} from "./problems.ts";
import { REPOSITORY } from "../tests/testing/environment.ts";

const PROBLEM: Problem = {
  rule: "yaml",
  file: "git/SKILL.md",
  line: 3,
  reason: "it has a tab",
  hint: "write spaces",
};

Deno.test("isError() is true for every effect but a warning", () => {
  for (const [rule, effect] of Object.entries(RULES)) {
    const fault = { ...PROBLEM, rule: rule as ProblemRule };
    assert.ok(hasEffect(fault, effect));
    assert.equal(isError(fault), effect !== "warning");
  }
});

Deno.test("formatProblem() says what follows, where it is, and what to do", () => {
  const cases: [Partial<Problem>, RegExp][] = [
    [{}, /^Skipped "git\/SKILL\.md" \(line 3\): it has a tab; write spaces$/],
    [{ line: undefined }, /^Skipped "git\/SKILL\.md": it has a tab/],
    [{ rule: "long" }, /^Check "git/],
    [{ rule: "policy" }, /^Cannot use the policy "git/],
  ];
  for (const [part, expected] of cases) {
    const [sentence, ...lines] = formatProblem({ ...PROBLEM, ...part });
    assert.match(sentence, expected);
    assert.deepEqual(lines, []);
  }
});

Deno.test("formatProblem() puts a hostile path on one line, and leaves lines to copy as they are", () => {
  const [sentence, ...lines] = formatProblem({
    ...PROBLEM,
    file: 'a"\n::error::b',
    lines: ["  name: git"],
  });
  assert.ok(!sentence.includes("\n"));
  assert.deepEqual(lines, ["  name: git"]);
});

Deno.test("each rule occurs in a test", async () => {
  const texts: string[] = [];
  const read = async (folder: string) => {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      const path = `${folder}/${name}`;
      if (isDirectory) await read(path);
      else if (/_test\.ts$|\.txt$/.test(name)) {
        texts.push(await Deno.readTextFile(path));
      }
    }
  };
  await Promise.all(["src", "tests"].map((it) => read(`${REPOSITORY}/${it}`)));
  const all = texts.join("\n");
  const untested = Object.keys(RULES)
    .filter((rule) => !new RegExp(`\\b${rule}\\b`).test(all));
  assert.deepEqual(untested, []);
});
