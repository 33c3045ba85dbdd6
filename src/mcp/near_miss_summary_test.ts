import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";

Deno.test("the list and the answers count what may be meant as a skill, and say how to fix it, without names", async () => {
  using place = new Place();
  const chosen = place.folder("chosen");
  place.file("chosen/secret-3.zip", "");
  place.file("chosen/secret/secret.md", "");
  // It was unpacked.
  place.file("chosen/secret.zip", "");
  // This folder is a root of its own, too.
  place.file("chosen/skills/secret.skill", "");
  const args = ["--tools", "skilljack", "--recursive", chosen, "gone-secret"];
  await using session = await Session.open(place, { args });
  const { text } = await session.load("report");
  const archives =
    "2 archives (if it has a skill, unpack into a folder of its own)";
  const folder =
    "1 folder without a file SKILL.md (if it is a skill, add one, or rename the Markdown file that is meant)";
  const missing =
    "1 folder that is missing or cannot be searched (choose it again in the settings)";
  const noticed = `The server noticed ${archives}, ${folder}, and ${missing}.`;
  assert.ok(text.includes(`There are no skills. ${noticed} Tell the`), text);
  assert.doesNotMatch(text, /secret/);
  // Beside a skill, a folder without one may be meant so, unless it looks like one.
  place.skill("chosen", "git");
  place.file("chosen/secret-data/a.csv", "");
  place.file("chosen/secret-2/SKILL.md.txt", "");
  place.skill("chosen", "secret-4", "No frontmatter");
  place.skill("chosen", "secret-5", skillMd("git"));
  place.skill("chosen", "secret-6", skillMd("git"));
  const end =
    `The server noticed 1 skill with a mistake in SKILL.md (load by the name of the folder to learn how to fix it), 2 skills with the name of another one ("git": delete the copy, or change the name in its SKILL.md), ${archives}, 1 file that should be named exactly SKILL.md, in a folder of its own (save as plain text; an ending such as .txt may be hidden), ${folder}, and ${missing}.`;
  const answer = (await session.load("report")).text;
  const description = await session.description();
  assert.ok(description.endsWith(end), description);
  assert.ok(
    answer.startsWith(`Skill 'report' not found.\n\n${end}\n\nAvailable`),
    answer,
  );
  for (const text of [answer, description]) {
    assert.doesNotMatch(text.replaceAll(place.path, ""), /secret/);
  }
  const { text: told } = await session.load("secret-4");
  assert.match(told, /there is no frontmatter/);
  assert.doesNotMatch(told, /The server noticed/);
});

Deno.test("the tool skill counts near misses only while there is no skill, and then answers in the wording of its contract", async () => {
  using place = new Place();
  place.file("home/.claude/skills/secret.zip", "");
  place.file("home/.claude/skills/secret-data/a.csv", "");
  await using session = await Session.open(place);
  const last =
    "\n\nUse the exact skill name (case-insensitive) to load a skill.";
  const before = (await session.load("report")).text;
  assert.ok(before.endsWith(last));
  for (const text of [before, await session.description()]) {
    assert.match(
      text,
      /There are no skills\. The server noticed 1 archive \(.*\) and 1 folder without .*\)\. Tell the/,
    );
    assert.doesNotMatch(text, /secret|--list|terminal/);
  }
  place.skill("home/.claude/skills", "git");
  await session.listChanged();
  assert.doesNotMatch(await session.description(), /archive/);
  const { text } = await session.load("report");
  assert.equal(
    text,
    `Skill 'report' not found.\n\nAvailable skills:\n- git: About git${last}`,
  );
});

Deno.test("what is almost a skill in a project is for people alone", async () => {
  using place = new Place();
  for (const name of ["setup.zip", "Skill.md.txt", "docs/docs.md"]) {
    place.file(`project/.claude/skills/${name}`, "");
  }
  place.skill("project/.claude/skills", "broken", "No frontmatter");
  for (const toolset of ["skill", "skilljack"]) {
    const args = ["--tools", toolset];
    await using session = await Session.open(place, { args });
    const texts = [
      await session.description(),
      (await session.load("report")).text,
    ];
    for (const text of texts) assert.doesNotMatch(text, /noticed|unpack/);
  }
});
