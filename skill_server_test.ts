// deno-lint-ignore-file no-import-prefix -- the sources' specifiers are written out, so the tests' are too

import assert from "node:assert/strict";
import { basename, join, resolve } from "jsr:@std/path@^1";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client/stdio"
import { StdioClientTransport } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/stdio.js";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import { ToolListChangedNotificationSchema } from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import config from "./deno.json" with { type: "json" };
import {
  listSkillFiles,
  parseSkillMd,
  readSkillFile,
  resolveSkillFile,
  resolveSkillRoots,
  type ScanOptions,
  scanSkillRoots,
  type Skill,
  type SkillCatalog,
  SkillFileError,
  skillKey,
  SkillRegistry,
  type SkillRoot,
  SkillSyntaxError,
} from "./mod.ts";
import { type ByteWriter, StdioTransport } from "./stdio_transport.ts";

// ---------------------------------------------------------------------------
// Helpers
// ---------------------------------------------------------------------------

const MOD = resolve(import.meta.dirname!, "mod.ts");

/** The flags that `deno task start` gives beside the permissions: on some networks an import map. */
const IMPORTS = Deno.args.map((flag) =>
  flag.replace(/(?<=^--import-map=)(?!\/|\w+:)/, `${import.meta.dirname}/`)
);

/** The flags of the README's command. */
const FLAGS = ["run", "--allow-read", "--allow-env", ...IMPORTS];

/** How long anything may take that is awaited, in milliseconds: far longer than it does. */
const DEADLINE_MS = 20_000;

const isWindows = Deno.build.os === "windows";

/** The text of a `SKILL.md`. */
function skillMd(name: string, description = `About ${name}`): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n\n# ${name}\n`;
}

/** A temp folder with a project and a home in it. */
class Place implements Disposable {
  readonly path = Deno.realPathSync(Deno.makeTempDirSync());
  readonly project = this.folder("project");
  readonly home = this.folder("home");

  folder(...names: string[]): string {
    const path = join(this.path, ...names);
    Deno.mkdirSync(path, { recursive: true });
    return path;
  }

  /** Writes a file, and the folders it needs. */
  file(path: string, content: string | Uint8Array): string {
    const file = join(this.path, path);
    Deno.mkdirSync(join(file, ".."), { recursive: true });
    Deno.writeFileSync(
      file,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    return file;
  }

  /** Writes a skill into `<folder>/<name>` and returns the folder's path. */
  skill(folder: string, name: string, text = skillMd(name)): string {
    return join(this.file(`${folder}/${name}/SKILL.md`, text), "..");
  }

  link(target: string, path: string): string {
    const link = join(this.path, path);
    Deno.mkdirSync(join(link, ".."), { recursive: true });
    Deno.symlinkSync(target, link);
    return link;
  }

  remove(path: string): void {
    Deno.removeSync(join(this.path, path), { recursive: true });
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.path, { recursive: true });
  }
}

/** Fails if a promise takes far too long. */
async function within<T>(promise: Promise<T>, what: string): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => reject(new Error(`Waited in vain for ${what}`)),
    DEADLINE_MS,
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Values that come by and by, and can be waited for. */
class Inbox<T> {
  readonly values: T[] = [];
  #wake = Promise.withResolvers<void>();

  put(value: T): void {
    this.values.push(value);
    this.#wake.resolve();
    this.#wake = Promise.withResolvers();
  }

  /** Takes the first value that fits out of the inbox, once there is one. */
  take(fits: (value: T) => boolean, what: string): Promise<T> {
    return within(this.#take(fits), what);
  }

  async #take(fits: (value: T) => boolean): Promise<T> {
    for (;;) {
      const index = this.values.findIndex(fits);
      if (index >= 0) return this.values.splice(index, 1)[0]!;
      await this.#wake.promise;
    }
  }
}

/** Where the server finds what it needs although its home is another. */
const environment = {
  DENO_DIR: Deno.env.get("DENO_DIR") ?? denoDir(),
  NO_COLOR: "1",
};

function denoDir(): string {
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
  }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}

interface ServerOptions {
  args?: string[];
  env?: Record<string, string>;
  flags?: string[];
}

/** The server, run as the README says, with a real client connected. */
class Session implements AsyncDisposable {
  readonly client = new Client({ name: "test", version: "1.0.0" });
  readonly notices = new Inbox<string>();
  readonly stderr = new Inbox<string>();

  static async open(
    place: Place,
    { args = [], env = {}, flags = FLAGS }: ServerOptions = {},
  ): Promise<Session> {
    const session = new Session();
    const transport = new StdioClientTransport({
      command: Deno.execPath(),
      args: [...flags, MOD, ...args],
      cwd: place.project,
      env: { ...environment, HOME: place.home, ...env },
      stderr: "pipe",
    });
    let rest = "";
    transport.stderr!.on("data", (chunk) => {
      const lines = (rest + chunk).split("\n");
      rest = lines.pop()!;
      lines.forEach((line) => session.stderr.put(line));
    });
    session.client.setNotificationHandler(
      ToolListChangedNotificationSchema,
      ({ method }) => session.notices.put(method),
    );
    await within(session.client.connect(transport), "the server to start");
    return session;
  }

  /** Calls the tool `skill` and returns its text. */
  async load(name: string): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = await this.client.callTool({
      name: "skill",
      arguments: { name },
    }) as CallToolResult;
    const [item, ...rest] = content;
    assert.ok(item?.type === "text" && rest.length === 0);
    return { text: item.text, isError };
  }

  /** Returns the description of the tool `skill`. */
  async description(): Promise<string> {
    const { tools } = await this.client.listTools();
    assert.deepEqual(tools.map(({ name }) => name), ["skill"]);
    return tools[0]!.description!;
  }

  /** Returns the names in the description of the tool `skill`. */
  async names(): Promise<string[]> {
    const names = (await this.description()).matchAll(/^<name>(.*)<\/name>$/gm);
    return [...names].map(([, name]) => name!);
  }

  /** Waits for the notice that the list of tools is another. */
  async listChanged(): Promise<void> {
    await this.notices.take(
      (method) => method === "notifications/tools/list_changed",
      "tools/list_changed",
    );
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

/** The server's process, spoken to line by line. */
class Wire implements AsyncDisposable {
  readonly lines = new Inbox<string>();
  readonly ended: Promise<Deno.CommandStatus>;
  readonly process: Deno.ChildProcess;
  stderr = "";
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>[];

  constructor(
    place: Place,
    { args = [], env = {}, flags = FLAGS }: ServerOptions = {},
  ) {
    this.process = new Deno.Command(Deno.execPath(), {
      args: [...flags, MOD, ...args],
      cwd: place.project,
      env: { ...environment, HOME: place.home, ...env },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
    }).spawn();
    this.#writer = this.process.stdin.getWriter();
    this.#reading = [this.#readLines(), this.#readStderr()];
    this.ended = within(this.process.status, "the server to end");
  }

  async write(...messages: (string | Uint8Array | object)[]): Promise<void> {
    for (const message of messages) {
      await this.#writer.write(
        message instanceof Uint8Array ? message : new TextEncoder().encode(
          typeof message === "string"
            ? message
            : `${JSON.stringify(message)}\n`,
        ),
      );
    }
  }

  /** Sends a request and returns the reply. */
  async ask(id: number, method: string, params = {}): Promise<Reply> {
    await this.write({ jsonrpc: "2.0", id, method, params });
    return this.reply(id);
  }

  async reply(id: number | undefined): Promise<Reply> {
    const line = await this.lines.take(
      (line) => JSON.parse(line).id === id,
      `the reply ${id}`,
    );
    return JSON.parse(line);
  }

  async initialize(): Promise<Reply> {
    const reply = await this.ask(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1.0.0" },
    });
    await this.write({ jsonrpc: "2.0", method: "notifications/initialized" });
    return reply;
  }

  async endInput(): Promise<Deno.CommandStatus> {
    await this.#writer.close();
    const status = await this.ended;
    await Promise.all(this.#reading);
    return status;
  }

  /** Stops reading what the server writes. */
  async stopReading(): Promise<void> {
    this.#isReading = false;
    await this.#stdout.cancel();
  }

  #isReading = true;
  #stdout!: ReadableStreamDefaultReader<string>;

  async #readLines(): Promise<void> {
    this.#stdout = this.process.stdout.pipeThrough(new TextDecoderStream())
      .getReader();
    let rest = "";
    while (this.#isReading) {
      const { value, done } = await this.#stdout.read();
      if (done) break;
      const lines = (rest + value).split("\n");
      rest = lines.pop()!;
      lines.forEach((line) => this.lines.put(line));
    }
    assert.equal(rest, "", "stdout ends with a whole line");
  }

  async #readStderr(): Promise<void> {
    for await (
      const text of this.process.stderr.pipeThrough(new TextDecoderStream())
    ) this.stderr += text;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    try {
      this.process.kill("SIGKILL");
    } catch {
      // It has ended.
    }
    await this.#writer.abort().catch(() => {});
    await this.process.status;
    await Promise.allSettled(this.#reading);
  }
}

/** A reply of the server. */
interface Reply {
  id?: number;
  // deno-lint-ignore no-explicit-any -- a test looks into it and fails if it is not as expected
  result?: any;
  error?: { code: number; message: string; data?: unknown };
}

/** Runs the program to its end. */
async function runServer(
  place: Place,
  { args = [], env = {}, flags = FLAGS }: ServerOptions = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [...flags, MOD, ...args],
    cwd: place.project,
    env: { ...environment, HOME: place.home, ...env },
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

function runSync(command: string, ...args: string[]): void {
  const { success } = new Deno.Command(command, { args }).outputSync();
  assert.ok(success, `${command} ${args.join(" ")}`);
}

function root(path: string, rest: Partial<SkillRoot> = {}): SkillRoot {
  return { path, scope: "global", recursive: false, ...rest };
}

function names({ skills }: SkillCatalog): string[] {
  return [...skills.values()].map(({ name }) => name);
}

/** Makes a skill in a folder and returns it scanned. */
async function scanned(
  folder: string,
  options: ScanOptions = {},
): Promise<Skill> {
  const catalog = await scanSkillRoots([root(folder)], undefined, options);
  const [skill] = catalog.skills.values();
  assert.ok(skill, JSON.stringify(catalog.problems));
  return skill;
}

// ---------------------------------------------------------------------------
// Frontmatter
// ---------------------------------------------------------------------------

Deno.test("parseSkillMd() returns the whole frontmatter, verbatim", () => {
  assert.deepEqual(
    parseSkillMd(
      "---\nname: pdf\ndescription: Fill forms\nlicense: MIT\nmetadata:\n  since: 2024-01-02\n  tags: [a, b]\n---\n# PDF\n---\n",
    ),
    {
      name: "pdf",
      description: "Fill forms",
      license: "MIT",
      metadata: { since: "2024-01-02", tags: ["a", "b"] },
    },
  );
});

Deno.test("parseSkillMd() takes a byte order mark, CRLF, and blanks after the dashes", () => {
  const { name, description } = parseSkillMd(
    "\ufeff---  \r\nname: pdf\r\ndescription: Fill forms\r\n---\t\r\nText",
  );
  assert.deepEqual({ name, description }, {
    name: "pdf",
    description: "Fill forms",
  });
});

Deno.test("parseSkillMd() takes frontmatter with nothing after it", () => {
  assert.equal(parseSkillMd("---\nname: a\ndescription: b\n---").name, "a");
});

Deno.test("parseSkillMd() takes names with any characters", () => {
  for (const name of ["Git & GitHub", "日本語", "a/b", "ms-office-suite:pdf"]) {
    const text = `---\nname: ${JSON.stringify(name)}\ndescription: x\n---\n`;
    assert.equal(parseSkillMd(text).name, name);
  }
});

Deno.test("parseSkillMd() keeps a field named __proto__ a field", () => {
  const frontmatter = parseSkillMd(
    "---\nname: a\ndescription: b\n__proto__:\n  polluted: true\n---\n",
  );
  assert.equal(Object.getPrototypeOf(frontmatter), Object.prototype);
  assert.ok(Object.hasOwn(frontmatter, "__proto__"));
  assert.equal(({} as { polluted?: boolean }).polluted, undefined);
});

/** What is wrong with a `SKILL.md`, and the reason, line and mend it must be told with. */
const malformed: [string, string, RegExp, number, RegExp][] = [
  ["is empty", "", /no frontmatter/, 1, /first line/],
  ["has no frontmatter", "# Hi\n", /no frontmatter/, 1, /first line/],
  [
    "begins with a blank line",
    "\n---\nname: a\n",
    /no frontmatter/,
    1,
    /first/,
  ],
  [
    "has four dashes",
    "----\nname: a\n----\n",
    /no frontmatter/,
    1,
    /first line/,
  ],
  [
    "does not close",
    "---\nname: a\ndescription: b\n",
    /not end/,
    1,
    /close it/,
  ],
  ["has nothing in it", "---\n---\n", /not a YAML mapping/, 2, /name: …/],
  ["is a list", "---\n- name\n---\n", /not a YAML mapping/, 2, /name: …/],
  ["has no name", "---\ndescription: b\n---\n", /"name" is missing/, 1, /add/],
  [
    "has no description",
    "---\nname: a\n---\n",
    /"description" is missing/,
    1,
    /add/,
  ],
  [
    "has an empty name",
    "---\ndescription: b\nname:\n---\n",
    /"name" is empty/,
    3,
    /write something/,
  ],
  [
    "has a blank name",
    '---\nname: "  "\ndescription: b\n---\n',
    /"name" is empty/,
    2,
    /write something/,
  ],
  [
    "has a number for a name",
    "---\nname: 123\ndescription: b\n---\n",
    /"name" is not a text/,
    2,
    /quotes/,
  ],
  [
    "has a list for a description",
    "---\nname: a\ndescription: [b]\n---\n",
    /"description" is not a text/,
    3,
    /quotes/,
  ],
  [
    "has a colon in a value",
    "---\nname: a\ndescription: Use: this\n---\n",
    /malformed/,
    3,
    /double quotes/,
  ],
  [
    "has a quote that stays open",
    '---\nname: "a\ndescription: b\n---\n',
    /malformed/,
    0,
    /check this line/,
  ],
  [
    "is indented with tabs",
    "---\nname: a\ndescription: b\nmetadata:\n\tx: 1\n---\n",
    /malformed/,
    5,
    /spaces/,
  ],
  [
    "has a field twice",
    "---\nname: a\nname: b\n---\n",
    /malformed.*duplicated/,
    3,
    /check this line/,
  ],
  [
    "has an unknown tag",
    "---\nname: !run a\ndescription: b\n---\n",
    /malformed.*tag/,
    2,
    /double quotes/,
  ],
  ["has two documents", "---\nname: a\n...\nb\n---\n", /malformed/, 0, /check/],
  [
    "has a value that begins with @",
    "---\nname: @a\ndescription: b\n---\n",
    /malformed/,
    2,
    /first character/,
  ],
  [
    "is nested 5,000 deep",
    `---\nname: ${"[".repeat(5000)}\n---\n`,
    /nest/,
    2,
    /./,
  ],
  [
    "is larger than 64 KiB",
    `---\nname: a\n${"# x\n".repeat(20_000)}---\n`,
    /within 64 KiB/,
    1,
    /body/,
  ],
];

for (const [what, text, reason, line, hint] of malformed) {
  Deno.test(`parseSkillMd() says what is wrong and how to mend it if the file ${what}`, () => {
    assert.throws(() => parseSkillMd(text), (error) => {
      assert.ok(
        error instanceof SkillSyntaxError && error instanceof SyntaxError,
      );
      assert.match(error.reason, reason);
      assert.match(error.hint, hint);
      if (line > 0) assert.equal(error.line, line);
      assert.ok(!error.message.includes("\n"));
      return true;
    });
  });
}

Deno.test("parseSkillMd() takes frontmatter of just under 64 KiB, however it is written", () => {
  for (const filler of ["x", "ü", "😀"]) {
    const head = "---\nname: a\ndescription: b\nlicense: ";
    const tail = "\n---";
    const bytes = new TextEncoder().encode(filler).length;
    const room = 64 * 1024 - head.length - tail.length;
    const license = filler.repeat(Math.floor(room / bytes));
    assert.equal(parseSkillMd(`${head}${license}${tail}`).license, license);
    assert.throws(
      () => parseSkillMd(`${head}${license}${filler}${tail}`),
      /64 KiB/,
    );
  }
});

Deno.test("skillKey() disregards case, outer blanks and how accents are composed", () => {
  for (const name of ["Git", " git ", "GIT\n"]) {
    assert.equal(skillKey(name), "git");
  }
  assert.equal(skillKey("Cafe\u0301"), skillKey("CAF\u00c9"));
  assert.notEqual(skillKey("git"), skillKey("gi t"));
  assert.equal(skillKey(skillKey("\u0130")), skillKey("\u0130"));
});

// ---------------------------------------------------------------------------
// Roots
// ---------------------------------------------------------------------------

const places = {
  workingDirectory: resolve("/work"),
  homeDirectory: resolve("/home/me"),
};

function shown(roots: readonly SkillRoot[]): string[] {
  return roots.map(({ path, scope, recursive }) =>
    `${scope} ${path.replaceAll("\\", "/")}${recursive ? " and below" : ""}`
  );
}

Deno.test("resolveSkillRoots() gives exactly four folders in the order of priority", () => {
  assert.deepEqual(shown(resolveSkillRoots(places)), [
    "project /work/.agent/skills",
    "global /home/me/.agent/skills",
    "project /work/.claude/skills",
    "global /home/me/.claude/skills",
  ]);
});

Deno.test("resolveSkillRoots() leaves out what needs a folder that is not known", () => {
  const { workingDirectory, homeDirectory } = places;
  assert.deepEqual(shown(resolveSkillRoots({ homeDirectory })), [
    "global /home/me/.agent/skills",
    "global /home/me/.claude/skills",
  ]);
  assert.deepEqual(shown(resolveSkillRoots({ workingDirectory })), [
    "project /work/.agent/skills",
    "project /work/.claude/skills",
  ]);
  assert.deepEqual(resolveSkillRoots({}), []);
});

Deno.test("resolveSkillRoots() lets given folders replace the four, each with two below it", () => {
  const directories = ["/opt/skills", "more", "~/mine"];
  assert.deepEqual(shown(resolveSkillRoots({ ...places, directories })), [
    "global /opt/skills",
    "global /opt/skills/.claude/skills",
    "global /opt/skills/skills",
    "project /work/more",
    "project /work/more/.claude/skills",
    "project /work/more/skills",
    "global /home/me/mine",
    "global /home/me/mine/.claude/skills",
    "global /home/me/mine/skills",
  ]);
});

Deno.test("resolveSkillRoots() adds .agents and recursive folders after the others, each once", () => {
  const roots = resolveSkillRoots({
    ...places,
    agents: true,
    recursiveDirectories: ["/opt/all", "/opt/all", "~"],
  });
  assert.deepEqual(shown(roots).slice(4), [
    "project /work/.agents/skills",
    "global /home/me/.agents/skills",
    "global /opt/all and below",
    "global /home/me and below",
  ]);
});

Deno.test("resolveSkillRoots() throws if a folder is relative to one that is not known", () => {
  assert.throws(
    () => resolveSkillRoots({ directories: ["skills"] }),
    /Cannot find the folder "skills": the working directory is not known/,
  );
  assert.throws(
    () => resolveSkillRoots({ directories: ["~/skills"] }),
    /the home folder is not known/,
  );
});

// ---------------------------------------------------------------------------
// Scanner
// ---------------------------------------------------------------------------

Deno.test("scanSkillRoots() finds the skills directly under a root, in the order of their names", async () => {
  using place = new Place();
  const folder = join(place.path, "skills");
  const directory = place.skill("skills", "zebra");
  place.skill("skills", "Ape");
  place.skill("skills", "folder-of-monkey", skillMd("monkey"));
  place.skill("skills/group", "deep");
  place.file("skills/README.md", "no skill");
  place.folder("skills", "empty");
  const { skills, problems, shadowed, roots, revision } = await scanSkillRoots([
    root(folder),
  ]);
  assert.deepEqual([...skills.keys()], ["ape", "monkey", "zebra"]);
  assert.deepEqual([problems, shadowed, revision], [[], [], 1]);
  assert.deepEqual(roots, [
    { root: root(folder), status: "found", realPath: folder, skills: 3 },
  ]);
  assert.deepEqual(skills.get("zebra"), {
    name: "zebra",
    description: "About zebra",
    frontmatter: { name: "zebra", description: "About zebra" },
    directory,
    realDirectory: directory,
    file: join(directory, "SKILL.md"),
    size: skillMd("zebra").length,
    scope: "global",
    root: root(folder),
  });
});

Deno.test("scanSkillRoots() lets the first skill of a name win and tells what it shadows", async () => {
  using place = new Place();
  place.skill("first", "git", skillMd("Git"));
  place.skill("second", "git", skillMd("GIT"));
  place.skill("second", "zz", skillMd("git"));
  place.skill("second", "pdf");
  const catalog = await scanSkillRoots([
    root(join(place.path, "first")),
    root(join(place.path, "second")),
  ]);
  assert.deepEqual(names(catalog), ["Git", "pdf"]);
  assert.deepEqual(
    catalog.shadowed.map(({ skill, by }) => [skill.name, by.name]),
    [["GIT", "Git"], ["git", "Git"]],
  );
  assert.deepEqual(catalog.roots.map(({ skills }) => skills), [1, 3]);
});

Deno.test("scanSkillRoots() is silent about a root that is not there", async () => {
  using place = new Place();
  const { roots, problems } = await scanSkillRoots([
    root(join(place.path, "none")),
  ]);
  assert.deepEqual(roots.map(({ status }) => status), ["missing"]);
  assert.deepEqual(problems, []);
});

Deno.test("scanSkillRoots() tells of a root that is a file, or a skill", async () => {
  using place = new Place();
  const file = place.file("file", "text");
  const skill = place.skill("skills", "git");
  const { problems, skills } = await scanSkillRoots([root(file), root(skill)]);
  assert.equal(skills.size, 0);
  assert.deepEqual(problems.map(({ file }) => file), [file, skill]);
  assert.match(problems[1]!.reason, /a skill itself/);
  assert.match(problems[1]!.hint, /--skill-dir/);
});

Deno.test("scanSkillRoots() takes skill.md where there is no SKILL.md", {
  ignore: isWindows || Deno.build.os === "darwin",
}, async () => {
  using place = new Place();
  place.file("skills/a/skill.md", skillMd("a"));
  place.file("skills/b/skill.md", skillMd("lower"));
  place.file("skills/b/SKILL.md", skillMd("upper"));
  const catalog = await scanSkillRoots([root(join(place.path, "skills"))]);
  assert.deepEqual(names(catalog), ["a", "upper"]);
  const a = catalog.skills.get("a")!;
  assert.deepEqual(listSkillFiles(a).map(({ path }) => path), ["SKILL.md"]);
  assert.equal(readSkillFile(a, "SKILL.md").text, skillMd("a"));
});

Deno.test(
  "scanSkillRoots() skips each bad skill with its reason and serves the good one beside it",
  {
    ignore: isWindows,
  },
  async () => {
    using place = new Place();
    place.skill("skills", "good");
    place.skill("skills", "no-description", "---\nname: nd\n---\n");
    place.skill("skills", "large", skillMd("large", "x".repeat(2 ** 20)));
    place.folder("skills", "folder", "SKILL.md");
    runSync("mkfifo", place.folder("skills", "fifo") + "/SKILL.md");
    place.link("/dev/zero", "skills/device/SKILL.md");
    place.link("nowhere", "skills/dangling/SKILL.md");
    place.link("SKILL.md", "skills/loop/SKILL.md");
    place.link("nowhere", "skills/gone");
    place.link(
      place.file("secret.md", skillMd("secret")),
      "skills/out/SKILL.md",
    );
    const catalog = await within(
      scanSkillRoots([root(join(place.path, "skills"))]),
      "a scan with a FIFO and a device",
    );
    assert.deepEqual(names(catalog), ["good"]);
    const reasons = Object.fromEntries(
      catalog.problems.map(({ file, reason }) => [
        basename(file) === "SKILL.md" ? basename(join(file, "..")) : "gone",
        reason,
      ]),
    );
    assert.deepEqual(reasons, {
      dangling: "it is a link that leads nowhere",
      device: "it is a link that leads outside its skill",
      fifo: "it is not a regular file",
      folder: "it is a folder",
      gone: "it is a link that leads nowhere",
      large: `it has ${
        skillMd("large").length + 2 ** 20 - "About large".length
      } bytes, more than the 1048576 allowed`,
      loop: "it is a link that leads back to itself",
      "no-description": 'the field "description" is missing',
      out: "it is a link that leads outside its skill",
    });
    assert.ok(catalog.problems.every(({ hint }) => hint.length > 0));
    assert.ok(!JSON.stringify(catalog.problems).includes("secret"));
  },
);

Deno.test("scanSkillRoots() takes larger files if it is told to", async () => {
  using place = new Place();
  const text = skillMd("large") + "x".repeat(2 ** 20);
  place.skill("skills", "large", text);
  const roots = [root(join(place.path, "skills"))];
  const options = { maxFileSize: 2 ** 21 };
  const catalog = await scanSkillRoots(roots, undefined, options);
  assert.deepEqual(names(catalog), ["large"]);
  const skill = catalog.skills.get("large")!;
  assert.equal(readSkillFile(skill, "SKILL.md", options).text, text);
});

Deno.test("scanSkillRoots() searches a recursive root six levels deep, but not in skills, dot-folders or node_modules", async () => {
  using place = new Place();
  place.skill("all", "one");
  place.skill("all/one/two", "in-a-skill");
  place.skill("all/a/b/c/d/e", "six");
  place.skill("all/a/b/c/d/e/f", "seven");
  place.skill("all/.claude/skills", "claude");
  place.skill("all/.agent", "agent");
  place.skill("all/.agents", "agents");
  place.skill("all/.git", "git");
  place.skill("all/node_modules", "module");
  const catalog = await scanSkillRoots([
    root(join(place.path, "all"), { recursive: true }),
  ]);
  assert.deepEqual(names(catalog), ["agent", "agents", "claude", "one", "six"]);
});

Deno.test("scanSkillRoots() takes a recursive root that is a skill itself", async () => {
  using place = new Place();
  const skill = place.skill("skills", "git");
  const catalog = await scanSkillRoots([root(skill, { recursive: true })]);
  assert.deepEqual(names(catalog), ["git"]);
  assert.deepEqual(catalog.problems, []);
});

Deno.test("scanSkillRoots() follows links to skill folders, and visits a folder once", async () => {
  using place = new Place();
  const store = place.skill("store", "git");
  place.link(store, "skills/linked");
  place.link(store, "skills/linked-again");
  place.link(join(place.path, "skills"), "skills/loop");
  place.link(join(place.path, "skills"), "skills/group/loop");
  for (const recursive of [false, true]) {
    const catalog = await scanSkillRoots([
      root(join(place.path, "skills"), { recursive }),
    ]);
    assert.deepEqual(names(catalog), ["git"]);
    assert.deepEqual([catalog.problems, catalog.shadowed], [[], []]);
    const { directory, realDirectory } = catalog.skills.get("git")!;
    assert.equal(directory, join(place.path, "skills", "linked"));
    assert.equal(realDirectory, store);
  }
});

Deno.test("scanSkillRoots() takes a folder that two roots lead to for one skill", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.link(join(place.path, "skills"), "alias");
  const catalog = await scanSkillRoots([
    root(join(place.path, "alias")),
    root(join(place.path, "skills")),
    root(place.path, { recursive: true }),
  ]);
  assert.deepEqual(names(catalog), ["git"]);
  assert.deepEqual(catalog.shadowed, []);
  assert.equal(
    catalog.skills.get("git")!.directory,
    join(place.path, "alias", "git"),
  );
});

Deno.test("scanSkillRoots() holds links in a project to the project and the user's own roots", async () => {
  using place = new Place();
  const { project } = place;
  place.link(place.skill("documents", "private"), "project/skills/out");
  place.link(place.skill("project/vendor", "vendored"), "project/skills/in");
  place.link(place.skill("home/.agents/skills", "own"), "project/skills/own");
  place.link(place.skill("trusted", "stored"), "project/skills/store");
  place.link(join(place.path, "documents"), "project/root");
  const roots = [
    root(join(project, "skills"), { scope: "project" }),
    root(join(project, "root"), { scope: "project" }),
  ];
  const linkTargets = [project, join(place.home, ".agents", "skills")];
  const catalog = await scanSkillRoots(roots, undefined, { linkTargets });
  assert.deepEqual(names(catalog), ["own", "vendored"]);
  assert.deepEqual(
    catalog.problems.map(({ file, reason }) => [basename(file), reason]),
    [
      ["out", "it is a link that leads outside the project"],
      ["store", "it is a link that leads outside the project"],
      ["root", "it is a link that leads outside the project"],
    ],
  );
  assert.match(catalog.problems[0]!.hint, /--trust-links DIR/);
  assert.deepEqual(catalog.roots.map(({ status }) => status), [
    "found",
    "refused",
  ]);
  const trustLinks = [join(place.path, "trusted")];
  const options = { linkTargets, trustLinks };
  const trusting = await scanSkillRoots(roots, undefined, options);
  assert.deepEqual(names(trusting), ["own", "stored", "vendored"]);
});

Deno.test("scanSkillRoots() follows links that each file of a skill is, into folders it is told to trust", async () => {
  using place = new Place();
  const store = place.folder("store");
  place.link(
    place.file("store/1-git.md", skillMd("git")),
    "skills/git/SKILL.md",
  );
  place.link(place.file("store/2-help.md", "Help"), "skills/git/help.md");
  const roots = [root(join(place.path, "skills"))];
  assert.deepEqual(names(await scanSkillRoots(roots)), []);
  const options = { trustLinks: [store] };
  const catalog = await scanSkillRoots(roots, undefined, options);
  assert.deepEqual(names(catalog), ["git"]);
  const skill = catalog.skills.get("git")!;
  assert.deepEqual(
    listSkillFiles(skill, options).map(({ path }) => path),
    ["SKILL.md", "help.md"],
  );
  assert.equal(readSkillFile(skill, "help.md", options).text, "Help");
});

Deno.test("scanSkillRoots() returns the same catalog, and reads nothing, if nothing changed", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.skill("skills", "bad", "no frontmatter");
  const old = new Date(Date.now() - 60_000);
  for (const name of ["git", "bad"]) {
    Deno.utimeSync(join(place.path, "skills", name, "SKILL.md"), old, old);
  }
  const roots = [root(join(place.path, "skills"))];
  const first = await scanSkillRoots(roots);
  assert.equal(await scanSkillRoots(roots, first), first);
});

Deno.test("scanSkillRoots() sees a change that leaves size and times as they were", async () => {
  using place = new Place();
  const file = place.file("skills/git/SKILL.md", skillMd("git", "One thing"));
  const roots = [root(join(place.path, "skills"))];
  const { atime, mtime } = Deno.statSync(file);
  const first = await scanSkillRoots(roots);
  Deno.writeTextFileSync(file, skillMd("git", "Two thing"));
  Deno.utimeSync(file, atime!, mtime!);
  const second = await scanSkillRoots(roots, first);
  assert.equal(second.skills.get("git")!.description, "Two thing");
  assert.equal(second.revision, first.revision + 1);
});

Deno.test("scanSkillRoots() keeps the skills that did not change", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.skill("skills", "pdf");
  const roots = [root(join(place.path, "skills"))];
  const first = await scanSkillRoots(roots);
  place.skill("skills", "pdf", skillMd("pdf", "New"));
  const second = await scanSkillRoots(roots, first);
  assert.equal(second.skills.get("git"), first.skills.get("git"));
  assert.notEqual(second.skills.get("pdf"), first.skills.get("pdf"));
});

Deno.test("scanSkillRoots() lets other work run while it scans a thousand skills", async () => {
  using place = new Place();
  for (let i = 0; i < 2000; i++) place.skill("skills", `s${i}`);
  let turns = 0;
  const timer = setInterval(() => turns++);
  const catalog = await scanSkillRoots([root(join(place.path, "skills"))]);
  clearInterval(timer);
  assert.equal(catalog.skills.size, 2000);
  assert.ok(turns > 0, "a timer fired while the scan ran");
});

Deno.test("scanSkillRoots() finds skills of names that look like paths or prototypes", async () => {
  using place = new Place();
  const odd = ["__proto__", "constructor", "../up", "CON", "a\\b", "İ"];
  odd.forEach((name, index) =>
    place.skill(
      "skills",
      `s${index}`,
      `---\nname: ${JSON.stringify(name)}\ndescription: x\n---\n`,
    )
  );
  const { skills } = await scanSkillRoots([root(join(place.path, "skills"))]);
  for (const name of odd) assert.equal(skills.get(skillKey(name))?.name, name);
  assert.equal(skills.size, odd.length);
});

// ---------------------------------------------------------------------------
// File access
// ---------------------------------------------------------------------------

Deno.test("listSkillFiles() lists what belongs to a skill, and readSkillFile() reads just that", async () => {
  using place = new Place();
  const secret = place.file("secret/key.txt", "secret");
  place.skill("skills", "git");
  place.file("skills/git/references/API.md", "api");
  place.file("skills/git/scripts/nested/SKILL.md", skillMd("nested"));
  place.file("skills/git/größe #1?.txt", "odd");
  place.file("skills/git/large.bin", new Uint8Array(2 ** 20 + 1));
  place.file("skills/git/.env", "hidden");
  place.file("skills/git/.git/config", "hidden");
  place.file("skills/git/node_modules/x/index.js", "hidden");
  place.file("skills/git/lib/__pycache__/x.pyc", "hidden");
  place.link("references/API.md", "skills/git/alias.md");
  place.link("references", "skills/git/docs");
  place.link(".", "skills/git/self");
  place.link("..", "skills/git/lib/up");
  place.link(secret, "skills/git/out.txt");
  place.link(join(secret, ".."), "skills/git/outside");
  place.link(".env", "skills/git/visible.txt");
  place.link("nowhere", "skills/git/dangling");
  const skill = await scanned(join(place.path, "skills"));
  const expected = [
    "SKILL.md",
    "alias.md",
    "docs/API.md",
    "größe #1?.txt",
    "references/API.md",
    "scripts/nested/SKILL.md",
  ];
  assert.deepEqual(listSkillFiles(skill).map(({ path }) => path), expected);
  for (const { path, size, version } of listSkillFiles(skill)) {
    const file = readSkillFile(skill, path);
    assert.deepEqual([file.path, file.size, file.version], [
      path,
      size,
      version,
    ]);
  }
  for (
    const path of [
      ".env",
      ".git/config",
      "node_modules/x/index.js",
      "lib/__pycache__/x.pyc",
      "self/SKILL.md",
      "lib/up/SKILL.md",
      "out.txt",
      "outside/key.txt",
      "visible.txt",
      "dangling",
      "none.md",
      "SKILL.md/x",
      "../git/SKILL.md",
      "references/../../git/SKILL.md",
      secret,
      "a\0b",
    ]
  ) {
    assert.throws(() => readSkillFile(skill, path), (error) => {
      assert.ok(error instanceof SkillFileError, `${path}: ${error}`);
      assert.match(error.message, /^Cannot read ".*": there is no such file/);
      return true;
    });
  }
  assert.throws(
    () => readSkillFile(skill, "large.bin"),
    /more than the 1048576/,
  );
  assert.throws(() => readSkillFile(skill, "references"), /it is a folder/);
  assert.throws(() => readSkillFile(skill, ""), /it is a folder/);
});

Deno.test("readSkillFile() takes paths as people write them", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/references/API.md", "api");
  const skill = await scanned(join(place.path, "skills"));
  for (
    const path of [
      "references/API.md",
      "./references/API.md",
      "references//API.md",
      "references/x/../API.md",
    ]
  ) {
    const file = readSkillFile(skill, path);
    assert.deepEqual([file.path, file.text], ["references/API.md", "api"]);
  }
});

Deno.test("readSkillFile() gives text to the letter, and none for bytes that are not UTF-8", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.file("skills/git/bom.md", "\ufeffa\r\nb");
  place.file("skills/git/latin1.txt", new Uint8Array([0x67, 0xfc]));
  place.file("skills/git/empty", "");
  const skill = await scanned(join(place.path, "skills"));
  assert.equal(readSkillFile(skill, "bom.md").text, "\ufeffa\r\nb");
  assert.equal(readSkillFile(skill, "empty").text, "");
  const { text, bytes } = readSkillFile(skill, "latin1.txt");
  assert.deepEqual([text, [...bytes]], [undefined, [0x67, 0xfc]]);
});

Deno.test("readSkillFile() and listSkillFiles() go ten names deep", async () => {
  using place = new Place();
  const skillFolder = place.skill("skills", "git");
  const ten = "a/b/c/d/e/f/g/h/i/ten.md";
  const eleven = "a/b/c/d/e/f/g/h/i/j/eleven.md";
  place.file(`skills/git/${ten}`, "10");
  place.file(`skills/git/${eleven}`, "11");
  const skill = await scanned(join(skillFolder, ".."));
  assert.deepEqual(listSkillFiles(skill).map(({ path }) => path), [
    "SKILL.md",
    ten,
  ]);
  assert.equal(readSkillFile(skill, ten).text, "10");
  assert.throws(() => readSkillFile(skill, eleven), SkillFileError);
});

Deno.test("readSkillFile() reads no FIFO and no device", {
  ignore: isWindows,
}, async () => {
  using place = new Place();
  const folder = place.skill("skills", "git");
  runSync("mkfifo", join(folder, "fifo"));
  const skill = await scanned(join(place.path, "skills"));
  assert.deepEqual(listSkillFiles(skill).map(({ path }) => path), ["SKILL.md"]);
  assert.throws(() => readSkillFile(skill, "fifo"), /not a regular file/);
});

Deno.test("readSkillFile() finds nothing in a skill directory that became a link out", async () => {
  using place = new Place();
  place.file("secret/SKILL.md", "secret");
  place.skill("skills", "git");
  const skill = await scanned(join(place.path, "skills"));
  place.remove("skills/git");
  place.link(join(place.path, "secret"), "skills/git");
  assert.throws(() => readSkillFile(skill, "SKILL.md"), /no such file/);
});

Deno.test("listSkillFiles() ends in a maze of links", async () => {
  using place = new Place();
  place.skill("skills", "maze");
  const rooms = Array.from({ length: 10 }, (_, index) => `room${index}`);
  for (const from of rooms) {
    for (const to of rooms) place.link(`../${to}`, `skills/maze/${from}/${to}`);
  }
  const skill = await scanned(join(place.path, "skills"));
  assert.deepEqual(listSkillFiles(skill).map(({ path }) => path), ["SKILL.md"]);
});

Deno.test("resolveSkillFile() tells where a file or folder of a skill lies", async () => {
  using place = new Place();
  const store = place.skill("store", "git");
  place.link(store, "skills/git");
  place.folder("store/git/docs");
  const skill = await scanned(join(place.path, "skills"));
  assert.deepEqual(resolveSkillFile(skill, "docs"), {
    path: join(place.path, "skills", "git", "docs"),
    realPath: join(store, "docs"),
  });
  assert.equal(resolveSkillFile(skill, "").realPath, store);
});
