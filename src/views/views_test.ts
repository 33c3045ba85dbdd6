import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { SkillRegistry } from "../../mod.ts";
import { Place } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { createInstructions } from "./views.ts";

Deno.test("createInstructions() says where the skills are listed until the first scan ends, and names some afterwards", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  const lines = () =>
    createInstructions("reference", registry.catalog).split("\n");
  const [early, ...others] = lines();
  assert.equal(
    early,
    "Proven instructions for tasks (skills): the tool list_skills lists them.",
  );
  await registry.refresh();
  assert.deepEqual(lines(), [
    "Proven instructions for tasks (skills): git.",
    ...others,
  ]);
});
