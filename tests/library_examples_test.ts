// The examples of the library work as a user would copy them.
import assert from "node:assert/strict";
import { pathToFileURL } from "node:url";
import {
  Client,
  StreamableHTTPClientTransport,
} from "npm:@modelcontextprotocol/client@^2";
import { Session } from "./testing/client.ts";
import { read } from "./testing/docs.ts";
import { environment, flagsWith, MOD, preload } from "./testing/environment.ts";
import { Place, skillMd } from "./testing/place.ts";
import { linesOf } from "./testing/server.ts";
import { Inbox, within } from "./testing/waiting.ts";

/** Writes the example that contains a text, and returns its path. */
function writeExample(place: Place, part: string): string {
  place.file("project/skills/git/SKILL.md", skillMd("git"));
  const doc = read("mod.ts").replaceAll(/^ \* ?/gm, "");
  const examples = `${doc}\n${read("docs/running.md")}`
    .split("```ts ignore\n").slice(1)
    .map((rest) => rest.split("```\n", 1)[0]!);
  const example = examples.find((text) => text.includes(part));
  const main = place.file(
    "project/server.ts",
    example!.replace("@skill-server/skill-server", pathToFileURL(MOD).href)
      .replace("port: 8000", "port: 0"),
  );
  preload(main);
  return main;
}

/** Starts an example that serves over stdio. */
async function startExample(place: Place, part: string): Promise<Session> {
  const main = writeExample(place, part);
  const flags = flagsWith("--allow-read", "--allow-env");
  return await Session.open(place, { main, flags });
}

const TOOLS = {
  "createSkillService() over stdio": ["serveStdio(", ["skill"]],
  "registerSkillTools()": ["registerSkillTools(", ["time", "skill"]],
} as const;

for (const [name, [part, expected]] of Object.entries(TOOLS)) {
  Deno.test(`the example of ${name} is a server that ends with its client`, async () => {
    using place = new Place();
    await using session = await startExample(place, part);
    const { tools } = await session.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), expected);
    assert.deepEqual(await session.end(), []);
  });
}

Deno.test("the example over HTTP notifies a client that listens", async () => {
  using place = new Place();
  const main = writeExample(place, "createMcpHandler(");
  const server = new Deno.Command(Deno.execPath(), {
    args: [
      ...flagsWith("--allow-read", "--allow-env", "--allow-net"),
      main,
    ],
    cwd: place.project,
    env: environment,
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const lines = new Inbox<string>();
  const reading = [server.stdout, server.stderr].map(async (stream) => {
    for await (const line of linesOf(stream)) lines.put(line);
  });
  const line = await lines.take((it) => it.includes("http://"), "the address");
  const [url] = /http:\S+/.exec(line)!;
  const client = new Client({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(new StreamableHTTPClientTransport(new URL(url)));
  const changed = Promise.withResolvers<void>();
  client.setNotificationHandler(
    "notifications/tools/list_changed",
    () => changed.resolve(),
  );
  await client.listen({ toolsListChanged: true });
  place.skill("project/skills", "pdf");
  await within(changed.promise, "the notification");
  await client.close();
  server.kill("SIGKILL");
  await server.status;
  await Promise.all(reading);
});
