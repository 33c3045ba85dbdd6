import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import {
  filesPlace,
  Place,
  policyArgs,
  policyPlace,
  skillMd,
} from "../../tests/testing/folders.ts";
import { Wire } from "../../tests/testing/server.ts";

/** What a completion is for: a prompt, or the URIs of resources. */
type Ref =
  | { type: "ref/prompt"; name: string }
  | { type: "ref/resource"; uri: string };

const PROMPT: Ref = { type: "ref/prompt", name: "skill" };
const FILE: Ref = { type: "ref/resource", uri: "skill://{name}/{+path}" };

/** Completes an argument, given those that the user has entered. */
async function complete(
  { client }: Session,
  ref: Ref,
  [name, value]: [string, string],
  entered?: Record<string, string>,
): Promise<string[]> {
  const argument = { name, value };
  const params = { ref, argument, context: { arguments: entered } };
  return (await client.complete(params)).completion.values;
}

Deno.test("completion/complete completes names and paths by prefix, ignoring case", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "Gitlab");
  await using session = await Session.open(place);
  assert.deepEqual(await complete(session, PROMPT, ["name", "GI"]), [
    "git",
    "Gitlab",
  ]);
  assert.deepEqual(await complete(session, PROMPT, ["name", "x"]), []);
  assert.deepEqual(await complete(session, PROMPT, ["other", ""]), []);
  assert.deepEqual(await complete(session, FILE, ["name", "gitl"]), ["Gitlab"]);
  assert.deepEqual(
    await complete(session, FILE, ["path", "REF"], { name: "GIT" }),
    ["references/API.md", "references/deep/more.md"],
  );
  assert.deepEqual(
    await complete(session, FILE, ["path", ""], { name: "none" }),
    [],
  );
  assert.deepEqual(await complete(session, FILE, ["path", ""]), []);
});

Deno.test("completion/complete returns a hundred values and the total", async () => {
  using place = new Place();
  for (let i = 0; i < 120; i++) place.skill("home/.claude/skills", `s${i}`);
  await using session = await Session.open(place);
  const { completion } = await session.client.complete({
    ref: PROMPT,
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
  const completeFor = async (name: string) => {
    const ref = { type: "ref/prompt", name };
    return await wire.ask(1, "completion/complete", { ref, argument });
  };
  assert.equal((await completeFor("none")).error!.code, -32602);
  for (const name of ["skill", "git"]) {
    assert.ok(
      (await completeFor(name)).result.completion.values.includes("git"),
    );
  }
});

Deno.test("completion/complete offers a prompt only what users can load, and neither of them what is off", async () => {
  using place = policyPlace("{ skill: b, state: off }");
  const flag = "user-invocable: false\n";
  place.skill("home/.claude/skills", "bg", skillMd("bg", "d", flag));
  // It shadows the user's, which has a qualified name.
  place.skill("project/.claude/skills", "c");
  await using session = await Session.open(place, { args: policyArgs(place) });
  const any: [string, string] = ["name", ""];
  const prompts = ["a", "c", "global:c"];
  assert.deepEqual(await complete(session, PROMPT, any), prompts);
  assert.deepEqual(await complete(session, FILE, any), [
    "a",
    "bg",
    "c",
    "global:c",
  ]);
  const path: [string, string] = ["path", ""];
  assert.deepEqual(await complete(session, FILE, path, { name: "b" }), []);
});

Deno.test("completion/complete takes what was entered as text, and hidden files for none", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  const git = { name: "git" };
  assert.deepEqual(await complete(session, FILE, ["path", ""], git), [
    "SKILL.md",
    "logo.png",
    "references/API.md",
    "references/deep/more.md",
  ]);
  for (const value of [".", "..", "../", ".env", "%53", "*", "g?t", "\0"]) {
    assert.deepEqual(await complete(session, FILE, ["path", value], git), []);
    assert.deepEqual(await complete(session, FILE, ["name", value]), []);
    const name = `${value}/git`;
    assert.deepEqual(await complete(session, FILE, ["path", ""], { name }), []);
  }
  for (const argument of ["__proto__", "toString", ""]) {
    assert.deepEqual(await complete(session, PROMPT, [argument, ""]), []);
  }
});
