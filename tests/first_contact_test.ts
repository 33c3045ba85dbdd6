// Someone who has skills finds them by --print-config. What it prints is in
// tests/golden/clients.txt, and what --list says of directories in check_folders.txt.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import type { ClientName } from "../src/mcp/clients.ts";
import { Session } from "./testing/client.ts";
import { printedLaunch, serverArgs } from "./testing/command_line.ts";
import { README } from "./testing/environment.ts";
import { Place } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { runServer } from "./testing/server.ts";

const withLinks = needs("links");
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
    /^<name>(.*)<\/name>\n<description>About \1<\/description>$/gm,
  );
  assert.deepEqual(await session.end(), []);
  return [...entries].map(([, name]) => name!).sort();
}

/** Clients, and the directories that they describe themselves and the server searches. */
const ADVISED: readonly [ClientName, ...string[]][] = [
  ["claude-code", ".claude/skills"],
  ["opencode", ".claude/skills", ".agents/skills"],
];

withLinks.test("--print-config prints the same entry whatever .agents/skills holds, and the model sees what an installer linked once", async () => {
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
  assert.deepEqual(await shownBy(place, "claude-desktop"), [
    "clone",
    ...NAMES,
  ]);
});

Deno.test("the rule that --print-config shows lists by name only the skills that the client describes itself", async () => {
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

withShAndLinks.test("each link of the README shows the skills of one client to the other", async () => {
  const commands = README.matchAll(/^ *(mkdir -p .* && ln -s (\S+) \S+)$/gm);
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
