/**
 * Settings of the server over HTTP: from the command line, and from the
 * environment where a host has no command line.
 *
 * @module
 */

import {
  createSettings,
  parseCommandLine,
  readEnvironment,
  type Settings,
  UsageError,
} from "./command_line.ts";
import type { AccessOptions } from "./http_access.ts";
import { quote } from "./text.ts";

/** Options that do something other than serve, or belong to the shell tool. */
const REFUSED_OPTIONS = [
  "list",
  "check",
  "json",
  "print-config",
  "help",
  "version",
  "shell-timeout",
  "auto-install-deps",
] as const;

/** Settings of the server over HTTP. */
export interface HttpSettings extends Settings {
  readonly access: AccessOptions;
}

/**
 * Makes settings of the command line, `SKILL_SERVER_ARGS` and the other
 * variables.
 *
 * @throws {UsageError} If they are wrong, or make no sense over HTTP.
 */
export function httpSettingsOf(args: readonly string[]): HttpSettings {
  const more = splitWords(readEnvironment("SKILL_SERVER_ARGS") ?? "");
  const command = parseCommandLine([...args, ...more]);
  for (const name of REFUSED_OPTIONS) {
    if (command.values[name] === undefined) continue;
    throw new UsageError(
      `--${name} is not for HTTP: use it with the server on stdin and stdout`,
    );
  }
  const settings = createSettings(command);
  return {
    ...settings,
    tools: { ...settings.tools, allowShell: false },
    access: { token: token(), hosts: hosts() },
  };
}

/** Splits a text into words as a shell does, with quotes but without escapes. */
function splitWords(text: string): string[] {
  const word = /(?:"[^"]*"|'[^']*'|[^\s"'])+/g;
  if (text.replace(word, "").trim() !== "") {
    throw new UsageError("SKILL_SERVER_ARGS has a quote that is not closed");
  }
  return [...text.matchAll(word)].map(([word]) =>
    word.replace(/"([^"]*)"|'([^']*)'/g, "$1$2")
  );
}

function token(): string | undefined {
  const token = readEnvironment("SKILL_SERVER_TOKEN")?.trim();
  if (!token) return undefined;
  if (/^[\w.~+/-]+=*$/.test(token)) return token;
  throw new UsageError(
    "SKILL_SERVER_TOKEN takes letters, digits and -._~+/ only: make one with `openssl rand -hex 32`",
  );
}

function hosts(): string[] {
  const names = (readEnvironment("SKILL_SERVER_HOSTS") ?? "").split(",")
    .map((name) => name.trim().toLowerCase()).filter(Boolean);
  for (const name of names) {
    if (URL.parse(`http://${name}`)?.hostname === name) continue;
    throw new UsageError(
      `SKILL_SERVER_HOSTS takes names such as skills.example.com, without scheme, port and path, not ${
        quote(name)
      }`,
    );
  }
  return names;
}
