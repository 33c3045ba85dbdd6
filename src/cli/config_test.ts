import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import {
  configFor,
  parseEntry,
  parseLaunch,
  printedLaunch,
  PROGRAM,
  serverArgs,
  settingsFor,
} from "../../tests/testing/command_line.ts";
import { read } from "../../tests/testing/docs.ts";
import { REPOSITORY } from "../../tests/testing/environment.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import { ALLOW_SHELL } from "../features/toolsets/shell.ts";
import { basename, isWindows, join, resolve } from "../fs/paths.ts";
import { UsageError } from "../program/command_line.ts";
import type { Program } from "../program/running_program.ts";
import { DEFAULT_ROOT_PARENTS } from "../skills/roots.ts";
import { quote } from "../text.ts";
import { CLIENT_NAMES, CLIENTS } from "../views/clients.ts";
import {
  createEntry,
  createLaunch,
  formatConfig,
  type Launch,
} from "./config.ts";

const withSh = needs("sh");
const withLinks = needs("links");

/** Returns the paths that Deno is allowed to read. */
function readableIn({ args }: Launch): string[] {
  return args[2]!.replace("--allow-read=", "").split(",");
}

/** Returns the folders of skills in these folders of any project and of the user. */
function defaultDirs({ home }: Place, ...names: string[]): string[] {
  return names.flatMap((name) => [
    join(name, "skills"),
    join(home, name, "skills"),
  ]);
}

/** A command that every format must escape. */
const ODD_LAUNCH: Launch = {
  command: 'C:\\Program Files\\it\'s "deno"',
  args: ["run", "", "a b", "--x=1", `$HOME 'a' \u007f\u{e0001} \\"`, "é"],
};

Deno.test("formatConfig() writes what each client parses", () => {
  for (const name of CLIENT_NAMES) {
    if (name === "codex") continue;
    const client = CLIENTS[name];
    const text = formatConfig(client, createEntry(client, ODD_LAUNCH));
    assert.deepEqual(parseLaunch(text), ODD_LAUNCH);
  }
  assert.equal(
    formatConfig(CLIENTS.codex, {
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

withSh.test("--print-config prints the client's own command, which adds the same entry", async () => {
  using place = new Place();
  // Every shell must quote this name.
  const dir = place.dir("a  $HOME & `b` * !c é #~");
  for (const client of CLIENT_NAMES) {
    if (CLIENTS[client].command === undefined) continue;
    const { text, notes } = configFor(client, { args: ["--skill-dir", dir] });
    const [, printed] = /run the command below[^]*\n(.*)$/.exec(
      notes.join("\n"),
    )!;
    const words = await argumentsOf(printed!, place);
    const last = words.at(-1)!;
    const { command, args } = parseLaunch(text);
    if (client === "vscode") {
      assert.deepEqual(JSON.parse(last), {
        name: "skills",
        ...parseEntry(text),
      });
    } else if (client === "claude-code") {
      assert.deepEqual(JSON.parse(last), parseEntry(text));
    } else {
      const start = words.indexOf("skills") + 1;
      const added = words.slice(start).filter((word) => word !== "--");
      assert.deepEqual(added, [command, ...args]);
    }
  }
});

// The paths are not those of Windows.
withSh.test(
  "--print-config prints no command that a shell could change",
  () => {
    const printsCommand = (dir: string, program = PROGRAM) => {
      const args = ["--skill-dir", dir];
      const { notes } = configFor("claude-code", { args, program });
      return /the command below|claude mcp/.test(notes.join("\n"));
    };
    assert.equal(printsCommand("/a b"), true);
    for (const dir of ["/it's", '/"a"', "/a\\b", "/a\nb", "/a\ufe0fb"]) {
      assert.equal(printsCommand(dir), false, dir);
    }
    const windows = { ...PROGRAM, executable: String.raw`C:\deno.exe` };
    assert.equal(printsCommand("/a b", windows), false);
  },
);

Deno.test("--print-config lets Deno read only the paths of the settings it keeps", async () => {
  using place = new Place();
  place.file("project/policy.yaml", "rules: []");
  const store = place.dir("store");
  const own = place.dir("home/own");
  const [a, b, more] = ["a", "b", "more"].map((it) => place.dir("project", it));
  const options =
    "--agents --refresh 5 --no-watch --tools reference --skill-dir more --skill-dir ~/own --trust-links ../store --profile default --policy policy.yaml";
  const launch = await printedLaunch(place, {
    args: options.split(" "),
    env: { SKILLS_DIR: "a,b" },
  });
  const policy = join(place.project, "policy.yaml");
  assert.deepEqual(serverArgs(launch), [
    `--skill-dir=${more}`,
    `--skill-dir=${own}`,
    "--agents",
    `--trust-links=${store}`,
    `--policy=${policy}`,
    "--tools=reference",
    "--profile=default",
    "--refresh=5",
    "--no-watch",
    a,
    b,
  ]);
  assert.deepEqual(
    readableIn(launch),
    [
      ...defaultDirs(place, ".agents"),
      a,
      b,
      more,
      own,
      store,
      policy,
    ].sort(),
  );
});

Deno.test("--print-config lets Deno read the default folders of any project", async () => {
  using place = new Place();
  const team = place.dir("project/team");
  const args = ["--skill-dir", "team"];
  const usual = defaultDirs(place, ...DEFAULT_ROOT_PARENTS).sort();
  // The home directory can be a project's directory later.
  for (const cwd of [place.project, place.home]) {
    const launch = await printedLaunch(place, { cwd });
    assert.deepEqual(readableIn(launch), usual);
  }
  const launch = await printedLaunch(place, { args });
  assert.deepEqual(readableIn(launch), [...usual, team].sort());
});

Deno.test("--print-config says which folders of the entry do not exist", async () => {
  using place = new Place();
  const args = ["--print-config", "cursor", "--skill-dir", "gone"];
  const { stderr } = await runServer(place, { args });
  const gone = quote(join(place.project, "gone"));
  const start = `skill-server: Skipped ${gone}: there is no such folder; `;
  assert.ok(stderr.startsWith(start), stderr);
});

Deno.test("createLaunch() starts Deno with its permissions and import map, or an executable", () => {
  const dir = resolve("/a/skills");
  const launchOf = (program: Partial<Program>) =>
    createLaunch({ ...PROGRAM, ...program }, settingsFor(dir));
  assert.deepEqual(launchOf({ importMap: "/map.json" }), {
    command: PROGRAM.executable,
    args: [
      "run",
      "--no-config",
      `--allow-read=${dir}`,
      "--allow-env",
      "--import-map=/map.json",
      PROGRAM.mainModule,
      dir,
    ],
  });
  const executable = { executable: "/opt/server", mainModule: undefined };
  const launch = { command: "/opt/server", args: [dir] };
  assert.deepEqual(launchOf(executable), launch);
});

withLinks.test("createLaunch() lets Deno read where links of the user lead, not of a project", () => {
  using place = new Place();
  const { home, path, project } = place;
  const [store, rules] = [place.dir("store"), place.dir("home/rules")];
  const link = place.link("store", "link");
  place.link("/", "to-root");
  place.link("home", "to-home");
  place.dir("home/.ssh");
  const packages = place.dir("project/packages");
  const keys = place.link(join(home, ".ssh"), "project/keys");
  const all = place.link(home, "project/all");
  const inside = place.link("packages", "project/inside");
  const text = 'rules: [{ in: "~/rules", state: off }]';
  const policy = place.file("policy.yaml", text);
  const readFor = (...args: string[]) => {
    const settings = settingsFor(...args);
    const options = {
      ...settings.options,
      workingDirectory: project,
      homeDirectory: home,
    };
    return readableIn(createLaunch(PROGRAM, { ...settings, options }));
  };
  const readable: [args: string[], paths: string[]][] = [
    [[link, "--policy", policy], [link, policy, rules, store]],
    [[keys], [keys]],
    [[all], [all]],
    [[inside], [inside, packages]],
    [[home], [home]],
    [[join(home, "rules")], [rules]],
    [[link, "--trust-links", "/"], [link, "/", store]],
  ];
  for (const [args, paths] of readable) {
    assert.deepEqual(readFor(...args), paths.toSorted());
  }
  const tooMuch =
    /^Cannot print an entry that lets Deno read all of ".*", the target of ".*to-\w+": pass the folders of the skills, or ".*" if you mean it$/;
  const refused: [args: string[], reason: RegExp][] = [
    [[join(path, "to-root")], tooMuch],
    [["--skill-dir", join(path, "to-home")], tooMuch],
    [["--trust-links", join(path, "to-root")], tooMuch],
  ];
  for (const [args, reason] of refused) {
    assert.throws(
      () => readFor(...args),
      (error) => error instanceof UsageError && reason.test(error.message),
    );
  }
});

withLinks.test("--print-config starts Deno by its path on the PATH, but by none in the project", async () => {
  using place = new Place();
  const { home, project } = place;
  const executable = Deno.realPathSync(Deno.execPath());
  const name = basename(executable);
  for (const dir of ["home/bin", "project/bin", "outside"]) {
    place.link(executable, `${dir}/${name}`);
  }
  place.link("project/bin", "inside");
  place.link("../outside", "project/out");
  const commandFor = async (...dirs: string[]) => {
    const PATH = dirs.join(isWindows ? ";" : ":");
    const launch = await printedLaunch(place, { env: { PATH } });
    return launch.command;
  };
  const inside = [join(project, "bin"), join(project, "out"), "bin"];
  inside.push(join(place.path, "inside"));
  const own = join(home, "bin");
  const other = join(place.path, "outside");
  assert.equal(await commandFor(...inside, own, other), join(own, name));
  assert.equal(await commandFor(...inside), Deno.execPath());
});

Deno.test("--print-config says that Deno may read the folder above a path with a comma", () => {
  const dir = resolve("/one/Doe, Jane/skills");
  const { text, notes } = configFor("cursor", { args: ["--skill-dir", dir] });
  const launch = parseLaunch(text);
  const paths = readableIn(launch);
  assert.ok(paths.includes(resolve("/one")));
  assert.ok(!paths.some((path) => path.includes("Doe")));
  assert.ok(launch.args.includes(`--skill-dir=${dir}`));
  const note = `Deno cannot list ${
    quote(dir)
  }, because of the comma, so the entry lets it read all of ${
    quote(resolve("/one"))
  }.`;
  assert.ok(notes.join("\n").includes(note), notes.join("\n"));
});

Deno.test("--print-config says when to print the entry again", () => {
  const notesFor = (program: Partial<Program>) =>
    configFor("cursor", { program: { ...PROGRAM, ...program } }).notes
      .join("\n");
  assert.doesNotMatch(notesFor({}), /again/);
  const mainModule = resolve("/clone/mod.ts");
  const executable = `/opt/deno/${Deno.version.deno}/deno`;
  assert.ok(
    notesFor({ mainModule, executable }).includes(
      `; print it again if you move ${
        quote(mainModule)
      } or upgrade Deno, because its path contains the version.`,
    ),
  );
});

/** Returns what is printed for a client, after the command. */
function print(client: string, program: Program = PROGRAM): string {
  const { text, notes } = configFor(client, { program, home: "/home/me" });
  const shown = notes.map((note) => `\n${note}\n`).join("");
  return `## skill-server --print-config ${client}\n\n${text}${shown}`;
}

/** Returns which lines another program prints instead, after the command. */
function printDifference(client: string, program: Program): string {
  const [command = "", ...usual] = print(client).split("\n");
  const [, ...lines] = print(client, program).split("\n");
  const missing = usual.filter((line) => !lines.includes(line));
  const added = lines.filter((line) => !usual.includes(line));
  const marked = [
    ...missing.map((line) => `- ${line}\n`),
    ...added.map((line) => `+ ${line}\n`),
  ];
  return `${command}\n${marked.join("")}`;
}

/** Returns what is printed for each client, and what differs on other systems. */
function printAll(): string {
  const npx: Program = {
    ...PROGRAM,
    executable: "/home/me/.npm/_npx/0123/node_modules/deno/deno",
  };
  const windows: Program = {
    ...PROGRAM,
    executable: String.raw`C:\Users\Jörg Müller\.deno\bin\deno.exe`,
    os: "windows",
  };
  return [
    ...CLIENT_NAMES.map((name) => print(name)),
    "# With a Deno that npx downloaded, these lines differ\n",
    printDifference("cursor", npx),
    "# On Windows, these lines differ\n",
    ...["claude-code", "codex", "cursor", "vscode", "goose"]
      .map((name) => printDifference(name, windows)),
    "# On macOS, these lines differ\n",
    printDifference("vscode", { ...PROGRAM, os: "darwin" }),
  ].join("\n");
}

withSh.test("--print-config prints what tests/golden/clients.txt shows", () => {
  const file = join(REPOSITORY, "tests", "golden", "clients.txt");
  if (Deno.env.has("UPDATE")) Deno.writeTextFileSync(file, printAll());
  assert.equal(printAll(), read("tests/golden/clients.txt"));
});

Deno.test("docs/http.md shows the entry of each client for a remote server", () => {
  const entries = read("docs/http.md").matchAll(/^- (.+?):\s+`(.*)`$/gm);
  const entryOf = new Map(
    [...entries].flatMap(([, titles, entry]) =>
      titles!.split(", ").map((title) => [title, entry!] as const)
    ),
  );
  for (const name of CLIENT_NAMES) {
    if (name === "claude-desktop") continue;
    const { title, fields = {}, format } = CLIENTS[name];
    const text = entryOf.get(title);
    assert.ok(text, `docs/http.md has no entry for ${title}`);
    if (format === "toml") {
      assert.match(text, /^url = "https:.*", bearer_token_env_var = "\w+"$/);
      continue;
    }
    const { uri, url = uri, httpUrl = url, headers, ...entry } = JSON.parse(
      text,
    );
    assert.equal(httpUrl, "https://skills.example.com/mcp");
    assert.match(headers.Authorization, /^Bearer ./);
    // The type names the transport, which is another one there.
    assert.deepEqual({ ...entry, type: 0 }, { ...fields, type: 0 }, title);
  }
});

withSh.test("the links in docs/running.md add what --print-config prints", () => {
  const settings = settingsFor();
  const options = { ...settings.options, homeDirectory: "${userHome}" };
  const program = { ...PROGRAM, executable: "deno" };
  const launch = createLaunch(program, { ...settings, options });
  const page = read("docs/running.md");
  const [, config] = /install-mcp\?name=skills&config=([^\s)]+)/.exec(page)!;
  assert.deepEqual(
    JSON.parse(atob(decodeURIComponent(config!))),
    createEntry(CLIENTS.cursor, launch),
  );
  const [, url] = /redirect\?url=([^\s)]+)/.exec(page)!;
  const [, query] = decodeURIComponent(url!).split("vscode:mcp/install?");
  assert.deepEqual(JSON.parse(decodeURIComponent(query!)), {
    name: "skills",
    ...createEntry(CLIENTS.vscode, launch),
  });
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

const SHELL = ["--tools", "agentskills"];

/** Lists the flags of a launch that let Deno run programs. */
function runFlags(...args: string[]): string[] {
  return createLaunch(PROGRAM, settingsFor(resolve("/a"), ...args)).args
    .filter((arg) => arg.startsWith("--allow-run"));
}

Deno.test("createLaunch() grants permission to run the shell if a tool needs it", () => {
  assert.deepEqual([runFlags(...SHELL), runFlags()], [[ALLOW_SHELL], []]);
});

Deno.test({
  name: "createLaunch() grants no permission that the program does not have",
  permissions: { run: false, read: "inherit", env: "inherit", sys: "inherit" },
  fn: () => assert.deepEqual(runFlags(...SHELL), []),
});
