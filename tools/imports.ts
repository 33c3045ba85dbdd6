/**
 * Prints the flag for an import map if JSR is unreachable, and nothing otherwise.
 *
 *     deno run --allow-all tools/imports.ts
 */

/** How long to wait for JSR, in milliseconds. */
const TIMEOUT_MS = 5_000;

const { success } = await new Deno.Command(Deno.execPath(), {
  args: ["info", "jsr:@std/yaml@^1/parse"],
  stdin: "null",
  stdout: "null",
  stderr: "null",
  signal: AbortSignal.timeout(TIMEOUT_MS),
}).output();
if (!success) console.log("--import-map=npm_only/import_map.json");
