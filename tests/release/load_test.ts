// The server on stdio under load: its memory, and its open files.
import assert from "node:assert/strict";
import { nextId } from "../testing/client.ts";
import { Place, skillMd } from "../testing/folders.ts";
import { lacks } from "../testing/needs.ts";
import { spawnServer, Wire } from "../testing/server.ts";
import { ping } from "../testing/transport.ts";
import { DEADLINE_MS, within } from "../testing/waiting.ts";

Deno.test(
  "server limits its memory while a hundred thousand replies wait for a reader, and then sends them all",
  { ignore: lacks("proc") },
  async () => {
    using place = new Place();
    const text = skillMd("git") + "x".repeat(2_000);
    place.skill("home/.claude/skills", "git", text);
    const server = spawnServer(place);
    const stdin = server.stdin.getWriter();
    const count = 100_000;
    const params = { name: "skill", arguments: { name: "git" } };
    const call = (id: number) =>
      `${JSON.stringify({ ...ping(id), method: "tools/call", params })}\n`;
    let written = 0;
    const writing = (async () => {
      for (let id = 0; id < count; id += 100) {
        const lines = Array.from({ length: 100 }, (_, i) => call(id + i));
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
    const unread = memoryOf(server.pid, "VmHWM");
    assert.ok(unread < 300, `${unread} MB`);
    let replies = 0;
    let peak = 0;
    const reading = (async () => {
      for await (const chunk of server.stdout) {
        replies += chunk.filter((byte) => byte === 0x0a).length;
        // The process can exit while its last replies are read.
        if (replies < 0.9 * count) peak = memoryOf(server.pid, "VmHWM");
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
  "server does not leak memory or open files over 600 changes",
  { ignore: lacks("proc") },
  async () => {
    using place = new Place();
    const skills = "home/.claude/skills";
    place.skill(skills, "good");
    await using wire = await Wire.open(place, { args: ["--refresh", "0.05"] });
    await wire.ask(1, "resources/subscribe", { uri: "skill://" });
    // Half of the eight skills appear, and the others disappear.
    const change = async (round: number) => {
      for (let index = 0; index < 8; index++) {
        const path = `${skills}/s${index}`;
        if ((round + index) % 2 === 1) {
          if (round > 0) place.remove(path);
          continue;
        }
        place.skill(skills, `s${index}`, skillMd(`s${index}`, `${round}`));
        place.file(`${path}/notes/${round}.md`, "x".repeat(1_000));
      }
      // A name that is unknown makes the server scan.
      const call = { name: "skill", arguments: { name: `none-${round}` } };
      await wire.ask(nextId(), "tools/call", call);
      wire.lines.takeAll();
    };
    for (let round = 0; round < 25; round++) await change(round);
    const before = resourcesOf(wire);
    for (let round = 25; round < 100; round++) await change(round);
    const after = resourcesOf(wire);
    const figures = JSON.stringify({ before, after });
    assert.ok(after.memory < before.memory + 20, figures);
    assert.ok(after.files <= before.files + 8, figures);
    const good = { name: "skill", arguments: { name: "good" } };
    const { result } = await wire.ask(nextId(), "tools/call", good);
    assert.equal(result.isError, undefined);
  },
);

/** Returns the memory of a process in MB: what is resident, or the peak of that. */
function memoryOf(pid: number, key: "VmRSS" | "VmHWM"): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const [, size] = new RegExp(`^${key}:\\s+(\\d+) kB$`, "m").exec(status)!;
  return Number(size) / 1024;
}

/** Returns the resident memory of a server, and the number of its open files. */
function resourcesOf({ process: { pid } }: Wire) {
  return {
    memory: memoryOf(pid, "VmRSS"),
    files: [...Deno.readDirSync(`/proc/${pid}/fd`)].length,
  };
}
