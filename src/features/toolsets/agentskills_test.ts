import assert from "node:assert/strict";
import { Session } from "../../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../../tests/testing/folders.ts";
import { openRegistry } from "../../../tests/testing/registry.ts";
import { textOf, toolCaller } from "../../../tests/testing/tools.ts";
import { join } from "../../fs/paths.ts";

Deno.test("load_skill_metadata_op returns the skills in all subfolders", async () => {
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

Deno.test("load_skill_metadata_op lists skills of any name as one JSON object", async () => {
  using place = new Place();
  const dir = place.dir("skills");
  using registry = await openRegistry(dir);
  const isRemote = true;
  const call = toolCaller(registry, { toolset: "agentskills", isRemote });
  const list = async () => textOf(await call("load_skill_metadata_op"));
  assert.match(await list(), /^\{\}\nThere are no skills\./);
  const names = ["__proto__", "constructor", 'a"},"b'];
  for (const [index, name] of names.entries()) {
    const text = skillMd(JSON.stringify(name), '"a\\u200b\\n- b"');
    place.skill("skills", `${index}`, text);
  }
  const flag = "disable-model-invocation: true\n";
  place.skill("skills", "hidden", skillMd("hidden", "d", flag));
  await registry.refresh();
  const metadata: object = JSON.parse(await list());
  assert.deepEqual(Object.keys(metadata).sort(), names.sort());
  for (const { description, skill_dir } of Object.values(metadata)) {
    assert.equal(description, "a - b");
    // A client on another machine has no use for a path of this one.
    assert.match(skill_dir, /^skill:\/\/[^/]+\/$/);
  }
});

Deno.test("load_skill_op and read_reference_file_op read a skill and its files", async () => {
  using place = filesPlace();
  using registry = await openRegistry(join(place.home, ".claude", "skills"));
  const call = toolCaller(registry, { toolset: "agentskills" });
  const load = (skill_name: string) => call("load_skill_op", { skill_name });
  const read = (file_name: string, skill_name = "git") =>
    call("read_reference_file_op", { skill_name, file_name });
  const text = skillMd("git", "Work with git");
  assert.deepEqual(await load("git"), { content: [{ type: "text", text }] });
  assert.equal(textOf(await read("references/API.md")), "# API");
  const { content: [logo] } = await read("logo.png");
  assert.equal(logo!.type, "resource");
  for (const name of ["none", "hidden"]) {
    for (const result of [await load(name), await read("a.md", name)]) {
      assert.equal(result.isError, true);
      assert.match(textOf(result), /^Skill '.*' not found/);
    }
  }
  for (const file of ["", "references", "none.md", "../hidden/a.md"]) {
    const result = await read(file);
    assert.equal(result.isError, true, file);
    assert.match(textOf(result), /^Cannot read /);
  }
});
