import assert from "node:assert/strict";
import { basename, dirname, join } from "jsr:@std/path@^1";
import {
  type ScanOptions,
  type Skill,
  type SkillPolicy,
  type SkillPolicyRule,
  SkillRegistry,
  type SkillRoot,
} from "../mod.ts";
import { Session } from "./testing/client.ts";
import { Place, policyArgs, policyPlace, skillMd } from "./testing/folders.ts";
import { SECRET } from "./testing/hostile.ts";
import { lacks } from "./testing/needs.ts";
import { names, root } from "./testing/registry.ts";
import { runServer } from "./testing/server.ts";

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
  assert.deepEqual(problems.map(({ file }) => basename(dirname(file))), [
    "other",
  ]);
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
    place.link("inner", "skills/outer/link");
    place.link("inner/notes.md", "skills/outer/link.md");
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
