import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { isVisible } from "../src/files/boundary.ts";
import { join } from "../src/files/paths.ts";
import { REPOSITORY } from "./testing/environment.ts";

/** What docs/security.md promises, by its beginning, and a test of it. */
const PROMISES: Record<string, [file: string, test: string]> = {
  "publish your other folders": [
    "tests/scanner_links_test.ts",
    "scanSkillRoots() confines links in a project to the project and the user's own roots",
  ],
  "take a name from a skill of yours": [
    "tests/user_beside_clone_test.ts",
    "beside any clone, the user's skills have the same files, and no hidden skill has their names",
  ],
  "let a root, an option, or a rule mean another folder": [
    "tests/clone_attacks_test.ts",
    "a folder that an option or a rule names, and that a clone makes a link out, names nothing, with one problem",
  ],
  "take the place of another name": [
    "tests/clone_attacks_test.ts",
    "in a clone, names that only look like the user's are malformed, and the user's own names are as they were",
  ],
  "push your skills out of a list": [
    "tests/project_skills_test.ts",
    "twelve hundred skills of a project push none of the user's own out of any list, page, or search",
  ],
  "make the server advise your agent about its files": [
    "src/views/near_miss_summary_test.ts",
    "what is almost a skill in a project is for people alone",
  ],
  "speak as the server": [
    "tests/project_skills_test.ts",
    "only plain names stand in the server's own sentences, and every name is on one line of at most 200 characters",
  ],
  "replace the server through a `deno.json`": [
    "tests/project_skills_test.ts",
    "the HTTP server runs nothing of the folder in which it is started",
  ],
  "hold up the start for long": [
    "tests/project_skills_test.ts",
    "a scan spends two seconds on unknown skills of a project, and the next one continues",
  ],
  "run programs through a printed configuration": [
    "src/cli/clients/launch_test.ts",
    "createLaunch() starts Deno with its permissions and import map, or an executable",
  ],
  "make the server read outside of its folder": [
    "tests/hostile_test.ts",
    "--check reports every hostile entry and reveals nothing outside the skills",
  ],
  "see files of a skill that is off": [
    "tests/hidden_files_test.ts",
    "a skill that is off is hidden from the links of other skills into a trusted folder",
  ],
  "harm another skill": [
    "tests/scanner_test.ts",
    "scanSkillRoots() skips each invalid skill with a reason and keeps the valid skill",
  ],
  "reach the server through the browser": [
    "src/http/access_test.ts",
    "AccessControl.findHostRefusal() accepts localhost and the configured names",
  ],
  "keep out others that have a token of their own": [
    "tests/http_budget_test.ts",
    "clients that read nothing, or are gone, do not stop others",
  ],
};

const PAGE = readFileSync(join(REPOSITORY, "docs", "security.md"), "utf8")
  .replaceAll(/\s+/g, " ");

/** Lists what somebody cannot do. Each text begins with it. */
function listPromises(): string[] {
  const [, ...texts] = PAGE.split(
    /(?:It|A client|a website) (?:cannot|\*\*cannot\*\*) /,
  );
  return texts.map((text) => text.split("It **can** ")[0]!).flatMap((text) =>
    text.startsWith("- ") ? text.slice(2).split("; - ") : [text]
  );
}

Deno.test("docs/security.md promises only what a test shows, and all that is tested as a promise", () => {
  const starts = Object.keys(PROMISES);
  const promises = listPromises();
  const unknown = promises.filter((promise) =>
    !starts.some((start) => promise.startsWith(start))
  );
  assert.deepEqual(unknown, []);
  const unsaid = starts.filter((start) =>
    !promises.some((promise) => promise.startsWith(start))
  );
  assert.deepEqual(unsaid, []);
});

for (const [promise, [file, test]] of Object.entries(PROMISES)) {
  Deno.test(`${file} tests that nobody can ${promise}`, () => {
    const text = readFileSync(join(REPOSITORY, file), "utf8");
    assert.ok(text.includes(JSON.stringify(test)), test);
  });
}

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
