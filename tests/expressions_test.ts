// No regular expression of the source takes more than linear time, whatever the text.
import assert from "node:assert/strict";
import { analyse } from "npm:scslre@^0.3";
import { MODULES, read } from "./testing/pages.ts";

/** Expressions that the analysis reports although they are fast, each with the reason. */
const FAST = new Map([
  ["/^( *(?:- )?)(.*)$/", "both parts match any text on a line"],
  ["/^([>|][-+\\d]*)[ \\t]+(?!#)(.+)$/", "the text is one line of frontmatter"],
  [
    "/^([\"']?)([\\w.-]+)\\1[ \\t]*([:=\\uff1a]\\s*)(.*)$/",
    "the text is one line of frontmatter",
  ],
  ["/#.*$/s", "it matches from the first # to the end"],
]);

/** An expression of code fences, whose time links_test.ts measures. */
const FENCE = /\(\?<fence>/;

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

Deno.test("each regular expression takes linear time", () => {
  const all = MODULES.flatMap((path) => listExpressions(path, read(path)));
  assert.ok(all.length > 100);
  const slow = all.filter(isSlow).filter(({ source }) => !FENCE.test(source))
    .map(String);
  assert.deepEqual(slow.sort(), [...FAST.keys()].sort());
});
