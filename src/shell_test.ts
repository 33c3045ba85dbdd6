// deno-lint-ignore-file no-import-prefix -- the sources' specifiers are written out, so the tests' are too

import assert from "node:assert/strict";
import { basename, join } from "jsr:@std/path@^1";
import {
  eventually,
  filesPlace,
  flagsWith,
  isWindows,
  type Place,
  runSync,
  Session,
  Wire,
} from "./testing.ts";

/** The server with the tool that runs shell commands. */
function openShell(place: Place, args: string[] = [], run = "--allow-run") {
  return Session.open(place, {
    args: ["--tools", "agentskills", ...args],
    flags: flagsWith("--allow-read", "--allow-env", run),
  });
}

const shell = (command: string, skill_name = "git") =>
  ["run_shell_command_op", { skill_name, command }] as const;

/** Whether a process is there. */
function isRunning(pid: number): boolean {
  try {
    const status = Deno.readTextFileSync(`/proc/${pid}/status`);
    return !/^State:\s+[ZX]/m.test(status);
  } catch {
    return false;
  }
}

/** Waits until a file is there and returns its text. */
async function appears(path: string): Promise<string> {
  let text = "";
  const isThere = () => {
    try {
      text = Deno.readTextFileSync(path);
    } catch {
      // It is not there yet.
    }
    return text !== "";
  };
  await eventually(isThere, `the file ${basename(path)}`);
  return text;
}

/** Waits until a process is gone. */
async function isGone(pid: number): Promise<void> {
  await eventually(() => !isRunning(pid), `the end of process ${pid}`);
}

Deno.test(
  "run_shell_command_op is there only if Deno may run the shell, and says what it may do",
  {
    ignore: isWindows,
  },
  async () => {
    using place = filesPlace();
    for (const run of ["--allow-run", "--allow-run=sh"]) {
      await using session = await openShell(place, [], run);
      const { tools } = await session.client.listTools();
      assert.deepEqual(tools.at(-1)!.annotations, {
        title: "Run Shell Command",
        readOnlyHint: false,
        destructiveHint: true,
        idempotentHint: false,
        openWorldHint: true,
      });
    }
    const args = ["--tools", "agentskills"];
    await using session = await Session.open(place, { args });
    const { tools } = await session.client.listTools();
    assert.ok(!tools.some(({ name }) => name === "run_shell_command_op"));
    await session.stderr.take(
      (line) =>
        line.includes("run_shell_command_op") && line.includes("--allow-run"),
      "the line about the tool",
    );
    await assert.rejects(session.call(...shell("true")), /Unknown tool/);
  },
);

Deno.test("no other toolset runs anything, whatever Deno allows", {
  ignore: isWindows,
}, async () => {
  using place = filesPlace();
  for (const toolset of ["skill", "skilljack", "reference"]) {
    await using session = await Session.open(place, {
      args: ["--tools", toolset],
      flags: flagsWith("--allow-read", "--allow-env", "--allow-run"),
    });
    await assert.rejects(session.call(...shell("true")), /Unknown tool/);
  }
});

Deno.test(
  "run_shell_command_op runs in the skill's directory and returns stdout, stderr and exit code",
  {
    ignore: isWindows,
  },
  async () => {
    using place = filesPlace();
    await using session = await openShell(place);
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
    const { isError } = await session.text(...shell("true", "none"));
    assert.equal(isError, true);
    const hidden = await session.text(...shell("true", "hidden"));
    assert.equal(hidden.isError, true);
  },
);

for (const run of ["--allow-run", "--allow-run=sh"]) {
  Deno.test(
    `run_shell_command_op ends all that a command started at the time limit, with ${run}`,
    {
      ignore: Deno.build.os !== "linux",
    },
    async () => {
      using place = filesPlace();
      const folder = place.folder("home", ".claude", "skills", "git");
      await using session = await openShell(
        place,
        ["--shell-timeout", "0.5"],
        run,
      );
      const { text, isError } = await session.text(
        ...shell("echo first; sh -c 'echo $$ > pid; sleep 1000' & wait"),
      );
      assert.equal(
        text,
        "first\n\n\n[ended after 0.5 s, the time limit; --shell-timeout sets it]",
      );
      assert.equal(isError, true);
      await isGone(Number(await appears(join(folder, "pid"))));
    },
  );
}

Deno.test(
  "run_shell_command_op leaves nothing running when a command has ended",
  {
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    using place = filesPlace();
    await using session = await openShell(place);
    const { text } = await session.text(...shell("sleep 1000 & echo $!"));
    await isGone(Number(text));
  },
);

Deno.test(
  "run_shell_command_op does not wait for a process that left the group and holds the pipe",
  {
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    using place = filesPlace();
    await using session = await openShell(place);
    const { text } = await session.text(
      ...shell("setsid sleep 15 & echo started"),
    );
    assert.equal(text, "started\n\n");
  },
);

Deno.test(
  "run_shell_command_op ends a command that the client takes back, or goes away from",
  {
    ignore: Deno.build.os !== "linux",
  },
  async () => {
    using place = filesPlace();
    const folder = place.folder("home", ".claude", "skills", "git");
    await using wire = new Wire(place, {
      args: ["--tools", "agentskills"],
      flags: flagsWith("--allow-read", "--allow-env", "--allow-run"),
    });
    await wire.initialize();
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: {
        name: "run_shell_command_op",
        arguments: {
          skill_name: "git",
          command: `sh -c 'echo $$ > pid${id}; sleep 1000'`,
        },
      },
    });
    await wire.write(call(1));
    const first = Number(await appears(join(folder, "pid1")));
    await wire.write({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { requestId: 1 },
    });
    await isGone(first);
    await wire.write(call(2));
    const second = Number(await appears(join(folder, "pid2")));
    assert.equal((await wire.ask(3, "ping")).error, undefined);
    assert.equal((await wire.endInput()).code, 0);
    await isGone(second);
  },
);

Deno.test("run_shell_command_op runs beside other requests", {
  ignore: isWindows,
}, async () => {
  using place = filesPlace();
  const fifo = join(place.folder("home", ".claude", "skills", "git"), "gate");
  runSync("mkfifo", fifo);
  await using session = await openShell(place);
  const running = session.text(...shell("cat gate; echo done"));
  assert.equal((await session.text(...shell("echo quick"))).text, "quick\n\n");
  assert.equal((await session.client.listTools()).tools.length, 4);
  Deno.writeTextFileSync(fifo, "");
  assert.equal((await running).text, "done\n\n");
});

Deno.test(
  "run_shell_command_op keeps 256 KiB of each output and says how much it leaves out",
  {
    ignore: isWindows,
  },
  async () => {
    using place = filesPlace();
    await using session = await openShell(place);
    const { text } = await session.text(
      ...shell("head -c 1000000 /dev/zero | tr '\\0' x; echo end >&2"),
    );
    assert.equal(
      text,
      `${"x".repeat(262144)}\n[737856 more bytes are left out]\nend\n`,
    );
  },
);

Deno.test(
  "--auto-install-deps installs what Python files import before a command with py in it",
  {
    ignore: isWindows,
  },
  async () => {
    using place = filesPlace();
    const log = join(place.path, "log");
    const bin = place.folder("bin");
    for (const tool of ["pipreqs", "pip"]) {
      const file = place.file(
        `bin/${tool}`,
        `#!/bin/sh\necho ${tool} "$@" >> ${log}\n`,
      );
      Deno.chmodSync(file, 0o755);
    }
    const options = {
      args: ["--tools", "agentskills", "--auto-install-deps"],
      flags: flagsWith("--allow-read", "--allow-env", "--allow-run"),
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
  },
);

Deno.test(
  "without --auto-install-deps, or without pipreqs, a command with py in it just runs",
  {
    ignore: isWindows,
  },
  async () => {
    using place = filesPlace();
    for (const args of [[], ["--auto-install-deps"]]) {
      await using session = await openShell(place, args);
      assert.equal((await session.text(...shell("echo py"))).text, "py\n\n");
    }
  },
);
