/**
 * Bundles `mod.ts` and all of its imports into one file, which does not need a
 * registry and starts faster.
 *
 *     deno run --allow-all tools/bundle.ts [--import-map=MAP] [FILE]
 *
 * @module
 */

import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";

const { values, positionals } = parseArgs({
  options: { "import-map": { type: "string" } },
  allowPositionals: true,
});

/** Loads the imports of an import map, with relative targets resolved to URLs. */
function loadImports(map: string | undefined): Record<string, string> {
  if (map === undefined) return {};
  const { imports } = JSON.parse(Deno.readTextFileSync(map)) as {
    imports: Record<string, string>;
  };
  const resolveTarget = ([specifier, target]: [string, string]) => [
    specifier,
    /^\.{0,2}\//.test(target)
      ? new URL(target, pathToFileURL(map)).href
      : target,
  ];
  return Object.fromEntries(Object.entries(imports).map(resolveTarget));
}

const imports = {
  ...loadImports(values["import-map"]),
  // This module is built into Deno, which saves a tenth of the startup time.
  "jsr:@std/path@^1": "node:path",
};
const map = Deno.makeTempFileSync({ suffix: ".json" });
Deno.writeTextFileSync(map, JSON.stringify({ imports }));
const output = positionals[0] ?? "dist/skill_server.js";
// Another process may be reading the last bundle.
const draft = `${output}.${Deno.pid}`;
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    ...["bundle", "--platform", "deno", "--minify", `--import-map=${map}`],
    ...["-o", draft],
    fileURLToPath(new URL("../mod.ts", import.meta.url)),
  ],
}).spawn().status;
Deno.removeSync(map);
if (code === 0) Deno.renameSync(draft, output);
Deno.exit(code);
