// Groups: folders directly in a folder of skills that only hold skills.
import assert from "node:assert/strict";
import { SkillRegistry } from "../mod.ts";
import { join } from "../src/files/paths.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { root } from "./testing/registry.ts";
import { Wire } from "./testing/server.ts";

Deno.test("a skill that is added to a group is noticed by watching", async () => {
  using place = new Place();
  place.skill("home/.claude/skills/eng", "tdd");
  await using wire = new Wire(place, { args: ["--refresh", "0"] });
  await wire.initialize();
  place.skill("home/.claude/skills/eng", "review");
  await wire.lines.take(
    (line) => line.includes("prompts/list_changed"),
    "a change",
  );
  const { result: { prompts } } = await wire.ask(1, "prompts/list");
  const names = prompts.map(({ name }: { name: string }) => name);
  assert.deepEqual(names, ["skill", "review", "tdd"]);
});

Deno.test("a folder that becomes a skill is a group no longer, and back", async () => {
  using place = new Place();
  place.skill("skills/eng", "tdd");
  const folder = root(join(place.path, "skills"));
  using registry = new SkillRegistry([folder], { log: () => {} });
  const keys = async () => [...(await registry.refresh()).skills.keys()];
  assert.deepEqual(await keys(), ["tdd"]);
  place.file("skills/eng/SKILL.md", skillMd("eng"));
  assert.deepEqual(await keys(), ["eng"]);
  place.remove("skills/eng/SKILL.md");
  assert.deepEqual(await keys(), ["tdd"]);
});
