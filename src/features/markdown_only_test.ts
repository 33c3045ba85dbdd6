import assert from "node:assert/strict";
import { filesPlace } from "../../tests/testing/place.ts";
import { Wire } from "../../tests/testing/server.ts";

Deno.test("with --tools reference, only .md files can be read and are listed", async () => {
  using place = filesPlace();
  const args = ["--tools", "reference"];
  await using wire = await Wire.open(place, { args });
  const ask = async (method: string, uri: string) =>
    await wire.ask(1, method, { uri });
  const { error } = await ask("resources/read", "skill://git/logo.png");
  assert.match(error!.message, /the skill serves no such file/);
  const all = await ask("resources/read", "skill://git/");
  const found = await ask("skills/get", "skill://git/SKILL.md");
  const children = await ask("resources/directory/read", "skill://git");
  const lists = [all.result.contents, found.result.skill.resources];
  for (const list of [...lists, children.result.resources]) {
    assert.ok(list.length > 1 && !JSON.stringify(list).includes("logo"));
  }
});
