import assert from "node:assert/strict";
import { Session } from "../../../tests/testing/client.ts";
import { flagsWith } from "../../../tests/testing/environment.ts";
import { replaced } from "../../../tests/testing/fakes.ts";
import { needs } from "../../../tests/testing/needs.ts";
import { filesPlace, Place } from "../../../tests/testing/place.ts";
import { message, Wire } from "../../../tests/testing/server.ts";
import { eventually } from "../../../tests/testing/waiting.ts";
import { attempt } from "../../attempt.ts";
import { basename, isThere, join } from "../../fs/paths.ts";
import { runShellCommand } from "./shell.ts";

const withSh = needs("sh");
const withProc = needs("proc");
const withCmd = needs("cmd");

/** How the server is started with the tool that runs shell commands. */
const shellOptions = (run = "--allow-run") => ({
  args: ["--tools", "agentskills"],
  flags: flagsWith("--allow-read", "--allow-env", run),
});

const shell = (command: string, skill_name = "git") =>
  ["run_shell_command_op", { skill_name, command }] as const;

/** Runs a command in the directory of the skill `git`, with a server of its own. */
async function run(
  place: Place,
  command: string,
  options = shellOptions(),
): Promise<{ text: string; isError: boolean }> {
  await using session = await Session.open(place, options);
  return await session.text(...shell(command));
}

/** Runs a command in the process of the tests. */
function runIn(directory: string, command: string, timeout = 10) {
  const { signal } = new AbortController();
  return runShellCommand(command, { directory, timeout, signal });
}

/** Whether a process is running. */
function isRunning(pid: number): boolean {
  const status = attempt(() => Deno.readTextFileSync(`/proc/${pid}/status`));
  return status !== undefined && !/^State:\s+[ZX]/m.test(status);
}

/** Waits until a file has the ID of a process, and returns it. */
async function waitForPid(path: string): Promise<number> {
  const read = () => Number(attempt(() => Deno.readTextFileSync(path)) ?? 0);
  await eventually(() => read() > 0, `the file ${basename(path)}`);
  return read();
}

async function waitForExit(pid: number, when: string): Promise<void> {
  await eventually(() => !isRunning(pid), `process ${pid} to exit at ${when}`);
}

withSh.test("run_shell_command_op declares its effects", async () => {
  using place = filesPlace();
  await using session = await Session.open(place, shellOptions());
  const { tools } = await session.client.listTools();
  assert.deepEqual(tools.at(-1)!.annotations, {
    title: "Run Shell Command",
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  });
});

withSh.test("run_shell_command_op runs in the directory of a skill", async () => {
  using place = filesPlace();
  await using session = await Session.open(place, shellOptions());
  const directory = join(place.home, ".claude", "skills", "git");
  assert.deepEqual(await session.text(...shell("pwd; echo oops >&2")), {
    text: `${directory}\n\noops\n`,
    isError: false,
  });
  const hidden = await session.text(...shell("true", "hidden"));
  assert.equal(hidden.isError, true);
  assert.deepEqual(await session.end(), []);
});

withSh.test("run_shell_command_op does not wait for a process that left", async () => {
  using place = filesPlace();
  // It keeps the pipe open.
  const { text } = await run(place, "setsid sleep 15 & echo started");
  assert.equal(text, "started\n\n");
});

withProc.test("runShellCommand() returns 400,000 bytes of each stream, and the exit code", async () => {
  using place = new Place();
  const cases = [
    ["exit 3", "\n\n[exit code 3]"],
    ["cat", "\n"],
    ["printf %s end\\ ", "end \n"],
    ["-x 2>/dev/null", "\n\n[exit code 127]"],
    ["+x 2>/dev/null", "\n\n[exit code 127]"],
    ["no-such-command 2>/dev/null", "\n\n[exit code 127]"],
    [
      "printf a; yes 😀 | head -n 200000 | tr -d '\\n'",
      `a${"😀".repeat(99_999)}\n[200002 characters omitted]\n`,
    ],
    [
      "head -c 1000000 /dev/zero | tr '\\0' x; echo end >&2",
      `${"x".repeat(400_000)}\n[600000 characters omitted]\nend\n`,
    ],
    [
      "head -c 400000 /dev/zero",
      `${"\0".repeat(66_666)}\n[333334 characters omitted]\n`,
    ],
  ] as const;
  for (const [command, expected] of cases) {
    const result = await runIn(place.path, command);
    assert.deepEqual(result, { text: expected, isError: false });
  }
});

withSh.test("runShellCommand() says how to fix that no shell starts", async () => {
  using place = new Place();
  const long = `: ${"x".repeat(4 * 1024 * 1024)}`;
  const cases = [
    [join(place.path, "gone"), "", /; check that the skill's folder still/],
    [place.path, long, /too long.*; shorten it, or run it in parts$/],
    [place.path, "echo \0", /; remove the character NUL from it$/],
  ] as const;
  for (const [directory, command, message] of cases) {
    await assert.rejects(runIn(directory, command), { message });
  }
  using _deno = replaced(Deno, { Command: Full });
  const message = /; end other programs, or try again later$/;
  await assert.rejects(runIn(place.path, ""), { message });
});

/** A command for which the system has no room. */
class Full extends Deno.Command {
  override spawn(): never {
    throw new Deno.errors.WouldBlock("Failed to spawn '/bin/sh'");
  }

  override output(): never {
    this.spawn();
  }
}

withProc.test("runShellCommand() stops a command also if no other process can start", async () => {
  using place = new Place();
  const stop = new AbortController();
  const options = { directory: place.path, timeout: 10, signal: stop.signal };
  const running = runShellCommand("echo $$ > pid; exec sleep 100", options);
  const pid = await waitForPid(join(place.path, "pid"));
  using _deno = replaced(Deno, { Command: Full });
  stop.abort();
  await running;
  assert.ok(!isRunning(pid));
});

withProc.test("runShellCommand() closes the output of a process that left", async () => {
  using place = new Place();
  const command =
    "setsid sh -c 'echo $$ > pid; exec yes' & until [ -s pid ]; do sleep 0.01; done";
  await runIn(place.path, command);
  const pid = await waitForPid(join(place.path, "pid"));
  await waitForExit(pid, "the end of its output");
});

/** Commands that start processes in the shell's session, some in a group of their own. */
const STARTS = {
  "a background job": "sh -c 'echo $$ > pid; sleep 100' & wait",
  "timeout": "timeout 100 sh -c 'echo $$ > pid; sleep 100'",
  "set -m": "bash -c 'set -m; (echo $BASHPID > pid; sleep 100) & wait'",
};

const CALLS = Object.entries(STARTS).map((names, id) => {
  const [skill_name, command] = names;
  const input = { skill_name, command };
  return message(id, "tools/call", {
    name: "run_shell_command_op",
    arguments: input,
  });
});

/** What ends the commands, in each case all of them. */
const ENDS: Record<string, (wire: Wire) => unknown> = {
  "a cancellation": (wire) =>
    wire.write(
      ...CALLS.map((_, requestId) =>
        message(undefined, "notifications/cancelled", { requestId })
      ),
    ),
  "the end of the server's input": (wire) => wire.endInput(),
  "SIGTERM": (wire) => wire.process.kill("SIGTERM"),
};

for (const [what, end] of Object.entries(ENDS)) {
  withProc.test(`run_shell_command_op kills everything that commands started at ${what}`, async () => {
    using place = new Place();
    const names = Object.keys(STARTS);
    const dirs = names.map((name) => place.skill("home/.claude/skills", name));
    const options = shellOptions("--allow-run=/bin/sh");
    await using wire = await Wire.open(place, options);
    await wire.write(...CALLS);
    const pids = await Promise.all(
      dirs.map((dir) => waitForPid(join(dir, "pid"))),
    );
    assert.ok(pids.every(isRunning));
    await end(wire);
    await Promise.all(pids.map((pid) => waitForExit(pid, what)));
  });
}

withProc.test("runShellCommand() kills what a command started at its end or the time limit", async () => {
  using place = new Place();
  const { text } = await runIn(
    place.path,
    "timeout 100 sh -c 'echo $$ > pid; sleep 100' & until [ -s pid ]; do sleep 0.01; done; cat pid; rm pid",
  );
  assert.ok(!isRunning(Number(text)));
  const command = "echo first; sleep 100 & echo $! >pid; wait";
  assert.deepEqual(await runIn(place.path, command, 0.5), {
    text: "first\n\n\n[stopped at the time limit of 0.5 s]",
    isError: true,
  });
  const pid = await waitForPid(join(place.path, "pid"));
  await waitForExit(pid, "the time limit");
});

withSh.test("run_shell_command_op runs no sh of the project that stands first on PATH", async () => {
  using place = filesPlace();
  const bin = place.dir("project", "node_modules", ".bin");
  const sh = "project/node_modules/.bin/sh";
  Deno.chmodSync(place.file(sh, "#!/bin/sh\necho hostile\n"), 0o755);
  const options = (flag: string) => ({
    ...shellOptions(flag),
    env: { PATH: `${bin}:${Deno.env.get("PATH")}` },
  });
  const { text } = await run(place, "echo own", options("--allow-run"));
  assert.equal(text, "own\n\n");
  // Deno grants the first sh on PATH, which is the project's.
  await using session = await Session.open(place, options("--allow-run=sh"));
  await session.stderr.take(
    (line) => line.includes("add --allow-run=/bin/sh"),
    "the line about the tool",
  );
  await assert.rejects(session.call(...shell("true")), /Unknown tool/);
});

withSh.test("run_shell_command_op passes on variables of the linker only with --allow-run", async () => {
  using place = filesPlace();
  const env = { LD_LIBRARY_PATH: place.path, OTHER: "other" };
  const command = 'echo "$LD_LIBRARY_PATH,$OTHER"';
  const cases = [
    ["--allow-run=/bin/sh", ",other"],
    ["--allow-run", `${place.path},other`],
  ] as const;
  for (const [flag, expected] of cases) {
    const options = { ...shellOptions(flag), env };
    const { text, isError } = await run(place, command, options);
    assert.deepEqual([text.trim(), isError], [expected, false]);
  }
});

withSh.test("--auto-install-deps installs what Python files import before they run", async () => {
  using place = filesPlace();
  const log = join(place.path, "log");
  const bin = place.dir("bin");
  for (const tool of ["pipreqs", "pip"]) {
    const file = place.file(
      `bin/${tool}`,
      `#!/bin/sh\necho ${tool} "$@" >> ${log}\n`,
    );
    Deno.chmodSync(file, 0o755);
  }
  const { args, flags } = shellOptions();
  const options = {
    args: [...args, "--auto-install-deps"],
    flags,
    env: { PATH: `${bin}:${Deno.env.get("PATH")}` },
  };
  await using session = await Session.open(place, options);
  assert.equal(
    (await session.text(...shell("echo plain"))).text,
    "plain\n\n",
  );
  assert.throws(() => Deno.readTextFileSync(log), Deno.errors.NotFound);
  const { text } = await session.text(...shell('echo "a.py"; exit 4'));
  assert.equal(text, "a.py\n\n\n[exit code 4]");
  assert.match(
    Deno.readTextFileSync(log),
    /^pipreqs --force --savepath \S+ \.\npip install -r \S+\n$/,
  );
  place.file("bin/pip", "#!/bin/sh\necho offline\nexit 1\n");
  assert.equal(
    (await session.text(...shell("echo a.py"))).text,
    "a.py\n\nCannot install the packages that the Python files import:\noffline\n",
  );
});

/** The directory of the skill in which the commands run. */
const skillDir = (place: Place) => join(place.home, ".claude", "skills", "git");

/** A command whose third process writes a file and runs for a long time. */
const LONG =
  `cmd /c ""${Deno.execPath()}" eval "Deno.writeTextFileSync('started', ''); setInterval(Date, 1000)""`;

/** Waits until a long command has started. */
async function waitForStart(place: Place): Promise<void> {
  const file = join(skillDir(place), "started");
  await eventually(() => isThere(file), "the command to start");
}

/** Waits until no process runs in the skill's directory, which Windows keeps until then. */
async function waitUntilFree(place: Place): Promise<void> {
  const remove = () => {
    Deno.removeSync(skillDir(place), { recursive: true });
    return true;
  };
  await eventually(() => attempt(remove) === true, "the processes to exit");
}

withCmd.test("run_shell_command_op runs a command with cmd as it is written", async () => {
  using place = filesPlace();
  const options = shellOptions("--allow-run=cmd");
  await using session = await Session.open(place, options);
  const words = `"${Deno.execPath()}" eval "console.log(Deno.args)" "a b" c`;
  const results: [command: string, text: string | RegExp][] = [
    ["cd", `${skillDir(place)}\n\n`],
    ['echo "a  b" c', '"a  b" c\n\n'],
    ["echo one& echo two", "one\ntwo\n\n"],
    ["echo ^& 100%", "& 100%\n\n"],
    ["echo oops>&2", "\noops\n"],
    ["type references\\API.md", "# API\n"],
    ["exit 3", "\n\n[exit code 3]"],
    ["no-such-command", /\[exit code (?:1|9009)\]$/],
    [words, '[ "a b", "c" ]\n\n'],
    [
      "echo one\necho two",
      "Cannot run the command: cmd runs only one line; join the lines with &&",
    ],
    // The command has no input, so it does not wait.
    ["findstr x", /\[exit code 1\]$/],
  ];
  for (const [command, expected] of results) {
    const { text } = await session.text(...shell(command));
    const printed = text.replaceAll("\r\n", "\n");
    if (typeof expected === "string") assert.equal(printed, expected);
    else assert.match(printed, expected);
  }
});

for (const [what, end] of Object.entries(ENDS)) {
  if (what === "SIGTERM") continue;
  withCmd.test(`run_shell_command_op kills what a command started on Windows at ${what}`, async () => {
    using place = filesPlace();
    for (const name of ["taskkill.bat", "taskkill.cmd"]) {
      place.file(`project/${name}`, "@echo > pwned\r\n");
    }
    await using wire = await Wire.open(place, shellOptions("--allow-run=cmd"));
    const input = { skill_name: "git", command: LONG };
    const params = { name: "run_shell_command_op", arguments: input };
    await wire.write(message(0, "tools/call", params));
    await waitForStart(place);
    await end(wire);
    await waitUntilFree(place);
    assert.ok(!isThere(join(place.project, "pwned")));
  });
}
