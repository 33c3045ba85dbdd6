import assert from "node:assert/strict";
import { Client as ModernClient } from "npm:@modelcontextprotocol/client@^2";
import { SkillsClient } from "npm:@modelcontextprotocol/client@^2/ext/skills";
import { join } from "jsr:@std/path@^1";
import { SkillRegistry } from "../../mod.ts";
import {
  clientTransport,
  listSkills,
  Session,
  toolsets,
  verify,
} from "../../tests/testing/client.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { Wire } from "../../tests/testing/server.ts";
import { assertLinearTime, within } from "../../tests/testing/waiting.ts";
import { qualifiedName, SkillVariants, withPrefixes } from "./names.ts";
import { skillMdUri } from "./uri.ts";
import type { Skill, SkillRoot } from "./types.ts";

/** Scans folders and lists the qualified names of the shadowed skills. */
async function qualifiedNames(
  place: Place,
  roots: readonly SkillRoot[],
): Promise<string[]> {
  using registry = new SkillRegistry(roots, {
    log: () => {},
    workingDirectory: place.project,
  });
  const { shadowed } = await registry.refresh();
  for (const { skill } of shadowed) {
    const name = qualifiedName(skill);
    assert.equal(registry.find(name), skill);
    assert.equal(registry.find(name.toUpperCase()), skill);
    const uri = `skill://${encodeURIComponent(skill.prefix!)}/${
      encodeURIComponent(skill.name)
    }`;
    for (
      const [end, path] of [["", undefined], ["/", ""], ["/a/b.md", "a/b.md"]]
    ) {
      assert.deepEqual(registry.findResource(uri + end), { skill, path });
    }
  }
  return shadowed.map(({ skill }) => qualifiedName(skill));
}

Deno.test("a shadowed skill gets a unique name from its scope, its root's folder, or a number", async () => {
  using place = new Place();
  const roots = [
    root(join(place.project, ".agent", "skills"), { scope: "project" }),
    root(join(place.home, ".agent", "skills")),
    root(join(place.project, ".claude", "skills"), { scope: "project" }),
    root(join(place.home, ".claude", "skills")),
    root(join(place.path, "extra")),
  ];
  for (const { path } of roots) {
    place.skill(path.slice(place.path.length), "git");
    place.skill(path.slice(place.path.length), "pdf");
  }
  place.skill("extra", "other", skillMd("Git"));
  place.skill("extra", "alone");
  assert.deepEqual(await qualifiedNames(place, roots), [
    "global:git",
    "global:pdf",
    ".claude:git",
    ".claude:pdf",
    ".claude-2:git",
    ".claude-2:pdf",
    "extra:git",
    "extra-2:Git",
    "extra:pdf",
  ]);
});

Deno.test("a prefix is never ambiguous or the name of a skill", async () => {
  using place = new Place();
  for (const name of ["git", "Global", "two", "two-2", "b:git"]) {
    // Windows has no colons in file names.
    place.skill("one", name.replace(":", "-"), skillMd(name));
  }
  place.skill("two", "git");
  place.skill("three/project", "git");
  place.skill("three/b", "git");
  const roots = ["one", "two", "three/project", "three/b"]
    .map((path) => root(join(place.path, path)));
  assert.deepEqual(await qualifiedNames(place, roots), [
    "two-3:git",
    "project-2:git",
    "b-2:git",
  ]);
  using registry = new SkillRegistry(roots, { log: () => {} });
  await registry.refresh();
  // A plain name with a colon takes precedence, and each file has one URI.
  assert.equal(registry.find("b:git")!.name, "b:git");
  assert.equal(registry.findResource("skill://b/git/SKILL.md"), undefined);
  assert.equal(registry.findResource("skill://b-2%3Agit/SKILL.md"), undefined);
  // A scope always means itself, whatever skills are named.
  const inScope = registry.findResource("skill://global/git/SKILL.md");
  assert.equal(inScope!.skill, registry.find("git"));
  assert.equal(
    skillMdUri(registry.find("Global")!),
    "skill://global/Global/SKILL.md",
  );
  assert.equal(
    registry.findResource("skill://b%3Agit/a.md")!.skill.name,
    "b:git",
  );
});

Deno.test("SkillRegistry.find() accepts the scope as a prefix of the first skill's name", async () => {
  using place = new Place();
  place.skill("project", "git");
  place.skill("home", "git");
  using registry = new SkillRegistry([
    root(place.project, { scope: "project" }),
    root(place.home),
  ], { log: () => {}, workingDirectory: place.project });
  await registry.refresh();
  const [first, second] = ["project", "home"].map((folder) =>
    join(place.path, folder, "git")
  );
  for (
    const [name, directory] of [
      ["git", first],
      ["project:git", first],
      ["Project:GIT", first],
      ["global:git", second],
      ["global: git", second],
      ["other:git", undefined],
      ["project:", undefined],
      ["project:none", undefined],
    ]
  ) {
    assert.equal(registry.find(name!)?.directory, directory, name);
  }
  const uri = "skill://global/%20git";
  assert.equal(registry.findResource(uri)?.skill.directory, second);
});

Deno.test("withPrefixes() takes linear time for skills with the same name", async () => {
  const folder = root("/skills");
  const skill = (index: number) => ({
    name: "git",
    directory: `/skills/${index}`,
    root: folder,
    scope: folder.scope,
  } as Skill);
  const by = skill(0);
  await assertLinearTime(
    (length) => {
      const shadowed = Array.from(
        { length },
        (_, index) => ({ key: "git", skill: skill(index), by }),
      );
      const skills = new Map([["git", by]]);
      const names = withPrefixes(skills, {
        shadowed,
        variants: new SkillVariants(),
      }).map(({ skill }) => qualifiedName(skill));
      assert.equal(new Set(names).size, length);
    },
    { length: 20_000, what: "skills with the same name" },
  );
});

/** Creates a project and a home folder with skills of the same names. */
function shadowedPlace(): Place {
  const place = new Place();
  place.skill("project/.agent/skills", "git", skillMd("git", "The project's"));
  place.skill("home/.claude/skills", "git", skillMd("git", "My own"));
  place.file("home/.claude/skills/git/scripts/a b.md", "# Mine");
  place.skill("home/.agent/skills", "git", skillMd("git", "An older one"));
  place.skill("home/.claude/skills", "pdf");
  return place;
}

Deno.test("tools and prompts of every toolset accept qualified names, and lists contain only plain names", async () => {
  using place = shadowedPlace();
  for (const [toolset, tools] of Object.entries(toolsets)) {
    await using session = await Session.open(place, {
      args: ["--tools", toolset],
    });
    const load = tools.find((tool) =>
      ["skill", "read_skill", "load_skill_op"].includes(tool)
    )!;
    const key = load === "load_skill_op" ? "skill_name" : "name";
    for (
      const [name, description] of [["global:git", "An older one"], [
        ".claude:GIT",
        "My own",
      ], ["project:git", "The project's"]] as const
    ) {
      const { text, isError } = await session.text(load, { [key]: name });
      assert.ok(!isError && text.includes(description), `${toolset}: ${name}`);
      const { messages } = await session.client.getPrompt({ name });
      assert.ok(JSON.stringify(messages).includes(description));
      const prompt = await session.client.getPrompt({
        name: "skill",
        arguments: { name },
      });
      assert.ok(JSON.stringify(prompt.messages).includes(description));
    }
    const lists = JSON.stringify([
      await session.client.listTools(),
      await session.client.listPrompts(),
      session.client.getInstructions(),
    ]);
    assert.ok(!lists.includes(":git") && !lists.includes("My own"));
    if (toolset === "skilljack") {
      const { text } = await session.text("skill-resource", {
        skill: ".claude:git",
        path: "scripts/a b.md",
      });
      assert.equal(text, "# Mine");
    }
  }
});

Deno.test("completion/complete completes the prefixes of shadowed skills and the paths after them", async () => {
  using place = shadowedPlace();
  await using session = await Session.open(place);
  const complete = async (name: string, value: string, context?: string) => {
    const { completion } = await session.client.complete({
      ref: { type: "ref/resource", uri: "skill://{name}/{+path}" },
      argument: { name, value },
      context: { arguments: context === undefined ? {} : { name: context } },
    });
    return completion.values;
  };
  assert.deepEqual(await complete("name", ""), [
    "git",
    "pdf",
    "global",
    ".claude",
  ]);
  assert.deepEqual(await complete("path", "", ".claude"), ["git/SKILL.md"]);
  assert.deepEqual(await complete("path", "git/", ".claude"), [
    "git/SKILL.md",
    "git/scripts/a b.md",
  ]);
  assert.deepEqual(await complete("path", "", "global"), ["git/SKILL.md"]);
  const { completion } = await session.client.complete({
    ref: { type: "ref/prompt", name: "skill" },
    argument: { name: "name", value: "" },
  });
  assert.deepEqual(completion.values, [
    "git",
    "pdf",
    "global:git",
    ".claude:git",
  ]);
});

Deno.test("a shadowed skill is a separate resource with files, digests, directories, and subscriptions", async () => {
  using place = shadowedPlace();
  await using session = await Session.open(place);
  const { client } = session;
  const { resources } = await client.listResources();
  assert.deepEqual(resources.map(({ uri, name }) => [uri, name]), [
    ["skill://.claude/git/", ".claude:git/"],
    ["skill://.claude/git/SKILL.md", ".claude:git"],
    ["skill://git/", "git/"],
    ["skill://git/SKILL.md", "git"],
    ["skill://global/git/", "global:git/"],
    ["skill://global/git/SKILL.md", "global:git"],
    ["skill://pdf/", "pdf/"],
    ["skill://pdf/SKILL.md", "pdf"],
  ]);
  const uri = "skill://.claude/git/scripts/a%20b.md";
  for (const wanted of [uri, "skill://.claude/git/"]) {
    const { contents } = await client.readResource({ uri: wanted });
    assert.deepEqual(contents, [{
      uri,
      mimeType: "text/markdown",
      text: "# Mine",
    }]);
  }
  for (
    const wanted of ["skill://.claude/git", "skill://.claude/git/SKILL.md"]
  ) {
    const { contents } = await client.readResource({ uri: wanted });
    assert.equal(
      (contents[0] as { text: string }).text,
      skillMd("git", "My own"),
    );
  }
  await client.subscribeResource({ uri });
  await client.subscribeResource({ uri: "skill://git/SKILL.md" });
  place.file("home/.claude/skills/git/scripts/a b.md", "# Changed");
  await session.updated(uri);
  // When the first skill is removed, the next one gets the plain name, so the
  // plain URI refers to another file.
  place.remove("project/.agent/skills/git");
  await session.listChanged("resources");
  await session.updated("skill://git/SKILL.md");
  const { contents } = await client.readResource({
    uri: "skill://git/SKILL.md",
  });
  assert.equal(
    (contents[0] as { text: string }).text,
    skillMd("git", "An older one"),
  );
});

Deno.test("hosts can verify every shadowed skill at its qualified URI", async () => {
  using place = shadowedPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const entries = await listSkills(wire);
  assert.deepEqual(entries.map(({ uri }) => uri), [
    "skill://.claude/git/SKILL.md",
    "skill://git/SKILL.md",
    "skill://global/git/SKILL.md",
    "skill://pdf/SKILL.md",
  ]);
  for (const entry of entries) await verify(wire, entry);
});

Deno.test("the official SkillsClient lists, gets, reads, and verifies shadowed skills", async () => {
  using place = shadowedPlace();
  await using wire = new Wire(place);
  const client = new ModernClient({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  type ModernTransport = Parameters<typeof client.connect>[0];
  const transport = clientTransport(wire) as ModernTransport;
  await within(client.connect(transport), "the server to start");
  const skills = new SkillsClient(client);
  const listed = await skills.list();
  assert.equal(listed.skills.length, 4);
  for (const entry of listed.skills) {
    assert.deepEqual((await skills.get(entry.uri)).skill, entry);
    assert.ok(entry.resources !== "dynamic");
    for (const { uri } of entry.resources) {
      assert.equal((await skills.read(entry, uri)).verified, true);
    }
  }
  await client.close();
});
