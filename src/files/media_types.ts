/**
 * Media types of files, and the contents of files as MCP resources.
 *
 * @module
 */

import type { SkillFileContent } from "./types.ts";

/**
 * The file name extensions and whole file names that are common in skills, in
 * lowercase. Source code is always text, regardless of the type that is
 * registered for it.
 *
 * @see {@link https://www.iana.org/assignments/media-types}
 */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/epub+zip": ".epub",
  "application/gzip": ".gz .tgz",
  "application/json": ".json .excalidraw .map",
  "application/ld+json": ".jsonld",
  "application/msword": ".doc",
  "application/pdf": ".pdf",
  "application/rtf": ".rtf",
  "application/toml": ".toml",
  "application/vnd.apache.parquet": ".parquet",
  "application/vnd.ms-excel": ".xls",
  "application/vnd.ms-powerpoint": ".ppt",
  "application/vnd.oasis.opendocument.presentation": ".odp",
  "application/vnd.oasis.opendocument.spreadsheet": ".ods",
  "application/vnd.oasis.opendocument.text": ".odt",
  "application/vnd.openxmlformats-officedocument.presentationml.presentation":
    ".pptx",
  "application/vnd.openxmlformats-officedocument.presentationml.template":
    ".potx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": ".xlsx",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.template":
    ".xltx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.document":
    ".docx",
  "application/vnd.openxmlformats-officedocument.wordprocessingml.template":
    ".dotx",
  "application/vnd.sqlite3": ".sqlite .sqlite3",
  "application/wasm": ".wasm",
  "application/x-7z-compressed": ".7z",
  "application/x-bzip2": ".bz2",
  "application/x-ipynb+json": ".ipynb",
  "application/x-ndjson": ".jsonl .ndjson",
  "application/x-tar": ".tar",
  "application/x-xz": ".xz",
  "application/xml": ".xml .drawio .plist .xsd .xsl .xslt",
  "application/yaml": ".yaml .yml",
  "application/zip": ".zip .skill .whl",
  "audio/flac": ".flac",
  "audio/mp4": ".m4a",
  "audio/mpeg": ".mp3",
  "audio/ogg": ".ogg .opus",
  "audio/wav": ".wav",
  "font/otf": ".otf",
  "font/ttf": ".ttf",
  "font/woff": ".woff",
  "font/woff2": ".woff2",
  "image/avif": ".avif",
  "image/bmp": ".bmp",
  "image/gif": ".gif",
  "image/heic": ".heic",
  "image/jpeg": ".jpg .jpeg",
  "image/png": ".png",
  "image/svg+xml": ".svg",
  "image/tiff": ".tif .tiff",
  "image/vnd.microsoft.icon": ".ico",
  "image/webp": ".webp",
  "text/css": ".css",
  "text/csv": ".csv",
  "text/html": ".html .htm",
  "text/javascript": ".js .cjs .jsx .mjs",
  "text/markdown": ".md .markdown .mdc .mdx",
  "text/plain": ".txt .cfg .conf .ini .log .properties",
  "text/tab-separated-values": ".tsv",
  "text/typescript": ".ts .cts .mts .tsx",
  "text/x-bat": ".bat .cmd",
  "text/x-bibtex": ".bib",
  "text/x-c": ".c .h",
  "text/x-c++": ".cc .cpp .cxx .hh .hpp .hxx",
  "text/x-clojure": ".clj .cljc .cljs .edn",
  "text/x-cmake": ".cmake",
  "text/x-csharp": ".cs",
  "text/x-dart": ".dart",
  "text/x-diff": ".diff .patch",
  "text/x-dockerfile": "dockerfile containerfile .dockerfile",
  "text/x-elixir": ".ex .exs",
  "text/x-erlang": ".erl .hrl",
  "text/x-go": ".go",
  "text/x-graphql": ".graphql .gql",
  "text/x-groovy": ".gradle .groovy jenkinsfile",
  "text/x-haskell": ".hs",
  "text/x-java": ".java",
  "text/x-julia": ".jl",
  "text/x-kotlin": ".kt .kts",
  "text/x-less": ".less",
  "text/x-lua": ".lua",
  "text/x-makefile": "makefile gnumakefile .mk",
  "text/x-nix": ".nix",
  "text/x-perl": ".pl .pm",
  "text/x-php": ".php",
  "text/x-powershell": ".ps1 .psd1 .psm1",
  "text/x-protobuf": ".proto",
  "text/x-python": ".py .pyi .pyw",
  "text/x-r": ".r .rmd",
  "text/x-rst": ".rst",
  "text/x-ruby": ".rb gemfile rakefile",
  "text/x-rust": ".rs",
  "text/x-sass": ".sass .scss",
  "text/x-scala": ".scala",
  "text/x-shellscript": ".sh .bash .fish .ksh .zsh",
  "text/x-solidity": ".sol",
  "text/x-sql": ".sql",
  "text/x-svelte": ".svelte",
  "text/x-swift": ".swift",
  "text/x-terraform": ".tf .tfvars",
  "text/x-tex": ".tex .cls .sty",
  "text/x-vue": ".vue",
  "text/x-zig": ".zig",
  "video/mp4": ".mp4",
  "video/quicktime": ".mov",
  "video/webm": ".webm",
};

/** Media types by extension or file name. Created on first use to keep startup short. */
let mediaTypes: ReadonlyMap<string, string> | undefined;

function createMediaTypes(): ReadonlyMap<string, string> {
  return new Map(
    Object.entries(EXTENSIONS).flatMap(([type, extensions]) =>
      extensions.split(" ").map((extension) => [extension, type] as const)
    ),
  );
}

/**
 * Returns the media type that the name of a file implies, if any.
 *
 * @param path The file's path, with `/` as the separator.
 */
export function mediaTypeOfName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  mediaTypes ??= createMediaTypes();
  return mediaTypes.get(name.slice(Math.max(name.lastIndexOf("."), 0)));
}

/**
 * Returns the media type of a file. If the name implies none, the type depends
 * on the content: UTF-8 is plain text.
 */
export function mediaTypeOf(
  { path, text }: Pick<SkillFileContent, "path" | "text">,
): string {
  const contentType = text === undefined
    ? "application/octet-stream"
    : "text/plain";
  return mediaTypeOfName(path) ?? contentType;
}

/** The contents of a resource: the exact text of the file, or its bytes in base64. */
type ResourceContents =
  | { uri: string; mimeType: string; text: string }
  | { uri: string; mimeType: string; blob: string };

export function resourceContents(
  uri: string,
  file: SkillFileContent,
): ResourceContents {
  const mimeType = mediaTypeOf(file);
  const { text, bytes } = file;
  return text === undefined
    ? { uri, mimeType, blob: bytes.toBase64() }
    : { uri, mimeType, text };
}
