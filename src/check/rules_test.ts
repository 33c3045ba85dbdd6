import assert from "node:assert/strict";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { needs } from "../../tests/testing/needs.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { diagnosticsIn } from "../../tests/testing/report.ts";
import { join, relative } from "../fs/paths.ts";
import { checkSkill } from "./rules.ts";

const withModes = needs("modes");

withModes.test("--check reports files and folders without read permission", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  const text = `${skillMd("locked")}[x](keys/one.md)`;
  const modes: [string, number, number][] = [
    [place.file(`${skills}/locked/SKILL.md`, text), 0o600, 0o600],
    [place.file(`${skills}/locked/key.md`, ""), 0, 0o600],
    [join(place.file(`${skills}/locked/keys/one.md`, ""), ".."), 0, 0o700],
    [
      place.skill(skills, "shut", `${skillMd("shut")}[x](y.md)`),
      0o300,
      0o700,
    ],
  ];
  for (const [path, mode] of modes) Deno.chmodSync(path, mode);
  const dir = join(place.path, skills);
  const diagnostics = await diagnosticsIn("--check", dir);
  for (const [path, , mode] of modes) Deno.chmodSync(path, mode);
  const findings = diagnostics.map(
    ({ severity, rule, file, line, reason }) => {
      const path = relative(dir, file) + (line ? `:${line}` : "");
      return `${severity} ${rule} ${path}: ${reason}`;
    },
  );
  assert.deepEqual(findings, [
    'warning broken-link locked/SKILL.md:7: the link "keys/one.md" does not lead to a file that the skill serves',
    "error unreadable locked/key.md: you have no permission to read it",
    "warning not-served locked/keys: you have no permission to read it",
    "error unreadable shut: you have no permission to read it",
    'warning broken-link shut/SKILL.md:7: the link "y.md" does not lead to a file that the skill serves',
  ]);
});

Deno.test("checkSkill() reports files that it can no longer read", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = await openRegistry(join(place.path, "skills"));
  const skill = registry.find("git")!;
  const contents = await registry.listFiles(skill);
  place.remove("skills/git");
  const diagnostics = await checkSkill(skill, { registry, contents });
  assert.deepEqual(diagnostics.map(({ rule, file }) => [rule, file]), [
    ["unreadable", skill.file],
  ]);
});
