import assert from "node:assert/strict";
import type { ScanOptions, SkillPolicyRule, SkillScope } from "../../mod.ts";
import { join, resolve } from "../fs/paths.ts";
import { Policy } from "./policy.ts";
import type { PolicySubject } from "./policy_rules.ts";
import { STATE_NAMES } from "./states.ts";
import { Project } from "../skills/project.ts";
import { formatDiagnostic } from "../diagnostics.ts";
import { DiskSpy, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { read } from "../../tests/testing/pages.ts";
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
    const data = place.folder("data", "work");
    place.folder("data", "work", "p");
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

Deno.test("Policy.load() says what is wrong with each rule, and what applies until it is fixed", async () => {
  const rules = [{ skill: "a[" }, { in: "" }, { in: "~/code" }]
    .map((rule) => ({ ...rule, state: "off" as const }));
  const policy = new Policy({ policy: { rules } });
  const diagnostics = await policy.load(new Project({}));
  assert.equal(diagnostics.length, 3);
  for (const diagnostic of diagnostics) {
    assert.match(
      formatDiagnostic(diagnostic)[0],
      /; until then, no skills are served$/,
    );
  }
  assert.equal(policy.isUsable, false);
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

Deno.test("Policy.listUnused() lists the rules and the names in rules that match nothing, also if a later rule decides", async () => {
  const rules: SkillPolicyRule[] = [
    { state: "off", line: 1 },
    { skill: "git", state: "on", line: 2 },
    { skill: "gti", state: "on", line: 3 },
    { in: "/nowhere", state: "off", line: 4 },
    { scope: "project", state: "off", line: 5 },
    { skill: ["GIT", "pfd", "g*"], state: "on", line: 6 },
    { skill: ["gti", "pfd"], state: "on", line: 7 },
  ];
  const policy = await policyOf(rules);
  const unused = policy.listUnused([subject("/x"), subject("/y")]);
  const rule = "this rule matches no skill";
  assert.deepEqual(unused.map(({ line, reason }) => [line, reason]), [
    [3, rule],
    [4, rule],
    [5, rule],
    [6, 'the name "pfd" matches no skill'],
    [7, rule],
  ]);
  // A folder without a valid skill may have several names.
  const names = ["unknown", "gti"];
  const used = policy.listUnused([{ ...subject("/x"), names }]);
  assert.ok(!used.some(({ line }) => line === 3));
});

Deno.test("a policy is not valid if a folder of a rule exists and cannot be resolved", async () => {
  using place = new Place();
  using _disk = new DiskSpy((path) =>
    path === place.path ? new Deno.errors.NotCapable() : undefined
  );
  const policy = new Policy({
    policy: { rules: [{ in: place.path, state: "off" }] },
    workingDirectory: place.path,
  });
  const [diagnostic] = await policy.load(new Project({}));
  assert.match(
    formatDiagnostic(diagnostic!)[0],
    /^Cannot use the policy .*: the folder ".*" cannot be used: Deno is not allowed to read it; add it to/,
  );
});

Deno.test("skills directly in a name-only folder are listed by name, whatever their names, unless a rule applies to them", async () => {
  const policy = await policyOf([{ skill: "pdf", state: "on" }], {
    nameOnlyFolders: [resolve("/mine")],
  });
  const state = (directory: string, name: string) =>
    policy.decide(subject(directory, { name })).state;
  assert.equal(state("/mine/git", "git"), "name-only");
  assert.equal(state("/mine/odd", "-Odd_name"), "name-only");
  assert.equal(state("/mine/pdf", "pdf"), "on");
  assert.equal(state("/other/git", "git"), "on");
  assert.equal(state("/mine/group/git", "git"), "on");
});

Deno.test(
  "a folder of a rule, or a name-only one, that is a link covers what its path lists, and its real folder",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const data = place.folder("data");
    const link = place.link("data", "mine");
    // The skills are links to elsewhere.
    const realDirectory = "/store/git";
    for (const folder of [data, link]) {
      const skill = subject(join(folder, "git"), { realDirectory });
      const state = await stateOf([{ in: link, state: "off" }], skill);
      const listed = await stateOf([], skill, { nameOnlyFolders: [link] });
      assert.deepEqual([state, listed], ["off", "name-only"], folder);
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
    const { policyRule: rule } = (await policyOf(rules))
      .decide({ names, scope: "global", paths });
    assert.equal(rule, rules[1]);
  }, { length: 10_000, what: "rules and links" });
});
