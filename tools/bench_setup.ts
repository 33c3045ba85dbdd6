/**
 * What the benchmarks share: the servers, the skills they serve, and the clock.
 *
 * @module
 */

import { join, resolve } from "jsr:@std/path@^1";

export const MOD = resolve(import.meta.dirname!, "..", "mod.ts");

/** The flag for an import map, for networks without access to JSR. */
export const IMPORTS = Deno.args
  .filter((flag) => flag.startsWith("--import-map="))
  .map((flag) =>
    flag.replace(/(?<==)(?!\/|\w+:)/, `${import.meta.dirname}/../`)
  );

/** A minimal server built with the SDK: one tool that echoes its input. */
export const BARE_SERVER = `
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

/** A program and its arguments. */
export type Command = readonly [string, ...string[]];

/** Returns the command that runs a module as a server. */
export function denoCommand(module: string): Command {
  const permissions = ["--allow-read", "--allow-env"];
  return [Deno.execPath(), "run", ...permissions, ...IMPORTS, module];
}

/** A server process that receives requests one at a time. */
export class Peer {
  readonly process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;
  #id = 0;

  constructor([program, ...args]: Command, home: string) {
    this.process = new Deno.Command(program, {
      args,
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

  /** Begins a session, and returns the tools of the server. */
  // deno-lint-ignore no-explicit-any -- the benchmark knows their type
  async start(): Promise<any[]> {
    await this.ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    });
    await this.send({ method: "notifications/initialized" });
    return (await this.ask("tools/list")).result.tools;
  }

  /** Returns the resident memory, in MB. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.process.pid}/status`);
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
  }

  async end(): Promise<void> {
    await this.#writer.close();
    // Not every server exits at the end of its input.
    const timer = setTimeout(() => this.process.kill("SIGKILL"), 2_000);
    await this.process.status;
    clearTimeout(timer);
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

export const denoDir: string = JSON.parse(
  new TextDecoder().decode(
    new Deno.Command(Deno.execPath(), { args: ["info", "--json"] })
      .outputSync().stdout,
  ),
).denoDir;

/** Creates skills of 5 kB, with three other files each, in `~/.claude/skills`. */
export function createSkills(home: string, count: number): void {
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

export async function milliseconds(
  work: () => Promise<unknown>,
): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

export function median(values: number[]): number {
  return values.sort((a, b) => a - b)[values.length >> 1]!;
}

/** Measures the time from the start of the process to the reply to `tools/list`. */
export async function measureStart(
  command: Command,
  home: string,
): Promise<number> {
  let peer!: Peer;
  const time = await milliseconds(() => {
    peer = new Peer(command, home);
    return peer.start();
  });
  await peer.end();
  return time;
}

/** Creates a bundle as `deno task bundle` does, and returns its path. */
export function createBundle(): string {
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
