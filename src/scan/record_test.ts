import assert from "node:assert/strict";
import { diskError } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { LINK_OUTSIDE, SkillFileError, WAS_REPLACED } from "../files/faults.ts";
import {
  createFailure,
  type Failure,
  findTrouble,
  type RootVisit,
} from "./record.ts";

const MINE = root("/mine");
const THEIRS = root("/project", { scope: "project" });

/** Returns the trouble in failures of visiting, and of reading. */
function troubleIn(
  visited: readonly Failure[],
  read: readonly Failure[] = [],
): string | undefined {
  const visits = visited.map((failure): RootVisit => ({
    report: { root: MINE, scope: "global", status: "found", skills: 0 },
    folders: [],
    unread: [],
    failures: [failure],
  }));
  return findTrouble(visits, { skills: new Map(), unread: [], failures: read });
}

Deno.test("createFailure() says what is wrong with a file, which option helps, and whether it may pass", () => {
  const link = new SkillFileError("a", LINK_OUTSIDE);
  const { problem, ...rest } = createFailure(link, "/mine/a", MINE);
  assert.deepEqual(rest, { root: MINE, isTemporary: false });
  const { file, rule, hint } = problem;
  assert.deepEqual([file, rule], ["/mine/a", "link-outside"]);
  assert.match(hint, /--trust-links/);
  for (const error of [diskError(), new SkillFileError("a", WAS_REPLACED)]) {
    assert.equal(createFailure(error, "/mine/a", MINE).isTemporary, true);
  }
});

Deno.test("findTrouble() says the first failure in the user's roots that may pass, so a project causes none", () => {
  const lasting = createFailure(new Deno.errors.NotFound(), "/mine/a", MINE);
  const theirs = createFailure(diskError(), "/project/a", THEIRS);
  const mine = createFailure(diskError(), "/mine/b", MINE);
  assert.equal(troubleIn([]), undefined);
  assert.equal(troubleIn([lasting, theirs], [theirs, lasting]), undefined);
  const trouble =
    "/mine/b: the operating system refuses to read it (Input/output error (os error 5))";
  assert.equal(troubleIn([lasting, theirs, mine]), trouble);
  assert.equal(troubleIn([lasting], [theirs, mine]), trouble);
});
