// No regular expression of the source takes more than linear time, whatever the text. An
// analysis finds most slow ones, and repeating what they nearly match finds others.
import assert from "node:assert/strict";
import process from "node:process";
import {
  type AST,
  parseRegExpLiteral,
  visitRegExpAST,
} from "npm:@eslint-community/regexpp@^4";
import fc from "npm:fast-check@^4";
import { analyse } from "npm:scslre@^0.3";
import { MODULES, read } from "./testing/docs.ts";

/** Expressions that the analysis reports although they are fast, each with the reason. */
const FAST = new Map([
  [
    "/^([\"'`]?)([A-Za-z_][\\w.-]*)\\1[ \\t]*([:=\\uff1a]\\s*|$)(.*)$/s",
    "the text is one line of frontmatter",
  ],
]);

/** Lists the regular expressions of a module, by reading its text. */
function listExpressions(path: string, text: string): RegExp[] {
  const found: RegExp[] = [];
  /** The expressions that constants have, which can be parts of others. */
  const constants: Record<string, RegExp> = {};
  const add = (node: Deno.lint.Node & { parent?: unknown }) => {
    const code = `return ${text.slice(...node.range)};`;
    const evaluate = new Function(...Object.keys(constants), code);
    const regExp: RegExp = evaluate(...Object.values(constants));
    found.push(regExp);
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

function isSlow(regExp: RegExp): boolean {
  return analyse(regExp).reports.length > 0;
}

const ALL = MODULES.flatMap((path) => listExpressions(path, read(path)));

Deno.test("an analysis finds no regular expression that takes more than linear time", () => {
  assert.ok(ALL.length > 100);
  const slow = ALL.filter(isSlow).map(String);
  assert.deepEqual(slow.sort(), [...FAST.keys()].sort());
});

/** Characters that are in many classes, beside those of the expression itself. */
const COMMON = ["a", "0", " ", "\n", "\\"];

/** Writes text that a part of an expression matches, with choices from `pick`. */
function writeMatch(
  node: AST.Node,
  flags: string,
  pick: <T>(choices: readonly T[]) => T,
): string {
  const write = (node: AST.Node) => writeMatch(node, flags, pick);
  switch (node.type) {
    case "Pattern":
    case "Group":
    case "CapturingGroup":
      return write(pick(node.alternatives));
    case "Alternative":
      return node.elements.map(write).join("");
    case "Quantifier": {
      const counts = [0, 1, 2].map((more) => node.min + more)
        .filter((count) => count <= node.max);
      return Array.from({ length: pick(counts) }, () => write(node.element))
        .join("");
    }
    case "Character":
      return String.fromCodePoint(node.value);
    case "CharacterSet":
    case "CharacterClass": {
      const all = [...new Set([...patternOf(node).raw, ...COMMON])];
      const matching = new RegExp(`^${node.raw}$`, flags);
      const found = all.filter((it) => matching.test(it));
      return found.length === 0 ? "" : pick(found);
    }
    default:
      // Lookaround takes no text.
      return "";
  }
}

function patternOf(node: AST.Node): AST.Node {
  return node.parent === null || node.type === "Pattern"
    ? node
    : patternOf(node.parent);
}

/** Lists the nodes that match what is before a part of an expression. */
function listBefore(node: AST.Node): AST.Node[] {
  const { parent } = node;
  if (parent === null || node.type === "Pattern") return [];
  const before = parent.type === "Alternative"
    ? parent.elements.slice(0, parent.elements.indexOf(node as AST.Element))
    : [];
  return [...listBefore(parent), ...before];
}

/** The maximum time for a text of at most {@linkcode MAX_LENGTH} characters. */
const MAX_MS = 100;
const MAX_LENGTH = 16_000;

/** Whether an expression takes too long for a text whose middle is repeated. */
function isSlowOn(regExp: RegExp, [start, piece, end]: string[]): boolean {
  const measure = (count: number) => {
    const text = start! + piece!.repeat(count) + end;
    const before = process.threadCpuUsage();
    text.replace(regExp, "");
    const { user, system } = process.threadCpuUsage(before);
    return (user + system) / 1_000;
  };
  // Each text is little longer than the last one, so that exponential time is seen
  // before it takes for ever.
  for (let count = 8; count * piece!.length <= MAX_LENGTH; count *= 1.25) {
    const isOver = () => measure(Math.ceil(count)) > MAX_MS;
    if (isOver() && isOver() && isOver()) return true;
  }
  return false;
}

Deno.test("no repeated near-match of a regular expression takes more than linear time", () => {
  for (const regExp of ALL) {
    const repeated: AST.Quantifier[] = [];
    visitRegExpAST(parseRegExpLiteral(regExp), {
      onQuantifierEnter: (node) => void (node.max > 1 && repeated.push(node)),
    });
    for (const node of repeated) {
      fc.assert(
        fc.property(fc.gen(), (gen) => {
          const pick = <T>(choices: readonly T[]) =>
            choices[gen(fc.nat, { max: choices.length - 1 })]!;
          const flags = regExp.flags.replace(/[gy]/g, "");
          const write = (node: AST.Node) => writeMatch(node, flags, pick);
          const start = listBefore(node).map(write).join("");
          const piece = write(node.element);
          if (piece === "") return;
          const ends = FAST.has(String(regExp)) ? ["\0"] : ["\0", "\n\0"];
          const text = [start, piece, pick(ends)];
          assert.ok(
            !isSlowOn(regExp, text),
            `${regExp} on ${JSON.stringify(text)}`,
          );
        }),
        { numRuns: 20 },
      );
    }
  }
});
