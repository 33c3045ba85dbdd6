// Whatever files an attacker adds to a home directory, the server reveals nothing outside a
// skill, and keeps serving.
import assert from "node:assert/strict";
import { skillUri } from "../mod.ts";
import { TOOLSET_NAMES } from "../src/features/toolsets/toolsets.ts";
import { join } from "../src/fs/paths.ts";
import { TOOL_NAMES, type Toolset } from "../src/views/options.ts";
import { listSkills, nextId, pages, verify } from "./testing/client.ts";
import { hostilePlace, SECRET } from "./testing/hostile.ts";
import { LocalServer } from "./testing/local_server.ts";
import type { Asking } from "./testing/server.ts";
import { callFor } from "./testing/tools.ts";

type Params = Record<string, unknown>;

/** Returns every request that refers to a skill. */
function requestsFor(
  name: string,
  toolset: Toolset,
): [method: string, params: Params][] {
  const paths = [
    "SKILL.md",
    "file.md",
    "folder",
    "folder/key.md",
    "chain1.md",
    "invalid.md",
    "loop.md",
    "up",
    "up/good/SKILL.md",
    "env.md",
    ".env",
    "fifo.md",
    "sparse.bin",
    "node_modules/x.js",
    "../good/.env",
    "",
  ];
  const uris = paths.flatMap((
    path,
  ) => [skillUri(name, path), `skill://${name}/${path}`]);
  const read = TOOL_NAMES[toolset].read === undefined ? [] : paths;
  return [
    ...[undefined, ...read].map((
      path,
    ): [string, Params] => ["tools/call", callFor(toolset, name, path)]),
    ["prompts/get", { name }],
    ["skills/get", { uri: skillUri(name, "SKILL.md") }],
    ["resources/read", { uri: skillUri(name) }],
    ...["read", "directory/read", "subscribe"].flatMap((method) =>
      uris.map((uri): [string, Params] => [`resources/${method}`, { uri }])
    ),
    ["completion/complete", {
      ref: { type: "ref/resource", uri: "skill://{name}/{+path}" },
      argument: { name: "path", value: "" },
      context: { arguments: { name } },
    }],
  ];
}

for (const toolset of TOOLSET_NAMES) {
  Deno.test(`--tools ${toolset} reveals nothing outside a skill`, async () => {
    using place = hostilePlace();
    const received: string[] = [];
    const args = ["--tools", toolset];
    const log = (line: string) => received.push(line);
    using server = await LocalServer.open({ ...place, args, log });
    const ask: Asking["ask"] = async (...request) => {
      const reply = await server.ask(...request);
      received.push(JSON.stringify(reply));
      return reply;
    };
    const wire = { ask };
    for (const list of ["tools", "prompts", "resources", "skills"]) {
      await pages(wire, `${list}/list`);
    }
    await wire.ask(1, "tools/call", { name: TOOL_NAMES[toolset].list });
    const dirs = Deno.readDirSync(join(place.home, ".claude/skills"));
    for (const { name } of [...dirs, { name: SECRET.slice(0, 3) }]) {
      await Promise.all(
        requestsFor(name, toolset).map(([method, params]) =>
          wire.ask(nextId(), method, params)
        ),
      );
    }
    const files = ["SKILL.md", "help.md"].map((it) => `skill://good/${it}`);
    const good = (await listSkills(wire)).find(({ uri }) => uri === files[0]);
    await verify(wire, good!);
    assert.deepEqual(good!.resources.map(({ uri }) => uri), files);
    for (const text of received) {
      assert.ok(!text.includes(SECRET), text.slice(0, 500));
    }
    assert.ok(received.length > 1000);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
}
