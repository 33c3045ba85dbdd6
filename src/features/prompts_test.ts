import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { filesPlace, Place, skillMd } from "../../tests/testing/place.ts";
import { metaOf, Wire } from "../../tests/testing/server.ts";
import { join } from "../fs/paths.ts";

const ANNOTATIONS = { audience: ["assistant"], priority: 1 };

Deno.test("prompts/list has the prompt skill before one for each skill that users load", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "skill", skillMd("skill", "About skills"));
  const text = skillMd("background", "d", "user-invocable: false\n");
  place.skill("home/.claude/skills", "background", text);
  const optionalArguments = [{
    name: "arguments",
    description: "What to use the skill for",
    required: false,
  }];
  for (const toolset of ["skill", "reference"]) {
    const args = ["--tools", toolset];
    await using session = await Session.open(place, { args });
    const { prompts } = await session.client.listPrompts();
    const names = prompts.map(({ name }) => name);
    assert.deepEqual(names, ["skill", "git", "hidden"]);
    const [skill, git] = prompts;
    assert.deepEqual(git, {
      name: "git",
      title: "git",
      description: "Work with git",
      ...(toolset === "skill" && { arguments: optionalArguments }),
    });
    assert.match(skill!.description!, /\n- git: Work with git\n- hidden: d\n/);
    const inputs = skill!.arguments!.map((it) => [it.name, it.required]);
    assert.deepEqual(inputs, [["name", true]]);
  }
});

Deno.test("a prompt's name has hyphens for white space, and its title is the real name", async () => {
  using place = new Place();
  const home = "home/.claude/skills";
  place.skill(home, "notes", skillMd("Release Notes", "Write the notes"));
  place.skill(home, "exact", skillMd("two-words", "Exact"));
  place.skill(home, "spaced", skillMd("two words", "Spaced"));
  // It has no prompt, but no other skill loads in its place.
  const hidden = "user-invocable: false\n";
  place.skill(home, "hidden", skillMd("draft-text", "Hidden", hidden));
  place.skill(home, "shown", skillMd("draft text", "Shown"));
  await using session = await Session.open(place);
  const { prompts } = await session.client.listPrompts();
  assert.deepEqual(
    prompts.slice(1).map(({ name, title }) => [name, title]),
    [
      ["Release-Notes", "Release Notes"],
      ["two-words", "two-words"],
    ],
  );
  const describe = async (name: string) =>
    (await session.client.getPrompt({ name })).description;
  assert.equal(await describe("Release-Notes"), "Write the notes");
  assert.equal(await describe("Release Notes"), "Write the notes");
  assert.equal(await describe("two-words"), "Exact");
  assert.equal(await describe("two words"), "Spaced");
  assert.equal(await describe("draft text"), "Shown");
  const load = (name: string) =>
    session.client.getPrompt({ name: "skill", arguments: { name } });
  assert.equal((await load("draft text")).description, "Shown");
  assert.equal((await load("Release-Notes")).description, "Write the notes");
  for (const get of [describe, load]) {
    await assert.rejects(get("draft-text"), /Unknown skill "draft-text"/);
  }
});

Deno.test("prompts/get returns the skill as one text, which ends with the arguments", async () => {
  using place = filesPlace();
  place.skill("home/.claude/skills", "skill", skillMd("skill"));
  await using session = await Session.open(place);
  const get = (name: string, args?: Record<string, string>) =>
    session.client.getPrompt({ name, arguments: args });
  // As the result of the tool.
  const { text: loaded } = await session.load("git");
  assert.match(loaded, /^Loading: git\nBase directory: .*git\n\n---\nname/);
  const input = { name: "GIT", arguments: "$& $1\nnow" };
  const cases = [
    ["git", undefined, ""],
    ["git", input, "\nARGUMENTS: $& $1\nnow"],
    ["skill", input, ""],
  ] as const;
  for (const [name, args, end] of cases) {
    const content = {
      type: "text",
      text: loaded + end,
      annotations: ANNOTATIONS,
    };
    assert.deepEqual(await get(name, args), {
      description: "Work with git",
      messages: [{ role: "user", content }],
    });
  }
  const { description } = await get("skill", { name: "skill" });
  assert.equal(description, "About skill");
});

Deno.test("a skill's own prompt has the argument that brings every word to the model", async () => {
  using place = filesPlace();
  const cases = [
    ["some client", [false], true],
    ["claude-code", [], false],
    ["gemini-cli-mcp-client-skills", [true], true],
  ] as const;
  for (const [client, required, isPassed] of cases) {
    await using wire = new Wire(place);
    const _meta = metaOf(client);
    const { result: { prompts } } = await wire.ask(1, "prompts/list", {
      _meta,
    });
    const [skill, git] = prompts;
    assert.equal(skill.arguments[0].required, true);
    const declared: { required: boolean }[] = git.arguments ?? [];
    assert.deepEqual(declared.map((it) => it.required), required, client);
    const params = { name: "git", arguments: { arguments: "the" }, _meta };
    const { result } = await wire.ask(2, "prompts/get", params);
    const { text } = result.messages[0].content;
    assert.equal(text.endsWith("\nARGUMENTS: the"), isPassed, client);
  }
});

Deno.test("prompts/get of skilljack returns a resource, or text to clients that drop it", async () => {
  using place = filesPlace();
  const contentFor = async (name: string, ...options: string[]) => {
    const args = ["--tools", "skilljack", ...options];
    await using wire = new Wire(place, { args });
    // Only the prompts of the toolset skill have arguments.
    const input = { arguments: "now" };
    const params = { name: "git", arguments: input, _meta: metaOf(name) };
    const { result } = await wire.ask(1, "prompts/get", params);
    return result.messages[0].content;
  };
  const text = skillMd("git", "Work with git");
  assert.deepEqual(await contentFor("some client"), {
    type: "resource",
    resource: {
      uri: "skill://git/SKILL.md",
      mimeType: "text/markdown",
      text,
    },
    annotations: ANNOTATIONS,
  });
  const gemini = "gemini-cli-mcp-client-skills";
  const contracted = await contentFor(gemini, "--profile", "default");
  assert.equal(contracted.type, "resource");
  const directory = join(place.home, ".claude", "skills", "git");
  assert.deepEqual(await contentFor(gemini), {
    type: "text",
    text: `Loading: git\nBase directory: ${directory}\n\n${text}`,
    annotations: ANNOTATIONS,
  });
});

Deno.test("prompts/get says that the prompt skill needs a name", async () => {
  using place = filesPlace();
  await using session = await Session.open(place);
  for (const input of [undefined, { name: "" }]) {
    const params = { name: "skill", arguments: input };
    await assert.rejects(session.client.getPrompt(params), {
      message: /^MCP error -32602: Missing argument "name": pass the name/,
    });
  }
});

Deno.test("prompts/get offers at most five similar names for an unknown one", async () => {
  using place = filesPlace();
  const unlike = /^MCP error -32602: Unknown skill "none": choose another name/;
  const near = /: Unknown skill "deplo": did you mean "deploy"\?$/;
  for (let index = 0; index < 6; index++) {
    place.skill("home/.claude/skills", `pdf-${index}`);
  }
  place.skill("project/.claude/skills", "deploy");
  place.skill("project/.claude/skills", "x", skillMd("deploy: do this now"));
  await using session = await Session.open(place);
  const cases = [
    [{ name: "none" }, unlike],
    [{ name: "skill", arguments: { name: "none" } }, unlike],
    [{ name: "deplo" }, near],
    [{ name: "skill", arguments: { name: "deplo" } }, near],
    [{ name: "pdf-" }, /did you mean (?:"pdf-\d"(?: or )?){5}\?$/],
  ] as const;
  for (const [params, expected] of cases) {
    await assert.rejects(session.client.getPrompt(params), {
      code: -32602,
      message: expected,
    });
  }
});

Deno.test("the prompt skill says why there are no skills", async () => {
  using place = new Place();
  const policy = place.file("home/policy.yaml", "rules: 7\n");
  const cases = [
    [
      [],
      /there are no skills; put some into a folder that this server searches/,
    ],
    [
      ["--policy", policy],
      /Unknown skill "pdf": No skills are served, because the policy is not/,
    ],
  ] as [string[], RegExp][];
  for (const [args, expected] of cases) {
    await using session = await Session.open(place, { args });
    const params = { name: "skill", arguments: { name: "pdf" } };
    await assert.rejects(session.client.getPrompt(params), expected);
  }
});
