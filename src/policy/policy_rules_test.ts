import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { isWindows } from "../../tests/testing/environment.ts";
import { resolve } from "../fs/paths.ts";
import type { BaseFolders } from "../fs/paths.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { Project } from "../skills/project.ts";
import type { SkillPolicyRule } from "../skills/types.ts";
import {
  activateRule,
  type ActiveRule,
  isInAny,
  isMatch,
  PolicyError,
  type PolicySubject,
  resolveRuleFolder,
} from "./policy_rules.ts";

const BASE: BaseFolders = {
  workingDirectory: resolve("/etc/policy"),
  homeDirectory: resolve("/home/me"),
};

/** Prepares a rule with these conditions. */
function activate(
  conditions: Omit<SkillPolicyRule, "state">,
  base = BASE,
): ActiveRule {
  const rule = { ...conditions, state: "off", line: 7 } as const;
  return activateRule(rule, base, new Project({}));
}

/** Describes a skill that is listed by one path. On Windows, it is on the current drive. */
function subject(path: string, name = "git"): PolicySubject {
  return { names: [name], scope: "global", paths: [resolve(path)] };
}

/** A condition, what it matches, and what it does not match. */
type Case = [condition: string | string[], hits: string[], others: string[]];

/** Asserts what the conditions of rules match. */
function assertMatches(
  cases: readonly Case[],
  matches: (condition: string | string[], text: string) => boolean,
): void {
  for (const [condition, hits, others] of cases) {
    for (const text of hits) {
      assert.equal(matches(condition, text), true, `${condition} ${text}`);
    }
    for (const text of others) {
      assert.equal(matches(condition, text), false, `${condition} ${text}`);
    }
  }
}

Deno.test("isMatch() matches names, in which * stands for any text and ? for one character", () => {
  const long = "a".repeat(1_000);
  assertMatches(
    [
      ["*", ["git", ".git", "a/b", long], []],
      ["git", ["git", "GIT", " Git "], ["git2", "gi"]],
      ["*.*", [".net", "a.b", "a/b.c"], ["ab"]],
      ["*net", [".net", "../net", "a\\net"], ["net2"]],
      ["a?c", ["abc", "a.c", "a/c", "a\u{1f600}c"], ["ac", "abbc"]],
      ["a*", ["a", "abc"], ["ba"]],
      [["aws-*", "gcp"], ["aws-s3", "GCP"], ["azure", "gcp-run"]],
      ["über-*", ["ÜBER-x", "u\u0308ber-x"], ["uber-x"]],
      ["+(a|b)*", ["+(a|b)c"], ["ab", "a"]],
      ["*a*a*a*a*b", [`${long}b`, "aaaab"], [long, "aaab"]],
    ],
    (skill, name) => isMatch(activate({ skill }), subject("/x", name)),
  );
});

Deno.test("isMatch() matches everything in a folder: in the home folder, in the policy's folder, and anywhere", () => {
  const backslash: Case = isWindows
    ? ["/a\\b\\**", ["/a/b/git"], ["/a/git"]]
    : ["/a\\b", ["/a\\b/git"], ["/a/b/git"]];
  assertMatches(
    [
      [
        "~/code",
        ["/home/me/code", "/home/me/code/p/.claude/skills/git"],
        ["/home/me/code2/git", "/code/git", "/home/other/code/git"],
      ],
      ["~/code/", ["/home/me/code/a/b"], ["/home/me/codeer"]],
      ["~/code/**", ["/home/me/code", "/home/me/code/a/b"], ["/home/me/codes"]],
      ["~", ["/home/me/git"], ["/home/you/git"]],
      ["/", ["/git", "/a/b"], []],
      ["/**", ["/git", "/a/b"], []],
      ["./mine", ["/etc/policy/mine/git"], ["/etc/mine/git"]],
      ["../other", ["/etc/other/git"], ["/etc/policy/other/git"]],
      ["/a (copy)/b[!0]", ["/a (copy)/b[!0]/git"], ["/a (copy)/b1/git"]],
      ["/a{b}", ["/a{b}/git"], ["/ab/git"]],
      [["/code", "~/a"], ["/code/x/git", "/home/me/a"], ["/a/git"]],
      backslash,
    ],
    (folder, path) => isMatch(activate({ in: folder }), subject(path)),
  );
});

Deno.test("isMatch() compares names as regular expressions do", () => {
  const piece = fc.constantFrom("*", "?", "a", "b", "\u{1f600}");
  const textOf = (maxLength: number) =>
    fc.array(piece, { minLength: 1, maxLength })
      .map((pieces) => pieces.join(""));
  fc.assert(
    fc.property(textOf(6), textOf(8), (skill, name) => {
      const source = skill.replaceAll("?", ".").replaceAll("*", ".*");
      const expected = new RegExp(`^${source}$`, "su").test(name);
      const actual = isMatch(activate({ skill }), subject("/x", name));
      assert.equal(actual, expected);
    }),
    { numRuns: 5_000 },
  );
});

Deno.test("isMatch() demands that all conditions match: one of the names, the scope, and one of the paths", () => {
  const rule = activate({ skill: "git", scope: "project", in: "/code" });
  const skill: PolicySubject = {
    names: ["other", "git"],
    scope: "project",
    paths: ["/mine/git", "/code/git"].map((path) => resolve(path)),
  };
  assert.equal(isMatch(rule, skill), true);
  const [name, path] = [skill.names[0]!, skill.paths[0]!];
  for (
    const change of [
      { names: [name] },
      { names: [] },
      { scope: "global" },
      { paths: [path] },
      { paths: [] },
    ] as const
  ) {
    const changed = { ...skill, ...change };
    assert.equal(isMatch(rule, changed), false, JSON.stringify(change));
  }
  assert.equal(isMatch(activate({}), skill), true);
  assert.equal(isMatch(activate({ skill: [] }), skill), false);
  assert.equal(isMatch(activate({ in: [] }), skill), false);
});

Deno.test("activateRule() refuses what would be reinterpreted silently, and says what to write", () => {
  const cases: [Omit<SkillPolicyRule, "state">, string][] = [
    [
      { skill: "{aws,gcp}-*" },
      'the name "{aws,gcp}-*" contains braces, brackets, or commas, which have no meaning; write a list of names, as in ["a", "b"], or "?" for any one character',
    ],
    [{ skill: ["ok", "{a,b{c,d}}"] }, 'the name "{a,b{c,d}}" contains braces'],
    [
      { skill: "v[0-9]" },
      'the name "v[0-9]" contains braces, brackets, or commas',
    ],
    [{ skill: "pdf, docx" }, 'the name "pdf, docx" contains braces'],
    [{ skill: "a[" }, 'the name "a[" contains braces, brackets, or commas'],
    [
      { skill: "" },
      'a name is empty, or has more than 1024 characters; write a name, or "*" for all skills',
    ],
    [{ skill: ["ok", "\u200b"] }, "a name is empty"],
    [
      { skill: "global:git" },
      'the name "global:git" begins with a scope; write the rest of the name, and the scope as "scope:"',
    ],
    [{ skill: "Project:*" }, 'the name "Project:*" begins with a scope'],
    [{ skill: "*".repeat(1_025) }, "a name is empty"],
    [{ in: "" }, 'a folder is empty; write its path, as in "~/code"'],
    [
      { in: "~/code/*" },
      'the folder "~/code/*" contains wildcards, which have no meaning; write a list of folders, as in ["~/a", "~/b"]; everything in a folder matches, at any depth',
    ],
    [{ in: ["/x", " "] }, "a folder is empty"],
    [{ in: "~/{a,b}/**" }, 'the folder "~/{a,b}/**" contains wildcards'],
    [{ in: ["/x", "**/skills"] }, 'the folder "**/skills" contains wildcards'],
    [{ in: "~/c?de" }, 'the folder "~/c?de" contains wildcards'],
    [
      { in: "~/code" },
      "is relative to an unknown folder; write an absolute path",
    ],
  ];
  for (const [rule, message] of cases) {
    assert.throws(() => activate(rule, {}), (error) => {
      assert.ok(error instanceof PolicyError, String(error));
      const [{ reason, fix, ...rest }] = error.faults as [DiagnosticDetails];
      assert.ok(`${reason}; ${fix}`.includes(message), reason);
      assert.deepEqual(rest, { rule: "policy", line: 7 });
      return true;
    });
  }
});

Deno.test("isInAny() accepts any path if no folders are named, and else what is in one", () => {
  assert.equal(isInAny("/a", undefined), true);
  assert.equal(isInAny("/a", []), false);
  assert.equal(isInAny("/a/b", ["/x", "/a"]), true);
  assert.equal(isInAny("/ab", ["/a"]), false);
  // The root is empty in comparable form.
  assert.equal(isInAny("/a", [""]), true);
});

Deno.test("resolveRuleFolder() drops what adds nothing at the end, and returns nothing for an unknown base", () => {
  for (const folder of ["~/a", "~/a/", "~/a//", "~/a/**", "~/a/**/"]) {
    assert.equal(resolveRuleFolder(folder, BASE), resolve("/home/me/a"));
  }
  for (const folder of ["/", "//", "/**"]) {
    assert.equal(resolveRuleFolder(folder, BASE), resolve("/"), folder);
  }
  assert.equal(resolveRuleFolder("~/a", {}), undefined);
});
