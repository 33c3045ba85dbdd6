import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isVisible } from "../src/files/boundary.ts";
import { join } from "../src/files/paths.ts";
import { REPOSITORY } from "./testing/environment.ts";

const PAGE = readFileSync(join(REPOSITORY, "docs", "security.md"), "utf8")
  .replaceAll(/\s+/g, " ");

Deno.test("docs/security.md lists the names with a dot that are served", () => {
  const [, list = ""] = /but for those that templates (.*?) any ending\./
    .exec(PAGE) ?? [];
  const listed = Array.from(list.matchAll(/`(.+?)`/g), ([, name]) => name!);
  assert.deepEqual(listed.filter((name) => !isVisible(name)), []);
  const source = readFileSync(
    join(REPOSITORY, "src", "files", "boundary.ts"),
    "utf8",
  );
  const [, names = ""] = /TEMPLATE_NAMES[^`]*`([^`]*)`/.exec(source) ?? [];
  const configs = [".eslintrc", ".prettierrc"];
  assert.deepEqual(
    listed.sort(),
    [...names.trim().split(/\s+/), ...configs].sort(),
  );
});
