import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { MAX_FILE_DEPTH } from "../src/files/boundary.ts";
import { dirname, join } from "../src/files/paths.ts";
import { MAX_SEARCH_DEPTH } from "../src/skills/roots.ts";
import { REPOSITORY } from "./testing/environment.ts";

const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(REPOSITORY, "docs"))
    .filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
];

function read(page: string): string {
  return readFileSync(join(REPOSITORY, page), "utf8");
}

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): string[] {
  const text = read(page).replaceAll(/^```.*?^```/gms, "");
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-")
  );
}

Deno.test("each relative link of a page points to a file, and each anchor to a heading", () => {
  let checked = 0;
  for (const page of PAGES) {
    for (const [, link] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      // Links that start with ../../ lead to other parts of the repository's site.
      if (/^(\w+:|\.\.\/\.\.\/)/.test(link!)) continue;
      const [path, anchor] = link!.split("#");
      const target = path ? join(dirname(page), path) : page;
      assert.ok(existsSync(join(REPOSITORY, target)), `${link} in ${page}`);
      checked++;
      if (anchor === undefined) continue;
      assert.ok(anchorsOf(target).includes(anchor), `${link} in ${page}`);
    }
  }
  assert.ok(checked > 30);
});

const SOURCES = readdirSync(join(REPOSITORY, "src"), { recursive: true })
  .map((path) => `src/${path}`.replaceAll("\\", "/"))
  .filter((path) => /(?<!_test)\.ts$/.test(path)).sort();

const WORDS = "zero one two three four five six seven eight nine ten".split(
  " ",
);

/** How deep something goes, how texts say it, and which ones do. */
const DEPTHS: Readonly<Record<string, [number, RegExp, string[]]>> = {
  "a search": [MAX_SEARCH_DEPTH, /\bsearch\w*:? (?:ends )?(\w+)\s+levels/g, [
    "README.md",
    "docs/conformance.md",
    "docs/toolsets.md",
    "src/skills/types.ts",
  ]],
  "a skill": [MAX_FILE_DEPTH, /(?:skill:|more than|after) (\w+)\s+levels/g, [
    "docs/toolsets.md",
    "mod.ts",
    "src/files/boundary.ts",
  ]],
};

for (const [what, [limit, pattern, files]] of Object.entries(DEPTHS)) {
  Deno.test(`pages and comments say how many levels deep ${what} goes, which are ${limit}`, () => {
    const said = [...PAGES, "mod.ts", ...SOURCES].flatMap((path) =>
      Array.from(read(path).matchAll(pattern), ([, number]) => {
        const index = WORDS.indexOf(number!);
        return { path, levels: index < 0 ? Number(number) : index };
      })
    );
    assert.deepEqual(said.filter(({ levels }) => levels !== limit), []);
    const silent = files.filter((file) => !said.some((it) => it.path === file));
    assert.deepEqual(silent, []);
  });
}
