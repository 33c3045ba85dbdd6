import assert from "node:assert/strict";
import type { ScanOptions, SkillPolicyRule, SkillScope } from "../../mod.ts";
import { read } from "../../tests/testing/docs.ts";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { formatDiagnostic } from "../diagnostics.ts";
import { join, resolve } from "../fs/paths.ts";
import { Project } from "../skills/project.ts";
import { Policy, type PolicySubject } from "./policy.ts";

const withLinks = needs("links");

/** A skill for a policy to decide on: `git` of the user's, if nothing else is given. */
interface Properties {
  name?: string;
  scope?: SkillScope;
  directory?: string;
  realDirectory?: string;
}

/** Describes a skill to a policy. On Windows, its paths are on the current drive. */
function subject(properties: Properties = {}): PolicySubject {
  const { name = "git", scope = "global", directory = "/x" } = properties;
  const paths = [directory, properties.realDirectory ?? directory];
  return { names: [name], scope, paths: paths.map((path) => resolve(path)) };
}

/** Creates a valid policy of rules for a user whose home directory is `/home/me`. */
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
  assert.deepEqual(await policy.load(new Project({})), []);
  return policy;
}

Deno.test("Policy.decide() applies the last rule whose conditions all match", async () => {
  const rules: SkillPolicyRule[] = [
    { scope: "project", state: "off" },
    { scope: "project", in: "/code", state: "on" },
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
  const policy = await policyOf(rules);
  for (const [skill, state] of cases) {
    const decision = policy.decide(subject(skill));
    assert.equal(decision.state, state, JSON.stringify(skill));
  }
  const { policyRule } = policy.decide(subject({ name: "pdf" }));
  assert.equal(policyRule?.place, "rules[3]");
  const empty = await policyOf([]);
  assert.equal(empty.decide(subject()).state, "on");
});

withLinks.test("Policy.decide() follows links in rules, but none of the project out of it", async () => {
  using place = new Place();
  const data = place.dir("data", "work");
  place.dir("data", "work", "p");
  place.link(data, "home/code");
  place.link(data, "project/code");
  const project = new Project({ workingDirectory: place.project });
  const policy = new Policy({
    homeDirectory: place.home,
    workingDirectory: place.project,
    policy: {
      rules: [
        { in: "~/code", state: "off" },
        { in: "~/code/p", state: "pinned" },
        { in: "code", state: "manual" },
      ],
    },
  });
  await policy.load(project);
  const stateIn = (directory: string, realDirectory = directory) =>
    policy.decide(subject({ directory, realDirectory })).state;
  assert.equal(stateIn(data), "off");
  assert.equal(stateIn(join(data, "git")), "off");
  assert.equal(stateIn(join(data, "p", "git")), "pinned");
  // The skill itself is a link to elsewhere.
  const store = "/store/git";
  assert.equal(stateIn(join(data, "git"), store), "off");
  assert.equal(stateIn(join(place.home, "code", "git"), store), "off");
  place.remove("home/code");
  await policy.load(project);
  assert.equal(stateIn(join(data, "git")), "on");
  // The project's link names only what its path lists.
  assert.equal(stateIn(join(place.project, "code", "git")), "manual");
});

Deno.test("Policy.decide() does not let links evade rules or benefit from them", async () => {
  const policy = await policyOf([
    { in: "/clones", state: "off" },
    { in: "/shared", state: "manual" },
    { in: "/mine/pinned", state: "pinned" },
    { in: "/terse", state: "name-only" },
  ]);
  const cases: [directory: string, realDirectory: string, state: string][] = [
    ["/mine/git", "/clones/git", "off"],
    ["/clones/git", "/mine/git", "off"],
    ["/clones/git", "/mine/pinned/git", "off"],
    ["/mine/pinned/git", "/shared/git", "manual"],
    ["/shared/git", "/mine/pinned/git", "manual"],
    ["/shared/git", "/clones/git", "off"],
    ["/mine/pinned/git", "/elsewhere/git", "pinned"],
    ["/mine/pinned/git", "/terse/git", "name-only"],
    ["/terse/git", "/shared/git", "manual"],
    ["/mine/git", "/mine/pinned/git", "on"],
  ];
  for (const [directory, realDirectory, state] of cases) {
    const decided = policy.decide(subject({ directory, realDirectory })).state;
    assert.equal(decided, state, `${directory} -> ${realDirectory}`);
  }
});

Deno.test("Policy.load() says which rule names a folder that cannot be resolved", async () => {
  using place = new Place();
  const secret = place.dir("secret");
  const rules = ["~/code", secret]
    .map((dir) => ({ in: dir, state: "off" }) as const);
  const homeless = new Policy({ policy: { rules } });
  const [unknown] = await homeless.load(new Project({}));
  assert.match(
    formatDiagnostic(unknown!),
    /^Cannot use the policy "options.policy": Cannot find "~\/code": the home folder is unknown.*; until then, no skills are served$/,
  );
  assert.equal(homeless.isUsable, false);
  const policy = await policyOf(rules);
  using _disk = new DiskSpy((path) =>
    path === secret ? new Deno.errors.NotCapable("denied") : undefined
  );
  const [denied] = await policy.load(new Project({}));
  assert.equal(denied!.reason, "denied");
  assert.match(denied!.fix, /; until then, the last valid policy applies$/);
  assert.equal(policy.isUsable, true);
});

Deno.test("Policy checks an object like a file", async () => {
  const rules = [{ state: "of" } as unknown as SkillPolicyRule];
  const policy = new Policy({ policy: { rules } });
  const [diagnostic] = await policy.load(new Project({}));
  assert.match(diagnostic!.reason, /^rules\[0\]\.state: It must be one of/);
  assert.equal(policy.isUsable, false);
});

Deno.test("Policy.listUnused() lists the rules that match nothing", async () => {
  const policy = await policyOf([
    { state: "off" },
    { skill: "git", state: "on" },
    { skill: "gti", state: "on" },
    { in: "/nowhere", state: "off" },
    { scope: "project", state: "off" },
    { skill: ["GIT", "pfd"], state: "on" },
  ]);
  const unusedFor = (subject: PolicySubject) =>
    policy.listUnused([subject]).map(({ reason }) => reason);
  assert.deepEqual(
    unusedFor(subject()),
    [2, 3, 4].map((index) => `rules[${index}] matches no skill`),
  );
  // A directory without a valid skill may have several names.
  const names = ["git", "gti"];
  assert.equal(unusedFor({ ...subject(), names }).length, 2);
});

Deno.test("in the name of a rule, * stands for any text and ? for one character", async () => {
  const cases: [skill: string | string[], hits: string[], others: string[]][] =
    [
      ["*", ["git", ".git", "a/b", "a".repeat(100)], []],
      ["git", ["git", "GIT", " Git "], ["git2", "gi"]],
      ["*.*", [".net", "a.b", "a/b.c"], ["ab"]],
      ["a?c", ["abc", "a.c", "a/c", "a\u{1f600}c"], ["ac", "abbc"]],
      ["a*", ["a", "abc"], ["ba"]],
      ["*ab?", ["aabc", "abab1"], ["ab"]],
      ["ab*bc", ["abbc", "abcbc"], ["abc"]],
      [["aws-*", "gcp"], ["aws-s3", "GCP"], ["azure", "gcp-run"]],
      ["über-*", ["ÜBER-x", "u\u0308ber-x"], ["uber-x"]],
      ["+(a|b)*", ["+(a|b)c"], ["ab", "a"]],
      ["[a-z]\\d", ["[a-z]\\d"], ["a1"]],
      ["R&D", ["R&D", "r&d"], ["RD"]],
    ];
  for (const [skill, hits, others] of cases) {
    const policy = await policyOf([{ skill, state: "off" }]);
    const matching = [...hits, ...others]
      .filter((name) => policy.decide(subject({ name })).state === "off");
    assert.deepEqual(matching, hits, String(skill));
  }
});

Deno.test("a rule matches everything in its folders", async () => {
  const cases: [dir: string | string[], hits: string[], others: string[]][] = [
    [
      "~/code",
      ["/home/me/code", "/home/me/code/p/.claude/skills/git"],
      ["/home/me/code2/git", "/code/git", "/home/other/code/git"],
    ],
    ["~/code/", ["/home/me/code/a/b"], ["/home/me/codeer"]],
    ["~", ["/home/me/git"], ["/home/you/git"]],
    ["/", ["/git", "/a/b"], []],
    ["./mine", ["/etc/policy/mine/git"], ["/etc/mine/git"]],
    ["../other", ["/etc/other/git"], ["/etc/policy/other/git"]],
    ["/a (copy)/b[!0]", ["/a (copy)/b[!0]/git"], ["/a (copy)/b1/git"]],
    [["/code", "~/a"], ["/code/x/git", "/home/me/a"], ["/a/git"]],
  ];
  for (const [dir, hits, others] of cases) {
    const policy = await policyOf([{ in: dir, state: "off" }]);
    const matching = [...hits, ...others]
      .filter((directory) =>
        policy.decide(subject({ directory })).state === "off"
      );
    assert.deepEqual(matching, hits, String(dir));
  }
});

/** The states of skills with each policy of `docs/policy.md`, in its order. */
const DOCUMENTED: [skill: Properties, states: string[]][] = [
  [
    { scope: "project", directory: "/home/me/clone/.claude/skills/git" },
    ["off", "pinned", "off"],
  ],
  [
    { scope: "project", directory: "/home/me/code/app/.claude/skills/git" },
    ["on", "pinned", "off"],
  ],
  [
    { directory: "/home/me/.claude/skills/git" },
    ["on", "pinned", "on"],
  ],
  [{ name: "aws-s3" }, ["on", "name-only", "off"]],
  [{ name: "deploy" }, ["on", "on", "on"]],
];

Deno.test("the policies in docs/policy.md do what the page says", async () => {
  using place = new Place();
  const blocks = read("docs/policy.md").matchAll(/```yaml\n(.*?)```/gs);
  const policies = await Array.fromAsync(blocks, ([, text]) => {
    const file = place.file("policy.yaml", text!);
    return policyOf([], { policy: file });
  });
  for (const [skill, states] of DOCUMENTED) {
    const decided = policies.map((it) => it.decide(subject(skill)).state);
    assert.deepEqual(decided, states, JSON.stringify(skill));
  }
});
