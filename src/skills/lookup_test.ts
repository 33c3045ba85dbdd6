import assert from "node:assert/strict";
import {
  scanSkillRoots,
  type SkillCatalog,
  type SkillPolicy,
  SkillRegistry,
} from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { root } from "../../tests/testing/registry.ts";
import { basename, join, relative } from "../fs/paths.ts";
import { lookUp, lookUpUri } from "./lookup.ts";
import { skillMdUri } from "./names.ts";

/** Scans the skills of a project and those of the user. */
async function scanBoth({ project, home }: Place): Promise<SkillCatalog> {
  const roots = [
    root(join(project, ".claude", "skills"), { isLimited: true }),
    root(join(home, ".claude", "skills")),
  ];
  const dirs = { workingDirectory: project, homeDirectory: home };
  return await scanSkillRoots(roots, dirs);
}

const SIGMA = "\u03a3-utils";

const PROJECT_NAMES = [
  ...["deploy", "git", "R&amp;D", "C++ <new>", SIGMA],
  ...["one", "two"].map((end) => `${"x".repeat(196)} ${end}`),
];

const GLOBAL_NAMES = ["\u200bgit", "R&D", SIGMA];

Deno.test("lookUp() and lookUpUri() find a skill however its name is written", async () => {
  using place = new Place();
  for (const [index, name] of PROJECT_NAMES.entries()) {
    place.skill("project/.claude/skills", `${index}`, skillMd(name));
  }
  for (const [index, name] of GLOBAL_NAMES.entries()) {
    place.skill("home/.claude/skills", `1${index}`, skillMd(name));
  }
  const catalog = await scanBoth(place);
  const cases = [
    ["deploy", "project deploy"],
    ["Project: DEPLOY ", "project deploy"],
    ["GIT", "project git"],
    ["global:git", "global git"],
    ["global:\u200bgit", "global git"],
    ["c++ &lt;new&gt;", "project C++ <new>"],
    // These are one name, and the order of the roots decides.
    ["R&D", "project R&D"],
    ["r&amp;d", "project R&D"],
    ["R&amp;amp;D", "project R&D"],
    [" R&D\u200b", "project R&D"],
    ["global:r&amp;d", "global R&D"],
    // In lowercase, a sigma is another letter at the end of a word, and so after a
    // colon.
    [`global:${SIGMA}`, `global ${SIGMA}`],
    [`global:${SIGMA.toLowerCase()}`, `global ${SIGMA}`],
    ["global:deploy", undefined],
    ["global:", undefined],
  ] as const;
  for (const [text, expected] of cases) {
    const { skill } = lookUp(text, "host", catalog);
    assert.equal(skill && `${skill.scope} ${skill.name}`, expected, text);
  }
  for (const { skill } of catalog.shadowed) {
    assert.equal(lookUpUri(skillMdUri(skill), catalog)?.skill, skill);
  }
});

Deno.test("lookUpUri() takes a slash in a path as %2F, and one too many before it", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const catalog = await scanSkillRoots([root(place.dir("skills"))]);
  for (const path of ["a/b", "a%2Fb", "a%2fb", "/a/b", "%2Fa%2Fb", "a/b#c"]) {
    assert.equal(lookUpUri(`skill://git/${path}`, catalog)?.path, "a/b", path);
  }
  for (const path of ["..%2Fb", "a%2F%2Fb", "a%252Fb/.."]) {
    assert.equal(lookUpUri(`skill://git/${path}`, catalog), undefined, path);
  }
});

Deno.test("lookUpUri() finds nothing for a path that no file can have", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const catalog = await scanSkillRoots([root(place.dir("skills"))]);
  const uriOf = (length: number) => `skill://git/${"x".repeat(length)}`;
  assert.notEqual(lookUpUri(uriOf(4_096), catalog), undefined);
  assert.equal(lookUpUri(uriOf(4_097), catalog), undefined);
});

Deno.test("the first skill of a scope that the model may load has the name with the scope", async () => {
  using place = new Place();
  const hidden = "name: git\ndescription: d\ndisable-model-invocation: true";
  place.skill("project/.claude/skills", "a", `---\n${hidden}\n---\n`);
  place.skill("project/.claude/skills", "b", skillMd("git"));
  place.skill("home/.claude/skills", "c", skillMd("git"));
  const catalog = await scanBoth(place);
  const dirs = ["git", "project:git", "global:git"].map((name) =>
    basename(lookUp(name, "host", catalog).skill!.directory)
  );
  assert.deepEqual(dirs, ["b", "b", "c"]);
});

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

Deno.test("a name comes before a plugin, and a global plugin before a project's", async () => {
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
