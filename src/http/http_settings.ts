/**
 * The settings of the HTTP server. They come from the command line and from the
 * environment, because some hosts have no command line.
 */

import {
  findTerminalOption,
  parseCommandLine,
  UsageError,
} from "../program/command_line.ts";
import { createSettings, type Settings } from "../program/settings.ts";
import { quote } from "../text.ts";
import type { AccessOptions, AccessToken } from "./access.ts";

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
  const given = args.length > 0 ? args : splitArguments(variable);
  refuseServeOptions(given);
  const command = parseCommandLine(given);
  // Over HTTP, it is an error if Deno may not read it. On stdio, it is ignored.
  readVariable("SKILLS_DIR");
  const option = findTerminalOption(command);
  if (option !== undefined) {
    throw new UsageError(
      `Cannot use --${option} over HTTP: use it with the server on stdio`,
    );
  }
  const values = { ...command.values, remote: true };
  const settings = createSettings({ ...command, values });
  return {
    ...settings,
    access: {
      tokens: parseTokens(readVariable("SKILL_SERVER_TOKEN")),
      hosts: parseHosts(readVariable("SKILL_SERVER_HOSTS")),
    },
  };
}

/** @throws {UsageError} If an option of `deno serve` stands after the file. */
function refuseServeOptions(args: readonly string[]): void {
  const [option] = args.flatMap((word) =>
    /^--(?:port|host)\b/.exec(word) ?? []
  );
  if (option === undefined) return;
  throw new UsageError(
    `Cannot use ${option} after the file: it is an option of deno serve; write it before the file`,
  );
}

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

const MIN_TOKEN_LENGTH = 16;

/** A token, and the name before it, if there is one. No token contains a colon. */
const TOKEN = /^(?:([a-z0-9-]{1,32}):)?([\w.~+/-]+=*)$/;

/** Splits the tokens at commas, which no token contains. No message contains a token. */
function parseTokens(value: string | undefined): AccessToken[] {
  if (value === undefined) return [];
  const tokens = value.split(",").map((entry) => {
    const [, name, token = ""] = TOKEN.exec(entry.trim()) ?? [];
    return { token, name };
  });
  const reason = findTokenReason(tokens.map(({ token }) => token));
  if (reason === undefined) return tokens;
  throw new UsageError(`Invalid SKILL_SERVER_TOKEN: ${reason}`);
}

/** Says why tokens cannot be used, if they cannot. Invalid ones are empty. */
function findTokenReason(tokens: readonly string[]): string | undefined {
  const create = 'create each token with "openssl rand -hex 32"';
  if (tokens.includes("")) {
    return `expected TOKEN or NAME:TOKEN, with commas between several; a name has 1 to 32 lowercase letters, digits, and hyphens, and a token has letters, digits, and -._~+/ only; ${create}, or unset the variable to serve this machine only`;
  }
  const short = tokens.findIndex(({ length }) => length < MIN_TOKEN_LENGTH);
  if (short !== -1) {
    // The text before a colon may be part of a token, so this does not quote it.
    const place = `token ${short + 1}`;
    return `${place} has fewer than ${MIN_TOKEN_LENGTH} characters; ${create}`;
  }
  // The log could not say whose it is.
  const isRepeated = new Set(tokens).size < tokens.length;
  return isRepeated ? `a token occurs twice; ${create}` : undefined;
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
  const shown = quote(wrong);
  throw new UsageError(
    `Invalid SKILL_SERVER_HOSTS ${shown}: expected host names such as skills.example.com, without scheme, port, path, or wildcard; list each name, or unset the variable`,
  );
}
