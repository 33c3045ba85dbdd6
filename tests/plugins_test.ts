// Names behind plugins: a skill in `<plugin>/skills/<name>` is also `<plugin>:<name>`.
import assert from "node:assert/strict";
import { type SkillPolicy, SkillRegistry } from "../mod.ts";
import { join, relative } from "../src/fs/paths.ts";
import { Session } from "./testing/client.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { root } from "./testing/registry.ts";
import { printedReport } from "./testing/report.ts";

/** Scans the user's plugins, and then those of a project, searched deep. */
async function openPlugins(
  place: Place,
  rules: SkillPolicy["rules"] = [],
): Promise<SkillRegistry> {
  const roots = ["mine", "project/deep"].map((dir) =>
    root(join(place.path, dir), { recursive: true })
  );
  const registry = new SkillRegistry(roots.toReversed(), {
    workingDirectory: place.project,
    policy: { rules },
    log: () => {},
  });
  await registry.refresh();
  return registry;
}

/** Returns the directory of the skill that each text loads. */
function foundBy(
  place: Place,
  registry: SkillRegistry,
  ...texts: string[]
): (string | undefined)[] {
  return texts.map((text) => {
    const directory = registry.find(text)?.directory;
    return directory && relative(place.path, directory).replaceAll("\\", "/");
  });
}

Deno.test("skills of one name in several plugins load by the names of their plugins", async () => {
  using place = new Place();
  place.skill("mine/a/skills", "pdf");
  place.skill("mine/b/skills", "pdf");
  place.skill("mine/b/x/b/skills", "pdf");
  using registry = await openPlugins(place);
  assert.deepEqual(
    foundBy(place, registry, "pdf", "a:pdf", "B:PDF", "mine:pdf"),
    // Of the same plugin, the first one answers.
    ["mine/a/skills/pdf", "mine/a/skills/pdf", "mine/b/skills/pdf", undefined],
  );
  const { served, shadowed } = registry.catalog;
  assert.deepEqual([...served.keys()], ["pdf", "b:pdf"]);
  assert.deepEqual(shadowed.map(({ skill }) => skill.prefix), ["b", undefined]);
});

Deno.test("a name comes before a plugin, and of several plugins, a global one comes first", async () => {
  using place = new Place();
  place.skill("project/deep/tools/skills", "pdf");
  using registry = await openPlugins(place);
  const theirs = "project/deep/tools/skills/pdf";
  assert.deepEqual(foundBy(place, registry, "tools:pdf"), [theirs]);
  place.skill("mine/tools/skills", "pdf");
  await registry.refresh();
  assert.deepEqual(
    foundBy(place, registry, "tools:pdf", "pdf"),
    ["mine/tools/skills/pdf", theirs],
  );
  place.skill("mine", "own", skillMd('"tools:pdf"', "Mine"));
  await registry.refresh();
  assert.deepEqual(foundBy(place, registry, "tools:pdf"), ["mine/own"]);
});

Deno.test("the last part of a name loads the only skill of the user's with that name", async () => {
  using place = new Place();
  place.skill("mine", "pdf");
  place.skill("project/deep", "docx");
  using registry = await openPlugins(place);
  assert.deepEqual(
    foundBy(place, registry, "superpowers:pdf", "a:b:PDF", "superpowers:docx"),
    ["mine/pdf", "mine/pdf", undefined],
  );
  assert.deepEqual(foundBy(place, registry, "project:pdf"), [undefined]);
  // A broken skill has the whole name.
  place.skill("mine/superpowers/skills", "pdf", "no frontmatter");
  await registry.refresh();
  assert.deepEqual(foundBy(place, registry, "superpowers:pdf"), [undefined]);
  place.remove("mine/superpowers");
  place.skill("mine/other", "pdf");
  await registry.refresh();
  assert.deepEqual(foundBy(place, registry, "superpowers:pdf"), [undefined]);
});

Deno.test("a skill that is off has the whole name, so that nothing else answers to it", async () => {
  using place = new Place();
  place.skill("mine", "pdf");
  place.skill("mine/superpowers/skills", "pdf", skillMd("pdf", "Off"));
  const dir = join(place.path, "mine", "superpowers");
  using registry = await openPlugins(place, [{ in: dir, state: "off" }]);
  assert.deepEqual(foundBy(place, registry, "superpowers:pdf"), [undefined]);
});

Deno.test("every view serves a skill by the name of its plugin", async () => {
  using place = new Place();
  place.skill("home/plugins/a/skills", "pdf", skillMd("pdf", "Of a"));
  place.skill("home/plugins/b/skills", "pdf", skillMd("pdf", "Of b"));
  place.skill("home/plugins/b/skills/pdf", "more");
  place.file("home/plugins/b/skills/pdf/notes.md", "Notes");
  place.skill("home/plugins/c/more", "pdf", skillMd("pdf", "Of none"));
  const args = ["--skill-dir", join(place.home, "plugins")];
  await using session = await Session.open(place, { args });
  const { client } = session;
  assert.match((await session.load("b:pdf")).text, /Of b/);
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  assert.ok(uris.includes("skill://b%3Apdf/SKILL.md"), uris.join(" "));
  const uri = "skill://b%3Apdf/notes.md";
  const { contents: [notes] } = await client.readResource({ uri });
  assert.deepEqual(notes, { uri, mimeType: "text/markdown", text: "Notes" });
  const prompt = await client.getPrompt({ name: "b:pdf" });
  assert.match(JSON.stringify(prompt), /Of b/);
  const { text } = await printedReport(place, "--list", ...args);
  assert.match(text, /b:pdf .* in b\/skills\/pdf; shadowed by /);
  assert.match(
    text,
    /c\/more\/pdf; shadowed by [^:]*: it is in no list, so change the name/,
  );
});
