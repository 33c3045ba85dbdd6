/**
 * Runs shell commands in skill directories, and ends the processes that they
 * start: those in the command's session on Linux, those in its process group on
 * macOS, and the children on Windows. What starts a session of its own is left
 * running, and so is everything if this process is killed.
 *
 * @module
 */

import { attempt } from "./files/faults.ts";
import { currentFolder, isAtOrBelow, isWindows } from "./files/paths.ts";
import { oneLine } from "./text.ts";
import { wait } from "./time_slice.ts";

/** The default time limit for a shell command, in seconds. */
export const DEFAULT_SHELL_TIMEOUT = 60;

/** How much is kept of a command's stdout, and of its stderr, in characters. */
const MAX_OUTPUT_LENGTH = 256 * 1024;

/** How long to wait for the output of a process that has ended, in milliseconds. */
const OUTPUT_GRACE_MS = 500;

/** The Deno flag that grants permission to run the shell. */
export const ALLOW_SHELL = `--allow-run=${isWindows ? "cmd" : "sh"}`;

/**
 * Returns the system's shell, if Deno may run it. With `--allow-run=sh`, Deno grants
 * the first `sh` on PATH. Folders that a project can fill do not count.
 */
function findShell(): string | undefined {
  const root = attempt(() => Deno.env.get("SystemRoot")) ?? "C:\\Windows";
  const path = attempt(() => Deno.env.get("PATH"))?.split(":") ?? [];
  const others = path.filter((folder) =>
    folder.startsWith("/") && !/\/node_modules(?:\/|$)/.test(folder) &&
    !isAtOrBelow(folder, currentFolder() ?? "/")
  );
  const shells = isWindows
    ? [`${root}\\System32\\cmd.exe`]
    : ["/bin", "/usr/bin", ...others].map((folder) => `${folder}/sh`);
  return shells.find((command) =>
    Deno.permissions.querySync({ name: "run", command }).state === "granted"
  );
}

/** Whether Deno has permission to run the shell. */
export function mayRunShell(): boolean {
  return findShell() !== undefined;
}

/** Says how to let Deno run the shell, if it may not. */
export function findShellFault(): string | undefined {
  if (mayRunShell()) return undefined;
  const verb = Deno.build.standalone ? "compile with" : "add";
  const flag = isWindows ? ALLOW_SHELL : "--allow-run=/bin/sh";
  return `Deno has no permission to run the system's shell; ${verb} ${flag}`;
}

/** How to run a command. */
interface ShellOptions {
  /** The working directory. */
  readonly directory: string;
  /** Whether to install Python packages first. */
  readonly install: boolean;
  /** The time limit, in seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a shell command until it exits, reaches its time limit, or is aborted. Then
 * ends the processes that it started. Deno must be allowed to run the shell.
 *
 * @returns The command's stdout and stderr with a note if it failed or was
 *   stopped, and whether the time limit stopped it.
 * @throws {Error} If the shell cannot be started, or the signal is already aborted.
 */
export async function runShellCommand(
  command: string,
  options: ShellOptions,
): Promise<{ text: string; isError: boolean }> {
  const { timeout, signal } = options;
  signal.throwIfAborted();
  const shell = startShell(command, options);
  const end = () => endProcesses(shell.pid);
  const limit = AbortSignal.timeout(timeout * 1000);
  const stop = AbortSignal.any([signal, limit]);
  stop.addEventListener("abort", end);
  const outputs = [shell.stdout, shell.stderr].map(collectOutput);
  const { code } = await shell.status;
  // The process ID may soon belong to another process.
  stop.removeEventListener("abort", end);
  const isLate = limit.aborted;
  // Windows does not tell the children of a process that has exited.
  if (!isWindows) await end();
  const [stdout, stderr] = await Promise.all(outputs.map((end) => end()));
  const note = isLate
    ? `\n[stopped at the time limit of ${timeout} s; --shell-timeout changes it]`
    : code === 0
    ? ""
    : `\n[exit code ${code}]`;
  return { text: `${stdout}\n${stderr}${note}`, isError: isLate };
}

/** Installs the packages that the Python files in the working directory import. Not for `cmd`. */
const INSTALL = `
if command -v pipreqs >/dev/null 2>&1; then (
  list=$(mktemp) &&
    { pipreqs --force --savepath "$list" . && pip install -r "$list"; } >"$list.log" 2>&1 ||
    { echo "Cannot install the packages that the Python files import:"; cat "$list.log"; } >&2
  rm -f "$list" "$list.log"
) fi`;

function startShell(
  command: string,
  { directory, install }: ShellOptions,
): Deno.ChildProcess {
  const line = command.trim();
  try {
    if (isWindows && /[\r\n]/.test(line)) {
      throw new Error("cmd runs only one line; join the lines with &&");
    }
    return new Deno.Command(findShell()!, {
      args: isWindows
        ? ["/d", "/s", "/c", `"${line}"`]
        : ["-c", install ? `${INSTALL}\n${command}` : command],
      cwd: directory,
      stdin: "null",
      stdout: "piped",
      stderr: "piped",
      // A session of its own identifies the shell's processes. On Windows, this
      // option would open a console window instead.
      detached: !isWindows,
      windowsRawArguments: true,
    }).spawn();
  } catch (error) {
    const { message } = error as Error;
    throw new Error(`Cannot run the command: ${oneLine(message)}`);
  }
}

/**
 * Ends the processes of the session or, without /proc, of the process group `$1`.
 * Repeats the search, because they can start others in the meantime. The project may
 * have programs on the PATH.
 */
const END_SESSION = `PATH=/usr/bin:/bin
for pass in 1 2 3 4 5 6 7 8 9; do
  found=$(cat /proc/[0-9]*/stat |
    sed -n "s/^\\([0-9]*\\) (.*) [^ZX] [0-9]* [0-9]* $1 .*/\\1/p")
  [ "$found" ] || break
  kill -s KILL $found
done
kill -s KILL -- "-$1"`;

/** Ends the processes that a shell started. Can be called more than once. */
async function endProcesses(pid: number): Promise<void> {
  // cmd would look for programs in the working directory first.
  const taskkill = `"%SystemRoot%\\System32\\taskkill.exe" /T /F /PID ${pid}`;
  const ending = new Deno.Command(findShell()!, {
    args: isWindows
      ? ["/d", "/s", "/c", `"${taskkill}"`]
      : ["-c", END_SESSION, "sh", `${pid}`],
    windowsRawArguments: true,
    stdin: "null",
    stdout: "null",
    stderr: "null",
    // It must survive this process, which may be about to exit.
    detached: !isWindows,
  });
  // On Windows, it cannot, so this process waits.
  if (isWindows) ending.outputSync();
  else await ending.output();
}

/**
 * Collects what a process writes, up to a limit.
 *
 * @returns A function that returns the output. It waits only briefly for the end,
 *   because a process that was not ended may keep the pipe open.
 */
function collectOutput(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): () => Promise<string> {
  let text = "";
  let omitted = 0;
  const collect = async () => {
    for await (const part of stream.pipeThrough(new TextDecoderStream())) {
      const kept = part.slice(0, MAX_OUTPUT_LENGTH - text.length);
      text += kept;
      omitted += part.length - kept.length;
    }
  };
  const reading = collect();
  return async () => {
    await wait(OUTPUT_GRACE_MS, reading);
    return omitted > 0 ? `${text}\n[${omitted} characters omitted]` : text;
  };
}
