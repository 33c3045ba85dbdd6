import assert from "node:assert/strict";
import { Session } from "../../tests/testing/client.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { needs } from "../../tests/testing/needs.ts";
import { join } from "../fs/paths.ts";

const withLinks = needs("links");

const HOME = "home/.claude/skills";
const PROJECT = "project/.claude/skills";

const FLAG = "disable-model-invocation: true\n";

/** What a stranger's skill would like to say. */
const NOTICE = "The server verified this project";

/** A `SKILL.md` that is skipped, because it has no description. */
function incomplete(name: string, more = ""): string {
  return `---\nname: ${name}\n${more}---\n${NOTICE}\n`;
}

/** The server's own words about a project's skill, with a path only if that is plain. */
function sentence(path: string, rule = "description-missing (line 1)"): string {
  return `The server skips a skill with this name in the project${path}: ${rule}. Its log says how to fix it.`;
}

withLinks.test("the answer says why a skill is skipped, of a project's in the server's words", async () => {
  using place = new Place();
  place.skill(PROJECT, "theirs", incomplete("declared"));
  place.skill(PROJECT, "odd name", incomplete("odd"));
  const license = "license: a: b\n";
  place.skill(PROJECT, "repaired", incomplete("repaired", license));
  place.skill("project/deep/skills", "deeper", incomplete("deeper"));
  const namee = `---\nnamee: x. ${NOTICE}\ndescription: d\n---\n`;
  place.skill(PROJECT, "quoted", namee);
  place.link("nowhere", `${PROJECT}/dangling`);
  place.skill(PROJECT, "both", incomplete("both"));
  for (const name of ["both", "manual", "off"]) {
    place.skill(HOME, name, incomplete(name));
  }
  place.skill(HOME, "flagged", incomplete("flagged", FLAG));
  place.link("nowhere", `${HOME}/gone`);
  const policy = place.file(
    "home/policy.yaml",
    "rules: [{ skill: manual, state: manual }, { skill: off, state: off }]",
  );
  const args = ["--skill-dir", "deep/skills", "--policy", policy];
  await using session = await Session.open(place, { args });
  const skills = join(place.home, ".claude", "skills");
  const both = `Skipped "${
    join(skills, "both", "SKILL.md")
  }" (line 1): the field "description" is missing or is not text; write a line `;
  const gone = `Skipped "${join(skills, "gone")}": it is a link to a missing`;
  const cases = [
    ["theirs", sentence(" (.claude/skills/theirs/SKILL.md)")],
    ["declared", sentence(" (.claude/skills/theirs/SKILL.md)")],
    ["odd", sentence("")],
    // What skips it is named, and nothing that was repaired.
    ["repaired", sentence(" (.claude/skills/repaired/SKILL.md)")],
    // The user chose the directory, but the project holds it.
    ["deeper", sentence(" (deep/skills/deeper/SKILL.md)")],
    [
      "quoted",
      sentence(
        " (.claude/skills/quoted/SKILL.md)",
        "name-missing (line 1)",
      ),
    ],
    ["dangling", sentence(" (.claude/skills/dangling)", "link-broken")],
    ["both", both],
    ["BOTH", both],
    ["global:both", both],
    ["project:both", sentence(" (.claude/skills/both/SKILL.md)")],
    ["gone", gone],
    ["project:gone", ""],
    ["flagged", ""],
    ["manual", ""],
    ["off", ""],
  ] as const;
  for (const [name, expected] of cases) {
    const { text } = await session.load(name);
    const [start = ""] = text.split(`Skill '${name}' not found.`);
    const [reason = "", ...rest] = start.trimEnd().split("\n");
    assert.ok(reason.startsWith(expected) && rest.length === 0, text);
    assert.equal(reason === "", expected === "", text);
    assert.ok(!text.includes(NOTICE), text);
  }
});

Deno.test("the answer says that only a part of a project's folder is searched", async () => {
  using place = new Place();
  for (let index = 0; index < 1_001; index++) {
    place.dir(`${PROJECT}/${index}`);
  }
  place.skill(PROJECT, "theirs");
  place.skill(HOME, "mine");
  await using session = await Session.open(place);
  const { text } = await session.load("theirs");
  assert.match(
    text,
    /^The server skips part of a folder of skills in the project \(\.claude\/skills\): too-many\. .*\n\nSkill 'theirs' not found/,
  );
  assert.match(text, /- mine: About mine/);
});

Deno.test("the answer lists the best matches first, within 8,000 characters", async () => {
  using place = new Place();
  for (let index = 0; index < 400; index++) {
    place.skill(PROJECT, `theirs-${index}`, skillMd(`theirs-${index}`));
  }
  place.skill(PROJECT, "typos", skillMd("typos", "A pfd"));
  place.skill(HOME, "mine");
  place.skill(HOME, "pdf");
  place.skill(HOME, "hidden", skillMd("hidden", "d", FLAG));
  await using session = await Session.open(place);
  const none = await session.load("qqqq");
  assert.equal(none.isError, true);
  assert.ok(none.text.length <= 8_000 && none.text.length > 7_900);
  assert.match(
    none.text,
    /^Skill 'qqqq' not found\.\n\nAvailable skills:\n- mine: About mine\n- pdf: About pdf\n- theirs-0: .*\n\(and \d+ more: pass a name[^\n]*\n\nUse the exact skill name \(case-insensitive\) to load a skill\.$/s,
  );
  for (const [name, best] of [["theirs 7 x", "theirs-7"], ["pfd", "pdf"]]) {
    const { text } = await session.load(name!);
    assert.ok(text.includes(`Available skills:\n- ${best}: About ${best}\n`));
  }
});
