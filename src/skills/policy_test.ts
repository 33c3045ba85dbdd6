import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import type { ScanOptions, SkillPolicyRule, SkillScope } from "../../mod.ts";
import { Policy, type PolicySubject } from "./policy.ts";
import { describeProblem } from "./catalog.ts";
import { isWindows, REPOSITORY } from "../../tests/testing/environment.ts";
import { DiskSpy, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";

/** What a policy decides on. */
interface Properties {
  name?: string;
  scope?: SkillScope;
  directory?: string;
  realDirectory?: string;
}

/** Creates a skill for a policy to decide on. On Windows, its paths are on the current drive. */
function subject(directory: string, rest: Properties = {}): PolicySubject {
  const { name = "git", scope = "global", realDirectory = directory } = rest;
  const paths = [directory, realDirectory].map((path) => resolve(path));
  return { names: [name], scope, paths };
}

/** Creates a valid policy of rules for a user whose home folder is `/home/me`. */
async function policyOf(
  rules: readonly SkillPolicyRule[],
  options: ScanOptions = {},
): Promise<Policy> {
  const policy = new Policy({
    workingDirectory: resolve("/etc/policy"),
    homeDirectory: resolve("/home/me"),
    policy: { rules },
    ...options,
  });
  assert.deepEqual(await policy.load(), []);
  return policy;
}

/** Returns the state that rules give a skill. */
async function stateOf(
  rules: readonly SkillPolicyRule[],
  skill: PolicySubject,
  options?: ScanOptions,
): Promise<string> {
  return (await policyOf(rules, options)).decide(skill).state;
}

Deno.test("Policy.decide() applies the last rule whose conditions all match", async () => {
  const rules: SkillPolicyRule[] = [
    { scope: "project", state: "off" },
    { scope: "project", in: "/code/**", state: "on" },
    { skill: "aws-*", state: "name-only" },
    { skill: "pdf", state: "pinned" },
    { skill: "PDF", scope: "project", state: "manual" },
  ];
  const cases: [Properties, string][] = [
    [{ name: "git" }, "on"],
    [{ name: "git", scope: "project" }, "off"],
    [{ name: "git", scope: "project", directory: "/code/p/git" }, "on"],
    [{ name: "aws-s3" }, "name-only"],
    [{ name: "AWS-S3", scope: "project" }, "name-only"],
    [{ name: "Pdf" }, "pinned"],
    [{ name: "pdf", scope: "project", directory: "/code/p/pdf" }, "manual"],
  ];
  for (const [properties, state] of cases) {
    const { directory = "/home/me/x" } = properties;
    const skill = subject(directory, properties);
    const decided = await stateOf(rules, skill);
    assert.equal(decided, state, JSON.stringify(properties));
  }
  assert.equal(await stateOf([], subject("/x")), "on");
  const policy = await policyOf(rules);
  const { rule } = policy.decide(subject("/x", { name: "pdf" }));
  assert.equal(rule, rules[3]);
});

/** A glob, what it matches, and what it does not match. */
type GlobCase = [glob: string, hits: string[], others: string[]];

/** Asserts what the globs of rules match. */
async function assertMatches(
  cases: readonly GlobCase[],
  stateFor: (glob: string, text: string) => Promise<string>,
): Promise<void> {
  for (const [glob, hits, others] of cases) {
    for (const text of hits) {
      assert.equal(await stateFor(glob, text), "off", `${glob} ${text}`);
    }
    for (const text of others) {
      assert.equal(await stateFor(glob, text), "on", `${glob} ${text}`);
    }
  }
}

Deno.test("Policy.decide() matches names by globs", async () => {
  const long = "a".repeat(16_000);
  await assertMatches(
    [
      ["*", ["git", ".git", "a/b", long], []],
      ["git", ["git", "GIT", " Git "], ["git2", "gi"]],
      ["*.*", [".net", "a.b", "a/b.c"], ["ab"]],
      ["*net", [".net", "../net", "a\\net"], ["net2"]],
      ["a?c", ["abc", "a.c", "a/c"], ["ac"]],
      ["[a-c]x", ["ax", "cx"], ["dx"]],
      ["[!a-c\\]x", ["dx"], ["ax", "\\x"]],
      ["[z-a]*", [], ["a", "z", "[z-a]"]],
      ["{aws,gcp{1,2}}-*", ["aws-s3", "GCP2-run"], ["azure-vm", "gcp-run"]],
      ["über-*", ["ÜBER-x", "u\u0308ber-x"], ["uber-x"]],
      ["+(a|b)*", ["+(a|b)c"], ["ab", "a"]],
      ["!a*", ["!ab"], ["b"]],
      ["#*", ["#1"], ["1"]],
      ["{1..3}*", ["{1..3}"], ["2", "1"]],
      ["*a*a*a*a*b", [`${long}b`, "aaaab"], [long, "aaab"]],
    ],
    (skill, name) =>
      stateOf([{ skill, state: "off" }], subject("/x", { name })),
  );
});

Deno.test("Policy.decide() matches directories in the home folder, in the policy's folder, and anywhere", async () => {
  const backslash: GlobCase = isWindows
    ? ["/a\\b\\*", ["/a/b/git"], ["/a/git"]]
    : ["/a\\b/*", ["/a\\b/git"], ["/a/b/git"]];
  await assertMatches([
    [
      "~/code/**",
      ["/home/me/code/p/.claude/skills/git", "/home/me/code"],
      ["/home/me/code2/git", "/code/git", "/home/other/code/git"],
    ],
    ["~/code", ["/home/me/code", "/home/me/code/a/b"], ["/home/me/code2"]],
    ["~/code/", ["/home/me/code/a/b"], ["/home/me/codeer"]],
    ["~", ["/home/me/git"], ["/home/you/git"]],
    [
      "~/code/*",
      ["/home/me/code/git", "/home/me/code/.git"],
      ["/home/me/code", "/home/me/code/p/git"],
    ],
    ["/", ["/git", "/a/b"], []],
    [
      "/*/skills/**",
      ["/srv/skills/git", "/.x/skills/a/b"],
      ["/skills/git", "/a/b/skills/git"],
    ],
    [
      "**/skills/g*",
      ["/etc/policy/skills/git", "/etc/policy/.claude/skills/g"],
      ["/etc/skills/git", "/etc/policy/skills/pdf"],
    ],
    ["/a/**/b/**/c", ["/a/b/c", "/a/x/b/b/y/c"], ["/a/c", "/a/b/c/d"]],
    ["**/a/**/a/**/a/**/b", [], [`/etc/policy${"/a".repeat(2_000)}`]],
    ["./mine", ["/etc/policy/mine/git"], ["/etc/mine/git"]],
    ["../other/**", ["/etc/other/git"], ["/etc/policy/other/git"]],
    ["/a (copy)/b[!0]/**", ["/a (copy)/b1/git"], ["/a (copy)/b/git"]],
    ["{/code,/a*}", ["/code/x/git", "/a1"], ["/a1/git"]],
    ["{/code/*,/a}", ["/code/git", "/a/x/git"], ["/code/x/git"]],
    ["{/a,/code/**/}", ["/code/x/git", "/a/x/git"], ["/codes"]],
    backslash,
  ], (glob, folder) => stateOf([{ in: glob, state: "off" }], subject(folder)));
});

Deno.test("Policy.decide() follows links in the folder paths of rules", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  const data = place.folder("data", "work");
  place.link(data, "home/code");
  const policy = await policyOf([
    { in: "~/code/**", state: "off" },
    { in: "~/co*", state: "manual" },
    { in: "~/c*e/p/*", state: "pinned" },
  ], { homeDirectory: place.home });
  const stateIn = (...names: string[]) =>
    policy.decide(subject(join(data, ...names))).state;
  assert.deepEqual(
    [stateIn(), stateIn("p"), stateIn("p", "git"), stateIn("p", "git", "x")],
    ["manual", "off", "pinned", "off"],
  );
  place.remove("home/code");
  await policy.load();
  assert.deepEqual([stateIn(), stateIn("p", "git")], ["on", "on"]);
});

Deno.test("Policy.decide() does not let links evade rules or benefit from them", async () => {
  const rules: SkillPolicyRule[] = [
    { in: "/clones/**", state: "off" },
    { in: "/shared/**", state: "manual" },
    { in: "/mine/pinned/**", state: "pinned" },
  ];
  const cases: [directory: string, realDirectory: string, state: string][] = [
    ["/mine/git", "/clones/git", "off"],
    ["/clones/git", "/mine/git", "off"],
    ["/clones/git", "/mine/pinned/git", "off"],
    ["/mine/pinned/git", "/shared/git", "manual"],
    ["/shared/git", "/mine/pinned/git", "manual"],
    ["/shared/git", "/clones/git", "off"],
    ["/mine/pinned/git", "/elsewhere/git", "pinned"],
    ["/mine/git", "/mine/pinned/git", "on"],
  ];
  for (const [directory, realDirectory, state] of cases) {
    const decided = await stateOf(rules, subject(directory, { realDirectory }));
    assert.equal(decided, state, `${directory} -> ${realDirectory}`);
  }
});

Deno.test("Policy.load() refuses globs that are too long, stand for too much, or start nowhere", async () => {
  const letters = [..."0123456789abcdefghijklmnopqrstuvwxyz"];
  const cases: [Omit<SkillPolicyRule, "state">, RegExp][] = [
    [
      { skill: `*${"x".repeat(300)}` },
      /^Cannot use the policy "options.policy": the glob .* has more than 256.*; until then, no skills are served$/,
    ],
    [{ in: `/{${letters}}`.repeat(3) }, /more than 1000 alternatives/],
    [{ skill: "{a,b}".repeat(40) }, /more than 1000 alternatives/],
    // To expand its alternatives would take gigabytes.
    [{ skill: "{a,b}".repeat(1e6) }, /has more than 256 characters/],
    [{ in: "{/a,~/code}" }, /: .* relative to an unknown one; write/],
  ];
  for (const [rule, message] of cases) {
    const rules = [{ ...rule, state: "off" } as const];
    const policy = new Policy({ policy: { rules } });
    const [problem] = await policy.load();
    assert.match(describeProblem(problem!), message);
    assert.equal(policy.isUsable, false);
  }
});

Deno.test(
  "what the wildcard of a rule meets and cannot resolve is off, and the policy stays valid",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.folder("code", "good");
    place.folder("code", "bad");
    place.link("bad", "code/loop");
    const bad = join(place.path, "code", "bad");
    using _disk = new DiskSpy((path) =>
      path === bad ? new Deno.errors.PermissionDenied() : undefined
    );
    const policy = await policyOf([
      { in: `${place.path}/code/*/skills/**`, state: "pinned" },
    ]);
    const stateIn = (folder: string) =>
      policy.decide(subject(join(place.path, "code", folder))).state;
    assert.equal(stateIn("good/skills/git"), "pinned");
    assert.equal(stateIn("bad/skills/git"), "off");
  },
);

Deno.test("a policy is invalid if the folder above the first wildcard of a rule cannot be read", async () => {
  using place = new Place();
  using _disk = new DiskSpy((path) =>
    path === place.path ? new Deno.errors.NotCapable() : undefined
  );
  const policy = new Policy({
    policy: { rules: [{ in: `${place.path}/*`, state: "off" }] },
    workingDirectory: place.path,
  });
  const [problem] = await policy.load();
  assert.match(
    describeProblem(problem!),
    /^Cannot use the policy .*: the folder ".*" cannot be used: Deno is not allowed to read it; add it to/,
  );
});

Deno.test("skills in a name-only folder are listed by name, whatever their names, unless a rule applies to them", async () => {
  const policy = await policyOf([{ skill: "pdf", state: "on" }], {
    nameOnlyFolders: [resolve("/mine")],
  });
  const state = (directory: string, name: string) =>
    policy.decide(subject(directory, { name })).state;
  assert.equal(state("/mine/git", "git"), "name-only");
  assert.equal(state("/mine/odd", "-Odd_name"), "name-only");
  assert.equal(state("/mine/pdf", "pdf"), "on");
  assert.equal(state("/other/git", "git"), "on");
});

Deno.test("the policies in docs/policy.md do what the page says", async () => {
  using place = new Place();
  const page = Deno.readTextFileSync(join(REPOSITORY, "docs", "policy.md"));
  const blocks = page.matchAll(/```yaml\n(.*?)```/gs);
  const states = await Array.fromAsync(blocks, async ([, text]) => {
    const file = place.file("policy.yaml", text!);
    const policy = await policyOf([], { policy: file });
    return [
      subject("/home/me/clone/.claude/skills/git", { scope: "project" }),
      subject("/home/me/code/app/.claude/skills/git", { scope: "project" }),
      subject("/home/me/.claude/skills/git"),
      subject("/home/me/.claude/skills/aws-s3", { name: "aws-s3" }),
      subject("/home/me/.claude/skills/deploy", { name: "deploy" }),
    ].map((skill) => policy.decide(skill).state);
  });
  assert.deepEqual(states, [
    ["off", "on", "on", "on", "on"],
    ["pinned", "pinned", "pinned", "name-only", "on"],
    ["on", "on", "on", "on", "manual"],
  ]);
});

Deno.test("Policy.decide() takes linear time for many rules and many links to the same skill", async () => {
  await assertLinearTime(async (length) => {
    const rules = Array.from({ length }, (_, index) => {
      return { skill: `skill-${index}`, state: "off" as const };
    });
    const paths = Array.from(
      { length },
      (_, index) => resolve(`/skills/${index}`),
    );
    const names = ["git", "skill-1"];
    const { rule } = (await policyOf(rules))
      .decide({ names, scope: "global", paths });
    assert.equal(rule, rules[1]);
  }, { length: 10_000, what: "rules and links" });
});
