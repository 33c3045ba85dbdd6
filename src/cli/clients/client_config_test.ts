import assert from "node:assert/strict";
import { join, resolve } from "../../fs/paths.ts";
import { quote } from "../../text.ts";
import { formatConfig } from "./client_config.ts";
import { MCP_CLIENTS } from "./clients.ts";
import { CLIENT_NAMES, type ClientName } from "../../program/command_line.ts";
import type { Launch } from "./clients.ts";
import { Session } from "../../../tests/testing/client.ts";
import {
  assertMisuse,
  configFor,
  parseEntry,
  parseLaunch,
  printedLaunch,
  PROGRAM,
  serverArgs,
} from "../../../tests/testing/command_line.ts";
import { runServer } from "../../../tests/testing/server.ts";
import { Place } from "../../../tests/testing/folders.ts";
import { lacks } from "../../../tests/testing/needs.ts";

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
    const { entry } = MCP_CLIENTS[name];
    const text = formatConfig(
      MCP_CLIENTS[name],
      entry?.(ODD_LAUNCH) ?? ODD_LAUNCH,
    );
    assert.deepEqual(parseLaunch(text), ODD_LAUNCH);
  }
  assert.equal(
    formatConfig(MCP_CLIENTS.codex, {
      ...ODD_LAUNCH,
      args: ['\u007f"\u{e0041}'],
    }),
    `[mcp_servers.skills]
command = "C:\\\\Program Files\\\\it's \\"deno\\""
args = ["\\u007f\\"\\U000e0041"]
`,
  );
});

/**
 * Runs a command in sh, with a stand-in for the program that it starts. Returns the
 * arguments that the program received.
 */
async function argumentsOf(command: string, place: Place): Promise<string[]> {
  const [program] = command.split(" ", 1);
  const script = '#!/bin/sh\nprintf "%s\\0" "$@"\n';
  Deno.chmodSync(place.file(`bin/${program}`, script), 0o755);
  const { success, stdout } = await new Deno.Command("sh", {
    args: ["-c", command],
    env: { PATH: `${join(place.path, "bin")}:${Deno.env.get("PATH")}` },
  }).output();
  assert.ok(success);
  return new TextDecoder().decode(stdout).split("\0").slice(0, -1);
}

Deno.test(
  "--print-config prints the client's own command, which adds the same entry",
  { ignore: lacks("sh") },
  async () => {
    using place = new Place();
    // Every shell must quote this name.
    for (const client of CLIENT_NAMES) {
      const { command, variables } = MCP_CLIENTS[client];
      if (command === undefined) continue;
      const dollar = variables?.test("$HOME") ? "$" : "$HOME";
      const folder = place.folder(`a  ${dollar} & \`b\` * !c é #~`);
      const args = ["--skill-dir", folder];
      const { text, message } = configFor(client, { args });
      const [, printed] = /Run this.*\n\n(.*)\n\nAdd/.exec(message)!;
      const words = await argumentsOf(printed!, place);
      const start = words.indexOf("skills") + 1;
      const added = words.slice(start).filter((word) => word !== "--");
      if (client === "vscode") {
        const { name, ...entry } = JSON.parse(words.at(-1)!);
        assert.deepEqual([name, entry], ["skills", parseEntry(text)]);
      } else if (client === "claude-code") {
        assert.deepEqual(added.map((word) => JSON.parse(word)), [
          parseEntry(text),
        ]);
      } else {
        const { command, args } = parseLaunch(text);
        assert.deepEqual(added, [command, ...args]);
      }
    }
  },
);

Deno.test(
  "--print-config prints no command that a shell could change, and none on Windows",
  {
    // The paths that are tried are not those of Windows.
    ignore: lacks("sh"),
  },
  () => {
    const messageFor = (folder: string, program = PROGRAM) => {
      const args = ["--skill-dir", resolve(folder)];
      return configFor("claude-code", { args, program }).message;
    };
    assert.match(
      messageFor("/a b"),
      /\nclaude mcp add-json .*'\{.*\/a b.*\}'\n/,
    );
    for (const folder of ["/it's", '/"a"', "/a\\b", "/a\nb", "/a\ufe0fb"]) {
      assert.doesNotMatch(messageFor(folder), /Run this/, folder);
    }
    const windows = { ...PROGRAM, executable: String.raw`C:\deno.exe` };
    assert.doesNotMatch(messageFor("/a b", windows), /Run this/);
  },
);

Deno.test(
  "--print-config --url prints the client's own command, which adds the same entry",
  { ignore: lacks("sh") },
  async () => {
    using place = new Place();
    const url = "https://skills.example.com/a?b=1&c=%20";
    const wordsFor = async (client: string, ...args: string[]) => {
      const { text, message } = configFor(client, { args });
      const [, command] = /Run this.*\n\n(.*)\n\nAdd/.exec(message)!;
      return { text, words: (await argumentsOf(command!, place)).slice(2) };
    };
    const code = await wordsFor("claude-code", "--url", url);
    const [scope, user, name, entry] = code.words;
    assert.deepEqual([scope, user, name], ["--scope", "user", "skills"]);
    assert.deepEqual(JSON.parse(entry!), parseEntry(code.text));
    const token = ["--bearer-token-env-var", "SKILL_SERVER_TOKEN"];
    assert.deepEqual((await wordsFor("codex", "--url", url)).words, [
      "skills",
      "--url",
      url,
      ...token,
    ]);
    const local = "http://127.0.0.1:8000/mcp";
    assert.deepEqual((await wordsFor("codex", "--url", local)).words, [
      "skills",
      "--url",
      local,
    ]);
    const odd = { args: ["--url", "https://a.example/it's/mcp"] };
    const windows = { ...PROGRAM, os: "windows" as const };
    const all = [
      configFor("codex", odd),
      configFor("claude-code", { args: ["--url", local], program: windows }),
      configFor("vscode", { args: ["--url", url] }),
    ];
    for (const { message } of all) assert.doesNotMatch(message, /Run this/);
  },
);

Deno.test("--print-config --url says what to do where the client's file has no entry for a URL", () => {
  assertMisuse(
    () => configFor("claude-desktop", { args: ["--url", "http://a/mcp"] }),
    /^Cannot print an entry for a URL: by itself, Claude Desktop connects only with OAuth, which this server does not have; let mcp-remote connect, as docs\/http\.md shows$/,
  );
  // The entry does not start this server, so its folders do not matter.
  const args = ["--url", "http://a/mcp", "--skill-dir", resolve("/a,b")];
  const { text } = configFor("cursor", { args });
  assert.deepEqual(parseEntry(text).url, "http://a/mcp");
});

Deno.test("--print-config --url says what may be wrong with a URL, and what has no effect", () => {
  const forUrl = (url: string, ...args: string[]) =>
    configFor("cursor", { args: ["--url", url, ...args] });
  const completed = forUrl("https://a.example");
  assert.equal(parseEntry(completed.text).url, "https://a.example/mcp");
  assert.match(completed.text, /"https:\/\/a\.example\/mcp"/);
  const other = forUrl("https://a.example/skills");
  assert.equal(parseEntry(other.text).url, "https://a.example/skills");
  assert.match(other.message, /does not end with \/mcp/);
  const open = forUrl("http://a.example/mcp");
  assert.match(open.message, /Everyone on the way .*, unless .* https:/);
  for (const host of ["localhost", "127.0.0.1", "[::1]"]) {
    const { text, message } = forUrl(`http://${host}:8000/mcp`);
    assert.deepEqual(parseEntry(text), { url: `http://${host}:8000/mcp` });
    assert.match(message, /sends no token; .*set SKILL_SERVER_TOKEN/);
    const args = ["--url", `http://${host}:8000/mcp`];
    const secret = configFor("cursor", { args, hasToken: true });
    assert.match(secret.message, /The entry sends a token; /);
    assert.doesNotMatch(secret.message, /Everyone on the way/);
  }
  const more = forUrl(
    "https://a.example/mcp",
    "--agents",
    "--tools=skill",
    "x",
  );
  assert.match(
    more.message,
    /\nThese have no effect .*: --agents, --tools, DIR\.\n/,
  );
  assert.doesNotMatch(completed.message, /no effect/);
});

/** Names of folders that each client takes for a variable, or for a file. */
const VARIABLES: Record<ClientName, string[]> = {
  "claude-code": ["${HOME}"],
  "claude-desktop": [],
  "codex": [],
  "cursor": ["${env:HOME}", "${userHome}"],
  "vscode": ["${env:HOME}", "${input:a}"],
  "opencode": ["{env:HOME}", "{file:key}", "{env:HOME"],
  "gemini-cli": ["$HOME", "${HOME}"],
  "copilot": ["$HOME", "${HOME:-a}"],
  "cline": [],
  "qwen-code": ["$HOME", "${HOME}"],
  "kilo": ["{env:HOME}", "{file:key}"],
};

Deno.test("--print-config refuses what a client takes for a variable, and nothing else", () => {
  const harmless = ["a$", "{a}", "$ b"];
  const all = [...Object.values(VARIABLES).flat(), ...harmless];
  for (const client of CLIENT_NAMES) {
    const theirs = VARIABLES[client];
    const print = (name: string) =>
      configFor(client, { args: ["--skill-dir", resolve("/", name)] }).text;
    for (const name of theirs) {
      const { title } = MCP_CLIENTS[client];
      assertMisuse(
        () => print(name),
        new RegExp(
          `^Cannot print an entry with ".*": ${title} takes .* for the beginning of a variable, and replaces it; choose a name without it$`,
        ),
      );
    }
    for (const name of theirs.length === 0 ? all : harmless) {
      assert.match(print(name), /skill-dir/, client);
    }
  }
});

Deno.test("--print-config keeps the other options and the environment's settings, with absolute paths", async () => {
  using place = new Place();
  place.file("project/policy.yaml", "rules: []");
  const folders = ["store", "project/a", "project/b", "project/more"];
  for (const folder of [...folders, "home/own"]) place.folder(folder);
  const options =
    "--agents --refresh 5 --no-watch --tools reference --skill-dir more --skill-dir ~/own --trust-links ../store --profile default --description-limit 500 --policy policy.yaml";
  const launch = await printedLaunch(place, {
    args: options.split(" "),
    env: { SKILLS_DIR: "a,b", MAX_FILE_SIZE_MB: "2" },
  });
  assert.deepEqual(serverArgs(launch), [
    `--skill-dir=${join(place.project, "more")}`,
    `--skill-dir=${join(place.home, "own")}`,
    "--agents",
    `--trust-links=${join(place.path, "store")}`,
    "--tools=reference",
    "--profile=default",
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
  const team = place.folder("project/team");
  const store = place.folder("store");
  assert.deepEqual(await allowed(["team", "--trust-links", store]), [
    team,
    store,
  ]);
  assert.deepEqual(await allowed(["--skill-dir", "team"]), [...usual, team]);
});

Deno.test("--print-config says which folders of the entry do not exist", async () => {
  using place = new Place();
  const args = ["--print-config", "cursor", "--skill-dir", "gone"];
  const { stderr } = await runServer(place, { args });
  const gone = quote(join(place.project, "gone"));
  const line =
    `skill-server: Skipped ${gone}: there is no such folder; check its spelling, or create it; --list shows the skills that are found\n`;
  assert.ok(stderr.startsWith(line), stderr);
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
      // The user's own come before the project's, and then name-only ones last.
      const names = client === "claude-code"
        ? ["pdf", "new", "git"]
        : ["pdf", "git", "new"];
      assert.deepEqual(await session.names(), names);
      place.skill("project/it's more", "also");
      await session.listChanged();
      assert.deepEqual((await session.names()).includes("also"), true);
      assert.deepEqual(await session.end(), []);
    },
  );
}
