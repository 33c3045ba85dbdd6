// Each line of docs/conformance.md is still a departure: a check here fails once the server
// does what was ordered, and so do the tests in tests/golden/departures.txt.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "../src/fs/paths.ts";
import { settingsFor } from "./testing/command_line.ts";
import { MODULES, read } from "./testing/docs.ts";
import { REPOSITORY } from "./testing/environment.ts";
import { DiskSpy } from "./testing/fakes.ts";
import { LocalServer } from "./testing/local_server.ts";
import { lacks } from "./testing/needs.ts";
import { filesPlace, Place, skillMd } from "./testing/place.ts";
import { metaOf, runScript, serverScript, Wire } from "./testing/server.ts";

const HOME = "home/.claude/skills";

/** Sends a request to a server in this process, and returns the result. */
async function ask(
  place: Place,
  method: string,
  params: object,
  ...args: string[]
  // deno-lint-ignore no-explicit-any -- results of all methods
): Promise<any> {
  using server = await LocalServer.open({ ...place, args });
  return (await server.ask(1, method, params)).result;
}

/** Calls the tool `skill`, and returns the text of its result. */
async function load(place: Place, name: string): Promise<string> {
  const params = { name: "skill", arguments: { name } };
  return (await ask(place, "tools/call", params)).content[0].text;
}

/** Calls the tool `skill-resource` for the skill `git`. */
async function readPath(place: Place, path: string) {
  const input = { skill: "git", path };
  const params = { name: "skill-resource", arguments: input };
  return await ask(place, "tools/call", params, "--tools", "skilljack");
}

/** The packages that the program imports. */
const PACKAGES = MODULES.flatMap((module) =>
  Array.from(
    read(module).matchAll(/"(?:npm|jsr):(@?[^@"]+)@/g),
    ([, name]) => name!,
  )
);

/** Fails if a departure is none. */
type Check = () => void | Promise<void>;

const CHECKS: Readonly<Record<number, Check>> = {
  3: () => {
    const { roots } = settingsFor("--tools", "reference", REPOSITORY);
    assert.equal(roots.length, 3);
  },
  4: async () => {
    using place = new Place();
    await using wire = await Wire.open(place, { args: ["none"] });
    const isReport = (line: string) => /none": there is no such/.test(line);
    await wire.stderrLines.take(isReport, "the missing folder");
  },
  9: async () => {
    using place = filesPlace();
    const script = `rmdir '${place.project}' && exec ${serverScript(place)}`;
    const { code, stderr } = await runScript(place, script);
    assert.equal(code, 1);
    assert.match(stderr, /current working directory|getting cwd/);
  },
  10: async () => {
    using place = new Place();
    place.skill(HOME, "large", skillMd("large") + "x".repeat(2 ** 20));
    assert.match(await load(place, "large"), /^Skipped .* larger than 1 MiB;/);
  },
  18: async () => {
    using place = filesPlace();
    place.skill(HOME, "folder", skillMd("a/b"));
    assert.match(await load(place, "a/b"), /^Loading: a\/b\n/);
    for (const name of ["/git/", "git/SKILL.md", "skill://git/SKILL.md"]) {
      assert.match(await load(place, name), /^Loading: git\n/);
    }
  },
  20: async () => {
    using place = new Place();
    place.skill(HOME, "scoped", skillMd('"global:git"'));
    place.skill(HOME, "long", skillMd("x".repeat(201)));
    assert.match(await load(place, "scoped"), /^Skipped .*reserved for scopes/);
    assert.match(await load(place, "long"), /^Skipped .*more than 200/);
  },
  25: async () => {
    using place = new Place();
    place.skill(HOME, "tag", skillMd("tag", '"a <b>\\n& c"'));
    const { tools: [{ description }] } = await ask(place, "tools/list", {});
    assert.match(description, /<description>a &lt;b&gt; &amp; c</);
    assert.match(await load(place, "none"), /\n- tag: a <b> & c\n/);
  },
  28: async () => {
    using place = new Place();
    place.skill(HOME, "long", skillMd("long", "d".repeat(1_000)));
    place.skill(HOME, "longer", skillMd("longer", "d".repeat(1_000)));
    const params = { _meta: metaOf("claude-code") };
    const { tools: [tool] } = await ask(place, "tools/list", params);
    assert.doesNotMatch(tool.description, /ddd/);
    assert.match(tool.inputSchema.properties.name.description, /\n- long: ddd/);
  },
  31: async () => {
    using place = filesPlace();
    const args = ["--tools", "reference"];
    const { tools } = await ask(place, "tools/list", {}, ...args);
    const has = tools.map((it: { description: string }) =>
      it.description.includes("Work with git")
    );
    assert.deepEqual(has, [true, false]);
  },
  34: async () => {
    using place = filesPlace();
    const text = await load(place, `a\nb${"x".repeat(300)}`);
    assert.match(text, /^Skill 'a bx{194}\.\.\.' not found\.\n/);
  },
  35: async () => {
    using place = filesPlace();
    place.skill("project/.claude/skills", "git");
    assert.match(await load(place, "none"), /\n- project:git: About git\n/);
  },
  38: async () => {
    using place = filesPlace();
    for (let number = 0; number < 9; number++) {
      place.file(`${HOME}/git/data/${number}.txt`, "x".repeat(1_000_000));
    }
    const { content } = await readPath(place, "data");
    assert.match(content[0].text, /^Cannot return 9 files at once: .*"data\/8/);
  },
  53: async () => {
    using place = new Place();
    for (let index = 0; index < 100; index++) place.skill(HOME, `s${index}`);
    using disk = new DiskSpy();
    await ask(place, "tools/list", {});
    assert.ok(disk.counts.get("openSync")! >= 100);
  },
  55: async () => {
    using place = filesPlace();
    await using wire = await Wire.open(place);
    await wire.ask(1, "tools/list");
    const status = Deno.readTextFileSync(`/proc/${wire.process.pid}/status`);
    const [, size] = /^VmRSS:\s+(\d+) kB$/m.exec(status)!;
    assert.ok(Number(size) > 10_000, size);
  },
  56: () => {
    assert.ok(PACKAGES.includes("@modelcontextprotocol/server"));
    assert.ok(!PACKAGES.includes("@modelcontextprotocol/sdk"));
  },
  57: () => {
    for (const name of ["minisearch", "@lezer/markdown"]) {
      assert.ok(PACKAGES.includes(name), name);
    }
    assert.match(read("npm_only/yaml.ts"), /"npm:js-yaml@/);
  },
  58: () => {
    assert.match(read("mod.ts"), /from "\.\/src\//);
  },
  59: () => {
    assert.match(read("CHANGELOG.md"), /^## .* - unreleased$/m);
  },
  64: () => {
    for (const file of ["package.json", "pyproject.toml", "sample-skills"]) {
      assert.ok(!existsSync(join(REPOSITORY, file)), file);
    }
  },
};

const REFERENCES = Array.from(
  read("tests/golden/departures.txt").matchAll(/^(\d+) (\S+): (.*)$/gm),
  ([, number, file, test]) => ({ number: number!, file: file!, test: test! }),
);

Deno.test("only the departures in docs/conformance.md have checks and tests", () => {
  const lines = read("docs/conformance.md").matchAll(/^(\d+)\. /gm);
  const numbers = Array.from(lines, ([, number]) => Number(number));
  const tested = REFERENCES.map(({ number }) => Number(number));
  const checked = Object.keys(CHECKS).map(Number);
  const all = [...new Set([...tested, ...checked])].sort((a, b) => a - b);
  assert.deepEqual(numbers, all);
});

Deno.test("each test in tests/golden/departures.txt exists", () => {
  const missing = REFERENCES.filter(({ file, test }) => {
    const text = read(file);
    const written = [`"${test}"`, `\`${test}\``, `\n## ${test}\n`];
    return !written.some((it) => text.includes(it));
  });
  assert.deepEqual(missing, []);
});

/** What a check needs that not every system has. */
const NEEDED: Readonly<Record<string, "sh" | "proc">> = { 9: "sh", 55: "proc" };

for (const [number, fn] of Object.entries(CHECKS)) {
  const name = `departure ${number} is still one: ${beginningOf(number)}`;
  const need = NEEDED[number];
  Deno.test({ name, fn, ignore: need !== undefined && lacks(need) });
}

/** Returns the first words of a departure in docs/conformance.md. */
function beginningOf(number: string): string {
  const text = read("docs/conformance.md").split(`\n${number}. `)[1]!;
  return text.replaceAll(/\s+/g, " ").slice(0, 50).replace(/ \S*$/, " ...");
}
