/**
 * What the program does in a terminal instead of serving: `--help`, `--version`,
 * `--list`, `--check`, and `--print-config`.
 *
 * @module
 */

import config from "../../deno.json" with { type: "json" };
import type { ClientName, CommandLine } from "../program/command_line.ts";
import { scanFirst } from "../program/first_scan.ts";
import { createSettings, type Settings } from "../program/settings.ts";
import type { SkillRegistryOptions, SkillSource } from "../skills/types.ts";
import { log } from "../text.ts";
import { createClientConfig } from "./client_config.ts";
import { helpText } from "./help.ts";
import { formatModelView } from "./model_view.ts";
import { print } from "./print.ts";
import { reportSkills } from "./report.ts";

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
  const settings = createSettings(command);
  if (client !== undefined) {
    return await printConfig(client as ClientName, settings);
  }
  return as === undefined
    ? await printReport(settings, openSkills)
    : await printModelView(as, settings, openSkills);
}

/** Prints the configuration for an MCP client. */
async function printConfig(
  client: ClientName,
  settings: Settings,
): Promise<number> {
  for (const warning of settings.warnings) log(warning);
  const { message, text } = createClientConfig(client, settings);
  await print(message, Deno.stderr);
  return await print(text);
}

/** Prints what the model sees in a client. */
async function printModelView(
  client: string,
  settings: Settings,
  openSkills: OpenSkills,
): Promise<number> {
  const catalog = await scanFirst(openSkills(settings), settings);
  const { values: { json }, options } = settings;
  return await print(formatModelView(client, catalog, { ...options, json }));
}

/** Prints the report of `--list` or `--check`, which contains what the registry would log. */
async function printReport(
  settings: Settings,
  openSkills: OpenSkills,
): Promise<number> {
  for (const warning of settings.warnings) log(warning);
  const registry = openSkills(settings, { log: () => {} });
  const { text, isBad } = await reportSkills(registry, settings);
  const code = await print(text);
  return code === 0 && isBad ? 1 : code;
}
