/**
 * Measures the speed of the server relative to a minimal server built with the
 * SDK. Both are measured in one run, because only ratios are comparable between
 * machines.
 *
 *     deno task bench
 *     deno task bench --against NAME=COMMAND
 *
 * With `--against`, which can be repeated, other servers are measured beside it.
 * See `side_by_side.ts`.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { join } from "jsr:@std/path@^1";
import { scanSkillRoots, SkillRegistry, type SkillRoot } from "../mod.ts";
import {
  BARE_SERVER,
  type Command,
  createBundle,
  createSkills,
  denoCommand,
  denoDir,
  IMPORTS,
  measureStart,
  median,
  milliseconds,
  MOD,
  Peer,
} from "./bench_setup.ts";
import { measureHttp } from "./http_bench.ts";
import { measureSearch } from "./search_bench.ts";
import { compareServers } from "./side_by_side.ts";

const SIZES = [0, 100, 1_000, 10_000];
const STARTS = 15;
const CALLS = 500;

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
  { bare, bundle }: { bare: Command; bundle: Command },
): Promise<Figures> {
  const home = Deno.realPathSync(Deno.makeTempDirSync());
  const ours = denoCommand(MOD);
  try {
    createSkills(home, size);
    const bareStarts: number[] = [];
    const starts: number[] = [];
    const bundleStarts: number[] = [];
    for (let round = 0; round < STARTS; round++) {
      bareStarts.push(await measureStart(bare, home));
      starts.push(await measureStart(ours, home));
      bundleStarts.push(await measureStart(bundle, home));
    }
    const peers = [new Peer(bare, home), new Peer(ours, home)];
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
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  using registry = new SkillRegistry(roots);
  await registry.refresh();
  const rescan = await milliseconds(() => registry.refresh());
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

/** Prints the table of this server's own figures. */
async function measureStdio(bare: Command): Promise<void> {
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
    const figures = await measure(size, { bare, bundle: denoCommand(bundle) });
    empty ??= figures;
    console.log(formatRow(figures, empty));
  }
  Deno.removeSync(bundle);
  console.log();
}

const { against = [], plot = "dist/speed.svg" } = parseArgs({
  allowPositionals: true,
  strict: false,
  options: {
    against: { type: "string", multiple: true },
    plot: { type: "string" },
  },
}).values;
const searched = Deno.args.indexOf("--search");
if (searched >= 0) {
  await measureSearch(Deno.args[searched + 1] ?? ".");
  Deno.exit(0);
}
const bare = Deno.makeTempFileSync({ suffix: ".ts" });
Deno.writeTextFileSync(bare, BARE_SERVER);
if (against.length > 0) {
  await compareServers(against.map(String), {
    bare: denoCommand(bare),
    plot: String(plot),
  });
} else {
  await measureStdio(denoCommand(bare));
  const home = Deno.realPathSync(Deno.makeTempDirSync());
  createSkills(home, 100);
  await measureHttp(home, { imports: IMPORTS, env: { DENO_DIR: denoDir } });
  Deno.removeSync(home, { recursive: true });
}
Deno.removeSync(bare);
