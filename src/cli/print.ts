/**
 * Prints text to a standard stream. It must not contain CI commands, which a skill could
 * use to control a build. Only the annotations of GitHub Actions, which show a diagnostic
 * beside its line, are commands.
 *
 * @see
 *   {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 */

import type { ReportedDiagnostic } from "../diagnostics.ts";
import { escapeInvisible } from "../invisible.ts";
import { escapeCommands, log, logged } from "../log.ts";
import { type ByteWriter, writeAll } from "../output.ts";
import { readEnvironment } from "../program/settings.ts";
import { formatIndentedJson } from "../text.ts";

export function formatJson(value: unknown): string[] {
  return formatIndentedJson(value).trimEnd().split("\n");
}

/**
 * Prints lines after all logged ones, and returns the exit code. Escapes them, so that
 * they can neither add lines nor control the terminal. If the reader closes the stream
 * early, that is not an error.
 */
export async function print(
  lines: readonly string[],
  stream: ByteWriter = Deno.stdout,
): Promise<number> {
  await logged();
  const escaped = lines.map((line) => `${escapeInvisible(line)}\n`).join("");
  try {
    await writeAll(stream, new TextEncoder().encode(escapeCommands(escaped)));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    const { message } = error as Error;
    log(
      `Cannot write the output: ${message}; write it to another file or disk`,
    );
    return 2;
  }
  return 0;
}

export function isInActions(): boolean {
  return readEnvironment("GITHUB_ACTIONS") === "true";
}

export function annotation(
  severity: ReportedDiagnostic["severity"],
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

/** Keeps GitHub Actions from running commands in lines with text from skills. */
export function withoutCommands(lines: readonly string[]): readonly string[] {
  if (lines.length === 0 || !isInActions()) return lines;
  const token = crypto.randomUUID();
  return [`::stop-commands::${token}`, ...lines, `::${token}::`];
}
