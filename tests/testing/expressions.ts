// The regular expressions of a module, and texts that make a slow one slow.

/** A regular expression in a module. */
export interface Expression {
  /** Its path and its line. */
  readonly place: string;
  readonly regExp: RegExp;
}

/** Lists the regular expressions of a module, by reading its text. */
export function listExpressions(path: string, text: string): Expression[] {
  const found: Expression[] = [];
  /** The expressions that constants have, which can be parts of others. */
  const constants: Record<string, RegExp> = {};
  const add = (node: Deno.lint.Node & { parent?: unknown }) => {
    const [start, end] = node.range;
    const code = `return ${text.slice(start, end)};`;
    const evaluate = new Function(...Object.keys(constants), code);
    const regExp: RegExp = evaluate(...Object.values(constants));
    const line = text.slice(0, start).split("\n").length;
    found.push({ place: `${path}:${line}`, regExp });
    const { type, id } = node.parent as Deno.lint.VariableDeclarator;
    if (type === "VariableDeclarator" && id.type === "Identifier") {
      constants[id.name] = regExp;
    }
  };
  const visitor: Deno.lint.LintVisitor = {
    Literal: (node) => "regex" in node && node.regex ? add(node) : undefined,
    "NewExpression[callee.name='RegExp']": add,
    "CallExpression[callee.name='RegExp']": add,
  };
  const rules = { list: { create: () => visitor } };
  Deno.lint.runPlugin({ name: "expressions", rules }, path, text);
  return found;
}

/** Blanks, slashes, dashes, brackets, quotes, letters, and others. */
const PIECES = [
  ..." \t\n\r/\\-_[](){}<>\"'`aA0.:*#\u00e9\u0301\u0915\u{1f600}\u5b57\u200d",
];

/** What classes and escape sequences match, for example. Others match themselves. */
const EXAMPLES: Readonly<Record<string, string>> = {
  ".": "a",
  "^": "",
  "$": "",
  "\\0": "\0",
  "\\b": "",
  "\\d": "0",
  "\\f": "\f",
  "\\n": "\n",
  "\\r": "\r",
  "\\s": " ",
  "\\S": "a",
  "\\t": "\t",
  "\\v": "\v",
  "\\w": "a",
  "\\W": "!",
  "\\p{L}": "a",
  "\\p{Lo}": "\u0915",
  "\\p{M}": "\u0301",
  "\\p{N}": "0",
  "\\p{ASCII}": "a",
  "\\p{Cc}": "\u0001",
  "\\p{Default_Ignorable_Code_Point}": "\u200b",
  "\\p{Emoji}": "\u{1f600}",
  "\\p{Emoji_Modifier}": "\u{1f3fb}",
  "\\p{Extended_Pictographic}": "\u{1f600}",
  "\\p{sc=Han}": "\u5b57",
  "\\p{sc=Hira}": "\u3042",
  "\\p{sc=Kana}": "\u30a2",
  "\\p{Script=Latin}": "a",
  "\\p{Script=Cyrillic}": "\u0433",
  "\\p{Script=Greek}": "\u03b1",
  "\\p{Script=Armenian}": "\u0563",
  "\\p{Script=Cherokee}": "\u13d0",
  "\\p{Script=Coptic}": "\u2c80",
  "\\p{Script=Deseret}": "\u{10416}",
  "\\p{Script=Lisu}": "\ua4d0",
};

/** A character, or an escape sequence. */
const CHARACTER =
  /\\u\{[\da-f]+\}|\\u[\da-f]{4}|\\x[\da-f]{2}|\\p\{[^{}]*\}|\\k<\w+>|\\?[^]/
    .source;

/** The beginning of a group, the members of a class, a quantifier, or a character. */
const TOKEN = new RegExp(
  String
    .raw`(?<group>\((?:\?(?:<?[=!]|:|<\w+>))?)|\[(?<members>(?:(?!\])(?:${CHARACTER}))*)\]|(?<quantifier>\{\d+,?\d*\}\??|[*+?]\??)|(?<character>${CHARACTER})`,
  "giu",
);

/** Returns a text that a character or an escape sequence of an expression matches. */
function exampleOf(code: string): string {
  const example = EXAMPLES[code];
  if (example !== undefined) return example;
  if (/^\\(?:[1-9]|k<)/.test(code)) return "";
  const [, digits] = /^\\[ux]\{?([\da-f]+)/i.exec(code) ?? [];
  if (digits) return String.fromCodePoint(parseInt(digits, 16));
  if (code.startsWith("\\p")) throw new Error(`No example of ${code}`);
  return code.replace(/^\\/, "");
}

/** Lists what a class matches, for example, and what it excludes. */
function listMembers(members: string): string[] {
  const codes = members.match(new RegExp(CHARACTER, "giu")) ?? [];
  const examples = codes.map(exampleOf);
  return members.startsWith("^") ? ["a", ...examples] : examples;
}

/** A text that the beginning of an expression matches, and what may come next. */
interface Head {
  readonly start: string;
  readonly next: readonly string[];
}

/** Lists what comes before each part of an expression that matches characters. */
function listHeads(source: string): Head[] {
  const heads: Head[] = [];
  const groups = [{ start: "", isLooking: false }];
  let start = "";
  for (const { groups: token = {} } of source.matchAll(TOKEN)) {
    const { group, members, quantifier, character } = token;
    if (group !== undefined) {
      groups.push({ start, isLooking: /[=!]/.test(group) });
    } else if (character === "|") {
      start = groups.at(-1)!.start;
    } else if (character === ")") {
      const closed = groups.pop()!;
      if (closed.isLooking) start = closed.start;
    } else if (quantifier !== undefined) {
      const least = Number(/\d+/.exec(quantifier)?.[0] ?? 1);
      const [again = ""] = heads.at(-1)?.next ?? [];
      start += again.repeat(Math.max(least - 1, 0));
    } else {
      const next = character !== undefined
        ? [exampleOf(character)]
        : listMembers(members!);
      heads.push({ start, next });
      start += next[0] ?? "";
    }
  }
  return heads;
}

/**
 * Lists texts that may make an expression slow: its beginning, and a piece again and
 * again, which is something that the expression names, or any of {@linkcode PIECES}.
 */
export function listTexts(
  { source }: RegExp,
): { start: string; piece: string }[] {
  const heads = listHeads(source);
  const words = source.replace(/\(\?[<=!:]*/g, "(")
    .match(/[\w/:<>!&;~`-]{2,}/g) ?? [];
  const named = [...heads.flatMap(({ next }) => next), ...words];
  const pieces = [...new Set([...named, ...PIECES])].filter(Boolean);
  const starts = new Set(["", ...heads.map(({ start }) => start)]);
  return [...starts].flatMap((start) =>
    pieces.map((piece) => ({ start, piece }))
  );
}
