import assert from "node:assert/strict";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import config from "./deno.json" with { type: "json" };
import { join } from "./src/fs/paths.ts";
import { quote } from "./src/text.ts";
import { Session } from "./tests/testing/client.ts";
import { DEFAULT_FOLDERS, REPOSITORY } from "./tests/testing/environment.ts";
import { needs } from "./tests/testing/needs.ts";
import { Place, skillMd } from "./tests/testing/place.ts";
import { serverCommand, serverScript } from "./tests/testing/server.ts";

const withTerminal = needs("terminal");

Deno.test("server reports its name, version, and capabilities", async () => {
  using place = new Place();
  await using session = await Session.open(place);
  const { name, version } = session.client.getServerVersion()!;
  assert.deepEqual({ name, version }, {
    name: config.name,
    version: config.version,
  });
  assert.deepEqual(session.client.getServerCapabilities(), {
    tools: { listChanged: true },
    prompts: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    completions: {},
    extensions: { "io.modelcontextprotocol/skills": { directoryRead: true } },
  });
  assert.match(session.client.getInstructions()!, /the tool skill/);
});

Deno.test("skill_server.ts runs as the main module, too", async () => {
  using place = new Place();
  const main = join(REPOSITORY, "skill_server.ts");
  await using session = await Session.open(place, { main });
  assert.deepEqual(await session.names(), []);
});

Deno.test("server has exactly one tool, skill, in the wording of its contract", async () => {
  using place = new Place();
  place.skill("project/.agent/skills", "zebra");
  place.skill("home/.claude/skills", "git", skillMd("git", "Work with git"));
  await using session = await Session.open(place);
  const { tools: [tool, ...others] } = await session.client.listTools();
  assert.deepEqual(others, []);
  const { name, title, annotations, inputSchema, description } = tool!;
  assert.deepEqual({ name, title, annotations, inputSchema }, {
    name: "skill",
    title: "Load Skill",
    annotations: {
      title: "Load Skill",
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    },
    inputSchema: {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      properties: {
        name: {
          type: "string",
          minLength: 1,
          description: "Name of the skill to load (case-insensitive)",
        },
      },
      required: ["name"],
      additionalProperties: false,
    },
  });
  assert.equal(
    description,
    `Execute a skill within the main conversation

<skills_instructions>
When users ask you to perform tasks, check if any of the available skills below can help complete the task more effectively. Skills provide specialized capabilities and domain knowledge.

How to use skills:
- Invoke skills using this tool with the skill name only (no arguments)
- When you invoke a skill, you will see <command-message>The "{name}" skill is loading</command-message>
- The skill's prompt will expand and provide detailed instructions on how to complete the task
- Examples:
  - \`name: "pdf"\` - invoke the pdf skill
  - \`name: "xlsx"\` - invoke the xlsx skill
  - \`name: "ms-office-suite:pdf"\` - invoke using fully qualified name

Important:
- Only use skills listed in <available_skills> below
- Do not invoke a skill that is already running
- Do not use this tool for built-in CLI commands (like /help, /clear, etc.)
</skills_instructions>

<available_skills>
<skill>
<name>git</name>
<description>Work with git</description>
<location>global</location>
</skill>
<skill>
<name>zebra</name>
<description>About zebra</description>
<location>project</location>
</skill>
</available_skills>`,
  );
});

Deno.test("skill returns the exact text of a skill, whatever the case of its name", async () => {
  using place = new Place();
  // Placeholders of other programs stay.
  const body = "Run ${CLAUDE_SKILL_DIR}/ä.sh $ARGUMENTS\n";
  const text = `\ufeff---\r\nname: Café\r\ndescription: d\r\n---\r\n${body}`;
  const directory = place.skill("project/.claude/skills", "cafe", text);
  await using session = await Session.open(place);
  for (const name of ["Café", "café", "CAFE\u0301"]) {
    assert.deepEqual(await session.load(name), {
      text: `Loading: Café\nBase directory: ${directory}\n\n${text}`,
      isError: false,
    });
  }
});

/** Returns the sentence that names the default folders of a place. */
function namedDirs({ home }: Place): string {
  const dirs = DEFAULT_FOLDERS.map((dir) =>
    quote(dir.startsWith("~") ? join(home, dir.slice(2)) : dir.slice(2))
  );
  return `The server searches ${dirs.join(", ")}.`;
}

Deno.test("skill lists the available skills if it finds none of a name", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git", skillMd("git", "Git workflow"));
  place.skill("home/.claude/skills", "pdf", skillMd("pdf", "Fill forms"));
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  await using session = await Session.open(place);
  for (const name of ["nonexistent", "../../../etc/passwd", "git/notes.md"]) {
    assert.deepEqual(await session.load(name), {
      text: `Skill '${name}' not found.

${namedDirs(place)}

Available skills:
- git: Git workflow
- pdf: Fill forms

Use the exact skill name (case-insensitive) to load a skill.`,
      isError: true,
    });
  }
});

Deno.test("skill refuses an empty name and unknown arguments", async () => {
  using place = new Place();
  await using session = await Session.open(place);
  const cases: [input: Record<string, unknown>, message: string][] = [
    [{ name: "" }, "Skill name cannot be empty"],
    [{ name: "git", command: "git" }, 'there is no argument "command"'],
    [{ name: 7 }, 'the argument "name" must be a string'],
    [{}, 'the argument "name" is missing'],
  ];
  for (const [input, message] of cases) {
    const { content, isError } = await session.client.callTool({
      name: "skill",
      arguments: input,
    }) as CallToolResult;
    const text =
      `Cannot call "skill": ${message}; pass arguments such as {"name":"pdf"}`;
    assert.deepEqual([isError, content], [true, [{ type: "text", text }]]);
  }
});

Deno.test("skill prefers the folders in the order of the README", async () => {
  using place = new Place();
  const dirs = DEFAULT_FOLDERS
    .map((dir) => dir.replace(/^\./, "project").replace(/^~/, "home"));
  assert.equal(new Set(dirs).size, 4);
  for (const dir of dirs) place.skill(dir, "deploy");
  await using session = await Session.open(place);
  await using other = await Session.open(place, { cwd: place.dir("other") });
  const loads = async (loading: Session, dir: string) => {
    const { text } = await loading.load("deploy");
    const directory = join(place.path, dir, "deploy");
    assert.ok(text.includes(`\nBase directory: ${directory}\n`), text);
  };
  for (const [index, dir] of dirs.entries()) {
    await loads(session, dir);
    const own = dirs.slice(index).find((it) => it.startsWith("home"));
    if (own !== undefined) await loads(other, own);
    place.remove(`${dir}/deploy`);
  }
  assert.equal((await session.load("deploy")).isError, true);
});

Deno.test("server reports new skills and removed ones", async () => {
  using place = new Place();
  await using session = await Session.open(place);
  assert.deepEqual(await session.names(), []);
  const steps: [change: () => void, location: string][] = [
    [() => place.skill("home/.claude/skills", "deploy"), "global"],
    [() => place.skill("project/.agent/skills", "deploy"), "project"],
    [() => place.remove("project/.agent/skills/deploy"), "global"],
  ];
  for (const [change, location] of steps) {
    change();
    // The notification about the resources is the last.
    await session.listChanged("resources");
    const lists = session.notifications.takeAll();
    for (const list of ["tools", "prompts"]) {
      assert.ok(lists.includes(`notifications/${list}/list_changed`), list);
    }
    const description = await session.description();
    assert.ok(description.includes(`<location>${location}</location>`));
  }
});

Deno.test("a server without any skill says what to do", async () => {
  using place = new Place();
  place.dir("home/.claude/skills/empty");
  await using session = await Session.open(place);
  const advice =
    `There are no skills. Tell the user to put skills, which are folders with a file SKILL.md, into a folder that this server searches, or to choose the folder that holds them in its settings. ${
      namedDirs(place)
    }`;
  const list = `\n<available_skills>\n${advice}\n</available_skills>`;
  assert.ok((await session.description()).endsWith(list));
  assert.equal(
    (await session.load("git")).text,
    `Skill 'git' not found.

${advice}

Available skills:

Use the exact skill name (case-insensitive) to load a skill.`,
  );
  assert.deepEqual(await session.end(), []);
});

withTerminal.test("server in a terminal says what it waits for", async () => {
  using place = new Place();
  const [, options] = serverCommand(place);
  const child = new Deno.Command("script", {
    ...options,
    args: ["-qec", serverScript(place), "/dev/null"],
    stdin: "piped",
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let text = "";
  for await (const chunk of child.stdout.pipeThrough(new TextDecoderStream())) {
    text += chunk;
    if (text.includes("\n")) break;
  }
  // At another signal, `script` waits two seconds for the server.
  child.kill("SIGKILL");
  await child.stdin.abort();
  await child.status;
  assert.match(text, /^skill-server: This is an MCP server, .* add --help /);
});
