import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "jsr:@std/path@^1";
import { skillUri } from "../mod.ts";
import {
  listSkills,
  nextId,
  pages,
  toolsets,
  verify,
} from "./testing/client.ts";
import { isWindows } from "./testing/environment.ts";
import { Place } from "./testing/folders.ts";
import { hostilePlace, SECRET } from "./testing/hostile.ts";
import { lacks } from "./testing/needs.ts";
import { runServer, Wire } from "./testing/server.ts";
import { eventually } from "./testing/waiting.ts";

/** Returns every request that refers to a skill. */
function requestsFor(name: string): [string, Record<string, unknown>][] {
  const paths = [
    "SKILL.md",
    "file.md",
    "folder",
    "folder/key.md",
    "chain1.md",
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
  const call = (tool: string, input: Record<string, unknown>) =>
    ["tools/call", { name: tool, arguments: input }] as [
      string,
      Record<string, unknown>,
    ];
  return [
    call("skill", { name }),
    call("read_skill", { name }),
    call("load_skill_op", { skill_name: name }),
    ...paths.map((path) => call("skill-resource", { skill: name, path })),
    ...paths.map((file_name) =>
      call("read_reference_file_op", { skill_name: name, file_name })
    ),
    ["prompts/get", { name }],
    ["skills/get", { uri: skillUri(name, "SKILL.md") }],
    ["resources/read", { uri: skillUri(name) }],
    ...uris.flatMap((uri): [string, Record<string, unknown>][] => [
      ["resources/read", { uri }],
      ["resources/directory/read", { uri }],
      ["resources/subscribe", { uri }],
    ]),
    ["completion/complete", {
      ref: { type: "ref/resource", uri: "skill://{name}/{+path}" },
      argument: { name: "path", value: "" },
      context: { arguments: { name } },
    }],
  ];
}

for (const toolset of Object.keys(toolsets)) {
  Deno.test(`--tools ${toolset} reveals nothing outside a skill and keeps serving the good skill`, async () => {
    using place = hostilePlace();
    await using wire = new Wire(place, { args: ["--tools", toolset] });
    await wire.initialize();
    const received: string[] = [];
    wire.onLine = (line) => {
      received.push(line);
      wire.lines.put(line);
    };
    for (const list of ["tools", "prompts", "resources", "skills"]) {
      await pages(wire, `${list}/list`);
    }
    await wire.ask(1, "tools/call", { name: "list_skills" });
    await wire.ask(1, "tools/call", { name: "load_skill_metadata_op" });
    const folders = [
      ...Deno.readDirSync(join(place.home, ".claude", "skills")),
    ];
    for (const { name } of [...folders, { name: SECRET.slice(0, 3) }]) {
      await Promise.all(
        requestsFor(name).map(([method, params]) =>
          wire.ask(nextId(), method, params)
        ),
      );
    }
    const [good] = (await listSkills(wire)).filter(({ uri }) =>
      uri === "skill://good/SKILL.md"
    );
    await verify(wire, good!);
    assert.deepEqual(good!.resources.map(({ uri }) => uri), [
      "skill://good/SKILL.md",
      "skill://good/help.md",
    ]);
    await wire.endInput();
    for (const text of [...received, wire.stderr]) {
      assert.ok(!text.includes(SECRET), text.slice(0, 500));
    }
    assert.ok(received.length > 1000);
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
}

Deno.test("--check reports every hostile entry and reveals nothing outside the skills", async () => {
  using place = hostilePlace();
  const { code, stdout, stderr } = await runServer(place, {
    args: ["--check"],
  });
  assert.deepEqual([code, stderr], [1, ""]);
  assert.ok(!stdout.includes(SECRET) && !stdout.includes("\u001b"));
  for (
    const name of [
      ...(lacks("links") ? [] : ["linked-main", "proc", "dangling", "self"]),
      "folder",
      ...(isWindows ? [] : ["fifo", "socket"]),
      "sparse",
      "deep",
      "tag",
      "twice",
      "large",
    ]
  ) {
    assert.ok(stdout.includes(join("skills", name, "SKILL.md")), name);
  }
});

/**
 * Replaces a folder by a file, or anything else by a skill with a folder. Returns
 * whether the system allowed that.
 */
function replaceFolder(place: Place, path: string, round: number): boolean {
  try {
    if (existsSync(join(place.path, path))) place.remove(path);
    if (round % 3 === 2) place.file(path, "a file now");
    else {
      place.skill(dirname(path), basename(path));
      place.file(`${path}/a/b/c.md`, "c");
    }
    return true;
  } catch {
    return false;
  }
}

Deno.test("server survives a tree that grows and changes during scans and reads", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "good");
  await using wire = new Wire(place, { args: ["--refresh", "0.05"] });
  await wire.initialize();
  for (let round = 0; round < 150; round++) {
    // On Windows, a folder is replaced only while the server does not have it open.
    const path = `${skills}/s${round % 10}`;
    await eventually(() => replaceFolder(place, path, round), "the change");
    const uri = `skill://s${round % 10}/`;
    const [bad, good] = await Promise.all([
      wire.ask(nextId(), "resources/read", { uri }),
      wire.ask(nextId(), "tools/call", {
        name: "skill",
        arguments: { name: "good" },
      }),
    ]);
    assert.ok(bad.result || bad.error!.code === -32602);
    assert.equal(good.result.isError, undefined);
  }
  assert.equal((await wire.endInput()).code, 0);
});
