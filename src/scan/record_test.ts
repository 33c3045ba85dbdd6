import assert from "node:assert/strict";
import { diskError, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { root } from "../../tests/testing/registry.ts";
import { visitOf } from "../../tests/testing/scan.ts";
import { LINK_OUTSIDE, SkillFileError, WAS_REPLACED } from "../fs/faults.ts";
import { join, resolve } from "../fs/paths.ts";
import { Project } from "../skills/roots.ts";
import {
  createFailure,
  type Failure,
  findTrouble,
  TroubledScans,
} from "./record.ts";

const PROJECT = new Project({ workingDirectory: "/project" });

Deno.test("createFailure() says what is wrong with a file, which option helps, and whether it may pass", () => {
  const link = new SkillFileError("a", LINK_OUTSIDE);
  const path = resolve("/mine/a");
  const { diagnostic, ...rest } = createFailure(link, path, PROJECT);
  assert.deepEqual(rest, {
    location: path,
    scope: "global",
    isTemporary: false,
  });
  const { file, rule, fix } = diagnostic;
  assert.deepEqual([file, rule], [path, "link-outside"]);
  assert.match(fix, /--trust-links/);
  for (const error of [diskError(), new SkillFileError("a", WAS_REPLACED)]) {
    assert.equal(createFailure(error, path, PROJECT).isTemporary, true);
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

const MINE = root("/mine");

/** Returns the trouble in failures of visiting, and of reading. */
function troubleIn(
  visited: readonly Failure[],
  read: readonly Failure[] = [],
): string | undefined {
  const visits = visited.map((failure) =>
    visitOf(MINE, { failures: [failure] })
  );
  return findTrouble(visits, { skills: new Map(), unread: [], failures: read });
}

Deno.test("findTrouble() says the first failure of the user's that may pass, so a project causes none", () => {
  const lasting = createFailure(new Deno.errors.NotFound(), "/mine/a", PROJECT);
  const theirs = createFailure(diskError(), "/project/a", PROJECT);
  const mine = createFailure(diskError(), "/mine/b", PROJECT);
  assert.equal(troubleIn([]), undefined);
  assert.equal(troubleIn([lasting, theirs], [theirs, lasting]), undefined);
  const trouble =
    '"/mine/b": the operating system refuses to read it (Input/output error (os error 5))';
  assert.equal(troubleIn([lasting, theirs, mine]), trouble);
  assert.equal(troubleIn([lasting], [theirs, mine]), trouble);
});

Deno.test("TroubledScans.accept() accepts the fifth scan in a row with trouble, and logs the first", () => {
  const lines: string[] = [];
  const scans = new TroubledScans((line) => lines.push(line));
  const accepted = (count: number, trouble?: string) =>
    Array.from({ length: count }, () => scans.accept(trouble));
  assert.deepEqual(accepted(2), [true, true]);
  assert.deepEqual(accepted(2, "a"), [false, false]);
  assert.deepEqual(accepted(1), [true]);
  const none = [false, false, false, false];
  assert.deepEqual(accepted(6, "b: why"), [...none, true, true]);
  assert.deepEqual(accepted(1), [true]);
  assert.deepEqual(accepted(1, "c"), [false]);
  assert.equal(lines.length, 3);
  assert.match(lines[1]!, /^Cannot read b: why; the skills stay as they were/);
});
