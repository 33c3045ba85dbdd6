import assert from "node:assert/strict";
import { DiskSpy, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { Inbox } from "../../tests/testing/waiting.ts";
import { join } from "../fs/paths.ts";
import { Project } from "../skills/project.ts";
import {
  loadPolicy,
  type PolicyFile,
  type PolicyIssue,
} from "./policy_file.ts";

/** Loads a policy file that is in no project. */
function load(file: string, last?: PolicyFile): PolicyFile {
  return loadPolicy(file, new Project({}), last);
}

/** Returns what is wrong with a policy file, which then has no rules. */
function issuesIn(
  file: string,
  project: Project = new Project({}),
): readonly PolicyIssue[] {
  const { rules, issues } = loadPolicy(file, project);
  assert.deepEqual(rules, []);
  return issues;
}

Deno.test("loadPolicy() returns the rules, each with its path", () => {
  using place = new Place();
  const yaml = `\ufeff# My skills
"rules" :
  - { scope: project, state: off }   # a comment

  # - { state: on }
  - skill: "aws-*"
    state: name-only
    in: "~/code"
  -
    state: on
    skill: [a, b]
`;
  for (const text of [yaml, yaml.replaceAll("\n", "\r\n")]) {
    assert.deepEqual(load(place.file("policy.yaml", text)).rules, [
      { scope: "project", state: "off", path: "rules[0]" },
      {
        skill: ["aws-*"],
        state: "name-only",
        in: ["~/code"],
        path: "rules[1]",
      },
      { state: "on", skill: ["a", "b"], path: "rules[2]" },
    ]);
  }
  const file = place.file("policy.yaml", "rules: []");
  assert.deepEqual(load(file).rules, []);
});

Deno.test("loadPolicy() reports everything that breaks the schema with its path, and malformed YAML with its line", () => {
  using place = new Place();
  const state =
    'Invalid option: expected one of "on"|"pinned"|"name-only"|"manual"|"off"';
  const cases: [yaml: string, ...reasons: (string | RegExp)[]][] = [
    [
      `rules:
  - scop: project
    state: of
  - { skill: 1, state: Manual }
  - { state: on, scope: projects }
  - skill: pdf
  - off
  - { state: off, in: ["~/a", "~/b/**"] }
rule: []
`,
      `rules[0].state: ${state}`,
      'rules[0]: Unrecognized key: "scop"',
      `rules[1].state: ${state}`,
      "rules[1].skill[0]: Invalid input: expected string, received number",
      'rules[2].scope: Invalid option: expected one of "project"|"global"',
      `rules[3].state: ${state}`,
      "rules[4]: Invalid input: expected object, received string",
      "rules[5].in[1]: Wildcards do not work here: a rule matches everything in a folder",
      'Unrecognized key: "rule"',
    ],
    ["", "Invalid input: expected object, received null"],
    ["rules:", "rules: Invalid input: expected array, received null"],
    ["rules:\n- { skill: *, state: on }", /^line 2: the YAML is malformed/],
    ["rules:\n\t- [a", /^line [23]: the YAML is malformed/],
    ["rules: []\n---\nrules: []", /^line [12]: the YAML is malformed/],
    ["rules: []\nrules: []", /^line 2: .*duplicated.* key/],
  ];
  for (const [yaml, ...expected] of cases) {
    const reasons = issuesIn(place.file("policy.yaml", yaml))
      .map(({ line, reason }) => line ? `line ${line}: ${reason}` : reason);
    assert.equal(reasons.length, expected.length, reasons.join("\n"));
    for (const [index, reason] of expected.entries()) {
      if (typeof reason === "string") assert.equal(reasons[index], reason);
      else assert.match(reasons[index]!, reason);
    }
  }
});

Deno.test("loadPolicy() returns the same policy until the text changes", () => {
  using place = new Place();
  const file = place.file("policy.yaml", "rules: [{ state: manual }]");
  const first = load(file);
  assert.equal(load(file, first), first);
  place.file("policy.yaml", "rules: [{ state: off }]");
  assert.equal(load(file, first).rules[0]!.state, "off");
});

Deno.test("loadPolicy() accepts only a regular file", () => {
  using place = new Place();
  const [dir] = issuesIn(place.dir("folder"));
  assert.equal(dir!.reason, "it is a folder");
  const [missing] = issuesIn(join(place.path, "missing.yaml"));
  assert.equal(missing!.reason, "there is no such file");
});

Deno.test("a policy file that cannot be read is a diagnostic, and the last valid policy applies", async () => {
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

Deno.test("loadPolicy() follows no symlink of the project out of it", {
  ignore: lacks("links"),
}, () => {
  using place = new Place();
  const project = new Project({ workingDirectory: place.project });
  const outside = place.file("other/policy.yaml", "rules: []");
  const file = place.link(outside, "project/policy.yaml");
  const [issue] = issuesIn(file, project);
  assert.match(issue!.reason, /outside the project/);
  assert.deepEqual(issuesIn(outside, project), []);
  const inside = place.file("project/mine.yaml", "rules: []");
  const link = place.link(inside, "project/linked.yaml");
  assert.deepEqual(issuesIn(link, project), []);
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
