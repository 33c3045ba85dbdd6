import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/folders.ts";

for (
  const [toolset, limits] of [["skill", [2048, 900, 300]], ["skilljack", [
    2048,
    300,
  ]], ["reference", [1900, 300]]] as const
) {
  Deno.test(`--description-limit limits the descriptions of ${toolset} and keeps every name if it fits`, async () => {
    using place = new Place();
    const count = 40;
    for (let i = 0; i < count; i++) {
      const description = i % 2
        ? "Short & <good>"
        : `Long ${"words ".repeat(50)}`;
      place.skill(
        "home/.claude/skills",
        `skill-${i}`,
        skillMd(`skill-${i}`, description),
      );
    }
    for (const limit of limits) {
      const args = ["--tools", toolset, "--description-limit", String(limit)];
      await using session = await Session.open(place, { args });
      const { tools: [tool] } = await session.client.listTools();
      const description = tool!.description!;
      assert.ok(description.length <= limit, `${description.length}`);
      const listed = description.match(/^- skill-\d+/gm)?.length ?? 0;
      const more = Number(
        /\(and (\d+) more: pass a name/.exec(description)?.[1] ?? 0,
      );
      assert.equal(listed + more, count);
      assert.ok(!description.includes("<good>"));
      if (limit > 1500) {
        assert.equal(more, 0);
        assert.match(description, /^- skill-1: Short &amp; &lt;good&gt;$/m);
        assert.match(description, /^- skill-0: Long (words )+words…$/m);
      }
      const found = await session.call(
        toolset === "reference" ? "read_skill" : "skill",
        { name: "skill-39" },
      );
      assert.equal(found.isError, undefined);
    }
  });
}

Deno.test("--description-limit changes nothing if the description fits", async () => {
  using place = filesPlace();
  const args = ["--description-limit", "20000"];
  await using session = await Session.open(place, { args });
  await using other = await Session.open(place);
  assert.equal(await session.description(), await other.description());
});

Deno.test("--description-limit 0 lists every skill in full, however many there are", async () => {
  using place = new Place();
  const description = "d".repeat(1_000);
  for (let i = 0; i < 40; i++) {
    place.skill("home/.claude/skills", `s${i}`, skillMd(`s${i}`, description));
  }
  const lengthWith = async (args: string[]) => {
    await using session = await Session.open(place, { args });
    return (await session.description()).length;
  };
  assert.ok(await lengthWith([]) <= 30_000);
  assert.ok(await lengthWith(["--description-limit", "0"]) > 40_000);
});
