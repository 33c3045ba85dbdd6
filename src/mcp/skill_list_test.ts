import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { STATE_NAMES } from "../policy/states.ts";
import type { Skill, SkillScope } from "../skills/types.ts";
import { byCodeUnits } from "../text.ts";
import {
  fitList,
  fitSkills,
  formatSkill,
  listByName,
  type ListedSkill,
  sortKeyOf,
} from "./skill_list.ts";

/** Creates listed skills, by default with descriptions of 300 characters. */
function listed(
  start: string,
  count: number,
  { length = 300, ...rest }: Partial<Skill> & { length?: number } = {},
): ListedSkill[] {
  return Array.from({ length: count }, (_, index) => {
    const name = `${start}${index}`;
    const description = "words and more ".repeat(100).slice(0, length);
    const skill = { name, scope: "global", state: "on", ...rest } as Skill;
    return { skill, name, description };
  });
}

/** Returns the different lengths of the descriptions in a list of the skills whose names begin so. */
function lengthsIn(list: string, start: string): number[] {
  const lines = list.split("\n")
    .filter((line) => line.startsWith(`- ${start}`));
  const lengths = lines.map((line) => line.split(": ")[1]?.length ?? 0);
  return [...new Set(lengths)];
}

Deno.test("sortKeyOf() orders skills of every state and scope as other lists do", () => {
  const skills = STATE_NAMES.flatMap((state) =>
    (["project", "global"] as const).flatMap((scope) =>
      listed("s", 1, { state, scope, description: "" })
    )
  ).map(({ skill }) => skill);
  const sorted = skills
    .toSorted((a, b) => byCodeUnits(sortKeyOf(a, ""), sortKeyOf(b, "")));
  assert.deepEqual(sorted, listByName(skills).map(({ skill }) => skill));
});

Deno.test("fitList() fills the room with descriptions of one length", () => {
  for (const count of [200, 300, 400, 800]) {
    const list = fitList(listed("s", count));
    assert.ok(list.length <= 36_000);
    assert.ok(list.length >= 0.95 * 36_000, `${count}: ${list.length}`);
    assert.equal(list.match(/^- /gm)!.length, count);
    assert.equal(lengthsIn(list, "s").length, 1);
  }
});

Deno.test("fitList() gives room to names, then to descriptions of pinned skills, then to others of at least 20 characters", () => {
  const skills = [...listed("pin", 2, { state: "pinned" }), ...listed("s", 50)];
  for (
    const [limit, pinned, others] of [
      [50_000, [300], [300]],
      [8_000, [300], [138]],
      [2_100, [300], [20]],
      [2_050, [300], [0]],
      [600, [105], [0]],
      [410, [0], [0]],
    ] as const
  ) {
    const list = fitList(skills, limit);
    assert.ok(list.length <= limit);
    assert.equal(list.match(/^- /gm)!.length, 52, `${limit}`);
    assert.doesNotMatch(list, /more: pass/);
    assert.deepEqual(lengthsIn(list, "pin"), pinned, `${limit}`);
    assert.deepEqual(lengthsIn(list, "s"), others, `${limit}`);
  }
  const more = fitList(skills, 300);
  assert.match(more, /\n- s0\n.*\n\(and \d+ more: pass a name/s);
  // A list that fits exactly is whole.
  const few = skills.slice(-10);
  const names = few.map(({ name }) => `\n- ${name}`).join("");
  const room = more.slice(more.lastIndexOf("\n")).length;
  assert.equal(fitList(few, names.length + room), names);
});

Deno.test("fitList() keeps the user's descriptions beside a project of 1,000 skills, and those of 20 skills of a project beside 300 of the user's", () => {
  const project = (count: number) =>
    listed("project", count, { scope: "project" });
  const clone = fitList([...listed("own", 10), ...project(1_000)]);
  assert.deepEqual(lengthsIn(clone, "own"), [300]);
  const few = fitList([...listed("own", 300), ...project(20)]);
  assert.deepEqual(lengthsIn(few, "project"), [300]);
  assert.ok(few.length >= 0.95 * 36_000);
  const alone = fitList(project(300));
  assert.ok(alone.length >= 0.95 * 36_000, `${alone.length}`);
});

/** Creates any skills of a scope, the pinned ones first. */
function anyOf(scope: SkillScope) {
  const length = fc.nat(200);
  const state = fc.constantFrom("on" as const, "pinned" as const);
  return fc.array(fc.record({ length, state }), { maxLength: 20 })
    .map((skills) =>
      skills.toSorted((a, b) => byCodeUnits(b.state, a.state))
        .flatMap((rest, index) =>
          listed(`${scope}${index}-`, 1, { scope, ...rest })
        )
    );
}

/** Returns how many skills of a group are listed, and the common lengths of their descriptions. */
function measure(group: ListedSkill[], fitted: readonly ListedSkill[]) {
  const names = fitted.map(({ name }) => name);
  assert.deepEqual(names, group.slice(0, names.length).map(({ name }) => name));
  const [pinned, others] = ["pinned", "on"].map((state) => {
    const pairs = group
      .map((whole, index) => [whole, fitted[index]?.description ?? ""] as const)
      .filter(([{ skill }]) => skill.state === state);
    const cut = pairs.filter(([whole, shown]) => whole.description !== shown);
    const [length = Infinity, ...more] = new Set(
      cut.map(([, shown]) => shown.length),
    );
    assert.deepEqual(more, []);
    assert.ok(length === 0 || length >= 20);
    assert.ok(pairs.every(([, shown]) => shown.length <= length));
    return length;
  }) as [number, number];
  assert.ok(pinned === Infinity || [0, Infinity].includes(others));
  return { names: names.length, pinned, others };
}

const LENGTHS = {
  text: (listed: ListedSkill) => formatSkill(listed).length,
  JSON: ({ name, description }: ListedSkill) =>
    JSON.stringify(JSON.stringify({ name, description })).length,
};

for (const [format, lengthOf] of Object.entries(LENGTHS)) {
  Deno.test(`fitSkills() fits any skills as ${format}: in order, a project's in a quarter while the user's are cut, and none shorter in more room`, () => {
    const fit = (own: ListedSkill[], project: ListedSkill[], limit: number) => {
      const fitted = fitSkills([...own, ...project], { limit, lengthOf });
      const needOf = (list: ListedSkill[]) =>
        list.reduce((sum, listed) => sum + lengthOf(listed), 0);
      assert.ok(needOf(fitted) <= limit);
      const { global = [], project: theirs = [] } = Object.groupBy(
        fitted,
        ({ skill }) => skill.scope,
      );
      assert.deepEqual(fitted, [...global, ...theirs]);
      const isWhole = needOf(global) === needOf(own);
      assert.ok(isWhole || needOf(theirs) <= limit / 4);
      return [measure(own, global), measure(project, theirs)]
        .flatMap((measured) => Object.values(measured));
    };
    const any = [anyOf("global"), anyOf("project"), fc.nat(5_000)] as const;
    fc.assert(
      fc.property(...any, (own, project, limit) => {
        const before = fit(own, project, limit);
        const after = fit(own, project, limit + 1);
        assert.ok(before.every((value, index) => value <= after[index]!));
      }),
      { numRuns: 500 },
    );
  });
}
