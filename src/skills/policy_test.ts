import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import {
  type ScanOptions,
  type Skill,
  type SkillPolicy,
  type SkillPolicyRule,
  SkillRegistry,
  type SkillRegistryOptions,
  type SkillRoot,
  type SkillScope,
} from "../../mod.ts";
import { PolicyDecider, type PolicySubject } from "./policy.ts";
import { parsePolicy, PolicyFile } from "./policy_file.ts";
import {
  Inbox,
  isWindows,
  lacks,
  names,
  nextId,
  Place,
  printedLaunch,
  README,
  root,
  runServer,
  SECRET,
  SEPARATOR,
  serverArgs,
  Session,
  skillMd,
  toolsets,
  Wire,
  within,
} from "../../tests/testing.ts";

/** What a policy decides on, with one scope for all faces. */
interface Properties {
  name?: string | undefined;
  scope?: SkillScope;
  directory?: string;
  realDirectory?: string;
}

/** Creates a skill for a policy to decide on. */
function subject(directory: string, rest: Properties = {}): PolicySubject {
  const { scope = "global", realDirectory = directory } = rest;
  return {
    names: ["name" in rest ? rest.name : "git"],
    faces: [directory, realDirectory].map((path) => ({ path, scope })),
  };
}

/** Returns the state that rules give a skill. */
function stateOf(
  rules: readonly SkillPolicyRule[],
  skill: PolicySubject,
  homeDirectory = resolve("/home/me"),
): string {
  return new PolicyDecider({ rules, homeDirectory, file: "/etc/policy/p.yaml" })
    .decide(skill).state;
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
  {
    ignore: lacks("names"),
  },
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
      ["/a\\b/*", ["/a\\b/git"], ["/a/b/git"]],
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
  {
    ignore: lacks("names"),
  },
  () => {
    const rules = [{ in: "~/code/**", state: "off" }] as const;
    const state = (directory: string) =>
      stateOf(rules, subject(directory), "/home/[me]*");
    assert.equal(state("/home/[me]*/code/git"), "off");
    assert.equal(state("/home/m/code/git"), "on");
  },
);

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

/** Parses invalid YAML and lists the errors. */
function errorsIn(yaml: string): string[] {
  try {
    parsePolicy(yaml, { file: "/p.yaml", homeDirectory: "/home/me" });
  } catch (error) {
    return (error as Error).message.split("\n")
      .map((line) => line.replace('Cannot use the policy "/p.yaml" ', ""));
  }
  return [];
}

Deno.test("parsePolicy() returns rules with their line numbers", () => {
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
  const source = { file: "/p.yaml", homeDirectory: "/home/me" };
  assert.deepEqual(parsePolicy(yaml, source), {
    ...source,
    rules: [
      { scope: "project", state: "off", line: 3 },
      { skill: "aws-*", state: "name-only", in: "~/code/**", line: 6 },
      { state: "on", line: 9 },
    ],
  });
  const crlf = parsePolicy(yaml.replaceAll("\n", "\r\n"), source);
  assert.deepEqual(crlf.rules.map(({ line }) => line), [3, 6, 9]);
  const flow = parsePolicy(
    "# one line\nrules: [{ state: on }, { state: off }]",
    source,
  );
  assert.deepEqual(flow.rules.map(({ line }) => line), [2, 2]);
  assert.deepEqual(parsePolicy("rules: []", source).rules, []);
});

Deno.test("parsePolicy() reports every error with its line and the closest valid word", () => {
  assert.deepEqual(
    errorsIn(`rules:
  - scop: project
    state: of
  - { skill: 1, state: pined }
  - state: on
    scope: projects
  - skill: pdf
  - { state: disabled, in: "" }
  - off
rule: []
`),
    [
      '(line 2): there is no key "scop"; write "scope" (one of: state, skill, scope, in)',
      '(line 3): there is no state "of"; write "off" (one of: on, pinned, name-only, manual, off)',
      '(line 4): there is no state "pined"; write "pinned" (one of: on, pinned, name-only, manual, off)',
      '(line 4): the value of "skill" is not a string; put it in quotes',
      '(line 6): there is no scope "projects"; write "project" (one of: project, global)',
      "(line 7): the rule has no state; add one of: on, pinned, name-only, manual, off",
      '(line 8): there is no state "disabled"; use one of: on, pinned, name-only, manual, off',
      '(line 8): a glob is empty; omit it, or write "*"',
      '(line 9): the rule is not a mapping; write it as "{ state: off, skill: … }"',
      '(line 10): there is no key "rule"; write "rules" (one of: rules)',
    ],
  );
  for (
    const [yaml, error] of [
      ["", /^\(line 1\): it has no rules; write "rules:"/],
      ["# nothing\n", /^\(line 1\): it has no rules/],
      ["rules:", /^\(line 1\): it has no list of rules/],
      ["rules:\n- { skill: *, state: on }", /^\(line 2\): .*single quotes/],
      ["rules:\n\t- [a", /^\(line 2\): .*tabs/],
      [
        "rules: []\n---\nrules: []",
        /^\(line 2\): there is more than one YAML document; remove this line/,
      ],
      ["rules: []\nrules: []", /^\(line 2\): .*remove one of the duplicate/],
      [
        `rules:\n${"- { state: on }\n".repeat(1001)}`,
        /^\(line 1\): it has more than 1000 rules/,
      ],
      [
        "rules:\n- { skill: [pdf, docx], state: on }",
        /^\(line 2\): the value of "skill" is a list; write it as "\{pdf,docx\}"$/,
      ],
      [
        "rules:\n- { skill: 'a*b*c*d*e', state: on }",
        /^\(line 2\): the glob "a\*b\*c\*d\*e" has more/,
      ],
    ] as const
  ) {
    const errors = errorsIn(yaml);
    assert.equal(errors.length, 1, yaml.slice(0, 40));
    assert.match(errors[0]!, error);
  }
});

Deno.test("parsePolicy() refuses a home folder that is unknown, in alternatives too", () => {
  for (const folder of ["~", "~/code", "{/code,~/code}", "{/code,{/a,~}}"]) {
    const yaml = `rules: [{ state: off, in: "${folder}" }]`;
    assert.throws(
      () => parsePolicy(yaml, { file: "/p.yaml" }),
      /^PolicyError: .*\(line 1\): the home folder is unknown; /,
    );
  }
});

/** Creates a policy file in a place and records the lines that are logged about it. */
function policyFile(place: Place, yaml?: string) {
  if (yaml !== undefined) place.file("policy.yaml", yaml);
  const lines: string[] = [];
  const source = { file: join(place.path, "policy.yaml") };
  const file = new PolicyFile(source, (line) => lines.push(line));
  return { file, lines };
}

Deno.test("PolicyFile keeps the last valid policy while the file is invalid or missing, and reports each error once", () => {
  using place = new Place();
  const { file, lines } = policyFile(place, "rules: [{ state: manual }]");
  const good = file.load();
  assert.deepEqual([good.rules[0]!.state, file.problems, lines], [
    "manual",
    [],
    [],
  ]);
  for (const broken of ["rules: [{ state: of }]", "", "rules: ["]) {
    place.file("policy.yaml", broken);
    assert.equal(file.load(), good);
    assert.equal(file.load(), good);
    assert.equal(file.problems.length, 1);
    assert.match(
      lines.pop()!,
      /policy\.yaml" \(line 1\): .*\. The last valid policy applies until it is fixed$/,
    );
    assert.deepEqual(lines, []);
  }
  place.remove("policy.yaml");
  assert.equal(file.load(), good);
  assert.match(lines.pop()!, /there is no such file/);
  place.file("policy.yaml", "rules: []");
  const next = file.load();
  assert.deepEqual([next.rules, file.problems, lines], [[], [], []]);
  assert.equal(file.load(), next);
});

Deno.test("PolicyFile turns off project skills until there is a valid policy", () => {
  using place = new Place();
  place.folder("folder");
  const { file, lines } = policyFile(place);
  assert.deepEqual(file.load().rules, [{ scope: "project", state: "off" }]);
  assert.match(
    lines[0]!,
    /^Cannot use the policy ".*": there is no such file; .*\. No project skills are served until it is fixed$/,
  );
  for (
    const [path, reason] of [["folder", /not a regular file/], [
      "large.yaml",
      /more than 65536 bytes/,
    ]] as const
  ) {
    place.file("large.yaml", `# ${"x".repeat(65_536)}\nrules: []`);
    const source = { file: join(place.path, path) };
    const file = new PolicyFile(source, () => {});
    assert.deepEqual(file.load().rules, [{ scope: "project", state: "off" }]);
    assert.match(file.problems[0]!.reason, reason);
  }
});

/** Creates a registry with one skill, whose state a policy file decides. */
function registryWith(
  policySource: PolicyFile,
  { place, ...options }: SkillRegistryOptions & { place: Place },
) {
  place.skill("skills", "git");
  const roots = [root(join(place.path, "skills"))];
  return new SkillRegistry(roots, { ...options, policySource, log: () => {} });
}

Deno.test("SkillRegistry.watch() detects a policy file that is written, replaced, linked, removed, and created again", async () => {
  using place = new Place();
  const { file } = policyFile(place, "rules: []");
  const states = new Inbox<string>();
  const write = (path: string, state: string) =>
    place.file(path, `rules: [{ state: ${state} }]`);
  const seen = async (state: string) => {
    await states.take((other) => other === state, `the state ${state}`);
    assert.deepEqual(states.takeAll(), []);
  };
  using registry = registryWith(file, { place, refreshSeconds: 0 });
  await registry.refresh();
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
  if (isWindows) return;
  place.remove("policy.yaml");
  write("dotfiles/policy.yaml", "name-only");
  place.link("dotfiles/policy.yaml", "policy.yaml");
  await seen("name-only");
  write("dotfiles/policy.yaml", "manual");
  await seen("manual");
});

Deno.test("SkillRegistry.watch() checks the policy file on a timer if watching is off", async () => {
  using place = new Place();
  const { file } = policyFile(place, "rules: []");
  const options = { place, refreshSeconds: 0.01, watchFolders: false };
  using registry = registryWith(file, options);
  await registry.refresh();
  const changed = Promise.withResolvers<void>();
  registry.onChange(() => changed.resolve());
  registry.watch();
  place.file("policy.yaml", "rules: [{ state: off }]");
  await within(changed.promise, "a check of the file");
  assert.equal(registry.find("git"), undefined);
});

/** Returns the roots of a project and a home folder. */
function rootsOf(place: Place): SkillRoot[] {
  const skills = (folder: string) => join(folder, ".claude", "skills");
  return [
    root(skills(place.project), { scope: "project" }),
    root(skills(place.home)),
  ];
}

/** Creates a registry for a project and a home folder, and records the lines that it logs. */
function registryOf(
  place: Place,
  policy: SkillPolicy,
  options: ScanOptions = {},
) {
  const lines: string[] = [];
  const registry = new SkillRegistry(rootsOf(place), {
    workingDirectory: place.project,
    ...options,
    policy,
    log: (line) => lines.push(line),
  });
  return { registry, lines };
}

const NO_PROJECT: SkillPolicy = { rules: [{ scope: "project", state: "off" }] };

Deno.test(
  "a skill that is off shadows nothing and appears neither in the catalog nor in the log",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("project/.claude/skills", "git");
    place.skill("project/.claude/skills", "evil");
    place.skill("project/.claude/skills", "broken", "no frontmatter");
    place.link("nowhere", "project/.claude/skills/dangling");
    place.skill("home/.claude/skills", "git");
    const { registry, lines } = registryOf(place, NO_PROJECT);
    using _ = registry;
    const catalog = await registry.refresh();
    assert.deepEqual(names(catalog), ["git"]);
    assert.equal(registry.find("git")!.scope, "global");
    assert.deepEqual([catalog.problems, catalog.shadowed, lines], [[], [], []]);
    assert.deepEqual(catalog.roots.map(({ skills }) => skills), [0, 1]);
    const { off } = registry.inspectPolicy()!;
    assert.deepEqual(off.map(({ skill: { name }, rule }) => [name, rule]), [
      ["evil", NO_PROJECT.rules[0]],
      ["git", NO_PROJECT.rules[0]],
    ]);
  },
);

Deno.test("a policy hides problems by the folder's name and by the skill's presumed name", async () => {
  using place = new Place();
  for (const name of ["aws-1", "other"]) {
    place.skill("home/.claude/skills", name, "no frontmatter");
  }
  place.skill(
    "home/.claude/skills",
    "x",
    "---\nname: aws-2\ndescription: a: b\n---\n",
  );
  const policy: SkillPolicy = { rules: [{ skill: "aws-*", state: "off" }] };
  const { registry } = registryOf(place, policy);
  using _ = registry;
  const { problems } = await registry.refresh();
  assert.deepEqual(problems.map(({ names }) => names), [["other"]]);
});

Deno.test(
  "a project's link to a global skill is a face of it, so that rules for projects apply",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    place.folder("project", ".claude");
    place.link(join(place.home, ".claude", "skills"), "project/.claude/skills");
    const { registry } = registryOf(place, NO_PROJECT);
    using _ = registry;
    assert.deepEqual(names(await registry.refresh()), []);
    const [{ skill, rule }] = registry.inspectPolicy()!.off as [
      { skill: Skill; rule: SkillPolicyRule },
    ];
    assert.deepEqual([skill.scope, rule], ["global", NO_PROJECT.rules[0]]);
    place.remove("project/.claude/skills");
    assert.deepEqual(names(await registry.refresh()), ["git"]);
  },
);

Deno.test(
  "links between a project and a trusted folder do not make the project trusted",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    const trusted = place.skill("work/skills", "git");
    place.folder("project", ".claude", "skills");
    place.link(trusted, "project/.claude/skills/git");
    place.skill("project/.claude/skills", "evil");
    place.folder("work", "p", ".claude");
    place.link(
      join(place.project, ".claude", "skills"),
      "work/p/.claude/skills",
    );
    const policy: SkillPolicy = {
      rules: [
        { scope: "project", state: "off" },
        { scope: "project", in: join(place.path, "work", "**"), state: "on" },
      ],
    };
    const trustLinks = [place.path];
    for (
      const [project, expected] of [
        [place.project, []],
        // The link lies in the untrusted folder, though it is reached through a trusted one.
        [join(place.path, "work", "p"), []],
      ] as const
    ) {
      using registry = new SkillRegistry(
        [root(join(project, ".claude", "skills"), { scope: "project" })],
        { policy, trustLinks, workingDirectory: project, log: () => {} },
      );
      assert.deepEqual(names(await registry.refresh()), expected);
    }
  },
);

Deno.test("SkillRegistry.setPolicy() changes only states, and unchanged skills stay the same objects", async () => {
  using place = new Place();
  for (const name of ["a", "b", "c"]) place.skill("home/.claude/skills", name);
  const { registry } = registryOf(place, { rules: [] });
  using _ = registry;
  const before = await registry.refresh();
  const changes: string[][][] = [];
  registry.onChange(({ keys, states }) =>
    changes.push([[...keys], [...states]])
  );
  const policy: SkillPolicy = {
    rules: [{ skill: "a", state: "pinned" }, { skill: "b", state: "off" }],
  };
  const after = await registry.setPolicy(policy);
  assert.deepEqual(names(after), ["a", "c"]);
  assert.equal(registry.find("a")!.state, "pinned");
  assert.equal(after.skills.get("c"), before.skills.get("c"));
  assert.deepEqual(changes.splice(0), [[["b"], ["a"]]]);
  // The same rules change nothing, and an invalid policy is refused.
  assert.equal(await registry.setPolicy({ ...policy }), after);
  await assert.rejects(
    registry.setPolicy({ rules: [{ skill: "a*b*c*d*e", state: "off" }] }),
    /Cannot use the policy/,
  );
  assert.equal(await registry.refresh(), after);
  assert.deepEqual(changes, []);
  assert.deepEqual(await registry.setPolicy(undefined), {
    ...before,
    revision: 3,
  });
  assert.equal(registry.inspectPolicy(), undefined);
});

Deno.test("SkillRegistry.inspectPolicy() returns the rules that apply and the rules that match nothing", async () => {
  using place = new Place();
  for (const name of ["git", "pdf", "evil"]) {
    place.skill("home/.claude/skills", name);
  }
  const rules: SkillPolicyRule[] = [
    { skill: "p*", state: "off" },
    { skill: "pdf", state: "on" },
    { skill: "nothing", state: "off" },
    { skill: "evil", state: "off" },
    { scope: "project", state: "off" },
  ];
  const { registry } = registryOf(place, { rules });
  using _ = registry;
  await registry.refresh();
  const { rules: decisive, off, unused } = registry.inspectPolicy()!;
  assert.deepEqual([...decisive].map(([{ name }, rule]) => [name, rule]), [[
    "pdf",
    rules[1],
  ]]);
  assert.deepEqual(off.map(({ skill, rule }) => [skill.name, rule]), [[
    "evil",
    rules[3],
  ]]);
  // The last rule fits other projects.
  assert.deepEqual(unused, [rules[2]]);
});

Deno.test(
  "a skill that is off reveals nothing through the skill that contains it",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("skills", "outer");
    for (const name of ["inner", "inner/deep", "other"]) {
      place.skill("skills/outer", name, skillMd(name.split("/").at(-1)!));
      place.file(`skills/outer/${name}/notes.md`, SECRET);
    }
    if (!isWindows) {
      place.link("inner", "skills/outer/link");
      place.link("inner/notes.md", "skills/outer/link.md");
    }
    const roots = [root(join(place.path, "skills"), { recursive: true })];
    using registry = new SkillRegistry(roots, { log: () => {} });
    const paths = async (name: string) =>
      (await registry.listFiles(registry.find(name)!)).map(({ path }) => path);
    await registry.setPolicy({ rules: [{ skill: "inner", state: "off" }] });
    assert.deepEqual(await paths("outer"), [
      "SKILL.md",
      "other/SKILL.md",
      "other/notes.md",
    ]);
    for (
      const path of [
        "inner/notes.md",
        "inner/deep/notes.md",
        "link/notes.md",
        "link.md",
      ]
    ) {
      await assert.rejects(
        () => registry.readFile(registry.find("outer")!, path),
        /no such file/,
      );
    }
    // The nested skill is separate and has its own files.
    assert.deepEqual(await paths("deep"), ["SKILL.md", "notes.md"]);
    assert.equal(
      (await registry.readFile(registry.find("deep")!, "notes.md")).text,
      SECRET,
    );
    const { leftOut } = await registry.inspectFiles(registry.find("other")!);
    assert.deepEqual(leftOut, []);
    await registry.setPolicy(undefined);
    assert.equal(
      (await paths("outer")).filter((path) => path.startsWith("inner/")).length,
      4,
    );
  },
);

Deno.test(
  "a project's link closes what it leads to, in any order of the roots",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    const inner = place.skill("home/.claude/skills/git", "inner");
    const [, home] = rootsOf(place);
    place.skill("project/skills", "x");
    place.link(inner, "project/skills/inner");
    const project = ["skills"].map((folder) =>
      root(join(place.project, folder), { scope: "project", recursive: true })
    );
    for (const roots of [[...project, home!], [home!, ...project]]) {
      using registry = new SkillRegistry(roots, {
        policy: NO_PROJECT,
        workingDirectory: place.project,
        log: () => {},
      });
      assert.deepEqual(names(await registry.refresh()), ["git"]);
      const files = await registry.listFiles(registry.find("git")!);
      assert.deepEqual(files.map(({ path }) => path), ["SKILL.md"]);
    }
  },
);

/** Creates an untrusted clone with secrets everywhere, and a home folder with skills. */
function clonePlace({ hasSkills = true } = {}): Place {
  const place = new Place();
  const text = skillMd("git", "My own git");
  place.skill("home/.claude/skills", "git", text);
  place.skill("home/.claude/skills", "pdf");
  place.file("home/.claude/skills/pdf/notes.md", "Notes");
  place.file("home/policy.yaml", "rules: [{ scope: project, state: off }]");
  if (!hasSkills) return place;
  const skills = "project/.claude/skills";
  for (const name of ["evil", "git"]) {
    place.skill(skills, name, skillMd(name, SECRET));
    place.file(`${skills}/${name}/notes.md`, SECRET);
    place.file(`${skills}/${name}/${SECRET}.md`, SECRET);
    place.skill(`${skills}/${name}`, "nested", skillMd("nested", SECRET));
  }
  place.skill(skills, "pdf", skillMd(`pdf ${SECRET}`, SECRET));
  place.skill(
    skills,
    "broken",
    `---\nname: ${SECRET}\ndescription: a: b\n---\n`,
  );
  place.link(place.home, `${skills}/linked`);
  place.file("project/.agent/skills", SECRET);
  return place;
}

/** Returns every request for a skill by name, in all views. */
function requestsFor(
  name: string,
  tools: readonly string[],
): [string, object][] {
  const path = "notes.md";
  const input = { name, skill: name, skill_name: name, path, file_name: path };
  const fields: Record<string, (keyof typeof input)[]> = {
    skill: ["name"],
    "skill-resource": ["skill", "path"],
    read_skill: ["name"],
    load_skill_op: ["skill_name"],
    read_reference_file_op: ["skill_name", "file_name"],
  };
  const calls = tools.map((tool): [string, object] => {
    const keys = fields[tool] ?? [];
    const args = Object.fromEntries(keys.map((key) => [key, input[key]]));
    return ["tools/call", { name: tool, arguments: args }];
  });
  const [prefix, ...rest] = name.split(":");
  const folder = `skill://${[prefix, ...rest].join("/")}`;
  const uris = ["", "/", "/SKILL.md", "/notes.md", "/nested"]
    .map((end) => folder + end);
  const methods = [
    "resources/read",
    "skills/get",
    "resources/directory/read",
    "resources/subscribe",
  ];
  const template = { type: "ref/resource", uri: "skill://{name}/{+path}" };
  return [
    ...calls,
    ["prompts/get", { name }],
    ["prompts/get", { name: "skill", arguments: { name } }],
    ...methods.flatMap((method) =>
      uris.map((uri): [string, object] => [method, { uri }])
    ),
    ["completion/complete", {
      ref: template,
      argument: { name: "name", value: name },
    }],
    ["completion/complete", {
      ref: template,
      argument: { name: "path", value: "" },
      context: { arguments: { name } },
    }],
    ["completion/complete", {
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: name },
    }],
  ];
}

/** The list requests of all views, and a subscription to all skills. */
const LISTS: [string, object][] = [
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "skills/list",
].map((method): [string, object] => [method, {}]);
LISTS.push(["resources/subscribe", { uri: "skill://" }]);

const MODERN_META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
};

/** Sends every request in both eras and returns everything that the server sends. */
async function askEverything(place: Place, toolset: string): Promise<string[]> {
  const policy = join(place.home, "policy.yaml");
  const args = ["--tools", toolset, "--policy", policy];
  await using wire = new Wire(place, { args });
  // During the first scan, the instructions do not name skills yet.
  await wire.ask(nextId(), "tools/list", { _meta: MODERN_META });
  const started = JSON.stringify(await wire.initialize());
  const wanted = [
    "evil",
    "git",
    "project:git",
    "global:git",
    "project:evil",
    "nested",
    "broken",
    "linked",
  ];
  const requests = [
    ...LISTS,
    ...wanted.flatMap((name) => requestsFor(name, toolsets[toolset]!)),
  ];
  const messages = [
    ...requests,
    ["server/discover", { _meta: MODERN_META }],
    ...requests.map((
      [method, params],
    ) => [method, { ...params, _meta: MODERN_META }]),
    ["subscriptions/listen", {
      notifications: {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: [
          "skill://evil/SKILL.md",
          "skill://git/notes.md",
        ],
      },
      _meta: MODERN_META,
    }],
  ].map(([method, params], id) => ({
    jsonrpc: "2.0",
    id: id + 1,
    method,
    params,
  }));
  const replies: string[] = [];
  const notifications = new Inbox<string>();
  const answered = Promise.withResolvers<void>();
  let missing = messages.length; // the listening request is acknowledged instead
  wire.onLine = (line) => {
    const { id } = JSON.parse(line);
    if (typeof id === "number") replies[id] = line;
    else notifications.put(line);
    if (--missing === 0) answered.resolve();
  };
  await wire.write(...messages);
  await within(answered.promise, "the replies");
  // Changes in the clone notify no client. Changes in the home folder notify every client.
  for (const name of ["evil", "new"]) {
    place.skill("project/.claude/skills", name, skillMd(name, `${SECRET} 2`));
  }
  place.skill("home/.claude/skills", "new", skillMd("new", "At home"));
  for (const era of ["legacy", "modern"]) {
    const isNotification = (line: string) =>
      line.includes("resources/list_changed") &&
      line.includes("subscriptionId") === (era === "modern");
    replies.push(
      await notifications.take(isNotification, `the ${era} notification`),
    );
  }
  const { code } = await wire.endInput();
  assert.equal(code, 0);
  return [
    started,
    ...replies.slice(1),
    ...notifications.takeAll().sort(),
    wire.stderr,
  ]
    .map((line) => place.shorten(line));
}

for (const toolset of Object.keys(toolsets)) {
  Deno.test(`an untrusted clone reveals none of its skills in any view with the toolset ${toolset} in either era`, async () => {
    using clone = clonePlace();
    using empty = clonePlace({ hasSkills: false });
    const [answers, expected] = await Promise.all([
      askEverything(clone, toolset),
      askEverything(empty, toolset),
    ]);
    // The output is byte-identical to the output for a project without skills.
    assert.deepEqual(answers, expected);
    const sent = answers.join("\n");
    assert.ok(!sent.includes(SECRET));
    assert.ok(sent.includes("My own git"));
  });
}

/** Creates a home folder with skills, and a policy. */
function policyPlace(rules: string): Place {
  const place = new Place();
  for (const name of ["a", "b", "c"]) place.skill("home/.claude/skills", name);
  place.file("home/.claude/skills/a/notes.md", "0");
  place.file("home/policy.yaml", `rules: [${rules}]`);
  return place;
}

function policyArgs(place: Place): string[] {
  return ["--policy", join(place.home, "policy.yaml"), "--refresh", "0"];
}

Deno.test("a saved policy change sends notifications only for the lists that it changes", async () => {
  using place = policyPlace("");
  await using session = await Session.open(place, { args: policyArgs(place) });
  await session.client.listTools();
  const uri = "skill://a/notes.md";
  await session.client.subscribeResource({ uri });
  const steps: [rules: string, lists: string[]][] = [
    ["{ skill: b, state: pinned }", ["tools", "prompts", "resources"]],
    ["{ skill: b, state: pinned }, # the same", []],
    ["{ skill: b, state: manual }", ["tools", "prompts", "resources"]],
    ["{ skill: b, state: on }", ["tools"]],
    ["{ skill: a, state: pinned }", []],
    ["{ skill: c, state: name-only }", ["tools"]],
    ["{ skill: c, state: on }", ["tools"]],
    ["{ skill: b, state: of }", []],
    ["{ skill: none, state: off }", []],
    ["{ skill: b, state: off }", ["tools", "prompts", "resources"]],
    ["{ skill: b, state: manual }", ["prompts", "resources"]],
  ];
  for (const [index, [rules, lists]] of steps.entries()) {
    place.replace("home/policy.yaml", `rules: [${rules}\n  ]`);
    for (const list of lists) await session.listChanged(list);
    // The notification of this update comes after all notifications of the policy change.
    place.replace("home/.claude/skills/a/notes.md", `${index + 1}`);
    await session.updated(uri);
    await session.client.ping();
    assert.deepEqual(session.notifications.takeAll(), [], rules);
    assert.deepEqual(session.updates.takeAll(), [], rules);
  }
});

Deno.test("one saved change applies to tools, prompts, resources, and completion alike", async () => {
  using place = policyPlace("{ skill: b, state: off }");
  await using session = await Session.open(place, { args: policyArgs(place) });
  const { client } = session;
  const views = async () => {
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: "" },
    });
    return [
      await session.names(),
      prompts.map(({ name }) => name).slice(1),
      [...new Set(resources.map(({ uri }) => uri.split("/")[2]))],
      completion.values,
    ];
  };
  const same = (...names: string[]) => [names, names, names, names];
  assert.deepEqual(await views(), same("a", "c"));
  place.replace(
    "home/policy.yaml",
    "rules: [{ skill: c, state: pinned }, { skill: a, state: name-only }]",
  );
  for (const list of ["tools", "prompts", "resources"]) {
    await session.listChanged(list);
  }
  assert.deepEqual(await views(), same("c", "b", "a"));
});

Deno.test("a skill in the state manual is for the user only, and skills that their authors hid stay hidden", async () => {
  using place = new Place();
  const hidden =
    "---\nname: hidden\ndescription: d\ndisable-model-invocation: true\n---\n";
  const internal =
    "---\nname: internal\ndescription: d\nuser-invocable: false\n---\n";
  place.skill("home/.claude/skills", "deploy");
  place.skill("home/.claude/skills", "hidden", hidden);
  place.skill("home/.claude/skills", "internal", internal);
  const rules = "{ state: pinned }, { skill: deploy, state: manual }";
  place.file("home/policy.yaml", `rules: [${rules}]`);
  await using session = await Session.open(place, { args: policyArgs(place) });
  assert.deepEqual(await session.names(), ["internal"]);
  for (const name of ["deploy", "hidden"]) {
    const { text, isError } = await session.load(name);
    assert.ok(isError && text.startsWith(`Skill '${name}' not found.`));
    assert.ok(!text.includes(`- ${name}`));
    await session.client.getPrompt({ name });
    await session.client.readResource({ uri: `skill://${name}/SKILL.md` });
  }
  const { prompts } = await session.client.listPrompts();
  assert.deepEqual(prompts.map(({ name }) => name), [
    "skill",
    "hidden",
    "deploy",
  ]);
  await assert.rejects(session.client.getPrompt({ name: "internal" }));
});

Deno.test("pages of lists are sorted by state", async () => {
  using place = new Place();
  const count = 1_003;
  for (let i = 0; i < count; i++) {
    place.skill("home/.claude/skills", `s${1000 + i}`);
  }
  place.file(
    "home/policy.yaml",
    "rules: [{ skill: s1000, state: name-only }, { skill: s2002, state: pinned }]",
  );
  await using session = await Session.open(place, { args: policyArgs(place) });
  const first = await session.client.listPrompts();
  const { prompts, nextCursor } = await session.client.listPrompts({
    cursor: first.nextCursor,
  });
  const listed = [...first.prompts, ...prompts].map(({ name }) => name);
  assert.equal(nextCursor, undefined);
  assert.equal(new Set(listed).size, count + 1);
  assert.deepEqual([...listed.slice(0, 3), listed.at(-1)], [
    "skill",
    "s2002",
    "s1001",
    "s1000",
  ]);
});

Deno.test("a server with an invalid policy reports it and serves no project skills until it is fixed", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "theirs");
  place.skill("home/.claude/skills", "mine");
  place.file("home/policy.yaml", "rules: [{ scop: project, state: off }]");
  await using session = await Session.open(place, { args: policyArgs(place) });
  const line = await session.stderr.take(
    (line) => line.includes("policy"),
    "the line about the policy",
  );
  assert.match(
    line,
    /^skill-server: Cannot use the policy ".*policy\.yaml" \(line 1\): there is no key "scop"; write "scope" .*\. No project skills are served until it is fixed$/,
  );
  assert.deepEqual(await session.names(), ["mine"]);
  place.replace("home/policy.yaml", "rules: []");
  await session.listChanged();
  assert.deepEqual(await session.names(), ["mine", "theirs"]);
  place.replace("home/policy.yaml", "nothing");
  await session.stderr.take(
    (line) => line.includes("The last valid policy applies"),
    "the line about the policy",
  );
  assert.deepEqual(await session.names(), ["mine", "theirs"]);
});

Deno.test("--policy requires a path, relative to the working directory or the home folder", async () => {
  using place = policyPlace("{ skill: a, state: off }");
  place.file("project/policy.yaml", "rules: [{ skill: b, state: off }]");
  for (
    const [path, expected] of [["policy.yaml", ["a", "c"]], ["~/policy.yaml", [
      "b",
      "c",
    ]]] as const
  ) {
    await using session = await Session.open(place, {
      args: ["--policy", path],
    });
    assert.deepEqual(await session.names(), expected);
  }
  const { code, stderr } = await runServer(place, { args: ["--policy", ""] });
  assert.equal(code, 2);
  assert.match(stderr, /--policy requires the path of a file/);
});

Deno.test("--list shows the state of each skill, the rule that applies, and the skills that are off", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("project/.claude/skills", "evil");
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "pdf");
  place.file(
    "home/policy.yaml",
    `rules:
  - { skill: evil, state: off }
  - { skill: pdf, state: pinned }
`,
  );
  const { code, stdout, stderr } = await runServer(place, {
    args: ["--policy", join(place.home, "policy.yaml"), "--list"],
  });
  assert.deepEqual([code, stderr], [0, ""]);
  const text = place.shorten(stdout).replaceAll(/ +/g, " ")
    .replaceAll(SEPARATOR, "/");
  for (
    const line of [
      " found project 1 skill .claude/skills",
      " ~/policy.yaml",
      " git on 1 file 48 B",
      " pdf pinned policy.yaml:3 1 file 48 B",
      " evil policy.yaml:2 .claude/skills/evil",
      " global:git on ~/.claude/skills/git after .claude/skills/git",
    ]
  ) {
    assert.ok(text.split("\n").includes(line), `${line} in:\n${text}`);
  }
});

/** Runs `--check --json` with a policy, and returns the exit code and the report as one object. */
async function checkPolicy(place: Place, yaml: string) {
  place.file("home/policy.yaml", yaml);
  const args = [...policyArgs(place), "--check", "--json"];
  const { code, stdout } = await runServer(place, { args });
  return { code, ...JSON.parse(place.shorten(stdout)) };
}

Deno.test("--check reports rules that match nothing and the errors of a policy with their lines", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "theirs");
  place.skill("home/.claude/skills", "git");
  const good = await checkPolicy(
    place,
    `rules:
  - { skill: gti, state: off }
  - { scope: project, state: off }
  - { in: "~/nowhere/**", state: on }
`,
  );
  const file = join("/", "home", "policy.yaml");
  assert.equal(good.code, 0);
  const problem = {
    rule: "policy-unused",
    severity: "warning",
    file,
    hint: "fix the rule, or remove it",
  };
  assert.deepEqual(good.problems, [
    {
      ...problem,
      line: 2,
      reason: 'the rule matches no skill; the closest name is "git"',
    },
    { ...problem, line: 4, reason: "the rule matches no skill" },
  ]);
  assert.deepEqual(
    good.skills.map((
      { name, state }: { name: string; state: string },
    ) => [name, state]),
    [["git", "on"]],
  );
  assert.deepEqual(good.off, [{
    name: "theirs",
    scope: "project",
    directory: join("/", "project", ".claude", "skills", "theirs"),
    file: join("/", "project", ".claude", "skills", "theirs", "SKILL.md"),
    rule: { file, line: 3 },
  }]);
  const bad = await checkPolicy(
    place,
    `rules:
  - { scope: project, state: of }
  - { scop: project, state: off }
`,
  );
  assert.equal(bad.code, 1);
  assert.deepEqual(
    bad.problems.map((
      problem: { rule: string; line: number; reason: string },
    ) => [problem.rule, problem.line, problem.reason]),
    [["policy", 2, 'there is no state "of"'], [
      "policy",
      3,
      'there is no key "scop"',
    ]],
  );
  // The report shows what a server does with the invalid policy.
  assert.deepEqual(bad.off.map(({ name }: { name: string }) => name), [
    "theirs",
  ]);
});

Deno.test("--print-config includes the policy's path and grants read permission for the file alone", async () => {
  using place = policyPlace("{ skill: a, state: off }");
  place.file("home/settings/policy.yaml", "rules: [{ skill: b, state: off }]");
  const launch = await printedLaunch(place, {
    args: ["--policy", "~/settings/policy.yaml"],
  });
  const file = join(place.home, "settings", "policy.yaml");
  assert.deepEqual(serverArgs(launch), [`--policy=${file}`]);
  const [read] = launch.args.filter((arg) => arg.startsWith("--allow-read="));
  assert.ok(read!.split(/[=,]/).includes(file));
  await using session = await Session.open(place, { launch });
  assert.deepEqual(await session.names(), ["a", "c"]);
  place.replace("home/settings/policy.yaml", "rules: []");
  await session.listChanged();
  assert.deepEqual(await session.names(), ["a", "b", "c"]);
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
