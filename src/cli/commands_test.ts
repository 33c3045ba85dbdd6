import assert from "node:assert/strict";
import config from "../../deno.json" with { type: "json" };
import { MOD } from "../../tests/testing/environment.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import { join } from "../fs/paths.ts";
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

Deno.test("--check refuses a folder of --ignore in an unknown home folder", async () => {
  using place = new Place();
  const { code, stderr } = await runServer(place, {
    args: ["--check", "--ignore", "long:~/x"],
    env: { HOME: "", USERPROFILE: "" },
  });
  assert.equal(code, 2);
  assert.match(stderr, /Cannot find "~\/x": the home folder is unknown;/);
});

Deno.test("--print-config says why it prints no entry with an invalid policy", async () => {
  using place = new Place();
  const args = ["--policy", "policy.yaml", "--print-config", "cursor"];
  const cases = [
    [undefined, "there is no such file"],
    ["rules:\n- { state: of }", "rules\\[0\\]\\.state: It must be one of"],
  ] as const;
  for (const [rules, reason] of cases) {
    if (rules !== undefined) place.file("project/policy.yaml", rules);
    const { code, stdout, stderr } = await runServer(place, { args });
    assert.deepEqual([code, stdout], [2, ""]);
    const message = new RegExp(
      `^skill-server: Cannot use the policy ".*policy\\.yaml": ${reason}.*; until then, no skills are served$`,
    );
    assert.match(stderr.trimEnd(), message);
  }
});

Deno.test("--list --as searches only the folders that the entry has", async () => {
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

/** Options that are given together, the exit code, and what is printed. */
const RUNS: [args: string, code: number, text: RegExp][] = [
  [
    "--help --version --list --print-config codex",
    0,
    /^skill-server [^]*\nUsage:\n/,
  ],
  ["--version --check", 0, /^\d+\.\d+\.\d+\S*\n$/],
  ["--list", 0, /\nFound 1 skill: 1 error, /],
  ["--list --check", 1, /^\S+[\\/]skills \(\w+\)[^]*\nChecked 2 skills: /],
  ["--list --json", 0, /^\{\n/],
  ["--check --json", 1, /^\{\n/],
  ["--check skills", 0, /^Checked 1 skill: 0 errors, 1 warning$/m],
  ["--check skills --strict", 1, /^Checked 1 skill: 0 errors, 1 warning$/m],
  ["--check other", 1, /^Checked 1 skill: 1 error, 1 warning$/m],
  [
    "--check other --ignore name-folder",
    0,
    /: 0 errors, 1 warning \(1 ignored\)$/m,
  ],
  ["--check other --ignore name-folder:skills", 1, /: 1 error, 1 warning$/m],
  [
    "--check other --strict --ignore=name-folder:other,long --ignore=dead-link",
    0,
    /^Checked 1 skill: no problems \(2 ignored\)\n$/,
  ],
];

Deno.test("only --check fails, because of what --strict and --ignore leave", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  place.skill("project/skills", "git", skillMd("git") + "[a](a.md)");
  place.skill("project/other", "git-2", skillMd("git") + "[a](a.md)");
  for (const [args, code, text] of RUNS) {
    const printed = await runServer(place, { args: args.split(" ") });
    assert.match(printed.stdout, text, args);
    assert.equal(printed.code, code, args);
  }
});
