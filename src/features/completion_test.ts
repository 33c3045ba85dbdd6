import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/place.ts";

/** What a completion is for: a prompt, or the URIs of resources. */
type Ref =
  | { type: "ref/prompt"; name: string }
  | { type: "ref/resource"; uri: string };

const PROMPT = { type: "ref/prompt", name: "skill" } as const;
const FILE = { type: "ref/resource", uri: "skill://{name}/{+path}" } as const;

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

Deno.test("completion/complete completes names and paths of files that are not hidden", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "Gitlab");
  await using session = await Session.open(place);
  const git = { name: "GIT" };
  const references = ["references/API.md", "references/deep/more.md"];
  const cases = [
    [PROMPT, ["name", "GI"], undefined, ["git", "Gitlab"]],
    [PROMPT, ["name", "x"], undefined, []],
    [{ ...PROMPT, name: "git" }, ["name", "gitl"], undefined, []],
    [PROMPT, ["other", ""], undefined, []],
    [PROMPT, ["path", ""], git, []],
    [{ ...FILE, uri: "skill://git/SKILL.md" }, ["path", ""], git, []],
    [PROMPT, ["__proto__", ""], undefined, []],
    [FILE, ["name", "gitl"], undefined, ["Gitlab"]],
    [FILE, ["name", "g?t"], undefined, []],
    [FILE, ["path", ""], git, ["SKILL.md", "logo.png", ...references]],
    [FILE, ["path", "REF"], git, references],
    [FILE, ["path", ".env"], git, []],
    [FILE, ["path", "*"], git, []],
    [FILE, ["path", ""], { name: "none" }, []],
    [FILE, ["path", ""], undefined, []],
  ] as [Ref, [string, string], Record<string, string> | undefined, string[]][];
  for (const [ref, argument, entered, expected] of cases) {
    const values = await complete(session, ref, argument, entered);
    assert.deepEqual(values, expected, argument.join());
  }
  const unknown: Ref[] = [{ ...PROMPT, name: "none" }, {
    ...FILE,
    uri: "x://a",
  }];
  for (const ref of unknown) {
    await assert.rejects(complete(session, ref, ["name", ""]), {
      code: -32602,
    });
  }
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

Deno.test("completion/complete offers the names that the prompt or the URI can load", async () => {
  using place = new Place();
  const flag = "user-invocable: false\n";
  place.skill("home/.claude/skills", "hidden", skillMd("hidden", "d", flag));
  for (const dir of ["home", "project"]) {
    place.skill(`${dir}/.claude/skills`, "git");
  }
  const args = [place.project, place.home];
  await using session = await Session.open(place, { args });
  const names = ["git", "global:git"];
  assert.deepEqual(await complete(session, PROMPT, ["name", ""]), names);
  const all = ["git", "hidden", "global:git"];
  const found = await complete(session, FILE, ["name", ""]);
  assert.deepEqual(found.toSorted(), all.toSorted());
});
