import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { printedLaunch, serverArgs } from "../../tests/testing/command_line.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import { join } from "../fs/paths.ts";
import type { ClientName } from "../views/clients.ts";

const withLinks = needs("links");

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

Deno.test("--print-config recommends no rule that saves nothing", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const args = ["--print-config", "cursor", "--tools", "agentskills"];
  const { stderr } = await runServer(place, { args });
  assert.match(stderr, /^Cursor also lists 1 of 1 skill itself\.$/m);
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

withLinks.test("--print-config says what its rule saves where the client lists skills, too", async () => {
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
