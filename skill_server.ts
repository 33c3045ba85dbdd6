/**
 * The program: an MCP server that serves skills as tools, prompts, and resources, and
 * through the Skills extension.
 */

import { createSkillService, SkillRegistry } from "./mod.ts";
import { findNoShellReason } from "./src/features/toolsets/shell.ts";
import { wantsShell } from "./src/features/toolsets/toolsets.ts";
import { log, logged } from "./src/log.ts";
import {
  findPrintingOption,
  parseCommandLine,
  UsageError,
} from "./src/program/command_line.ts";
import { onEndSignal } from "./src/program/end_signals.ts";
import {
  createSettings,
  logWarnings,
  type Settings,
} from "./src/program/settings.ts";
import { wait } from "./src/tasks.ts";

/** The time between the first scan and the start of watching, in milliseconds. */
const WATCH_DELAY_MS = 250;

/** How long to wait for pending log lines at exit, in milliseconds. */
const FLUSH_MS = 100;

/** The message in a terminal, where the server would otherwise seem to hang. */
const WELCOME =
  "This is an MCP server, which an MCP client usually starts. It is waiting for one on stdin. Press Ctrl+C to exit, and add --help to see its other uses.";

/** Serves a client until it disconnects, or runs a command, and exits the process. */
export async function main(args: readonly string[]): Promise<never> {
  const code = await run(args);
  await wait(FLUSH_MS, logged());
  Deno.exit(code);
}

async function run(args: readonly string[]): Promise<number> {
  try {
    const command = parseCommandLine(args);
    if (findPrintingOption(command) === undefined) {
      return await serve(createSettings(command));
    }
    // A running server does not need these modules.
    const { runCommand } = await import("./src/cli/commands.ts");
    return await runCommand(
      command,
      (roots, options) => new SkillRegistry(roots, { ...options, log() {} }),
    );
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    log(`${error.message} (add --help to see the options)`);
    return 2;
  }
}

async function serve(settings: Settings): Promise<number> {
  // The registry is never closed, because the process exits anyway, and Deno's
  // watchers are slow to close while files change rapidly.
  const registry = new SkillRegistry(settings.roots, settings.options);
  logWarnings(settings);
  // The first scan runs while the SDK is loaded.
  const [service, { serveOnStdio }] = await Promise.all([
    createSkillService(registry, settings.options),
    import("./src/wire/stdio.ts"),
  ]);
  const ending = new AbortController();
  onEndSignal(() => ending.abort());
  service.ready.then(() => {
    logNoShell(settings);
    if (Deno.stdin.isTerminal()) log(WELCOME);
    // Delayed, because starting to watch would hold up the client's first requests.
    setTimeout(() => registry.watch(), WATCH_DELAY_MS);
  });
  return await serveOnStdio(service, ending.signal);
}

function logNoShell({ options }: Settings): void {
  const reason = wantsShell(options) ? findNoShellReason() : undefined;
  if (reason !== undefined) {
    log(`The tool run_shell_command_op is unavailable: ${reason}`);
  }
}

if (import.meta.main) main(Deno.args);
