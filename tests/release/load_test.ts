// The server under load: its memory, its open files, and clients that do not read.
import assert from "node:assert/strict";
import { nextId } from "../testing/client.ts";
import { HttpServer } from "../testing/http.ts";
import { needs } from "../testing/needs.ts";
import { filesPlace, Place, skillMd } from "../testing/place.ts";
import { message, Wire } from "../testing/server.ts";
import { eventually } from "../testing/waiting.ts";

const withProc = needs("proc");

withProc.test("server does not leak memory or open files over 600 changes", async () => {
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
});

/** Returns the resident memory of a process in MB. */
function memoryOf(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  const [, size] = /^VmRSS:\s+(\d+) kB$/m.exec(status)!;
  return Number(size) / 1024;
}

/** Returns the resident memory of a server, and the number of its open files. */
function resourcesOf({ process: { pid } }: Wire) {
  return {
    memory: memoryOf(pid),
    files: [...Deno.readDirSync(`/proc/${pid}/fd`)].length,
  };
}

Deno.test("a client that does not read a long answer counts until it leaves", async () => {
  using place = filesPlace();
  for (let i = 0; i < 7; i++) {
    place.file(`home/.claude/skills/git/${i}.txt`, "é".repeat(500_000));
  }
  await using server = await HttpServer.start(place);
  const ping = () => server.fetch(message(1, "ping"));
  const read = message(1, "resources/read", { uri: "skill://git/" });
  const unread: Response[] = [];
  while (unread.length < 64) unread.push(await server.fetch(read));
  const refused = await ping();
  assert.equal(refused.status, 503);
  await refused.body!.cancel();
  await unread.pop()!.body!.cancel();
  await eventually(async () => {
    const { status, body } = await ping();
    await body!.cancel();
    return status === 200;
  }, "a place for another request");
  const { result } = await unread.pop()!.json();
  const texts: string[] = result.contents.map(({ text = "" }) => text);
  assert.ok(texts.join("").includes("é".repeat(500_000)));
  for (const { body } of unread) await body!.cancel();
});
