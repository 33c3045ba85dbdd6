/**
 * What the program tells people who start it in a terminal: the help text, the
 * usage, and what a server without a client waits for.
 *
 * @module
 */

import { CLIENT_NAMES } from "./clients.ts";
import { describeOptions } from "./options.ts";
import {
  commandFor,
  DOCUMENTATION_URL,
  type Program,
  runningProgram,
  VERSION,
} from "./program.ts";
import { count, oneLine } from "../text.ts";

export function helpText(program: Program = runningProgram()): string {
  return `skill-server ${VERSION} finds Agent Skills and serves them to an MCP client over
stdin and stdout.

Usage:
  ${commandFor(program)} [options] [DIR...]

Without DIR, it searches ./.agent/skills, ~/.agent/skills, ./.claude/skills, and
~/.claude/skills. With DIR, it searches DIR, DIR/.claude/skills, and DIR/skills.
Separate several with spaces or commas.

Examples:
  List your skills:
    ${commandFor(program, "--list")}
  Print the configuration for Claude Code:
    ${commandFor(program, "--print-config", "claude-code")}

Options:
${describeOptions().map((lines) => `  ${lines.join("\n      ")}`).join("\n")}

Clients:
  ${CLIENT_NAMES.join(", ")}

Environment:
  SKILLS_DIR
      used if no DIR is given, or in addition to DIR with --tools skilljack;
      separate several with commas
  MAX_FILE_SIZE_MB
      used if --max-file-size is not given

Documentation: ${DOCUMENTATION_URL}
`;
}

/** Returns what an invalid command line prints. */
export function usageText(message: string): string {
  return `skill-server: ${
    oneLine(message)
  }\n\nAdd --help to see the options.\n`;
}

/** Returns what a server in a terminal prints instead of waiting silently. */
export function welcomeText(skills: number): string {
  const program = runningProgram();
  const found = count(skills, "skill");
  return `
This is an MCP server with ${found}. It waits for a client on stdin, so it is
usually started by one. Press Ctrl+C to exit.

To list the skills, run:
  ${commandFor(program, "--list")}

To print the configuration for a client, such as claude-code, run:
  ${commandFor(program, "--print-config", "claude-code")}

To see all options, run:
  ${commandFor(program, "--help")}

`;
}
