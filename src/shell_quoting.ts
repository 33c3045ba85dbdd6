/**
 * Commands as users paste them into their shells.
 *
 * A program that npm installs on Windows is started by a batch file or by a
 * script of PowerShell, which change some arguments. Hence PowerShell gets a
 * command for `cmd`, and nothing is offered that a batch file would change.
 *
 * @module
 */

import { escapeHidden } from "./text.ts";

/** A kind of shell: any POSIX shell, the Command Prompt of Windows, or PowerShell. */
export type Shell = "sh" | "cmd" | "powershell";

/** What messages call the shells. */
export const SHELL_TITLES: Readonly<Record<Shell, string>> = {
  sh: "a terminal",
  cmd: "the Command Prompt",
  powershell: "PowerShell",
};

/** Returns the shell that the program was started from, as far as it can be determined. */
export function shellInUse(
  { os, variable }: {
    os: typeof Deno.build.os;
    variable: (name: string) => string | undefined;
  },
): Shell {
  // Git Bash and its like set MSYSTEM, and `cmd` sets PROMPT.
  if (os !== "windows" || variable("MSYSTEM")) return "sh";
  return variable("PROMPT") ? "cmd" : "powershell";
}

/**
 * Quotes a command so that a shell passes on each word as it is.
 *
 * @returns The command, or `undefined` if there is no safe way to write it.
 */
export function quoteCommand(
  words: readonly string[],
  shell: Shell,
): string | undefined {
  // A line break or an escape sequence could run when it is pasted.
  if (words.some((word) => word !== escapeHidden(word))) return undefined;
  if (shell === "sh") return words.map(quoteForSh).join(" ");
  // A batch file parses its arguments anew.
  if (words.some((word) => /[%!^&|<>]/.test(word))) return undefined;
  const command = words.map(quoteForWindows).join(" ");
  return shell === "cmd" ? command : `cmd /c ${quoteForPowerShell(command)}`;
}

function quoteForSh(word: string): string {
  return /^[\w./:,@+-][\w./:,@+=-]*$/.test(word)
    ? word
    : `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

/** Quotes a word for the programs of Windows, which split their command lines themselves. */
function quoteForWindows(word: string): string {
  if (/^[\w./:\\@+-]+$/.test(word)) return word;
  const escaped = word
    .replace(/(\\*)"/g, String.raw`$1$1\"`)
    .replace(/\\+$/, "$&$&");
  return `"${escaped}"`;
}

/** Quotes a word for PowerShell, for which all of Unicode's single quotes are one. */
function quoteForPowerShell(word: string): string {
  return `'${word.replace(/['\u2018-\u201b]/g, "$&$&")}'`;
}
