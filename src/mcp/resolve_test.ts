import assert from "node:assert/strict";
import { scanSkillRoots, type SkillCatalog } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { basename, join } from "../fs/paths.ts";
import { skillMdUri } from "../skills/names.ts";
import { resolveName, resolveUri } from "./resolve.ts";

/** Scans the skills of a project and those of the user. */
async function scanBoth({ project, home }: Place): Promise<SkillCatalog> {
  const roots = [
    root(join(project, ".claude", "skills"), { scope: "project" }),
    root(join(home, ".claude", "skills")),
  ];
  const dirs = { workingDirectory: project, homeDirectory: home };
  return await scanSkillRoots(roots, dirs);
}

Deno.test("resolveName() finds a skill by its name and its qualified name, however they are written", async () => {
  using place = new Place();
  for (const name of ["deploy", "R&amp;D", "C++ <new>"]) {
    place.skill(
      "project/.claude/skills",
      encodeURIComponent(name),
      skillMd(name),
    );
  }
  for (const name of ["git", "R&D"]) {
    place.skill("home/.claude/skills", name, skillMd(name));
  }
  const catalog = await scanBoth(place);
  const find = (text: string) => {
    const skill = resolveName(text, catalog);
    return skill && `${skill.scope} ${skill.name}`;
  };
  assert.equal(find("deploy"), "project deploy");
  assert.equal(find("Project: DEPLOY "), "project deploy");
  assert.equal(find("GIT"), "global git");
  assert.equal(find("global:git"), "global git");
  assert.equal(find("c++ &lt;new&gt;"), "project C++ <new>");
  // These are one name, and the order of the roots decides.
  for (const name of ["R&D", "r&amp;d", "R&amp;amp;D", " R&D\u200b"]) {
    assert.equal(find(name), "project R&D", name);
    assert.equal(find(`global:${name}`), "global R&D", name);
  }
  assert.equal(find("global:deploy"), undefined);
  assert.equal(find("global:"), undefined);
});

Deno.test("a skill is found by its qualified name and URI, whatever blanks its name begins with", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "git", skillMd("\u200bgit"));
  const catalog = await scanBoth(place);
  const mine = catalog.shadowed[0]!.skill;
  assert.equal(resolveName("global:git", catalog), mine);
  assert.equal(resolveName("global:\u200bgit", catalog), mine);
  assert.equal(resolveUri(skillMdUri(mine), catalog)?.skill, mine);
  const long = `skill://git/${"x".repeat(4_097)}`;
  assert.equal(resolveUri(long, catalog), undefined);
});

Deno.test("resolveName() finds a skill by its name behind a scope, whatever its letters become in lowercase", async () => {
  using place = new Place();
  // In lowercase, a sigma is another letter at the end of a word, and so after a colon.
  const name = "\u03a3-utils";
  place.skill("project/.claude/skills", "s", skillMd(name));
  place.skill("home/.claude/skills", "s", skillMd(name));
  const catalog = await scanBoth(place);
  for (const scope of ["project", "global"]) {
    const found = [name, name.toLowerCase()].map((name) =>
      resolveName(`${scope}:${name}`, catalog)?.scope
    );
    assert.deepEqual(found, [scope, scope]);
  }
});

Deno.test("the first skill of a scope that the model may load has the name with the scope", async () => {
  using place = new Place();
  const hidden = "name: git\ndescription: d\ndisable-model-invocation: true";
  place.skill("project/.claude/skills", "a", `---\n${hidden}\n---\n`);
  place.skill("project/.claude/skills", "b", skillMd("git"));
  place.skill("home/.claude/skills", "c", skillMd("git"));
  const catalog = await scanBoth(place);
  const dirs = ["git", "project:git", "global:git"].map((name) =>
    basename(resolveName(name, catalog)!.directory)
  );
  assert.deepEqual(dirs, ["b", "b", "c"]);
});
