/**
 * Output in GitHub Actions, which obeys commands in what a step prints.
 *
 * @see {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { jsonText } from "../text.ts";

/** Whether this process runs in GitHub Actions. */
export function isInActions(): boolean {
  return attempt(() => Deno.env.get("GITHUB_ACTIONS")) === "true";
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
