// With any home directory, and with few permissions, the server serves what it can, and says
// what it lacks.
import assert from "node:assert/strict";
import { dirname, join } from "../src/fs/paths.ts";
import { Session } from "./testing/client.ts";
import { printedLaunch } from "./testing/command_line.ts";
import { flagsWith } from "./testing/environment.ts";
import { needs } from "./testing/needs.ts";
import { Place } from "./testing/place.ts";
import { onWindows, runServer, type ServerOptions } from "./testing/server.ts";

const withLinks = needs("links");

/** A start in a place with the project's skill `git` and the user's skill `pdf`. */
interface Start {
  readonly options: (place: Place) => ServerOptions;
  /** The skills that the server serves. */
  readonly names: readonly string[];
  /** A line that it logs. */
  readonly log?: RegExp;
}

const STARTS: Readonly<Record<string, Start>> = {
  "the home folder is unknown": {
    options: () => ({ env: { HOME: "", USERPROFILE: "" } }),
    names: ["git"],
    log: /^skill-server: Cannot determine the home folder: /,
  },
  "the home folder is a relative path": {
    options: () => ({ env: { HOME: "me", USERPROFILE: "me" } }),
    names: ["git"],
    log: /^skill-server: Cannot determine the home folder: /,
  },
  "only USERPROFILE is set": {
    options: ({ home }) => ({ env: { HOME: "", USERPROFILE: home } }),
    names: ["git", "pdf"],
  },
  "Deno may read only the project": {
    options: (place) => {
      place.skill("project/.claude/skills", "off");
      const rules = "rules: [{ skill: off, state: off }]";
      const policy = place.file("project/policy.yaml", rules);
      const flags = flagsWith(`--allow-read=${place.project}`, "--allow-env");
      return { flags, args: ["--policy", policy] };
    },
    names: ["git"],
    log:
      /home.\.claude.skills": Deno is not allowed to read it; add it to .*--allow-read/,
  },
  "Deno may not read a skill": {
    options: ({ home }) => ({
      flags: flagsWith(
        "--allow-read",
        `--deny-read=${join(home, ".claude/skills/pdf")}`,
        "--allow-env",
      ),
    }),
    names: ["git"],
    log: /pdf.*not allowed/,
  },
  "Deno may not read the environment": {
    options: () => ({ flags: flagsWith("--allow-read") }),
    names: ["git"],
    log: /--allow-env/,
  },
  "Deno has no permissions": {
    options: () => ({ flags: flagsWith() }),
    names: [],
    log: /--allow-env/,
  },
};

for (const [when, { options, names, log }] of Object.entries(STARTS)) {
  Deno.test(`the server serves what it may read if ${when}`, async () => {
    using place = new Place();
    place.skill("project/.claude/skills", "git");
    place.skill("home/.claude/skills", "pdf");
    await using session = await Session.open(place, options(place));
    assert.deepEqual(await session.names(), names);
    if (log !== undefined) {
      await session.stderr.take((line) => log.test(line), String(log));
    }
    if (names.length === 0) return;
    place.skill("project/.claude/skills", "new");
    await session.listChanged();
  });
}

Deno.test("--list does not report folders that it does not need", async () => {
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

Deno.test("--list needs no home folder if Deno may read only the project", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "pdf");
  const flags = flagsWith(`--allow-read=${place.project}`, "--allow-env");
  const env = { HOME: "", USERPROFILE: "" };
  const options = { flags, env, args: ["--list"] };
  const { code, stdout, stderr } = await runServer(place, options);
  assert.equal(code, 0, stderr);
  assert.match(stdout, /^ {2}pdf +1 file/m);
});

withLinks.test("server serves a root that is a link with permission only for the link", async () => {
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
});

Deno.test("the server works in a home folder whose name has a blank and an umlaut", async () => {
  using place = new Place();
  const home = place.dir("J\u00fcrgen M\u00fcller");
  place.skill("J\u00fcrgen M\u00fcller/.claude/skills", "git");
  const env = { HOME: home, USERPROFILE: home };
  const launch = await printedLaunch(place, { env });
  for (const options of [{ env }, { env, launch }]) {
    await using session = await Session.open(place, options);
    assert.deepEqual(await session.names(), ["git"]);
    assert.equal((await session.load("git")).isError, false);
  }
});

Deno.test("the home folder on Windows is USERPROFILE, even if a shell sets HOME", async () => {
  using place = new Place();
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

withLinks.test("under printed permissions, a change behind a linked root is noticed", async () => {
  using place = new Place();
  place.skill("data/skills", "git");
  place.dir("home", ".claude");
  place.link(join(place.path, "data", "skills"), "home/.claude/skills");
  const launch = await printedLaunch(place, { args: ["--refresh", "0"] });
  await using session = await Session.open(place, { launch });
  assert.deepEqual(await session.names(), ["git"]);
  place.skill("data/skills", "pdf");
  await session.listChanged();
  assert.deepEqual(await session.names(), ["git", "pdf"]);
});
