import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import type { SkillPolicyRule, SkillScope } from "../../mod.ts";
import { PolicyDecider, type PolicySubject } from "./policy.ts";
import { parsePolicy } from "./policy_file.ts";
import { isWindows, README } from "../../tests/testing/environment.ts";
import { DiskSpy, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";

/** What a policy decides on, with one scope for all faces. */
interface Properties {
  name?: string | undefined;
  scope?: SkillScope;
  directory?: string;
  realDirectory?: string;
}

/** Creates a skill for a policy to decide on. On Windows, its paths are on the current drive. */
function subject(directory: string, rest: Properties = {}): PolicySubject {
  const { scope = "global", realDirectory = directory } = rest;
  return {
    names: ["name" in rest ? rest.name : "git"],
    faces: [directory, realDirectory]
      .map((path) => ({ path: resolve(path), scope })),
  };
}

/** Returns the state that rules give a skill. */
function stateOf(
  rules: readonly SkillPolicyRule[],
  skill: PolicySubject,
  homeDirectory = resolve("/home/me"),
): string {
  const file = resolve("/etc/policy/p.yaml");
  return new PolicyDecider({ rules, homeDirectory, file }).decide(skill).state;
}

Deno.test("PolicyDecider.decide() applies the last rule whose conditions all match", () => {
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
    assert.equal(stateOf(rules, skill), state, JSON.stringify(properties));
  }
  assert.equal(stateOf([], subject("/x")), "on");
  const { rule } = new PolicyDecider({ rules }).decide(
    subject("/x", { name: "pdf" }),
  );
  assert.equal(rule, rules[3]);
});

Deno.test("PolicyDecider.decide() matches names by globs", () => {
  const names: [glob: string, hits: string[], others: string[]][] = [
    ["*", ["git", ".git", "a/b", "x".repeat(50_000)], []],
    ["git", ["git", "GIT", " Git "], ["git2"]],
    ["*.*", [".net", "a.b", "a/b.c"], ["ab"]],
    ["*net", [".net", "../net", "a\\net"], ["net2"]],
    ["a?c", ["abc", "a.c", "a/c"], ["ac"]],
    ["[a-c]x", ["ax", "cx"], ["dx"]],
    ["{aws,gcp}-*", ["aws-s3", "GCP-run"], ["azure-vm"]],
    ["über-*", ["ÜBER-x", "u\u0308ber-x"], ["uber-x"]],
    ["+(a|b)*", ["+(a|b)c"], ["ab", "a"]],
    ["!a*", ["!ab"], ["b"]],
    ["#*", ["#1"], ["1"]],
    ["{1..3}*", ["{1..3}"].slice(1), ["2", "1"]],
  ];
  for (const [glob, hits, others] of names) {
    const rules = [{ skill: glob, state: "off" }] as const;
    for (const name of hits) {
      assert.equal(
        stateOf(rules, subject("/x", { name })),
        "off",
        `${glob} matches ${name.slice(0, 50)}`,
      );
    }
    for (const name of others) {
      assert.equal(
        stateOf(rules, subject("/x", { name })),
        "on",
        `${glob} does not match ${name}`,
      );
    }
  }
});

Deno.test(
  "PolicyDecider.decide() matches directories in the home folder, in the policy's folder, and anywhere",
  () => {
    const directories: [glob: string, hits: string[], others: string[]][] = [
      ["~/code/**", ["/home/me/code/p/.claude/skills/git", "/home/me/code"], [
        "/home/me/code2/git",
        "/code/git",
        "/home/other/code/git",
      ]],
      ["~/code", ["/home/me/code", "/home/me/code/a/b"], ["/home/me/code2"]],
      ["~/code/", ["/home/me/code/a/b"], ["/home/me/codeer"]],
      ["~", ["/home/me/git"], ["/home/you/git"]],
      ["~/code/*", ["/home/me/code/git", "/home/me/code/.git"], [
        "/home/me/code",
        "/home/me/code/p/git",
      ]],
      ["/", ["/git", "/a/b"], []],
      ["/*/skills/**", ["/srv/skills/git", "/.x/skills/a/b"], [
        "/skills/git",
        "/a/b/skills/git",
      ]],
      ["**/skills/g*", [
        "/etc/policy/skills/git",
        "/etc/policy/.claude/skills/g",
      ], [
        "/etc/skills/git",
        "/etc/policy/skills/pdf",
      ]],
      ["./mine", ["/etc/policy/mine/git"], ["/etc/mine/git"]],
      ["../other/**", ["/etc/other/git"], ["/etc/policy/other/git"]],
      ["/a (copy)/b[0-9]/**", ["/a (copy)/b1/git"], ["/a/b1/git"]],
      isWindows
        ? ["/a\\b\\*", ["/a/b/git"], ["/a/git"]]
        : ["/a\\b/*", ["/a\\b/git"], ["/a/b/git"]],
    ];
    for (const [glob, hits, others] of directories) {
      const rules = [{ in: glob, state: "off" }] as const;
      for (const directory of hits) {
        assert.equal(
          stateOf(rules, subject(directory)),
          "off",
          `${glob} matches ${directory}`,
        );
      }
      for (const directory of others) {
        assert.equal(
          stateOf(rules, subject(directory)),
          "on",
          `${glob} does not match ${directory}`,
        );
      }
    }
  },
);

Deno.test(
  "PolicyDecider.decide() takes the home folder's path literally, whatever characters it contains",
  () => {
    const rules = [{ in: "~/code/**", state: "off" }] as const;
    const state = (directory: string) =>
      stateOf(rules, subject(directory), resolve("/home/[me]*"));
    assert.equal(state("/home/[me]*/code/git"), "off");
    assert.equal(state("/home/m/code/git"), "on");
  },
);

Deno.test("PolicyDecider.decide() matches each alternative in braces as if it were the whole glob", () => {
  const stateIn = (glob: string, directory: string) =>
    stateOf([{ in: glob, state: "off" }], subject(directory));
  const deep = [
    "{/code,/a*}",
    "{/a*,/code/}",
    "{/code/**,/a}",
    "{/a,/code/**/}",
  ];
  for (const glob of deep) {
    assert.equal(stateIn(glob, "/code/x/git"), "off", glob);
  }
  for (const glob of ["{/code/*,/a}", "{/a,/code/*}"]) {
    assert.equal(stateIn(glob, "/code/git"), "off", glob);
    assert.equal(stateIn(glob, "/code/x/git"), "on", glob);
  }
});

Deno.test("PolicyDecider.decide() follows links in the folder paths of rules", {
  ignore: lacks("links"),
}, () => {
  using place = new Place();
  const data = place.folder("data", "work");
  place.link(data, "home/code");
  const decider = new PolicyDecider({
    rules: [{ in: "~/code/**", state: "off" }],
    homeDirectory: place.home,
  });
  const skill = subject(join(data, "p", "git"));
  assert.equal(decider.decide(skill).state, "off");
  place.remove("home/code");
  decider.resolveFolders();
  assert.equal(decider.decide(skill).state, "on");
});

Deno.test("PolicyDecider.decide() does not let links evade rules or benefit from them", () => {
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
    const skill = subject(directory, { realDirectory });
    assert.equal(
      stateOf(rules, skill),
      state,
      `${directory} -> ${realDirectory}`,
    );
  }
  // The usual pair of rules: project skills are off, except in the user's own projects.
  const trust: SkillPolicyRule[] = [
    { scope: "project", state: "off" },
    { scope: "project", in: "/code/**", state: "on" },
  ];
  for (
    const [directory, realDirectory] of [["/clone/x", "/code/x"], [
      "/code/x",
      "/clone/x",
    ]]
  ) {
    const skill = subject(directory!, { scope: "project", realDirectory });
    assert.equal(stateOf(trust, skill), "off");
  }
});

Deno.test("PolicyDecider.decide() turns off skills whose names are too long to match", () => {
  const rules: SkillPolicyRule[] = [{ skill: "*a*a*b", state: "pinned" }];
  const name = "a".repeat(50_000);
  assert.equal(stateOf(rules, subject("/x", { name })), "on"); // no "b" in it
  assert.equal(stateOf(rules, subject("/x", { name: `${name}b` })), "off");
  assert.equal(
    stateOf(rules, subject("/x", { name: `${"a".repeat(100)}b` })),
    "pinned",
  );
  const long = "a".repeat(200);
  const exact: SkillPolicyRule[] = [{ skill: long, state: "pinned" }];
  assert.equal(stateOf(exact, subject("/x", { name: long })), "pinned");
});

Deno.test("PolicyDecider() refuses globs that could take too long to match", () => {
  for (
    const glob of [
      "*a*a*a*a",
      "{a,b}{a,b}{a,b}{a,b}*",
      `*${"x".repeat(300)}`,
    ]
  ) {
    assert.throws(
      () => new PolicyDecider({ rules: [{ skill: glob, state: "off" }] }),
      /Cannot use the policy: the glob .* has more than 256 characters/,
    );
  }
  assert.throws(
    () => new PolicyDecider({ rules: [{ in: "~/code", state: "off" }] }),
    /home folder/,
  );
});

Deno.test("PolicyDecider.decide() turns off project skills if a rule stands for too many folders", () => {
  const glob = `/{${[..."0123456789abcdefghijklmnopqrstuvwxyz"]}}`.repeat(3);
  const rules: SkillPolicyRule[] = [{ state: "on", in: glob }];
  using disk = new DiskSpy();
  const [problem] = new PolicyDecider({ rules }).problems;
  assert.ok(disk.count <= 1_001, `${disk.count} operations`);
  assert.equal(problem!.reason, "a glob stands for more than 1000 folders");
  assert.equal(stateOf(rules, subject("/a")), "on");
  assert.equal(stateOf(rules, subject("/a", { scope: "project" })), "off");
});

Deno.test("PolicyDecider.decide() decides on folders without a skill by their other properties", () => {
  const rules: SkillPolicyRule[] = [
    { scope: "project", state: "off" },
    { skill: "git", state: "on" },
    { skill: "*", in: "/code/**", state: "on" },
  ];
  const folder = (directory: string) =>
    subject(directory, { name: undefined, scope: "project" });
  assert.equal(stateOf(rules, folder("/clone")), "off");
  assert.equal(stateOf(rules, folder("/code/p")), "on");
});

Deno.test("the policies in the README do what the README says", () => {
  const [, section] = /^## Choose your skills\n(.*?)^## /ms.exec(README)!;
  const blocks = section!.matchAll(/```yaml\n(.*?)```/gs);
  const policies = [...blocks].map(([, text]) =>
    parsePolicy(text!, { file: "/p.yaml", homeDirectory: resolve("/home/me") })
  );
  const states = policies.map((policy) => {
    const decider = new PolicyDecider(policy);
    return [
      subject("/home/me/clone/.claude/skills/git", { scope: "project" }),
      subject("/home/me/code/app/.claude/skills/git", { scope: "project" }),
      subject("/home/me/.claude/skills/git"),
      subject("/home/me/.claude/skills/aws-s3", { name: "aws-s3" }),
      subject("/home/me/.claude/skills/deploy", { name: "deploy" }),
    ].map((skill) => decider.decide(skill).state);
  });
  assert.deepEqual(states, [
    ["off", "on", "on", "on", "on"],
    ["pinned", "pinned", "pinned", "name-only", "on"],
    ["on", "on", "on", "on", "manual"],
  ]);
});

Deno.test("PolicyDecider.decide() takes linear time for many rules and many links to the same skill", async () => {
  await assertLinearTime((length) => {
    const rules = Array.from({ length }, (_, index) => {
      return { skill: `skill-${index}`, state: "off" as const };
    });
    const faces = Array.from({ length }, (_, index) => {
      return { path: resolve(`/skills/${index}`), scope: "global" as const };
    });
    const subject = { names: ["git", "skill-1"], faces };
    const { rule } = new PolicyDecider({ rules }).decide(subject);
    assert.equal(rule, rules[1]);
  }, { length: 10_000, what: "rules and links" });
});
