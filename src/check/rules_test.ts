import assert from "node:assert/strict";
import { DiskSpy, Place, skillMd } from "../../tests/testing/folders.ts";
import { diagnosticsIn } from "../../tests/testing/report.ts";
import { relative } from "../fs/paths.ts";

Deno.test("--check reports files and folders that cannot be read, and --list does not look at them", async () => {
  using place = new Place();
  const dir = place.dir("skills");
  place.skill("skills", "locked", `${skillMd("locked")}[x](keys/one.md)`);
  place.file("skills/locked/key.md", "");
  place.file("skills/locked/keys/one.md", "");
  place.skill("skills", "shut");
  using _disk = new DiskSpy((path, operation) => {
    const isDenied = operation === "readDirSync" && /keys$|shut$/.test(path) ||
      operation === "openSync" && path.endsWith("key.md");
    return isDenied ? new Deno.errors.PermissionDenied() : undefined;
  });
  assert.deepEqual(await diagnosticsIn("--list", dir), []);
  const diagnostics = await diagnosticsIn("--check", dir);
  const found = diagnostics.map(({ effect, rule, file, line, reason }) => {
    const path = relative(dir, file) + (line ? `:${line}` : "");
    return `${effect} ${rule} ${path}: ${reason}`;
  });
  assert.deepEqual(found, [
    'warning broken-link locked/SKILL.md:7: the link "keys/one.md" does not lead to a file that the skill serves',
    "unlisted unreadable locked/key.md: you have no permission to read it",
    "warning not-served locked/keys: you have no permission to read it",
    "unlisted unreadable shut: you have no permission to read it",
  ]);
});
