/**
 * The settings of the HTTP server. They come from the command line and from the
 * environment, because some hosts have no command line.
 *
 * @module
 */

import {
  findTerminalOption,
  parseCommandLine,
  UsageError,
} from "../program/command_line.ts";
import { createSettings, type Settings } from "../program/settings.ts";
import type { AccessOptions } from "./access.ts";
import { quote } from "../text.ts";

/** The settings of the server, and who can connect to it. */
export type HttpSettings = Settings & { readonly access: AccessOptions };

/**
 * Creates the settings from the command line, or `SKILL_SERVER_ARGS` if that is
 * empty, and from the other environment variables.
 *
 * @throws {UsageError} If a setting is invalid, does not apply to HTTP, or cannot
 *   be read. The server would otherwise start without a restriction that the user
 *   has set.
 */
export function createHttpSettings(args: readonly string[]): HttpSettings {
  const variable = readVariable("SKILL_SERVER_ARGS") ?? "";
  const command = parseCommandLine(
    args.length > 0 ? args : splitArguments(variable),
  );
  // It is optional only on stdio.
  readVariable("SKILLS_DIR");
  const option = findTerminalOption(command);
  if (option !== undefined) {
    throw new UsageError(
      `Cannot use --${option} over HTTP: use it with the server on stdio`,
    );
  }
  const settings = createSettings(command);
  return {
    ...settings,
    options: { ...settings.options, allowShell: false, isRemote: true },
    access: {
      tokens: parseTokens(readVariable("SKILL_SERVER_TOKEN")),
      hosts: parseHosts(readVariable("SKILL_SERVER_HOSTS")),
    },
  };
}

/** The environment variables that hold settings. */
export const VARIABLES = [
  "SKILL_SERVER_TOKEN",
  "SKILL_SERVER_HOSTS",
  "SKILL_SERVER_ARGS",
  "SKILLS_DIR",
] as const;

/** Returns an environment variable. Without permission, a restriction could be lost. */
function readVariable(name: typeof VARIABLES[number]): string | undefined {
  try {
    return Deno.env.get(name);
  } catch {
    throw new UsageError(
      `Cannot read the settings in the environment: Deno has no permission; add --allow-env, or add these to its list: ${VARIABLES}`,
    );
  }
}

/** Splits a text at white space. Shells disagree about quotation marks, so it has none. */
function splitArguments(text: string): string[] {
  if (!/["']/.test(text)) return text.split(/\s+/).filter(Boolean);
  throw new UsageError(
    "Invalid SKILL_SERVER_ARGS: quotation marks have no meaning in it, because it is split at white space only; remove them, and name a folder with a space on the command line or in SKILLS_DIR",
  );
}

/** Splits the tokens at commas, which no token contains. While one replaces another, there are two. */
function parseTokens(value: string | undefined): string[] {
  if (value === undefined) return [];
  const tokens = value.split(",").map((token) => token.trim());
  const areValid = tokens.every((token) => /^[\w.~+/-]+=*$/.test(token));
  if (areValid) return tokens;
  throw new UsageError(
    'Invalid SKILL_SERVER_TOKEN: it is empty, or does not consist of letters, digits, and -._~+/ only; create a token with "openssl rand -hex 32", or unset the variable to serve this machine only',
  );
}

function parseHosts(value: string | undefined): string[] {
  if (value === undefined) return [];
  const names = value.split(",").map((name) => name.trim().toLowerCase())
    .filter(Boolean);
  // A wildcard is valid in a URL.
  const wrong = names.length === 0
    ? value
    : names.find((name) =>
      name.includes("*") || URL.parse(`http://${name}`)?.hostname !== name
    );
  if (wrong === undefined) return names;
  throw new UsageError(
    `Invalid SKILL_SERVER_HOSTS ${
      quote(wrong)
    }: expected host names such as skills.example.com, without scheme, port, path, or wildcard; list each name, or unset the variable`,
  );
}
