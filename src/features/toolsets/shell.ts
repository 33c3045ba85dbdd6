/**
 * Runs shell commands in the directories of skills, and ends the processes that they
 * start: on Linux the command's session, on macOS its process group, and on Windows its
 * children. A process that starts its own session keeps running, and so do all of them
 * if this process is killed.
 */

import { attempt } from "../../attempt.ts";
import { isWindows } from "../../fs/paths.ts";
import { log } from "../../log.ts";
import { wait } from "../../tasks.ts";
import { oneLine } from "../../text.ts";
import { MAX_PART_SIZE, sizeInText, takeBytes } from "../../views/results.ts";

/** The time limit for a shell command of a model, in seconds. */
export const SHELL_TIMEOUT_SECONDS = 60;

/** How long to wait for the output of a process that has ended, in milliseconds. */
const OUTPUT_GRACE_MS = 500;

/** How many times to try to start the process that ends the others. */
const END_TRIES = 10;

/** How long to wait before trying again, in milliseconds. */
const RETRY_MS = 100;

export const ALLOW_SHELL = `--allow-run=${isWindows ? "cmd" : "/bin/sh"}`;

/** Returns the system's shell, which no project can replace, if Deno may run it. */
export function findShell(): string | undefined {
  const root = attempt(() => Deno.env.get("SystemRoot")) ?? "C:\\Windows";
  const cmd = `${root}\\System32\\cmd.exe`;
  const shells = isWindows ? [cmd] : ["/bin/sh", "/usr/bin/sh"];
  return shells.find((command) =>
    Deno.permissions.querySync({ name: "run", command }).state === "granted"
  );
}

/** Says how to let Deno run the shell, if it may not. */
export function findNoShellReason(): string | undefined {
  if (findShell() !== undefined) return undefined;
  const verb = Deno.build.standalone ? "compile with" : "add";
  return `Deno has no permission to run the system's shell; ${verb} ${ALLOW_SHELL}`;
}

/**
 * Runs a shell command until it exits, reaches its time limit in seconds, or is aborted.
 * Then ends the processes that it started. Deno must be allowed to run the shell.
 *
 * @returns The command's stdout and stderr with a note if it failed or was stopped.
 * @throws {Error} If the shell cannot be started, or the signal is already aborted.
 */
export async function runShellCommand(
  command: string,
  { directory, timeout, signal }: {
    directory: string;
    timeout: number;
    signal: AbortSignal;
  },
): Promise<{ text: string; isError: boolean }> {
  signal.throwIfAborted();
  const shell = startShell(command, directory);
  const limit = AbortSignal.timeout(timeout * 1000);
  const stop = AbortSignal.any([signal, limit]);
  let ending: Promise<void> | undefined;
  stop.onabort = () => {
    // At once, because this process may be about to exit.
    ending = endProcesses(shell.pid);
    // If no other process could start, this makes room for one.
    attempt(() => shell.kill("SIGKILL"));
  };
  const outputs = [shell.stdout, shell.stderr].map(collectOutput);
  const { code } = await shell.status;
  // The process ID may soon belong to another process.
  stop.onabort = null;
  const isLate = limit.aborted;
  // Windows does not list the children of a process that has exited.
  if (!isWindows) await (ending ?? endProcesses(shell.pid));
  const [stdout, stderr] = await Promise.all(outputs.map((end) => end()));
  const output = `${stdout}\n${stderr}`;
  if (isLate) {
    const note = `[stopped at the time limit of ${timeout} s]`;
    return { text: `${output}\n${note}`, isError: true };
  }
  const text = code === 0 ? output : `${output}\n[exit code ${code}]`;
  return { text, isError: false };
}

function startShell(command: string, directory: string): Deno.ChildProcess {
  // For sh, a blank at the end can be escaped.
  const line = isWindows ? command.trim() : command;
  if (isWindows && /[\r\n]/.test(line)) {
    throw new Error(
      "Cannot run the command: cmd runs only one line; join the lines with &&",
    );
  }
  try {
    return shellWith(line, directory).spawn();
  } catch (error) {
    const reason = oneLine((error as Error).message);
    throw new Error(`Cannot run the command: ${reason}; ${fixFor(reason)}`);
  }
}

/** What to do if the shell does not start, by the system's words: most errors have no code. */
const FIXES: readonly (readonly [words: RegExp, fix: string])[] = [
  [/cwd|directory name/, "check that the skill's folder still exists"],
  [/denied/, "check the permissions of the skill's folder"],
  [/too long/, "shorten it, or run it in parts"],
  [/nul byte/, "remove the character NUL from it"],
];

function fixFor(reason: string): string {
  const [, fix] = FIXES.find(([words]) => words.test(reason)) ?? [];
  return fix ?? "end other programs, or try again later";
}

/** Prepares the shell to run a line in a session of its own, which identifies its processes. */
function shellWith(line: string, cwd: string): Deno.Command {
  return new Deno.Command(findShell()!, {
    args: isWindows ? ["/d", "/s", "/c", `"${line}"`] : ["-c", "--", line],
    windowsRawArguments: true,
    cwd,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...environmentOfCommands(),
    // On Windows, this option would open a console window instead.
    detached: !isWindows,
  });
}

const LINKER_VARIABLE = /^(?:LD|DYLD)_/;

/**
 * Returns the environment of commands. If Deno may run only the shell, it passes on no
 * variable by which the shell could become another program.
 */
function environmentOfCommands(): Pick<
  Deno.CommandOptions,
  "clearEnv" | "env"
> {
  const { state } = Deno.permissions.querySync({ name: "run" });
  const variables = attempt(() => Deno.env.toObject());
  if (state === "granted" || variables === undefined) return {};
  const passed = Object.entries(variables)
    .filter(([name]) => !LINKER_VARIABLE.test(name));
  return { clearEnv: true, env: Object.fromEntries(passed) };
}

/**
 * Ends the processes that a shell started: its session or, without /proc, its process
 * group. If that fails, it is logged.
 */
async function endProcesses(pid: number): Promise<void> {
  // PATH may contain programs of the project, a closed pipe must not stop the shell, and
  // it must start no process, because there may be room for none. The search is repeated
  // because processes can start others meanwhile.
  const line = isWindows
    ? `"%SystemRoot%\\System32\\taskkill.exe" /T /F /PID ${pid}`
    : `exec >/dev/null 2>&1; PATH=/usr/bin:/bin
kill -s KILL -- "-${pid}"
for pass in 1 2 3 4 5 6 7 8 9; do
  found=
  for file in /proc/[0-9]*/stat; do
    read -r line <$file || continue
    set -- \${line##*) }
    case $1$4 in [!ZX]${pid}) found="$found \${line%% *}" ;; esac
  done
  [ "$found" ] || break
  kill -s KILL $found
done`;
  const ending = shellWith(line, "/");
  for (let tries = 0; tries < END_TRIES; tries++) {
    try {
      // On Windows, it does not survive this process.
      if (isWindows) ending.outputSync();
      else await ending.output();
      return;
    } catch {
      await wait(RETRY_MS);
    }
  }
  log(
    `Cannot end what a command started: the system cannot start another process; end the processes of session ${pid}`,
  );
}

/**
 * Collects stdout or stderr of a process, up to {@linkcode MAX_PART_SIZE}. The returned
 * function waits only briefly for its end, and then closes the pipe, which a process that
 * is still running may keep open.
 */
function collectOutput(stream: Deno.ChildProcess["stdout"]) {
  let text = "";
  let size = 0;
  let omitted = 0;
  const write = (part: string) => {
    const kept = omitted > 0 ? "" : takeBytes(part, MAX_PART_SIZE - size);
    text += kept;
    size += sizeInText(kept);
    omitted += part.length - kept.length;
  };
  const stop = new AbortController();
  const reading = stream.pipeThrough(new TextDecoderStream())
    .pipeTo(new WritableStream({ write }), { signal: stop.signal })
    .catch(() => {});
  return async () => {
    await wait(OUTPUT_GRACE_MS, reading);
    stop.abort();
    return omitted > 0 ? `${text}\n[${omitted} characters omitted]` : text;
  };
}
