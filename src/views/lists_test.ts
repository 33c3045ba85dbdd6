import assert from "node:assert/strict";
import { EMPTY_CATALOG } from "../skills/catalog.ts";
import type { Skill } from "../skills/types.ts";
import { DEFAULT_PROFILE } from "./clients.ts";
import type { SkillEntry } from "./entries.ts";
import {
  fitEntries,
  fitList,
  formatAvailableSkills,
  formatLine,
} from "./lists.ts";

/** Creates listed skills, by default with descriptions of 300 characters. */
function listed(
  start: string,
  count: number,
  { length = 300, ...rest }: Partial<Skill> & { length?: number } = {},
): SkillEntry[] {
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

Deno.test("fitList() gives room to names, then to pinned skills, then to the others", () => {
  const skills = [...listed("pin", 2, { state: "pinned" }), ...listed("s", 50)];
  const cases = [
    [50_000, [300], [300]],
    [8_000, [300], [138]],
    [2_100, [300], [20]],
    [2_050, [300], [0]],
    [600, [105], [0]],
    [410, [0], [0]],
  ] as const;
  for (const [limit, pinned, others] of cases) {
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

Deno.test("fitList() gives each scope half of the room, or all that the other leaves", () => {
  const ofProject = (count: number) =>
    listed("project", count, { scope: "project" });
  const cases = [
    // Both need more than half.
    [300, 200, { project: [48], own: [75] }],
    // One needs less, and the other gets the rest.
    [300, 10, { project: [94], own: [300] }],
    [10, 300, { project: [300], own: [98] }],
  ] as const;
  for (const [project, own, expected] of cases) {
    const list = fitList([...ofProject(project), ...listed("own", own)]);
    const lengths = {
      project: lengthsIn(list, "project"),
      own: lengthsIn(list, "own"),
    };
    assert.deepEqual(lengths, expected);
  }
});

Deno.test("fitList() puts global skills first if it cuts anything", () => {
  const project = listed("project", 300, { scope: "project" });
  const own = listed("own", 10);
  assert.match(fitList([...project, ...own]), /^\n- own0: /);
  const few = [...project.slice(0, 2), ...own];
  assert.equal(fitList(few), few.map(formatLine).join(""));
  // Where not even the names fit, they take no room from the user's descriptions.
  const names = fitList([...project, ...own], 3_500);
  assert.deepEqual(lengthsIn(names, "own"), [300]);
  assert.match(names, /\n- project\d+\n/);
  assert.match(fitList([...project, ...own], 150), /^\n- own0\n- own1\n/);
});

Deno.test("fitEntries() leaves the room of short descriptions to the others", () => {
  const entries = [...listed("short", 5, { length: 30 }), ...listed("s", 5)];
  const lengthOf = (entry: SkillEntry) => formatLine(entry).length;
  const lengthOfName = ({ name }: SkillEntry) => `\n- ${name}`.length;
  const fitting = fitEntries(entries, 1_000, lengthOfName);
  const lengths = fitting.map(({ description }) => description.length);
  assert.deepEqual(new Set(lengths).size, 2);
  assert.equal(Math.min(...lengths), 30);
  const total = fitting.reduce((sum, entry) => sum + lengthOf(entry), 0);
  assert.ok(total <= 1_000 && total > 990, `${total}`);
});

Deno.test("formatAvailableSkills() has no element for a missing description", () => {
  const [entry] = listed("git", 1, {
    state: "name-only",
    hiddenFrom: "nobody",
  });
  const { name, skill } = entry!;
  const described = { ...skill, description: "d" };
  const catalog = { ...EMPTY_CATALOG, skills: new Map([[name, described]]) };
  const view = {
    catalog,
    options: { toolset: "skill" },
    profile: DEFAULT_PROFILE,
  } as const;
  assert.equal(
    formatAvailableSkills(view, () => "global"),
    "<available_skills>\n<skill>\n<name>git0</name>\n<location>global</location>\n</skill>\n</available_skills>",
  );
});
