/** Media types of files, and file contents as MCP resources. */

import type { SkillFileContent } from "../skills/types.ts";

const OFFICE = "application/vnd.openxmlformats-officedocument";

/**
 * The file extensions of the types that hosts handle. Any other text is plain text.
 *
 * @see {@link https://www.iana.org/assignments/media-types}
 */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/gzip": "gz tgz",
  "application/json": "json",
  "application/pdf": "pdf",
  [`${OFFICE}.presentationml.presentation`]: "pptx",
  [`${OFFICE}.spreadsheetml.sheet`]: "xlsx",
  [`${OFFICE}.wordprocessingml.document`]: "docx",
  "application/xml": "xml",
  "application/yaml": "yaml yml",
  "application/zip": "zip",
  "audio/mpeg": "mp3",
  "audio/wav": "wav",
  "image/gif": "gif",
  "image/jpeg": "jpeg jpg",
  "image/png": "png",
  "image/svg+xml": "svg",
  "image/webp": "webp",
  "text/css": "css",
  "text/csv": "csv",
  "text/html": "html htm",
  "text/javascript": "js mjs cjs",
  "text/markdown": "md",
  "text/plain": "txt",
  "text/typescript": "ts",
  "text/x-python": "py",
  "text/x-shellscript": "sh bash",
  "video/mp4": "mp4",
  "video/webm": "webm",
};

export function mediaTypeOfName(path: string): string | undefined {
  const [, extension = ""] = /\.([a-z0-9]+)$/i.exec(path) ?? [];
  const name = extension.toLowerCase();
  return Object.keys(EXTENSIONS)
    .find((type) => EXTENSIONS[type]!.split(" ").includes(name));
}

export function resourceContents(
  uri: string,
  { path, text, bytes }: Pick<SkillFileContent, "path" | "text" | "bytes">,
): { uri: string; mimeType: string } & ({ text: string } | { blob: string }) {
  const unknown = text === undefined
    ? "application/octet-stream"
    : "text/plain";
  const mimeType = mediaTypeOfName(path) ?? unknown;
  return text === undefined
    ? { uri, mimeType, blob: bytes.toBase64() }
    : { uri, mimeType, text };
}
