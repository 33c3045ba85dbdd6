/**
 * Tests against a process that can write to a skill's folder. While the server
 * reads, the process repeatedly swaps a file, or a folder in its path, for
 * something else.
 */

import assert from "node:assert/strict";
import { scanSkillRoots, type Skill } from "../mod.ts";
import { sha256 } from "../src/fs/known_files.ts";
import { basename, isAtOrBelow, join, relative } from "../src/fs/paths.ts";
import { isSettled } from "../src/fs/snapshot.ts";
import { nextId } from "./testing/client.ts";
import {
  DiskSpy,
  exchange,
  LaterClock,
  OpenSpy,
  Place,
  runSync,
  skillMd,
} from "./testing/folders.ts";
import { SECRET } from "./testing/hostile.ts";
import { lacks } from "./testing/needs.ts";
import {
  listPaths,
  readSkillFile,
  root,
  scanSkill,
} from "./testing/registry.ts";
import { type Asking, type Reply, Wire } from "./testing/server.ts";
import { eventually } from "./testing/waiting.ts";
import { LocalServer } from "./walk/servers.ts";

/** A process that swaps the entries at two paths, about a thousand times between two rests. */
class SwapProcess implements AsyncDisposable {
  readonly #process: Deno.ChildProcess;

  private constructor(process: Deno.ChildProcess) {
    this.#process = process;
  }

  static async start(a: string, b: string): Promise<SwapProcess> {
    const { ino } = Deno.lstatSync(a);
    const code = `(${swapForever})(${JSON.stringify([a, b])})`;
    const process = new Deno.Command(Deno.execPath(), {
      args: ["eval", code],
    }).spawn();
    await eventually(() => Deno.lstatSync(a).ino !== ino, "the first swap");
    return new SwapProcess(process);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill("SIGKILL");
    await this.#process.status;
  }
}

/**
 * Swaps the entries. Runs in the other process, so it must not refer to
 * anything else in this file.
 */
function swapForever(paths: string[]): void {
  const AT_FDCWD = -100;
  const RENAME_EXCHANGE = 2;
  const { symbols } = Deno.dlopen("libc.so.6", {
    renameat2: {
      parameters: ["i32", "buffer", "i32", "buffer", "u32"],
      result: "i32",
    },
  });
  const [a, b] = paths.map((path) => new TextEncoder().encode(`${path}\0`));
  for (;;) {
    symbols.renameat2(AT_FDCWD, a!, AT_FDCWD, b!, RENAME_EXCHANGE);
    // Nothing can be read in between, but while it rests.
    const pause = Math.random() < 0.001 ? 4 : 0;
    const next = performance.now() + pause;
    while (performance.now() < next);
  }
}

/** Every request that reveals files of the skill `git`. */
const REQUESTS: [string, object][] = [
  ["tools/list", {}],
  ["resources/list", {}],
  ["skills/list", {}],
  ["prompts/get", { name: "git" }],
  ["resources/read", { uri: "skill://git/SKILL.md" }],
  ["resources/read", { uri: "skill://git/help.md" }],
  ["resources/read", { uri: "skill://git/docs/help.md" }],
  ["resources/read", { uri: "skill://git/" }],
  ["resources/directory/read", { uri: "skill://git" }],
  ["resources/directory/read", { uri: "skill://git/docs" }],
  ["completion/complete", {
    ref: { type: "ref/resource", uri: "skill://{name}/{+path}" },
    argument: { name: "path", value: "" },
    context: { arguments: { name: "git" } },
  }],
  // If these requests fail, the server scans again.
  ...["", "docs", "docs/help.md"].map((path): [string, object] => [
    "tools/call",
    { name: "skill-resource", arguments: { skill: "git", path } },
  ]),
  ["tools/call", { name: "skill", arguments: { name: "git" } }],
];

/** Many requests for the same file of the skill. */
function readsOf(path: string): typeof REQUESTS {
  return Array(20).fill(["resources/read", { uri: `skill://git/${path}` }]);
}

/** Files that take long enough for several swaps. */
const MANY_FILES = Array.from({ length: 100 }, (_, index) => `${index}.md`);

const SECRET_MAIN = skillMd("git", SECRET);

/** What tells of a file outside: its text, its digest, or its size. */
const TELLTALE = new RegExp(
  [SECRET, SECRET_MAIN].flatMap((text) => [
    RegExp.escape(text),
    sha256(new TextEncoder().encode(text)),
    `"size":${text.length}\\b`,
  ]).join("|"),
);

/** Creates a skill in a project, and a folder outside the project with the same names and more. */
function placeWithSecrets(): Place {
  const place = new Place();
  const texts = [
    ["project/.claude/skills/git", skillMd("git"), "Help"],
    [`${SECRET}/git`, SECRET_MAIN, SECRET],
  ] as const;
  for (const [folder, main, text] of texts) {
    place.file(`${folder}/SKILL.md`, main);
    place.file(`${folder}/help.md`, text);
    for (const name of ["help.md", ...MANY_FILES]) {
      place.file(`${folder}/docs/${name}`, text);
    }
  }
  place.file(`${SECRET}/git/docs/${SECRET}.md`, SECRET);
  place.file(`${SECRET}/git/${SECRET}.md`, SECRET);
  place.link("gone", `${SECRET}/git/docs/${SECRET}-link`);
  return place;
}

/** Sends all of the requests several times. */
async function askRepeatedly(
  wire: Asking,
  { requests, rounds }: { requests: typeof REQUESTS; rounds: number },
): Promise<Reply[]> {
  const replies: Reply[] = [];
  for (let round = 0; round < rounds; round++) {
    const batch = requests.map(([method, params]) =>
      wire.ask(nextId(), method, params)
    );
    replies.push(...await Promise.all(batch));
  }
  return replies;
}

for (const path of ["git/docs", "git", ""]) {
  Deno.test(
    `a server reveals nothing outside a skill while .claude/skills/${path} is swapped for an outside link`,
    { ignore: lacks("links", "proc") },
    async () => {
      using place = placeWithSecrets();
      const args = ["--tools", "skilljack", "--no-watch", "--refresh", "0"];
      const shown: unknown[] = [];
      const log = (line: string) => shown.push(line);
      using server = await LocalServer.open({ ...place, args, log });
      const { registry } = server;
      const skill = registry.find("git")!;
      const skills = join(place.project, ".claude", "skills");
      const out = place.link(join(place.path, SECRET, path), "links/out");
      const requests = readsOf("docs/help.md");
      await using _swaps = await SwapProcess.start(join(skills, path), out);
      shown.push(
        ...await askRepeatedly(server, { requests, rounds: 250 }),
        ...await askRepeatedly(server, { requests: REQUESTS, rounds: 20 }),
      );
      const listed = { path: "docs/help.md", size: 0, version: "" };
      for (let round = 0; round < 2_000; round++) {
        const { files, leftOut } = await registry.listFiles(skill);
        shown.push(files, leftOut);
        const digest = registry.digest(skill, listed);
        shown.push(await digest.catch(({ message }: Error) => message));
      }
      const texts = shown.map((it) => JSON.stringify(it));
      assert.deepEqual(texts.filter((text) => TELLTALE.test(text)), []);
      for (const own of [/"text":"Help"/, /"digest":/, /"size":4\b/]) {
        assert.ok(texts.some((text) => own.test(text)), `${own}`);
      }
    },
  );
}

for (const path of ["skills", ""]) {
  Deno.test(
    `scanSkillRoots() finds nothing outside a project while its settled .claude/${path} is swapped for an outside link`,
    { ignore: lacks("links", "proc") },
    async () => {
      using place = placeWithSecrets();
      const { project: workingDirectory, home: homeDirectory } = place;
      const inside = join(workingDirectory, ".claude");
      const outside = join(place.path, SECRET);
      // Reading them takes long enough for several swaps.
      for (let number = 0; number < 20; number++) {
        place.skill("project/.claude/skills", `skill-${number}`);
        const file = `${SECRET}/skills/skill-${number}/SKILL.md`;
        place.file(file, skillMd(`skill-${number}`, SECRET));
      }
      const out = place.link(join(outside, path), "links/out");
      const last = join(outside, "skills", "skill-19");
      const areSettled = () => isSettled(Deno.statSync(last));
      await eventually(areSettled, "the folders being settled");
      await using _swaps = await SwapProcess.start(join(inside, path), out);
      const roots = [root(join(inside, "skills"), { scope: "project" })];
      let scansWithSkills = 0;
      for (let scan = 0; scan < 3_000; scan++) {
        const options = { workingDirectory, homeDirectory };
        const { skills, diagnostics } = await scanSkillRoots(roots, options);
        assert.ok(!JSON.stringify([...skills, diagnostics]).includes(SECRET));
        if (skills.size > 0) scansWithSkills++;
      }
      assert.ok(scansWithSkills > 0);
    },
  );
}

/** What is swapped for a FIFO, or for a folder of FIFOs, and what is asked meanwhile, how often. */
const BLOCKING: [path: string, requests: typeof REQUESTS, rounds: number][] = [
  ["git/SKILL.md", readsOf("SKILL.md"), 60],
  ["git/help.md", readsOf("help.md"), 60],
  // What was read already is not opened again.
  ["git/docs", MANY_FILES.flatMap((name) => readsOf(`docs/${name}`)), 1],
  ["policy.yaml", readsOf("SKILL.md"), 600],
];

for (const [path, requests, rounds] of BLOCKING) {
  Deno.test(
    `server answers requests and exits with its client while ${path} is swapped for a FIFO, or a folder of FIFOs`,
    { ignore: lacks("proc") },
    async () => {
      using place = placeWithSecrets();
      const skills = join(place.project, ".claude", "skills");
      const policy = join(skills, "policy.yaml");
      Deno.writeTextFileSync(policy, "rules: []");
      const fifos = join(place.folder("fifos", "git", "docs"), "../..");
      const files = [
        "SKILL.md",
        "help.md",
        ...MANY_FILES.map((name) => `docs/${name}`),
      ];
      const names = ["policy.yaml", ...files.map((name) => `git/${name}`)];
      runSync("mkfifo", ...names.map((name) => join(fifos, name)));
      // What is settled is opened in another way.
      const areSettled = () => isSettled(Deno.statSync(fifos));
      await eventually(areSettled, "the files being settled");
      const swapped = [join(skills, path), join(fifos, path)] as const;
      await using _swaps = await SwapProcess.start(...swapped);
      const args = ["--no-watch", "--refresh", "0.01", "--policy", policy];
      await using wire = await Wire.open(place, { args });
      const replies = await askRepeatedly(wire, { requests, rounds });
      assert.ok(replies.every(({ result, error }) => result ?? error));
      assert.equal((await wire.endInput()).code, 0);
    },
  );
}

/** A file or folder that is swapped for a link, at moments that a test chooses. */
interface Swap {
  /** Its path in the skill `git`. */
  readonly swapped: string;
  /** Before which operations it is swapped and swapped back, or after a file is opened. */
  readonly moments: readonly string[];
  /** What happens meanwhile, and what is found. */
  readonly work: "scan" | "list" | "read";
  readonly found: string;
}

const REPLACED =
  'Cannot read "docs/help.md": it was replaced while it was being read; try again';

const SWAPS: readonly Swap[] = [
  ...["lstatSync docs/help.md", "openSync docs/help.md", "opened"].map(
    (moment): Swap => ({
      swapped: "docs/help.md",
      moments: [moment],
      work: "read",
      found: REPLACED,
    }),
  ),
  ...["docs", ""].map((swapped): Swap => ({
    swapped,
    moments: ["lstatSync docs/help.md", "opened"],
    work: "read",
    found: REPLACED,
  })),
  {
    swapped: "docs",
    moments: ["readDirSync docs", "realPathSync docs"],
    work: "list",
    // Only what is in both folders.
    found: "SKILL.md,docs/help.md",
  },
  {
    swapped: "docs",
    moments: ["lstatSync docs/help.md"],
    work: "list",
    found: "SKILL.md",
  },
  {
    swapped: "",
    moments: ["openSync SKILL.md", "opened"],
    work: "scan",
    found: "pdf; git: changed",
  },
  {
    swapped: "",
    moments: ["readDirSync "],
    work: "scan",
    found: "pdf; git: changed",
  },
];

/** Calls a function for each operation on the disk, as `<operation> <path>`, before it. */
function onOperation(
  folder: string,
  note: (moment: string) => void,
): Disposable {
  const spies = new DisposableStack();
  spies.use(
    new DiskSpy((path, operation) => {
      if (isAtOrBelow(path, folder)) {
        note(`${operation} ${relative(folder, path).replaceAll("\\", "/")}`);
      }
      return undefined;
    }),
  );
  spies.use(new OpenSpy({ afterOpen: () => note("opened") }));
  return spies;
}

/** Scans the skills, or lists or reads the files of one, and returns what that shows. */
async function show(
  work: Swap["work"],
  folder: string,
  skill: Skill,
): Promise<string> {
  if (work === "read") return readSkillFile(skill, "docs/help.md").text!;
  if (work === "list") return (await listPaths(skill)).join();
  const { skills, diagnostics } = await scanSkillRoots([
    root(folder, { recursive: true }),
  ]);
  const rules = diagnostics.map(({ file, rule }) =>
    `${basename(file)}: ${rule}`
  );
  return [[...skills.keys()].join(), ...rules].join("; ");
}

async function checkSwap(
  { swapped, moments, work, found }: Swap,
  isSettled: boolean,
): Promise<void> {
  using place = new Place();
  const folder = place.skill("skills", "git");
  place.skill("skills", "pdf");
  place.file("skills/git/docs/help.md", "Help");
  place.file(`${SECRET}/docs/help.md`, SECRET);
  place.file(`${SECRET}/docs/${SECRET}.md`, SECRET);
  place.file(`${SECRET}/SKILL.md`, skillMd("git", SECRET));
  const out = place.link(join(place.path, SECRET, swapped), "links/out");
  const skills = join(folder, "..");
  const skill = await scanSkill(skills);
  using clock = new LaterClock();
  if (!isSettled) clock.ahead = 0;
  const rest = [...moments];
  using _spies = onOperation(folder, (moment) => {
    if (moment !== rest[0]) return;
    rest.shift();
    exchange(join(folder, swapped), out);
    // What just changed must not seem to be settled.
    Deno.utimeSync(join(folder, swapped, ".."), 0, Date.now() / 1_000);
  });
  const shown = await show(work, skills, skill)
    .catch(({ message }: Error) => message);
  assert.deepEqual([shown, rest], [found, []]);
}

for (const swap of SWAPS) {
  const { swapped, moments, work } = swap;
  Deno.test({
    name:
      `a ${work} finds nothing outside if git/${swapped} is swapped for a link at ${
        moments.join(", and back at ")
      }`,
    ignore: lacks("links"),
    fn: async () => {
      for (const isSettled of [false, true]) await checkSwap(swap, isSettled);
    },
  });
}
