import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { record } from "../tools/record.ts";
import { IMPORTS, lacks, REPOSITORY } from "./testing.ts";

Deno.test(
  "docs/terminal.svg shows what --list and --check print",
  { ignore: lacks("sh") },
  async () => {
    const file = join(REPOSITORY, "docs", "terminal.svg");
    assert.equal(
      await record(IMPORTS),
      Deno.readTextFileSync(file),
      "Run deno task record",
    );
  },
);
