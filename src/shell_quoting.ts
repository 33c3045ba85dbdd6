/**
 * Quotes commands that users can paste into their shells.
 *
 * On Windows, a program that npm installs is started by a batch file or a
 * PowerShell script, and both change some arguments. So the commands for
 * PowerShell run `cmd`, and a command that a batch file would change is not
 * offered.
 *
 * @module
 */

import { escapeHidden, quote } from "./text.ts";

/** A kind of shell: a POSIX shell or fish, the Windows Command Prompt, or PowerShell. */
export type Shell = "sh" | "cmd" | "powershell";

/** The names of the shells in messages. */
export const SHELL_TITLES: Readonly<Record<Shell, string>> = {
  sh: "a terminal",
  cmd: "the Command Prompt",
  powershell: "PowerShell",
};

/** Returns the shell that the program was most likely started from. */
export function shellInUse(
  { os, variable }: {
    os: typeof Deno.build.os;
    variable: (name: string) => string | undefined;
  },
): Shell {
  // Git Bash and similar shells set MSYSTEM. `cmd` sets PROMPT.
  if (os !== "windows" || variable("MSYSTEM")) return "sh";
  return variable("PROMPT") ? "cmd" : "powershell";
}

/**
 * Quotes a command so that a shell passes on each word unchanged.
 *
 * @returns The command, or `undefined` if there is no safe way to write it.
 */
export function quoteCommand(
  words: readonly string[],
  shell: Shell,
): string | undefined {
  // A line break or an escape sequence could take effect when it is pasted.
  if (words.some((word) => word !== escapeHidden(word))) return undefined;
  if (shell === "sh") return words.map(quoteForSh).join(" ");
  // A batch file parses its arguments again.
  if (words.some((word) => /[%!^&|<>]/.test(word))) return undefined;
  const command = words.map(quoteForWindows).join(" ");
  return shell === "cmd" ? command : `cmd /c ${quoteForPowerShell(command)}`;
}

/**
 * Quotes an argument of a printed command for the shell that the program was most
 * likely started from.
 */
export function quoteArgument(argument: string): string {
  const quoted = Deno.build.os === "windows"
    ? undefined
    : quoteCommand([argument], "sh");
  return quoted ?? quote(argument);
}

/**
 * Quotes a word for sh, bash, zsh, and fish. Quotation marks and backslashes stand
 * outside of the quotes, because fish interprets backslashes within them.
 */
function quoteForSh(word: string): string {
  if (/^[\w./:,@+-][\w./:,@+=-]*$/.test(word)) return word;
  const parts = word.match(/['\\]|[^'\\]+/g) ?? [""];
  return parts.map((part) => /['\\]/.test(part) ? `\\${part}` : `'${part}'`)
    .join("");
}

/** Quotes a word for Windows programs, which split their command lines themselves. */
function quoteForWindows(word: string): string {
  if (/^[\w./:\\@+-]+$/.test(word)) return word;
  const escaped = word
    .replace(/(\\*)"/g, String.raw`$1$1\"`)
    .replace(/\\+$/, "$&$&");
  return `"${escaped}"`;
}

/** Quotes a word for PowerShell, which treats all of Unicode's single quotes alike. */
function quoteForPowerShell(word: string): string {
  return `'${word.replace(/['\u2018-\u201b]/g, "$&$&")}'`;
}
