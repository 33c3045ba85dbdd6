import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/folders.ts";
import { join } from "../files/paths.ts";

Deno.test("a client learns that the list changed if what it is sent changed, such as the location of a skill", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  await using session = await Session.open(place, { args: ["--refresh", "1"] });
  const describe = async () => {
    const { tools } = await session.client.listTools();
    return tools[0]!.description!;
  };
  assert.match(await describe(), /<location>project<\/location>/);
  place.folder("home/.agent/skills");
  Deno.renameSync(
    join(place.project, ".claude", "skills", "git"),
    join(place.home, ".agent", "skills", "git"),
  );
  await session.listChanged();
  assert.match(await describe(), /<location>global<\/location>/);
});
