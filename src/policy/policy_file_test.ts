import assert from "node:assert/strict";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { join } from "../fs/paths.ts";
import { Project } from "../skills/project.ts";
import { loadPolicy, type PolicyFile } from "./policy_file.ts";
import { STATE_NAMES } from "./states.ts";

/** Loads a policy file that is in no project. */
function load(file: string, last?: PolicyFile): PolicyFile {
  return loadPolicy(file, new Project({}), last);
}

/** Returns what is wrong with a policy file, which then has no rules. */
function reasonsIn(file: string, project = new Project({})): string[] {
  const { rules, diagnostics } = loadPolicy(file, project);
  assert.deepEqual(rules, []);
  return diagnostics.map(({ line, reason }) =>
    line === undefined ? reason : `line ${line}: ${reason}`
  );
}

Deno.test("loadPolicy() returns the rules, each with its place", () => {
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
  const rules = [
    { scope: "project", state: "off" },
    { skill: ["aws-*"], state: "name-only", in: ["~/code"] },
    { state: "on", skill: ["a", "b"] },
  ].map((rule, index) => ({ ...rule, place: `rules[${index}]` }));
  for (const text of [yaml, yaml.replaceAll("\n", "\r\n")]) {
    assert.deepEqual(load(place.file("policy.yaml", text)).rules, rules);
  }
});

Deno.test("loadPolicy() finds no rules where all are commented out", () => {
  using place = new Place();
  for (const yaml of ["# rules:\n#   - x\n", "rules:\n  # - x\n", "---\n# x"]) {
    const { rules, diagnostics } = load(place.file("policy.yaml", yaml));
    assert.deepEqual([rules, diagnostics], [[], []], yaml);
  }
});

Deno.test("loadPolicy() reads states as YAML 1.1 writes them", () => {
  using place = new Place();
  const yaml = `rules:${
    ["Off", "OFF", "false", "Name-Only"]
      .map((state) => `\n  - { state: ${state} }`).join("")
  }`;
  const { rules } = load(place.file("policy.yaml", yaml));
  assert.deepEqual(
    rules.map(({ state }) => state),
    ["off", "off", "off", "name-only"],
  );
});

/** Conditions that match nothing, and what to write instead. */
const MEANT: [rule: string, issue: string][] = [
  [
    'skill: "pdf, git"',
    "skill[0]: Write several names as a list, such as [pdf, git]",
  ],
  [
    'skill: "global:git"',
    "skill[0]: Write the name alone, and the scope as another condition, such as scope: global",
  ],
  [
    "in: $HOME/x",
    "in[0]: Variables do not work here: write ~ for the home folder",
  ],
  [
    "in: ${HOME}/x",
    "in[0]: Variables do not work here: write ~ for the home folder",
  ],
  [
    "in: '%USERPROFILE%/x'",
    "in[0]: Variables do not work here: write ~ for the home folder",
  ],
  ...["in: ~", "in: [~]"].map((rule): [string, string] => [
    rule,
    'in[0]: It is empty, as is ~ without quotes: write "~" for the home folder',
  ]),
  ['in: "~/{a,b}"', "in[0]: Braces do not work here: write a list of folders"],
];

Deno.test("loadPolicy() says what to write instead of conditions that match nothing", () => {
  using place = new Place();
  for (const [rule, issue] of MEANT) {
    const yaml = `rules:\n  - state: off\n    ${rule}\n`;
    const found = reasonsIn(place.file("policy.yaml", yaml));
    assert.deepEqual(found, [`rules[0].${issue}`], rule);
  }
  const fine = "rules: [{ state: off, in: ['100%', 'a{b}', 'a$b', 'A, Inc'] }]";
  assert.deepEqual(load(place.file("policy.yaml", fine)).diagnostics, []);
});

Deno.test("loadPolicy() says where a file breaks the schema or the syntax", () => {
  using place = new Place();
  const states = `It must be one of ${STATE_NAMES.join(", ")}`;
  const odd = place.file(
    "odd.yaml",
    `rules:
  - scop: project
    state: of
  - { skill: 1, state: on, scope: projects }
  - skill: pdf
  - off
  - { state: off, in: ["~/a", "~/b/**", ""] }
rule: []
`,
  );
  assert.deepEqual(reasonsIn(odd), [
    `rules[0].state: ${states}`,
    'rules[0]: Unrecognized key: "scop"',
    "rules[1].skill[0]: Invalid input: expected string, received number",
    'rules[1].scope: Invalid option: expected one of "project"|"global"',
    `rules[2].state: ${states}`,
    "rules[3]: Invalid input: expected object, received string",
    "rules[4].in[1]: Wildcards do not work here: a rule matches everything in a folder",
    "rules[4].in[2]: It must not be empty",
    'Unrecognized key: "rule"',
  ]);
  const cases: [yaml: string, issue: RegExp][] = [
    ["", /^The file is empty$/],
    ["\n \n", /^The file is empty$/],
    ["- { state: off }", /^Write "rules:" on the first line/],
    ["rules:", /^rules: Invalid input: expected array, received null$/],
    ["rules:\n- { skill: *, state: on }", /^line 2: the YAML is malformed/],
    ["rules: []\n---\nrules: []", /^line [12]: the YAML is malformed/],
    ["rules: []\nrules: []", /^line 2: .*duplicated.* key/],
  ];
  for (const [yaml, issue] of cases) {
    const [found, ...others] = reasonsIn(place.file("policy.yaml", yaml));
    assert.match(found!, issue);
    assert.deepEqual(others, []);
  }
});

Deno.test("loadPolicy() reads only a regular file that no link of the project leads to", () => {
  using place = new Place();
  assert.deepEqual(reasonsIn(place.dir("folder")), ["it is a folder"]);
  const latin1 = place.file("latin1.yaml", new Uint8Array([0x23, 0xe4]));
  assert.deepEqual(reasonsIn(latin1), ["the file is not UTF-8"]);
  const missing = join(place.path, "missing.yaml");
  assert.deepEqual(reasonsIn(missing), ["there is no such file"]);
  const outside = place.file("other/policy.yaml", "rules: []");
  {
    using _disk = new DiskSpy(() => new Deno.errors.PermissionDenied());
    const reason = "you have no permission to read it";
    assert.deepEqual(reasonsIn(outside), [reason]);
  }
  if (lacks("links")) return;
  const project = new Project({ workingDirectory: place.project });
  const inside = place.file("project/policy.yaml", "rules: []");
  assert.deepEqual(reasonsIn(outside, project), []);
  assert.deepEqual(reasonsIn(place.link(inside, "project/in"), project), []);
  assert.deepEqual(reasonsIn(place.link(outside, "project/out"), project), [
    "it is a link that points outside the project",
  ]);
});
