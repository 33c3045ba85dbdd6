/**
 * Runs shell commands in skill directories, and ends the processes that they
 * start.
 *
 * @module
 */

import { attempt } from "./files/faults.ts";
import { isWindows } from "./files/paths.ts";
import { oneLine } from "./text.ts";
import { wait } from "./time_slice.ts";

/** The default time limit for a shell command, in seconds. */
export const DEFAULT_SHELL_TIMEOUT = 60;

/** How much is kept of a command's stdout, and of its stderr, in bytes. */
const MAX_OUTPUT_SIZE = 256 * 1024;

/** How long to wait for the output of a process that has ended, in milliseconds. */
const OUTPUT_GRACE_MS = 500;

/** The program that runs shell commands. */
const SHELL = isWindows ? "cmd" : "sh";

/** The Deno flag that grants permission to run the shell. */
export const ALLOW_SHELL = `--allow-run=${SHELL}`;

/** Whether Deno has permission to run the shell. */
export function mayRunShell(): boolean {
  const permission = { name: "run", command: SHELL } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Returns the reason why Deno cannot run the shell, or `undefined` if it can. */
export async function findShellFault(): Promise<string | undefined> {
  if (!mayRunShell()) {
    const verb = Deno.build.standalone ? "compile with" : "add";
    return `Deno has no permission to run the shell; ${verb} ${ALLOW_SHELL}`;
  }
  const args = isWindows ? ["/d", "/c", "ver"] : ["-c", ":"];
  try {
    const { env } = shellEnvironment();
    await new Deno.Command(SHELL, { args, env }).output();
  } catch (error) {
    return spawnFault(error);
  }
}

/** How to run a command. */
interface ShellRun {
  readonly directory: string;
  /** Whether to install Python packages first. */
  readonly install: boolean;
  /** The time limit, in seconds. */
  readonly timeout: number;
  /** Ends the command when aborted. */
  readonly signal: AbortSignal;
}

/**
 * Runs a shell command until it exits, reaches its time limit, or is aborted.
 * Then ends the processes that it started, except those in a session of their
 * own whose parent has exited.
 *
 * @returns The command's stdout and stderr with a note if it failed or was
 *   stopped, and whether the time limit stopped it.
 * @throws {Error} If the shell cannot be started, or the signal is already aborted.
 */
export async function runShellCommand(
  command: string,
  run: ShellRun,
): Promise<{ text: string; isError: boolean }> {
  const { timeout, signal } = run;
  signal.throwIfAborted();
  const { shell, tree } = startShell(command, run);
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    tree.end();
  }, timeout * 1000);
  signal.addEventListener("abort", tree.end);
  const outputs = [shell.stdout, shell.stderr].map(collectOutput);
  const { code } = await shell.status;
  clearTimeout(timer);
  signal.removeEventListener("abort", tree.end);
  await tree.endRest();
  const [stdout, stderr] = await Promise.all(outputs.map((end) => end()));
  const failure = code === 0 ? "" : `\n[exit code ${code}]`;
  const note = isLate
    ? `\n[stopped at the time limit of ${timeout} s; --shell-timeout changes it]`
    : failure;
  return { text: `${stdout}\n${stderr}${note}`, isError: isLate };
}

function startShell(command: string, { directory, install }: ShellRun) {
  const { env, variables } = shellEnvironment();
  let shell: Deno.ChildProcess | undefined;
  try {
    shell = new Deno.Command(SHELL, {
      env,
      args: shellArguments(command, { install, variables }),
      cwd: directory,
      stdin: isWindows ? "null" : "piped",
      stdout: "piped",
      stderr: "piped",
      // A session of its own identifies the shell's processes. On Windows, this
      // option would open a console window instead.
      detached: !isWindows,
      windowsRawArguments: true,
    }).spawn();
    const { pid } = shell;
    if (isWindows) return { shell, tree: windowsTree(pid) };
    const tree = unixTree(pid, env);
    // The shell runs its command after a line. The process tree must exist by then,
    // so that the command ends with this process.
    new Blob(["\n"]).stream().pipeTo(shell.stdin).catch(() => {
      // The shell has already exited.
    });
    return { shell, tree };
  } catch (error) {
    shell?.kill("SIGKILL");
    throw new Error(`Cannot run the command: ${spawnFault(error)}`);
  }
}

/** Waits for a line. If this process ends before it writes the line, nothing runs. */
const WAIT = `
read -r _ || exit
exec </dev/null
`;

/** Installs the packages that the Python files in the working directory import. */
const INSTALL = `
if command -v pipreqs >/dev/null 2>&1; then (
  list=$(mktemp) &&
    { pipreqs --force --savepath "$list" . && pip install -r "$list"; } >"$list.log" 2>&1 ||
    { echo "Cannot install the packages that the Python files import:"; cat "$list.log"; } >&2
  rm -f "$list" "$list.log"
) fi`;

/**
 * Returns a prefix of a line for `cmd` that does the same. Ends with a command
 * that sets the exit code to 0.
 */
function installOnWindows(): string {
  const list = `"%TEMP%\\skill-server-${crypto.randomUUID()}.txt"`;
  const log = list.replace(".txt", ".log");
  const install =
    `pipreqs --force --savepath ${list} . && pip install -r ${list}`;
  const report =
    `(echo Cannot install the packages that the Python files import:& type ${log}) 1>&2`;
  return `where pipreqs >nul 2>&1 && ((${install}) >${log} 2>&1 || ${report}) & del ${list} ${log} >nul 2>&1 & ver >nul & `;
}

/** Runs the command in `$1`. The command sees no arguments, as with `sh -c`. */
const RUN = `
eval "set --
$1"`;

/**
 * Returns the arguments for the shell. In `sh`, the values of the variables and
 * then the command are positional parameters.
 */
function shellArguments(
  command: string,
  { install, variables }: {
    install: boolean;
    variables: readonly [name: string, value: string][];
  },
): string[] {
  if (isWindows) {
    if (/[\r\n]/.test(command.trim())) {
      throw new Error("cmd runs only one line; join the lines with &&");
    }
    const line = command.trim();
    return ["/d", "/s", "/c", `"${install ? installOnWindows() : ""}${line}"`];
  }
  const exports = variables.map(([name]) => `export ${name}="$1"; shift\n`);
  const script = `${WAIT}${exports.join("")}${install ? INSTALL : ""}${RUN}`;
  const values = variables.map(([, value]) => value);
  return ["-c", script, SHELL, ...values, command];
}

/**
 * Returns the variables that Deno sets for the shell besides its own, and those
 * that the shell sets itself. If `--allow-run` lists programs, Deno starts them
 * only with empty values for the variables of the dynamic linker. It knows none if
 * it is not allowed to read all variables.
 */
function shellEnvironment() {
  const { state } = Deno.permissions.querySync({ name: "run" });
  const all = isWindows || state === "granted"
    ? undefined
    : attempt(() => Deno.env.toObject());
  const variables = Object.entries(all ?? {})
    .filter(([name]) => /^(?:LD|DYLD)_/i.test(name));
  return {
    env: Object.fromEntries(variables.map(([name]) => [name, ""])),
    // A shell cannot assign to other names.
    variables: variables.filter(([name]) => /^\w+$/.test(name)),
  };
}

/** Returns why the shell could not be started. */
function spawnFault(error: unknown): string {
  const { message } = error as Error;
  return /\b(?:LD|DYLD)_/i.test(message)
    ? "Deno does not start the shell while a variable such as LD_LIBRARY_PATH is set; add --allow-env or --allow-run, without names"
    : oneLine(message);
}

/** A shell and the processes that it started. */
interface ProcessTree {
  /** Ends all of them. Can be called more than once. */
  readonly end: () => void;
  /** Ends the remaining processes after the shell has exited. */
  readonly endRest: () => Promise<void>;
}

/**
 * At the end of its input, ends the processes of the shell with the process ID
 * `$1`: those in its session and all their descendants. Only Linux reports
 * sessions. On other systems, the process group is used instead. Each process is
 * stopped when it is found, so that it cannot start others while the search is
 * repeated.
 */
const END_PROCESSES = `
processes() {
  if [ -e /proc/self/stat ]; then
    # sed alone would stop at a process that exits in the meantime.
    cat /proc/[0-9]*/stat |
      sed -n 's/^\\([0-9]*\\) (.*) [A-Z] \\([0-9]*\\) [0-9]* \\([0-9]*\\) .*/\\1:\\2:\\3/p'
  else
    ps -A -o pid= -o ppid= -o pgid= |
      sed 's/^ *\\([0-9]*\\)  *\\([0-9]*\\)  *\\([0-9]*\\).*/\\1:\\2:\\3/'
  fi
}

read -r _
shell=$1
found=" "
pass=0
while [ "$pass" -lt 100 ]; do
  pass=$((pass + 1))
  more=
  for process in $(processes); do
    pid=\${process%%:*}
    session=\${process##*:}
    parent=\${process#*:}
    parent=\${parent%:*}
    case $found in *" $pid "*) continue ;; esac
    case "$shell$found" in "$session "* | *" $parent "*) ;; *) continue ;; esac
    kill -s STOP "$pid"
    found="$found$pid "
    more=yes
  done
  [ "$more" ] || break
done
[ "$found" = " " ] || kill -s KILL $found`;

/**
 * A process tree on Linux, macOS, and similar systems. A second shell waits for
 * the end of its input, and then ends the processes. Its input ends when the
 * command exits, when the command must be stopped, or when this process exits,
 * even if this process is killed.
 */
function unixTree(pid: number, env: Record<string, string>): ProcessTree {
  const guard = new Deno.Command(SHELL, {
    env,
    args: ["-c", END_PROCESSES, SHELL, String(pid)],
    stdin: "piped",
    stdout: "null",
    stderr: "null",
    // Signals to the process group of this process must not end the second shell.
    detached: true,
  }).spawn();
  const end = () => {
    guard.stdin.close().catch(() => {});
  };
  const endRest = async () => {
    end();
    await guard.status;
  };
  return { end, endRest };
}

/** A process tree on Windows, where the children of a process cannot be found after it exits. */
function windowsTree(pid: number): ProcessTree {
  const line = `"%SystemRoot%\\System32\\taskkill.exe" /T /F /PID ${pid}`;
  const end = () => {
    // Run by the shell, because Deno may have permission only for the shell. Waits
    // for the end, because this process may be about to exit, and then its children
    // end too.
    new Deno.Command(SHELL, {
      // The shell would look for programs in the working directory first.
      args: ["/d", "/s", "/c", `"${line}"`],
      windowsRawArguments: true,
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
  };
  return { end, endRest: () => Promise.resolve() };
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
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let size = 0;
  const stop = new AbortController();
  const collector = new WritableStream({
    write: (chunk: Uint8Array<ArrayBuffer>) => {
      const room = MAX_OUTPUT_SIZE - size;
      if (room > 0) chunks.push(chunk.subarray(0, room));
      size += chunk.length;
    },
  });
  const reading = stream.pipeTo(collector, stop).catch(() => {
    // The wait was too long.
  });
  return async () => {
    await wait(OUTPUT_GRACE_MS, reading);
    stop.abort();
    const text = await new Blob(chunks).text();
    const rest = size - MAX_OUTPUT_SIZE;
    return rest > 0 ? `${text}\n[${rest} bytes omitted]` : text;
  };
}
