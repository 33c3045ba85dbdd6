import assert from "node:assert/strict";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { diagnosticsIn } from "../../tests/testing/report.ts";
import { RULES } from "../diagnostics.ts";
import { relative } from "../fs/paths.ts";

const withCase = needs("caseSensitive");

Deno.test("only --check reports what cannot be read", async () => {
  using place = new Place();
  const dir = place.dir("skills");
  place.skill("skills", "locked", `${skillMd("locked")}[x](keys/one.md)`);
  place.file("skills/locked/key.md", "");
  place.file("skills/locked/keys/one.md", "");
  using _disk = new DiskSpy((path, operation) => {
    const isDenied = operation === "readDirSync" && path.endsWith("keys") ||
      operation === "openSync" && path.endsWith("key.md");
    return isDenied ? new Deno.errors.PermissionDenied() : undefined;
  });
  assert.deepEqual(await diagnosticsIn("--list", dir), []);
  const diagnostics = await diagnosticsIn("--check", dir);
  const found = diagnostics.map(({ rule, file, line, reason }) => {
    const path = relative(dir, file).replaceAll("\\", "/") +
      (line ? `:${line}` : "");
    return `${RULES[rule]} ${rule} ${path}: ${reason}`;
  });
  assert.deepEqual(found, [
    'warning dead-link locked/SKILL.md:7: the link "keys/one.md" does not lead to a file that the skill serves',
    "unlisted unreadable locked/key.md: you have no permission to read it",
    "warning not-served locked/keys: you have no permission to read it",
  ]);
});

withCase.test("--check reports a folder whose SKILL.md alone can be read", async () => {
  using place = new Place();
  place.skill("skills", "shut");
  using _disk = new DiskSpy((path, operation) =>
    operation === "readDirSync" && path.endsWith("shut")
      ? new Deno.errors.PermissionDenied()
      : undefined
  );
  const dir = place.dir("skills");
  assert.deepEqual(await diagnosticsIn("--list", dir), []);
  const found = await diagnosticsIn("--check", dir);
  assert.deepEqual(found.map(({ rule }) => rule), ["unreadable"]);
});
