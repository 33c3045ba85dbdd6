/**
 * The output of `--list` and `--check`.
 *
 * @module
 */

import type { Settings } from "./settings.ts";
import { createReport, hasErrors, type OpenSkills } from "./report_data.ts";
import { reportAsJson } from "./report_json.ts";
import { reportAsText } from "./report_text.ts";

/**
 * Scans the roots once and reports the result in the format that the command
 * line asks for. `isBad` means that `--check` found errors.
 */
export async function reportSkills(
  skills: OpenSkills,
  settings: Settings,
): Promise<{ text: string; isBad: boolean }> {
  const { check = false, json = false } = settings.values;
  const report = await createReport(skills, settings);
  const colors = Deno.stdout.isTerminal() && !Deno.noColor;
  return {
    text: json ? reportAsJson(report) : reportAsText(report, { colors }),
    isBad: check && hasErrors(report),
  };
}
