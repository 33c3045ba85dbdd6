/**
 * The names of the MCP clients that the command line accepts. They are apart
 * from the clients themselves, because the server does not need those.
 *
 * @module
 */

/** The clients of `--print-config`. */
export const CLIENT_NAMES = [
  "claude-code",
  "claude-desktop",
  "codex",
  "cursor",
  "vscode",
  "opencode",
  "gemini-cli",
  "copilot",
  "cline",
  "qwen-code",
  "kilo",
  "goose",
  "windsurf",
  "zed",
  "lm-studio",
  "kiro",
] as const;

/** A client of `--print-config`. */
export type ClientName = typeof CLIENT_NAMES[number];
