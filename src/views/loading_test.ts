import assert from "node:assert/strict";
import type { SkillRegistry } from "../../mod.ts";
import { Session } from "../../tests/testing/client.ts";
import {
  GIT_CALL,
  HttpServer,
  modernClient,
} from "../../tests/testing/http.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/place.ts";
import { openRegistry } from "../../tests/testing/registry.ts";
import { message } from "../../tests/testing/server.ts";
import { callFor, textOf, toolCaller } from "../../tests/testing/tools.ts";
import { join } from "../fs/paths.ts";
import { quote } from "../text.ts";
import type { ToolOptions } from "./options.ts";

const SKILLS = "home/.claude/skills";

/** Opens the skills in the home directory of a place. */
function openSkills({ path }: Place): Promise<SkillRegistry> {
  return openRegistry(join(path, SKILLS));
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
  const call = toolCaller(registry, { toolset: "skilljack" });
  const read = (path: string) => call("skill-resource", { skill: "git", path });
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
    /^Cannot return ".*": it takes 1[02]\d{5} bytes as JSON, and the limit is 1000000; open "(.*)" with another tool$/;
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

Deno.test("the length that a client keeps is in the unit that it counts", async () => {
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
