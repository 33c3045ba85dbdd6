/**
 * The commands for a terminal: `--help`, `--version`, `--list`, `--check`, and
 * `--print-config`.
 */

import config from "../../deno.json" with { type: "json" };
import { formatDiagnostic, isError } from "../diagnostics.ts";
import {
  type ClientName,
  type CommandLine,
  UsageError,
} from "../program/command_line.ts";
import {
  createSettings,
  logWarnings,
  readEnvironment,
  type Settings,
  withOptions,
} from "../program/settings.ts";
import { findPolicyDiagnostic } from "../skills/catalog.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { log } from "../text.ts";
import { OTHER_CLIENTS, profileOfOption } from "../mcp/profiles.ts";
import {
  type ClientConfig,
  createClientConfig,
  createUrlConfig,
} from "./clients/client_config.ts";
import { addClientOptions } from "./clients/client_options.ts";
import { MCP_CLIENTS } from "./clients/clients.ts";
import { formatHelp } from "./help.ts";
import { formatModelView } from "./model_view.ts";
import { formatJson, print, printLines } from "./print.ts";
import { createReport, type OpenSkills, SILENT } from "./report.ts";
import { formatReport } from "./report_text.ts";

/**
 * Does what a command line asks for, and returns the exit code.
 *
 * @throws {UsageError} If that cannot be done as it is asked for.
 */
export async function runCommand(
  command: CommandLine,
  openSkills: OpenSkills,
): Promise<number> {
  const { help, version, as, url, "print-config": name } = command.values;
  const client = name as ClientName | undefined;
  if (help) return await print(formatHelp());
  if (version) return await print(`${config.version}\n`);
  if (client !== undefined && url !== undefined) {
    const hasToken = readEnvironment("SKILL_SERVER_TOKEN") !== undefined;
    const options = { command, os: Deno.build.os, hasToken };
    return await printConfig(createUrlConfig(client, options));
  }
  const settings = createSettings(command);
  logWarnings(settings);
  if (client !== undefined) {
    const catalog = await openSkills(settings, SILENT).refresh();
    requireValidPolicy(catalog);
    logMissingFolders(catalog);
    return await printConfig(createClientConfig(client, settings));
  }
  if (as === undefined) return await printReport(settings, openSkills);
  return await printModelView(settings, openSkills);
}

/** @throws {UsageError} If the policy is not valid, because a server would start without skills. */
function requireValidPolicy(catalog: SkillCatalog): void {
  const diagnostic = findPolicyDiagnostic(catalog);
  if (diagnostic === undefined) return;
  const sentence = formatDiagnostic(diagnostic);
  throw new UsageError(`${sentence}, and no entry is printed`);
}

/** Logs which folders of an entry do not exist, because its client would show that to nobody. */
function logMissingFolders({ diagnostics }: SkillCatalog): void {
  for (const diagnostic of diagnostics) {
    if (diagnostic.rule === "folder-missing") {
      log(formatDiagnostic(diagnostic));
    }
  }
}

async function printConfig({ message, text }: ClientConfig): Promise<number> {
  await print(message, Deno.stderr);
  return await print(text);
}

/** Prints what the model sees in a client that starts the server as `--print-config` says. */
async function printModelView(
  settings: Settings,
  openSkills: OpenSkills,
): Promise<number> {
  const { as = OTHER_CLIENTS, json } = settings.values;
  const { values, notes } = as === OTHER_CLIENTS
    ? { values: settings.values, notes: [] }
    : addClientOptions(
      MCP_CLIENTS[as as ClientName],
      settings,
      profileOfOption(as),
    );
  const entrySettings = withOptions(settings, values);
  const catalog = await openSkills(entrySettings).refresh();
  const options = { ...entrySettings.options, json, notes };
  return await printLines(formatModelView(as, catalog, options));
}

/** Prints the report of `--list` or `--check`, which contains what the registry would log. */
async function printReport(
  settings: Settings,
  openSkills: OpenSkills,
): Promise<number> {
  const report = await createReport(settings, openSkills);
  const { check = false, json = false, strict = false } = settings.values;
  const lines = json ? formatJson(report) : formatReport(report, settings);
  const code = await printLines(lines);
  const isBad = check &&
    report.diagnostics.some((diagnostic) => strict || isError(diagnostic));
  return code === 0 && isBad ? 1 : code;
}
