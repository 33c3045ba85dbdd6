import assert from "node:assert/strict";
import { Session } from "../../../tests/testing/client.ts";
import { flagsWith } from "../../../tests/testing/environment.ts";
import { filesPlace, Place } from "../../../tests/testing/folders.ts";
import { lacks } from "../../../tests/testing/needs.ts";
import { Wire } from "../../../tests/testing/server.ts";
import { eventually } from "../../../tests/testing/waiting.ts";
import { attempt } from "../../attempt.ts";
import { basename, join } from "../../fs/paths.ts";
import { runShellCommand } from "./shell.ts";

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

/** Whether a process is running. */
function isRunning(pid: number): boolean {
  const status = attempt(() => Deno.readTextFileSync(`/proc/${pid}/status`));
  return status !== undefined && !/^State:\s+[ZX]/m.test(status);
}

/** Waits until a file has text, and returns the text. */
async function waitForText(path: string): Promise<string> {
  const read = () => attempt(() => Deno.readTextFileSync(path)) ?? "";
  await eventually(() => read() !== "", `the file ${basename(path)}`);
  return read();
}

async function waitForExit(pid: number, when: string): Promise<void> {
  await eventually(() => !isRunning(pid), `process ${pid} to exit at ${when}`);
}

Deno.test(
  "run_shell_command_op declares its effects, runs in the skill's directory, and returns stdout, stderr, and the exit code",
  { ignore: lacks("sh") },
  async () => {
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
    const run = (command: string) => session.text(...shell(command));
    const directory = join(place.home, ".claude", "skills", "git");
    assert.deepEqual(await run("pwd; echo oops >&2"), {
      text: `${directory}\n\noops\n`,
      isError: false,
    });
    assert.equal((await run("cat references/API.md")).text, "# API\n");
    assert.equal((await run("exit 3")).text, "\n\n[exit code 3]");
    assert.equal((await run("cat")).text, "\n");
    assert.match((await run("no-such-command")).text, /\[exit code 127\]$/);
    for (const name of ["none", "hidden"]) {
      const { isError } = await session.text(...shell("true", name));
      assert.equal(isError, true);
    }
  },
);

/** Commands that start processes in the shell's session, some in a group of their own. */
const STARTS: Record<string, string> = {
  "a child": "sh -c 'echo $$ > pid; sleep 100'",
  "a background job": "sh -c 'echo $$ > pid; sleep 100' & wait",
  "timeout": "timeout 100 sh -c 'echo $$ > pid; sleep 100'",
  "set -m": "bash -c 'set -m; (echo $BASHPID > pid; sleep 100) & wait'",
};

/**
 * Runs each command in a separate request, whose ID is the command's number, in the
 * directory of a skill of its own. Returns the process IDs.
 */
async function startAll(place: Place, wire: Wire): Promise<number[]> {
  const starts = Object.entries(STARTS);
  for (const [name] of starts) place.skill("home/.claude/skills", name);
  await wire.initialize();
  await wire.write(...starts.map(([skill_name, command], index) => {
    const input = { skill_name, command };
    const params = { name: "run_shell_command_op", arguments: input };
    return { jsonrpc: "2.0", id: index + 1, method: "tools/call", params };
  }));
  const skills = join(place.home, ".claude", "skills");
  const ids = await Promise.all(
    starts.map(([name]) => waitForText(join(skills, name, "pid"))),
  );
  assert.ok(ids.every((id) => isRunning(Number(id))));
  return ids.map(Number);
}

/** What ends the commands, in each case all of them. */
const ENDS: Record<string, (wire: Wire) => unknown> = {
  "a cancellation": (wire) =>
    wire.write(
      ...Object.keys(STARTS).map((_, index) => ({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: index + 1 },
      })),
    ),
  "the end of the server's input": (wire) => wire.endInput(),
  "SIGTERM": (wire) => wire.process.kill("SIGTERM"),
};

Deno.test(
  `run_shell_command_op kills everything that commands started at ${
    Object.keys(ENDS).join(", ")
  }`,
  { ignore: lacks("proc") },
  async () => {
    const check = async ([what, end]: [string, (wire: Wire) => unknown]) => {
      using place = new Place();
      const options = shellOptions("--allow-run=/bin/sh");
      await using wire = new Wire(place, options);
      const processes = await startAll(place, wire);
      await end(wire);
      await Promise.all(processes.map((pid) => waitForExit(pid, what)));
    };
    await Promise.all(Object.entries(ENDS).map(check));
  },
);

Deno.test(
  "runShellCommand() kills everything that a command started at the time limit, and says so",
  { ignore: lacks("proc") },
  async () => {
    using place = new Place();
    const command = "echo first; sleep 100 & echo $! >pid; wait";
    const result = await runShellCommand(command, {
      directory: place.path,
      timeout: 0.5,
      signal: new AbortController().signal,
    });
    assert.deepEqual(result, {
      text: "first\n\n\n[stopped at the time limit of 0.5 s]",
      isError: true,
    });
    const pid = await waitForText(join(place.path, "pid"));
    await waitForExit(Number(pid), "the time limit");
  },
);

Deno.test(
  "run_shell_command_op leaves nothing running after a command has exited, and does not wait for a process that left the session and keeps the pipe open",
  { ignore: lacks("proc") },
  async () => {
    using place = filesPlace();
    const { text } = await run(
      place,
      "timeout 100 sh -c 'echo $$ > pid; sleep 100' & until [ -s pid ]; do sleep 0.01; done; cat pid",
    );
    assert.ok(!isRunning(Number(text)));
    const left = await run(place, "setsid sleep 15 & echo started");
    assert.equal(left.text, "started\n\n");
  },
);

Deno.test(
  "run_shell_command_op runs no sh of the project that stands first on PATH",
  { ignore: lacks("sh") },
  async () => {
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
  },
);

Deno.test(
  "run_shell_command_op keeps 256 KiB of each output stream and reports how much it omits",
  { ignore: lacks("sh") },
  async () => {
    using place = filesPlace();
    const { text } = await run(
      place,
      "head -c 1000000 /dev/zero | tr '\\0' x; echo end >&2",
    );
    assert.equal(
      text,
      `${"x".repeat(262144)}\n[737856 characters omitted]\nend\n`,
    );
  },
);

Deno.test(
  "run_shell_command_op works while a variable of the dynamic linker is set, and passes it on only with --allow-run for all programs",
  { ignore: lacks("sh") },
  async () => {
    using place = filesPlace();
    const env = { LD_LIBRARY_PATH: place.path, OTHER: "other" };
    const command = 'echo "$LD_LIBRARY_PATH,$OTHER"';
    for (
      const [flag, expected] of [
        ["--allow-run=/bin/sh", ",other"],
        ["--allow-run", `${place.path},other`],
      ] as const
    ) {
      const options = { ...shellOptions(flag), env };
      const { text, isError } = await run(place, command, options);
      assert.deepEqual([text.trim(), isError], [expected, false]);
    }
  },
);

Deno.test(
  "--auto-install-deps installs what Python files import before a command that contains py",
  { ignore: lacks("sh") },
  async () => {
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
  },
);
