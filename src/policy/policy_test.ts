import assert from "node:assert/strict";
import type { ScanOptions, SkillPolicyRule, SkillScope } from "../../mod.ts";
import { join, resolve } from "../fs/paths.ts";
import { Policy, type PolicySubject } from "./policy.ts";
import { STATE_NAMES } from "./states.ts";
import { Project } from "../skills/project.ts";
import { formatDiagnostic } from "../diagnostics.ts";
import { DiskSpy, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { read } from "../../tests/testing/pages.ts";

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
  for (const [properties, state] of cases) {
    const { directory = "/home/me/x" } = properties;
    const skill = subject(directory, properties);
    const decided = await stateOf(rules, skill);
    assert.equal(decided, state, JSON.stringify(properties));
  }
  assert.equal(await stateOf([], subject("/x")), "on");
  const policy = await policyOf(rules);
  const { policyRule: rule } = policy.decide(subject("/x", { name: "pdf" }));
  assert.equal(rule, rules[3]);
});

Deno.test(
  "Policy.decide() follows links in the folders of rules, but none of the project out of it",
  {
    ignore: lacks("links"),
  },
  async () => {
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
    const stateIn = (...names: string[]) =>
      policy.decide(subject(join(data, ...names))).state;
    assert.deepEqual(
      [stateIn(), stateIn("git"), stateIn("p", "git")],
      ["off", "off", "pinned"],
    );
    place.remove("home/code");
    await policy.load(project);
    assert.deepEqual([stateIn("git"), stateIn("p", "git")], ["on", "on"]);
    // A path through the project's link counts as it is written.
    const linked = subject(join(place.project, "code", "git"));
    assert.equal(policy.decide(linked).state, "manual");
  },
);

Deno.test("Policy.decide() does not let links evade rules or benefit from them", async () => {
  const rules: SkillPolicyRule[] = [
    { in: "/clones", state: "off" },
    { in: "/shared", state: "manual" },
    { in: "/mine/pinned", state: "pinned" },
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

Deno.test("Policy.load() says which rule names a folder that cannot be resolved, and what applies until it is fixed", async () => {
  using place = new Place();
  place.dir("secret");
  const rules = [{ in: "~/code" }, { in: join(place.path, "secret") }]
    .map((rule) => ({ ...rule, state: "off" as const }));
  const options = { policy: { rules }, homeDirectory: undefined };
  const unknown = new Policy(options);
  const [diagnostic] = await unknown.load(new Project({}));
  assert.match(
    formatDiagnostic(diagnostic!),
    /^Cannot use the policy "options.policy": Cannot find "~\/code": the home folder is unknown.*; until then, no skills are served$/,
  );
  assert.equal(unknown.isUsable, false);
  const policy = new Policy({ ...options, homeDirectory: place.home });
  assert.deepEqual(await policy.load(new Project({})), []);
  using _disk = new DiskSpy((path) =>
    path.endsWith("secret") ? new Deno.errors.NotCapable("denied") : undefined
  );
  const [later] = await policy.load(new Project({}));
  assert.equal(later!.reason, "denied");
  assert.match(later!.fix, /; until then, the last valid policy applies$/);
  assert.equal(policy.isUsable, true);
});

Deno.test("Policy throws for an unknown state or scope in an object, which would fail open", () => {
  const rules = [{ state: "off", scope: "Global" as "global" }] as const;
  assert.throws(() => new Policy({ policy: { rules } }), {
    message: 'Invalid scope "Global": expected one of project, global',
  });
  for (const state of ["Off", "", "toString"]) {
    const policy = { rules: [{ state: state as "off" }] };
    assert.throws(() => new Policy({ policy }), {
      name: "TypeError",
      message: `Invalid state "${state}": expected one of ${
        STATE_NAMES.join(", ")
      }`,
    });
  }
});

Deno.test("Policy.listUnused() lists the rules that match nothing, but not those that a later one overrides", async () => {
  const rules: SkillPolicyRule[] = [
    { state: "off" },
    { skill: "git", state: "on" },
    { skill: "gti", state: "on" },
    { in: "/nowhere", state: "off" },
    { scope: "project", state: "off" },
    { skill: ["GIT", "pfd"], state: "on" },
    { skill: [], state: "on" },
  ];
  const policy = await policyOf(rules);
  const listUnused = (...subjects: PolicySubject[]) =>
    policy.listUnused(subjects).map(({ reason }) => reason);
  const [misspelled, ...others] = listUnused(subject("/x"), subject("/y"));
  assert.equal(misspelled, "rules[2] matches no skill");
  assert.deepEqual(
    others,
    [3, 4, 6].map((index) => `rules[${index}] matches no skill`),
  );
  // A directory without a valid skill may have several names.
  const names = ["unknown", "gti"];
  assert.ok(!listUnused({ ...subject("/x"), names }).includes(misspelled!));
});

Deno.test("in the name of a rule, * stands for any text and ? for one character", async () => {
  const long = "a".repeat(100);
  const cases: [skill: string | string[], hits: string[], others: string[]][] =
    [
      ["*", ["git", ".git", "a/b", long], []],
      ["git", ["git", "GIT", " Git "], ["git2", "gi"]],
      ["*.*", [".net", "a.b", "a/b.c"], ["ab"]],
      ["a?c", ["abc", "a.c", "a/c", "a\u{1f600}c"], ["ac", "abbc"]],
      ["a*", ["a", "abc"], ["ba"]],
      [["aws-*", "gcp"], ["aws-s3", "GCP"], ["azure", "gcp-run"]],
      ["über-*", ["ÜBER-x", "u\u0308ber-x"], ["uber-x"]],
      ["+(a|b)*", ["+(a|b)c"], ["ab", "a"]],
      ["[a-z]\\d", ["[a-z]\\d"], ["a1"]],
      ["R&D", ["R&D", "r&d"], ["RD"]],
    ];
  for (const [skill, hits, others] of cases) {
    const policy = await policyOf([{ skill, state: "off" }]);
    const matching = [...hits, ...others]
      .filter((name) => policy.decide(subject("/x", { name })).state === "off");
    assert.deepEqual(matching, hits, String(skill));
  }
});

Deno.test("a rule matches everything in its folders: in the home folder, in the policy's folder, and anywhere", async () => {
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
      .filter((path) => policy.decide(subject(path)).state === "off");
    assert.deepEqual(matching, hits, String(dir));
  }
});

Deno.test(
  "a folder of a rule that is a link covers what its path lists, and its real folder",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const data = place.dir("data");
    const link = place.link("data", "mine");
    // The skills are links to elsewhere.
    const realDirectory = "/store/git";
    for (const dir of [data, link]) {
      const skill = subject(join(dir, "git"), { realDirectory });
      const state = await stateOf([{ in: link, state: "off" }], skill);
      assert.equal(state, "off", dir);
    }
  },
);

Deno.test("the policies in docs/policy.md do what the page says", async () => {
  using place = new Place();
  const blocks = read("docs/policy.md").matchAll(/```yaml\n(.*?)```/gs);
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
    ["off", "off", "on", "off", "on"],
    ["on", "on", "on", "off", "off"],
  ]);
});
