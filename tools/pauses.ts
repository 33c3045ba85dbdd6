/**
 * Measures the longest pause of the server: the time until it answers a ping,
 * on stdio and over HTTP, while much changes on the disk or much is asked for.
 *
 *     deno task pauses                   this folder
 *     deno task pauses OTHER_CHECKOUT    another one and this one, taking turns
 *
 * @module
 */

import { join, resolve } from "jsr:@std/path@^1";

/** How long a situation lasts, in milliseconds. */
const LENGTH_MS = 6_000;

/** The longest time to wait for a server to start and for a ping, in milliseconds. */
const PATIENCE_MS = 4 * LENGTH_MS;

/** The time between two pings, in milliseconds. */
const PING_MS = 5;

/** The time that an operation on a slow folder takes, in milliseconds. */
const SLOW_MS = 20;

const IMPORTS = Deno.args.filter((arg) => arg.startsWith("--import-map="));
const CHECKOUTS = [
  ...Deno.args.filter((arg) => !arg.startsWith("--")).map((arg) =>
    resolve(arg)
  ),
  resolve(import.meta.dirname!, ".."),
];

/** Makes the operations on a folder slow. It is loaded before the server. */
const SLOW_MODULE = `
const clock = new Int32Array(new SharedArrayBuffer(4));
const isSlow = (path) => String(path).includes("/skills");
const wait = () => Atomics.wait(clock, 0, 0, ${SLOW_MS});
const slow = (object, name) => {
  const original = object[name].bind(object);
  object[name] = (path, ...rest) => {
    if (isSlow(path)) wait();
    return original(path, ...rest);
  };
};
for (const name of ["lstatSync", "openSync", "readDirSync", "readLinkSync",
  "realPathSync", "statSync"]) slow(Deno, name);
slow(process.getBuiltinModule("node:fs"), "openSync");
const { watchFs } = Deno;
Deno.watchFs = (paths, options) => {
  for (const path of [paths].flat()) if (isSlow(path)) wait();
  return watchFs(paths, options);
};
`;

/** A running server. */
interface Peer {
  /** Sends a request and waits for the reply. */
  ask(method: string, params?: object): Promise<void>;
  end(): Promise<void>;
}

/** Where a server runs. */
interface Home {
  readonly path: string;
  readonly skills: string;
  /** A module to load before the server. */
  preload?: string;
  /** The arguments of the server. */
  readonly args: string[];
}

/** Something during which the server should answer. */
interface Situation {
  readonly name: string;
  /** Creates the skills. */
  setUp(home: Home): void;
  /** Whether to begin before the server starts. */
  readonly isEarly?: boolean;
  /** Does something until the signal is aborted. */
  run?(home: Home, signal: AbortSignal, peer: Promise<Peer>): Promise<void>;
}

function writeSkill(home: Home, name: string, text = "Do the thing"): void {
  const folder = join(home.skills, name);
  Deno.mkdirSync(folder, { recursive: true });
  Deno.writeTextFileSync(
    join(folder, "SKILL.md"),
    `---\nname: ${name}\ndescription: ${text} ${name} when asked for it\n---\n`,
  );
}

function writeSkills(home: Home, count: number): void {
  for (let i = 0; i < count; i++) writeSkill(home, `s${i}`);
}

/** Creates a skill with many small files, and perhaps a link. */
function writeFlat(home: Home, { hasLink = false } = {}): void {
  writeSkills(home, 10);
  writeSkill(home, "flat");
  const folder = join(home.skills, "flat");
  for (let i = 0; i < 19_000; i++) {
    Deno.writeTextFileSync(join(folder, `${i}.md`), "x");
  }
  if (hasLink) Deno.symlinkSync("1.md", join(folder, "link.md"));
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Repeats something until the signal is aborted. */
async function repeat(
  signal: AbortSignal,
  interval: number,
  act: (round: number) => unknown,
): Promise<void> {
  for (let round = 0; !signal.aborted; round++) {
    await act(round);
    await wait(interval);
  }
}

/** Repeats a task in another process as fast as possible, until the signal is aborted. */
async function storm(
  home: Home,
  signal: AbortSignal,
  task: string,
): Promise<void> {
  const code = `const skills = ${JSON.stringify(home.skills)};
for (let round = 0;; round++) { ${task} }`;
  const process = new Deno.Command(Deno.execPath(), {
    args: ["eval", code],
  }).spawn();
  await new Promise((resolve) => signal.addEventListener("abort", resolve));
  process.kill("SIGKILL");
  await process.status;
}

/** Asks for something again and again. */
function asking(method: string, params: object): Situation["run"] {
  return async (_home, signal, peer) => {
    while (!signal.aborted) await (await peer).ask(method, params);
  };
}

const completion = {
  ref: { type: "ref/resource", uri: "skill://{name}/{+path}" },
  argument: { name: "path", value: "1" },
  context: { arguments: { name: "flat" } },
};

const SITUATIONS: Situation[] = [
  { name: "nothing happens, 1,000 skills", setUp: (h) => writeSkills(h, 1e3) },
  {
    name: "100 appends a second during the start, 1,000 skills",
    setUp: (home) => writeSkills(home, 1_000),
    isEarly: true,
    run: ({ skills }, signal) =>
      repeat(
        signal,
        10,
        () =>
          Deno.writeTextFileSync(join(skills, "s0", "SKILL.md"), "\n", {
            append: true,
          }),
      ),
  },
  {
    name: "appends without pause, 1,000 skills",
    setUp: (home) => writeSkills(home, 1_000),
    isEarly: true,
    run: (home, signal) =>
      storm(
        home,
        signal,
        `Deno.writeTextFileSync(skills + "/s0/SKILL.md", "\\n", { append: true });`,
      ),
  },
  {
    name: "500 skills come and go, 500 others",
    setUp: (home) => writeSkills(home, 500),
    run: (home, signal) =>
      storm(
        home,
        signal,
        `for (let i = 0; i < 500; i++) {
          const folder = skills + "/new" + i;
          if (round % 2 === 0) {
            Deno.mkdirSync(folder);
            Deno.writeTextFileSync(folder + "/SKILL.md",
              "---\\nname: new" + i + "\\ndescription: New\\n---\\n");
          } else Deno.removeSync(folder, { recursive: true });
        }
        await new Promise((resolve) => setTimeout(resolve, 600));`,
      ),
  },
  {
    name: "a skill is renamed without pause, 300 skills",
    setUp: (home) => writeSkills(home, 300),
    run: (home, signal) =>
      storm(
        home,
        signal,
        `Deno.renameSync(skills + "/s1", skills + "/other");
         Deno.renameSync(skills + "/other", skills + "/s1");`,
      ),
  },
  {
    name: "resources/read of 19,000 files",
    setUp: writeFlat,
    run: asking("resources/read", { uri: "skill://flat/" }),
  },
  {
    name: "resources/read of 19,000 files and a link",
    setUp: (home) => writeFlat(home, { hasLink: true }),
    run: asking("resources/read", { uri: "skill://flat/" }),
  },
  {
    name: "skills/get of 19,000 files",
    setUp: writeFlat,
    run: asking("skills/get", { uri: "skill://flat/SKILL.md" }),
  },
  {
    name: "resources/directory/read of 19,000 files",
    setUp: writeFlat,
    run: asking("resources/directory/read", { uri: "skill://flat" }),
  },
  {
    name: "completion/complete of 19,000 paths",
    setUp: writeFlat,
    run: asking("completion/complete", completion),
  },
  {
    name: "resources/subscribe to skill:// with 19,000 files (stdio only)",
    setUp: writeFlat,
    run: async (home, signal, peer) => {
      await (await peer).ask("resources/subscribe", { uri: "skill://" });
      await repeat(signal, 500, (round) => writeSkill(home, "s0", `${round}`));
    },
  },
  {
    name: "skills/list again and again, 3,000 skills",
    setUp: (home) => writeSkills(home, 3_000),
    run: asking("skills/list", {}),
  },
  {
    name: "one of 3,000 skills is edited",
    setUp: (home) => writeSkills(home, 3_000),
    run: (home, signal) =>
      repeat(signal, 400, (round) => writeSkill(home, "s7", `${round}`)),
  },
  {
    name: "the policy for 3,000 skills is edited",
    setUp: (home) => {
      writeSkills(home, 3_000);
      Deno.writeTextFileSync(join(home.path, "policy.yaml"), "rules: []\n");
      home.args.push("--policy", join(home.path, "policy.yaml"));
    },
    run: ({ path }, signal) =>
      repeat(signal, 400, (round) => {
        const state = ["pinned", "manual", "off", "name-only"][round % 4];
        Deno.writeTextFileSync(
          join(path, "policy.yaml"),
          `rules: [{ skill: "s*${round % 10}", state: ${state} }]\n`,
        );
      }),
  },
  {
    name: `${SLOW_MS} ms for each operation, 40 skills, edits and calls`,
    setUp: (home) => {
      writeSkills(home, 40);
      const module = join(home.path, "slow.js");
      Deno.writeTextFileSync(module, SLOW_MODULE);
      home.preload = module;
    },
    run: async (home, signal, peer) => {
      while (!signal.aborted) {
        writeSkill(home, "s7", `${Math.random()}`);
        await (await peer).ask("tools/call", {
          name: "skill",
          arguments: { name: "s7" },
        });
        await wait(200);
      }
    },
  },
];

function startProcess(
  command: string[],
  home: Home,
  checkout: string,
): Deno.ChildProcess {
  const imports = IMPORTS.map((flag) =>
    flag.replace(/(?<==)(?!\/)/, `${checkout}/`)
  );
  const [subcommand, ...rest] = command;
  return new Deno.Command(Deno.execPath(), {
    args: [
      subcommand!,
      "--allow-read",
      "--allow-env",
      ...imports,
      ...rest,
      ...home.args,
    ],
    cwd: home.path,
    env: { HOME: home.path, DENO_DIR: denoDir, NO_COLOR: "1" },
    stdin: "piped",
    stdout: "piped",
    stderr: subcommand === "serve" ? "piped" : "null",
  }).spawn();
}

/** Starts a server on stdio. */
function startStdio(home: Home, checkout: string): Peer {
  const preload = home.preload === undefined ? [] : ["--preload", home.preload];
  const process = startProcess(
    ["run", ...preload, join(checkout, "mod.ts")],
    home,
    checkout,
  );
  const writer = process.stdin.getWriter();
  const replies = new Map<number, () => void>();
  let id = 0;
  (async () => {
    let rest = "";
    const text = process.stdout.pipeThrough(new TextDecoderStream());
    for await (const part of text) {
      const lines = (rest + part).split("\n");
      rest = lines.pop()!;
      for (const line of lines) {
        const [, key] = /"id":(\d+)/.exec(line.slice(0, 100)) ?? [];
        if (key !== undefined) replies.get(Number(key))?.();
      }
    }
  })();
  const send = (message: object) =>
    writer.write(
      new TextEncoder().encode(
        `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`,
      ),
    );
  const ask = async (method: string, params: object = {}) => {
    const reply = Promise.withResolvers<void>();
    const own = ++id;
    replies.set(own, reply.resolve);
    await send({ id: own, method, params });
    await reply.promise;
    replies.delete(own);
  };
  // The server reads the requests after this one in their order.
  ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "pauses", version: "1.0.0" },
  });
  send({ method: "notifications/initialized" });
  const end = async () => {
    process.kill("SIGKILL");
    await process.status;
  };
  return { ask, end };
}

/** Starts a server over HTTP. */
function startHttp(home: Home, checkout: string): Peer {
  let main = join(checkout, "http.ts");
  if (home.preload !== undefined) {
    // `deno serve` ignores the flag --preload.
    const text = `import ${JSON.stringify(home.preload)};
export { default } from ${JSON.stringify(main)};`;
    main = join(home.path, "serve.ts");
    Deno.writeTextFileSync(main, text);
  }
  const command = ["serve", "--host", "127.0.0.1", "--port", "0"];
  const process = startProcess(
    [...command, main],
    home,
    checkout,
  );
  const [stderr, rest] = process.stderr.tee();
  rest.pipeTo(new WritableStream());
  process.stdout.pipeTo(new WritableStream());
  const address = (async () => {
    let text = "";
    for await (const part of stderr.pipeThrough(new TextDecoderStream())) {
      text += part;
      const [url] = /http:\/\/[\d.:]+\/mcp/.exec(text) ?? [];
      if (url !== undefined) return url;
    }
    throw new Error(text);
  })();
  const ask = async (method: string, params: object = {}) => {
    const response = await fetch(await address, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2025-11-25",
      },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    });
    await response.arrayBuffer();
  };
  const end = async () => {
    process.kill("SIGKILL");
    await process.status;
  };
  return { ask, end };
}

/** Measures the longest time until a ping is answered, in milliseconds. */
async function measure(
  situation: Situation,
  start: typeof startStdio,
  checkout: string,
): Promise<number> {
  const path = Deno.realPathSync(Deno.makeTempDirSync());
  const skills = join(path, ".claude", "skills");
  const home: Home = { path, skills, args: [] };
  const controller = new AbortController();
  let peer: Peer | undefined;
  try {
    situation.setUp(home);
    const { promise: started, resolve: begin } = Promise.withResolvers<Peer>();
    const { isEarly, run } = situation;
    const work = async () => {
      if (!isEarly) await started;
      await run?.(home, controller.signal, started);
    };
    // A request under way fails when the server ends.
    work().catch(() => {});
    peer = start(home, checkout);
    // The first scan ends before this reply.
    const list = peer.ask("tools/list").catch(() => {});
    await Promise.race([list, wait(PATIENCE_MS)]);
    begin(peer);
    return await longestPing(peer);
  } finally {
    controller.abort();
    await peer?.end();
    Deno.removeSync(path, { recursive: true });
  }
}

async function longestPing(peer: Peer): Promise<number> {
  let longest = 0;
  const end = performance.now() + LENGTH_MS;
  while (performance.now() < end) {
    const sent = performance.now();
    // A request under way fails when the server ends.
    const ping = peer.ask("ping").catch(() => {});
    await Promise.race([ping, wait(PATIENCE_MS)]);
    longest = Math.max(longest, performance.now() - sent);
    await wait(PING_MS);
  }
  return longest;
}

const denoDir: string = JSON.parse(
  new TextDecoder().decode(
    new Deno.Command(Deno.execPath(), { args: ["info", "--json"] })
      .outputSync().stdout,
  ),
).denoDir;

const only = Deno.args.find((arg) => arg.startsWith("--only="))?.slice(7);
const columns = CHECKOUTS.map((_, index) =>
  CHECKOUTS.length - index > 1 ? "before" : "after"
);
console.log("The longest time until a ping is answered, in milliseconds:\n");
console.log(
  `| situation | ${columns.map((name) => `stdio, ${name}`).join(" | ")} | ${
    columns.map((name) => `HTTP, ${name}`).join(" | ")
  } |`,
);
console.log(`| --- |${" --- |".repeat(2 * CHECKOUTS.length)}`);
for (const situation of SITUATIONS) {
  if (only !== undefined && !situation.name.includes(only)) continue;
  const cells = [];
  for (const start of [startStdio, startHttp]) {
    for (const checkout of CHECKOUTS) {
      const longest = await measure(situation, start, checkout);
      cells.push(
        longest < PATIENCE_MS ? longest.toFixed(0) : `> ${PATIENCE_MS}`,
      );
    }
  }
  console.log(`| ${situation.name} | ${cells.join(" | ")} |`);
}
Deno.exit(0);
