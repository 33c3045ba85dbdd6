/**
 * Finds links in Markdown.
 *
 * @module
 */

export interface Link {
  /** The target as written, with escapes resolved. */
  readonly target: string;
  /** The line, from 0. */
  readonly line: number;
}

/**
 * Finds the links and images in Markdown that are neither in code nor in
 * comments. Unlike some Markdown parsers, it takes linear time.
 */
export function* findLinks(markdown: string): Generator<Link> {
  const text = markdown.replaceAll("\r\n", "\n");
  const prose = withoutComments(withoutSpans(withoutFences(text)))
    // An escaped bracket does not start a link.
    .replace(/\\\[[^[\]\n]*\](?=\()/g, "");
  for (const [line, text] of prose.split("\n").entries()) {
    for (const pattern of [LINK, DEFINITION]) {
      for (const [, quoted, plain] of text.matchAll(pattern)) {
        yield { target: unescapeTarget(quoted ?? plain!), line };
      }
    }
  }
}

/** Resolves backslash escapes and `&amp;` in a target. */
function unescapeTarget(target: string): string {
  return target.replace(/\\([!-/:-@[-`{-~])/g, "$1").replaceAll("&amp;", "&");
}

const TARGET = String
  .raw`(?:<([^<>]*)>|((?:[^\s<>()\\]|\\.|\((?:[^\s<>()\\]|\\.)*\))+))`;

const TITLE = String.raw`(?:\s+(?:"[^"]*"|'[^']*'|\([^()]*\)))?\s*`;

/** The end of a link or an image, with its target. */
const LINK = new RegExp(String.raw`(?<!\\)\]\(\s*${TARGET}${TITLE}\)`, "g");

/** A link reference definition, with its target. */
const DEFINITION = new RegExp(
  String.raw`^ {0,3}\[(?!\^)[^\]]+\]:\s*${TARGET}${TITLE}$`,
  "g",
);

/** Removes fenced code, but keeps its line breaks. */
function withoutFences(markdown: string): string {
  let fence: { mark: string; isQuoted: boolean } | undefined;
  const lines = markdown.split("\n").map((line) => {
    const [, place, mark, rest] = FENCE.exec(line) ?? [];
    const isQuoted = line.trimStart().startsWith(">");
    if (fence?.isQuoted && !isQuoted) fence = undefined;
    if (fence !== undefined) {
      const isEnd = mark?.startsWith(fence.mark) && rest!.trim() === "";
      if (isEnd) fence = undefined;
      return "";
    }
    const isSpan = mark?.startsWith("`") && rest!.includes("`");
    if (mark === undefined || isSpan) return line;
    fence = { mark, isQuoted };
    return place!;
  });
  return lines.join("\n");
}

/**
 * A code fence, which can be in a block quote or a list item. The groups are
 * the text before it, the fence, and the text after it.
 */
const FENCE = /^(\s*(?:(?:>|[-*+]|\d{1,9}[.)])\s*)*)(`{3,}|~{3,})([^]*)$/;

/**
 * Removes code spans (from a run of backticks to the next run of the same
 * length, without a blank line between them), but keeps their line breaks.
 */
function withoutSpans(markdown: string): string {
  return markdown.split(/(\n\s*\n)/).map((paragraph) => {
    const runs = [...paragraph.matchAll(/`+/g)];
    const last = new Map(runs.map(([{ length }], index) => [length, index]));
    let prose = "";
    let end = 0;
    for (let i = 0; i < runs.length; i++) {
      const { index, 0: run } = runs[i]!;
      // The first backtick of an opening run can be escaped.
      const start = isEscaped(paragraph, index) ? index + 1 : index;
      const length = index + run.length - start;
      // Without this test, looking for the ends of many spans takes long.
      if ((last.get(length) ?? i) <= i) continue;
      do i++; while (runs[i]![0].length !== length);
      prose += paragraph.slice(end, start);
      end = runs[i]!.index + length;
      prose += blankOut(paragraph.slice(start, end));
    }
    return prose + paragraph.slice(end);
  }).join("");
}

/** Whether the character at an index is escaped by a backslash. */
function isEscaped(text: string, index: number): boolean {
  let start = index;
  while (text[start - 1] === "\\") start--;
  return (index - start) % 2 === 1;
}

/** Removes HTML comments, but keeps their line breaks. */
function withoutComments(markdown: string): string {
  // Looking for the end of many comments without an end takes long.
  const end = markdown.lastIndexOf("-->") + "-->".length;
  return markdown.slice(0, end).replace(/<!--[^]*?-->/g, blankOut) +
    markdown.slice(end);
}

function blankOut(text: string): string {
  return text.replace(/[^\n]+/g, "");
}

/**
 * Returns the path in the skill that a target refers to, or `undefined` if the
 * target is not a relative path.
 */
export function pathOfTarget(target: string): string | undefined {
  if (/^(?:[a-z][a-z\d+.-]*:|[/\\#?~@])|[{}$*|]|\.\.\./i.test(target)) {
    return undefined;
  }
  const [path] = target.split(/[?#]/, 1);
  return withoutDots(decode(path!).replaceAll("\\", "/"));
}

/**
 * Decodes percent-encoded bytes. `decodeURIComponent` throws if they are
 * malformed, which is slow if there are many.
 */
function decode(path: string): string {
  return path.replace(
    /(?:%[\da-f]{2})+/gi,
    (bytes) => DECODER.decode(Uint8Array.fromHex(bytes.replaceAll("%", ""))),
  );
}

const DECODER = new TextDecoder();

/**
 * Resolves `.` and `..` in a path. Any `..` that remains points outside the skill.
 * Unlike `normalize`, it takes linear time.
 */
function withoutDots(path: string): string {
  const names: string[] = [];
  for (const name of path.split("/")) {
    if (name === "" || name === ".") continue;
    const isUp = name === ".." && (names.at(-1) ?? "..") !== "..";
    if (isUp) names.pop();
    else names.push(name);
  }
  return names.join("/");
}
