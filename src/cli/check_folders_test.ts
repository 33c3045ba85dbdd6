import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { printedReport } from "../../tests/testing/report.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";

/** Creates a place with a good skill beside broken ones, here and in the home folder. */
function targetPlace(): Place {
  const place = new Place();
  place.skill("project/skills", "pdf");
  place.skill("project/skills", "broken", "no frontmatter");
  place.skill("home/.claude/skills", "other", "no frontmatter");
  place.skill("project/skills/pdf/examples", "nested", "no frontmatter");
  place.file("project/skills/pdf/examples/skill.txt", "");
  return place;
}

const targets: [string, string, string][] = [
  ["a skill's folder", "project", "skills/pdf"],
  ["the folder it runs in", "project/skills/pdf", "."],
  ["a SKILL.md", "project", "skills/pdf/SKILL.md"],
  ["a SKILL.md in the folder it runs in", "project/skills/pdf", "SKILL.md"],
];

for (const [what, folder, target] of targets) {
  Deno.test(`--check checks only the skill if it is given ${what}`, async () => {
    using place = targetPlace();
    const folders = { project: join(place.path, folder), home: place.home };
    assert.deepEqual(await printedReport(folders, "--check", target), {
      code: 0,
      text: "Checked 1 skill: no problems\n",
    });
    place.file("project/skills/pdf/SKILL.md", skillMd("git"));
    const { code, text: stdout } = await printedReport(
      folders,
      "--check",
      target,
    );
    assert.equal(code, 1);
    assert.match(stdout, /error\[name-folder\]/);
    assert.match(stdout, /\nChecked 1 skill: 1 error, 0 warnings\n$/);
  });
}

Deno.test("--check checks a skill whose file is in lowercase", async () => {
  using place = targetPlace();
  const file = place.file("project/skills/low/skill.md", skillMd("low"));
  const { text } = await printedReport(place, "--check", file);
  assert.match(text, /Checked 1 skill: /);
});

Deno.test("--check reports a skill that cannot be served if it is given alone", async () => {
  using place = targetPlace();
  const args = ["--check", "skills/broken"];
  const { code, text: stdout } = await printedReport(place, ...args);
  assert.equal(code, 1);
  assert.match(
    stdout,
    /^skills\/broken\/SKILL.md:1: error\[frontmatter-missing\]: /,
  );
  assert.match(stdout, /\nChecked 1 skill: 1 error, 0 warnings\n$/);
});

Deno.test("--check checks a skill and a folder of skills in one run", async () => {
  using place = targetPlace();
  place.skill("project/more", "git");
  const args = ["--check", "skills/pdf", "more"];
  const { code, text: stdout } = await printedReport(place, ...args);
  assert.deepEqual([code, stdout], [0, "Checked 2 skills: no problems\n"]);
});

Deno.test("--check reports the misnamed file in a folder that it is given", async () => {
  using place = new Place();
  place.file("project/pdf/SKILL.markdown", skillMd("pdf"));
  const { code, text: stdout } = await printedReport(place, "--check", "pdf");
  assert.equal(code, 1);
  assert.match(stdout, /^pdf\/SKILL.markdown: error\[file-name\]: /);
});

Deno.test("--check finds a skill in the default folders by the name of its folder", async () => {
  using place = targetPlace();
  place.skill("home/.agent/skills", "git", skillMd("git-tool"));
  place.skill("project/.claude/skills", "git");
  const { text } = await printedReport(place, "--check", "git");
  assert.match(
    text,
    /^~\/.agent\/skills\/git\/SKILL.md:2: error\[name-folder\]/,
  );
  assert.match(text, /\nChecked 2 skills: 1 error, 0 warnings\n$/);
});

for (const args of [[], ["."], ["empty"]]) {
  Deno.test(`--check ${args.join(" ")} exits with 1 if it finds no skill`, async () => {
    using place = new Place();
    place.folder("project/empty");
    const { code, text: stdout } = await printedReport(
      place,
      "--check",
      ...args,
    );
    assert.equal(code, 1);
    assert.match(stdout, /error\[no-skills\]/);
    assert.match(stdout, /\nChecked 0 skills: 1 error, 0 warnings\n$/);
  });
}
