/**
 * The paths in the Markdown of a skill that lead to no file of the skill.
 *
 * @module
 */

import { attempt } from "../files/faults.ts";
import { normalize } from "../files/paths.ts";
import type { Fault } from "../problems.ts";
import { editDistance, quote } from "../text.ts";

/** The maximum number of paths that are reported for a skill. */
const MAX_PATHS = 20;

/** The maximum length of a path that can be one, in characters. */
const MAX_PATH_LENGTH = 4_096;

/** Fenced code, which may be in a list or a quotation. Without an end, it reaches to that of the text. */
const FENCED_CODE =
  /^[ \t>*+\-\d.)]*(?<fence>`{3,}|~{3,})[^]*?(?:\n[ \t>]*\k<fence>[ \t]*$|$(?![^]))/;

/** A code span, with its text. */
const SPAN = /(?<!\\)(?<ticks>`{1,2})(?<text>[^`\n]+)\k<ticks>/;

/** A comment. Without an end, it reaches to that of the text. */
const COMMENT = /<!--[^]*?(?:-->|$(?![^]))/;

/** What begins first hides the others in it. */
const CODE = new RegExp(
  [FENCED_CODE, SPAN, COMMENT].map(({ source }) => source).join("|"),
  "gm",
);
const SPANS = new RegExp(SPAN, "g");

/** The target of a link or an image, in angle brackets or plain. */
const LINK = /\]\((?:<([^<>\n]*)>|([^\s()<>]+))(?=\)|\s["'])/g;

/** What the path of a file of the skill does not contain: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^[/#?~@]|[\\:{}$*|]|\.\.\./;

/** A path in a code span: folders, and a file with an extension. */
const PATH = /^(?:\.\/)?[\w.-]+(?:\/[\w.-]+)*\/[\w-][\w.-]*\.[a-z]\w{0,7}$/i;

/** A path as it is written, and where it leads. */
interface WrittenPath {
  readonly written: string;
  readonly path: string;
  readonly line: number;
  readonly isLink: boolean;
}

/** Describes the links and the paths in code spans that lead to no served file, each once. */
export function findBrokenPaths(
  markdown: string,
  files: readonly string[],
): Fault[] {
  const served = new Set([".", ...files.flatMap(withFolders)]);
  const broken = findPaths(markdown).filter(({ path, isLink }) => {
    const [folder = ""] = path.split("/", 1);
    return !served.has(path) && (isLink || served.has(folder));
  });
  return [...Map.groupBy(broken, ({ path }) => path).values()]
    .slice(0, MAX_PATHS)
    .map(([first]) => describePath(first!, files));
}

/** Lists the path of a file, and those of the folders around it. */
function withFolders(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

/** Finds the relative links, and the paths in code spans, outside of fenced code and comments. */
function findPaths(markdown: string): WrittenPath[] {
  const lines = withoutFencedCode(markdown.replace(/\r\n?/g, "\n")).split("\n");
  return lines.flatMap((text, index) => {
    const line = index + 1;
    const spans = Array.from(
      text.matchAll(SPANS),
      ({ groups }) => groups!.text!,
    )
      .filter((span) => span.length <= MAX_PATH_LENGTH && PATH.test(span));
    const links = Array.from(
      text.replace(SPANS, "").matchAll(LINK),
      ([, bracketed, plain = ""]) => bracketed ?? plain,
    ).filter((link) => !NO_PATH.test(link));
    return [
      ...links.map((it) => createPath(it, line, true)),
      ...spans.map((it) => createPath(it, line, false)),
    ];
  });
}

/** Removes fenced code and comments, but not their lines. */
function withoutFencedCode(markdown: string): string {
  return markdown.replace(CODE, (code, ...rest) => {
    const { ticks } = rest.at(-1) as { ticks?: string };
    return ticks === undefined ? code.replace(/[^\n]+/g, "") : code;
  });
}

/** Finds where a path leads: normalized to slashes, but none at its end. */
function createPath(
  written: string,
  line: number,
  isLink: boolean,
): WrittenPath {
  const [encoded = ""] = written.split(/[?#]/, 1);
  const decoded = isLink && attempt(() => decodeURIComponent(encoded));
  // No file has a longer path, and normalizing it takes time.
  const target = (decoded || encoded).slice(0, MAX_PATH_LENGTH);
  const path = normalize(target).replaceAll("\\", "/").replace(/\/$/, "");
  return { written, path, line, isLink };
}

function describePath(
  { written, path, line, isLink }: WrittenPath,
  files: readonly string[],
): Fault {
  const hint = findAdvice(path, files);
  if (isLink) {
    const reason = `the link ${quote(written)} does not point to a served file`;
    return { rule: "broken-link", line, reason, hint };
  }
  const reason = `there is no file ${quote(written)} in the skill`;
  return { rule: "broken-path", line, reason, hint };
}

function findAdvice(path: string, files: readonly string[]): string {
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
  const name = nameIn(path).toLowerCase();
  return files.find((file) => nameIn(file).toLowerCase() === name) ??
    files.find((file) => editDistance(path, file, 2) <= 2);
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf("/") + 1);
}
