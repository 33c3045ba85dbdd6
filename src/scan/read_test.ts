import assert from "node:assert/strict";
import {
  diskError,
  DiskSpy,
  LaterClock,
  OpenSpy,
  Place,
  skillMd,
} from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { visited, visitOf } from "../../tests/testing/scan.ts";
import { join } from "../fs/paths.ts";
import { TimeSlice } from "../tasks.ts";
import { Project } from "../skills/roots.ts";
import { type ReadOptions, readSkills } from "./read.ts";
import type { SkillScope } from "../skills/types.ts";
import type { Reading, RootVisit } from "./record.ts";

/** Describes the visit of a root that lists folders. */
function visitIn(
  { path }: Place,
  names: readonly string[],
  scope: SkillScope = "global",
): RootVisit {
  const skills = root(join(path, "skills"), { scope });
  const folders = names.map((name) => visited(skills, join(skills.path, name)));
  return visitOf(skills, { folders });
}

async function read(
  visits: readonly RootVisit[],
  options: Partial<ReadOptions> = {},
): Promise<Reading> {
  const start = {
    project: new Project({}),
    known: new Map(),
    maxFileSize: undefined,
    slice: new TimeSlice(),
  };
  return await readSkills({ ...start, ...options, visits });
}

Deno.test("readSkills() reads each real folder once, says why one cannot be read, and leaves out what is no skill", async () => {
  using place = new Place();
  place.skill("skills", "good");
  place.skill("skills", "bad", "no frontmatter");
  place.folder("skills", "folder", "SKILL.md");
  place.folder("skills", "none");
  const visit = visitIn(place, ["good", "bad", "folder", "none"]);
  using opens = new OpenSpy();
  const { skills, failures, unread } = await read([visit, visit]);
  assert.equal(opens.count, 2);
  assert.deepEqual([failures, unread], [[], []]);
  const parsed = [...skills.values()].map(({ parsed }) =>
    parsed.frontmatter?.name ?? parsed.diagnostic!.rule
  );
  assert.deepEqual(parsed, ["good", "frontmatter-missing", "not-a-file"]);
});

Deno.test("readSkills() returns what it read before while a file is the same", async () => {
  using place = new Place();
  place.skill("skills", "git");
  // Then what was written is no longer recent.
  using _clock = new LaterClock();
  const visit = visitIn(place, ["git"]);
  let first = await read([visit]);
  // What others write to the temporary folder in the meantime leaves a read unproven.
  const isProven = () => first.skills.values().every((it) => it.isSettled);
  for (let tries = 0; !isProven() && tries < 100; tries++) {
    first = await read([visit]);
  }
  const [[path, skill]] = [...first.skills] as [[string, unknown]];
  const again = await read([visit], { known: first.skills });
  assert.equal(again.skills.get(path), skill);
  place.replace("skills/git/SKILL.md", skillMd("git", "New"));
  const changed = await read([visit], { known: first.skills });
  const { description } = changed.skills.get(path)!.parsed.frontmatter!;
  assert.equal(description, "New");
});

Deno.test("readSkills() reports what may pass as a failure, and never as an answer", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const visit = visitIn(place, ["git"]);
  using _disk = new DiskSpy((_path, operation) =>
    operation === "openSync" ? diskError() : undefined
  );
  const { skills, unread, failures } = await read([visit]);
  assert.equal(skills.size, 0);
  // Nobody knows whether the skill is for the model, so it is not in one around it either.
  assert.deepEqual(unread, [join(place.path, "skills", "git")]);
  assert.deepEqual(
    failures.map((
      { isTemporary, diagnostic },
    ) => [isTemporary, diagnostic.file]),
    [[true, join(place.path, "skills", "git")]],
  );
});

Deno.test("readSkills() leaves the rest of a project's unknown skills unread after two seconds, with one problem", async () => {
  using place = new Place();
  const names = ["a", "b", "c", "d"];
  for (const name of names) place.skill("skills", name);
  place.skill("skills", "own");
  const visit = visitIn(place, names, "project");
  using clock = new LaterClock();
  using _opens = new OpenSpy({ afterOpen: () => clock.ahead += 1_500 });
  const first = await read([visit, visitIn(place, ["own"])]);
  // Two of the project's, and the user's own.
  assert.deepEqual([first.skills.size, first.unread.length], [3, 2]);
  assert.deepEqual(
    first.failures.map(({ diagnostic: { file, rule } }) => [file, rule]),
    [[join(place.path, "skills"), "too-many"]],
  );
  // What is known costs nothing, and the next scan continues.
  const second = await read([visit], { known: first.skills });
  assert.equal(second.skills.size, 4);
  // Nor does it matter whether the time is over.
  for (const name of ["e", "f", "g"]) place.skill("skills", name);
  const more = visitIn(place, ["e", "f", "g", ...names], "project");
  const third = await read([more], { known: second.skills });
  assert.equal(third.skills.size, 6);
  assert.deepEqual(third.unread, [join(place.path, "skills", "g")]);
});
