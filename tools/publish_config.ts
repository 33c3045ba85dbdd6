/**
 * Writes a configuration for `deno publish`, which takes an import map only from its
 * configuration, and requires that the package contain each module in that map.
 *
 *     deno run --allow-read --allow-write tools/publish_config.ts FILE [--import-map=MAP]
 */

import { parseArgs } from "node:util";
import config from "../deno.json" with { type: "json" };

const { values, positionals: [file] } = parseArgs({
  options: { "import-map": { type: "string" } },
  allowPositionals: true,
});
if (file === undefined) {
  console.error("Cannot write the configuration: there is no FILE; pass one");
  Deno.exit(2);
}
const importMap = values["import-map"];
const include = importMap === undefined
  ? config.publish.include
  : [...config.publish.include, "npm_only/yaml.ts"];
const publish = { ...config.publish, include };
Deno.writeTextFileSync(file, JSON.stringify({ ...config, importMap, publish }));
