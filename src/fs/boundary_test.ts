import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { onWindows } from "../../tests/testing/server.ts";
import { Boundary, type BoundEntry, isVisible, splitPath } from "./boundary.ts";
import { SkillFileError } from "./faults.ts";
import { isAtOrBelow, join, resolve } from "./paths.ts";

Deno.test("isVisible() accepts all names but those that begin with a dot or belong to tools", () => {
  for (const name of ["SKILL.md", "a.b", "node_modules2", "größe", "~"]) {
    assert.equal(isVisible(name), true, name);
  }
  const hidden = [".", "..", ".env", "..data", "node_modules", "__pycache__"];
  for (const name of hidden) assert.equal(isVisible(name), false, name);
});

Deno.test("splitPath() returns the names in a path of up to ten, and nothing for a path that leads out", () => {
  const ten = "1/2/3/4/5/6/7/8/9/10";
  const cases: [path: string, names: string[] | undefined][] = [
    ["SKILL.md", ["SKILL.md"]],
    ["./docs//api/./a.md", ["docs", "api", "a.md"]],
    ["docs/../a.md", ["a.md"]],
    ["docs/", ["docs"]],
    ["...", ["..."]],
    ["", []],
    [".", []],
    ["docs/..", []],
    [ten, ten.split("/")],
    [`${ten}/11`, undefined],
    [`${ten}/11/..`, ten.split("/")],
    ["..", undefined],
    ["../git/SKILL.md", undefined],
    ["docs/../../SKILL.md", undefined],
    ["/etc/passwd", undefined],
    ["//etc/passwd", undefined],
  ];
  for (const [path, names] of cases) {
    assert.deepEqual(splitPath(path), names, path);
  }
});

Deno.test("splitPath() returns names that lie in the folder for any path, if all are visible", () => {
  const folder = resolve("/skills/git");
  const name = fc.oneof(
    fc.constantFrom("..", ".", "", "a", "C:", "\\", "~", "\0"),
    fc.string({ unit: "binary", maxLength: 3 }),
  );
  const path = fc.array(name, { maxLength: 12 }).map((it) => it.join("/"));
  fc.assert(
    fc.property(path, (path) => {
      const names = splitPath(path);
      if (!names?.every(isVisible)) return;
      assert.ok(isAtOrBelow(resolve(folder, ...names), folder));
      assert.ok(!names.includes("..") && names.length <= 10);
    }),
    { numRuns: 1_000 },
  );
});

Deno.test("splitPath() accepts both slashes on Windows, and refuses what Windows reads as another file", async () => {
  using place = new Place();
  const found = await onWindows(
    place,
    String.raw`
    const { isVisible, splitPath } = await import(${
      JSON.stringify(new URL("./boundary.ts", import.meta.url))
    });
    console.log(JSON.stringify([
      "SKILL.md", "references/API.md", "references\\API.md", "a\\..\\b.md",
      // Other folders.
      "..\\pdf\\SKILL.md", "a\\..\\..\\x", "C:\\Windows\\win.ini", "C:b.md", "\\b.md",
      "\\\\host\\share\\x", "\\\\?\\C:\\skills\\git\\b.md", "\\\\.\\C:\\b.md",
      // Streams.
      "SKILL.md::$DATA", "b.md:hidden", "b.md:hidden:$DATA", "references:$I30:$INDEX_ALLOCATION/API.md",
      // Devices.
      "CON", "NUL.txt", "com1", "COM¹.md", "references/aux .md", "lpt9.tar.gz", "CONIN$",
      // Names that Windows shortens.
      "b.md.", "b.md ", "references./API.md", "references /API.md", ".../b.md",
    ].map(splitPath).map((names) => names?.every(isVisible) ? names.join("/") : null)));`,
  );
  assert.deepEqual(found, [
    "SKILL.md",
    "references/API.md",
    "references/API.md",
    "b.md",
    ...Array(24).fill(null),
  ]);
});

Deno.test("Boundary.includes() accepts what lies in the folder without hidden names, and all of a trusted folder", () => {
  const boundary = new Boundary({
    realDirectory: resolve("/.home/git"),
    trusted: [resolve("/shared")],
  });
  const cases: [path: string, isIncluded: boolean][] = [
    ["/.home/git", true],
    ["/.home/git/docs/a.md", true],
    ["/.home/git/..data/a.md", true],
    ["/.home/git/.env", false],
    ["/.home/git/docs/.git/config", false],
    ["/.home/git/node_modules/x/index.js", false],
    ["/.home", false],
    ["/.home/git2/a.md", false],
    ["/shared", true],
    ["/shared/.env", true],
    ["/shared2/a.md", false],
  ];
  for (const [path, isIncluded] of cases) {
    assert.equal(boundary.includes(resolve(path)), isIncluded, path);
  }
});

/** Opens a folder of a place, in which a real path may be hidden. */
function open(
  place: Place,
  hidden?: string,
): (name: string, mayBeLink?: boolean) => BoundEntry | undefined {
  const realDirectory = place.folder("git");
  const boundary = new Boundary({
    realDirectory,
    trusted: [],
    isHidden: (path) => path === hidden,
  });
  const top = {
    path: realDirectory,
    realPath: realDirectory,
    isLink: true,
    above: [],
  };
  return (name, mayBeLink) => boundary.find(name, top, { mayBeLink });
}

Deno.test("Boundary.find() finds what exists, and does not look at the disk for what is no link", () => {
  using place = new Place();
  const path = place.file("git/a.md", "");
  const find = open(place);
  const above = [join(path, "..")];
  const expected = { path, realPath: path, isLink: false, above };
  assert.deepEqual(find("a.md"), expected);
  assert.deepEqual(find("a.md", false), expected);
  assert.throws(() => find("none.md"), Deno.errors.NotFound);
  assert.equal(find("none.md", false)?.isLink, false);
});

Deno.test(
  "Boundary.find() follows a link inside, throws for one that leads outside, and finds nothing behind one to a folder above",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    const target = place.file("git/docs/a.md", "");
    place.file("git/.env", "secret");
    place.file("git2/a.md", "secret");
    const path = place.link("docs/a.md", "git/in");
    place.link("../git2/a.md", "git/out");
    place.link(".env", "git/hidden");
    place.link("../git", "git/up");
    const find = open(place);
    const { above, ...found } = find("in")!;
    assert.deepEqual(found, { path, realPath: target, isLink: true });
    assert.deepEqual(above, [join(path, "..")]);
    assert.equal(find("up"), undefined);
    for (const name of ["out", "hidden"]) {
      assert.throws(
        () => find(name),
        (error) =>
          error instanceof SkillFileError && error.rule === "link-outside",
      );
    }
    // Who may not see the target does not learn of the link either.
    const findVisible = open(place, target);
    assert.equal(findVisible("in"), undefined);
    assert.equal(findVisible("docs")?.isLink, false);
  },
);
