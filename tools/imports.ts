/**
 * Prints the flag for an import map: the one that the variable `IMPORTS` has, or else, if
 * JSR is unreachable, that of this repository; nothing otherwise.
 *
 *     deno run --allow-all tools/imports.ts
 */

/** How long to wait for JSR, in milliseconds. */
const TIMEOUT_MS = 5_000;

async function isJsrReachable(): Promise<boolean> {
  const { success } = await new Deno.Command(Deno.execPath(), {
    args: ["info", "jsr:@std/yaml@^1/parse"],
    stdin: "null",
    stdout: "null",
    stderr: "null",
    signal: AbortSignal.timeout(TIMEOUT_MS),
  }).output();
  return success;
}

const chosen = Deno.env.get("IMPORTS");
if (chosen) console.log(chosen);
else if (!await isJsrReachable()) {
  console.log("--import-map=npm_only/import_map.json");
}
