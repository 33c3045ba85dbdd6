// What the server does without a home directory, and without some of its permissions.
import assert from "node:assert/strict";
import { dirname, join } from "../src/fs/paths.ts";
import { Session } from "./testing/client.ts";
import { flagsWith } from "./testing/environment.ts";
import { Place } from "./testing/folders.ts";
import { HttpServer } from "./testing/http.ts";
import { lacks } from "./testing/needs.ts";
import { onWindows, runServer } from "./testing/server.ts";

Deno.test("server serves the project's skills if the home folder is unknown, and reports that it is", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  for (const home of ["", "me"]) {
    const env = { HOME: home, USERPROFILE: home };
    await using session = await Session.open(place, { env });
    assert.deepEqual(await session.names(), ["git"]);
    await session.stderr.take(
      (line) =>
        line.startsWith("skill-server: Cannot determine the home folder: "),
      "the line about the home folder",
    );
  }
});

Deno.test("server reports that a tool cannot run the shell only if Deno is not allowed to", async () => {
  using place = new Place();
  const args = ["--tools", "agentskills"];
  const read = ["--allow-read", "--allow-env"];
  const refused = flagsWith(...read);
  await using session = await Session.open(place, { args, flags: refused });
  const lack = "The tool run_shell_command_op is unavailable: Deno has no";
  await session.stderr.take((line) => line.includes(lack), "the reason");
  const allowed = flagsWith(...read, "--allow-run");
  await using other = await Session.open(place, { args, flags: allowed });
  await other.client.listTools();
  assert.deepEqual(await other.end(), []);
});

Deno.test("server reports neither a trusted folder that Deno may not read, nor an unknown home folder whose skills it would not serve", async () => {
  using place = new Place();
  const flags = flagsWith(`--allow-read=${place.project}`, "--allow-env");
  const dir = dirname(place.skill("folder", "git"));
  const env = { HOME: "", USERPROFILE: "", SKILLS_DIR: dir };
  place.skill("project/.claude/skills", "pdf");
  const runs = [
    { flags, args: ["--list", "--trust-links", place.path], found: "pdf" },
    { env, args: ["--list"], found: "git" },
  ];
  for (const { found, ...options } of runs) {
    const { code, stdout, stderr } = await runServer(place, options);
    assert.deepEqual([code, stderr], [0, ""]);
    assert.match(stdout, new RegExp(`^ {2}${found} +1 file`, "m"));
  }
});

Deno.test("server does not start with a folder or a policy in an unknown home folder", async () => {
  using place = new Place();
  const env = { HOME: "", USERPROFILE: "" };
  for (const args of [["~/more"], ["../folder", "--policy", "~/more"]]) {
    const { code, stderr } = await runServer(place, { args, env });
    assert.equal(code, 2);
    assert.equal(
      stderr,
      'skill-server: Cannot find "~/more": the home folder is unknown; pass an absolute path (add --help to see the options)\n',
    );
  }
});

Deno.test("server serves the folders that Deno is allowed to read, and reports the missing permissions", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "pdf");
  const flags = flagsWith(`--allow-read=${place.project}`, "--allow-env");
  await using session = await Session.open(place, { flags });
  assert.deepEqual(await session.names(), ["git"]);
  const line = await session.stderr.take(
    (line) => line.includes(join(place.home, ".claude", "skills")),
    "the line about the refused root",
  );
  assert.match(
    line,
    /Deno is not allowed to read it; add it to .*--allow-read/,
  );
  place.skill("project/.claude/skills", "new");
  await session.listChanged();
});

Deno.test("server over HTTP obeys a policy beside the skills with only the permissions to read these", async () => {
  using place = new Place();
  place.skill("team", "git");
  place.skill("team", "pdf");
  const policy = place.file(
    "team/policy.yaml",
    "rules: [{ skill: pdf, state: off }]",
  );
  const skills = join(place.path, "team");
  await using server = await HttpServer.start(place, {
    permissions: [`--allow-read=${skills}`, "--allow-env"],
    env: {
      SKILLS_DIR: skills,
      SKILL_SERVER_ARGS: `--tools skilljack --policy ${policy}`,
    },
  });
  const { result } = await server.ask("prompts/list");
  const names = result.prompts.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["skill", "git"]);
});

Deno.test(
  "server serves a root that is a link even if Deno has permission only for the link",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("dotfiles", "git");
    const link = place.link(
      join(place.path, "dotfiles"),
      "home/.claude/skills",
    );
    const flags = flagsWith(`--allow-read=${link}`, "--allow-env");
    await using session = await Session.open(place, { flags });
    assert.deepEqual(await session.names(), ["git"]);
    assert.match((await session.load("git")).text, /^Loading: git\n/);
  },
);

Deno.test(
  "server treats the home folder's skills as global even if it runs in that folder",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.link(place.skill("elsewhere", "git"), "project/.claude/skills/git");
    place.link(place.project, "home-link");
    for (const HOME of [place.project, join(place.path, "home-link")]) {
      await using session = await Session.open(place, { env: { HOME } });
      assert.deepEqual(await session.names(), ["git"]);
      assert.match(await session.description(), /<location>global</);
    }
  },
);

Deno.test("server skips a skill that Deno is not allowed to read, and says so", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const secret = place.skill("home/.claude/skills", "secret");
  const flags = flagsWith(
    "--allow-read",
    `--deny-read=${secret}`,
    "--allow-env",
  );
  await using session = await Session.open(place, { flags });
  assert.deepEqual(await session.names(), ["git"]);
  await session.stderr.take(
    (line) => line.includes(secret) && line.includes("not allowed"),
    "the line about the skill",
  );
});

Deno.test("server starts without permissions, serves what it may read, and reports what to add", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "pdf");
  for (const [names, ...flags] of [[["git"], "--allow-read"], [[]]] as const) {
    const options = { flags: flagsWith(...flags) };
    await using session = await Session.open(place, options);
    assert.deepEqual(await session.names(), names);
    const isFix = (line: string) => line.includes("--allow-env");
    await session.stderr.take(isFix, "the fix");
  }
});

Deno.test("server uses USERPROFILE as the home folder if HOME is not set, and on Windows even if a shell sets it", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const env = { HOME: "", USERPROFILE: place.home };
  await using session = await Session.open(place, { env });
  assert.deepEqual(await session.names(), ["git"]);
  const program = `await server.main(["--list", "--json"]);`;
  const report = await onWindows(place, program, {
    HOME: "/c/Users/me",
    USERPROFILE: "C:\\Users\\me",
  });
  const { roots } = report as { roots: { path: string; scope: string }[] };
  const home = roots.filter(({ scope }) => scope === "global");
  assert.deepEqual(home.map(({ path }) => path), [
    "C:\\Users\\me\\.agent\\skills",
    "C:\\Users\\me\\.claude\\skills",
  ]);
});
