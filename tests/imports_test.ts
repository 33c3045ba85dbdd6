// Which modules import, and load, which others.
import assert from "node:assert/strict";
import { dirname, join } from "../src/fs/paths.ts";
import { read } from "./testing/pages.ts";
import { listModules, MODULES } from "./testing/sources.ts";

/** The rooms of `src/`, from the lowest: a module imports from its own room and those below. */
const ORDER = [
  "text",
  "fs",
  "skills",
  "policy",
  "mcp",
  "program",
  "check",
  "cli",
  "http",
];

interface Import {
  path: string;
  /** Whether it loads the module at once, and does not only import types. */
  isStatic: boolean;
}

/** Lists the local imports of a module, including dynamic ones. */
function importsOf(module: string): Import[] {
  const text = read(module);
  const pattern =
    /^(?:import|export)\s+(type\s)?[^;]*?from\s+"(\.[^"]+)"|\bimport\(\s*"(\.[^"]+)"/gm;
  return [...text.matchAll(pattern)].map(([, type, path, dynamic]) => ({
    path: join(dirname(module), path ?? dynamic!).replaceAll("\\", "/"),
    isStatic: type === undefined && dynamic === undefined,
  }));
}

function roomOf(module: string): string {
  const [top, room, ...rest] = module.split("/");
  if (top !== "src") return "top";
  return rest.length > 0 ? room! : "text";
}

function loadedWith(module: string, loaded = new Set<string>()): Set<string> {
  for (const { path, isStatic } of importsOf(module)) {
    if (!isStatic || loaded.has(path) || !path.endsWith(".ts")) continue;
    loadedWith(path, loaded.add(path));
  }
  return loaded;
}

Deno.test("the modules in src/ import only from their own room and those below", () => {
  assert.ok(importsOf("mod.ts").length > 20);
  const rank = (module: string) => ORDER.indexOf(roomOf(module));
  const wrong = listModules("src").flatMap((module) =>
    importsOf(module).map(({ path }) => path)
      .filter((path) => path.endsWith(".ts"))
      .filter((path) => rank(path) < 0 || rank(path) > rank(module))
      .map((path) => `${module} imports ${path}`)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("no module imports itself through others, not even types", () => {
  const finished = new Set<string>();
  const circles: string[] = [];
  const follow = (module: string, path: readonly string[]) => {
    const start = path.indexOf(module);
    if (start >= 0) circles.push([...path.slice(start), module].join(" → "));
    if (start >= 0 || finished.has(module)) return;
    for (const { path: next } of importsOf(module)) {
      if (next.endsWith(".ts")) follow(next, [...path, module]);
    }
    finished.add(module);
  };
  for (const module of listModules("src")) follow(module, []);
  assert.deepEqual(circles, []);
});

Deno.test("neither program imports the other, not even on demand", () => {
  for (
    const [program, other] of [
      ["skill_server.ts", "http.ts"],
      ["http.ts", "skill_server.ts"],
    ] as const
  ) {
    const paths = importsOf(program).map(({ path }) => path);
    assert.ok(paths.length > 0 && !paths.includes(other), program);
  }
});

Deno.test("modules do not load what they do not need", () => {
  const rules = [
    ["mod.ts", /^src\/(?:program|check|cli|http)\//],
    // Neither program loads the other, and a server loads neither the linter nor
    // anything for the terminal.
    ["skill_server.ts", /^http\.ts$|^src\/(?:check|cli|http)\//],
    ["skill_server.ts", /\/(?:unknown_skill|search|policy_file)\.ts$/],
    ["http.ts", /^skill_server\.ts$|^src\/(?:check|cli)\//],
    ["src/http/http_settings.ts", /^src\/cli\//],
    ["src/fs/watch.ts", /\/(?:served_folder|reading)\.ts$/],
  ] as const;
  for (const [module, unneeded] of rules) {
    const loaded = [...loadedWith(module)];
    assert.deepEqual(loaded.filter((path) => unneeded.test(path)), [], module);
  }
});

Deno.test("no module that the start loads imports node:fs, which takes 20 ms", () => {
  const modules = ["mod.ts", "skill_server.ts"];
  const loaded = modules.flatMap((module) => [...loadedWith(module)]);
  assert.ok(loaded.includes("src/program/settings.ts"));
  const slow = [...modules, ...loaded].filter((path) =>
    read(path).includes('from "node:fs"')
  );
  assert.deepEqual(slow, []);
});

Deno.test("only paths.ts imports @std/path, whose main module takes a tenth of the start", () => {
  const importing = MODULES.filter((module) =>
    read(module).includes("jsr:@std/path")
  );
  assert.deepEqual(importing, ["src/fs/paths.ts"]);
});
