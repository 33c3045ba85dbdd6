// Each list of skills has the same order and the same limits, with a server as a client
// sees it.
import assert from "node:assert/strict";
import { TOOL_NAMES, type Toolset } from "../src/views/options.ts";
import {
  listSkills as listEntries,
  Session,
  toolsets,
} from "./testing/client.ts";
import { Place, skillMd } from "./testing/place.ts";
import { Wire } from "./testing/server.ts";

const HOME = "home/.claude/skills";
const PROJECT = "project/.claude/skills";

function openWith(
  place: Place,
  toolset: string,
  rules?: string,
): Promise<Session> {
  const args = ["--tools", toolset];
  if (rules !== undefined) {
    args.push("--policy", place.file("home/policy.yaml", `rules: [${rules}]`));
  }
  return Session.open(place, { args });
}

/** Returns the names of skills in the order in which a text mentions them. */
function orderIn(text: string, names: readonly string[]): string[] {
  const position = (name: string) => {
    const index = text.search(new RegExp(`\\b${name}\\b`));
    assert.ok(index >= 0, `${name} is missing in ${text.slice(0, 500)}`);
    return index;
  };
  return names.toSorted((a, b) => position(a) - position(b));
}

/** Returns the lists of a toolset that the model gets, as texts. */
async function toolListsOf(
  session: Session,
  toolset: Toolset,
): Promise<string[]> {
  const { tools } = await session.client.listTools();
  const [description = "", lines] = tools[0]!.description!
    .split("\n\nSkills:\n");
  const lists = toolset === "agentskills" ? [] : [lines ?? description];
  const { list, load } = TOOL_NAMES[toolset];
  if (list === load) return lists;
  const { content } = await session.call(list);
  return [...lists, (content[0] as { text: string }).text];
}

/** Returns the lists that users get, as texts. */
async function otherListsOf({ client }: Session): Promise<string[]> {
  const { prompts: [template, ...others] } = await client.listPrompts();
  const { resources } = await client.listResources();
  return [
    template!.description!,
    ...[others, resources].map((list) =>
      list.map(({ name, description }) => `${name}: ${description}`).join()
    ),
  ];
}

for (const toolset of Object.keys(toolsets) as Toolset[]) {
  Deno.test(`in every list of ${toolset}, pinned skills come first`, async () => {
    using place = new Place();
    for (const name of ["delta", "quiet"]) place.skill(HOME, name);
    for (const name of ["alpha", "lifted"]) place.skill(PROJECT, name);
    const rules = [
      "{ skill: quiet, state: name-only }",
      "{ skill: [lifted], state: pinned }",
    ];
    await using session = await openWith(place, toolset, rules.join(", "));
    const expected = ["lifted", "alpha", "delta", "quiet"];
    const forModel = await toolListsOf(session, toolset);
    const forUser = await otherListsOf(session);
    for (const list of [...forModel, ...forUser]) {
      assert.deepEqual(orderIn(list, expected), expected);
      assert.match(list, /About delta/);
      assert.equal(/About quiet/.test(list), forUser.includes(list), list);
    }
    const { messages } = await session.client.getPrompt({ name: "quiet" });
    assert.match(JSON.stringify(messages), /About quiet/);
  });
}

Deno.test("lists have 1,024 characters of a description", async () => {
  using place = new Place();
  const description = "😀".repeat(3_000);
  place.skill(HOME, "git", skillMd("git", description));
  place.skill(HOME, "fits", skillMd("fits", "é".repeat(1_024)));
  const shown = "😀".repeat(1_021) + "...";
  for (const toolset of Object.keys(toolsets) as Toolset[]) {
    await using session = await openWith(place, toolset);
    const forModel = await toolListsOf(session, toolset);
    for (const text of [...forModel, ...await otherListsOf(session)]) {
      const isCut = text.includes(shown) && !text.includes(`😀${shown}`);
      assert.ok(isCut, text.slice(0, 300));
      assert.ok(text.includes("é".repeat(1_024)));
    }
  }
  await using wire = await Wire.open(place);
  const entries = await listEntries(wire);
  // It is longer than hosts accept, so it is not listed there at all.
  assert.deepEqual(entries.map(({ frontmatter }) => frontmatter.description), [
    "é".repeat(1_024),
  ]);
});

Deno.test("a list as JSON fits into a result of Claude Desktop, whatever the characters", async () => {
  using place = new Place();
  for (let number = 0; number < 600; number++) {
    const name = `skill-${number}`;
    const text = skillMd(
      name,
      number % 2 ? "技能".repeat(500) : '"'.repeat(900),
    );
    place.skill(HOME, name, text);
  }
  for (const toolset of ["reference", "agentskills"] as const) {
    const args = ["--tools", toolset, "--profile", "claude-desktop"];
    await using session = await Session.open(place, { args });
    const result = await session.call(TOOL_NAMES[toolset].list);
    const size = new TextEncoder().encode(JSON.stringify(result)).length;
    assert.ok(size > 300_000 && size < 1_000_000, `${toolset}: ${size}`);
    assert.match(JSON.stringify(result), /skill-599/);
  }
});
