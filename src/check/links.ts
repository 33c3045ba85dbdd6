/** The links and paths in a skill's Markdown that lead to no file that it serves. */

import { parser } from "npm:@lezer/markdown@^1";
import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { basename, dirname, normalize } from "../fs/paths.ts";
import { editDistance, MAX_LENGTHS, normalizeText, quote } from "../text.ts";
import { MAX_PER_FILE } from "./field_lines.ts";

/** A path in one of the usual directories, alone or behind an interpreter and its options. */
const USUAL_PATH =
  /^(?:[\w.+-]+ (?:-[\w-]+ )*)?((?:\.\/)?(?:scripts|references|assets)\/[\w./-]*\w\.\w+)(?=\s|$)/;

/** A link that is not a relative path: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^[/#?~@[]|[\\:{}$*|]|\.\.\./;

interface Link {
  readonly noun: "link" | "path";
  readonly written: string;
  /** The paths in the skill that it can mean, the literal one first. */
  readonly paths: readonly string[];
  readonly from: number;
}

/** Describes the links in a Markdown file that lead to no served file, each once. */
export function listBrokenLinks(
  markdown: string,
  path: string,
  files: readonly string[],
): DiagnosticDetails[] {
  const text = withoutLongBlocks(markdown);
  const others = files.filter((file) => file !== path);
  const served = new Set([
    ".",
    ...files.flatMap((file) => withDirs(normalizeText(file))),
  ]);
  const broken = listLinks(text, dirname(path))
    .filter(({ paths }) => !paths.some((it) => served.has(it)));
  return [...Map.groupBy(broken, ({ paths: [path] }) => path).values()]
    .slice(0, MAX_PER_FILE)
    .map(([link]) => toDiagnostic(link!, text, others));
}

/** Lists a path, and those of the directories around it. */
function withDirs(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function listLinks(text: string, dir: string): Link[] {
  const links: Link[] = [];
  const add = (noun: Link["noun"], written: string, from: number) =>
    links.push({ noun, written, paths: pathsOf(written, dir), from });
  const addLink = (written: string, from: number) => {
    if (!NO_PATH.test(written)) add("link", written, from);
  };
  parser.parse(text).iterate({
    enter: ({ name, from, to }) => {
      if (["FencedCode", "CodeBlock", "Autolink"].includes(name)) return false;
      const part = text.slice(from, to);
      if (name === "LinkReference" && part.startsWith("[^")) return false;
      if (name === "URL") {
        addLink(part.replace(/^<|>$|\\(?=[!-/:-@[-`{-~])/g, ""), from);
      } else if (name.startsWith("HTML")) {
        for (const { index, groups } of matchTargets(part)) {
          addLink(groups!.double ?? groups!.single!, from + index);
        }
      } else if (name === "InlineCode") {
        const path = USUAL_PATH.exec(part.replaceAll("`", "").trim())?.[1];
        if (path !== undefined) add("path", path, from);
      }
      return undefined;
    },
  });
  return links;
}

/** What HTML shows as it is written, or not at all. */
const VERBATIM_HTML =
  /<(pre|code|script|style)\b[^]*?(?:<\/\1>|$(?![^]))|<!--[^]*?(?:-->|$(?![^]))/gi;

function matchTargets(html: string): Iterable<RegExpExecArray> {
  return html.replace(VERBATIM_HTML, (it) => " ".repeat(it.length))
    .matchAll(
      /(?<=\s)(?:src|href)=(?:"(?<double>[^"<>]*)"|'(?<single>[^'<>]*)')/gi,
    );
}

const CODE = ["FencedCode", "CodeBlock", "InlineCode", "HTMLBlock"];

/** Removes code from Markdown. Its lines stay where they are. */
export function withoutCode(markdown: string): string {
  const text = withoutLongBlocks(markdown);
  let rest = "";
  let last = 0;
  parser.parse(text).iterate({
    enter: ({ name, from, to }) => {
      if (!CODE.includes(name)) return;
      rest += text.slice(last, from) +
        text.slice(from, to).replace(/[^\n]+/g, "");
      last = to;
      return false;
    },
  });
  return rest + text.slice(last);
}

/** How much of a file is parsed, in characters. A tree takes a thousand times the memory. */
const MAX_LENGTH = 256 * 1024;

/** The parser takes quadratic time for longer blocks without an empty line. */
const MAX_BLOCK_LENGTH = 8_000;

const CODE_FENCE = /^[ \t>]*(?:`{3,}|~{3,})\w*/;

/** Returns the beginning of a text. Of very long blocks, only fences of code stay. */
function withoutLongBlocks(markdown: string): string {
  return markdown.slice(0, MAX_LENGTH)
    .replace(/\r\n?/g, "\n").split(/(\n[ \t]*\n)/)
    .map((block) =>
      block.length <= MAX_BLOCK_LENGTH
        ? block
        : block.replace(/.+/g, (line) => CODE_FENCE.exec(line)?.[0] ?? "")
    ).join("");
}

/** Returns the paths that a link can mean: relative to its directory, and to the skill. */
function pathsOf(written: string, dir: string): string[] {
  // The entities of characters that names of files have.
  const text = written.replaceAll("&amp;", "&")
    .replace(/&(?:apos|#39);/g, "'");
  const [encoded = ""] = text.split(/[?#]/, 1);
  const decoded = attempt(() => decodeURIComponent(encoded)) ?? encoded;
  const target = normalizeText(decoded.slice(0, MAX_LENGTHS.path));
  return [`${dir}/${target}`, target].map((path) =>
    normalize(path).replaceAll("\\", "/").replace(/\/$/, "")
  );
}

function toDiagnostic(
  { noun, written, paths: [path = ""], from }: Link,
  text: string,
  files: readonly string[],
): DiagnosticDetails {
  const line = text.slice(0, from).split("\n").length;
  const link = `the ${noun} ${quote(written)}`;
  if (path === ".." || path.startsWith("../")) {
    return {
      rule: "dead-link",
      line,
      reason:
        `${link} leads outside the skill, which serves only its own files`,
      fix:
        "copy the file into the skill, or, if it belongs to another skill, write the name of that one instead",
    };
  }
  const near = findNear(path, files);
  return {
    rule: "dead-link",
    line,
    reason: `${link} does not lead to a file that the skill serves`,
    fix: near === undefined
      ? "add the file, or write the path of one that is not hidden"
      : `did you mean ${quote(near)}?`,
  };
}

/** Finds the file that a path probably means: in another directory, or misspelled. */
function findNear(path: string, files: readonly string[]): string | undefined {
  const nameOf = (it: string) => normalizeText(basename(it)).toLowerCase();
  return files.find((file) => nameOf(file) === nameOf(path)) ??
    files.find((file) => editDistance(path, normalizeText(file), 2) <= 2);
}
