// Someone who has skills finds them, with two commands: --list and --print-config.
import assert from "node:assert/strict";
import { MCP_CLIENTS } from "../src/cli/clients.ts";
import { join } from "../src/files/paths.ts";
import type { ClientName } from "../src/program/command_line.ts";
import { Session } from "./testing/client.ts";
import { printedLaunch, serverArgs } from "./testing/command_line.ts";
import { README } from "./testing/environment.ts";
import { Place } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { runServer } from "./testing/server.ts";

const NAMES = Array.from({ length: 14 }, (_, index) => `skill-${index}`).sort();

/** Creates a place as an installer leaves it. */
function installedPlace(): Place {
  const place = new Place();
  for (const name of NAMES) place.skill("home/.agents/skills", name);
  return place;
}

/** Returns the names of the skills that a server, started by a printed entry, lists whole. */
async function shownBy(place: Place, client: ClientName): Promise<string[]> {
  const launch = await printedLaunch(place, {}, client);
  await using session = await Session.open(place, { launch });
  const { tools: [tool] } = await session.client.listTools();
  assert.equal(tool!.name, "skill");
  const entries = tool!.description!.matchAll(
    /^<name>(.*)<\/name>\n<description>About \1<\/description>$/gm,
  );
  assert.deepEqual(session.stderr.values, []);
  return [...entries].map(([, name]) => name!).sort();
}

const CLIENTS = [
  ["claude-code", false],
  ["claude-desktop", false],
  ["cursor", true],
  ["vscode", true],
  ["codex", true],
] as const;

Deno.test("--list says that what an installer put in ~/.agents/skills is not searched", async () => {
  using place = installedPlace();
  const { stdout } = await runServer(place, { args: ["--list"] });
  assert.match(
    stdout,
    /skills: warning\[not-searched\]: it has 14 skills and is not searched\n {2}fix: add --agents\n/,
  );
});

for (const [client, readsItself] of CLIENTS) {
  Deno.test(`--print-config ${client} prints an entry with which the model sees what an installer put in ~/.agents/skills, once`, async () => {
    using place = installedPlace();
    const args = ["--print-config", client];
    const { stderr } = await runServer(place, { args });
    const { title } = MCP_CLIENTS[client];
    const note = readsItself
      ? `${title} shows these skills itself, so the entry leaves them to it`
      : `${title} does not read it either, so the entry adds --agents`;
    assert.ok(stderr.includes(`14 skills and is not searched. ${note}`));
    assert.deepEqual(await shownBy(place, client), readsItself ? [] : NAMES);
  });
}

Deno.test(
  "--print-config does not search ~/.agents/skills again for what the installer linked, or for what a clone has",
  { ignore: lacks("links") },
  async () => {
    using place = installedPlace();
    for (const name of NAMES) {
      place.link(
        `../../.agents/skills/${name}`,
        `home/.claude/skills/${name}`,
      );
    }
    place.skill("project/.agents/skills", "clone");
    const launch = await printedLaunch(place, {}, "claude-desktop");
    assert.deepEqual(serverArgs(launch), ["--tools=skilljack"]);
    place.remove("home/.claude");
    place.remove("home/.agents");
    place.link(join(place.project, ".agents"), "home/.agents");
    // What the user links is the user's, whoever wrote it.
    const linked = await printedLaunch(place, {}, "claude-desktop");
    assert.ok(serverArgs(linked).includes("--agents"));
  },
);

Deno.test(
  "each link of the README shows the skills of one client to the other",
  { ignore: lacks("sh") || lacks("links") },
  async () => {
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
      for (const folder of [".claude/skills", ".agents/skills"]) {
        const path = join(place.home, folder);
        const { stdout } = await runServer(place, { args: ["--list", path] });
        assert.match(stdout, /^ {2}git +1 file/m);
      }
    }
  },
);
