/** Logging to stderr, and what a line of a log or a terminal may contain. */

import { escapeInvisible } from "./invisible.ts";
import { writeAll } from "./output.ts";
import { oneLine } from "./text.ts";

let logging: Promise<unknown> = Promise.resolve();

/**
 * Logs a sentence to stderr as one line with the prefix `skill-server: `. Stdout is
 * reserved for the protocol. Does not wait, so that a client that never reads stderr
 * cannot block the server.
 */
export function log(sentence: string): void {
  const line = LOG_PREFIX + escapeCommands(oneLine(sentence));
  const bytes = new TextEncoder().encode(`${line}\n`);
  logging = logging.then(() => writeAll(Deno.stderr, bytes)).catch(() => {});
}

const LOG_PREFIX = "skill-server: ";

/**
 * Whether a line can be printed verbatim. It must not look like a log line, contain
 * invisible characters, or be a command: GitHub Actions runs lines that start with `::`.
 */
export function isCopyable(line: string): boolean {
  return !/^\s*::/.test(line) && !line.startsWith(LOG_PREFIX.trimEnd()) &&
    escapeCommands(escapeInvisible(line)) === line;
}

/**
 * Escapes the commands that CI services recognize anywhere in a line, such as `##[` in
 * GitHub Actions and `##vso[` in Azure Pipelines. In double quotes, JSON, TOML, and YAML
 * turn the result back into the original text.
 */
export function escapeCommands(text: string): string {
  return text.replace(/##(?=[\p{L}[])/gu, "\\u0023#");
}

/** Waits until all lines logged so far have been written. */
export function logged(): Promise<unknown> {
  return logging;
}
