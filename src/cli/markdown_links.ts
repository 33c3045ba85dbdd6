/** The links in the Markdown of a skill that lead to no file of the skill. */

import { attempt } from "../attempt.ts";
import { basename, normalize } from "../fs/paths.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { editDistance, MAX_LENGTHS, quote } from "../text.ts";

const MAX_LINKS = 20;

/** Fenced code, which may be in a list or a quotation, or extend to the end of the text. */
const FENCED_CODE =
  /^[ \t>*+\-\d.)]*(?<fence>`{3,}|~{3,})[^]*?(?:\n[ \t>]*\k<fence>[ \t]*$|$(?![^]))/;

const SPAN = /(?<!\\)(?<ticks>`{1,2})[^`\n]+\k<ticks>/;

const COMMENT = /<!--[^]*?(?:-->|$(?![^]))/;

/** Whichever begins first hides the others inside it. */
const CODE = new RegExp(
  [FENCED_CODE, SPAN, COMMENT].map(({ source }) => source).join("|"),
  "gm",
);

/** The target of a link or an image, in angle brackets or plain. */
const LINK = /\]\((?:<([^<>\n]*)>|([^\s()<>]+))(?=\)|\s["'])/g;

/** A link that is not the path of a file: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^[/#?~@]|[\\:{}$*|]|\.\.\./;

interface Link {
  readonly written: string;
  readonly path: string;
  readonly line: number;
}

/** Describes the links that lead to no served file, each once. */
export function listBrokenLinks(
  markdown: string,
  files: readonly string[],
): DiagnosticDetails[] {
  const served = new Set([".", ...files.flatMap(withFolders)]);
  const broken = listLinks(markdown).filter(({ path }) => !served.has(path));
  return [...Map.groupBy(broken, ({ path }) => path).values()]
    .slice(0, MAX_LINKS)
    .map(([first]) => toLinkFault(first!, files));
}

function withFolders(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function listLinks(markdown: string): Link[] {
  const lines = withoutCode(markdown.replace(/\r\n?/g, "\n")).split("\n");
  return lines.flatMap((text, index) =>
    Array.from(
      text.matchAll(LINK),
      ([, bracketed, plain = ""]) => bracketed ?? plain,
    )
      .filter((link) => !NO_PATH.test(link))
      .map((written) => ({ written, path: pathOf(written), line: index + 1 }))
  );
}

function withoutCode(markdown: string): string {
  return markdown.replace(CODE, (code) => code.replace(/[^\n]+/g, ""));
}

/** Returns the path with slashes, but none at its end. */
function pathOf(written: string): string {
  const [encoded = ""] = written.split(/[?#]/, 1);
  const decoded = attempt(() => decodeURIComponent(encoded)) ?? encoded;
  // No file has a longer path, and normalizing it takes time.
  const target = decoded.slice(0, MAX_LENGTHS.path);
  return normalize(target).replaceAll("\\", "/").replace(/\/$/, "");
}

function toLinkFault(
  { written, path, line }: Link,
  files: readonly string[],
): DiagnosticDetails {
  const reason = `the link ${quote(written)} does not point to a served file`;
  return {
    rule: "broken-link",
    line,
    reason,
    fix: formatLinkFix(path, files),
  };
}

function formatLinkFix(path: string, files: readonly string[]): string {
  if (path.startsWith("../")) {
    return "name the other skill instead, because a path cannot leave its skill";
  }
  const near = findNear(path, files);
  return near === undefined
    ? "write the path of a file of the skill that is not hidden, or add the file"
    : `did you mean ${quote(near)}?`;
}

/** Finds the file that a path most likely means: in another folder, or misspelled. */
function findNear(path: string, files: readonly string[]): string | undefined {
  const name = basename(path).toLowerCase();
  return files.find((file) => basename(file).toLowerCase() === name) ??
    files.find((file) => editDistance(path, file, 2) <= 2);
}
