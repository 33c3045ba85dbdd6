import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { basename, dirname, join } from "jsr:@std/path@^1";
import { skillUri } from "../mod.ts";
import {
  listSkills,
  nextId,
  pages,
  Session,
  toolsets,
  verify,
} from "./testing/client.ts";
import { environment, flagsWith, isWindows } from "./testing/environment.ts";
import { createInvalidNames, Place, skillMd } from "./testing/folders.ts";
import { hostilePlace, SECRET } from "./testing/hostile.ts";
import { lacks } from "./testing/needs.ts";
import { readSkillFile, scanSkill } from "./testing/registry.ts";
import { peakMemory, runServer, spawnServer, Wire } from "./testing/server.ts";
import { DEADLINE_MS, eventually, within } from "./testing/waiting.ts";

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

Deno.test(
  "a skill with a hundred thousand files does not affect other skills",
  {
    ignore: lacks("speed"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "good");
    const folder = place.folder("home", ".claude", "skills", "huge", "files");
    place.skill("home/.claude/skills", "huge");
    // Creating a hard link is twice as fast as creating a file. Every file system
    // allows a thousand links to a file.
    for (let i = 0, file = ""; i < 100_000; i++) {
      const path = join(folder, `f${i}`);
      if (i % 1_000 > 0) Deno.linkSync(file, path);
      else Deno.writeTextFileSync(file = path, "");
    }
    await using wire = new Wire(place);
    await wire.initialize();
    const uri = "skill://huge/SKILL.md";
    const entries = await listSkills(wire);
    assert.deepEqual(entries.map(({ uri }) => uri), ["skill://good/SKILL.md"]);
    const { error } = await wire.ask(1, "skills/get", { uri });
    assert.match(error!.message, /more than 512 files/);
    const { result } = await wire.ask(2, "resources/read", { uri });
    assert.equal(result.contents[0].text, skillMd("huge"));
  },
);

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

Deno.test("server survives a new folder whose name is not valid UTF-8", {
  ignore: lacks("bytes"),
}, async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "good");
  await using wire = new Wire(place, { args: ["--refresh", "0.05"] });
  await wire.initialize();
  createInvalidNames(place.folder(skills));
  await wire.stderrLines.take(
    (line) => line.includes("not valid UTF-8"),
    "the line about the name",
  );
  const { result } = await wire.ask(1, "tools/call", {
    name: "skill",
    arguments: { name: "good" },
  });
  assert.equal(result.isError, undefined);
  assert.equal((await wire.endInput()).code, 0);
});

Deno.test("a hard link is served as a regular file", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const file = place.file("elsewhere/notes.md", "notes");
  Deno.linkSync(file, join(place.path, "skills", "git", "notes.md"));
  const skill = await scanSkill(join(place.path, "skills"));
  assert.equal(readSkillFile(skill, "notes.md").text, "notes");
});

Deno.test("the server's own checks block links that Deno's sandbox allows", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  const secret = place.file(`outside/${SECRET}.md`, SECRET);
  place.skill("home/.claude/skills", "git");
  const link = place.link(secret, "home/.claude/skills/git/link.md");
  const allow = `--allow-read=${join(place.home, ".claude", "skills")}`;
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--no-prompt",
      allow,
      place.file(
        "read.ts",
        `console.log(Deno.readTextFileSync(${JSON.stringify(link)}))`,
      ),
    ],
    env: environment,
  }).output();
  assert.equal(new TextDecoder().decode(stdout), `${SECRET}\n`);
  await using wire = new Wire(place, {
    flags: flagsWith(allow, "--allow-env"),
  });
  await wire.initialize();
  const uri = "skill://git/link.md";
  const { error } = await wire.ask(1, "resources/read", { uri });
  assert.match(error!.message, /there is no such file/);
  const [entry] = await listSkills(wire);
  assert.equal(entry!.resources.length, 1);
});

Deno.test("Deno's sandbox blocks folders that the server searches without permission", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const outside = place.skill(`outside-${SECRET}`, "secret");
  const skills = join(place.home, ".claude", "skills");
  await using session = await Session.open(place, {
    args: [skills, join(outside, "..")],
    flags: flagsWith(`--allow-read=${skills}`, "--allow-env"),
  });
  assert.deepEqual(await session.names(), ["git"]);
  const line = await session.stderr.take(
    (line) => line.includes("--allow-read"),
    "the fix",
  );
  assert.match(line, /Deno is not allowed to read it/);
});

Deno.test(
  "server limits its memory while a hundred thousand replies wait for a reader, and then sends them all",
  {
    ignore: lacks("proc"),
  },
  async () => {
    using place = new Place();
    place.skill(
      "home/.claude/skills",
      "git",
      skillMd("git") + "x".repeat(2_000),
    );
    const server = spawnServer(place);
    const stdin = server.stdin.getWriter();
    const count = 100_000;
    const call = (id: number) => ({
      jsonrpc: "2.0",
      id,
      method: "tools/call",
      params: { name: "skill", arguments: { name: "git" } },
    });
    let written = 0;
    const writing = (async () => {
      for (let id = 0; id < count; id += 100) {
        const lines = Array.from(
          { length: 100 },
          (_, index) => `${JSON.stringify(call(id + index))}\n`,
        );
        await stdin.write(new TextEncoder().encode(lines.join("")));
        written += lines.length;
      }
      await stdin.close();
    })();
    const isStuck = async () => {
      for (let before = -1; before !== written || written === 0;) {
        before = written;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    };
    await within(isStuck(), "the server to stop reading");
    assert.ok(written < count / 2, `${written}`);
    const unread = peakMemory(server.pid);
    assert.ok(unread < 300, `${unread} MB`);
    let replies = 0;
    let peak = 0;
    const reading = (async () => {
      for await (const chunk of server.stdout) {
        for (
          let end = chunk.indexOf(0x0a);
          end >= 0;
          end = chunk.indexOf(0x0a, end + 1)
        ) replies++;
        // The process can exit while its last replies are read.
        if (replies < 0.9 * count) peak = peakMemory(server.pid);
      }
    })();
    const deadline = 6 * DEADLINE_MS;
    await within(Promise.all([writing, reading]), "all replies", deadline);
    assert.equal(replies, count);
    assert.ok(peak < 450, `${peak} MB`);
    assert.equal((await server.status).code, 0);
    await server.stderr.cancel();
  },
);

Deno.test(
  "server does not leak memory or open files over 1,400 changes",
  {
    ignore: lacks("proc"),
  },
  async () => {
    using place = new Place();
    const skills = "home/.claude/skills";
    place.skill(skills, "good");
    await using wire = new Wire(place, { args: ["--refresh", "0.05"] });
    await wire.initialize();
    await wire.ask(1, "resources/subscribe", { uri: "skill://" });
    const measure = () => {
      const path = `/proc/${wire.process.pid}`;
      const status = Deno.readTextFileSync(`${path}/status`);
      return {
        memory: Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)![1]) / 1024,
        files: [...Deno.readDirSync(`${path}/fd`)].length,
      };
    };
    const change = async (round: number) => {
      const name = `s${round % 7}`;
      if (round % 2 === 0) {
        place.skill(skills, name, skillMd(name, `Round ${round}`));
        place.file(`${skills}/${name}/notes/${round}.md`, "x".repeat(1_000));
      } else {
        Deno.removeSync(join(place.path, skills, `s${(round - 1) % 7}`), {
          recursive: true,
        });
      }
      await wire.ask(nextId(), "tools/call", {
        name: "skill",
        arguments: { name },
      });
      wire.lines.takeAll();
    };
    for (let round = 0; round < 200; round++) await change(round);
    const before = measure();
    for (let round = 200; round < 1_400; round++) await change(round);
    const after = measure();
    assert.ok(
      after.memory < before.memory + 40,
      `${before.memory} → ${after.memory} MB`,
    );
    assert.ok(
      after.files <= before.files + 8,
      `${before.files} → ${after.files}`,
    );
    const { result } = await wire.ask(nextId(), "tools/call", {
      name: "skill",
      arguments: { name: "good" },
    });
    assert.equal(result.isError, undefined);
  },
);
