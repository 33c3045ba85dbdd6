/**
 * What the program does in a terminal instead of serving: `--help`, `--version`,
 * `--list`, `--check`, and `--print-config`.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import config from "../../deno.json" with { type: "json" };
import { isError } from "../problems.ts";
import type { ClientName, CommandLine } from "../program/command_line.ts";
import { logWarnings } from "../program/first_scan.ts";
import { findInstalledSkills } from "../program/near_misses.ts";
import {
  createSettings,
  readEnvironment,
  type Settings,
} from "../program/settings.ts";
import type { SkillRegistryOptions, SkillSource } from "../skills/types.ts";
import { OTHER_CLIENTS } from "../views/clients.ts";
import { createClientConfig, createUrlConfig } from "./client_config.ts";
import { addClientOptions, type ClientSituation } from "./client_options.ts";
import { MCP_CLIENTS } from "./clients.ts";
import { jsonWithoutCommands } from "./github_actions.ts";
import { helpText } from "./help.ts";
import { formatModelView } from "./model_view.ts";
import { print } from "./print.ts";
import { createReport } from "./report.ts";
import { reportAsText } from "./report_text.ts";

/** Opens the skills of the settings, without scanning. */
export type OpenSkills = (
  settings: Settings,
  options?: Pick<SkillRegistryOptions, "log">,
) => SkillSource;

/** Keeps a registry from logging what is printed anyway. */
const SILENT = { log: () => {} };

/** Does what a command line asks for, and returns the exit code. */
export async function runCommand(
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const { help, version, as, "print-config": client } = command.values;
  if (help) return await print(helpText());
  if (version) return await print(`${config.version}\n`);
  if (client !== undefined) return await printConfig(command, openSkills);
  return as === undefined
    ? await printReport(command, openSkills)
    : await printModelView(as, command, openSkills);
}

/** Prints the configuration for an MCP client. */
async function printConfig(
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const { url, "print-config": name } = command.values;
  const client = name as ClientName;
  const { message, text } = url === undefined
    ? createClientConfig(client, await situationOf(command, openSkills))
    : createUrlConfig(client, {
      command,
      os: Deno.build.os,
      hasToken: readEnvironment("SKILL_SERVER_TOKEN") !== undefined,
    });
  await print(message, Deno.stderr);
  return await print(text);
}

/** Creates the settings, and finds out whether `~/.agents/skills` is searched. */
async function situationOf(
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<ClientSituation> {
  const settings = loadSettings(command);
  const { home } = settings;
  if (home === undefined) return { settings };
  const catalog = await openSkills(settings, SILENT).refresh();
  // A clone can make the folder in the project.
  const folder = join(home, ".agents", "skills");
  const installed = findInstalledSkills(catalog, settings)
    .find(({ file }) => file === folder);
  return { settings, installed };
}

/** Creates the settings, and logs what was ignored. */
function loadSettings(command: CommandLine): Settings {
  const settings = createSettings(command);
  logWarnings(settings);
  return settings;
}

/** Prints what the model sees in a client that starts the server as `--print-config` says. */
async function printModelView(
  name: string,
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const settings = await settingsFor(name, command, openSkills);
  const catalog = await openSkills(settings).refresh();
  const { values: { json }, options } = settings;
  return await print(formatModelView(name, catalog, { ...options, json }));
}

/** Creates the settings that the entry for a client has. */
async function settingsFor(
  name: string,
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<Settings> {
  if (name === OTHER_CLIENTS) return loadSettings(command);
  const client = MCP_CLIENTS[name as ClientName];
  const situation = await situationOf(command, openSkills);
  const { values } = addClientOptions(client, situation);
  return createSettings({ ...command, values });
}

/** Prints the report of `--list` or `--check`, which contains what the registry would log. */
async function printReport(
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const settings = loadSettings(command);
  const report = await createReport(openSkills(settings, SILENT), settings);
  const { check = false, json = false } = settings.values;
  const text = json
    ? jsonWithoutCommands(report)
    : reportAsText(report, settings);
  const code = await print(text);
  const isBad = check && report.problems.some(isError);
  return code === 0 && isBad ? 1 : code;
}
