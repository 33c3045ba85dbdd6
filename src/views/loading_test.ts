import assert from "node:assert/strict";
import type { SkillRegistry } from "../../mod.ts";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/folders.ts";
import {
  GIT_CALL,
  HttpServer,
  modernClient,
} from "../../tests/testing/http.ts";
import { needs } from "../../tests/testing/needs.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { message } from "../../tests/testing/server.ts";
import { callFor, textOf, toolCaller } from "../../tests/testing/tools.ts";
import { join } from "../fs/paths.ts";
import { quote } from "../text.ts";
import type { ToolOptions } from "./options.ts";

const withLinks = needs("links");

const SKILLS = "home/.claude/skills";

/** Opens the skills in the home directory of a place. */
function openSkills({ path }: Place): Promise<SkillRegistry> {
  return openRegistry(join(path, SKILLS));
}

/** Returns a function that calls `skill-resource`. */
function resourceCaller(registry: SkillRegistry) {
  const call = toolCaller(registry, { toolset: "skilljack" });
  return (path: string, skill = "git") =>
    call("skill-resource", { skill, path });
}

Deno.test("a call scans first if the skill changed, or if its name is unknown", async () => {
  using place = filesPlace();
  using registry = await openSkills(place);
  const refresh = registry.refresh.bind(registry);
  const ages: (number | undefined)[] = [];
  registry.refresh = (options) => {
    ages.push(options?.maxAgeMs);
    // The last scan may be new enough, but the skill changed since.
    return refresh();
  };
  const read = resourceCaller(registry);
  const write = (text: string) => () => place.skill(SKILLS, "git", text);
  const move = () => {
    place.file(`${SKILLS}/moved/notes.md`, "notes");
    place.skill(SKILLS, "moved", skillMd("git"));
    place.remove(`${SKILLS}/git`);
  };
  const stay = () => {};
  const flag = "disable-model-invocation: true\n";
  const unknown = /^Skill 'git' not found/;
  const cases = [
    [stay, "SKILL.md", /Work with git/, []],
    [stay, "none.md", /the skill serves no such file/, []],
    [write(skillMd("git", "Changed")), "SKILL.md", /Changed/, [0]],
    [move, "notes.md", /^notes$/, [0]],
    [() => place.remove(`${SKILLS}/moved`), "SKILL.md", unknown, [0]],
    [write(skillMd("git", "New")), "SKILL.md", /New/, [100]],
    // It may be unfinished, so the skill stays for now.
    [write("no frontmatter"), "SKILL.md", /is incomplete.*try again/, [0]],
    [write(skillMd("git", "Fixed")), "SKILL.md", /Fixed/, [0]],
    [write(skillMd("git", "d", flag)), "SKILL.md", unknown, [0]],
  ] as const;
  for (const [change, path, expected, scans] of cases) {
    change();
    assert.match(textOf(await read(path)), expected);
    assert.deepEqual(ages.splice(0), scans, `${expected}`);
  }
});

Deno.test("what is larger than the client accepts is refused, with where to read it", async () => {
  using place = new Place();
  // As JSON, each quotation mark takes two bytes.
  const dir = place.skill(SKILLS, "git", skillMd("git") + '"'.repeat(600_000));
  // In base64, it is larger than 1 MB.
  place.file(`${SKILLS}/git/logo.png`, new Uint8Array(800_000).fill(0xff));
  using registry = await openSkills(place);
  const read = async (client: string, options: ToolOptions, path?: string) => {
    const { name, arguments: input } = callFor(options.toolset, "git", path);
    return await toolCaller(registry, options, client)(name, input);
  };
  const main = join(dir, "SKILL.md");
  const logo = join(dir, "logo.png");
  const size =
    /^Cannot return ".*": it takes 1[02]\d{5} bytes as JSON, and the client accepts 1000000; open "(.*)" with another tool$/;
  const cases = [
    ["skill", false, undefined, main],
    ["reference", true, undefined, "skill://git/SKILL.md"],
    ["skilljack", false, "logo.png", logo],
    ["agentskills", true, "logo.png", "skill://git/logo.png"],
  ] as const;
  for (const [toolset, isRemote, path, place] of cases) {
    const options = { toolset, isRemote };
    const accepted = await read("some-client", options, path);
    assert.equal(accepted.isError, undefined);
    const [, where] = size.exec(
      textOf(await read("claude-ai", options, path)),
    ) ?? [];
    assert.equal(`"${where}"`, quote(place));
  }
});

/** How many characters of a result the clients keep that are known to cut it. */
const CUTS = {
  "@cline/core": 8_000,
  "copilot-cli": 20_000,
  "qwen-cli-mcp-client-skills": 25_000,
  "codex-mcp-client": 40_000,
  "gemini-cli-mcp-client": 40_000,
  "opencode": 51_200,
};

Deno.test("clients learn the length of a SKILL.md that is longer than they keep", async () => {
  for (const [client, limit] of Object.entries(CUTS)) {
    using place = new Place();
    const dir = join(place.path, SKILLS, "fits");
    // The contract's lines before the text count, too.
    const start = `Loading: fits\nBase directory: ${dir}\n\n`.length;
    place.skill(SKILLS, "fits", skillMd("fits").padEnd(limit - start, "x"));
    const text = skillMd("long").padEnd(limit - start + 1, "x");
    const file = join(place.skill(SKILLS, "long", text), "SKILL.md");
    using registry = await openSkills(place);
    for (const isRemote of [false, true]) {
      const load = async (name: string, from: string) => {
        const options = { toolset: "skill", isRemote } as const;
        const call = toolCaller(registry, options, from);
        return textOf(await call("skill", { name }));
      };
      const where = isRemote ? "the resource skill://long/SKILL.md" : file;
      const line =
        `Length: ${text.length} characters. If a part is cut out here, read it in ${where}`;
      assert.ok((await load("long", client)).split("\n").includes(line));
      if (!isRemote) {
        assert.doesNotMatch(await load("fits", client), /^Length: /m);
      }
      assert.doesNotMatch(await load("long", "some-client"), /^Length: /m);
    }
  }
});

Deno.test("OpenCode counts bytes, and Gemini CLI characters", async () => {
  using place = new Place();
  place.skill(SKILLS, "git", skillMd("git") + "é".repeat(30_000));
  using registry = await openSkills(place);
  const load = async (client: string) => {
    const call = toolCaller(registry, { toolset: "skill" }, client);
    return textOf(await call("skill", { name: "git" }));
  };
  assert.match(await load("opencode"), /^Length: 30\d{3} characters\./m);
  assert.doesNotMatch(await load("gemini-cli-mcp-client"), /^Length: /m);
});

Deno.test("skill-resource reads a file, a folder, and the list of files", async () => {
  using place = filesPlace();
  const latin = new Uint8Array([0x63, 0x61, 0x66, 0xe9]);
  place.file(`${SKILLS}/latin/a.md`, latin);
  place.skill(SKILLS, "latin");
  using registry = await openSkills(place);
  const read = resourceCaller(registry);
  const text = (text: string) => ({ type: "text", text });
  const api = "--- references/API.md ---\n# API";
  const more = "--- references/deep/more.md ---\n# More";
  const files =
    "- SKILL.md\n- logo.png\n- references/API.md\n- references/deep/more.md";
  const expected: [string, string[]][] = [
    ["references/API.md", ["# API"]],
    ["./references/API.md", ["# API"]],
    ["references", [api, more]],
    ["references/deep/", [more]],
    ["", [`Files of the skill "git":\n\n${files}`]],
  ];
  for (const [path, texts] of expected) {
    const { content, isError } = await read(path, "GIT");
    assert.deepEqual([content, isError], [texts.map(text), undefined]);
  }
  const uri = "skill://git/logo.png";
  const resource = { uri, mimeType: "image/png", blob: "if8=" };
  const { content } = await read("logo.png");
  assert.deepEqual(content, [{ type: "resource", resource }]);
  const refusal =
    'Cannot read "a.md": it is a text file, but not in UTF-8; ask the user to save it as UTF-8';
  const unread = await read("a.md", "latin");
  assert.deepEqual([unread.content, unread.isError], [[text(refusal)], true]);
  const { content: [, beside], isError } = await read(".", "latin");
  const part = text(`--- a.md ---\n${refusal}`);
  assert.deepEqual([beside, isError], [part, undefined]);
});

withLinks.test("skill-resource names what it leaves out, and nothing outside the skill", async () => {
  using place = filesPlace();
  const git = `${SKILLS}/git`;
  const outside = place.file("outside.txt", "outside");
  place.link(outside, `${git}/data/there.txt`);
  place.link(`${outside}.none`, `${git}/data/nowhere.txt`);
  place.link("references/deep", `${git}/inside`);
  const large = new Uint8Array(2 ** 20 + 1);
  place.file(`${git}/references/large.bin`, large);
  using registry = await openSkills(place);
  const read = resourceCaller(registry);
  const note = 'Skipped:\n\n- "references/large.bin": it is larger than 1 MiB';
  for (const path of ["", "references"]) {
    const text = textOf(await read(path));
    assert.ok(text.endsWith(note), text);
    assert.doesNotMatch(text, /there|nowhere/);
  }
  assert.doesNotMatch(textOf(await read("references/deep")), /Skipped/);
  const isDir = /^Cannot read "data": it is a folder/;
  assert.match(textOf(await read("data")), isDir);
  for (const path of ["none.md", ".env"]) {
    assert.match(textOf(await read(path)), /the skill serves no such file/);
  }
  assert.equal(textOf(await read("inside/more.md")), "# More");
  assert.equal((await read("data/there.txt")).isError, true);
  const outsider = await read("../../../../outside.txt");
  assert.match(textOf(outsider), /the path leads outside the skill/);
  assert.equal((await read("a.md", "hidden")).isError, true);
});

withLinks.test("tools accept absolute paths in the skill and URIs of its files", async () => {
  using place = filesPlace();
  const linked = place.skill("elsewhere", "linked");
  place.file("elsewhere/linked/100%.md", "# A");
  place.link(linked, `${SKILLS}/linked`);
  using registry = await openSkills(place);
  const skills = join(place.path, SKILLS);
  const paths = [
    join(skills, "linked", "100%.md"),
    join(linked, "100%.md"),
    join(skills, "git", "..", "linked", "100%.md"),
    "skill://linked/100%25.md",
    "skill://LINKED//100%25.md#L3",
    "skill://global%3Alinked/100%25.md",
  ];
  const cases = [
    ["skilljack", "skill-resource", "skill", "path"],
    ["agentskills", "read_reference_file_op", "skill_name", "file_name"],
  ] as const;
  for (const [toolset, tool, skill, path] of cases) {
    const call = toolCaller(registry, { toolset });
    const read = (name: string, file: string) =>
      call(tool, { [skill]: name, [path]: file });
    for (const path of paths) {
      assert.equal(textOf(await read("linked", path)), "# A", path);
      const { content, isError } = await read("git", path);
      assert.match(JSON.stringify(content), /the skill serves no such file/);
      assert.ok(isError);
    }
    const main = join(skills, "linked", "SKILL.md");
    assert.equal(textOf(await read("linked", main)), skillMd("linked"));
  }
});

Deno.test("over HTTP, the tools that load a skill say in one line how to read its files", async () => {
  using place = new Place();
  place.skill(SKILLS, "git", skillMd("git"));
  using registry = await openSkills(place);
  const cases = [
    ["skill", "as resources, skill://git/<path>"],
    ["skilljack", "with the tool skill-resource"],
  ] as const;
  for (const [toolset, way] of cases) {
    const load = async (isRemote: boolean) => {
      const call = toolCaller(registry, { toolset, isRemote });
      return textOf(await call("skill", { name: "git" }));
    };
    const line =
      `The files of this skill are on the server and cannot run here: read them ${way}`;
    const lines = (await load(true)).split("\n");
    assert.ok(lines.includes(line), lines.join("\n"));
    assert.doesNotMatch(await load(false), /on the server/);
  }
});

Deno.test("--log-loads logs each skill whose SKILL.md a client gets", async () => {
  using place = filesPlace();
  const use = async (args: string[]) => {
    await using session = await Session.open(place, {
      args: ["--tools", "skilljack", ...args],
    });
    await session.load("git");
    await session.load("none");
    await session.call("skill-resource", { skill: "git", path: "SKILL.md" });
    await session.call("skill-resource", { skill: "git", path: "logo.png" });
    await session.client.getPrompt({ name: "hidden" });
    await session.client.readResource({ uri: "skill://git/SKILL.md" });
    await session.client.readResource({ uri: "skill://git/" });
    await session.client.readResource({ uri: "skill://git/logo.png" });
    return await session.end();
  };
  const lines = (await use(["--log-loads"])).map((line) =>
    line.replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/, "TIME")
  );
  assert.deepEqual(lines, [
    'skill-server: TIME "test" loaded the global skill "git" with a tool',
    'skill-server: TIME "test" loaded the global skill "git" with a tool',
    'skill-server: TIME "test" loaded the global skill "hidden" as a prompt',
    'skill-server: TIME "test" loaded the global skill "git" as a resource',
    'skill-server: TIME "test" loaded the global skill "git" as a resource',
  ]);
  assert.deepEqual(await use([]), []);
});

Deno.test("over HTTP, --log-loads logs whose token a client sent, but no token", async () => {
  using place = filesPlace();
  const tokens = { alice: "a".repeat(16), bob: "b".repeat(16) };
  await using server = await HttpServer.start(place, {
    args: ["--log-loads"],
    env: {
      SKILL_SERVER_TOKEN: Object.entries(tokens)
        .map(([name, token]) => `${name}:${token}`).join(),
    },
  });
  const takeLine = async (who: string) => {
    const end = `Z ${who}@127.0.0.1 loaded the global skill "git" with a tool`;
    const line = await server.stderr.take((line) => line.endsWith(end), end);
    for (const token of Object.values(tokens)) assert.ok(!line.includes(token));
  };
  const headers = { authorization: `Bearer ${tokens.alice}` };
  const client = await modernClient(server, { headers });
  await client.callTool(GIT_CALL);
  await client.close();
  await takeLine('"test" at alice');
  const legacy = message(1, "tools/call", GIT_CALL);
  const authorization = `Bearer ${tokens.bob}`;
  await (await server.fetch(legacy, { authorization })).text();
  await takeLine("an unnamed client at bob");
});
