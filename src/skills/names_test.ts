import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { parseSkillUri, skillUri } from "../../mod.ts";
import { escapeXml } from "../text.ts";
import { cleanName, pluginOf, skillKey } from "./names.ts";

Deno.test("cleanName() puts a name on one line, without what cannot be seen", () => {
  const cases: [name: string, cleaned: string][] = [
    ["git", "git"],
    ["a b", "a b"],
    [" a \n\t b\u00a0", "a b"],
    ["g\u200bi\u202et\u{e0041}\0", "git"],
    ["e\u0301", "\u00e9"],
    ["R&amp;D", "R&D"],
    ["&amp;amp;lt;b&gt;", "<b>"],
    ["&#82;&quot;", "&#82;&quot;"],
    ["&am\u200bp;", "&"],
    ["x\ud800", "x\ufffd"],
    ["\u{1f468}\u200d\u{1f469}", "\u{1f468}\u200d\u{1f469}"],
    ["\u200b \0", ""],
  ];
  for (const [name, cleaned] of cases) {
    assert.equal(cleanName(name), cleaned, JSON.stringify(name));
  }
});

/** What names consist of, and what cleaning changes. */
const PIECES = [
  ["a", "B", "\u0130", "\u0645", "\u1100", "\u1161", "\u{1f468}"],
  ["&", "&amp;", "amp;", "&lt", "&gt;", ";", "\u037e", "<", ">"],
  ["\u0338", "\u0301", "\u0301".repeat(31)],
  [" ", "\n", "\u00a0", "\u200b", "\u200d", "\u200c", "\ufe0f", "\0"],
  ["\ud800", "project:"],
].flat();

Deno.test("a cleaned name, as a list prints it, has the key of the name", () => {
  const pieces = fc.array(fc.constantFrom(...PIECES), { maxLength: 10 });
  const names = pieces.map((it) => it.join(""));
  fc.assert(
    fc.property(names, (name) => {
      const cleaned = cleanName(name);
      assert.equal(cleanName(cleaned), cleaned);
      const key = skillKey(name);
      for (const form of [cleaned, key, escapeXml(cleaned), ` ${cleaned}\n`]) {
        assert.equal(skillKey(form), key, JSON.stringify([name, form]));
      }
    }),
    { numRuns: 20_000 },
  );
});

/** URIs that name no file of a skill, by what they have. */
const OTHER_URIS = {
  "no name": ["", "skill:", "skill://", "skill:///SKILL.md", "skill://git?x"],
  "another scheme": ["file:///etc/passwd", "https://git/SKILL.md"],
  "dots": ["skill://git/../x", "skill://git/a/../../x", "skill://git/./x"],
  "an empty part": ["skill://git//x", "skill://git/a//b"],
  "escaped separators": ["skill://git/a%2Fb", "skill://git/%2e%2e/x"],
  "half of an escape, or of a character": ["skill://git/%", "skill://%ff/x"],
  "a query, or a fragment": ["skill://git/x?y", "skill://git/x#y"],
  "a million characters": [`skill://git/${"x".repeat(1024 * 1024)}`],
};

Deno.test("parseSkillUri() returns undefined for a URI that names no file of a skill", () => {
  for (const [what, uris] of Object.entries(OTHER_URIS)) {
    for (const uri of uris) {
      assert.equal(parseSkillUri(uri), undefined, `${what}: ${uri}`);
    }
  }
});

Deno.test("parseSkillUri() reads what skillUri() writes, for names of any characters", () => {
  const names = ["git", "R&D <b>", "a/b:c", "é\u{1f600}", "..", "100%", "?#"];
  for (const name of names) {
    for (const path of [undefined, "", "a.md", "docs/ä b/100%?#.md"]) {
      const uri = skillUri(name, path);
      assert.deepEqual(parseSkillUri(uri), { name, path }, uri);
      assert.ok(URL.canParse(uri), uri);
    }
  }
});

Deno.test("skillKey() ignores case, blanks around, and what cannot be seen", () => {
  const marked = `e${"\u0316\u0301".repeat(15)}`;
  const equal: [one: string, other: string][] = [
    ["GIT", "git"],
    ["Git\n  Hub", "git hub"],
    ["Cafe\u0301", "CAF\u00c9"],
    ["J\u030c", "\u01f0"],
    ["e\u0301".repeat(512), "\u00e9".repeat(512)],
    [marked, marked.normalize("NFC")],
    ["gi\u0007t\u202e", "git"],
    [skillKey("\u0130"), "\u0130"],
  ];
  for (const [one, other] of equal) {
    assert.equal(skillKey(one), skillKey(other), JSON.stringify(one));
  }
  assert.equal(skillKey("Git"), "git");
  assert.notEqual(skillKey("git"), skillKey("gi t"));
});

Deno.test("a text that is too long for a name is none, whatever it consists of", () => {
  const long = "a\u0301".repeat(600);
  assert.equal(cleanName(long), "");
  assert.equal(skillKey(long), "");
  assert.equal(skillKey("a".repeat(1_025)), "");
  assert.equal(skillKey("A".repeat(1_024)), "a".repeat(1_024));
  assert.equal(parseSkillUri(`skill://${"a".repeat(65_528)}`)?.path, undefined);
  assert.equal(parseSkillUri(`skill://${"a".repeat(65_529)}`), undefined);
});

Deno.test("pluginOf() returns the folder around that of skills or of a version", () => {
  const cases: [directory: string, plugin: string | undefined][] = [
    ["/plugins/ms-office-suite/skills/pdf", "ms-office-suite"],
    ["/cache/3d-tools/skills/mesh", "3d-tools"],
    ["/cache/superpowers/5.0.1/skills/debugging", "superpowers"],
    ["/cache/tools/v2.1.0-beta.1/skills/git", "tools"],
    ["/cache/global/1.0/skills/git", undefined],
    ["/home/me/.claude/skills/pdf", undefined],
    ["/home/me/.claude/skills/eng/tdd", undefined],
    ["/code/project/skills/pdf", undefined],
    ["/code/Global/skills/pdf", undefined],
    ["/code/global:x/skills/pdf", undefined],
    ["/code/\u0433\u0438\u0442/skills/pdf", "\u0433\u0438\u0442"],
    ["/skills/pdf", undefined],
  ];
  for (const [directory, plugin] of cases) {
    assert.equal(pluginOf(directory), plugin, directory);
  }
});
