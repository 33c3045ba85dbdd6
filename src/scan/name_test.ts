import assert from "node:assert/strict";
import { STATES, strictest } from "../policy/states.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { readOf, visited, visitOf } from "../../tests/testing/scan.ts";
import { EMPTY_CATALOG } from "../skills/catalog.ts";
import { qualifiedName } from "../skills/names.ts";
import type { SkillCatalog, SkillRoot, SkillScope } from "../skills/types.ts";
import { type DecidedSkill, HiddenFolders } from "./decide.ts";
import { nameSkills } from "./name.ts";

const ROOTS: Record<SkillScope, SkillRoot> = {
  project: root("/project", { scope: "project" }),
  global: root("/mine"),
};

let count = 0;

/** Describes a skill that was decided on. */
function decided(
  scope: SkillScope,
  name: string,
  rest: { fields?: string; state?: DecidedSkill["state"] } = {},
): DecidedSkill {
  const path = `${ROOTS[scope].path}/${++count}`;
  const { fields = "", state = "on" } = rest;
  const read = readOf(skillMd(JSON.stringify(name), "d", fields), path);
  const byFlag = read.parsed.isHiddenFromModel ? "model" : "nobody";
  return {
    realPath: path,
    read,
    listings: [visited(ROOTS[scope], path)],
    scope,
    state,
    hiddenFrom: strictest(STATES[state].hiddenFrom, byFlag),
  };
}

function catalogOf(
  skills: readonly DecidedSkill[],
  previous: SkillCatalog = EMPTY_CATALOG,
  diagnostics: readonly Diagnostic[] = [],
): SkillCatalog {
  const hidden = new HiddenFolders(skills, []);
  const decisions = { skills, hidden, diagnostics: [], skipped: [] };
  const visits = Object.values(ROOTS).map((root) => visitOf(root));
  return nameSkills({ decisions, visits, diagnostics, previous });
}

const NOT_FOR_MODELS = { fields: "disable-model-invocation: true\n" };

Deno.test("nameSkills() returns the previous catalog, or the previous skills, as far as nothing changed", () => {
  const skills = [decided("global", "a"), decided("global", "b")];
  const first = catalogOf(skills);
  assert.equal(catalogOf([...skills], first), first);
  const hidden = { ...skills[1]!, hiddenFrom: "everyone" } as const;
  const off = catalogOf([skills[0]!, hidden], first);
  assert.equal(off.revision, 2);
  assert.equal(off.skills.get("a"), first.skills.get("a"));
  assert.deepEqual([...off.skills.keys()], ["a"]);
  assert.deepEqual(off.off.map(({ name }) => name), ["b"]);
  const removed = catalogOf([skills[0]!], first);
  assert.deepEqual([...removed.skills.keys()], ["a"]);
  assert.deepEqual(first.roots.map(({ skills }) => skills), [0, 2]);
  assert.deepEqual(off.roots.map(({ skills }) => skills), [0, 1]);
});

Deno.test("nameSkills() passes over only those of the project's skills that cannot answer, and none of the user's", () => {
  const holderOf = (...skills: DecidedSkill[]) => {
    const { directory, prefix } = catalogOf(skills).skills.get("x")!;
    const number = skills.findIndex(({ realPath }) => realPath === directory);
    return [number, prefix];
  };
  const theirs = () => decided("project", "x");
  const mine = () => decided("global", "x");
  const hidden = (scope: SkillScope) => decided(scope, "x", NOT_FOR_MODELS);
  assert.deepEqual(
    holderOf(hidden("project"), theirs(), mine()),
    [1, undefined],
  );
  assert.deepEqual(holderOf(hidden("global"), mine()), [0, undefined]);
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

Deno.test("nameSkills() passes over a skill that is off, and has no skill without valid frontmatter", () => {
  const off = decided("project", "x", { state: "off" });
  const nameless = decided("project", "");
  const mine = decided("global", "X");
  const { skills, shadowed, off: listed } = catalogOf([off, nameless, mine]);
  assert.deepEqual(
    Array.from(skills, ([key, { name }]) => [key, name]),
    [["x", "X"]],
  );
  assert.deepEqual(shadowed, []);
  assert.deepEqual(listed.map((skill) => skill.directory), [off.realPath]);
});

Deno.test("nameSkills() sorts the skills by the keys of their names, which differ in more than what cannot be seen", () => {
  const names = ["b", "A", "\u200bB", "constructor", "__proto__"];
  const { skills, shadowed } = catalogOf(
    names.map((name) => decided("global", name)),
  );
  const keys = ["__proto__", "a", "b", "constructor"];
  assert.deepEqual([...skills.keys()], keys);
  assert.deepEqual(shadowed.map(({ skill }) => skill.name), ["B"]);
});

Deno.test("nameSkills() keeps the skills if only diagnostics differ", () => {
  const skills = [decided("global", "a")];
  const first = catalogOf(skills);
  const diagnostic = {
    file: "a",
    rule: "yaml",
    reason: "r",
    fix: "h",
  } as const;
  const second = catalogOf(skills, first, [diagnostic]);
  assert.equal(second.skills, first.skills);
  assert.deepEqual([second.diagnostics, second.revision], [[diagnostic], 2]);
  assert.equal(catalogOf(skills, second, [diagnostic]), second);
});

Deno.test("nameSkills() creates a skill anew if it changed, or its name became a qualified one", () => {
  const rule = { state: "on" } as const;
  const skill = { ...decided("global", "a"), policyRule: rule };
  const first = catalogOf([skill]);
  const old = first.skills.get("a")!;
  assert.equal(catalogOf([{ ...skill }], first).skills.get("a"), old);
  const changes: Partial<DecidedSkill>[] = [
    { state: "manual" },
    { scope: "project" },
    { policyRule: { ...rule, scope: "global" } },
    { read: { ...skill.read, fileVersion: "2" } },
    { listings: [{ ...skill.listings[0]!, path: "/link" }] },
  ];
  for (const change of changes) {
    const { skills } = catalogOf([{ ...skill, ...change }], first);
    assert.notEqual(skills.get("a"), old, Object.keys(change).join());
  }
  const other = decided("project", "a");
  const { served } = catalogOf([other, skill], first);
  assert.equal(served.get("global:a")?.directory, old.directory);
  assert.equal(served.get("global:a")?.prefix, "global");
});
