import assert from "node:assert/strict";
import {
  type Effect,
  formatProblem,
  hasEffect,
  isError,
  type Problem,
  type ProblemRule,
  RULES,
} from "./problems.ts";

/** Creates a problem with a file `a`. */
function problemWith(rule: ProblemRule, rest: Partial<Problem> = {}): Problem {
  return { rule, file: "a", reason: "it is odd", hint: "fix it", ...rest };
}

Deno.test("formatProblem() begins with what follows from the problem, and names the file, the line, and the fix", () => {
  const cases: [Problem, expected: string][] = [
    [problemWith("yaml"), 'Skipped "a": it is odd; fix it'],
    [
      problemWith("yaml", { line: 3 }),
      'Skipped "a" (line 3): it is odd; fix it',
    ],
    [problemWith("utf-8"), 'Check "a": it is odd; fix it'],
    [problemWith("flags"), 'Check "a": it is odd; fix it'],
    [problemWith("long"), 'Check "a": it is odd; fix it'],
    [problemWith("policy"), 'Cannot use the policy "a": it is odd; fix it'],
  ];
  for (const [problem, expected] of cases) {
    assert.deepEqual(formatProblem(problem), [expected]);
  }
});

Deno.test("formatProblem() writes one sentence whatever the file is called, and then the lines as they are", () => {
  const problem = problemWith("yaml", {
    file: 'a": fine\nSkipped "b\u202e\x1b[1m',
    reason: "it has\n\u200b two lines",
    hint: "write:",
    lines: ["  name: a", "", "x\t"],
  });
  const [sentence, ...lines] = formatProblem(problem);
  const file = "a\\u0022: fine\\u000aSkipped \\u0022b\\u202e\\u001b[1m";
  assert.equal(sentence, `Skipped "${file}": it has two lines; write:`);
  assert.deepEqual(lines, problem.lines);
});

Deno.test("isError() is true of each problem with another effect than a warning", () => {
  const cases: [ProblemRule, Effect, boolean][] = [
    ["yaml", "skipped", true],
    ["utf-8", "unlisted", true],
    ["flags", "error", true],
    ["long", "warning", false],
  ];
  for (const [rule, effect, expected] of cases) {
    const problem = problemWith(rule);
    const effects = new Set(Object.values(RULES))
      .values().filter((it) => hasEffect(problem, it));
    assert.deepEqual([...effects], [effect]);
    assert.equal(isError(problem), expected);
  }
});
