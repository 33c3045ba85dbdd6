/**
 * The output of `--list` and `--check`.
 *
 * @module
 */

import type { CheckSettings } from "./check_targets.ts";
import {
  createReport,
  hasErrors,
  type Report,
  type SkillsToReport,
} from "./report_data.ts";
import { reportAsText, type TextStyle } from "./report_text.ts";
import { currentFolder } from "../files/paths.ts";
import { jsonText } from "../text.ts";

/**
 * Scans the roots once and reports the result in the format that the command
 * line asks for. `isBad` means that `--check` found errors.
 */
export async function reportSkills(
  skills: SkillsToReport,
  settings: CheckSettings,
): Promise<{ text: string; isBad: boolean }> {
  const { check = false, json = false } = settings.values;
  const report = await createReport(skills, settings);
  return {
    text: json ? reportAsJson(report) : reportAsText(report, {
      ...styleOfOutput(),
      home: settings.home,
      project: currentFolder(),
    }),
    isBad: check && hasErrors(report),
  };
}

function reportAsJson({ data }: Report): string {
  const skills = data.skills.map(({ root: _, ...skill }) => skill);
  return jsonText({ ...data, skills });
}

/** Returns the style for a terminal, or else for a file. */
function styleOfOutput(): Pick<TextStyle, "colors" | "width"> {
  if (!Deno.stdout.isTerminal()) return { colors: false };
  return { colors: !Deno.noColor, width: terminalWidth() };
}

/** Returns the width of the terminal, in characters, if it is known. */
function terminalWidth(): number | undefined {
  try {
    return Deno.consoleSize().columns || undefined;
  } catch {
    return undefined;
  }
}
