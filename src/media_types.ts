// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * What a file is: its media type, and its contents as an MCP resource.
 *
 * @module
 */

import type { SkillFileContent } from "./types.ts";

/**
 * Returns the media type that the ending of a file's name stands for.
 */
export async function mimeTypeOf(path: string): Promise<string | undefined> {
  // In a skill this is TypeScript. The registry knows only a video format.
  if (/\.[cm]?tsx?$/i.test(path)) return "text/typescript";
  const { default: mime } = await import("npm:mime@^4");
  return mime.getType(path) ?? undefined;
}

/** What `resources/read` and embedded resources hold: text to the letter, or base64. */
type ResourceContents =
  | { uri: string; mimeType?: string; text: string }
  | { uri: string; mimeType?: string; blob: string };

/**
 * Makes the contents of a resource of a file.
 */
export async function resourceContents(
  uri: string,
  { path, text, bytes }: SkillFileContent,
): Promise<ResourceContents> {
  const mimeType = await mimeTypeOf(path);
  return text === undefined
    ? { uri, mimeType, blob: bytes.toBase64() }
    : { uri, mimeType, text };
}
