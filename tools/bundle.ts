/**
 * Bundles `mod.ts` and all of its imports into one file, which does not need a
 * registry and starts faster.
 *
 *     deno run --allow-all tools/bundle.ts [--import-map=MAP] [FILE]
 */

import { fileURLToPath } from "node:url";
import { importFlags } from "./import_flags.ts";

const [file] = Deno.args.filter((arg) => !arg.startsWith("-"));
const output = file ?? "dist/skill_server.js";
// Another process may be reading the last bundle.
const draft = `${output}.${Deno.pid}`;
const main = fileURLToPath(new URL("../mod.ts", import.meta.url));
const flags = ["--quiet", "--platform", "deno", "--minify", ...importFlags()];
const { code } = await new Deno.Command(Deno.execPath(), {
  args: ["bundle", ...flags, "-o", draft, main],
}).spawn().status;
if (code === 0) {
  Deno.renameSync(draft, output);
  console.error(`Created ${output}`);
}
Deno.exit(code);
