import assert from "node:assert/strict";
import { SkillRegistry } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { root } from "../../tests/testing/registry.ts";
import { findingsIn, problemsIn } from "../../tests/testing/report.ts";
import { basename, join } from "../files/paths.ts";
import { quote } from "../text.ts";
import type { Skill } from "../skills/types.ts";
import { checkSkill, checkTogether } from "./text_checks.ts";

Deno.test(
  "--check reports files and folders without read permission",
  { ignore: lacks("modes") },
  async () => {
    using place = new Place();
    const skills = "home/.claude/skills";
    const text = `${skillMd("locked")}[x](keys/one.md)`;
    const modes: [string, number, number][] = [
      [place.file(`${skills}/locked/SKILL.md`, text), 0o600, 0o600],
      [place.file(`${skills}/locked/key.md`, ""), 0, 0o600],
      [join(place.file(`${skills}/locked/keys/one.md`, ""), ".."), 0, 0o700],
      [
        place.skill(skills, "shut", `${skillMd("shut")}[x](y.md)`),
        0o300,
        0o700,
      ],
    ];
    for (const [path, mode] of modes) Deno.chmodSync(path, mode);
    const findings = await findingsIn(place);
    for (const [path, , mode] of modes) Deno.chmodSync(path, mode);
    assert.deepEqual(findings, [
      "warning not-served locked/keys/: you have no permission to read it",
      'warning broken-link locked/SKILL.md:7: the link "keys/one.md" does not point to a served file',
      "error unreadable locked/key.md: you have no permission to read it",
      "error unreadable shut: you have no permission to read it",
    ]);
  },
);

Deno.test("--check reports the first line with invisible characters", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  const tags = Array.from(
    "ignore all",
    (character) => String.fromCodePoint(0xe0000 + character.charCodeAt(0)),
  ).join("");
  const lines = `a\u202eb\n\n${"x\u200b\n".repeat(20)}`;
  place.skill(
    skills,
    "body",
    `\ufeff${skillMd("body", "\u26a0\ufe0f Care")}${lines}`.replaceAll(
      "\n",
      "\r\n",
    ),
  );
  place.skill(
    skills,
    "escaped",
    '---\nname: escaped\ndescription: "x\\U000E0049\\u00ad"\n---\nText\n',
  );
  place.skill(skills, "raw", skillMd("raw", `Fine${tags}`));
  const reason = "there are invisible characters, such as";
  assert.deepEqual(await findingsIn(place), [
    `warning invisible-characters body/SKILL.md:7: ${reason} U+202E`,
    "error hidden-characters escaped/SKILL.md:3: the description has invisible characters, such as U+E0049",
    "error hidden-characters raw/SKILL.md:3: the description has invisible characters, such as U+E0069",
    `warning invisible-characters raw/SKILL.md:3: ${reason} U+E0069`,
  ]);
});

Deno.test("--check reports a name that is taken twice", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "first");
  const file = join(place.skill(skills, "git"), "SKILL.md");
  place.skill(skills, "third", skillMd("git"));
  const findings = await findingsIn(place);
  assert.deepEqual(findings.filter((it) => it.includes("name-twice")), [
    `warning name-twice third/SKILL.md: the name "git" is also that of ${
      quote(file)
    }`,
  ]);
});

Deno.test("--check looks at the text of a skill.md in lower case, too", async () => {
  using place = new Place();
  const text =
    "---\nname: low\ndescription: Fill <b>forms</b>\n---\n[x](none.md)\n";
  place.file("skills/low/skill.md", text);
  const problems = await problemsIn("--check", join(place.path, "skills"));
  const found = problems.map(({ rule, file, line }) =>
    `${rule} ${basename(file)} ${line}`
  );
  assert.deepEqual(found.sort(), [
    "broken-link skill.md 5",
    "description-tag skill.md 3",
    "file-case skill.md undefined",
  ]);
});

Deno.test("--check warns of a SKILL.md without instructions", async () => {
  const head = "---\nname: git\ndescription: About git\n---";
  const empty = [head, `${head}\n\n \n`, `${head}\n`.replaceAll("\n", "\r\n")];
  const full = [`${head}\na`, `${head}\na\n---\n`];
  full.push(`${head}\na`.replaceAll("\n", "\r"));
  for (const text of [...empty, ...full]) {
    using place = new Place();
    place.skill("home/.claude/skills", "git", text);
    const expected = full.includes(text) ? [] : [
      "warning body-empty git/SKILL.md: there are no instructions below the frontmatter",
    ];
    const findings = await findingsIn(place);
    assert.deepEqual(findings, expected, JSON.stringify(text));
  }
});

Deno.test("--check compares a skill with none that the policy turns off", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git", `${skillMd("git")}Do it.`);
  place.skill("project/skills", "git", `${skillMd("git")}Do it.`);
  const policy = place.file("p.yaml", "rules: [{ in: project, state: off }]");
  const folders = [join(place.home, ".claude", "skills"), place.project];
  const rulesWith = async (...args: string[]) =>
    (await problemsIn("--check", ...folders, ...args))
      .map(({ rule }) => rule);
  assert.deepEqual(await rulesWith(), ["name-twice"]);
  // There is nothing else to check in the project.
  assert.deepEqual(await rulesWith("--policy", policy), ["no-skills"]);
});

Deno.test("checkTogether() compares names without their case, and names the first skill", () => {
  const skills = ["git", "pdf", "GIT", "git"].map((name, index) => ({
    name,
    file: `${index}/SKILL.md`,
  })) as Skill[];
  assert.deepEqual(
    checkTogether(skills).map(({ file, reason }) => [file, reason]),
    [
      ["2/SKILL.md", 'the name "GIT" is also that of "0/SKILL.md"'],
      ["3/SKILL.md", 'the name "git" is also that of "0/SKILL.md"'],
    ],
  );
  assert.deepEqual(checkTogether([]), []);
});

Deno.test("checkSkill() reports files that cannot be read anymore, and fails for none", async () => {
  using place = new Place();
  place.skill("skills", "git");
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  const skill = registry.find("git")!;
  const contents = await registry.listFiles(skill);
  place.remove("skills/git");
  const problems = await checkSkill(skill, { registry, contents });
  assert.deepEqual(problems.map(({ rule, file }) => [rule, file]), [
    ["unreadable", skill.file],
  ]);
});

Deno.test("--check takes nothing in quotes for a comment", async () => {
  using place = new Place();
  for (const [index, mark] of ['"', "'"].entries()) {
    const text = skillMd(`git-${index}`, `${mark}a # b${mark}`);
    place.skill("home/.claude/skills", `git-${index}`, `${text}Do it.`);
  }
  assert.deepEqual(await findingsIn(place), []);
});
