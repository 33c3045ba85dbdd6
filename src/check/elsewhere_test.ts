import assert from "node:assert/strict";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { LocalServer } from "../../tests/testing/local_server.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { isAtOrBelow, join } from "../fs/paths.ts";
import { SHARED_DIRS } from "../skills/roots.ts";
import { CLIENTS } from "../views/clients.ts";
import { AGENT_DIRS } from "./elsewhere.ts";

const withLinks = needs("links");

/** Lists the hints about directories that are not searched. */
async function hintsIn(place: Place): Promise<string[]> {
  const { stdout } = await runServer(place, { args: ["--list", "--json"] });
  const { diagnostics }: { diagnostics: Diagnostic[] } = JSON.parse(
    stdout,
  );
  return diagnostics.filter(({ rule }) => rule === "not-searched")
    .map(({ reason, fix }) => `${reason}; ${fix}`);
}

Deno.test("--list knows the folders of each client that lists skills itself", () => {
  const searched = [...AGENT_DIRS, ...SHARED_DIRS]
    .map((dir) => `${dir}/skills`);
  for (const { title, ownSkills = [] } of Object.values(CLIENTS)) {
    const dirs = ownSkills.map((dir) => dir.replace(/^(?:~|\.)\//, ""));
    const missing = dirs.filter((dir) => !searched.includes(dir));
    assert.deepEqual(missing, [], title);
  }
});

Deno.test("--list searches at most 1,000 folders of a project", async () => {
  using place = new Place();
  // The skill is the last of them.
  const skills = {
    "project/.claude/skills/z": "z/deep",
    "home/.claude/skills/z": "z/deep",
    "project/.agents/skills": "z",
  };
  for (const [dir, skill] of Object.entries(skills)) {
    place.file(`${dir}/${skill}/SKILL.md`, skillMd("z"));
    for (let index = 0; index < 1_000; index++) place.dir(`${dir}/${index}`);
  }
  const fixes = await hintsIn(place);
  assert.deepEqual(fixes.map((fix) => fix.includes("~")), [true]);
});

withLinks.test("--list prints at most 25 lines about deeper folders", async () => {
  using place = new Place();
  for (let index = 0; index < 26; index++) {
    place.skill("store", `skill-${index}`);
    place.skill(`collections/${index}/more`, `deep-${index}`);
    const links = "home/.agents/skills";
    place.link(`../../../store/skill-${index}`, `${links}/skill-${index}`);
    place.link(`../../../collections/${index}`, `${links}/all-${index}`);
  }
  const hints = await hintsIn(place);
  assert.equal(hints[0], "it has 26 skills, but is not searched; add --agents");
  assert.equal(hints.length, 1 + 25);
});

Deno.test("a running server reads only its own folders", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills/clone", "deeper");
  place.file("home/.claude/skills/typo/SKILL.txt", "");
  place.skill("home/.agents/skills", "installed");
  place.skill("project/.agents/skills", "clone");
  using server = await LocalServer.open({ ...place, args: [] });
  const skills = join(place.home, ".claude", "skills");
  const others = new Set<string>();
  using _disk = new DiskSpy((path, operation) => {
    const isOther = operation === "readDirSync" &&
      !isAtOrBelow(path, skills);
    if (isOther || path.includes(".agents")) others.add(path);
    return undefined;
  });
  await server.registry.refresh();
  const call = { name: "skill", arguments: { name: "none" } };
  await server.ask(0, "tools/call", call);
  assert.deepEqual([...others], []);
});
