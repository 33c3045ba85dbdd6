// Whether docs/terminal.svg is up to date.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { record } from "../tools/record.ts";
import { environment, IMPORTS, REPOSITORY } from "./testing/environment.ts";
import { needs } from "./testing/needs.ts";

const withSh = needs("sh");

withSh.test("docs/terminal.svg shows what --list and --check print", async () => {
  // Deno finds its cache by the home directory, which is another one there.
  Deno.env.set("DENO_DIR", environment.DENO_DIR);
  const file = join(REPOSITORY, "docs", "terminal.svg");
  assert.equal(
    await record(IMPORTS),
    Deno.readTextFileSync(file),
    "Run deno task record",
  );
});
