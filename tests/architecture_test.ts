// Whether docs/architecture.md is true of the source, and names every place to touch.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "../src/files/paths.ts";
import { createSettings } from "../src/program/settings.ts";
import { REPOSITORY } from "./testing/environment.ts";
import { read } from "./testing/pages.ts";
import { listFiles, listModules, MODULES } from "./testing/sources.ts";

const PAGE = read("docs/architecture.md");

/** An entry of each kind that the page has a list for. Each is the last, or rare. */
const EXAMPLES: Readonly<Record<string, RegExp>> = {
  "client": /\bcline\b/i,
  "toolset": /\bagentskills\b(?![.-])/,
  "check of `--check`":
    /\bname-twice\b|\bfrontmatter-json\b|description-missing/,
  "option": /log-loads|logLoads/,
  "setting of HTTP": /SKILL_SERVER_HOSTS/,
  "state of a skill": /\bpinned\b/,
  "field": /argument-hint|when_to_use/,
  "default folder": /\.agent\b/,
  "request of MCP": /completion\/complete|registerCompletions?\b/,
};

const SOURCE = [...MODULES, ...listModules("tools")];

const DOCS = ["README.md", ...listFiles("docs")]
  .filter((path) => path.endsWith(".md") && path !== "docs/architecture.md");

/** Returns the source, or the tables and lists of a page: prose has examples. */
function textOf(path: string): string {
  const text = read(path);
  return path.endsWith(".md")
    ? text.split("\n").filter((line) => /^(?:\||- )/.test(line)).join("\n")
    : text;
}

/** Lists the paths in a text. */
function pathsIn(text: string): string[] {
  return [...text.matchAll(/`([\w./-]+(?:\/|\.ts|\.md|\.txt))`/g)]
    .map(([, path]) => path!).filter((path) => path !== "SKILL.md");
}

Deno.test("docs/architecture.md names only files and folders that exist", () => {
  const paths = pathsIn(PAGE);
  assert.ok(paths.length > 50);
  const missing = paths.filter((path) => !existsSync(join(REPOSITORY, path)));
  assert.deepEqual(missing, []);
});

Deno.test("comments of the source name only files that exist", () => {
  const named = SOURCE.flatMap((path) =>
    pathsIn(read(path)).filter((other) => /^(?:src|docs|tests)\//.test(other))
  );
  assert.ok(named.length > 0);
  const missing = named.filter((path) => !existsSync(join(REPOSITORY, path)));
  assert.deepEqual(missing, []);
});

Deno.test("docs/architecture.md has a line for each room", () => {
  const rooms = new Set(
    SOURCE.filter((path) => path.startsWith("src/"))
      .map((path) => path.slice(0, path.lastIndexOf("/") + 1)),
  );
  for (const room of rooms) {
    const name = room === "src/" ? "src/*.ts" : room;
    assert.ok(PAGE.includes(`\n- \`${name}\`: `), room);
  }
});

/** The number of lines above which a module needs a test of its own. */
const MAX_UNTESTED_LINES = 100;

/** Whether a module has code, and not only types, which leave nothing to export. */
async function hasCode(path: string): Promise<boolean> {
  const module = await import(new URL(`../${path}`, import.meta.url).href);
  return Object.keys(module).length > 0;
}

Deno.test("each module in src/ with code, and with more than 100 lines, has its test beside it", async () => {
  const missing: string[] = [];
  for (const path of SOURCE.filter((path) => path.startsWith("src/"))) {
    const isLong = countLines(read(path)) > MAX_UNTESTED_LINES;
    const test = path.replace(/\.ts$/, "_test.ts");
    if (!isLong || existsSync(join(REPOSITORY, test))) continue;
    if (await hasCode(path)) missing.push(path);
  }
  assert.deepEqual(missing, []);
});

Deno.test("each file in tests/ begins with a comment that says what it is about", () => {
  const silent = listFiles("tests").filter((path) => path.endsWith(".ts"))
    .filter((path) => !/^\/[/*]/.test(read(path)));
  assert.deepEqual(silent, []);
});

/** The maximum number of lines of a function, and of a file but `mod.ts`. */
const MAX_FUNCTION_LINES = 40;
const MAX_FILE_LINES = 400;

function countLines(text: string): number {
  return text.trimEnd().split("\n").length;
}

/** Lists the functions of a module that are too long. */
function listLongFunctions(path: string): string[] {
  const text = read(path);
  const plugin: Deno.lint.Plugin = {
    name: "house",
    rules: {
      "function-length": {
        create: (context) => ({
          ":is(FunctionDeclaration, FunctionExpression, ArrowFunctionExpression)":
            (node: Deno.lint.Node) => {
              const [start, end] = node.range;
              const lines = countLines(text.slice(start, end));
              if (lines <= MAX_FUNCTION_LINES) return;
              const line = countLines(text.slice(0, end)) - lines + 1;
              const message = `${path}:${line} has ${lines} lines`;
              context.report({ node, message });
            },
        }),
      },
    },
  };
  return Deno.lint.runPlugin(plugin, path, text).map(({ message }) => message);
}

Deno.test(`each function has at most ${MAX_FUNCTION_LINES} lines, if it is not a test`, () => {
  const helpers = listFiles("tests").filter((path) =>
    path.endsWith(".ts") && !path.endsWith("_test.ts")
  );
  const long = [...SOURCE, ...helpers].flatMap(listLongFunctions);
  assert.deepEqual(long, []);
});

Deno.test(`each file of the source but mod.ts has at most ${MAX_FILE_LINES} lines`, () => {
  const long = SOURCE
    .filter((path) => path !== "mod.ts" && !path.startsWith("tools/"))
    .filter((path) => countLines(read(path)) > MAX_FILE_LINES);
  assert.deepEqual(long, []);
});

/** Where options are declared, and derived from the command line. */
const OPTION_SOURCES = [
  "src/program/settings.ts",
  "src/skills/types.ts",
  "src/views/options.ts",
];

Deno.test("each option that the command line sets is read somewhere", () => {
  const { options } = createSettings({ values: {}, positionals: [] });
  const text = SOURCE.filter((path) => !OPTION_SOURCES.includes(path))
    .map(read).join("\n");
  const unread = Object.keys(options)
    .filter((name) => !new RegExp(`\\b${name}\\b`).test(text));
  assert.deepEqual(unread, []);
});

for (const [kind, example] of Object.entries(EXAMPLES)) {
  Deno.test(`docs/architecture.md names each place for a new ${kind}: those that mention ${example}`, () => {
    const sections = PAGE.split("\n### ").map((text) =>
      text.split("\n## ")[0]!
    );
    const section = sections.find((text) =>
      text.toLowerCase().startsWith(`${kind.toLowerCase()}\n`)
    );
    const named = pathsIn(section ?? "");
    const places = [...SOURCE, ...DOCS].filter((path) =>
      example.test(textOf(path))
    );
    assert.ok(places.length > 1);
    const unnamed = places.filter((path) =>
      !named.some((it) => it.endsWith("/") ? path.startsWith(it) : path === it)
    );
    assert.deepEqual(unnamed, []);
  });
}
