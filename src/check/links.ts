/** The links and paths in the Markdown of a skill that lead to no file that it serves. */

import { attempt } from "../attempt.ts";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { basename, dirname, normalize } from "../fs/paths.ts";
import { editDistance, quote } from "../text.ts";

/** The maximum number of broken links that are reported of a file. */
const MAX_LINKS = 20;

/** Fenced code, which may be in a list or a quotation, or extend to the end of the text. */
const FENCED_CODE =
  /^[ \t>*+\-\d.)]*(?<fence>`{3,}|~{3,})[^]*?(?:\n[ \t>]*\k<fence>[ \t]*$|$(?![^]))/;

const SPAN = /(?<!\\)(?<ticks>`{1,2})(?<code>[^`\n]+)\k<ticks>/;

const SPANS = new RegExp(SPAN, "g");

const COMMENT = /<!--[^]*?(?:-->|$(?![^]))/;

/** Whichever begins first hides the others inside it. */
const CODE = new RegExp(
  [FENCED_CODE, SPAN, COMMENT].map(({ source }) => source).join("|"),
  "gm",
);

/** The target of a link or an image, in angle brackets or plain. */
const LINK = /\]\((?:<([^<>\n]*)>|([^\s()<>]+))(?=\)|\s["'])/g;

/** A path in one of the usual directories, alone or behind an interpreter and its options. */
const USUAL_PATH =
  /^(?:[\w.+-]+ (?:-{1,2}[\w-]+ )*)?((?:\.\/)?(?:scripts|references|assets)\/[\w./-]*\w\.\w+)(?=\s|$)/;

/** A link that is not the path of a file: a URL, an absolute path, or a placeholder. */
const NO_PATH = /^[/#?~@]|[\\:{}$*|]|\.\.\./;

/** The longest path that a disk has. Normalizing a longer one takes time. */
const MAX_PATH_LENGTH = 4_096;

interface Link {
  readonly written: string;
  /** The paths in the skill that it may mean, the literal one first. */
  readonly paths: readonly string[];
  readonly line: number;
  readonly noun: "link" | "path";
}

/**
 * Describes the links in a Markdown file that lead to no served file, each once.
 *
 * @param path The path of the file in its skill.
 * @param files The paths of all files of the skill.
 * @param isInSkill Whether a path that leads out of the skill, such as
 *   `../git/SKILL.md`, leads to another one.
 */
export function listBrokenLinks(
  markdown: string,
  path: string,
  files: readonly string[],
  isInSkill: (path: string) => boolean = () => false,
): DiagnosticDetails[] {
  const others = files.filter((file) => file !== path);
  const served = new Set([".", ...files.flatMap(withDirs)]);
  const broken = listLinks(markdown, dirname(path))
    .filter(({ paths }) => !paths.some((it) => served.has(it)));
  return [...Map.groupBy(broken, ({ paths: [path] }) => path).values()]
    .slice(0, MAX_LINKS)
    .map(([link]) => toDiagnostic(link!, others, isInSkill));
}

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

/** Keeps code spans, which may be paths. Of other code, only the line breaks are left. */
function withoutText(code: string): string {
  return /^`{1,2}[^`]/.test(code) ? code : code.replace(/[^\n]+/g, "");
}

/** Returns the paths that a link may mean: relative to its directory, and to the skill. */
function pathsOf(written: string, dir: string): string[] {
  const [encoded = ""] = written.split(/[?#]/, 1);
  const decoded = attempt(() => decodeURIComponent(encoded)) ?? encoded;
  const target = decoded.slice(0, MAX_PATH_LENGTH);
  return [`${dir}/${target}`, target].map((path) =>
    normalize(path).replaceAll("\\", "/").replace(/\/$/, "")
  );
}

function toDiagnostic(
  { written, paths: [path = ""], line, noun }: Link,
  files: readonly string[],
  isInSkill: (path: string) => boolean,
): DiagnosticDetails {
  const rule = "broken-link";
  if (path === ".." || path.startsWith("../")) {
    return {
      rule,
      line,
      reason: `the ${noun} ${
        quote(written)
      } leads outside the skill, which serves only its own files`,
      fix: isInSkill(path)
        ? "write the name of that skill instead"
        : "copy the file into the skill, and link to the copy",
    };
  }
  const near = findNear(path, files);
  return {
    rule,
    line,
    reason: `the ${noun} ${
      quote(written)
    } does not lead to a file that the skill serves`,
    fix: near === undefined
      ? "add the file, or write the path of one that is not hidden"
      : `did you mean ${quote(near)}?`,
  };
}

/** Finds the file that a path most likely means: in another directory, or misspelled. */
function findNear(path: string, files: readonly string[]): string | undefined {
  const name = basename(path).toLowerCase();
  return files.find((file) => basename(file).toLowerCase() === name) ??
    files.find((file) => editDistance(path, file, 2) <= 2);
}
