import assert from "node:assert/strict";
import { diskError } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { Project } from "../skills/roots.ts";
import { createFailure, type Failure, type RootVisit } from "./record.ts";
import { findTrouble, TroubledScans } from "./trouble.ts";

const MINE = root("/mine");
const PROJECT = new Project({ workingDirectory: "/project" });

/** Returns the trouble in failures of visiting, and of reading. */
function troubleIn(
  visited: readonly Failure[],
  read: readonly Failure[] = [],
): string | undefined {
  const visits = visited.map((failure): RootVisit => ({
    report: { root: MINE, scope: "global", status: "found", skills: 0 },
    folders: [],
    unread: [],
    unlisted: [],
    failures: [failure],
  }));
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
