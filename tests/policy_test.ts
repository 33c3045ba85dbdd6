// A policy in a registry and in a server, and changes of it.
import assert from "node:assert/strict";
import { scanSkillRoots, type SkillPolicy, SkillRegistry } from "../mod.ts";
import { join } from "../src/fs/paths.ts";
import { Session } from "./testing/client.ts";
import { Place, policyArgs, policyPlace, skillMd } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";

const withLinks = needs("links");

withLinks.test("a skill that cannot be read is off if a rule names its real folder, or the folder that lists it", async () => {
  using place = new Place();
  place.link("nowhere", "store/dangling");
  const link = place.link("store", "skills");
  for (const dir of [link, join(place.path, "store")]) {
    const policy: SkillPolicy = { rules: [{ in: dir, state: "off" }] };
    const { diagnostics } = await scanSkillRoots([root(link)], { policy });
    assert.deepEqual(diagnostics, [], dir);
  }
});

withLinks.test("a skill whose SKILL.md is a link into a manual folder is hidden from the model", async () => {
  using place = new Place();
  place.skill("skills/outer", "inner");
  place.file("skills/outer/inner/main.md", skillMd("outer"));
  place.link("inner/main.md", "skills/outer/SKILL.md");
  const skills = root(join(place.path, "skills"), { recursive: true });
  using registry = new SkillRegistry([skills], {
    policy: { rules: [{ skill: "inner", state: "manual" }] },
    log: () => {},
  });
  const { skills: found } = await registry.refresh();
  assert.equal(found.get("outer")!.hiddenFrom, "model");
});

Deno.test("a saved policy change sends notifications only for the lists that it changes", async () => {
  using place = policyPlace("");
  await using session = await Session.open(place, { args: policyArgs(place) });
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

Deno.test("a server with an invalid policy serves nothing, and says why, until it is fixed", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "theirs");
  place.skill("home/.claude/skills", "mine");
  place.file("home/policy.yaml", "rules: [{ scop: project, state: off }]");
  await using session = await Session.open(place, { args: policyArgs(place) });
  const line = await session.stderr.take(
    (line) => line.includes("policy"),
    "the line about the policy",
  );
  assert.match(
    line,
    /^skill-server: Cannot use the policy ".*policy\.yaml": rules\[0\]: Unrecognized key: "scop"; .*; until then, no skills are served$/,
  );
  assert.deepEqual(await session.names(), []);
  place.replace("home/policy.yaml", "rules: []");
  await session.listChanged();
  assert.deepEqual(await session.names(), ["mine", "theirs"]);
  place.replace("home/policy.yaml", "nothing");
  await session.stderr.take(
    (line) => line.includes("the last valid policy applies"),
    "the line about the policy",
  );
  assert.deepEqual(await session.names(), ["mine", "theirs"]);
});
