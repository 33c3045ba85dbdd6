/**
 * Media types of files, and the contents of files as MCP resources.
 *
 * @module
 */

import type { SkillFileContent } from "./types.ts";

/**
 * What the media types of files begin with whose extension is the rest: `.png` is
 * `image/png`. Source code is always text, regardless of the type that is
 * registered for it.
 *
 * @see {@link https://www.iana.org/assignments/media-types}
 */
const PREFIXES: Readonly<Record<string, string>> = {
  "application/": "json pdf rtf toml wasm xml yaml zip",
  "audio/": "flac ogg wav",
  "font/": "otf ttf woff woff2",
  "image/": "avif bmp gif heic jpeg png tiff webp",
  "text/": "css csv html",
  "text/x-":
    "bat cmake dart diff go graphql groovy java less lua nix php r sass scala sql svelte swift vue zig",
  "video/": "mp4 webm",
};

const OFFICE = "application/vnd.openxmlformats-officedocument";

/** The other extensions and whole file names that are common in skills, in lowercase. */
const EXTENSIONS: Readonly<Record<string, string>> = {
  "application/epub+zip": ".epub",
  "application/gzip": ".gz .tgz",
  "application/json": ".excalidraw .map",
  "application/ld+json": ".jsonld",
  "application/msword": ".doc",
  "application/vnd.apache.parquet": ".parquet",
  "application/vnd.ms-excel": ".xls",
  "application/vnd.ms-powerpoint": ".ppt",
  "application/vnd.oasis.opendocument.presentation": ".odp",
  "application/vnd.oasis.opendocument.spreadsheet": ".ods",
  "application/vnd.oasis.opendocument.text": ".odt",
  [`${OFFICE}.presentationml.presentation`]: ".pptx",
  [`${OFFICE}.presentationml.template`]: ".potx",
  [`${OFFICE}.spreadsheetml.sheet`]: ".xlsx",
  [`${OFFICE}.spreadsheetml.template`]: ".xltx",
  [`${OFFICE}.wordprocessingml.document`]: ".docx",
  [`${OFFICE}.wordprocessingml.template`]: ".dotx",
  "application/vnd.sqlite3": ".sqlite .sqlite3",
  "application/x-7z-compressed": ".7z",
  "application/x-bzip2": ".bz2",
  "application/x-ipynb+json": ".ipynb",
  "application/x-ndjson": ".jsonl .ndjson",
  "application/x-tar": ".tar",
  "application/x-xz": ".xz",
  "application/xml": ".drawio .plist .xsd .xsl .xslt",
  "application/yaml": ".yml",
  "application/zip": ".skill .whl",
  "audio/mp4": ".m4a",
  "audio/mpeg": ".mp3",
  "audio/ogg": ".opus",
  "image/jpeg": ".jpg",
  "image/svg+xml": ".svg",
  "image/tiff": ".tif",
  "image/vnd.microsoft.icon": ".ico",
  "text/html": ".htm",
  "text/javascript": ".js .cjs .jsx .mjs",
  "text/markdown": ".md .markdown .mdc .mdx",
  "text/plain": ".txt .cfg .conf .ini .log .properties",
  "text/tab-separated-values": ".tsv",
  "text/typescript": ".ts .cts .mts .tsx",
  "text/x-bat": ".cmd",
  "text/x-bibtex": ".bib",
  "text/x-c": ".c .h",
  "text/x-c++": ".cc .cpp .cxx .hh .hpp .hxx",
  "text/x-clojure": ".clj .cljc .cljs .edn",
  "text/x-csharp": ".cs",
  "text/x-diff": ".patch",
  "text/x-dockerfile": "dockerfile containerfile .dockerfile",
  "text/x-elixir": ".ex .exs",
  "text/x-erlang": ".erl .hrl",
  "text/x-graphql": ".gql",
  "text/x-groovy": ".gradle jenkinsfile",
  "text/x-haskell": ".hs",
  "text/x-julia": ".jl",
  "text/x-kotlin": ".kt .kts",
  "text/x-makefile": "makefile gnumakefile .mk",
  "text/x-perl": ".pl .pm",
  "text/x-powershell": ".ps1 .psd1 .psm1",
  "text/x-protobuf": ".proto",
  "text/x-python": ".py .pyi .pyw",
  "text/x-r": ".rmd",
  "text/x-rst": ".rst",
  "text/x-ruby": ".rb gemfile rakefile",
  "text/x-rust": ".rs",
  "text/x-sass": ".scss",
  "text/x-shellscript": ".sh .bash .fish .ksh .zsh",
  "text/x-solidity": ".sol",
  "text/x-terraform": ".tf .tfvars",
  "text/x-tex": ".tex .cls .sty",
  "video/quicktime": ".mov",
};

/** Media types by extension or file name. Created on first use to keep startup short. */
let mediaTypes: ReadonlyMap<string, string> | undefined;

function createMediaTypes(): ReadonlyMap<string, string> {
  const types = new Map<string, string>();
  for (const [prefix, names] of Object.entries(PREFIXES)) {
    for (const name of names.split(" ")) types.set(`.${name}`, prefix + name);
  }
  for (const [type, extensions] of Object.entries(EXTENSIONS)) {
    for (const extension of extensions.split(" ")) types.set(extension, type);
  }
  return types;
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
