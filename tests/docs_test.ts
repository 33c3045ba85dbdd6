import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join } from "../src/files/paths.ts";
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

for (const page of PAGES) {
  Deno.test(`each relative link in ${page} points to a file, and each anchor to a heading`, () => {
    for (const [, link] of read(page).matchAll(/\]\(([^)\s]+)\)/g)) {
      // Links that start with ../../ lead to other parts of the repository's site.
      if (/^(\w+:|\.\.\/\.\.\/)/.test(link!)) continue;
      const [path, anchor] = link!.split("#");
      const target = path ? join(dirname(page), path) : page;
      assert.ok(existsSync(join(REPOSITORY, target)), `${link} in ${page}`);
      if (anchor === undefined) continue;
      assert.ok(anchorsOf(target).includes(anchor), `${link} in ${page}`);
    }
  });
}
