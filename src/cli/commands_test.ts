import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { parseEntry, parseLaunch } from "../../tests/testing/command_line.ts";
import {
  environment,
  MOD,
  REPOSITORY,
} from "../../tests/testing/environment.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { printedReport } from "../../tests/testing/report.ts";
import {
  runScript,
  runServer,
  serverScript,
} from "../../tests/testing/server.ts";
import { dirname, join } from "../fs/paths.ts";
import { runningProgram } from "../program/running_program.ts";
import { formatHelp } from "./help.ts";

Deno.test("--help and --version print to stdout, also as -h and -V", async () => {
  using place = new Place();
  const help = await runServer(place, { args: ["--help"] });
  const text = formatHelp({ ...runningProgram(), mainModule: MOD });
  assert.deepEqual(help, { code: 0, stdout: text, stderr: "" });
  assert.match(help.stdout, /^skill-server .*\n.*\n\nUsage:\n/);
  assert.deepEqual(await runServer(place, { args: ["-h"] }), help);
  const version = { code: 0, stdout: `${config.version}\n`, stderr: "" };
  for (const option of ["--version", "-V"]) {
    assert.deepEqual(await runServer(place, { args: [option] }), version);
  }
});

/** Creates a project with a skill that tries to replace what the server imports. */
function hostilePlace(): Place {
  const place = new Place();
  place.skill("project/.claude/skills", "here");
  place.file("project/package.json", "{}");
  place.file(
    "project/deno.json",
    '{ "imports": { "npm:zod": "./evil.ts", "npm:zod@^4/mini": "./evil.ts" } }',
  );
  place.file("project/evil.ts", 'console.log("evil");');
  const bin = "project/node_modules/.bin/deno";
  Deno.chmodSync(place.file(bin, "#!/bin/sh\necho evil\n"), 0o755);
  return place;
}

async function assertLists(place: Place, command: string): Promise<void> {
  const { stdout, stderr } = await runScript(place, command);
  assert.equal(stderr, "");
  assert.match(stdout, /^\.claude\/skills .*\n {2}here +1 file$/m);
  assert.doesNotMatch(stdout, /evil/);
}

Deno.test(
  "the command that --help prints lists the skills of a project, and runs nothing of it",
  { ignore: lacks("sh") },
  async () => {
    using place = hostilePlace();
    const { stdout } = await runServer(place, { args: ["--help"] });
    const [, command] = /^Examples:\n {2}(.*)$/m.exec(stdout)!;
    await assertLists(place, command!);
  },
);

Deno.test(
  "deno task install installs a command that lists the skills of any project, and runs nothing of it",
  { ignore: lacks("sh") },
  async () => {
    using place = hostilePlace();
    const root = join(place.path, "installed");
    const install = await new Deno.Command(Deno.execPath(), {
      args: ["task", "install"],
      cwd: REPOSITORY,
      env: { ...environment, HOME: place.home, DENO_INSTALL_ROOT: root },
    }).output();
    assert.equal(install.code, 0, new TextDecoder().decode(install.stderr));
    const deno = dirname(Deno.execPath());
    const path = `PATH='${join(root, "bin")}:${deno}':$PATH`;
    await assertLists(place, `${path} skill-server --list`);
  },
);

Deno.test("--print-config prints the entry first, then at most three sentences and a command", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const { stdout, stderr } = await runServer(place, {
    args: ["--print-config", "claude-code"],
  });
  assert.ok(parseEntry(stdout).alwaysLoad);
  const [first, ...notes] = stderr.trim().split("\n\n");
  assert.match(first!, /^Add this to the configuration of Claude Code in /);
  assert.equal(notes.length, 3);
  assert.match(notes.at(-1)!, /^claude mcp add-json /);
  const both = await runScript(
    place,
    `${serverScript(place, "--print-config", "claude-code")} 2>&1`,
  );
  assert.equal(both.stdout, stdout + stderr);
});

Deno.test("--print-config refuses to print an entry whose policy is not valid, and says where and how to fix it", async () => {
  using place = new Place();
  const args = ["--policy", "policy.yaml", "--print-config", "cursor"];
  const print = () => runServer(place, { args });
  const cases = [
    [undefined, /^: there is no such file; create it, or check the spelling/],
    [
      "rules:\n- { state: of }",
      /^: rules\[0\]\.state: Invalid option: expected one of "on"\|/,
    ],
    [
      "rules:\n- { state: on }\n- { in: ~/*/x, state: off }",
      /^: rules\[1\]\.in\[0\]: Wildcards do not work here/,
    ],
  ] as const;
  for (const [rules, message] of cases) {
    if (rules !== undefined) place.file("project/policy.yaml", rules);
    const { code, stdout, stderr } = await print();
    assert.deepEqual([code, stdout], [2, ""]);
    const start = 'skill-server: Cannot use the policy "';
    assert.ok(stderr.startsWith(start), stderr);
    assert.match(stderr.slice(stderr.indexOf('.yaml"') + 6), message);
    assert.match(
      stderr,
      /no skills are served, and no entry can be printed \(/,
    );
  }
  place.file("project/policy.yaml", "rules: []");
  assert.equal((await print()).code, 0);
});

Deno.test("--list --as searches the folders that the entry has, and no other ones of the environment", async () => {
  using place = new Place();
  place.skill("named", "git");
  place.skill("variable", "pdf");
  const { stdout } = await runServer(place, {
    args: ["--list", "--as", "claude-desktop", join(place.path, "named")],
    env: { SKILLS_DIR: join(place.path, "variable") },
  });
  assert.match(
    stdout,
    /^What the model sees in claude-desktop, which was not measured \(1 skill, toolset skilljack\)$/m,
  );
});

Deno.test(
  "--check exits with 2 if it cannot write, even if there are errors",
  { ignore: lacks("proc") },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "bad", "no frontmatter");
    const script = `${serverScript(place, "--check")} >/dev/full`;
    const { code, stderr } = await runScript(place, script);
    assert.equal(code, 2);
    assert.match(stderr, /^skill-server: Cannot write the output: .*\n$/);
  },
);

Deno.test("--check --strict fails with warnings, too", async () => {
  using place = new Place();
  place.skill("project/skills", "git", skillMd("git") + "[a](a.md)");
  const codes: number[] = [];
  for (const options of [["--check"], ["--check", "--strict"]]) {
    const { code, text } = await printedReport(place, "skills", ...options);
    assert.match(text, /: 0 errors, 1 warning$/m);
    codes.push(code);
  }
  assert.deepEqual(codes, [0, 1]);
  place.skill("project/skills", "git");
  const clean = await printedReport(place, "skills", "--check", "--strict");
  assert.equal(clean.code, 0);
});

Deno.test("--check --ignore leaves out the problems of a rule, and does not fail because of them", async () => {
  using place = new Place();
  place.skill("project/skills", "git-2", skillMd("git") + "[a](a.md)");
  const check = (...args: string[]) =>
    printedReport(place, "skills", "--check", "--strict", ...args);
  const some = await check("--ignore", "name-folder");
  assert.equal(some.code, 1);
  assert.doesNotMatch(some.text, /name-folder/);
  const both = ["--ignore=name-folder", "--ignore=broken-link"];
  assert.deepEqual(await check(...both), {
    code: 0,
    text: "Checked 1 skill: no problems\n",
  });
});

/** Options, the lines that a command prints first, and its exit code. */
const commands: [args: string[], text: RegExp, code: number][] = [
  [["--help", "--version", "--list"], /^skill-server [^]*\nUsage:\n/, 0],
  [["--version", "--check"], /^\d+\.\d+\.\d+\S*\n$/, 0],
  [
    ["--list"],
    /^\.agent\/skills \(project\): does not exist\n[^]*\nFound 1 skill: 1 error, /,
    0,
  ],
  [["--check"], /error\[frontmatter-missing\][^]*\nChecked 2 skills: /, 1],
  [
    ["--list", "--check"],
    /^\.agent\/skills \(project\): does not exist\n[^]*\nChecked 2 skills: /,
    1,
  ],
  [["--list", "--json"], /^\{\n/, 0],
  [["--check", "--json"], /^\{\n/, 1],
  [["--list", "--as", "codex"], /^What the model sees in codex/m, 0],
];

Deno.test("runCommand() does what the options ask for, and only --check fails because of a skill", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  for (const [args, text, code] of commands) {
    const printed = await runServer(place, { args });
    assert.match(printed.stdout, text);
    assert.equal(printed.code, code, args.join(" "));
  }
});

Deno.test("--print-config prints the path of a folder as no command of Azure Pipelines", async () => {
  using place = new Place();
  const dir = place.dir("##vso[task.complete]x");
  for (const client of ["cursor", "codex", "claude-code"]) {
    const args = ["--print-config", client, dir];
    const { code, stdout, stderr } = await runServer(place, { args });
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout + stderr, /##vso/);
    assert.ok(parseLaunch(stdout).args.includes(dir), stdout);
  }
});
