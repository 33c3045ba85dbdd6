// Settings from a command line, and the configurations that `--print-config` prints.
import assert from "node:assert/strict";
import { parse } from "jsr:@std/yaml@^1/parse";
import config from "../../deno.json" with { type: "json" };
import {
  type ClientConfig,
  createClientConfig,
  type Launch,
} from "../../src/cli/config.ts";
import { resolve } from "../../src/fs/paths.ts";
import { parseCommandLine } from "../../src/program/command_line.ts";
import type { Program } from "../../src/program/running_program.ts";
import {
  createSettings,
  type Settings,
  withOptions,
} from "../../src/program/settings.ts";
import type { ClientName } from "../../src/views/clients.ts";
import { IMPORTS, MOD } from "./environment.ts";
import type { Place } from "./place.ts";
import { runServer, type ServerOptions } from "./server.ts";

/** The server from the registry, with an installed Deno, on Linux. */
export const PROGRAM: Program = {
  executable: "/home/me/.deno/bin/deno",
  mainModule: `jsr:${config.name}`,
  importMap: undefined,
  os: "linux",
};

/**
 * Creates the settings for a command line, as the program does. Its directories must be
 * absolute, because the working directory and the home directory are those of the
 * tests.
 */
export function settingsFor(...args: string[]): Settings {
  return createSettings(parseCommandLine(args));
}

/** Creates the configuration for a client, of a user whose home directory is `/home/me`. */
export function configFor(
  client: string,
  {
    args = [],
    program = PROGRAM,
    home = resolve("/home/me"),
  }: {
    args?: readonly string[];
    program?: Program;
    home?: string;
  } = {},
): ClientConfig {
  const command = parseCommandLine(["--print-config", client, ...args]);
  const settings = createSettings(command);
  const options = { ...settings.options, homeDirectory: home };
  const atHome = withOptions({ ...settings, options }, settings.values);
  return createClientConfig(client as ClientName, atHome, undefined, program);
}

/** Returns the command that `--print-config` prints. */
export async function printedLaunch(
  place: Place,
  options: ServerOptions = {},
  client = "cursor",
): Promise<Launch> {
  const args = [...options.args ?? [], "--print-config", client];
  const { code, stdout, stderr } = await runServer(place, { ...options, args });
  assert.equal(code, 0, stderr);
  assert.match(stderr, /^\nAdd this to the configuration of /);
  assert.doesNotMatch(stderr, /^skill-server: /m);
  const { command, args: words } = parseLaunch(stdout);
  if (!words.includes("run")) return { command, args: words };
  // The import flags may be missing.
  const end = words.indexOf("--allow-env") + 1;
  const flags = IMPORTS.filter((flag) => !words.includes(flag));
  return {
    command,
    args: [...words.slice(0, end), ...flags, ...words.slice(end)],
  };
}

/** Parses the command in a configuration that `--print-config` printed, in any client's format. */
export function parseLaunch(config: string): Launch {
  if (config.startsWith("[")) return parseTomlLaunch(config);
  const { cmd, command = cmd, args } = parseEntry(config);
  if (!Array.isArray(command)) return { command, args };
  const [program, ...rest] = command;
  return { command: program, args: rest };
}

/** Returns the entry in a printed configuration in JSON or YAML. */
// deno-lint-ignore no-explicit-any -- each client has its own format
export function parseEntry(config: string): Record<string, any> {
  const file = config.startsWith("{")
    ? JSON.parse(config)
    : parse(config, { schema: "core" });
  // deno-lint-ignore no-explicit-any -- each client has its own format
  const sections = Object.values<any>(file);
  return sections.find(({ skills }) => skills !== undefined).skills;
}

/** Parses the command in the subset of TOML that `--print-config` writes. */
function parseTomlLaunch(config: string): Launch {
  const fields = config.matchAll(/^(\w+) = (.*)$/gm);
  return Object.fromEntries(
    [...fields].map(([, key, value]) => [key, JSON.parse(value!)]),
  );
}

/** Returns the arguments after the main module. */
export function serverArgs({ args }: Launch, main = MOD): readonly string[] {
  return args.slice(args.indexOf(main) + 1);
}
