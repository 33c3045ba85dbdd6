import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { nextId, toolsets } from "./testing/client.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { SECRET } from "./testing/hostile.ts";
import { MODERN_META } from "./testing/modern.ts";
import { Wire } from "./testing/server.ts";
import { Inbox, within } from "./testing/waiting.ts";

/** Creates an untrusted clone with secrets everywhere, and a home folder with skills. */
function clonePlace({ hasSkills = true } = {}): Place {
  const place = new Place();
  const text = skillMd("git", "My own git");
  place.skill("home/.claude/skills", "git", text);
  place.skill("home/.claude/skills", "pdf");
  place.file("home/.claude/skills/pdf/notes.md", "Notes");
  place.file("home/policy.yaml", "rules: [{ scope: project, state: off }]");
  if (!hasSkills) return place;
  const skills = "project/.claude/skills";
  for (const name of ["evil", "git"]) {
    place.skill(skills, name, skillMd(name, SECRET));
    place.file(`${skills}/${name}/notes.md`, SECRET);
    place.file(`${skills}/${name}/${SECRET}.md`, SECRET);
    place.skill(`${skills}/${name}`, "nested", skillMd("nested", SECRET));
  }
  place.skill(skills, "pdf", skillMd(`pdf ${SECRET}`, SECRET));
  place.skill(
    skills,
    "broken",
    `---\nname: ${SECRET}\ndescription: a: b\n---\n`,
  );
  place.link(place.home, `${skills}/linked`);
  place.file("project/.agent/skills", SECRET);
  return place;
}

/** Returns every request for a skill by name, in all views. */
function requestsFor(
  name: string,
  tools: readonly string[],
): [string, object][] {
  const path = "notes.md";
  const input = { name, skill: name, skill_name: name, path, file_name: path };
  const fields: Record<string, (keyof typeof input)[]> = {
    skill: ["name"],
    "skill-resource": ["skill", "path"],
    read_skill: ["name"],
    load_skill_op: ["skill_name"],
    read_reference_file_op: ["skill_name", "file_name"],
  };
  const calls = tools.map((tool): [string, object] => {
    const keys = fields[tool] ?? [];
    const args = Object.fromEntries(keys.map((key) => [key, input[key]]));
    return ["tools/call", { name: tool, arguments: args }];
  });
  const [prefix, ...rest] = name.split(":");
  const folder = `skill://${[prefix, ...rest].join("/")}`;
  const uris = ["", "/", "/SKILL.md", "/notes.md", "/nested"]
    .map((end) => folder + end);
  const methods = [
    "resources/read",
    "skills/get",
    "resources/directory/read",
    "resources/subscribe",
  ];
  const template = { type: "ref/resource", uri: "skill://{name}/{+path}" };
  return [
    ...calls,
    ["prompts/get", { name }],
    ["prompts/get", { name: "skill", arguments: { name } }],
    ...methods.flatMap((method) =>
      uris.map((uri): [string, object] => [method, { uri }])
    ),
    ["completion/complete", {
      ref: template,
      argument: { name: "name", value: name },
    }],
    ["completion/complete", {
      ref: template,
      argument: { name: "path", value: "" },
      context: { arguments: { name } },
    }],
    ["completion/complete", {
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: name },
    }],
  ];
}

/** The list requests of all views, and a subscription to all skills. */
const LISTS: [string, object][] = [
  "tools/list",
  "prompts/list",
  "resources/list",
  "resources/templates/list",
  "skills/list",
].map((method): [string, object] => [method, {}]);
LISTS.push(["resources/subscribe", { uri: "skill://" }]);

/** Sends every request in both eras and returns everything that the server sends. */
async function askEverything(place: Place, toolset: string): Promise<string[]> {
  const policy = join(place.home, "policy.yaml");
  const args = ["--tools", toolset, "--policy", policy];
  await using wire = new Wire(place, { args });
  // During the first scan, the instructions do not name skills yet.
  await wire.ask(nextId(), "tools/list", { _meta: MODERN_META });
  const started = JSON.stringify(await wire.initialize());
  const wanted = [
    "evil",
    "git",
    "project:git",
    "global:git",
    "project:evil",
    "nested",
    "broken",
    "linked",
  ];
  const requests = [
    ...LISTS,
    ...wanted.flatMap((name) => requestsFor(name, toolsets[toolset]!)),
  ];
  const messages = [
    ...requests,
    ["server/discover", { _meta: MODERN_META }],
    ...requests.map((
      [method, params],
    ) => [method, { ...params, _meta: MODERN_META }]),
    ["subscriptions/listen", {
      notifications: {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: [
          "skill://evil/SKILL.md",
          "skill://git/notes.md",
        ],
      },
      _meta: MODERN_META,
    }],
  ].map(([method, params], id) => ({
    jsonrpc: "2.0",
    id: id + 1,
    method,
    params,
  }));
  const replies: string[] = [];
  const notifications = new Inbox<string>();
  const answered = Promise.withResolvers<void>();
  let missing = messages.length; // the listening request is acknowledged instead
  wire.onLine = (line) => {
    const { id } = JSON.parse(line);
    if (typeof id === "number") replies[id] = line;
    else notifications.put(line);
    if (--missing === 0) answered.resolve();
  };
  await wire.write(...messages);
  await within(answered.promise, "the replies");
  // Changes in the clone notify no client. Changes in the home folder notify every client.
  for (const name of ["evil", "new"]) {
    place.skill("project/.claude/skills", name, skillMd(name, `${SECRET} 2`));
  }
  place.skill("home/.claude/skills", "new", skillMd("new", "At home"));
  for (const era of ["legacy", "modern"]) {
    const isNotification = (line: string) =>
      line.includes("resources/list_changed") &&
      line.includes("subscriptionId") === (era === "modern");
    replies.push(
      await notifications.take(isNotification, `the ${era} notification`),
    );
  }
  const { code } = await wire.endInput();
  assert.equal(code, 0);
  return [
    started,
    ...replies.slice(1),
    ...notifications.takeAll().sort(),
    wire.stderr,
  ]
    .map((line) => place.shorten(line));
}

for (const toolset of Object.keys(toolsets)) {
  Deno.test(`an untrusted clone reveals none of its skills in any view with the toolset ${toolset} in either era`, async () => {
    using clone = clonePlace();
    using empty = clonePlace({ hasSkills: false });
    const [answers, expected] = await Promise.all([
      askEverything(clone, toolset),
      askEverything(empty, toolset),
    ]);
    // The output is byte-identical to the output for a project without skills.
    assert.deepEqual(answers, expected);
    const sent = answers.join("\n");
    assert.ok(!sent.includes(SECRET));
    assert.ok(sent.includes("My own git"));
  });
}
