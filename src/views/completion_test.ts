import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, Place } from "../../tests/testing/folders.ts";

Deno.test("completion/complete completes names and paths by prefix, ignoring case", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "Gitlab");
  await using session = await Session.open(place);
  const complete = async (
    ref: { type: "ref/prompt"; name: string } | {
      type: "ref/resource";
      uri: string;
    },
    [name, value]: [string, string],
    context?: Record<string, string>,
  ) => {
    const argument = { name, value };
    const params = { ref, argument, context: { arguments: context } };
    return (await session.client.complete(params)).completion.values;
  };
  const prompt = { type: "ref/prompt", name: "skill" } as const;
  assert.deepEqual(await complete(prompt, ["name", "GI"]), ["git", "Gitlab"]);
  assert.deepEqual(await complete(prompt, ["name", "x"]), []);
  assert.deepEqual(await complete(prompt, ["other", ""]), []);
  const file = { type: "ref/resource", uri: "skill://{name}/{+path}" } as const;
  assert.deepEqual(await complete(file, ["name", "gitl"]), ["Gitlab"]);
  assert.deepEqual(
    await complete(file, ["path", "REF"], { name: "GIT" }),
    ["references/API.md", "references/deep/more.md"],
  );
  assert.deepEqual(await complete(file, ["path", ""], { name: "none" }), []);
  assert.deepEqual(await complete(file, ["path", ""]), []);
  const unknown = { type: "ref/prompt", name: "none" } as const;
  await assert.rejects(complete(unknown, ["name", ""]), { code: -32602 });
  const other = { type: "ref/resource", uri: "skill://x" } as const;
  await assert.rejects(complete(other, ["name", ""]), { code: -32602 });
});

Deno.test("completion/complete returns a hundred values and the total", async () => {
  using place = new Place();
  for (let i = 0; i < 120; i++) place.skill("home/.claude/skills", `s${i}`);
  await using session = await Session.open(place);
  const { completion } = await session.client.complete({
    ref: { type: "ref/prompt", name: "skill" },
    argument: { name: "name", value: "s" },
  });
  const { values, total, hasMore } = completion;
  assert.deepEqual([values.length, total, hasMore], [100, 120, true]);
});
