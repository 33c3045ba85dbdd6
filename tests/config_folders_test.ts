// Where clients keep their things, if a variable moves that out of the home directory.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { Session } from "./testing/client.ts";
import { printedLaunch } from "./testing/command_line.ts";
import { Place } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { runServer } from "./testing/server.ts";

const withLinks = needs("links");

/** Returns the names of the skills that the server finds, and what it logs. */
async function listed(
  place: Place,
  env: Record<string, string>,
  ...args: string[]
): Promise<{ names: string[]; stderr: string; diagnostics: string[] }> {
  const { stdout, stderr } = await runServer(place, {
    args: ["--list", "--json", ...args],
    env,
  });
  const { skills, diagnostics } = JSON.parse(stdout);
  return {
    names: skills.map(({ name }: { name: string }) => name),
    stderr,
    diagnostics: diagnostics.map(({ fix }: { fix: string }) => fix),
  };
}

Deno.test("CLAUDE_CONFIG_DIR stands for ~/.claude in the default folders and in hints", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "home");
  place.skill("project/.claude/skills", "project");
  place.skill("moved/skills", "moved");
  place.skill("moved/plugins/cache/market/tools/skills", "plugin");
  const env = { CLAUDE_CONFIG_DIR: join(place.path, "moved") };
  const { names, stderr, diagnostics } = await listed(place, env);
  assert.deepEqual([names, stderr], [["moved", "project"], ""]);
  assert.equal(diagnostics.length, 1);
  assert.match(diagnostics[0]!, /^Claude Code serves them itself/);
  assert.deepEqual((await listed(place, {})).names, ["home", "project"]);
});

withLinks.test("a variable that names a folder of the project, or none, stands for nothing", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "home");
  place.skill("project/own/skills", "theirs");
  place.link(join(place.project, "own"), "outside");
  const dirs = [
    join(place.project, "own"),
    join(place.path, "outside"),
    "own",
  ];
  for (const dir of dirs) {
    const env = { CLAUDE_CONFIG_DIR: dir };
    const { names, stderr } = await listed(place, env);
    assert.deepEqual(names, ["home"]);
    assert.equal(
      stderr,
      `skill-server: Ignoring CLAUDE_CONFIG_DIR="${dir}": expected an absolute path outside the project\n`,
    );
  }
});

Deno.test("the entry for Claude Code follows CLAUDE_CONFIG_DIR, and a server started by it finds the same skills", async () => {
  using place = new Place();
  place.skill("moved/skills", "moved");
  const moved = join(place.path, "moved");
  const env = { CLAUDE_CONFIG_DIR: moved };
  const { stdout, stderr } = await runServer(place, {
    args: ["--print-config", "claude-code"],
    env,
  });
  const own = join(moved, "skills");
  assert.ok(stderr.includes(`"${join(moved, ".claude.json")}"`));
  assert.ok(stderr.includes(`skills in ${own} itself`));
  const { skills: { args, ...entry } } = JSON.parse(stdout).mcpServers;
  assert.deepEqual(entry.env, env);
  assert.match(args[2], new RegExp(`,${own}(,|$)`));
  const launch = await printedLaunch(place, { env }, "claude-code");
  await using session = await Session.open(place, { launch, env: entry.env });
  assert.match((await session.load("moved")).text, /^Loading: moved/);
});
