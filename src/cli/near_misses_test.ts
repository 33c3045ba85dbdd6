import assert from "node:assert/strict";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { diagnosticsIn } from "../../tests/testing/report.ts";
import { join, relative } from "../fs/paths.ts";
import { findFileDiagnostic } from "./near_misses.ts";

/** The names of files in a folder `skills`, and the rule that each breaks. */
const FILES: [rule: string | undefined, names: string[]][] = [
  ["loose-file", ["SKILL.md.txt", "SKILL.markdown", "SKILL.txt", "SKILL"]],
  ["loose-file", ["SKILL.md.md", "SKILL (1).md", "SKILL copy.md", "SKILL .md"]],
  ["loose-file", ["skill.MARKDOWN", "Skill.md", "SKILL.md"]],
  ["archive", ["a.zip", "a.SKILL", "SKILL.tgz"]],
  [undefined, ["skills.md", "a.md", "git", "a.txt", "SKILL.md.bak", ".env"]],
];

Deno.test("findFileDiagnostic() tells by its name what a file among skills may be meant as", () => {
  for (const [rule, names] of FILES) {
    for (const name of names) {
      assert.equal(
        findFileDiagnostic(`/none/skills/${name}`)?.rule,
        rule,
        name,
      );
    }
  }
  assert.equal(findFileDiagnostic("/none/tools/SKILL.md")?.rule, "loose-file");
  assert.equal(findFileDiagnostic("/none/tools/SKILL.txt")?.rule, "file-name");
  assert.equal(findFileDiagnostic("/none/tools/a.zip"), undefined);
});

Deno.test(
  "--list reports no file behind a link",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.link(place.file("secret.md", skillMd("a")), "skills/a.md");
    const folder = join(place.path, "skills");
    assert.deepEqual(await diagnosticsIn("--list", folder), []);
  },
);

Deno.test("--list reports near misses in a root, and in the folders directly there", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/SKILL.txt", "");
  place.file("skills/README.md", "");
  place.file("skills/loose.md", skillMd("loose"));
  place.file("skills/a.zip", "");
  place.file("skills/git.zip", "");
  place.file("skills/up/SKILL.md.txt", "");
  place.file("skills/guide/guide.md", "");
  place.file("skills/_shared/a.md", "");
  place.folder("skills/empty");
  place.file("skills/group/deep/SKILL", "");
  place.skill("skills/download/skills", "pdf");
  place.skill("skills", "bad", "no frontmatter");
  const folder = join(place.path, "skills");
  const diagnostics = await diagnosticsIn("--list", folder);
  assert.deepEqual(
    diagnostics.map(({ file, rule }) =>
      `${rule} ${relative(folder, file).replaceAll("\\", "/")}`
    ),
    [
      "archive a.zip",
      "frontmatter-missing bad/SKILL.md",
      "not-searched download",
      "skill-md-missing group",
      "skill-md-missing guide",
      "loose-file loose.md",
      "file-name up/SKILL.md.txt",
    ],
  );
});
