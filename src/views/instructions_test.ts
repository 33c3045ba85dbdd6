import assert from "node:assert/strict";
import { SkillRegistry } from "../../mod.ts";
import { Place } from "../../tests/testing/place.ts";
import { root } from "../../tests/testing/registry.ts";
import { createInstructions } from "./instructions.ts";

Deno.test("createInstructions() summarizes the skills in a first line of 250 characters", async () => {
  using place = new Place();
  const dirs = [place.dir("skills"), place.dir("project", "skills")];
  const options = { workingDirectory: place.project };
  const roots = dirs.map((dir) => root(dir));
  using registry = new SkillRegistry(roots, options);
  const firstLine = () =>
    createInstructions("reference", registry.catalog).split("\n")[0]!;
  const start = "Instructions for tasks (skills)";
  assert.equal(firstLine(), `${start}: the tool list_skills lists them.`);
  await registry.refresh();
  assert.equal(firstLine(), `${start}. There are none yet.`);
  place.skill("skills", "pdf");
  // It names no skill of a project.
  place.skill("project/skills", "theirs");
  await registry.refresh();
  assert.equal(firstLine(), `${start}: 2 in total, such as pdf.`);
  place.remove("project/skills/theirs");
  place.skill("skills", "git");
  await registry.refresh();
  assert.equal(firstLine(), `${start}: git, pdf.`);
  for (let i = 0; i < 300; i++) place.skill("skills", `aws-service-${i}`);
  await registry.refresh();
  const line = firstLine();
  assert.match(line, /: 302 in total, such as aws-service-0, .*\.\.\.$/);
  assert.equal(line.length, 250);
});
