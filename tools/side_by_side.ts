/**
 * Measures other servers beside this one and a minimal server built with the
 * SDK. In each round the servers take turns, so that noise affects all of them.
 *
 *     deno task bench --against "other=node dist/index.js {skills}"
 *
 * The command is split at blanks. `{skills}` stands for the folder of the skills,
 * which is also `.claude/skills` in the home folder that the server is given. The
 * call is one of the first tool whose only required parameter is a string. A
 * server that sends no notification within 10 seconds is taken to send none.
 *
 * @module
 */

import { join } from "jsr:@std/path@^1";
import {
  type Command,
  createBundle,
  createSkills,
  denoCommand,
  measureStart,
  median,
  milliseconds,
  MOD,
  Peer,
} from "./bench_setup.ts";
import { createPlot, type Panel } from "./plot.ts";

const SIZES = [100, 1_000, 10_000];
const STARTS = 5;
const CALLS = 100;
const CHANGES = 3;
const PATIENCE = 10_000;

/** A server to measure. `{skills}` in its command stands for the folder of the skills. */
interface Server {
  readonly name: string;
  readonly command: Command;
}

/** The medians of a server for a number of skills: times in milliseconds, memory in MB. */
interface Figures {
  readonly start: number;
  readonly call: number | undefined;
  readonly memory: number;
  readonly change: number | undefined;
}

/** The measured values, with a heading for the table and the plot. */
const COLUMNS: Record<keyof Figures, string> = {
  start: "start to `tools/list`, ms",
  call: "call, ms",
  memory: "memory, MB",
  change: "change to notification, ms",
};

/**
 * Measures the servers, prints a table, and writes a plot.
 *
 * @param against The other servers, each as `NAME=COMMAND`.
 */
export async function compareServers(
  against: readonly string[],
  { bare, plot }: { bare: Command; plot: string },
): Promise<void> {
  const bundle = createBundle();
  const servers: Server[] = [
    { name: "skill-server", command: denoCommand(MOD) },
    { name: "skill-server, bundled", command: denoCommand(bundle) },
    { name: "minimal SDK server", command: bare },
    ...against.map(parseServer),
  ];
  const results = new Map<number, Figures[]>();
  for (const size of SIZES) {
    const figures = await measureSize(size, servers);
    results.set(size, figures);
    printTable(size, { servers, figures });
  }
  Deno.removeSync(bundle);
  Deno.mkdirSync(join(plot, ".."), { recursive: true });
  Deno.writeTextFileSync(plot, createPlot(createPanels(servers, results)));
  console.log(`The plot is in ${plot}.`);
}

function parseServer(text: string): Server {
  const [, name, command] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  const [program, ...args] = command?.trim().split(/\s+/) ?? [];
  if (name === undefined || !program) {
    throw new Error(
      `Cannot measure "${text}": write --against NAME=COMMAND`,
    );
  }
  return { name, command: [program, ...args] };
}

async function measureSize(
  size: number,
  servers: readonly Server[],
): Promise<Figures[]> {
  const home = Deno.realPathSync(Deno.makeTempDirSync());
  try {
    createSkills(home, size);
    const commands = servers.map(({ command }) => placed(command, home));
    const starts = await inTurns(
      commands,
      STARTS,
      (command) => measureStart(command, home),
    );
    const peers = commands.map((command) => new Peer(command, home));
    const tools: (Tool | undefined)[] = [];
    for (const peer of peers) tools.push(findTool(await peer.start()));
    const memory = peers.map((peer) => peer.memory());
    const calls = await inTurns(peers, CALLS, async (peer, index) => {
      const tool = tools[index];
      return tool && await milliseconds(() => peer.ask("tools/call", tool));
    });
    for (const peer of peers) await peer.end();
    const changes = await inTurns(
      commands,
      CHANGES,
      (command) => measureChange(command, home),
    );
    return servers.map((_, index) => ({
      start: starts[index]!,
      call: calls[index],
      memory: memory[index]!,
      change: changes[index],
    }));
  } finally {
    Deno.removeSync(home, { recursive: true });
  }
}

/** Returns a command with the folder of the skills in it. */
function placed([program, ...args]: Command, home: string): Command {
  const skills = join(home, ".claude", "skills");
  return [program, ...args.map((arg) => arg.replaceAll("{skills}", skills))];
}

/** Measures each subject once a round, until it has no value. Returns the medians. */
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
    silent.has(index) ? undefined : median(list)
  );
}

/** The parameters of a request that calls a tool. */
interface Tool {
  readonly name: string;
  readonly arguments: Record<string, string>;
}

/** Finds the first tool whose only required parameter can be a skill's name. */
// deno-lint-ignore no-explicit-any -- as the server sent them
function findTool(tools: any[]): Tool | undefined {
  for (const { name, inputSchema: { properties, required } } of tools) {
    const [key, ...others] = required ?? [];
    const isName = others.length === 0 && properties[key]?.type === "string";
    if (isName) return { name, arguments: { [key]: "skill-1" } };
  }
}

/** Measures the time from a change of a description to a notification. */
async function measureChange(
  command: Command,
  home: string,
): Promise<number | undefined> {
  const peer = new Peer(command, home);
  await peer.start();
  // Some servers start to watch only after they have answered.
  await new Promise((resolve) => setTimeout(resolve, 1_500));
  const file = join(home, ".claude", "skills", "skill-0", "SKILL.md");
  let timer: ReturnType<typeof setTimeout> | undefined;
  const isNotified = Promise.race([
    peer.message("list_changed").then(() => true, () => false),
    new Promise<boolean>((resolve) => {
      timer = setTimeout(() => resolve(false), PATIENCE);
    }),
  ]);
  let hasChanged = false;
  const time = await milliseconds(async () => {
    const description = `Changed at ${performance.now()}`;
    const text = `---\nname: skill-0\ndescription: ${description}\n---\n`;
    Deno.writeTextFileSync(file, text);
    hasChanged = await isNotified;
  });
  clearTimeout(timer);
  await peer.end();
  return hasChanged ? time : undefined;
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
    const cells = keys.map((key) => format(figures[index]![key]));
    row([name, ...cells]);
  }
  console.log();
}

function format(value: number | undefined): string {
  if (value === undefined) return "none";
  return value < 10 ? value.toFixed(1) : Math.round(value).toLocaleString("en");
}

function createPanels(
  servers: readonly Server[],
  results: ReadonlyMap<number, readonly Figures[]>,
): Panel[] {
  const keys = Object.keys(COLUMNS) as (keyof Figures)[];
  return keys.map((key) => ({
    title: COLUMNS[key].replaceAll("`", ""),
    lines: servers.map(({ name }, index) => ({
      name,
      points: [...results].flatMap(([size, figures]) => {
        const value = figures[index]![key];
        return value === undefined ? [] : [{ x: size, y: value }];
      }),
    })),
  }));
}
