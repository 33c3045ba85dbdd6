/**
 * Completes `server.json`, the entry of this server in the MCP Registry, for a
 * release: the name and the address of the repository, the version, and the
 * bundles with their digests.
 *
 *     deno run --allow-read tools/server_json.ts --repository OWNER/NAME FILE.mcpb... > dist/server.json
 *
 * The files must be attached to the release of this version under their names.
 *
 * @see {@link https://modelcontextprotocol.io/registry/package-types}
 * @module
 */

import { createHash } from "node:crypto";
import { basename } from "node:path";
import { parseArgs } from "node:util";
import config from "../deno.json" with { type: "json" };
import entry from "../server.json" with { type: "json" };

const { values: { repository }, positionals: bundles } = parseArgs({
  options: { repository: { type: "string" } },
  allowPositionals: true,
});
if (!/^[\w.-]+\/[\w.-]+$/.test(repository ?? "") || bundles.length === 0) {
  console.error(
    "Cannot complete server.json: a value is missing; pass --repository OWNER/NAME and the bundles",
  );
  Deno.exit(2);
}

const { version } = config;
const url = `https://github.com/${repository}`;
console.log(JSON.stringify(
  {
    ...entry,
    name: `io.github.${repository}`,
    repository: { url, source: "github" },
    version,
    packages: bundles.map((file) => ({
      registryType: "mcpb",
      identifier: `${url}/releases/download/v${version}/${basename(file)}`,
      version,
      fileSha256: createHash("sha256").update(Deno.readFileSync(file))
        .digest("hex"),
      transport: { type: "stdio" },
    })),
  },
  null,
  2,
));
