import assert from "node:assert/strict";
import { Session, toolsets } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/folders.ts";

/** A part of the texts that clients get about a skill: in lists, and when they ask for it. */
async function textsOf(session: Session, toolset: string) {
  const { client } = session;
  const { tools } = await client.listTools();
  const { prompts } = await client.listPrompts();
  const { resources } = await client.listResources();
  const lists = [JSON.stringify(tools)];
  if (toolset === "reference") {
    lists.push(JSON.stringify(await client.callTool({ name: "list_skills" })));
  }
  if (toolset === "agentskills") {
    const name = "load_skill_metadata_op";
    lists.push(JSON.stringify(await client.callTool({ name })));
  }
  return { lists: lists.join(""), others: { prompts, resources } };
}

for (const toolset of Object.keys(toolsets)) {
  Deno.test(`the tools of ${toolset} list a skill in the state name-only without its description, though there is room`, async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "quiet");
    place.skill("home/.claude/skills", "usual");
    place.file(
      "home/policy.yaml",
      "rules: [{ skill: quiet, state: name-only }]",
    );
    const policy = `${place.home}/policy.yaml`;
    const args = ["--tools", toolset, "--policy", policy];
    await using session = await Session.open(place, { args });
    const { lists, others } = await textsOf(session, toolset);
    assert.match(lists, /About usual/);
    assert.match(lists, /quiet/);
    assert.doesNotMatch(lists, /About quiet/);
    for (const list of Object.values(others)) {
      assert.match(JSON.stringify(list), /About quiet/);
    }
    const { messages: [message] } = await session.client.getPrompt({
      name: "quiet",
    });
    assert.match(JSON.stringify(message), /About quiet/);
  });
}

Deno.test("a skill in the state name-only is loaded and searched like any other", async () => {
  using place = new Place();
  for (let i = 0; i < 101; i++) {
    place.skill("home/.claude/skills", `number-${i}`);
  }
  place.file("home/policy.yaml", "rules: [{ state: name-only }]");
  const args = ["--policy", `${place.home}/policy.yaml`];
  await using session = await Session.open(place, { args });
  assert.doesNotMatch(await session.description(), /About/);
  assert.match((await session.load("number-7")).text, /^Loading: number-7\n/);
  const { text } = await session.load("about number 7 please");
  assert.match(text, /\n- number-7: About number-7\n/);
});
