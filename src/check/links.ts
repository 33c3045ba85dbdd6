/** The links and paths in a skill's Markdown that lead to no file that it serves. */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { basename, dirname, normalize } from "../fs/paths.ts";
import { editDistance, MAX_LENGTHS, quote } from "../text.ts";

/** The maximum number of broken links to report in a file. */
const MAX_LINKS = 20;

/** Fenced code, perhaps in a list or a quotation, or without an end. */
const FENCED_CODE =
  /^[ \t>*+\-\d.)]*(?<fence>`{3,}|~{3,})[^]*?(?:\n[ \t>]*\k<fence>[ \t]*$|$(?![^]))/;

const SPAN = /(?<!\\)(?<ticks>`{1,2})(?<code>[^`\n]+)\k<ticks>/;

const SPANS = new RegExp(SPAN, "g");

const COMMENT = /<!--[^]*?(?:-->|$(?![^]))/;

/** Whichever of these begins first hides the others inside it. */
const CODE = new RegExp(
  [FENCED_CODE, SPAN, COMMENT].map(({ source }) => source).join("|"),
  "gm",
);

/** The target of a link or an image, in angle brackets or plain. */
const LINK = /\]\((?:<([^<>\n]*)>|([^\s()<>]+))(?=\)|\s["'])/g;

/** A path in one of the usual directories, alone or behind an interpreter and its options. */
const USUAL_PATH =
  /^(?:[\w.+-]+ (?:-[\w-]+ )*)?((?:\.\/)?(?:scripts|references|assets)\/[\w./-]*\w\.\w+)(?=\s|$)/;

/** A link that is not a relative path: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^[/#?~@]|[\\:{}$*|]|\.\.\./;

interface Link {
  readonly written: string;
  /** The paths in the skill that it can mean, the literal one first. */
  readonly paths: readonly string[];
  readonly line: number;
  readonly noun: "link" | "path";
}

/**
 * Describes the links in a Markdown file that lead to no served file, each once.
 *
 * @param path The path of the file in its skill.
 * @param files The paths of all files of the skill.
 */
export function listBrokenLinks(
  markdown: string,
  path: string,
  files: readonly string[],
): DiagnosticDetails[] {
  const others = files.filter((file) => file !== path);
  const served = new Set([".", ...files.flatMap(withDirs)]);
  const broken = listLinks(markdown, dirname(path))
    .filter(({ paths }) => !paths.some((it) => served.has(it)));
  return [...Map.groupBy(broken, ({ paths: [path] }) => path).values()]
    .slice(0, MAX_LINKS)
    .map(([link]) => toDiagnostic(link!, others));
}

/** Lists a path, and those of the directories around it. */
function withDirs(path: string): string[] {
  const names = path.split("/");
  return names.map((_, index) => names.slice(0, index + 1).join("/"));
}

function listLinks(markdown: string, dir: string): Link[] {
  const text = markdown.replace(/\r\n?/g, "\n").replace(CODE, withoutText);
  return text.split("\n").flatMap((text, index): Link[] => {
    const line = index + 1;
    const links = Array.from(
      text.replace(SPANS, "").matchAll(LINK),
      ([, bracketed, plain = ""]) => bracketed ?? plain,
    ).filter((written) => !NO_PATH.test(written));
    const usual = Array.from(
      text.matchAll(SPANS),
      ({ groups }) => USUAL_PATH.exec(groups!.code!)?.[1] ?? [],
    ).flat();
    const toLink = (noun: Link["noun"]) => (written: string): Link => ({
      written,
      paths: pathsOf(written, dir),
      line,
      noun,
    });
    return [...links.map(toLink("link")), ...usual.map(toLink("path"))];
  });
}

/** Keeps code spans, which can be paths. Other code keeps only its line breaks. */
function withoutText(code: string): string {
  return /^`{1,2}[^`]/.test(code) ? code : code.replace(/[^\n]+/g, "");
}

/** Returns the paths that a link can mean: relative to its directory, and to the skill. */
function pathsOf(written: string, dir: string): string[] {
  const [encoded = ""] = written.split(/[?#]/, 1);
  const decoded = attempt(() => decodeURIComponent(encoded)) ?? encoded;
  const target = decoded.slice(0, MAX_LENGTHS.path);
  return [`${dir}/${target}`, target].map((path) =>
    normalize(path).replaceAll("\\", "/").replace(/\/$/, "")
  );
}

function toDiagnostic(
  { written, paths: [path = ""], line, noun }: Link,
  files: readonly string[],
): DiagnosticDetails {
  const link = `the ${noun} ${quote(written)}`;
  if (path === ".." || path.startsWith("../")) {
    return {
      rule: "broken-link",
      line,
      reason:
        `${link} leads outside the skill, which serves only its own files`,
      fix:
        "copy the file into the skill, or, if it belongs to another skill, write the name of that one instead",
    };
  }
  const near = findNear(path, files);
  return {
    rule: "broken-link",
    line,
    reason: `${link} does not lead to a file that the skill serves`,
    fix: near === undefined
      ? "add the file, or write the path of one that is not hidden"
      : `did you mean ${quote(near)}?`,
  };
}

/** Finds the file that a path probably means: in another directory, or misspelled. */
function findNear(path: string, files: readonly string[]): string | undefined {
  const name = basename(path).toLowerCase();
  return files.find((file) => basename(file).toLowerCase() === name) ??
    files.find((file) => editDistance(path, file, 2) <= 2);
}
