/**
 * The settings of the HTTP server, from the command line and from the environment,
 * because some hosts have no command line.
 */

import { isIP } from "node:net";
import {
  findPrintingOption,
  parseCommandLine,
  UsageError,
} from "../program/command_line.ts";
import { createSettings, type Settings } from "../program/settings.ts";
import { quote } from "../text.ts";
import type { AccessOptions } from "./access.ts";
import { readTokensFile, Tokens } from "./tokens.ts";

export interface HttpSettings extends Settings {
  readonly access: AccessOptions;
}

/**
 * Creates the settings from the command line, or `SKILL_SERVER_ARGS` if that is
 * empty, and from the other environment variables.
 *
 * @throws {UsageError} If a setting is invalid, does not apply to HTTP, or cannot
 *   be read. The server would otherwise start without a restriction that the user
 *   has set.
 */
export function createHttpSettings(args: readonly string[]): HttpSettings {
  const variables = readVariables();
  const words = args.length > 0
    ? args
    : splitArguments(variables.SKILL_SERVER_ARGS ?? "");
  refuseServeOptions(words);
  const command = parseCommandLine(words);
  const option = findPrintingOption(command);
  if (option !== undefined) {
    throw new UsageError(
      `Cannot use --${option} over HTTP: use it with the server on stdio`,
    );
  }
  const values = { ...command.values, remote: true };
  return {
    ...createSettings({ ...command, values }),
    access: {
      tokens: createTokens(variables),
      hosts: parseHosts(variables.SKILL_SERVER_HOSTS),
      proxy: parseProxy(variables.SKILL_SERVER_PROXY),
    },
  };
}

/** Variables that Deno must be allowed to read. */
const HTTP_VARIABLES = [
  "SKILL_SERVER_TOKEN",
  "SKILL_SERVER_TOKENS_FILE",
  "SKILL_SERVER_HOSTS",
  "SKILL_SERVER_PROXY",
  "SKILL_SERVER_ARGS",
  // Read by `createSettings()`. Without it, other folders would be served.
  "SKILLS_DIR",
] as const;

type Variables = Partial<Record<typeof HTTP_VARIABLES[number], string>>;

/** @throws {UsageError} Without permission, because a restriction could be lost. */
function readVariables(): Variables {
  try {
    return Object.fromEntries(
      HTTP_VARIABLES.map((name) => [name, Deno.env.get(name)]),
    );
  } catch {
    throw new UsageError(
      `Cannot read the settings in the environment: Deno has no permission; add --allow-env, or add these to its list: ${HTTP_VARIABLES}`,
    );
  }
}

/** Splits a text at white space. Shells disagree about quotation marks, so it allows none. */
function splitArguments(text: string): string[] {
  if (!/["']/.test(text)) return text.split(/\s+/).filter(Boolean);
  throw new UsageError(
    "Invalid SKILL_SERVER_ARGS: quotation marks have no meaning in it, because it is split at white space only; remove them, and name a folder with a space on the command line or in SKILLS_DIR",
  );
}

/** @throws {UsageError} If an option of `deno serve` follows the module. */
function refuseServeOptions(words: readonly string[]): void {
  const [option] = words.flatMap((word) =>
    /^--(?:port|host)\b/.exec(word) ?? []
  );
  if (option === undefined) return;
  throw new UsageError(
    `Cannot use ${option} after the module: it is an option of deno serve; write it before the module`,
  );
}

function createTokens(
  { SKILL_SERVER_TOKEN: text, SKILL_SERVER_TOKENS_FILE: file }: Variables,
): Tokens | undefined {
  if (text !== undefined && file !== undefined) {
    throw new UsageError(
      "SKILL_SERVER_TOKEN and SKILL_SERVER_TOKENS_FILE are both set; unset one of them",
    );
  }
  if (text !== undefined) return new Tokens("SKILL_SERVER_TOKEN", () => text);
  if (file === undefined) return undefined;
  return new Tokens(quote(file), () => readTokensFile(file), file);
}

function parseHosts(value: string | undefined): string[] {
  if (value === undefined) return [];
  const names = value.split(",").map((name) => name.trim().toLowerCase())
    .filter(Boolean);
  // A URL can contain a wildcard.
  const invalid = names.length === 0
    ? value
    : names.find((name) =>
      name.includes("*") || URL.parse(`http://${name}`)?.hostname !== name
    );
  if (invalid === undefined) return names;
  throw new UsageError(
    `Invalid SKILL_SERVER_HOSTS ${
      quote(invalid)
    }: expected host names such as skills.example.com, without scheme, port, path, or wildcard; list each name, or unset the variable`,
  );
}

function parseProxy(value: string | undefined): string | undefined {
  if (value === undefined || isIP(value) !== 0) return value;
  throw new UsageError(
    `Invalid SKILL_SERVER_PROXY ${
      quote(value)
    }: expected the IP address of the proxy, such as 127.0.0.1; correct it, or unset the variable`,
  );
}
