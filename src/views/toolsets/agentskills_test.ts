import assert from "node:assert/strict";
import { Session } from "../../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../../tests/testing/folders.ts";
import { join } from "../../files/paths.ts";

Deno.test("load_skill_metadata_op returns the description and directory of skills in all subfolders", async () => {
  using place = new Place();
  const git = place.skill("skills", "git", skillMd("git", "Work with git"));
  const deep = place.skill("skills/a/b", "deep");
  const args = ["--tools", "agentskills", join(place.path, "skills")];
  await using session = await Session.open(place, { args });
  const { text } = await session.text("load_skill_metadata_op");
  assert.deepEqual(JSON.parse(text), {
    deep: { description: "About deep", skill_dir: deep },
    git: { description: "Work with git", skill_dir: git },
  });
});

Deno.test("load_skill_op and read_reference_file_op read a skill and its files", async () => {
  using place = filesPlace();
  const args = ["--tools", "agentskills"];
  await using session = await Session.open(place, { args });
  const load = await session.text("load_skill_op", { skill_name: "git" });
  assert.equal(load.text, skillMd("git", "Work with git"));
  const read = (file_name: string) =>
    session.call("read_reference_file_op", { skill_name: "git", file_name });
  assert.deepEqual((await read("references/API.md")).content, [
    { type: "text", text: "# API" },
  ]);
  const { content: [logo] } = await read("logo.png");
  assert.equal(logo!.type, "resource");
  const { content, isError } = await read("none.md");
  assert.equal(isError, true);
  assert.match(JSON.stringify(content), /there is no such file in the skill/);
});
