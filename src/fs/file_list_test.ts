import assert from "node:assert/strict";
import { DiskSpy, exchange, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { Boundary } from "./boundary.ts";
import { faultOf } from "./faults.ts";
import { FileList, type ServedFolderOptions } from "./file_list.ts";
import { join } from "./paths.ts";
import type { SkillFiles } from "./served_files.ts";
import { versionOf } from "./snapshot.ts";

/** Lists the folder `git` of a place. */
async function list(
  place: Place,
  { maxEntries = 100, ...rest }:
    & Partial<ServedFolderOptions>
    & { maxEntries?: number } = {},
): Promise<SkillFiles> {
  const directory = place.folder("git");
  const options = {
    directory,
    realDirectory: directory,
    boundary: new Boundary({ realDirectory: directory, trusted: [] }),
    maxFileSize: 4,
    faultOf,
    ...rest,
  };
  const top = { path: directory, realPath: directory, isLink: true, above: [] };
  return await new FileList(options, maxEntries).create(top);
}

/** Returns what is left out, and the broken rules. */
function reasons({ leftOut }: SkillFiles): string[] {
  return leftOut.map(({ file, rule }) => `${file}: ${rule}`);
}

Deno.test("FileList.create() lists the files with their sizes and versions, by path, and the folders", async () => {
  using place = new Place();
  const file = place.file("git/a/z.md", "text");
  for (const name of ["a.md", "a/b/B.md", "a/b/a.md", "skill.md"]) {
    place.file(`git/${name}`, "");
  }
  place.file("git/.env", "");
  place.file("git/node_modules/x.js", "");
  const alias = {
    file: join(place.path, "git", "skill.md"),
    name: "SKILL.md",
  };
  const { files, folders, ...rest } = await list(place, { alias });
  assert.deepEqual(
    files.map(({ path, size }) => `${path} ${size}`),
    ["SKILL.md 0", "a.md 0", "a/b/B.md 0", "a/b/a.md 0", "a/z.md 4"],
  );
  assert.equal(files.at(-1)!.version, versionOf(Deno.statSync(file)));
  assert.deepEqual(
    folders,
    ["git", "git/a", "git/a/b"].map((path) => join(place.path, path)),
  );
  assert.deepEqual(rest, { leftOut: [], entries: 7 });
});

Deno.test("FileList.create() ends at the limit, and says where", async () => {
  using place = new Place();
  for (const name of ["a", "b/x", "c"]) place.file(`git/${name}`, "");
  const listed = await list(place, { maxEntries: 3 });
  assert.deepEqual(reasons(listed), ["b/x: too-many"]);
  assert.match(listed.leftOut[0]!.reason, /^the limit of 3 entries/);
  assert.deepEqual(listed.files.map(({ path }) => path), ["a", "c"]);
  assert.equal(listed.entries, 4);
  assert.deepEqual(reasons(await list(place, { maxEntries: 4 })), []);
});

Deno.test("FileList.create() lists the rest if a folder cannot be read, or something was just removed", async () => {
  using place = new Place();
  for (const name of ["a.md", "b.md", "closed/x", "open/x"]) {
    place.file(`git/${name}`, "");
  }
  using _disk = new DiskSpy((path, operation) => {
    if (path.endsWith("a.md")) return new Deno.errors.NotFound();
    if (operation !== "readDirSync" || !path.endsWith("closed")) return;
    return new Deno.errors.PermissionDenied();
  });
  const listed = await list(place);
  const paths = listed.files.map(({ path }) => path);
  assert.deepEqual(paths, ["b.md", "open/x"]);
  assert.deepEqual(reasons(listed), ["closed/: permission"]);
  assert.equal(listed.folders.some((path) => path.endsWith("closed")), false);
});

Deno.test(
  "FileList.create() lists no file of a folder that is swapped while its entries are looked at, where the limit is reached",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const file = place.file("git/docs/a.md", "");
    for (const name of ["git/a.md", "git/docs/b.md", "outside/a.md"]) {
      place.file(name, "");
    }
    const outside = place.link("../outside", "links/docs");
    let isSwapped = false;
    using _disk = new DiskSpy((path, operation) => {
      if (isSwapped || path !== file || operation !== "lstatSync") return;
      isSwapped = true;
      exchange(join(place.path, "git", "docs"), outside);
    });
    const listed = await list(place, { maxEntries: 3 });
    assert.deepEqual(listed.files.map(({ path }) => path), ["a.md"]);
    assert.equal(reasons(listed)[0], "docs/: changed");
  },
);
