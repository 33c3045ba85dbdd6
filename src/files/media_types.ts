/**
 * Media types of files, and the contents of files as MCP resources.
 *
 * @module
 */

import type { SkillFileContent } from "./types.ts";

/**
 * What the media types of files begin with whose extension is the rest: `.png` is
 * `image/png`.
 *
 * @see {@link https://www.iana.org/assignments/media-types}
 */
const PREFIXES: Readonly<Record<string, string>> = {
  "application/": "json pdf rtf toml wasm xml yaml zip",
  "audio/": "flac ogg wav",
  "font/": "otf ttf woff woff2",
  "image/": "avif bmp gif heic jpeg png tiff webp",
  "text/": "css csv html",
  "video/": "mp4 webm",
};

const OFFICE = "application/vnd.openxmlformats-officedocument";

/**
 * The other extensions that are common in skills. Source code is always text,
 * regardless of the type that is registered for its extension.
 */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/gzip": "gz tgz",
  "application/json": "ipynb jsonc map",
  "application/msword": "doc",
  "application/vnd.ms-excel": "xls",
  "application/vnd.ms-powerpoint": "ppt",
  [`${OFFICE}.presentationml.presentation`]: "pptx",
  [`${OFFICE}.presentationml.template`]: "potx",
  [`${OFFICE}.spreadsheetml.sheet`]: "xlsx",
  [`${OFFICE}.spreadsheetml.template`]: "xltx",
  [`${OFFICE}.wordprocessingml.document`]: "docx",
  [`${OFFICE}.wordprocessingml.template`]: "dotx",
  "application/vnd.sqlite3": "sqlite sqlite3",
  "application/x-ndjson": "jsonl ndjson",
  "application/x-tar": "tar",
  "application/xml": "drawio plist xsd xsl xslt",
  "application/yaml": "yml",
  "application/zip": "skill whl",
  "audio/mp4": "m4a",
  "audio/mpeg": "mp3",
  "image/jpeg": "jpg",
  "image/svg+xml": "svg",
  "image/vnd.microsoft.icon": "ico",
  "text/html": "htm",
  "text/javascript": "js cjs jsx mjs",
  "text/markdown": "md markdown mdc mdx",
  "text/plain":
    "txt bat bib c cc cfg cls cmake cmd conf cpp cs dart diff dockerfile erl ex exs go gql gradle graphql h hpp hs ini java jl kt kts less log lua mk nix patch php pl pm properties ps1 psd1 psm1 r rb rmd rs rst sass scala scss sol sql svelte swift tex tf tfvars vue zig",
  "text/tab-separated-values": "tsv",
  "text/typescript": "ts cts mts tsx",
  "text/x-python": "py pyi pyw",
  "text/x-shellscript": "sh bash fish ksh zsh",
  "video/quicktime": "mov",
};

/** Media types by extension. Created on first use to keep startup short. */
let mediaTypes: ReadonlyMap<string, string> | undefined;

function createMediaTypes(): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const [prefix, extensions] of Object.entries(PREFIXES)) {
    for (const name of extensions.split(" ")) types.set(name, prefix + name);
  }
  for (const [type, extensions] of Object.entries(EXTENSIONS)) {
    for (const name of extensions.split(" ")) types.set(name, type);
  }
  return types;
}

/**
 * Returns the media type that the name of a file implies, if any.
 *
 * @param path The file's path, with `/` as the separator.
 */
export function mediaTypeOfName(path: string): string | undefined {
  const [, extension = ""] = /\.([^./]*)$/.exec(path) ?? [];
  mediaTypes ??= createMediaTypes();
  return mediaTypes.get(extension.toLowerCase());
}

/**
 * Returns the media type of a file. If the name implies none, the type depends
 * on the content: UTF-8 is plain text.
 */
export function mediaTypeOf(
  { path, text }: Pick<SkillFileContent, "path" | "text">,
): string {
  return mediaTypeOfName(path) ??
    (text === undefined ? "application/octet-stream" : "text/plain");
}

/** Returns the contents of a resource: the exact text of the file, or its bytes in base64. */
export function resourceContents(
  uri: string,
  file: SkillFileContent,
): { uri: string; mimeType: string } & ({ text: string } | { blob: string }) {
  const mimeType = mediaTypeOf(file);
  const { text, bytes } = file;
  return text === undefined
    ? { uri, mimeType, blob: bytes.toBase64() }
    : { uri, mimeType, text };
}
