import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { Wire } from "../../tests/testing/server.ts";
import { eventually } from "../../tests/testing/waiting.ts";
import { readSkillText } from "./frontmatter.ts";

/** A place with a skill that is repaired, one that is skipped, and one that forges a line. */
function loggedPlace(): Place {
  const place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "one", skillMd("one", "Use: it"));
  place.skill(
    skills,
    "two",
    "---\nname: two\ndescription: 'don't\n---\n",
  );
  place.skill(skills, "three", skillMd("three", "##[error]x: y ##vso[x]"));
  const forged = 'skill-server: Serving: "all"';
  place.skill(
    skills,
    "four",
    skillMd("four", `d\n${forged}\na: b\u2028::error::c: d`),
  );
  return place;
}

Deno.test("the log and the tool print finished lines at the beginning of a line, and nothing that looks like the log or a command", async () => {
  using place = loggedPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const call = { name: "skill", arguments: { name: "two" } };
  const { result } = await wire.ask(1, "tools/call", call);
  const [{ text }] = result.content;
  assert.match(text, /write this line instead:\ndescription: "don't"\n/);
  const lines: string[] = [];
  const isLogged = () => {
    lines.push(...wire.stderrLines.takeAll());
    return lines.some((line) => line.startsWith('description: "don')) &&
      lines.some((line) => line.startsWith('description: "Use'));
  };
  await eventually(isLogged, "the finished lines");
  for (const line of lines) {
    assert.doesNotMatch(line, /##[\p{L}[]|^\s*::|^skill-server: Serving/u);
  }
  const index = lines.indexOf('description: "Use: it"');
  assert.match(lines[index - 1]!, /^skill-server: Check .*one.*instead:$/);
});

Deno.test("readSkillText() describes at most 20 faults of a kind", () => {
  const lines = Array.from({ length: 21 }, (_, index) => `field${index}: a: b`);
  const { faults } = readSkillText(`---\n${lines.join("\n")}\n---\n`);
  const repaired = faults.filter(({ rule }) => rule === "yaml-repaired");
  assert.equal(repaired.length, 20);
});

Deno.test("readSkillText() prints no line for a field that is on no line of its own", () => {
  const fields = "name: a, description: d, disable-model-invocation: maybe";
  const [diagnostic] = readSkillText(`---\n{${fields}}\n---\n`).faults;
  assert.deepEqual([diagnostic!.rule, diagnostic!.line], ["flags", undefined]);
  assert.match(diagnostic!.fix, /write "disable-model-invocation: true"$/);
});

/** What people write by mistake, and what they put beside it. */
const LINES = {
  names: ["name: a", "name: 1", "name: *a", "name:"],
  almostNames: ["name:a", "name=a", "nam: a"],
  descriptions: ["description: b", "description: b: c", "description: 'b"],
  misread: ["description: [b] c", "description: >", "description: b #c"],
  almostDescriptions: ["descripton: b"],
  flags: ["disable-model-invocation: true", "user-invocable: no"],
  almostFlags: ["disable_model_invocaton: 1", "userInvocable=no"],
  indented: ['  "x": y', "  disable-model-invocation: true", "  b: c", "\tb"],
  metadata: ["metadata: {", "}", "metadata:", "  version: 1"],
  fences: ["---", "----"],
  others: ["- b", "", "# b", "b", "\0", "a\u202e: b"],
  logged: ["  ::error::x", "skill-server: x: y", "::x"],
  commands: ["description: ##[error]x: y", "a: ##[error]: x"],
  tasks: ["a: ##vso[task.complete]: x"],
};

const line = fc.constantFrom(...Object.values(LINES).flat());

Deno.test("no line to copy looks like the log, hides something, or is a command", () => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 8 }), (lines) => {
      for (const start of ["---\n", ""]) {
        const text = `${start}${lines.join("\n")}\n---\n`;
        for (const { fix, lines = [] } of readSkillText(text).faults) {
          assert.equal(fix.endsWith(":"), lines.length > 0, fix);
          for (const finished of lines) {
            assert.doesNotMatch(
              finished,
              /^\s*::|##[a-z[]|^skill-server:|[\0\u202e\n\r]/,
            );
          }
        }
      }
    }),
    { numRuns: 2_000 },
  );
});
