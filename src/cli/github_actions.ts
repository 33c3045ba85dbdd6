/**
 * GitHub Actions, which obeys commands in what a step prints: the command that shows a
 * problem beside its line, and texts of skills without commands.
 *
 * @see {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 *
 * @module
 */

import { readEnvironment } from "../program/settings.ts";
import { escapeInvisible } from "../text.ts";

export function isInActions(): boolean {
  return readEnvironment("GITHUB_ACTIONS") === "true";
}

/** Returns the command that shows the lines of a message beside a line of a file. */
export function annotation(
  severity: string,
  properties: Readonly<Record<string, string | number | undefined>>,
  message: readonly string[],
): string {
  const list = Object.entries(properties)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  const lines = message.map(escapeMessage).join("%0A");
  return `::${severity} ${list.join(",")}::${lines}`;
}

function escapeMessage(text: string): string {
  return escapeInvisible(text).replaceAll("%", "%25");
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Keeps GitHub Actions from obeying lines that contain text of skills. */
export function withoutCommands(lines: readonly string[]): readonly string[] {
  if (lines.length === 0 || !isInActions()) return lines;
  const token = crypto.randomUUID();
  return [`::stop-commands::${token}`, ...lines, `::${token}::`];
}
