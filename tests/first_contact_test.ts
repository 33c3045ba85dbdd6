// Someone who has skills finds them by --print-config, also where CLAUDE_CONFIG_DIR moves
// them. What it prints is in
// tests/golden/clients.txt, and what --list says of directories in check_folders.txt.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { quote } from "../src/text.ts";
import type { ClientName } from "../src/views/clients.ts";
import { Session } from "./testing/client.ts";
import { printedLaunch, serverArgs } from "./testing/command_line.ts";
import { Place } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { read } from "./testing/pages.ts";
import { runServer } from "./testing/server.ts";

const withLinks = needs("links");
const withSh = needs("sh");
const withShAndLinks = needs("sh", "links");

const NAMES = Array.from({ length: 14 }, (_, index) => `skill-${index}`).sort();

/** Creates a place as an installer leaves it. */
function installedPlace(): Place {
  const place = new Place();
  for (const name of NAMES) place.skill("home/.agents/skills", name);
  return place;
}

/** Returns the names of the skills that a server, started by a printed entry, lists whole. */
async function shownBy(
  place: Place,
  client: ClientName,
  args: string[] = [],
): Promise<string[]> {
  const launch = await printedLaunch(place, { args }, client);
  await using session = await Session.open(place, { launch });
  const { tools: [tool] } = await session.client.listTools();
  assert.equal(tool!.name, "skill");
  const entries = tool!.description!.matchAll(
    /^(?:<name>|- )(.*?)(?:<\/name>\n<description>|: )About \1(?=<|$)/gm,
  );
  assert.deepEqual(await session.end(), []);
  return [...entries].map(([, name]) => name!).sort();
}

/** Clients, and the directories that they describe themselves and the server searches. */
const ADVISED: readonly [ClientName, ...string[]][] = [
  ["claude-code", ".claude/skills"],
  ["opencode", ".claude/skills", ".agents/skills"],
];

withLinks.test("the model sees once what an installer linked, whatever --print-config found", async () => {
  using place = new Place();
  const before = await printedLaunch(place, {}, "claude-desktop");
  assert.deepEqual(serverArgs(before), ["--agents", "--tools=skilljack"]);
  for (const name of NAMES) {
    place.skill("home/.agents/skills", name);
    place.link(
      `../../.agents/skills/${name}`,
      `home/.claude/skills/${name}`,
    );
  }
  place.skill("project/.agents/skills", "clone");
  const launch = await printedLaunch(place, {}, "claude-desktop");
  assert.deepEqual(serverArgs(launch), serverArgs(before));
  const shown = await shownBy(place, "claude-desktop");
  assert.deepEqual(shown, ["clone", ...NAMES]);
});

Deno.test("the rule of --print-config lists by name what the client describes itself", async () => {
  for (const [client, ...dirs] of ADVISED) {
    using place = installedPlace();
    place.skill("home/.claude/skills", "own");
    place.skill("home/.agent/skills", "other");
    const { stderr } = await runServer(place, {
      args: ["--print-config", client, "--agents"],
    });
    const [, rule] = /the rule "(.*)" in a file/.exec(stderr)!;
    place.file("project/policy.yaml", `rules:\n${rule}\n`);
    const args = ["--agents", "--policy", "policy.yaml"];
    const shown = await shownBy(place, client, args);
    const isLeft = dirs.includes(".agents/skills");
    assert.deepEqual(shown, isLeft ? ["other"] : ["other", ...NAMES]);
    const launch = await printedLaunch(place, { args }, client);
    await using session = await Session.open(place, { launch });
    assert.deepEqual(
      (await session.names()).sort(),
      ["other", "own", ...NAMES].sort(),
    );
  }
});

Deno.test("the rule of --print-config is valid for a folder that YAML needs quotes for", async () => {
  for (const name of ["a,b", "it's $1"]) {
    using place = new Place();
    place.skill(`${name}/skills`, "git");
    const env = { CLAUDE_CONFIG_DIR: join(place.path, name) };
    const args = ["--print-config", "claude-code"];
    const { stderr } = await runServer(place, { args, env });
    const [, rule] = /the rule "(.*)" in a file/.exec(stderr)!;
    place.file("project/policy.yaml", `rules:\n${rule}\n`);
    const { stdout } = await runServer(place, {
      args: ["--list", "--policy", "policy.yaml"],
      env,
    });
    assert.match(stdout, /^ {2}git +name-only +rules\[0\]/m, stdout);
  }
});

/** Runs a command about a client, and returns what the first group of a pattern matches. */
async function printedNumber(
  place: Place,
  args: string[],
  pattern: RegExp,
): Promise<number> {
  const { stdout, stderr } = await runServer(place, { args });
  const [, number] = pattern.exec(stdout + stderr)!;
  return Number(number);
}

withLinks.test("--print-config counts the skills that a client lists, too, through links, and the tokens that its rule saves", async () => {
  using place = installedPlace();
  for (const name of NAMES) {
    place.link(
      `../../.agents/skills/${name}`,
      `home/.claude/skills/${name}`,
    );
  }
  place.skill("home/.claude/skills", "own");
  for (const client of ["gemini-cli", "qwen-code", "codex", "cline"]) {
    const { stderr } = await runServer(place, {
      args: ["--print-config", client],
    });
    const [, count, total] = / also lists (\d+) of (\d+) skills itself/.exec(
      stderr,
    )!;
    assert.deepEqual(
      [count, total],
      [NAMES.length, NAMES.length + 1].map(String),
    );
    const [, rule, saved] = /the rule "(.*)" .* about (\d+) tokens/.exec(
      stderr,
    ) ?? [];
    assert.equal(rule === undefined, client === "cline", stderr);
    if (rule === undefined) continue;
    const policy = place.file("home/policy.yaml", `rules:\n${rule}\n`);
    const size = (...args: string[]) =>
      printedNumber(
        place,
        ["--list", "--as", client, ...args],
        /^Total: \d+ characters, about (\d+) tokens/m,
      );
    const difference = await size() - await size("--policy", policy);
    assert.ok(Math.abs(difference - Number(saved)) <= 1, stderr);
  }
});

withShAndLinks.test("each link in docs/clients.md shows the skills of one client to the other", async () => {
  const commands = read("docs/clients.md").matchAll(
    /^ *(mkdir -p .* && ln -s (\S+) \S+)$/gm,
  );
  const links = [...commands];
  assert.equal(links.length, 2);
  for (const [, command, source] of links) {
    using place = new Place();
    place.skill(source!.replace("~", "home"), "git");
    const { success } = await new Deno.Command("sh", {
      args: ["-c", command!],
      env: { HOME: place.home },
    }).output();
    assert.ok(success, command);
    for (const dir of [".claude/skills", ".agents/skills"]) {
      const path = join(place.home, dir);
      const { stdout } = await runServer(place, { args: ["--list", path] });
      assert.match(stdout, /^ {2}git +1 file/m);
    }
  }
});

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
  assert.match(
    diagnostics[0]!,
    /^for other clients than Claude Code, add --skill-dir /,
  );
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

Deno.test("a server started by the entry for Claude Code follows CLAUDE_CONFIG_DIR", async () => {
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
  assert.ok(stderr.includes(`{ in: ${own}, state: name-only }`));
  const { skills: { args, ...entry } } = JSON.parse(stdout).mcpServers;
  assert.deepEqual(entry.env, env);
  assert.ok(args[2].split(",").includes(own));
  const launch = await printedLaunch(place, { env }, "claude-code");
  await using session = await Session.open(place, { launch, env: entry.env });
  assert.match((await session.load("moved")).text, /^Loading: moved/);
});

Deno.test("--print-config says that a server of another client needs CLAUDE_CONFIG_DIR", async () => {
  using place = new Place();
  place.skill("moved/skills", "moved");
  const moved = join(place.path, "moved");
  const env = { CLAUDE_CONFIG_DIR: moved };
  const print = (...args: string[]) =>
    runServer(place, { args: ["--print-config", ...args], env });
  const { stderr } = await print("cursor");
  assert.ok(stderr.includes(`needs CLAUDE_CONFIG_DIR=${quote(moved)}, as`));
  assert.doesNotMatch(stderr, /also lists/);
  for (const args of [["cursor", moved], ["claude-code"]]) {
    const { stderr } = await print(...args);
    assert.doesNotMatch(stderr, /needs CLAUDE_CONFIG_DIR/);
  }
});

withSh.test("--print-config prints no command that would run the text of a variable", async () => {
  using place = new Place();
  const stderrFor = async (dir: string) => {
    const args = ["--print-config", "claude-code"];
    const env = { CLAUDE_CONFIG_DIR: dir };
    return (await runServer(place, { args, env })).stderr;
  };
  const moved = join(place.path, "moved");
  assert.match(await stderrFor(moved), /^claude mcp add-json /m);
  // The text after the quote would be a command.
  assert.doesNotMatch(await stderrFor(`${moved}'; echo '`), /add-json/);
});
