// Imports go one way, and no module loads what it does not need.
import assert from "node:assert/strict";
import { dirname, join } from "../src/fs/paths.ts";
import { listModules, read } from "./testing/docs.ts";

/** The directories of `src/`: a module imports from its own and from those before it. */
const ORDER = [
  "*.ts",
  "fs",
  "skills",
  "policy",
  "views",
  "features",
  "wire",
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

/** Lists the imports of a module, including dynamic ones. */
function importsOf(module: string): Import[] {
  const pattern =
    /^(?:import|export)\s+(type\s)?[^;]*?from\s+"([^"]+)"|\bimport\(\s*"([^"]+)"/gm;
  return [...read(module).matchAll(pattern)].map(([, type, path, dynamic]) => ({
    path: resolveImport(module, path ?? dynamic!),
    isStatic: type === undefined && dynamic === undefined,
  }));
}

function resolveImport(module: string, path: string): string {
  if (!path.startsWith(".")) return path;
  return join(dirname(module), path).replaceAll("\\", "/");
}

function rankOf(module: string): number {
  const [top, dir, ...rest] = module.split("/");
  if (top !== "src") return -1;
  return ORDER.indexOf(rest.length > 0 ? dir! : "*.ts");
}

/** Lists everything that is loaded with a module. */
function loadedWith(module: string, loaded = new Set<string>()): Set<string> {
  for (const { path, isStatic } of importsOf(module)) {
    if (!isStatic || loaded.has(path)) continue;
    loaded.add(path);
    if (path.endsWith(".ts")) loadedWith(path, loaded);
  }
  return loaded;
}

Deno.test("the modules in src/ import only from their own directory and those before it", () => {
  assert.ok(importsOf("mod.ts").length > 20);
  const wrong = listModules("src").flatMap((module) =>
    importsOf(module).map(({ path }) => path)
      .filter((path) => path.endsWith(".ts"))
      .filter((path) => rankOf(path) < 0 || rankOf(path) > rankOf(module))
      .map((path) => `${module} imports ${path}`)
  );
  assert.deepEqual(wrong, []);
});

Deno.test("modules do not load what they do not need", () => {
  const rules = [
    ["mod.ts", /^src\/(?:program|check|cli|http)\//],
    // Whoever only scans does not need the SDK.
    ["mod.ts", /^npm:@modelcontextprotocol\//],
    // Neither program loads the other, and a server loads neither the checks nor
    // anything for the terminal.
    ["skill_server.ts", /^http\.ts$|^src\/(?:check|cli|http)\//],
    ["skill_server.ts", /\/(?:near_misses|not_found|search|policy_file)\.ts$/],
    ["http.ts", /^skill_server\.ts$|^src\/(?:check|cli)\//],
    // Each takes 20 ms.
    ["skill_server.ts", /^node:fs$/],
    ["src/check/report.ts", /lezer/],
    // Its main module takes a tenth of the start.
    ["skill_server.ts", /^jsr:@std\/path@[^/]*$/],
  ] as const;
  for (const [module, unneeded] of rules) {
    const loaded = [...loadedWith(module)];
    assert.ok(loaded.length > 0, module);
    assert.deepEqual(loaded.filter((path) => unneeded.test(path)), [], module);
  }
});
