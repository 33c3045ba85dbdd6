import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { ROOT_PARENTS } from "../skills/roots.ts";
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
  const searched = [...AGENT_DIRS, ...ROOT_PARENTS]
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
