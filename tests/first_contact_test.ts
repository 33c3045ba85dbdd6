// Someone who has skills finds them by --print-config. What it prints is in
// tests/golden/clients.txt, and what --list says of folders in check_folders.txt.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
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

const CLIENTS = [
  ["claude-code", NAMES],
  ["claude-desktop", NAMES],
  ["cursor", []],
  ["vscode", []],
  // Its own list shortens them, so the server finds them, too, and lists their names.
  ["codex", []],
] as const;

for (const [client, described] of CLIENTS) {
  Deno.test(`--print-config ${client} prints an entry with which the model sees what an installer put in ~/.agents/skills, once`, async () => {
    using place = installedPlace();
    assert.deepEqual(await shownBy(place, client), described);
  });
}

Deno.test(
  "--print-config prints the same entry whatever .agents/skills holds, and the model sees what an installer linked once",
  { ignore: lacks("links") },
  async () => {
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
  },
);

Deno.test(
  "--print-config codex describes no skill that an installer linked from ~/.agents/skills, which Codex reads itself",
  { ignore: lacks("links") },
  async () => {
    using place = installedPlace();
    for (const name of NAMES) {
      place.link(`../../.agents/skills/${name}`, `home/.claude/skills/${name}`);
    }
    place.skill("home/.claude/skills", "own");
    const launch = await printedLaunch(place, {}, "codex");
    await using session = await Session.open(place, { launch });
    assert.deepEqual((await session.names()).sort(), ["own", ...NAMES].sort());
    assert.deepEqual(await shownBy(place, "codex"), ["own"]);
  },
);

Deno.test("--print-config codex describes none of the skills that Codex installs itself", async () => {
  using place = new Place();
  place.skill("home/.codex/skills", "own");
  place.skill("home/.codex/skills/.system", "installed");
  const folder = join(place.home, ".codex", "skills");
  const args = ["--skill-dir", folder];
  const launch = await printedLaunch(place, { args }, "codex");
  await using session = await Session.open(place, { launch });
  assert.deepEqual((await session.names()).sort(), ["installed", "own"]);
  assert.deepEqual(await shownBy(place, "codex", args), []);
});

Deno.test("--print-config says what else the client shows itself, and each advice does what it says", async () => {
  using place = installedPlace();
  place.skill("home/.claude/skills", "git");
  place.skill("project/.claude/skills", "pdf");
  const { stderr } = await runServer(place, {
    args: ["--print-config", "cursor"],
  });
  const [, options] = /add (--name-only .*)\.\n/.exec(stderr) ?? [];
  assert.equal(
    options,
    "--name-only ~/.claude/skills --name-only .claude/skills",
  );
  const words = options.split(" ");
  const launch = await printedLaunch(place, { args: words }, "cursor");
  await using session = await Session.open(place, { launch });
  const { tools: [tool] } = await session.client.listTools();
  for (const name of ["git", "pdf"]) {
    assert.ok(tool!.description!.includes(`<name>${name}</name>\n<location>`));
  }
  const again = await runServer(place, {
    args: ["--print-config", "cursor", ...words],
  });
  assert.doesNotMatch(again.stderr, /if the model sees skills twice/);
});

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
