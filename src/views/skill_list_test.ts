import assert from "node:assert/strict";
import type { Skill } from "../skills/types.ts";
import { Session, toolsets } from "../../tests/testing/client.ts";
import { Place } from "../../tests/testing/folders.ts";
import { TOOL_NAMES, type Toolset } from "./options.ts";
import { fitList } from "./skill_list.ts";

/** Creates listed skills with descriptions of 300 characters. */
function listed(start: string, count: number, rest: Partial<Skill> = {}) {
  return Array.from({ length: count }, (_, index) => {
    const name = `${start}${index}`;
    const description = "words and more ".repeat(20);
    const skill = { name, scope: "global", state: "on", ...rest } as Skill;
    return { skill, name, description };
  });
}

/** Returns the length of the longest line in a list that begins with a text. */
function longest(list: string, start: string): number {
  const lines = list.split("\n")
    .filter((line) => line.startsWith(`- ${start}`));
  return Math.max(...lines.map(({ length }) => length));
}

Deno.test("fitList() shortens all descriptions to 200 characters, to 80, or to none, and those of pinned skills only to none", () => {
  const skills = [...listed("pin", 2, { state: "pinned" }), ...listed("s", 50)];
  const end = ": ".length + "- s49".length;
  for (
    const [limit, pinned, others] of [
      [50_000, 300, 300],
      [16_000, 300, 200],
      [8_000, 300, 80],
      [3_000, 300, 0],
      [600, 0, 0],
    ] as const
  ) {
    const list = fitList(skills, limit);
    assert.ok(list.length <= limit);
    assert.equal(list.match(/^- /gm)!.length, 52, `${limit}`);
    assert.doesNotMatch(list, /more: pass/);
    for (const [start, length] of [["pin", pinned], ["s", others]] as const) {
      const actual = longest(list, start) - end;
      assert.ok(actual <= length + 1, `${limit} ${start} ${actual}`);
      assert.ok(
        length === 0 || actual > length - 15,
        `${limit} ${start} ${actual}`,
      );
    }
  }
  const more = fitList(skills, 300);
  assert.match(more, /\n- s0\n.*\n\(and \d+ more: pass a name/s);
  // A list that fits exactly is whole.
  const few = skills.slice(-10);
  const names = few.map(({ name }) => `\n- ${name}`).join("");
  const room = more.slice(more.lastIndexOf("\n")).length;
  assert.equal(fitList(few, names.length + room), names);
});

Deno.test("fitList() gives a project's skills at most half of the room while the user's own need it", () => {
  const lengthOf = (list: string, start: string) =>
    list.split("\n").filter((line) => line.startsWith(`- ${start}`)).join("\n")
      .length;
  const counts = [[100, 1_000], [1_000, 1_000], [1_000, 100]] as const;
  for (const [count, others] of counts) {
    const own = listed("own", count);
    const project = listed("project", others, { scope: "project" });
    const list = fitList([...own, ...project], 10_000);
    assert.ok(list.length <= 10_000);
    assert.ok(lengthOf(list, "project") <= 5_000);
    const isWhole = list.match(/^- own/gm)!.length === count;
    assert.ok(isWhole || lengthOf(list, "own") >= 4_500);
    // What one side does not need, the other one gets.
    const few = fitList([...own.slice(0, 2), ...project], 10_000);
    assert.ok(lengthOf(few, "own") > 600);
    assert.ok(lengthOf(few, "project") > Math.min(5_000, 11 * others));
  }
});

for (const toolset of Object.keys(toolsets)) {
  Deno.test(`the tools of ${toolset} list a skill in the state name-only last and without its description, though there is room, and a pinned one first`, async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "quiet");
    place.skill("home/.claude/skills", "usual");
    place.skill("home/.claude/skills", "zero first");
    place.file(
      "home/policy.yaml",
      "rules: [{ skill: quiet, state: name-only }, { skill: zero*, state: pinned }]",
    );
    const policy = `${place.home}/policy.yaml`;
    const args = ["--tools", toolset, "--policy", policy];
    await using session = await Session.open(place, { args });
    const { client } = session;
    const lists: unknown[] = [await client.listTools()];
    const { list, load } = TOOL_NAMES[toolset as Toolset];
    if (list !== load) lists.push(await session.call(list));
    const texts = JSON.stringify(lists);
    assert.match(texts, /About usual/);
    assert.match(texts, /quiet/);
    assert.doesNotMatch(texts, /About quiet/);
    const { prompts } = await client.listPrompts();
    const { resources } = await client.listResources();
    for (const others of [prompts, resources]) {
      assert.match(JSON.stringify(others), /first.*usual.*About quiet/);
    }
    const { messages: [message] } = await client.getPrompt({ name: "quiet" });
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
  // Up to 100 skills would all be listed.
  assert.match(text, /Search results.*\n- number-7: About number-7\n/s);
});
