/**
 * The program: an MCP server that serves skills as tools, prompts, and resources,
 * and through the Skills extension.
 *
 * @module
 */

import * as z from "npm:zod@^4/mini";
import config from "./deno.json" with { type: "json" };
import { SkillRegistry } from "./mod.ts";
import type { ClientName } from "./src/cli/clients.ts";
import {
  helpText,
  parseCommandLine,
  UsageError,
} from "./src/cli/command_line.ts";
import {
  createSettings,
  missingFolders,
  type Settings,
} from "./src/cli/settings.ts";
import { McpServer } from "./src/protocol/mcp_server.ts";
import {
  type ByteWriter,
  StdioTransport,
  writeAll,
} from "./src/protocol/stdio_transport.ts";
import { findShellFault } from "./src/views/shell.ts";
import { resolveSkillRoots } from "./src/skills/roots.ts";
import type { SkillCatalog, SkillRegistryOptions } from "./src/skills/types.ts";
import { log, logged, quote } from "./src/text.ts";
import { wait } from "./src/time_slice.ts";
import { registerSubscriptions } from "./src/views/resources.ts";
import { describeServer, registerViews } from "./src/views/views.ts";

// Compiling the schemas would take longer than this process spends using them.
z.config({ jitless: true });

/**
 * Runs the program and exits the process. Unless the command line asks for
 * something else, the program serves a client until the client disconnects.
 *
 * @param args The command-line arguments.
 */
export async function main(args: readonly string[]): Promise<void> {
  const code = await run(args);
  await wait(100, logged());
  Deno.exit(code);
}

/** Runs the program and returns its exit code. */
async function run(args: readonly string[]): Promise<number> {
  try {
    const command = parseCommandLine(args);
    const { help, version, list, check, as, "print-config": client } =
      command.values;
    if (help) return await print(helpText());
    if (version) return await print(`${config.version}\n`);
    const settings = createSettings(command);
    if (client !== undefined) {
      return await printConfig(client as ClientName, settings);
    }
    if (as !== undefined) return await printModelView(as, settings);
    if (list || check) return await printReport(settings);
    return await serve(settings);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    log(`${error.message} (add --help to see the options)`);
    return 2;
  }
}

// Modules that a running server does not need are loaded on demand.

/** Prints the configuration for an MCP client. */
async function printConfig(
  client: ClientName,
  settings: Settings,
): Promise<number> {
  const { createClientConfig } = await import("./src/cli/client_config.ts");
  const { message, text } = createClientConfig(client, settings);
  await print(message, Deno.stderr);
  return await print(text);
}

/** Prints what the model sees in a client. */
async function printModelView(
  client: string,
  settings: Settings,
): Promise<number> {
  const { formatModelView } = await import("./src/cli/model_view.ts");
  const registry = openSkills(settings);
  const catalog = await registry.refresh();
  warnOfMissingFolders(catalog, settings);
  const { values: { json }, options } = settings;
  return await print(formatModelView(client, catalog, { ...options, json }));
}

/** Prints the report of `--list` or `--check`. */
async function printReport(settings: Settings): Promise<number> {
  const { reportSkills } = await import("./src/cli/report.ts");
  // The report contains what the registry would log.
  const registry = openSkills(settings, { log: () => {} });
  const { text, isBad } = await reportSkills(registry, settings);
  return await print(text) || Number(isBad);
}

/** Serves a client until it disconnects. */
async function serve(settings: Settings): Promise<number> {
  // The registry is never closed, because the process exits anyway, and Deno's
  // watchers are slow to close while files change rapidly.
  const registry = openSkills(settings);
  const server = new McpServer(describeServer(registry, settings.options));
  const transport = new StdioTransport();
  transport.onerror = (error) =>
    log(`Cannot handle a message: ${error.message}`);
  for (const signal of END_SIGNALS) {
    Deno.addSignalListener(signal, () => server.close());
  }
  // Starting to watch takes a moment, so the client's first requests are handled first.
  const ready = prepare(server, registry, settings);
  ready.then(() => setTimeout(() => registry.watch(), WATCH_DELAY_MS));
  if (Deno.stdin.isTerminal()) ready.then(() => log(WELCOME));
  await server.connect(transport, ready);
  return 0;
}

/** What a server in a terminal says instead of waiting silently. */
const WELCOME =
  "This is an MCP server. It waits for a client on stdin, so it is usually started by one. Press Ctrl+C to exit, and add --help to see what else it does.";

/** Creates the registry for the settings. Does not scan the roots. */
export function openSkills(
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
  warnOfMissingFolders(await registry.refresh(), settings);
  const isForShell = settings.options.toolset === "agentskills";
  const fault = isForShell ? findShellFault() : undefined;
  if (fault !== undefined) {
    log(`The tool run_shell_command_op is unavailable: ${fault}`);
  }
  registerViews(server, registry, settings.options);
  registerSubscriptions(server, registry);
}

/**
 * Logs a warning for each folder in the settings that does not exist. One that is
 * a default folder is not misspelled: the bundle for Claude Desktop names these.
 */
export function warnOfMissingFolders(
  catalog: SkillCatalog,
  settings: Settings,
): void {
  const usual = resolveSkillRoots(settings.options).map(({ path }) => path);
  for (const { file, hint } of missingFolders(catalog, settings)) {
    if (usual.includes(file)) continue;
    log(
      `Cannot find the folder ${
        quote(file)
      }: ${hint}; it will be searched as soon as it exists`,
    );
  }
}

/** The time between the first scan and the start of watching, in milliseconds. */
const WATCH_DELAY_MS = 250;

/** The signals that end the process. */
export const END_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

/**
 * Prints a text below what has been logged, and returns the exit code. It is not
 * an error if the reader closes the stream early.
 */
async function print(
  text: string,
  stream: ByteWriter = Deno.stdout,
): Promise<number> {
  await logged();
  try {
    await writeAll(stream, new TextEncoder().encode(text));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    log(`Cannot write the output: ${(error as Error).message}`);
    return 2;
  }
  return 0;
}
