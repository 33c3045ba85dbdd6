// Where a file system ignores the case of names, nothing hidden has another spelling.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { listSkills, nextId, Session, verify } from "./testing/client.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { SECRET } from "./testing/hostile.ts";
import { needs } from "./testing/needs.ts";
import { Wire } from "./testing/server.ts";

const whereCaseIsIgnored = needs("caseBlind");

/** Creates a skill with a hidden directory, and with a nested skill that a policy turns off. */
function createPlace(): Place {
  const place = new Place();
  const git = "home/team/git";
  place.skill("home/team", "git");
  place.file(`${git}/docs/help.md`, "Help");
  place.file(`${git}/node_modules/x.js`, SECRET);
  place.skill(`${git}/docs`, "inner", skillMd("inner", SECRET));
  place.file(`${git}/docs/inner/notes.md`, SECRET);
  place.file(
    "policy.yaml",
    'rules:\n  - { in: "~/team/git/docs/inner", state: off }\n',
  );
  return place;
}

const PATHS = [
  "NODE_MODULES/x.js",
  "Node_Modules/X.JS",
  "docs/INNER/notes.md",
  "DOCS/inner/NOTES.md",
  "docs/Inner/SKILL.md",
];

const DIRS = ["NODE_MODULES", "docs/Inner"];

whereCaseIsIgnored.test("no other spelling of a name reaches a hidden file on a file system that ignores case", async () => {
  using place = createPlace();
  const args = [
    "--policy",
    join(place.path, "policy.yaml"),
    "--skill-dir",
    join(place.home, "team"),
  ];
  await using wire = await Wire.open(place, { args });
  const [entry, ...others] = await listSkills(wire);
  assert.deepEqual(others, []);
  assert.deepEqual(entry!.resources.map(({ uri }) => uri), [
    "skill://git/SKILL.md",
    "skill://git/docs/help.md",
  ]);
  await verify(wire, entry!);
  for (const path of [...PATHS, ...DIRS]) {
    for (const method of ["resources/read", "resources/directory/read"]) {
      const uri = `skill://git/${path}`;
      const { error } = await wire.ask(nextId(), method, { uri });
      assert.equal(error?.code, -32602, path);
    }
  }
  await using session = await Session.open(place, {
    args: [...args, "--tools", "skilljack"],
  });
  for (const path of [...PATHS, ...DIRS]) {
    const { text, isError } = await session.text("skill-resource", {
      skill: "git",
      path,
    });
    assert.ok(isError && !text.includes(SECRET), path);
  }
});
