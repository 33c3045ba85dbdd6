import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import { formatConfig } from "./client_config.ts";
import { CLIENT_NAMES, MCP_CLIENTS } from "./clients.ts";
import type { Launch } from "./clients.ts";
import { Session } from "../../tests/testing/client.ts";
import {
  assertMisuse,
  configFor,
  parseLaunch,
  printedLaunch,
  serverArgs,
} from "../../tests/testing/command_line.ts";
import { Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";

/** Clients whose configurations differ in format. The program prints them, and the servers are started. */
const PRINTED_CLIENTS = ["claude-code", "codex"] as const;

/** A command that every format must escape. */
const ODD_LAUNCH: Launch = {
  command: 'C:\\Program Files\\it\'s "deno"',
  args: ["run", "", "a b", "--x=1", `$HOME 'a' \u007f\u{e0001} \\"`, "é"],
};

Deno.test("formatConfig() writes what each client parses", () => {
  for (const name of CLIENT_NAMES) {
    if (name === "codex") continue;
    const text = formatConfig(MCP_CLIENTS[name], ODD_LAUNCH);
    assert.deepEqual(parseLaunch(text), ODD_LAUNCH);
  }
  assert.equal(
    formatConfig(MCP_CLIENTS.codex, {
      ...ODD_LAUNCH,
      args: ['\u007f"\u{e0041}'],
    }),
    `[mcp_servers.skills]
command = "C:\\\\Program Files\\\\it's \\"deno\\""
args = [
  "\\u007f\\"\\U000e0041",
]
`,
  );
});

Deno.test("--print-config keeps the other options and the environment's settings, with absolute paths", async () => {
  using place = new Place();
  place.folder("store");
  const launch = await printedLaunch(place, {
    args: [
      ...["--agents", "--refresh", "5", "--no-watch", "--tools", "reference"],
      ...["--skill-dir", "more", "--skill-dir", "~/own"],
      ...["--trust-links", "../store", "--description-limit", "500"],
      ...["--policy", "policy.yaml"],
    ],
    env: { SKILLS_DIR: "a,b", MAX_FILE_SIZE_MB: "2" },
  });
  assert.deepEqual(serverArgs(launch), [
    `--skill-dir=${join(place.project, "more")}`,
    `--skill-dir=${join(place.home, "own")}`,
    "--agents",
    `--trust-links=${join(place.path, "store")}`,
    "--tools=reference",
    `--policy=${join(place.project, "policy.yaml")}`,
    "--max-file-size=2",
    "--description-limit=500",
    "--refresh=5",
    "--no-watch",
    join(place.project, "a"),
    join(place.project, "b"),
  ]);
});

Deno.test("--print-config grants read permission only for the folders that are searched", async () => {
  using place = new Place();
  const allowed = async (args: string[], cwd = place.project) => {
    const launch = await printedLaunch(place, { args, cwd });
    return launch.args[2]!.replace("--allow-read=", "").split(",");
  };
  const usual = [".agent", ".claude"].flatMap((name) => [
    join(name, "skills"),
    join(place.home, name, "skills"),
  ]);
  assert.deepEqual(await allowed([]), usual);
  // The home folder can be a project's folder later.
  assert.deepEqual(await allowed([], place.home), usual);
  const team = join(place.project, "team");
  const store = place.folder("store");
  assert.deepEqual(await allowed(["team", "--trust-links", store]), [
    team,
    store,
  ]);
  assert.deepEqual(await allowed(["--skill-dir", "team"]), [...usual, team]);
});

Deno.test("createClientConfig() refuses a folder that --allow-read cannot name", () => {
  const args = ["--skill-dir", resolve("/a,b")];
  assertMisuse(
    () => configFor("cursor", { args }),
    /^Cannot print an entry that lets Deno read only ".*a,b": its path contains a comma; rename it$/,
  );
});

for (const client of PRINTED_CLIENTS) {
  Deno.test(
    `the command that --print-config ${client} prints starts a server that has the same skills, finds new ones, and logs nothing`,
    async () => {
      using place = new Place();
      place.skill("project/.claude/skills", "git");
      place.skill("home/.claude/skills", "pdf");
      place.skill("project/it's more", "new");
      const args = ["--refresh", "5", "--skill-dir", "it's more"];
      const launch = await printedLaunch(place, { args }, client);
      await using session = await Session.open(place, { launch });
      // Skills in the state name-only come last, and the user's own before the project's.
      const names = client === "claude-code"
        ? ["new", "pdf", "git"]
        : ["pdf", "git", "new"];
      assert.deepEqual(await session.names(), names);
      place.skill("project/it's more", "also");
      await session.listChanged();
      assert.deepEqual((await session.names()).includes("also"), true);
      assert.deepEqual(session.stderr.values, []);
    },
  );
}

Deno.test(
  "--print-config lists by name only what a client lists itself, also behind links, and what the user names",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("home/.agents/skills", "pdf");
    place.link("../../.agents/skills/pdf", "home/.claude/skills/pdf");
    place.skill("home/.claude/skills", "git");
    const own = join(".agents", "skills");
    const args = ["--name-only", "more", "--name-only", join(place.home, own)];
    const launch = await printedLaunch(place, { args }, "gemini-cli");
    assert.deepEqual(serverArgs(launch), [
      `--name-only=${own}`,
      `--name-only=${join(place.home, own)}`,
      `--name-only=${join(place.project, "more")}`,
    ]);
    await using session = await Session.open(place, { launch });
    const { tools } = await session.client.listTools();
    assert.match(tools[0]!.description!, /About git/);
    assert.doesNotMatch(tools[0]!.description!, /About pdf/);
  },
);

Deno.test("createClientConfig() selects another toolset only if the user has not", () => {
  const args = ["--tools", "reference"];
  const { text, message } = configFor("claude-desktop", { args });
  assert.match(text, /"--tools=reference"/);
  assert.doesNotMatch(message, /cannot open files/);
});
