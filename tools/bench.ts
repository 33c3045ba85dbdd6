// deno-lint-ignore-file no-import-prefix -- the sources' specifiers are written out, so the benchmarks' are too

/**
 * Measures how fast the server is, beside a bare server made with the SDK, all
 * in one run: machines differ and are never quiet, ratios tell.
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

/** On some networks an import map. */
const IMPORTS = Deno.args.map((flag) =>
  flag.replace(/(?<=^--import-map=)(?!\/|\w+:)/, `${import.meta.dirname}/../`)
);

/** The least that a server made with the SDK can be: one tool that echoes. */
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

/** A server's process that answers one request at a time. */
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

  // deno-lint-ignore no-explicit-any -- the benchmark knows what it asked for
  async ask(method: string, params: object = {}): Promise<any> {
    await this.send({ id: ++this.#id, method, params });
    return JSON.parse(await this.message(`"id":${this.#id}`));
  }

  async send(message: object): Promise<void> {
    const line = JSON.stringify({ jsonrpc: "2.0", ...message });
    await this.#writer.write(new TextEncoder().encode(`${line}\n`));
  }

  /** Waits for a message that has a text in it. */
  async message(part: string): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error("The server ended");
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

  /** Memory in use, in MB. */
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

function makeSkills(home: string, count: number): void {
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

/** From the start of the process to the answer to `tools/list`. */
async function start(module: string, home: string): Promise<number> {
  let peer!: Peer;
  const time = await milliseconds(() => {
    peer = new Peer(module, home);
    return peer.start();
  });
  await peer.end();
  return time;
}

/** Makes the bundle that `deno task bundle` makes, and returns its path. */
function bundle(): string {
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
  if (!success) throw new Error("The bundle could not be made");
  return file;
}

/** Lists all pages of `skills/list` the first time, and again. */
async function skillLists(
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

/** Times calls of one peer in turn with another's, so that noise meets both. */
async function calls(peers: Peer[], name: string): Promise<number[]> {
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

/** From a change of a file to the notice of it. */
async function notice(peer: Peer, home: string): Promise<number> {
  const file = join(home, ".claude", "skills", "skill-0", "SKILL.md");
  const text = "---\nname: skill-0\ndescription: Changed\n---\n";
  const heard = peer.message("notifications/tools/list_changed");
  return await milliseconds(async () => {
    Deno.writeTextFileSync(file, text);
    await heard;
  });
}

/** What was measured with a number of skills: times in milliseconds, memory in MB. */
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
  readonly notice: number;
  readonly memory: number;
}

async function measure(
  size: number,
  { bare, bundled }: { bare: string; bundled: string },
): Promise<Figures> {
  const home = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    makeSkills(home, size);
    const bareStarts: number[] = [];
    const starts: number[] = [];
    const bundleStarts: number[] = [];
    for (let round = 0; round < STARTS; round++) {
      bareStarts.push(await start(bare, home));
      starts.push(await start(MOD, home));
      bundleStarts.push(await start(bundled, home));
    }
    const peers = [new Peer(bare, home), new Peer(MOD, home)];
    for (const peer of peers) await peer.start();
    const memory = peers[1]!.memory();
    const [echo, call] = await calls(peers, "skill-1");
    const lists = await skillLists(peers[1]!);
    const heard = size > 0 ? await notice(peers[1]!, home) : NaN;
    for (const peer of peers) await peer.end();
    return {
      size,
      bareStart: median(bareStarts),
      start: median(starts),
      bundleStart: median(bundleStarts),
      ...lists,
      echo: echo!,
      call: call!,
      ...await scans(join(home, ".claude", "skills")),
      notice: heard,
      memory,
    };
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
}

async function scans(path: string): Promise<{ scan: number; rescan: number }> {
  const roots: SkillRoot[] = [{ path, scope: "global", recursive: false }];
  await scanSkillRoots(roots);
  const scan = await milliseconds(() => scanSkillRoots(roots));
  // Files that were just written are read once more.
  await new Promise((resolve) => setTimeout(resolve, 2_100));
  const catalog = await scanSkillRoots(roots);
  const rescan = await milliseconds(() => scanSkillRoots(roots, catalog));
  return { scan, rescan };
}

function row(figures: Figures, empty: Figures): string {
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
    size > 0 ? `${figures.notice.toFixed(0)} ms` : "",
    `${(figures.memory - empty.memory).toFixed(1)} MB`,
  ];
  return `| ${cells.join(" | ")} |`;
}

const bare = Deno.makeTempFileSync({ suffix: ".ts" });
Deno.writeTextFileSync(bare, BARE_SERVER);
console.log(
  "Times are medians. In brackets: how many times that of a bare server made with the SDK.\n",
);
console.log(
  "| skills | start to `tools/list` | of the bundle | call of `skill` | scan | rescan | `skills/list`, first / again | change to notice | memory |",
);
console.log("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
const bundled = bundle();
let empty: Figures | undefined;
for (const size of SIZES) {
  const figures = await measure(size, { bare, bundled });
  empty ??= figures;
  console.log(row(figures, empty));
}
Deno.removeSync(bare);
Deno.removeSync(bundled);
console.log();
const home = Deno.realPathSync(Deno.makeTempDirSync());
makeSkills(home, 100);
await measureHttp(home, { imports: IMPORTS, env: { DENO_DIR: denoDir } });
Deno.removeSync(home, { recursive: true });
