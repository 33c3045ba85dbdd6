import assert from "node:assert/strict";
import { openSkills } from "../../skill_server.ts";
import { CLIENT_PROFILES, OTHER_CLIENTS } from "../views/client_profiles.ts";
import { describeServer, registerViews } from "../views/views.ts";
import { CLIENT_NAMES } from "./clients.ts";
import { parseCommandLine } from "./command_line.ts";
import { McpServer } from "../protocol/mcp_server.ts";
import {
  createModelView,
  type ModelView,
  modelViewAsText,
} from "./model_view.ts";
import { nextId } from "../../tests/testing/client.ts";
import { assertMisuse, settingsFor } from "../../tests/testing/command_line.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import {
  type Reply,
  runServer,
  serverCommand,
  Wire,
} from "../../tests/testing/server.ts";
import { Pipe } from "../../tests/testing/transport.ts";

/** Creates the registry and the settings for the global skills of a place. */
async function openPlace(place: Place, options: readonly string[]) {
  const settings = settingsFor(...options, `${place.home}/.claude/skills`);
  const { registry } = await openSkills(settings);
  return { registry, settings, catalog: await registry.refresh() };
}

/** Returns what `--list --as CLIENT` shows. */
async function viewOf(
  place: Place,
  client: string,
  ...options: string[]
): Promise<ModelView> {
  const { registry, settings, catalog } = await openPlace(place, options);
  using _ = registry;
  return createModelView(client, catalog, settings.tools);
}

/** Returns the output of `--list --as CLIENT --json`. */
async function printedView(
  place: Place,
  client: string,
  ...options: string[]
): Promise<ModelView> {
  const args = ["--list", "--as", client, "--json", ...options];
  const { code, stdout, stderr } = await runServer(place, { args });
  assert.deepEqual([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}

/** What a server sends to a client, as a view. */
type ServedView = Pick<ModelView, "tools"> & { instructions: string };

/** Sends a request and returns the reply. */
type Ask = (method: string, params?: object) => Promise<Reply>;

/** Connects a client to a server and returns what the server sends. */
async function receivedFrom(ask: Ask, client: string): Promise<ServedView> {
  const name = CLIENT_PROFILES[client]?.clientName ?? "any";
  const clientInfo = { name, version: "1.0.0" };
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo,
  });
  const { result: { tools } } = await ask("tools/list");
  // The first scan has ended by now, so the instructions name the skills.
  const { result: { instructions } } = await ask("server/discover", {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientCapabilities": {},
      "io.modelcontextprotocol/clientInfo": clientInfo,
    },
  });
  return { instructions, tools: tools.map(toView) };
}

/** Returns what the server's handlers send to a client, without a process. */
async function handledFor(
  place: Place,
  client: string,
  ...options: string[]
): Promise<ServedView> {
  const { registry, settings } = await openPlace(place, options);
  using _ = registry;
  const server = new McpServer(
    describeServer(registry, { ...settings.tools, ...settings.options }),
  );
  registerViews(server, registry, settings.tools);
  const pipe = new Pipe({ server });
  const view = await receivedFrom(async (method, params) => {
    const request = { jsonrpc: "2.0", id: nextId(), method, params };
    await pipe.write(`${JSON.stringify(request)}\n`);
    return await pipe.sent.take(({ id }) => id === request.id, method);
  }, client);
  await pipe.end();
  return view;
}

/** Returns what the server process sends to a client. */
async function servedTo(
  place: Place,
  client: string,
  ...options: string[]
): Promise<ServedView> {
  await using wire = new Wire(place, { args: options });
  return await receivedFrom(
    (method, params) => wire.ask(nextId(), method, params),
    client,
  );
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

/** Asserts that a view of {@linkcode writeSkills} shows what the server sends and the client's model sees. */
function assertShows(view: ModelView, served: ServedView): void {
  const { client } = view;
  assert.deepEqual(view.tools, served.tools);
  assert.equal(view.skills, 20);
  const text = view.instructions.part === "none"
    ? undefined
    : view.instructions.text;
  const shown: Record<string, string | undefined> = {
    "codex": served.instructions.split("\n")[0],
    "copilot": undefined,
    "cline": undefined,
    "default": undefined,
  };
  assert.equal(text, client in shown ? shown[client] : served.instructions);
  assert.equal(view.searchesTools, client === "codex");
}

for (const client of [OTHER_CLIENTS, ...Object.keys(CLIENT_PROFILES)]) {
  Deno.test(`createModelView() shows what the server sends and the model of ${client} sees`, async () => {
    using place = new Place();
    writeSkills(place);
    const view = await viewOf(place, client);
    assert.equal(view.client, client);
    assertShows(view, await handledFor(place, client));
  });
}

for (const client of ["default", "claude-code", "codex", "cline"]) {
  Deno.test(`--list --as ${client} shows what the server process sends and the client's model sees`, async () => {
    using place = new Place();
    writeSkills(place);
    const printed = await printedView(place, client);
    assert.deepEqual(printed, await viewOf(place, client));
    assertShows(printed, await servedTo(place, client));
  });
}

/** Writes a policy that switches off eleven of the skills of {@linkcode writeSkills}. */
function writePolicy(place: Place): string {
  return place.file(
    "policy/policy.yaml",
    "rules:\n  - { skill: 'skill-1*', state: off }\n",
  );
}

Deno.test("createModelView() shows what --tools, --description-limit, and --policy change", async () => {
  using place = new Place();
  writeSkills(place);
  const policy = writePolicy(place);
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
    const served = await handledFor(place, "claude-code", ...options);
    assert.deepEqual(view.tools, served.tools);
    assert.equal(view.skills, options.includes(policy) ? 9 : 20);
  }
});

Deno.test("--list --as shows what --tools, --description-limit, and --policy change", async () => {
  using place = new Place();
  writeSkills(place);
  const options = [
    ...["--tools", "skilljack", "--description-limit", "1000"],
    ...["--policy", writePolicy(place)],
  ];
  const printed = await printedView(place, "claude-code", ...options);
  const served = await servedTo(place, "claude-code", ...options);
  assert.deepEqual(printed.tools, served.tools);
  assert.deepEqual(printed, await viewOf(place, "claude-code", ...options));
  const { toolset, skills, tools: [tool] } = printed;
  assert.deepEqual([toolset, skills], ["skilljack", 9]);
  assert.ok(tool!.description.characters <= 1_000);
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

Deno.test("modelViewAsText() marks what the model does not see, or sees only after a search", async () => {
  using place = new Place();
  writeSkills(place);
  const textFor = async (client: string) =>
    modelViewAsText(await viewOf(place, client));
  assert.match(await textFor("cline"), /^Instructions: not shown$/m);
  const codex = await textFor("codex");
  assert.match(codex, /^Instructions, first line only: \d+ characters/m);
  assert.match(codex, /^Tool skill, which the model has to search for: \d/m);
});

Deno.test("--list --as escapes control characters for the terminal", {
  ignore: lacks("names"),
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

Deno.test("--list --as reports each skipped skill before what the model sees", {
  ignore: lacks("sh"),
}, async () => {
  using place = new Place();
  for (let number = 0; number < 400; number++) {
    place.file(`project/.claude/skills/skill-${number}/SKILL.md`, "");
  }
  const [command, options] = serverCommand(place, {
    args: ["--list", "--as", "default"],
  });
  const { stdout } = await new Deno.Command("sh", {
    ...options,
    args: ["-c", 'exec "$@" 2>&1', "sh", command, ...options.args ?? []],
    stdin: "null",
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(text.match(/^skill-server: Skipped /gm)?.length, 400);
  assert.doesNotMatch(text, /^What the model sees[^]*^skill-server: /m);
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

for (const client of ["cursor", "claude-desktop", "zed", "kiro"]) {
  Deno.test(`createModelView() shows for ${client} what clients without a profile get`, async () => {
    using place = new Place();
    writeSkills(place);
    const { tools, instructions } = await viewOf(place, client);
    const served = await handledFor(place, client);
    assert.deepEqual(tools, served.tools);
    assert.deepEqual(instructions, { part: "none" });
  });
}

Deno.test("modelViewAsText() heads the view of clients without a profile", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const headOf = async (client: string) =>
    modelViewAsText(await viewOf(place, client)).split("\n\n").slice(0, 3);
  const note =
    "These clients have no profile. As far as they were tried, they show the tools\nwhole, and no instructions.";
  assert.deepEqual(await headOf("default"), [
    "What the model sees in other clients (1 skill, toolset skill)",
    note,
    "Instructions: not shown",
  ]);
  assert.deepEqual(await headOf("cursor"), [
    "What the model sees in cursor and other clients (1 skill, toolset skill)",
    note,
    "Instructions: not shown",
  ]);
});

Deno.test("--as lists the valid names for an unknown client, and requires --list", async () => {
  const parse = (name: string) => parseCommandLine(["--list", `--as=${name}`]);
  const names = ["default", ...CLIENT_NAMES].join(", ");
  for (const name of ["eclipse", "constructor", "__proto__"]) {
    assertMisuse(
      () => parse(name),
      `Invalid --as "${name}": expected one of ${names}`,
    );
  }
  assertMisuse(
    () => parse("Codex"),
    'Invalid --as "Codex": did you mean codex?',
  );
  for (const name of CLIENT_NAMES) assert.equal(parse(name).values.as, name);
  for (const options of [["--check"], ["--list", "--check"]]) {
    assertMisuse(
      () => parseCommandLine(["--as", "codex", ...options]),
      "Cannot combine --as with --check: use --list",
    );
  }
  assertMisuse(
    () => parseCommandLine(["--as", "codex"]),
    "--as requires --list",
  );
  using place = new Place();
  const { code, stdout, stderr } = await runServer(place, {
    args: ["--list", "--as="],
  });
  assert.deepEqual([code, stdout], [2, ""]);
  const [message] = stderr.split("\n\n", 1);
  assert.equal(
    message!.replaceAll("\n", " "),
    `skill-server: --as requires one of ${names}`,
  );
});
