import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/place.ts";

Deno.test("a saved policy change sends notifications only for the lists that it changes", async () => {
  using place = new Place();
  for (const name of ["a", "b", "c"]) place.skill("home/.claude/skills", name);
  place.file("home/.claude/skills/a/notes.md", "0");
  const policy = place.file("home/policy.yaml", "rules: []");
  const args = ["--policy", policy, "--refresh", "0"];
  await using session = await Session.open(place, { args });
  await session.client.listTools();
  const uri = "skill://a/notes.md";
  await session.client.subscribeResource({ uri });
  const steps: [rules: string, lists: string[]][] = [
    ["{ skill: b, state: pinned }", ["tools", "prompts", "resources"]],
    ["{ skill: b, state: pinned }, # the same", []],
    ["{ skill: b, state: manual }", ["tools", "prompts", "resources"]],
    ["{ skill: b, state: on }", ["tools"]],
    ["{ skill: a, state: pinned }", []],
    ["{ skill: c, state: name-only }", ["tools"]],
    ["{ skill: c, state: on }", ["tools"]],
    ["{ skill: b, state: of }", []],
    ["{ skill: none, state: off }", []],
    ["{ skill: b, state: off }", ["tools", "prompts", "resources"]],
    ["{ skill: b, state: manual }", ["prompts", "resources"]],
  ];
  for (const [index, [rules, lists]] of steps.entries()) {
    place.replace("home/policy.yaml", `rules: [${rules}\n  ]`);
    for (const list of lists) await session.listChanged(list);
    // The notification of this update comes after all notifications of the policy
    // change.
    place.replace("home/.claude/skills/a/notes.md", `${index + 1}`);
    await session.updated(uri);
    await session.client.ping();
    assert.deepEqual(session.notifications.takeAll(), [], rules);
    assert.deepEqual(session.updates.takeAll(), [], rules);
  }
});
