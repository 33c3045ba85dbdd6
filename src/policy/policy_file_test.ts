import assert from "node:assert/strict";
import { join } from "../fs/paths.ts";
import { type LoadedPolicy, loadPolicy } from "./policy_file.ts";
import { PolicyError } from "./policy_rules.ts";
import { STATE_NAMES } from "./states.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { Project } from "../skills/project.ts";
import { DiskSpy, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { Inbox } from "../../tests/testing/waiting.ts";

/** Loads a policy file that is in no project. */
function load(file: string, last?: LoadedPolicy) {
  return loadPolicy(file, new Project({}), last);
}

/** Loads an invalid file and lists the errors. */
function errorsIn(file: string, last?: LoadedPolicy): string[] {
  const faults = faultsIn(() => load(file, last));
  return faults.map(({ line, reason, fix }) =>
    `(line ${line}): ${reason}; ${fix}`
  );
}

/** Returns what is wrong with a policy that cannot be loaded. */
function faultsIn(work: () => unknown): readonly DiagnosticDetails[] {
  try {
    work();
  } catch (error) {
    assert.ok(error instanceof PolicyError, String(error));
    return error.faults;
  }
  assert.fail("the policy was loaded");
}

Deno.test("loadPolicy() returns rules with their line numbers", () => {
  using place = new Place();
  const rulesIn = (yaml: string) => load(place.file("policy.yaml", yaml)).rules;
  const yaml = `\ufeff# My skills
"rules" :
  - { scope: project, state: off }   # a comment

  # - { state: on }
  - skill: "aws-*"
    state: name-only
    in: "~/code/**"
  -
    state: on
`;
  assert.deepEqual(rulesIn(yaml), [
    { scope: "project", state: "off", line: 3 },
    { skill: "aws-*", state: "name-only", in: "~/code/**", line: 6 },
    { state: "on", line: 9 },
  ]);
  const marked = rulesIn("\ufeffrules:\n- { state: on }");
  assert.deepEqual(marked, [{ state: "on", line: 2 }]);
  const crlf = rulesIn(yaml.replaceAll("\n", "\r\n"));
  assert.deepEqual(crlf.map(({ line }) => line), [3, 6, 9]);
  const flow = rulesIn("# one line\nrules: [{ state: on }, { state: off }]");
  assert.deepEqual(flow.map(({ line }) => line), [1, 1]);
  assert.deepEqual(rulesIn("rules: []"), []);
});

Deno.test("loadPolicy() reports every error with its line and what to write", () => {
  using place = new Place();
  const form =
    `write "rules:", and below it each rule on a line, such as "- { skill: pdf, state: off }"; the keys are state, skill, scope, in, and the states ${
      STATE_NAMES.join(", ")
    }`;
  const names = 'write a name in quotes, or a list of these, as in ["a", "b"]';
  const meant = (word: string) => `write "${word}", if you meant that`;
  const cases: [yaml: string, ...errors: (string | RegExp)[]][] = [
    [
      `rules:
  - scop: project
    state: of
  - { skill: 1, state: Manul }
  - state: on
    scope: projects
  - skill: pdf
  - { state: disabled, skill: [pdf, 1] }
  - off
  - { state: off, skil: pdf, inn: a, mode: b }
  - { state: off, mode: b }
rule: []
`,
      `(line 1): there is no key "rule"; ${meant("rules")}`,
      `(line 2): the value "of" of "state" is malformed; write one of these: ${
        STATE_NAMES.join(", ")
      }`,
      `(line 2): there is no key "scop"; ${meant("scope")}`,
      `(line 4): the value "manul" of "state" is malformed; ${meant("manual")}`,
      `(line 4): the value "1" of "skill" is malformed; ${names}`,
      `(line 5): the value "projects" of "scope" is malformed; ${
        meant("project")
      }`,
      `(line 7): "state" is missing; ${form}`,
      `(line 8): the value "disabled" of "state" is malformed; write one of these: ${
        STATE_NAMES.join(", ")
      }`,
      `(line 8): the value of "skill" is malformed; ${names}`,
      `(line 9): the value "off" of "rule" is malformed; ${form}`,
      `(line 10): there is no key "skil, inn, mode"; write "skill" or "in", if you meant that`,
      `(line 11): there is no key "mode"; ${form}`,
    ],
    ["", `(line 1): the value of "policy" is malformed; ${form}`],
    ["rules:", `(line 1): the value of "rules" is malformed; ${form}`],
    [
      "rules: [{ state: on, in: 3 }]",
      '(line 1): the value "3" of "in" is malformed; write a folder in quotes, or a list of these, as in ["~/a", "~/b"]',
    ],
    ["rules:\n- { skill: *, state: on }", /^\(line 2\): .*check the quotes/],
    ["rules:\n\t- [a", /^\(line [23]\): the YAML is malformed/],
    ["rules: []\n---\nrules: []", /^\(line [12]\): the YAML is malformed/],
    ["rules: []\nrules: []", /^\(line 2\): .*duplicated.* key/],
  ];
  for (const [yaml, ...errors] of cases) {
    const found = errorsIn(place.file("policy.yaml", yaml));
    assert.equal(found.length, errors.length, yaml.slice(0, 40));
    for (const [index, error] of errors.entries()) {
      if (typeof error === "string") assert.equal(found[index], error);
      else assert.match(found[index]!, error);
    }
  }
});

Deno.test("loadPolicy() returns the same policy until the file changes, and what is wrong while it is invalid", () => {
  using place = new Place();
  const file = place.file("policy.yaml", "rules: [{ state: manual }]");
  const good = load(file);
  assert.equal(good.rules[0]!.state, "manual");
  assert.equal(load(file, good), good);
  for (const broken of ["rules: [{ state: of }]", "", "rules: ]"]) {
    place.file("policy.yaml", broken);
    assert.equal(errorsIn(file, good).length, 1);
  }
  place.remove("policy.yaml");
  assert.match(errorsIn(file, good)[0]!, /there is no such file/);
  place.file("policy.yaml", "rules: []");
  assert.deepEqual(load(file, good).rules, []);
});

Deno.test("loadPolicy() accepts states and scopes in any case, and lists of names and folders", () => {
  using place = new Place();
  const file = place.file(
    "policy.yaml",
    "rules:\n- { state: Off, scope: PROJECT }\n- { state: ' Name-Only', skill: [a, b], in: [~/x] }",
  );
  assert.deepEqual(load(file).rules, [
    { state: "off", scope: "project", line: 2 },
    { state: "name-only", skill: ["a", "b"], in: ["~/x"], line: 3 },
  ]);
});

Deno.test("loadPolicy() refuses what is no regular file, and more than 64 KiB", () => {
  using place = new Place();
  const folder = place.folder("folder");
  assert.match(errorsIn(folder)[0]!, /it is a folder; pass the path of a file/);
  const large = place.file("large", `# ${"x".repeat(65_536)}\nrules: []`);
  assert.match(errorsIn(large)[0]!, /more than 64 KiB/);
});

Deno.test("loadPolicy() accepts a thousand names and folders, and reports twenty faults of more", () => {
  using place = new Place();
  const write = (count: number, entry: string) =>
    place.file("policy.yaml", `rules:\n${entry.repeat(count)}`);
  const pair = "- { state: off, skill: a, in: /b }\n";
  assert.equal(load(write(500, pair)).rules.length, 500);
  const errors = errorsIn(write(501, pair));
  assert.equal(errors.length, 1);
  assert.match(errors[0]!, /its rules have more than 1000 names and folders; /);
  assert.equal(errorsIn(write(5_000, "- { b: 1 }\n")).length, 20);
});

Deno.test("a policy file that cannot be read is a problem, and the last valid policy applies", async () => {
  using place = new Place();
  const policy = place.file("policy.yaml", "rules: [{ state: manual }]");
  place.skill("skills", "git");
  using registry = await openRegistry(join(place.path, "skills"), { policy });
  using _disk = new DiskSpy((path, operation) =>
    path === policy && operation === "statSync"
      ? new Deno.errors.PermissionDenied("Permission denied (os error 13)")
      : undefined
  );
  const { diagnostics } = await registry.refresh();
  assert.deepEqual(diagnostics, [{
    rule: "policy",
    reason: "you have no permission to read it",
    fix:
      "grant yourself read permission (on macOS, in System Settings > Privacy & Security), or leave it out; until then, the last valid policy applies",
    file: policy,
  }]);
  assert.equal(registry.find("git")!.state, "manual");
});

Deno.test("loadPolicy() follows no link of the project out of it", {
  ignore: lacks("links"),
}, () => {
  using place = new Place();
  const project = new Project({ workingDirectory: place.project });
  const outside = place.file("other/policy.yaml", "rules: []");
  const file = place.link(outside, "project/policy.yaml");
  assert.deepEqual(faultsIn(() => loadPolicy(file, project)), [{
    rule: "policy",
    reason:
      "it lies outside the project, and a link in the project leads to it",
    fix: "pass the path of the file itself",
  }]);
  assert.ok(loadPolicy(outside, project).rules);
  const inside = place.file("project/mine.yaml", "rules: []");
  const link = place.link(inside, "project/linked.yaml");
  assert.ok(loadPolicy(link, project).rules);
});

Deno.test("SkillRegistry.watch() detects a policy file that is written, replaced, linked, removed, and created again", async () => {
  using place = new Place();
  const file = place.file("policy.yaml", "rules: []");
  const states = new Inbox<string>();
  const write = (path: string, state: string) =>
    place.file(path, `rules: [{ state: ${state} }]`);
  const seen = async (state: string) => {
    await states.take((other) => other === state, `the state ${state}`);
    assert.deepEqual(states.takeAll(), []);
  };
  place.skill("skills", "git");
  using registry = await openRegistry(join(place.path, "skills"), {
    policy: file,
    refreshSeconds: 0,
  });
  registry.onChange(({ catalog }) =>
    states.put(catalog.skills.get("git")?.state ?? "off")
  );
  registry.watch();
  write("policy.yaml", "manual");
  await seen("manual");
  place.replace("policy.yaml", "rules: [{ state: off }]");
  await seen("off");
  place.remove("policy.yaml");
  write("policy.yaml", "pinned");
  await seen("pinned");
  if (lacks("links")) return;
  place.remove("policy.yaml");
  write("dotfiles/policy.yaml", "name-only");
  place.link("dotfiles/policy.yaml", "policy.yaml");
  await seen("name-only");
  write("dotfiles/policy.yaml", "manual");
  await seen("manual");
});
