/**
 * GitHub Actions, which obeys commands in what a step prints: the command that shows a
 * problem beside its line, and texts of skills without commands.
 *
 * @see {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 *
 * @module
 */

import { readEnvironment } from "../program/settings.ts";
import { jsonText } from "../text.ts";

/** Whether this process runs in GitHub Actions. */
export function isInActions(): boolean {
  return readEnvironment("GITHUB_ACTIONS") === "true";
}

/** Returns the command that shows a message beside a line of a file. */
export function annotation(
  severity: string,
  properties: Readonly<Record<string, string | number | undefined>>,
  message: string,
): string {
  const list = Object.entries(properties)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `${name}=${escapeProperty(String(value))}`);
  return `::${severity} ${list.join(",")}::${escapeMessage(message)}\n`;
}

function escapeMessage(text: string): string {
  return text.replaceAll("%", "%25").replaceAll("\n", "%0A");
}

function escapeProperty(text: string): string {
  return escapeMessage(text).replaceAll(":", "%3A").replaceAll(",", "%2C");
}

/** Keeps GitHub Actions from obeying a text that contains text of skills. */
export function withoutCommands(text: string): string {
  const token = crypto.randomUUID();
  return text === "" || !isInActions()
    ? text
    : `::stop-commands::${token}\n${text}::${token}::\n`;
}

/** Formats a value as JSON in which GitHub Actions finds no commands of the old form. */
export function jsonWithoutCommands(value: unknown): string {
  return jsonText(value).replaceAll("##[", "\\u0023#[");
}
