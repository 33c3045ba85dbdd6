import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, Place } from "../../tests/testing/folders.ts";
import { Wire } from "../../tests/testing/server.ts";

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

Deno.test("completion/complete refuses an unknown prompt", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const argument = { name: "name", value: "" };
  const complete = async (name: string) => {
    const ref = { type: "ref/prompt", name };
    return await wire.ask(1, "completion/complete", { ref, argument });
  };
  assert.equal((await complete("none")).error!.code, -32602);
  assert.match(
    (await complete("x".repeat(9_000))).error!.message,
    /^.{0,1100}$/,
  );
  for (const name of ["skill", "git"]) {
    assert.ok((await complete(name)).result.completion.values.includes("git"));
  }
});
