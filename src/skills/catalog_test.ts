import assert from "node:assert/strict";
import { EMPTY_CATALOG } from "./catalog.ts";
import { type DecidedSkill, HiddenFolders } from "../scan/decide.ts";
import { readSkillText } from "./frontmatter.ts";
import { findResource, findSkill, qualifiedName, skillMdUri } from "./names.ts";
import type { SkillCatalog, SkillRoot, SkillScope } from "./types.ts";
import { nameSkills } from "../scan/name.ts";
import type { RootVisit, VisitedFolder } from "../scan/record.ts";

const ROOTS: Record<SkillScope, SkillRoot> = {
  project: { path: "/project", scope: "project", recursive: false },
  global: { path: "/mine", scope: "global", recursive: false },
};

let count = 0;

/** Describes a skill that was decided on. */
function decided(
  scope: SkillScope,
  name: string,
  rest: { fields?: string; state?: DecidedSkill["state"] } = {},
): DecidedSkill {
  const root = ROOTS[scope];
  const path = `${root.path}/${++count}`;
  const { fields = "", state = "on" } = rest;
  const text = `---\nname: ${
    JSON.stringify(name)
  }\ndescription: d\n${fields}---\n`;
  const listing: VisitedFolder = {
    path,
    realPath: path,
    root,
    isLink: false,
    parent: undefined,
  };
  return {
    realPath: path,
    read: {
      fileName: "SKILL.md",
      mainFolder: path,
      said: readSkillText(text),
      isRead: true,
      text,
      excerpt: "",
      modified: 0,
      fileVersion: "1",
      isSettled: true,
    },
    listings: [listing],
    scope,
    state,
  };
}

function catalogOf(
  skills: readonly DecidedSkill[],
  previous: SkillCatalog = EMPTY_CATALOG,
): SkillCatalog {
  const hidden = new HiddenFolders(skills, []);
  const decisions = { skills, hidden, problems: [], skipped: [] };
  const visits = Object.values(ROOTS).map((root): RootVisit => ({
    report: { root, scope: root.scope, status: "found", skills: 0 },
    folders: [],
    unread: [],
    failures: [],
  }));
  return nameSkills({ decisions, visits, problems: [], previous });
}

const NOT_FOR_MODELS = { fields: "disable-model-invocation: true\n" };

Deno.test("nameSkills() returns the previous catalog, or the previous skills, as far as nothing changed", () => {
  const skills = [decided("global", "a"), decided("global", "b")];
  const first = catalogOf(skills);
  assert.equal(catalogOf([...skills], first), first);
  const off = catalogOf([skills[0]!, { ...skills[1]!, state: "off" }], first);
  assert.equal(off.revision, 2);
  assert.equal(off.skills.get("a"), first.skills.get("a"));
  assert.deepEqual([...off.skills.keys()], ["a"]);
  assert.deepEqual(off.off.map(({ name }) => name), ["b"]);
  assert.deepEqual(first.roots.map(({ skills }) => skills), [0, 2]);
  assert.deepEqual(off.roots.map(({ skills }) => skills), [0, 1]);
});

Deno.test("nameSkills() names the first skill, but a project's takes no name that it cannot answer to", () => {
  const holderOf = (...skills: DecidedSkill[]) => {
    const { directory, prefix } = catalogOf(skills).skills.get("x")!;
    const number = skills.findIndex(({ realPath }) => realPath === directory);
    return [number, prefix];
  };
  const theirs = () => decided("project", "x");
  const mine = () => decided("global", "x");
  const hidden = (scope: SkillScope) => decided(scope, "x", NOT_FOR_MODELS);
  assert.deepEqual(holderOf(theirs(), mine()), [0, undefined]);
  assert.deepEqual(holderOf(mine(), theirs()), [0, undefined]);
  assert.deepEqual(holderOf(hidden("project"), mine()), [1, undefined]);
  assert.deepEqual(
    holderOf(hidden("project"), hidden("global")),
    [0, undefined],
  );
  assert.deepEqual(
    holderOf(hidden("project"), theirs(), mine()),
    [1, undefined],
  );
  assert.deepEqual(holderOf(hidden("global"), theirs()), [0, undefined]);
});

Deno.test("whoever does not hold a name has a qualified one, if it is the first of its scope", () => {
  const { shadowed, served } = catalogOf([
    decided("project", "x", NOT_FOR_MODELS),
    decided("project", "x", NOT_FOR_MODELS),
    decided("global", "x"),
    decided("global", "x"),
  ]);
  assert.deepEqual(
    shadowed.map(({ skill, by }) => [qualifiedName(skill), qualifiedName(by)]),
    [["project:x", "x"], ["x", "project:x"], ["x", "x"]],
  );
  assert.deepEqual([...served.keys()], ["x", "project:x"]);
});

Deno.test("findSkill() finds a skill by its name and its qualified name, however they are written", () => {
  const catalog = catalogOf([
    decided("project", "deploy"),
    decided("project", "R&amp;D"),
    decided("project", "C++ <new>"),
    decided("global", "git"),
    decided("global", "R&D"),
  ]);
  const find = (text: string) => {
    const skill = findSkill(text, catalog);
    return skill && `${skill.scope} ${skill.name}`;
  };
  assert.equal(find("deploy"), "project deploy");
  assert.equal(find("Project: DEPLOY "), "project deploy");
  assert.equal(find("GIT"), "global git");
  assert.equal(find("global:git"), "global git");
  assert.equal(find("c++ &lt;new&gt;"), "project C++ <new>");
  // These are one name, and the order of the roots decides.
  for (const name of ["R&D", "r&amp;d", "R&amp;amp;D", "\u2800R&D\u200b"]) {
    assert.equal(find(name), "project R&D", name);
    assert.equal(find(`global:${name}`), "global R&D", name);
  }
  assert.equal(find("global:deploy"), undefined);
  assert.equal(find("global:"), undefined);
});

Deno.test("a skill is found by its qualified name and URI, whatever blanks its name begins with", () => {
  const catalog = catalogOf([
    decided("project", "git"),
    decided("global", "\u2800git"),
  ]);
  const mine = catalog.shadowed[0]!.skill;
  assert.equal(findSkill("global:git", catalog), mine);
  assert.equal(findSkill("global:\u2800git", catalog), mine);
  assert.equal(findResource(skillMdUri(mine), catalog)?.skill, mine);
});
