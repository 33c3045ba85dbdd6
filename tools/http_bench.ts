/**
 * Measures the speed of the HTTP server relative to a minimal server built with
 * the SDK. The servers take turns, so that noise affects both.
 *
 * @module
 */

import { resolve } from "jsr:@std/path@^1";

const HTTP = resolve(import.meta.dirname!, "..", "http.ts");

const ROUNDS = 5;
const REQUESTS = 10_000;
const CONNECTIONS = 100;

/** A minimal server built with the SDK: one tool that returns a text. */
const BARE_SERVER = `
import { createMcpHandler, McpServer } from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4";
const text = Deno.readTextFileSync(Deno.args[0]);
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "bare", version: "1.0.0" });
  server.registerTool(
    "skill",
    { description: "Load", inputSchema: z.object({ name: z.string() }) },
    () => ({ content: [{ type: "text", text }] }),
  );
  return server;
});
export default { fetch: (request) => handler.fetch(request) };
`;

/** A server process. */
interface Peer {
  readonly process: Deno.ChildProcess;
  readonly url: string;
}

/** The measurements of one round. */
interface Round {
  /** Requests per second. */
  readonly rate: number;
  /** The 99th percentile of the response times, in milliseconds. */
  readonly percentile: number;
}

/** Starts a server on a free port. */
async function serve(
  args: string[],
  { imports, env }: { imports: string[]; env: Record<string, string> },
): Promise<Peer> {
  const process = new Deno.Command(Deno.execPath(), {
    args: [
      ...["serve", "--host", "127.0.0.1", "--port", "0"],
      ...["--allow-read", "--allow-env", ...imports, ...args],
    ],
    env: { ...env, NO_COLOR: "1" },
    stdout: "null",
    stderr: "piped",
  }).spawn();
  let text = "";
  const [lines, rest] = process.stderr.tee();
  rest.pipeTo(new WritableStream());
  for await (const part of lines.pipeThrough(new TextDecoderStream())) {
    text += part;
    const [origin] = /http:\/\/[\d.:]+/.exec(text) ?? [];
    if (origin !== undefined) return { process, url: `${origin}/mcp` };
  }
  throw new Error(text);
}

/** Measures calls to a server's tool over many concurrent connections. */
async function measureRound(url: string, isModern: boolean): Promise<Round> {
  const method = "tools/call";
  const version = isModern ? "2026-07-28" : "2025-11-25";
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": version,
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { name: "skill", arguments: { name: "skill-1" } };
  const request = {
    method: "POST",
    headers: {
      "content-type": "application/json",
      "accept": "application/json, text/event-stream",
      "mcp-protocol-version": version,
      ...(isModern && { "mcp-method": method, "mcp-name": "skill" }),
    },
    body: JSON.stringify({
      jsonrpc: "2.0",
      id: 1,
      method,
      params: isModern ? { ...params, _meta } : params,
    }),
  };
  const times: number[] = [];
  let remaining = REQUESTS / ROUNDS;
  const connect = async () => {
    while (remaining-- > 0) {
      const start = performance.now();
      const response = await fetch(url, request);
      const text = await response.text();
      if (!text.includes('"content"')) throw new Error(text);
      times.push(performance.now() - start);
    }
  };
  const start = performance.now();
  await Promise.all(Array.from({ length: CONNECTIONS }, connect));
  const rate = times.length / (performance.now() - start) * 1000;
  times.sort((a, b) => a - b);
  return { rate, percentile: times[Math.floor(times.length * 0.99)]! };
}

function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

/** Returns the resident memory, in MB. */
function residentMemory({ process }: Peer): number {
  const status = Deno.readTextFileSync(`/proc/${process.pid}/status`);
  return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
}

/** Measures one era and returns a row of the table. */
async function measure(peers: Peer[], isModern: boolean): Promise<string> {
  const rounds: Round[][] = peers.map(() => []);
  const memories: number[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { url }] of peers.entries()) {
      rounds[index]!.push(await measureRound(url, isModern));
    }
    memories.push(residentMemory(peers[1]!));
  }
  const [bare, ours] = rounds.map((rounds) => ({
    rate: median(rounds.map(({ rate }) => rate)),
    percentile: median(rounds.map(({ percentile }) => percentile)),
  }));
  const cells = [
    isModern ? "modern" : "legacy",
    `${ours!.rate.toFixed(0)} (${(ours!.rate / bare!.rate).toFixed(2)})`,
    `${ours!.percentile.toFixed(0)} ms (${
      (ours!.percentile / bare!.percentile).toFixed(2)
    })`,
    memories.map((memory) => memory.toFixed(0)).join(", "),
  ];
  return `| ${cells.join(" | ")} |`;
}

/**
 * Measures calls to the tool `skill` over HTTP, and prints a table.
 *
 * @param home A home folder that contains the skill `skill-1`.
 * @param options The import map flags for `deno`, and the environment variables.
 */
export async function measureHttp(
  home: string,
  options: { imports: string[]; env: Record<string, string> },
): Promise<void> {
  const bare = Deno.makeTempFileSync({ suffix: ".ts" });
  Deno.writeTextFileSync(bare, BARE_SERVER);
  const folder = resolve(home, ".claude", "skills");
  const file = resolve(folder, "skill-1", "SKILL.md");
  const env = { ...options.env, HOME: home, SKILLS_DIR: folder };
  const peers = [
    await serve([bare, file], { ...options, env }),
    await serve([HTTP], { ...options, env }),
  ];
  console.log(
    `| over HTTP: ${REQUESTS} calls, ${CONNECTIONS} connections | calls per second | 99th percentile | memory after each fifth, in MB |`,
  );
  console.log("| --- | --- | --- | --- |");
  for (const isModern of [true, false]) {
    console.log(await measure(peers, isModern));
  }
  for (const { process } of peers) {
    process.kill("SIGTERM");
    await process.status;
  }
  Deno.removeSync(bare);
}
