/**
 * The commands for a terminal: `--help`, `--version`, `--list`, `--check`, and
 * `--print-config`.
 */

import config from "../../deno.json" with { type: "json" };
import { createReport, type OpenRegistry, toJson } from "../check/report.ts";
import { FAILURES, formatDiagnostic } from "../diagnostics.ts";
import { log } from "../log.ts";
import type { CommandLine } from "../program/command_line.ts";
import {
  createSettings,
  logWarnings,
  type Settings,
} from "../program/settings.ts";
import { findFailure } from "../skills/catalog.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { type ClientName, OTHER_CLIENTS } from "../views/clients.ts";
import { createClientConfig, withClientOptions } from "./config.ts";
import { explainDoubleLists } from "./double_lists.ts";
import { formatHelp } from "./help.ts";
import { formatModelView } from "./model_view.ts";
import { formatJson, print } from "./print.ts";
import { formatReport } from "./report_text.ts";

/**
 * Runs the command of a command line, and returns the exit code.
 *
 * @throws {UsageError} If the value of an option is invalid.
 */
export async function runCommand(
  command: CommandLine,
  openRegistry: OpenRegistry,
): Promise<number> {
  const { help, version, as, "print-config": client } = command.values;
  if (help) return await print(formatHelp().trimEnd().split("\n"));
  if (version) return await print([config.version]);
  const settings = createSettings(command);
  logWarnings(settings);
  if (client !== undefined) {
    return await printConfig(client as ClientName, settings, openRegistry);
  }
  if (as === undefined) return await printReport(settings, openRegistry);
  return await printModelView(settings, openRegistry);
}

/** Logs what a server with the entry would log, because clients hide its log. */
function logEntryDiagnostics({ diagnostics }: SkillCatalog): void {
  for (const diagnostic of diagnostics) {
    const { rule } = diagnostic;
    if (rule === "folder-missing" || FAILURES.includes(rule)) {
      log(formatDiagnostic(diagnostic));
    }
  }
}

/** Prints the entry to stdout, which can be piped into a file, and instructions to stderr. */
async function printConfig(
  client: ClientName,
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<number> {
  const entrySettings = withClientOptions(client, settings);
  const { roots, options } = entrySettings;
  const catalog = await openRegistry(roots, options).refresh();
  logEntryDiagnostics(catalog);
  // A server would start without skills.
  if (findFailure(catalog) !== undefined) return 2;
  const doubleLists = await explainDoubleLists(
    client,
    catalog,
    entrySettings,
    openRegistry,
  );
  const { text, notes } = createClientConfig(client, settings, doubleLists);
  const code = await print(text.trimEnd().split("\n"));
  await print(notes.flatMap((note) => ["", note]), Deno.stderr);
  return code;
}

/** Prints what the model sees if a client has the entry of `--print-config`. */
async function printModelView(
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<number> {
  const { as = OTHER_CLIENTS, json } = settings.values;
  const entrySettings = as === OTHER_CLIENTS
    ? settings
    : withClientOptions(as as ClientName, settings);
  const { roots, options } = entrySettings;
  const catalog = await openRegistry(roots, options).refresh();
  for (const it of catalog.diagnostics) log(formatDiagnostic(it));
  return await print(formatModelView(as, catalog, options, json));
}

async function printReport(
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<number> {
  const report = await createReport(settings, openRegistry);
  const { check = false, json = false, strict = false } = settings.values;
  const lines = json
    ? formatJson(toJson(report))
    : formatReport(report, settings);
  const code = await print(lines);
  const { errors, warnings } = report;
  const isBad = check && errors + (strict ? warnings : 0) > 0;
  return code === 0 && isBad ? 1 : code;
}
