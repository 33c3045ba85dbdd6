/**
 * Running a shell command in a skill directory.
 *
 * @module
 */

import { isWindows } from "./paths.ts";

/** How long a shell command may run unless the caller says otherwise, in seconds. */
export const DEFAULT_SHELL_TIMEOUT = 60;

/** How much of each of a shell command's two outputs is kept, in bytes. */
const MAX_OUTPUT_SIZE = 256 * 1024;

/** How long the output of a process that has ended is waited for, in milliseconds. */
const OUTPUT_GRACE_MS = 500;

/** The program that runs shell commands. */
const SHELL = isWindows ? "cmd" : "sh";

/**
 * Deno's flag for the permission to run the shell.
 */
export const ALLOW_SHELL: string = `--allow-run=${SHELL}`;

/**
 * Whether Deno may run the shell.
 */
export function mayRunShell(): boolean {
  const permission = { name: "run", command: SHELL } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Installs what the Python files here import, then runs `$1`. */
const INSTALL_AND_RUN = `
if command -v pipreqs >/dev/null 2>&1; then
  list=$(mktemp) &&
    { pipreqs --force --savepath "$list" . && pip install -r "$list"; } >"$list.log" 2>&1 ||
    { echo "Cannot install the packages that the Python files import:"; cat "$list.log"; } >&2
  rm -f "$list" "$list.log"
fi
exec sh -c "$1"`;

/** How to run a command in a folder. */
interface ShellRun {
  readonly directory: string;
  /** Whether Python packages are installed before. */
  readonly install: boolean;
  /** Time limit in seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/** What became of a shell command. */
export interface ShellResult {
  /** What it wrote to its two outputs, and how it ended if that was not well. */
  readonly text: string;
  /** Whether its time limit stopped it. */
  readonly isError: boolean;
}

/**
 * Runs a shell command to its end, or to its time limit. Whatever it has
 * started by then ends with it.
 */
export async function runShellCommand(
  command: string,
  { directory, install, timeout, signal }: ShellRun,
): Promise<ShellResult> {
  signal.throwIfAborted();
  const shell = new Deno.Command(SHELL, {
    args: shellArguments(command, install),
    cwd: directory,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    // So that they can be ended together. On Windows that takes no group of
    // processes, and one would have a window of its own.
    detached: !isWindows,
    windowsRawArguments: true,
  }).spawn();
  let isLate = false;
  const kill = () => killTree(shell.pid);
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, timeout * 1000);
  signal.addEventListener("abort", kill);
  const outputs = [new Output(shell.stdout), new Output(shell.stderr)];
  const { code } = await shell.status;
  // On Windows what has ended leaves no trace of what it has started.
  if (!isWindows) kill();
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  const [stdout, stderr] = await Promise.all(outputs.map((out) => out.end()));
  const text = `${stdout}\n${stderr}`;
  if (isLate) {
    const note =
      `[ended after ${timeout} s, the time limit; --shell-timeout sets it]`;
    return { text: `${text}\n${note}`, isError: true };
  }
  return {
    text: code === 0 ? text : `${text}\n[exit code ${code}]`,
    isError: false,
  };
}

function shellArguments(command: string, install: boolean): string[] {
  if (isWindows) return ["/d", "/s", "/c", `"${command}"`];
  return install ? ["-c", INSTALL_AND_RUN, "sh", command] : ["-c", command];
}

/** Ends a process and all that it has started and that is still in its group. */
function killTree(pid: number): void {
  try {
    if (isWindows) {
      // By the shell, since that is what may be run.
      const args = ["/d", "/c", "taskkill", "/T", "/F", "/PID", String(pid)];
      new Deno.Command(SHELL, { args }).outputSync();
    } else if (
      Deno.permissions.querySync({ name: "run" }).state === "granted"
    ) {
      Deno.kill(-pid, "SIGKILL");
    } else {
      const args = ["-c", `kill -s KILL -- -${pid}`];
      new Deno.Command(SHELL, { args, stderr: "null" }).outputSync();
    }
  } catch {
    // Nothing of it is left.
  }
}

/** Collects what a process writes, up to a limit. */
class Output {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #reading: Promise<void>;
  #size = 0;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = stream.getReader();
    this.#reading = this.#read();
  }

  /** Waits for the end, but not long: a process that left the group may hold the pipe. */
  async end(): Promise<string> {
    const timer = setTimeout(() => this.#reader.cancel(), OUTPUT_GRACE_MS);
    await this.#reading;
    clearTimeout(timer);
    const text = await new Blob(this.#chunks).text();
    const rest = this.#size - MAX_OUTPUT_SIZE;
    return rest > 0 ? `${text}\n[${rest} more bytes are left out]` : text;
  }

  async #read(): Promise<void> {
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return;
      const room = MAX_OUTPUT_SIZE - this.#size;
      if (room > 0) this.#chunks.push(value.subarray(0, room));
      this.#size += value.length;
    }
  }
}
