import assert from "node:assert/strict";
import { scanSkillRoots, type SkillCatalog } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { basename, join } from "../fs/paths.ts";
import { skillMdUri } from "./names.ts";
import { lookUp, lookUpUri } from "./lookup.ts";

/** Scans the skills of a project and those of the user. */
async function scanBoth({ project, home }: Place): Promise<SkillCatalog> {
  const roots = [
    root(join(project, ".claude", "skills"), { scope: "project" }),
    root(join(home, ".claude", "skills")),
  ];
  const dirs = { workingDirectory: project, homeDirectory: home };
  return await scanSkillRoots(roots, dirs);
}

const SIGMA = "\u03a3-utils";

const PROJECT_NAMES = ["deploy", "git", "R&amp;D", "C++ <new>", SIGMA];

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
  const long = `skill://git/${"x".repeat(4_097)}`;
  assert.equal(lookUpUri(long, catalog), undefined);
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
