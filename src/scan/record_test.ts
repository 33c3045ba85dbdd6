import assert from "node:assert/strict";
import { diskError, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { join } from "../files/paths.ts";
import { LINK_OUTSIDE, SkillFileError, WAS_REPLACED } from "../files/faults.ts";
import { Project } from "../skills/roots.ts";
import { createFailure } from "./record.ts";

const PROJECT = new Project({ workingDirectory: "/project" });

Deno.test("createFailure() says what is wrong with a file, which option helps, and whether it may pass", () => {
  const link = new SkillFileError("a", LINK_OUTSIDE);
  const { problem, ...rest } = createFailure(link, "/mine/a", PROJECT);
  assert.deepEqual(rest, {
    location: "/mine/a",
    scope: "global",
    isTemporary: false,
  });
  const { file, rule, hint } = problem;
  assert.deepEqual([file, rule], ["/mine/a", "link-outside"]);
  assert.match(hint, /--trust-links/);
  for (const error of [diskError(), new SkillFileError("a", WAS_REPLACED)]) {
    assert.equal(createFailure(error, "/mine/a", PROJECT).isTemporary, true);
  }
});

Deno.test(
  "createFailure() says whose something is by where it lies, not by where a link leads",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    place.folder("home/skills");
    place.link(place.folder("project/here"), "home/skills/to-project");
    place.link(place.folder("home/there"), "project/to-home");
    const project = new Project({ workingDirectory: place.project });
    const ownerOf = (path: string) =>
      createFailure(diskError(), join(place.path, path), project).scope;
    assert.equal(ownerOf("home/skills/to-project"), "global");
    assert.equal(ownerOf("home/skills/to-project/missing"), "project");
    assert.equal(ownerOf("project/to-home"), "project");
    assert.equal(ownerOf("project/missing/deep"), "project");
  },
);
