/**
 * Parses the command line.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { oneLine } from "../text.ts";

/** The options, in the form that `parseArgs` of `node:util` expects. */
export const OPTIONS = {
  "tools": { type: "string" },
  "skill-dir": { type: "string", multiple: true },
  "agents": { type: "boolean" },
  "policy": { type: "string" },
  "trust-links": { type: "string", multiple: true },
  "max-file-size": { type: "string" },
  "description-limit": { type: "string" },
  "refresh": { type: "string" },
  "no-watch": { type: "boolean" },
  "shell-timeout": { type: "string" },
  "auto-install-deps": { type: "boolean" },
  "list": { type: "boolean" },
  "check": { type: "boolean" },
  "json": { type: "boolean" },
  "as": { type: "string" },
  "print-config": { type: "string" },
  "url": { type: "string" },
  "help": { type: "boolean", short: "h" },
  "version": { type: "boolean", short: "V" },
} as const;

/** Thrown for an invalid command line or an invalid environment variable. */
export class UsageError extends Error {}

/** A parsed command line. */
export type CommandLine = ReturnType<typeof parseCommandLine>;

/**
 * Parses the command line.
 *
 * @throws {UsageError} If it is invalid.
 */
export function parseCommandLine(args: readonly string[]) {
  const command = parseOptions(args);
  const { json, list, check, as, url, "print-config": client } = command.values;
  if (json && !list && !check) {
    throw new UsageError("--json requires --list or --check");
  }
  if (as !== undefined && (!list || check)) {
    throw new UsageError("--as requires --list, without --check");
  }
  if (url !== undefined && client === undefined) {
    throw new UsageError("--url requires --print-config");
  }
  return command;
}

function parseOptions(args: readonly string[]) {
  try {
    return parseArgs({
      args: withoutSeparator(args),
      options: OPTIONS,
      allowPositionals: true,
    });
  } catch (error) {
    // The other sentences explain how to pass values that begin with a hyphen.
    const [message] = (error as Error).message.split(". ", 1);
    throw new UsageError(oneLine(message!));
  }
}

/** Drops a leading "--" before an option. Task runners require it to pass options on. */
function withoutSeparator([first, ...rest]: readonly string[]): string[] {
  if (first === undefined) return [];
  const [, name] = /^--([\w-]+)/.exec(rest[0] ?? "") ?? [];
  const isPassedOn = first === "--" && name !== undefined &&
    Object.hasOwn(OPTIONS, name);
  return isPassedOn ? rest : [first, ...rest];
}
