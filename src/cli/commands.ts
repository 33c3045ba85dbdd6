/**
 * What the program does in a terminal instead of serving: `--help`, `--version`,
 * `--list`, `--check`, and `--print-config`.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import config from "../../deno.json" with { type: "json" };
import { attempt } from "../files/faults.ts";
import { isError, type Problem } from "../problems.ts";
import type { ClientName, CommandLine } from "../program/command_line.ts";
import { scanFirst } from "../program/first_scan.ts";
import { findInstalledSkills } from "../program/near_misses.ts";
import { createSettings, type Settings } from "../program/settings.ts";
import type { SkillRegistryOptions, SkillSource } from "../skills/types.ts";
import { log } from "../text.ts";
import { createClientConfig, createUrlConfig } from "./client_config.ts";
import { addClientOptions, findClient } from "./client_options.ts";
import { helpText } from "./help.ts";
import { formatModelView } from "./model_view.ts";
import { print } from "./print.ts";
import { createReport } from "./report.ts";
import { jsonWithoutCommands, reportAsText } from "./report_text.ts";

/** Opens the skills of the settings, without scanning. */
export type OpenSkills = (
  settings: Settings,
  options?: Pick<SkillRegistryOptions, "log">,
) => SkillSource;

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
  const hasToken = Boolean(attempt(() => Deno.env.get("SKILL_SERVER_TOKEN")));
  const { message, text } = url === undefined
    ? await createLaunchConfig(client, command, openSkills)
    : createUrlConfig(client, { command, os: Deno.build.os, hasToken });
  await print(message, Deno.stderr);
  return await print(text);
}

async function createLaunchConfig(
  client: ClientName,
  command: CommandLine,
  openSkills: OpenSkills,
) {
  const settings = createSettings(command);
  for (const warning of settings.warnings) log(warning);
  const installed = await findInstalled(settings, openSkills);
  return createClientConfig(client, { settings, installed });
}

/** Finds out whether `~/.agents/skills` holds skills that are not searched. */
async function findInstalled(
  settings: Settings,
  openSkills: OpenSkills,
): Promise<Problem | undefined> {
  const { home } = settings;
  if (home === undefined) return undefined;
  const catalog = await openSkills(settings, { log: () => {} }).refresh();
  // A clone can make the folder in the project.
  const folder = join(home, ".agents", "skills");
  return findInstalledSkills(catalog, settings)
    .find(({ file }) => file === folder);
}

/** Prints what the model sees in a client that starts the server as `--print-config` says. */
async function printModelView(
  name: string,
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const settings = await createSettingsFor(name, command, openSkills);
  const catalog = await scanFirst(openSkills(settings), settings);
  const { values: { json }, options } = settings;
  return await print(formatModelView(name, catalog, { ...options, json }));
}

/** Creates the settings that the entry for a client has. */
async function createSettingsFor(
  name: string,
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<Settings> {
  const settings = createSettings(command);
  const client = findClient(name);
  if (client === undefined) return settings;
  const installed = await findInstalled(settings, openSkills);
  const values = addClientOptions(command.values, client, {
    home: settings.home,
    hasInstalledSkills: installed !== undefined,
  });
  return createSettings({ ...command, values });
}

/** Prints the report of `--list` or `--check`, which contains what the registry would log. */
async function printReport(
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const settings = createSettings(command);
  for (const warning of settings.warnings) log(warning);
  const registry = openSkills(settings, { log: () => {} });
  const report = await createReport(registry, settings);
  const { check = false, json = false } = settings.values;
  const text = json
    ? jsonWithoutCommands(report)
    : reportAsText(report, settings);
  const code = await print(text);
  const isBad = check && report.problems.some(isError);
  return code === 0 && isBad ? 1 : code;
}
