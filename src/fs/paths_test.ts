import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { onWindows } from "../../tests/testing/server.ts";
import {
  isAtOrBelow,
  isAtOrBelowAny,
  isThere,
  isWindows,
  join,
  mayRead,
  realPathOf,
  resolve,
  resolvePath,
} from "./paths.ts";

const withLinks = needs("links");

const BASE = {
  workingDirectory: resolve("/project"),
  homeDirectory: resolve("/home/me"),
};

Deno.test("resolvePath() resolves a path from the working directory or, after ~, from home", () => {
  const cases: [dir: string, path: string][] = [
    ["skills", "/project/skills"],
    ["./a/../skills/", "/project/skills"],
    ["..", "/"],
    ["", "/project"],
    ["/opt//skills", "/opt/skills"],
    ["~", "/home/me"],
    ["~//etc", "/home/me/etc"],
    ["~/../you", "/home/you"],
    // Shells have more uses for it, but these are names of directories.
    ["~you", "/project/~you"],
    ["a/~", "/project/a/~"],
  ];
  for (const [dir, path] of cases) {
    assert.equal(resolvePath(dir, BASE), resolve(path), dir);
  }
});

Deno.test("resolvePath() reads file URLs", () => {
  const path = resolve("/a b/50%/c");
  const url = new URL(isWindows ? "file:///C:/x" : "file:///x");
  url.pathname = `${isWindows ? path.slice(0, 2) : ""}/a b/50%25/c`;
  for (const given of [url, url.href, path]) {
    assert.equal(resolvePath(given, BASE), path, String(given));
  }
  // Not the same path on this machine. On Windows, it is one of the network.
  const others = isWindows ? [] : ["file://other/a", "file://[a"];
  for (const given of others) {
    const expected = join(BASE.workingDirectory, given);
    assert.equal(resolvePath(given, BASE), expected);
  }
});

Deno.test("resolvePath() throws if the folder that a path is relative to is unknown", () => {
  const { workingDirectory, homeDirectory } = BASE;
  assert.throws(() => resolvePath("~/a", { workingDirectory }), {
    message:
      'Cannot find "~/a": the home folder is unknown; pass an absolute path',
  });
  assert.throws(() => resolvePath("a", { homeDirectory }), {
    message:
      'Cannot find "a": the working directory is unknown; pass an absolute path',
  });
  assert.equal(resolvePath(homeDirectory, {}), homeDirectory);
});

Deno.test("isAtOrBelow() compares whole names", () => {
  const cases: [path: string, dir: string, isBelow: boolean][] = [
    ["/code", "/code", true],
    ["/code/a/b", "/code", true],
    ["/code/...", "/code", true],
    ["/code2", "/code", false],
    ["/", "/code", false],
    ["/Code/a", "/code", isWindows],
    ["/code", "/", true],
    ["/", "/", true],
  ];
  for (const [path, dir, isBelow] of cases) {
    const [a, b] = [resolve(path), resolve(dir)];
    assert.equal(isAtOrBelow(a, b), isBelow, `${path} ${dir}`);
    assert.equal(isAtOrBelowAny(a, [resolve("/x"), b]), isBelow);
  }
});

withLinks.test("realPathOf() follows links as far as a path exists", () => {
  using place = new Place();
  const data = place.dir("data");
  const link = place.link("data", "link");
  const missing = join(link, "a", "b");
  assert.equal(realPathOf(link), data);
  assert.equal(realPathOf(missing), join(data, "a", "b"));
  assert.equal(realPathOf(`${link}\0`), join(place.path, "link\0"));
  assert.deepEqual([link, missing].map(isThere), [true, false]);
  place.remove("data");
  assert.equal(realPathOf(link), link);
  assert.equal(isThere(link), true);
});

Deno.test({
  name: "mayRead() says whether Deno has permission for a path and below it",
  permissions: { read: [BASE.homeDirectory] },
  fn: () => {
    const paths = [BASE.homeDirectory, join(BASE.homeDirectory, "a"), "/etc"];
    assert.deepEqual(paths.map(mayRead), [true, true, false]);
  },
});

Deno.test("paths on Windows have both slashes, and no case", async () => {
  using place = new Place();
  const found = await onWindows(
    place,
    String.raw`
    const { childPath, isAtOrBelow, isMisread, resolvePath } = await import(${
      JSON.stringify(import.meta.resolve("./paths.ts"))
    });
    const base = { workingDirectory: "C:\\p", homeDirectory: "C:\\me" };
    console.log(JSON.stringify([
      ["~\\a", "~/a/b", "a/b", "D:\\a/b"].map((folder) => resolvePath(folder, base)),
      [childPath("C:\\", "a"), childPath("C:\\a", "b")],
      isAtOrBelow("c:\\CODE\\A", "C:\\code"),
      ["a", "console", "com", "nul1", ".a"].map(isMisread),
      ["a.", "NUL", "nul.txt", "a:b", "a\u0000"].map(isMisread),
    ]));`,
  );
  assert.deepEqual(found, [
    ["C:\\me\\a", "C:\\me\\a\\b", "C:\\p\\a\\b", "D:\\a\\b"],
    ["C:\\a", "C:\\a\\b"],
    true,
    Array(5).fill(false),
    Array(5).fill(true),
  ]);
});
