import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { Session } from "../../tests/testing/client.ts";
import { printedLaunch, serverArgs } from "../../tests/testing/command_line.ts";
import { SEPARATOR } from "../../tests/testing/environment.ts";
import { Place, policyArgs, policyPlace } from "../../tests/testing/folders.ts";
import { runServer } from "../../tests/testing/server.ts";

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
      " git on 1 file 48 B .claude/skills/git",
      " pdf pinned policy.yaml:3 1 file 48 B ~/.claude/skills/pdf",
      " evil off policy.yaml:2 .claude/skills/evil",
      " git on ~/.claude/skills/git after .claude/skills/git load it as global:git",
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
  - { in: "~/.claude/*", state: on }
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
    {
      ...problem,
      line: 5,
      reason: "the rule matches no skill",
      hint: 'skills lie deeper than that: write "~/.claude/**"',
    },
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
    state: "off",
    ruleLine: 3,
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
  // A server with this policy serves nothing.
  assert.deepEqual(bad.skills, []);
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
