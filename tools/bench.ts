/**
 * Measures the speed of the server relative to a minimal server built with the
 * SDK. Both are measured in one run, because only ratios are comparable between
 * machines.
 *
 *     deno task bench
 *
 * @module
 */

import { join, resolve } from "jsr:@std/path@^1";
import { scanSkillRoots, type SkillRoot } from "../mod.ts";
import { measureHttp } from "./http_bench.ts";

const SIZES = [0, 100, 1_000, 10_000];
const STARTS = 15;
const CALLS = 500;

const MOD = resolve(import.meta.dirname!, "..", "mod.ts");

/** The flag for an import map, for networks without access to JSR. */
const IMPORTS = Deno.args.map((flag) =>
  flag.replace(/(?<=^--import-map=)(?!\/|\w+:)/, `${import.meta.dirname}/../`)
);

/** A minimal server built with the SDK: one tool that echoes its input. */
const BARE_SERVER = `
import { McpServer } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/mcp.js";
import { StdioServerTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/stdio.js";
import { z } from "npm:zod@^4";
const server = new McpServer({ name: "bare", version: "1.0.0" });
server.registerTool(
  "skill",
  { description: "Echo", inputSchema: { name: z.string() } },
  ({ name }) => ({ content: [{ type: "text", text: name }] }),
);
await server.connect(new StdioServerTransport());
`;

/** A server process that receives requests one at a time. */
class Peer {
  readonly process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;
  #id = 0;

  constructor(module: string, home: string) {
    this.process = new Deno.Command(Deno.execPath(), {
      args: ["run", "--allow-read", "--allow-env", ...IMPORTS, module],
      cwd: home,
      env: { HOME: home, DENO_DIR: denoDir },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.process.stdin.getWriter();
    this.#lines = lines(this.process.stdout);
  }

  // deno-lint-ignore no-explicit-any -- the benchmark knows the type of each result
  async ask(method: string, params: object = {}): Promise<any> {
    await this.send({ id: ++this.#id, method, params });
    return JSON.parse(await this.message(`"id":${this.#id}`));
  }

  async send(message: object): Promise<void> {
    const line = JSON.stringify({ jsonrpc: "2.0", ...message });
    await this.#writer.write(new TextEncoder().encode(`${line}\n`));
  }

  /** Waits for a message that contains a text. */
  async message(part: string): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error("The server exited");
      if (value.includes(part)) return value;
    }
  }

  async start(): Promise<void> {
    await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    });
    await this.send({ method: "notifications/initialized" });
    await this.ask("tools/list");
  }

  /** Returns the resident memory, in MB. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.process.pid}/status`);
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
  }

  async end(): Promise<void> {
    await this.#writer.close();
    await this.process.status;
  }
}

async function* lines(stream: ReadableStream<Uint8Array>) {
  let rest = "";
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const parts = (rest + text).split("\n");
    rest = parts.pop()!;
    yield* parts;
  }
}

const denoDir: string = JSON.parse(
  new TextDecoder().decode(
    new Deno.Command(Deno.execPath(), { args: ["info", "--json"] })
      .outputSync().stdout,
  ),
).denoDir;

function createSkills(home: string, count: number): void {
  const folder = join(home, ".claude", "skills");
  for (let i = 0; i < count; i++) {
    const name = `skill-${i}`;
    const description = `Do the thing number ${i} when somebody asks for it. `;
    Deno.mkdirSync(join(folder, name, "references"), { recursive: true });
    Deno.writeTextFileSync(
      join(folder, name, "SKILL.md"),
      `---\nname: ${name}\ndescription: ${description.repeat(4)}\n---\n\n${
        "Some text.\n".repeat(400)
      }`,
    );
    for (const file of ["a.md", "b.md", "c.md"]) {
      Deno.writeTextFileSync(join(folder, name, "references", file), file);
    }
  }
}

async function milliseconds(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

/** Measures the time from the start of the process to the reply to `tools/list`. */
async function measureStart(module: string, home: string): Promise<number> {
  let peer!: Peer;
  const time = await milliseconds(() => {
    peer = new Peer(module, home);
    return peer.start();
  });
  await peer.end();
  return time;
}

/** Creates a bundle as `deno task bundle` does, and returns its path. */
function createBundle(): string {
  const file = Deno.makeTempFileSync({ suffix: ".js" });
  const { success } = new Deno.Command(Deno.execPath(), {
    args: [
      "run",
      "--allow-all",
      join(import.meta.dirname!, "bundle.ts"),
      ...IMPORTS,
      file,
    ],
  }).outputSync();
  if (!success) throw new Error("Cannot create the bundle");
  return file;
}

/** Measures the time to fetch all pages of `skills/list`, for the first time and repeatedly. */
async function measureLists(
  peer: Peer,
): Promise<{ list: number; relist: number }> {
  const list = async () => {
    let cursor: string | undefined;
    do {
      const { result } = await peer.ask("skills/list", { cursor });
      cursor = result.nextCursor;
    } while (cursor !== undefined);
  };
  const first = await milliseconds(list);
  const again: number[] = [];
  for (let round = 0; round < 5; round++) again.push(await milliseconds(list));
  return { list: first, relist: median(again) };
}

/** Measures tool calls. The servers take turns, so that noise affects all of them. */
async function measureCalls(peers: Peer[], name: string): Promise<number[]> {
  const times: number[][] = peers.map(() => []);
  for (let call = 0; call < CALLS; call++) {
    for (const [index, peer] of peers.entries()) {
      const params = { name: "skill", arguments: { name } };
      times[index]!.push(
        await milliseconds(() => peer.ask("tools/call", params)),
      );
    }
  }
  return times.map(median);
}

/** Measures the time from a change to a file until the notification. */
async function measureNotification(peer: Peer, home: string): Promise<number> {
  const file = join(home, ".claude", "skills", "skill-0", "SKILL.md");
  const text = "---\nname: skill-0\ndescription: Changed\n---\n";
  // The tools list only names of many skills, so they may not change.
  const notified = peer.message("notifications/prompts/list_changed");
  return await milliseconds(async () => {
    Deno.writeTextFileSync(file, text);
    await notified;
  });
}

/** The measurements for a number of skills: times in milliseconds, memory in MB. */
interface Figures {
  readonly size: number;
  readonly bareStart: number;
  readonly start: number;
  readonly bundleStart: number;
  readonly list: number;
  readonly relist: number;
  readonly echo: number;
  readonly call: number;
  readonly scan: number;
  readonly rescan: number;
  readonly notification: number;
  readonly memory: number;
}

async function measure(
  size: number,
  { bare, bundle }: { bare: string; bundle: string },
): Promise<Figures> {
  const home = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    createSkills(home, size);
    const bareStarts: number[] = [];
    const starts: number[] = [];
    const bundleStarts: number[] = [];
    for (let round = 0; round < STARTS; round++) {
      bareStarts.push(await measureStart(bare, home));
      starts.push(await measureStart(MOD, home));
      bundleStarts.push(await measureStart(bundle, home));
    }
    const peers = [new Peer(bare, home), new Peer(MOD, home)];
    for (const peer of peers) await peer.start();
    const memory = peers[1]!.memory();
    const [echo, call] = await measureCalls(peers, "skill-1");
    const lists = await measureLists(peers[1]!);
    const notification = size > 0
      ? await measureNotification(peers[1]!, home)
      : NaN;
    for (const peer of peers) await peer.end();
    return {
      size,
      bareStart: median(bareStarts),
      start: median(starts),
      bundleStart: median(bundleStarts),
      ...lists,
      echo: echo!,
      call: call!,
      ...await measureScans(join(home, ".claude", "skills")),
      notification,
      memory,
    };
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
}

async function measureScans(
  path: string,
): Promise<{ scan: number; rescan: number }> {
  const roots: SkillRoot[] = [{ path, scope: "global", recursive: false }];
  await scanSkillRoots(roots);
  const scan = await milliseconds(() => scanSkillRoots(roots));
  // A scan reads recently written files again, so wait until they are no longer recent.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const catalog = await scanSkillRoots(roots);
  const rescan = await milliseconds(() => scanSkillRoots(roots, catalog));
  return { scan, rescan };
}

function formatRow(figures: Figures, empty: Figures): string {
  const { size, bareStart, start, bundleStart, echo, call } = figures;
  const { scan, rescan, list, relist } = figures;
  const cells = [
    size.toLocaleString("en"),
    `${start.toFixed(0)} ms (${(start / bareStart).toFixed(2)})`,
    `${bundleStart.toFixed(0)} ms (${(bundleStart / bareStart).toFixed(2)})`,
    `${call.toFixed(2)} ms (${(call / echo).toFixed(2)})`,
    `${scan.toFixed(1)} ms`,
    `${rescan.toFixed(1)} ms`,
    `${list.toFixed(0)} / ${relist.toFixed(0)} ms`,
    size > 0 ? `${figures.notification.toFixed(0)} ms` : "",
    `${(figures.memory - empty.memory).toFixed(1)} MB`,
  ];
  return `| ${cells.join(" | ")} |`;
}

const bare = Deno.makeTempFileSync({ suffix: ".ts" });
Deno.writeTextFileSync(bare, BARE_SERVER);
console.log(
  "Times are medians. The numbers in parentheses are ratios to a minimal server built with the SDK.\n",
);
console.log(
  "| skills | start to `tools/list` | start of the bundle | call of `skill` | scan | rescan | `skills/list`, first / again | change to notification | memory |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
const bundle = createBundle();
let empty: Figures | undefined;
for (const size of SIZES) {
  const figures = await measure(size, { bare, bundle });
  empty ??= figures;
  console.log(formatRow(figures, empty));
}
Deno.removeSync(bare);
Deno.removeSync(bundle);
console.log();
const home = Deno.realPathSync(Deno.makeTempDirSync());
createSkills(home, 100);
await measureHttp(home, { imports: IMPORTS, env: { DENO_DIR: denoDir } });
Deno.removeSync(home, { recursive: true });
