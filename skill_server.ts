/**
 * The program: an MCP server that serves skills as tools, prompts, and resources,
 * and through the Skills extension.
 */

import * as z from "npm:zod@^4/mini";
import { registerSkillTools, SkillRegistry } from "./mod.ts";
import {
  findTerminalOption,
  parseCommandLine,
  UsageError,
} from "./src/program/command_line.ts";
import { onEndSignal } from "./src/program/end_signals.ts";
import {
  createSettings,
  logWarnings,
  type Settings,
} from "./src/program/settings.ts";
import { McpServer } from "./src/protocol/mcp_server.ts";
import { StdioTransport } from "./src/protocol/stdio_transport.ts";
import type { SkillRegistryOptions } from "./src/skills/types.ts";
import { log, logged } from "./src/text.ts";
import { wait } from "./src/tasks.ts";
import { registerSubscriptions } from "./src/views/subscriptions.ts";
import { findNoShellReason } from "./src/views/toolsets/shell.ts";
import { wantsShell } from "./src/views/toolsets/toolsets.ts";
import { createDescription, registerViews } from "./src/views/views.ts";

// Compiling the schemas would take longer than this process spends using them.
z.config({ jitless: true });

/** The time between the first scan and the start of watching, in milliseconds. */
const WATCH_DELAY_MS = 250;

/** How long to wait for the last messages to be written, in milliseconds. */
const FLUSH_MS = 100;

/** The message in a terminal, where the server would otherwise wait silently. */
const WELCOME =
  "This is an MCP server. It waits for a client on stdin, so it is usually started by one. Press Ctrl+C to exit, and add --help to see what else it does.";

/**
 * Runs the program and exits the process. Unless the command line asks for
 * something else, the program serves a client until the client disconnects.
 *
 * @param args The command-line arguments.
 */
export async function main(args: readonly string[]): Promise<never> {
  const code = await run(args);
  await wait(FLUSH_MS, logged());
  Deno.exit(code);
}

async function run(args: readonly string[]): Promise<number> {
  try {
    const command = parseCommandLine(args);
    if (findTerminalOption(command) === undefined) {
      return await serve(createSettings(command));
    }
    // A running server does not need these modules.
    const { runCommand } = await import("./src/cli/commands.ts");
    return await runCommand(command, openSkills);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    log(`${error.message} (add --help to see the options)`);
    return 2;
  }
}

async function serve(settings: Settings): Promise<number> {
  // The registry is never closed, because the process exits anyway, and Deno's
  // watchers are slow to close while files change rapidly.
  const registry = openSkills(settings);
  const server = new McpServer(createDescription(registry, settings.options));
  const transport = new StdioTransport();
  let code = 0;
  transport.onError = ({ message }) => {
    log(message);
    code = 2;
  };
  onEndSignal(() => server.close());
  const ready = prepare(server, registry, settings);
  // Delayed, because starting to watch would hold up the client's first requests.
  ready.then(() => setTimeout(() => registry.watch(), WATCH_DELAY_MS));
  if (Deno.stdin.isTerminal()) ready.then(() => log(WELCOME));
  await server.connect(transport, ready);
  return code;
}

function openSkills(
  { roots, options }: Settings,
  rest?: Pick<SkillRegistryOptions, "log">,
): SkillRegistry {
  return new SkillRegistry(roots, { ...options, ...rest });
}

/**
 * Finds the skills, and then registers the handlers. In the reverse order, the
 * first scan would count as a change.
 */
async function prepare(
  server: McpServer,
  registry: SkillRegistry,
  settings: Settings,
): Promise<void> {
  logWarnings(settings);
  await registry.refresh();
  const reason = wantsShell(settings.options) ? findNoShellReason() : undefined;
  if (reason !== undefined) {
    log(`The tool run_shell_command_op is unavailable: ${reason}`);
  }
  registerSkillTools(server, registry, settings.options);
  registerViews(server, registry, settings.options);
  registerSubscriptions(server, registry);
}

if (import.meta.main) main(Deno.args);
