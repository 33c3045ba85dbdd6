/**
 * The settings of the HTTP server. They come from the command line and from the
 * environment, because some hosts have no command line.
 *
 * @module
 */

import { parseCommandLine, UsageError } from "../cli/command_line.ts";
import {
  createSettings,
  readEnvironment,
  type Settings,
} from "../cli/settings.ts";
import type { AccessOptions } from "./access.ts";
import { quote } from "../text.ts";

/** Options that do something other than serve, or that configure the shell tool. */
const REFUSED_OPTIONS = [
  "list",
  "check",
  "json",
  "as",
  "print-config",
  "link",
  "url",
  "help",
  "version",
  "shell-timeout",
  "auto-install-deps",
] as const;

/** The settings of the HTTP server. */
export interface HttpSettings extends Settings {
  readonly access: AccessOptions;
}

/**
 * Creates the settings from the command line, `SKILL_SERVER_ARGS`, and the other
 * environment variables.
 *
 * @throws {UsageError} If a setting is invalid or does not apply to HTTP.
 */
export function createHttpSettings(args: readonly string[]): HttpSettings {
  const more = splitWords(readEnvironment("SKILL_SERVER_ARGS") ?? "");
  const command = parseCommandLine([...args, ...more]);
  for (const name of REFUSED_OPTIONS) {
    if (command.values[name] === undefined) continue;
    throw new UsageError(
      `Cannot use --${name} over HTTP: use it with the server on stdio`,
    );
  }
  const settings = createSettings(command);
  return {
    ...settings,
    tools: { ...settings.tools, allowShell: false },
    access: { token: readToken(), hosts: readHosts() },
  };
}

/** Splits a text into words as a shell does. Supports quotation marks, but not escapes. */
function splitWords(text: string): string[] {
  const word = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g;
  if (text.replace(word, "").trim() !== "") {
    throw new UsageError(
      "Invalid SKILL_SERVER_ARGS: a quotation mark is not closed",
    );
  }
  return [...text.matchAll(word)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2")
  );
}

function readToken(): string | undefined {
  const token = readEnvironment("SKILL_SERVER_TOKEN")?.trim();
  if (!token) return undefined;
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  throw new UsageError(
    "Invalid SKILL_SERVER_TOKEN: expected letters, digits, and -._~+/ only; create one with `openssl rand -hex 32`",
  );
}

function readHosts(): string[] {
  const names = (readEnvironment("SKILL_SERVER_HOSTS") ?? "").split(",")
    .map((name) => name.trim().toLowerCase()).filter(Boolean);
  for (const name of names) {
    if (URL.parse(`http://${name}`)?.hostname === name) continue;
    throw new UsageError(
      `Invalid SKILL_SERVER_HOSTS ${
        quote(name)
      }: expected host names such as skills.example.com, without scheme, port, or path`,
    );
  }
  return names;
}
