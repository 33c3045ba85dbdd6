/**
 * Measures this server beside a minimal one built with the SDK, and beside those
 * that `--against` names. In each round they take turns, so that noise affects all
 * of them. Figures are first quartiles.
 *
 *     deno task bench
 *     deno task bench --against ../other-checkout
 *     deno task bench --against "peer 1.0=node dist/index.js {skills}"
 *     deno task bench --search FOLDER
 *
 * A command is split at blanks. `{skills}` stands for the directory of the skills,
 * which is also `.claude/skills` in the home directory that the server is given. The
 * call is one of the first tool whose only required parameter is a string. A
 * server that sends no notification within 10 seconds is taken to send none.
 * `--skills 100,1000` sets the numbers of skills.
 */

import { existsSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { scanSkillRoots, type SkillRegistry } from "../mod.ts";
import { basename, join, resolve } from "../src/fs/paths.ts";
import { SkillIndex } from "../src/views/search.ts";
import { importFlags } from "./import_flags.ts";
import questions from "./search_questions.json" with { type: "json" };

const ROOT = resolve(import.meta.dirname!, "..");

/** How often each value is measured. */
const ROUNDS = { start: 15, call: 300, search: 20, told: 5, scan: 7 };

/** How long to wait for a notification, in milliseconds. */
const PATIENCE = 10_000;

/** A minimal server on the same SDK: one tool that echoes its input. */
const BARE_SERVER = `
import { Server } from "npm:@modelcontextprotocol/server@^2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
const properties = { name: { type: "string" } };
const inputSchema = { type: "object", properties, required: ["name"] };
serveStdio(() => {
  const info = { name: "bare", version: "1.0.0" };
  const server = new Server(info, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({
    tools: [{ name: "skill", description: "Echo", inputSchema }],
  }));
  server.setRequestHandler("tools/call", ({ params }) => ({
    content: [{ type: "text", text: params.arguments.name }],
  }));
  return server;
});
`;

/** A server to measure. */
interface Server {
  readonly name: string;
  /** The program and its arguments. */
  readonly command: readonly [string, ...string[]];
  /** The main module of a checkout, whose scans are measured too. */
  readonly module?: string | undefined;
}

/** What is measured of a server: times in milliseconds, memory in MB. */
const COLUMNS = {
  start: "start to tools/list, ms",
  call: "call, ms",
  search: "search, ms",
  edit: "edit told, ms",
  link: "link told, ms",
  memory: "memory, MB",
};

/** The values of a server. One that the server does not have is `undefined`. */
type Figures = Record<keyof typeof COLUMNS, number | undefined>;

/** Returns the server of a module, with the README's flags. */
function denoServer(name: string, module: string): Server {
  const flags = ["--no-config", "--allow-read", "--allow-env"];
  flags.push(...importFlags());
  return { name, command: [Deno.execPath(), "run", ...flags, module], module };
}

/** Parses a value of `--against`: the directory of a checkout, or `NAME=COMMAND`. */
function parseServer(text: string): Server {
  const [, name, command] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined) {
    return denoServer(basename(resolve(text)), resolve(text, "mod.ts"));
  }
  const [program, ...args] = command!.trim().split(/\s+/);
  return { name, command: [program!, ...args] };
}

/** Creates skills of 5 kB, with three other files each. */
function createSkills(dir: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const name = `skill-${i}`;
    const description = `Do the thing number ${i} when somebody asks for it. `;
    Deno.mkdirSync(join(dir, name, "references"), { recursive: true });
    Deno.writeTextFileSync(
      join(dir, name, "SKILL.md"),
      `---\nname: ${name}\ndescription: ${description.repeat(4)}\n---\n\n${
        "Some text.\n".repeat(400)
      }`,
    );
    for (const file of ["a.md", "b.md", "c.md"]) {
      Deno.writeTextFileSync(join(dir, name, "references", file), file);
    }
  }
}

const denoDir: string = JSON.parse(
  new TextDecoder().decode(
    new Deno.Command(Deno.execPath(), { args: ["info", "--json"] })
      .outputSync().stdout,
  ),
).denoDir;

/** A server process. */
class Peer {
  readonly #process: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #lines: AsyncIterator<string>;
  #id = 0;

  constructor({ command: [program, ...args] }: Server, home: string) {
    const skills = join(home, ".claude", "skills");
    this.#process = new Deno.Command(program, {
      args: args.map((arg) => arg.replaceAll("{skills}", skills)),
      cwd: home,
      env: { HOME: home, DENO_DIR: denoDir },
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
    this.#writer = this.#process.stdin.getWriter();
    this.#lines = lines(this.#process.stdout);
  }

  /** Begins a session, and returns the server's tools. */
  // deno-lint-ignore no-explicit-any -- as the server sent them
  async start(): Promise<any[]> {
    await this.#ask("initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "bench", version: "1.0.0" },
    });
    await this.#send({ method: "notifications/initialized" });
    const reply = await this.#ask("tools/list", {});
    return JSON.parse(reply).result.tools;
  }

  /** Calls a tool with the name of a skill, and waits for the reply. */
  async call({ name, key }: Tool, skill: string): Promise<void> {
    await this.#ask("tools/call", { name, arguments: { [key]: skill } });
  }

  /** Waits for a message that contains a text. */
  async message(part: string): Promise<string> {
    for (;;) {
      const { value, done } = await this.#lines.next();
      if (done) throw new Error("The server exited");
      if (value.includes(part)) return value;
    }
  }

  /** Returns the resident memory, in MB. */
  memory(): number {
    const status = Deno.readTextFileSync(`/proc/${this.#process.pid}/status`);
    return Number(/^VmRSS:\s+(\d+)/m.exec(status)![1]) / 1024;
  }

  async end(): Promise<void> {
    await this.#writer.close();
    // Not every server exits at the end of its input.
    const timer = setTimeout(() => this.#process.kill("SIGKILL"), 2_000);
    await this.#process.status;
    clearTimeout(timer);
  }

  async #ask(method: string, params: object): Promise<string> {
    await this.#send({ id: ++this.#id, method, params });
    return await this.message(`"id":${this.#id}`);
  }

  async #send(...messages: object[]): Promise<void> {
    const text = messages.map((message) =>
      `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`
    );
    await this.#writer.write(new TextEncoder().encode(text.join("")));
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

/** A tool, and its parameter for the name of a skill. */
interface Tool {
  readonly name: string;
  readonly key: string;
}

/** Finds the first tool whose only required parameter can be a skill's name. */
// deno-lint-ignore no-explicit-any -- as the server sent them
function findTool(tools: any[]): Tool | undefined {
  for (const { name, inputSchema: { properties, required } } of tools) {
    const [key, ...others] = required ?? [];
    const isName = others.length === 0 && properties[key]?.type === "string";
    if (isName) return { name, key };
  }
  return undefined;
}

async function milliseconds(work: () => unknown): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}

/** Measures each subject once a round, until it has no value. Returns the first quartiles. */
async function inTurns<T>(
  subjects: readonly T[],
  rounds: number,
  measure: (subject: T, index: number) => Promise<number | undefined>,
): Promise<(number | undefined)[]> {
  const values: number[][] = subjects.map(() => []);
  const silent = new Set<number>();
  for (let round = 0; round < rounds; round++) {
    for (const [index, subject] of subjects.entries()) {
      if (silent.has(index)) continue;
      const value = await measure(subject, index);
      if (value === undefined) silent.add(index);
      else values[index]!.push(value);
    }
  }
  return values.map((list, index) =>
    silent.has(index) ? undefined : list.sort((a, b) => a - b)[rounds >> 2]
  );
}

/** Measures all servers in a home directory with skills. */
async function measureServers(
  servers: readonly Server[],
  home: string,
): Promise<Figures[]> {
  const start = await inTurns(servers, ROUNDS.start, async (server) => {
    let peer!: Peer;
    const time = await milliseconds(() =>
      (peer = new Peer(server, home)).start()
    );
    await peer.end();
    return time;
  });
  const peers = servers.map((server) => new Peer(server, home));
  const tools: (Tool | undefined)[] = [];
  for (const peer of peers) tools.push(findTool(await peer.start()));
  const memory = peers.map((peer) => peer.memory());
  const calls = (skill: string) => async (peer: Peer, index: number) => {
    const tool = tools[index];
    return tool && await milliseconds(() => peer.call(tool, skill));
  };
  const call = await inTurns(peers, ROUNDS.call, calls("skill-1"));
  // No skill has this name, so a server can only search.
  const search = await inTurns(peers, ROUNDS.search, calls("thing asks"));
  for (const peer of peers) await peer.end();
  const hasSkills = existsSync(join(home, ".claude"));
  const told = (change: (home: string) => void) =>
    inTurns(
      servers,
      hasSkills ? ROUNDS.told : 0,
      (server) => measureTold(server, home, change),
    );
  const edit = await told(editSkill);
  const link = await told(linkSkill);
  return servers.map((_, index) => ({
    start: start[index],
    call: call[index],
    search: search[index],
    edit: edit[index],
    link: link[index],
    memory: memory[index],
  }));
}

/** Changes the description of a skill that was not edited lately. */
function editSkill(home: string): void {
  const index = Math.floor(50 * Math.random());
  const file = join(home, ".claude", "skills", `skill-${index}`, "SKILL.md");
  const description = `Changed at ${performance.now()}`;
  const text = `---\nname: skill-${index}\ndescription: ${description}\n---\n`;
  Deno.writeTextFileSync(file, text);
}

/** Makes a skill appear as a link, as installers do. */
function linkSkill(home: string): void {
  const name = `linked-${performance.now()}`;
  const dir = join(home, "store", name);
  Deno.mkdirSync(dir, { recursive: true });
  const text = `---\nname: ${name}\ndescription: Linked\n---\n`;
  Deno.writeTextFileSync(join(dir, "SKILL.md"), text);
  Deno.symlinkSync(dir, join(home, ".claude", "skills", name));
}

/** Measures the time from a change to a notification. */
async function measureTold(
  server: Server,
  home: string,
  change: (home: string) => void,
): Promise<number | undefined> {
  const peer = new Peer(server, home);
  await peer.start();
  // Some servers start to watch only after they have answered.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const { promise: late, resolve: giveUp } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => giveUp(false), PATIENCE);
  const notified = peer.message("list_changed").then(() => true, () => false);
  let isNotified = false;
  const time = await milliseconds(async () => {
    change(home);
    isNotified = await Promise.race([notified, late]);
  });
  clearTimeout(timer);
  await peer.end();
  return isNotified ? time : undefined;
}

/**
 * Measures scans in this process, beside a bare loop that lists, opens, reads, and
 * closes the same files, and prints the ratio.
 */
async function measureScans(
  servers: readonly Server[],
  dir: string,
): Promise<void> {
  const roots = [{ path: dir, recursive: false } as const];
  const scanners = [];
  for (const { name, module } of servers) {
    if (module === undefined) continue;
    const library = await import(pathToFileURL(module).href);
    scanners.push({ name, ...library as Library });
  }
  const works = [
    () => readBarely(dir),
    ...scanners.map(({ scanSkillRoots }) => () => scanSkillRoots(roots)),
  ];
  const [bare, ...scans] = await inTurns(works, ROUNDS.scan, milliseconds);
  // A scan reads files again that were modified in the two seconds before.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  const registries = scanners.map(({ SkillRegistry }) =>
    new SkillRegistry(roots)
  );
  for (const registry of registries) await registry.refresh();
  const rescans = await inTurns(
    registries,
    ROUNDS.scan,
    (registry) => milliseconds(() => registry.refresh()),
  );
  for (const registry of registries) registry.close();
  for (const [index, { name }] of scanners.entries()) {
    const ratio = (scans[index]! / bare!).toFixed(2);
    console.log(
      `${name}: scan of new skills ${format(scans[index])} ms, bare loop ${
        format(bare)
      } ms, ratio ${ratio} : 1; scan of unchanged skills ${
        format(rescans[index])
      } ms`,
    );
  }
  console.log();
}

/** What the scans of a checkout need of its library. */
interface Library {
  readonly scanSkillRoots: typeof scanSkillRoots;
  readonly SkillRegistry: typeof SkillRegistry;
}

function readBarely(dir: string): void {
  const buffer = new Uint8Array(64 * 1024);
  for (const { name } of Deno.readDirSync(dir)) {
    using file = Deno.openSync(`${dir}/${name}/SKILL.md`);
    file.readSync(buffer);
  }
}

function printTable(
  size: number,
  { servers, figures }: {
    servers: readonly Server[];
    figures: readonly Figures[];
  },
): void {
  const keys = Object.keys(COLUMNS) as (keyof Figures)[];
  const row = (cells: readonly string[]) =>
    console.log(`| ${cells.join(" | ")} |`);
  row([`${size.toLocaleString("en")} skills`, ...Object.values(COLUMNS)]);
  row(["---", ...keys.map(() => "---:")]);
  for (const [index, { name }] of servers.entries()) {
    row([name, ...keys.map((key) => format(figures[index]![key]))]);
  }
  console.log();
}

function format(value: number | undefined): string {
  if (value === undefined) return "none";
  if (value < 1) return value.toFixed(2);
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}

/**
 * Prints how many questions find their skill. They are phrased as a model phrases
 * its task, and were written from the descriptions of 100 skills drawn at random,
 * before any ranking was seen.
 *
 * @param directory Contains a clone of each of these repositories on GitHub:
 *   anthropics/skills, obra/superpowers, wshobson/agents,
 *   K-Dense-AI/claude-scientific-skills, Orchestra-Research/AI-research-SKILLs,
 *   coreyhaines31/marketingskills, openai/skills, trailofbits/skills,
 *   vercel-labs/agent-skills, github/awesome-copilot, and
 *   sickn33/antigravity-awesome-skills.
 */
async function measureSearch(dir: string): Promise<void> {
  const root = { path: dir, recursive: true } as const;
  const catalog = await scanSkillRoots([root]);
  const skills = [...catalog.skills.values()];
  const index = new SkillIndex();
  const ranks: number[] = [];
  const time = await milliseconds(async () => {
    for (const { question, skill } of questions) {
      const found = await index.search(question, skills);
      const rank = found.findIndex(({ name }) => name === skill);
      ranks.push(rank < 0 ? Infinity : rank);
    }
  });
  const reciprocal = ranks.reduce((sum, rank) => sum + 1 / (rank + 1), 0);
  const mean = (reciprocal / ranks.length).toFixed(3);
  const counts = [1, 5, 20].map((limit) =>
    `${ranks.filter((rank) => rank < limit).length} among the first ${limit}`
  );
  console.log(
    `${catalog.skills.size} skills, ${questions.length} questions: ${
      counts.join(", ")
    }; mean reciprocal rank ${mean}; ${format(time)} ms`,
  );
}

/** Measures the servers with each number of skills, and prints the figures. */
async function measure(
  against: readonly string[],
  sizes: readonly number[],
): Promise<void> {
  const bare = Deno.makeTempFileSync({ suffix: ".ts" });
  Deno.writeTextFileSync(bare, BARE_SERVER);
  const servers: Server[] = [
    denoServer("skill-server", join(ROOT, "mod.ts")),
    { ...denoServer("minimal SDK server", bare), module: undefined },
    ...against.map(parseServer),
  ];
  for (const size of sizes) {
    const home = Deno.realPathSync(Deno.makeTempDirSync());
    const dir = join(home, ".claude", "skills");
    createSkills(dir, size);
    const figures = await measureServers(servers, home);
    printTable(size, { servers, figures });
    if (size > 0) await measureScans(servers, dir);
    Deno.removeSync(home, { recursive: true });
  }
  Deno.removeSync(bare);
}

const { values } = parseArgs({
  options: {
    against: { type: "string", multiple: true, default: [] },
    skills: { type: "string", default: "0,100,1000,10000" },
    search: { type: "string" },
    "import-map": { type: "string" },
  },
});
if (values.search !== undefined) {
  await measureSearch(values.search);
} else {
  const sizes = values.skills.split(",").map(Number);
  await measure(values.against, sizes);
}
