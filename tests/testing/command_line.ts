// Settings from a command line, and the configurations that `--print-config` prints.
import assert from "node:assert/strict";
import { resolve } from "jsr:@std/path@^1";
import { parse } from "jsr:@std/yaml@^1";
import {
  type ClientConfig,
  createClientConfig,
} from "../../src/cli/client_config.ts";
import type { ClientName } from "../../src/cli/clients.ts";
import type { Launch } from "../../src/cli/launch.ts";
import { isInNpxCache } from "../../src/cli/program.ts";
import { parseCommandLine, UsageError } from "../../src/cli/command_line.ts";
import { createSettings, type Settings } from "../../src/cli/settings.ts";
import { IMPORTS, MOD } from "./environment.ts";
import type { Place } from "./folders.ts";
import { runServer, type ServerOptions } from "./server.ts";

/**
 * Creates the settings for a command line, as the program does. Its folders must be
 * absolute, because the working directory and the home folder are those of the tests.
 */
export function settingsFor(...args: string[]): Settings {
  return createSettings(parseCommandLine(args));
}

/** Creates the configuration for a client, of a user whose home folder is `/home/me`. */
export function configFor(client: string, ...args: string[]): ClientConfig {
  const settings = settingsFor("--print-config", client, ...args);
  return createClientConfig(client as ClientName, {
    ...settings,
    home: resolve("/home/me"),
  });
}

/** The name of the section that contains the servers, by client. The default is "mcpServers". */
export const SECTIONS: Readonly<Record<string, string>> = {
  "vscode": "servers",
  "opencode": "mcp",
  "kilo": "mcp",
  "goose": "extensions",
  "zed": "context_servers",
};

/** Asserts that a function reports an invalid command line with the given message. */
export function assertMisuse(
  work: () => unknown,
  message: string | RegExp,
): void {
  assert.throws(work, (error) => {
    assert.ok(error instanceof UsageError, String(error));
    if (typeof message === "string") assert.equal(error.message, message);
    else assert.match(error.message, message);
    return true;
  });
}

/** Returns the command that `--print-config` prints. */
export async function printedLaunch(
  place: Place,
  options: ServerOptions = {},
  client = "cursor",
): Promise<Launch> {
  const args = [...options.args ?? [], "--print-config", client];
  const { stdout, stderr } = await runServer(place, { ...options, args });
  const paragraphs = paragraphsOf(stderr);
  assert.match(paragraphs.at(-1)!, /^(?:A|Or a)dd this to the configuration/);
  assert.doesNotMatch(stderr, /^skill-server: /m);
  return completeLaunch(stdout);
}

/** Parses a printed configuration, and adds the import flags if they are missing. */
export function completeLaunch(config: string): Launch {
  const launch = withoutNpx(parseLaunch(config));
  return hasUnknownImportMap
    ? { ...launch, args: withImportFlags(launch.args) }
    : launch;
}

/** Replaces npx with the Deno that it would start. */
function withoutNpx({ command, args }: Launch): Launch {
  const start = args.indexOf("run");
  return command === "npx" || command === "cmd"
    ? { command: Deno.execPath(), args: args.slice(start) }
    : { command, args };
}

/** Parses the command in a configuration that `--print-config` printed, in any client's format. */
export function parseLaunch(config: string): Launch {
  if (config.startsWith("[")) return parseTomlLaunch(config);
  const sections = Object.values(parseConfig(config));
  const { skills } = sections.find(({ skills }) => skills !== undefined)!;
  const { cmd, command = cmd, args } = skills!;
  if (!Array.isArray(command)) return { command, args };
  const [program, ...rest] = command;
  return { command: program, args: rest };
}

/** The sections of a configuration, each with server entries by name. */
// deno-lint-ignore no-explicit-any -- each client has its own format
type ConfigSections = Record<string, Record<string, Record<string, any>>>;

/** Parses a configuration in JSON or YAML. */
export function parseConfig(config: string): ConfigSections {
  return config.startsWith("{")
    ? JSON.parse(config)
    : parse(config, { schema: "core" }) as ConfigSections;
}

/** Parses the command in the subset of TOML that `--print-config` writes. */
function parseTomlLaunch(config: string): Launch {
  const strings = config.matchAll(/^(?:command =| ) ("(?:[^"\\]|\\.)*")/gm);
  const [command, ...args] = [...strings].map(([, text]) => JSON.parse(text!));
  return { command, args };
}

/** Whether the tests use an import map that the server does not recognize. */
const hasUnknownImportMap = IMPORTS.some((flag) => !flag.includes("npm_only"));

/**
 * Splits stderr into paragraphs, each on one line, without the hints about an
 * unrecognized import map and about npx. Asserts that each hint appears if and
 * only if it applies.
 */
export function paragraphsOf(stderr: string): string[] {
  let paragraphs = stderr.trim().split("\n\n")
    .map((text) => text.replaceAll("\n", " "));
  for (
    const [isDue, hint] of [
      [hasUnknownImportMap, "the import map that Deno runs with"],
      [isInNpxCache(Deno.execPath()), "The entry uses npx"],
    ] as const
  ) {
    const others = paragraphs.filter((text) => !text.includes(hint));
    assert.equal(others.length < paragraphs.length, isDue, hint);
    paragraphs = others;
  }
  return paragraphs;
}

/** Adds the import flags to arguments, as the hint advises. */
function withImportFlags(args: readonly string[]): readonly string[] {
  const index = args.indexOf("--allow-env") + 1;
  return [...args.slice(0, index), ...IMPORTS, ...args.slice(index)];
}

/** Returns the arguments after the main module. */
export function serverArgs({ args }: Launch, main = MOD): readonly string[] {
  return args.slice(args.indexOf(main) + 1);
}
