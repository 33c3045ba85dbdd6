import assert from "node:assert/strict";
import { CLIENT_PROFILES, PROFILE_NAMES } from "./client_profiles.ts";
import type { ModelView } from "./model_view.ts";
import {
  isWindows,
  nextId,
  Place,
  runServer,
  skillMd,
  Wire,
} from "./testing.ts";

/** Returns the output of `--list --as CLIENT --json`. */
async function viewOf(
  place: Place,
  client: string,
  ...options: string[]
): Promise<ModelView> {
  const args = ["--list", "--as", client, "--json", ...options];
  const { code, stdout, stderr } = await runServer(place, { args });
  assert.deepEqual([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

/** Returns what a server sends to a client, as a view. */
async function servedTo(
  place: Place,
  client: string,
  ...options: string[]
): Promise<Pick<ModelView, "tools"> & { instructions: string }> {
  await using wire = new Wire(place, { args: options });
  const name = CLIENT_PROFILES[client]?.clientName ?? "any";
  const { result: { instructions } } = await wire.ask(nextId(), "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name, version: "1.0.0" },
  });
  const { result: { tools } } = await wire.ask(nextId(), "tools/list");
  return { instructions, tools: tools.map(toView) };
}

// deno-lint-ignore no-explicit-any -- a tool's entry as the server sends it
function toView({ name, description, inputSchema, _meta }: any) {
  const measure = (text: string) => ({
    characters: text.length,
    tokens: Math.ceil(text.length / 4),
    text,
  });
  const parameters = Object.keys(inputSchema.properties).map((name) => ({
    name,
    ...measure(inputSchema.properties[name].description),
  }));
  const tool = { name, description: measure(description), parameters };
  return _meta === undefined ? tool : { ...tool, _meta };
}

/** Creates skills whose list is longer than the part of a description that Claude Code shows. */
function writeSkills(place: Place): void {
  for (let i = 0; i < 20; i++) {
    const text = skillMd(`skill-${i}`, `About ${"many ".repeat(50)}things`);
    place.skill("home/.claude/skills", `skill-${i}`, text);
  }
}

for (const client of PROFILE_NAMES) {
  Deno.test(`--list --as ${client} shows what the server sends and the client's model sees`, async () => {
    using place = new Place();
    writeSkills(place);
    const view = await viewOf(place, client);
    const served = await servedTo(place, client);
    assert.deepEqual(view.tools, served.tools);
    assert.equal(view.skills, 20);
    const text = view.instructions.part === "none"
      ? undefined
      : view.instructions.text;
    const shown: Record<string, string | undefined> = {
      "codex": served.instructions.split("\n")[0],
      "copilot": undefined,
      "cline": undefined,
    };
    assert.equal(text, client in shown ? shown[client] : served.instructions);
    assert.equal(view.searchesTools, client === "codex");
  });
}

Deno.test("--list --as shows what --tools, --description-limit, and --policy change", async () => {
  using place = new Place();
  writeSkills(place);
  const policy = place.file(
    "policy/policy.yaml",
    "rules:\n  - { skill: 'skill-1*', state: off }\n",
  );
  for (
    const options of [
      ["--tools", "skilljack"],
      ["--tools", "reference"],
      ["--tools", "agentskills"],
      ["--description-limit", "1000"],
      ["--policy", policy],
    ]
  ) {
    const view = await viewOf(place, "claude-code", ...options);
    const served = await servedTo(place, "claude-code", ...options);
    assert.deepEqual(view.tools, served.tools);
    assert.equal(view.skills, options.includes(policy) ? 9 : 20);
  }
});

Deno.test("--list --as shows each text with its length, an estimate of its tokens, and the total", async () => {
  using place = new Place();
  writeSkills(place);
  const { stdout } = await runServer(place, {
    args: ["--list", "--as", "claude-code"],
  });
  const { instructions, tools: [tool], total } = await viewOf(
    place,
    "claude-code",
  );
  const sections = stdout.trimEnd().split(/\n\n(?! )/);
  const titles = sections.map((section) => section.split("\n")[0]);
  const { description, parameters: [parameter] } = tool!;
  assert.ok(instructions.part === "whole");
  const texts = [instructions, description, parameter!];
  const sizes = [...texts, total].map(({ characters, tokens }) =>
    `${characters} characters, about ${tokens} tokens`
  );
  assert.deepEqual(titles, [
    "What the model sees in claude-code (20 skills, toolset skill)",
    `Instructions: ${sizes[0]}`,
    `Tool skill: ${sizes[1]}`,
    `Parameter name of skill: ${sizes[2]}`,
    "_meta of skill, for the client only: 29 characters",
    `Total: ${sizes[3]} (estimated as characters / 4)`,
  ]);
  for (const [index, { text }] of texts.entries()) {
    const [, ...lines] = sections[index + 1]!.split("\n");
    assert.equal(lines.map((line) => line.slice(2)).join("\n"), text);
  }
  const sum = texts.reduce((sum, { characters }) => sum + characters, 0);
  assert.equal(total.characters, sum);
  assert.equal(total.tokens, Math.ceil(sum / 4));
});

Deno.test("--list --as marks what the model does not see, or sees only after a search", async () => {
  using place = new Place();
  writeSkills(place);
  const view = async (client: string) =>
    (await runServer(place, { args: ["--list", "--as", client] })).stdout;
  assert.match(await view("cline"), /^Instructions: not shown$/m);
  const codex = await view("codex");
  assert.match(codex, /^Instructions, first line only: \d+ characters/m);
  assert.match(codex, /^Tool skill, which the model has to search for: \d/m);
});

Deno.test("--list --as escapes control characters for the terminal", {
  ignore: isWindows,
}, async () => {
  using place = new Place();
  const text = JSON.stringify("a\u001b[31m\u202eb\u00ad\u009b");
  place.skill("home/.claude/skills", "odd", skillMd("odd", text));
  for (const options of [[], ["--json"]]) {
    const { stdout } = await runServer(place, {
      args: ["--list", "--as", "default", ...options],
    });
    assert.match(stdout, /odd/);
    assert.doesNotMatch(
      stdout,
      /[^\P{Cc}\n]|\p{Default_Ignorable_Code_Point}/u,
    );
  }
});

Deno.test("--list --as omits skills that are hidden from the model, and reports skipped skills on stderr", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill(
    "home/.claude/skills",
    "mine",
    "---\nname: mine\ndescription: Mine\ndisable-model-invocation: true\n---\n",
  );
  place.skill("home/.claude/skills", "bad", "# No frontmatter");
  const { stdout, stderr } = await runServer(place, {
    args: ["--list", "--as", "opencode", "--skill-dir", "none"],
  });
  assert.match(stdout, /^What .* \(1 skill,/);
  assert.doesNotMatch(stdout, /mine/);
  assert.match(stderr, /Skipped ".*bad.*SKILL\.md"/);
  assert.match(stderr, /Cannot find the folder ".*none"/);
});

Deno.test("--as lists the valid names for an unknown client, and requires --list", async () => {
  using place = new Place();
  for (const name of ["eclipse", "", "constructor", "__proto__", "Codex"]) {
    const { code, stdout, stderr } = await runServer(place, {
      args: ["--list", `--as=${name}`],
    });
    assert.deepEqual([code, stdout], [2, ""]);
    assert.ok(
      stderr.startsWith(
        `skill-server: Invalid --as "${name}": expected one of ${
          PROFILE_NAMES.join(", ")
        }\n`,
      ),
      stderr,
    );
  }
  for (const options of [[], ["--check"], ["--list", "--check"]]) {
    const { code, stderr } = await runServer(place, {
      args: ["--as", "codex", ...options],
    });
    assert.equal(code, 2);
    assert.match(stderr, /--as requires --list, without --check/);
  }
});
