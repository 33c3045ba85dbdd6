import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { parseSkillUri, scanSkillRoots, type SkillCatalog } from "../../mod.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { assertLinearTime } from "../../tests/testing/waiting.ts";
import { basename, join } from "../fs/paths.ts";
import { escapeXml } from "../text.ts";
import {
  cleanName,
  findResource,
  findSkill,
  isLookalike,
  skillKey,
  skillMdUri,
  validName,
} from "./names.ts";

Deno.test("cleanName() puts a name on one line, and undoes what cannot be seen or was escaped", () => {
  const cases: [name: string, cleaned: string][] = [
    ["git", "git"],
    ["a b", "a b"],
    [" a \n\t b\u00a0", "a b"],
    ["\u2800git\u{1d159}", "git"],
    ["g\u{16fe4}i\u{13430}t\u{13441}", "git"],
    ["g\u200bi\u202et\u{e0041}\0", "git"],
    ["e\u0301", "\u00e9"],
    ["R&amp;D", "R&D"],
    ["&amp;amp;lt;b&gt;", "<b>"],
    ["&#82;&quot;", "&#82;&quot;"],
    ["&lt\u037e", "<"],
    ["&am\u200bp;", "&"],
    ["x\ud800", "x\ufffd"],
    ["\u{1f468}\u200d\u{1f469}", "\u{1f468}\u200d\u{1f469}"],
    ["\u200b \u2800", ""],
  ];
  for (const [name, cleaned] of cases) {
    assert.equal(cleanName(name), cleaned, JSON.stringify(name));
  }
});

/** Scans the skills of a project and those of the user. */
async function scanBoth({ project, home }: Place): Promise<SkillCatalog> {
  const roots = [
    root(join(project, ".claude", "skills"), { scope: "project" }),
    root(join(home, ".claude", "skills")),
  ];
  const folders = { workingDirectory: project, homeDirectory: home };
  return await scanSkillRoots(roots, folders);
}

Deno.test("findSkill() finds a skill by its name and its qualified name, however they are written", async () => {
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

Deno.test("a skill is found by its qualified name and URI, whatever blanks its name begins with", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "git", skillMd("\u2800git"));
  const catalog = await scanBoth(place);
  const mine = catalog.shadowed[0]!.skill;
  assert.equal(findSkill("global:git", catalog), mine);
  assert.equal(findSkill("global:\u2800git", catalog), mine);
  assert.equal(findResource(skillMdUri(mine), catalog)?.skill, mine);
  const long = `skill://git/${"x".repeat(4_097)}`;
  assert.equal(findResource(long, catalog), undefined);
});

Deno.test("findSkill() finds a skill by its name behind a scope, whatever its letters become in lowercase", async () => {
  using place = new Place();
  // In lowercase, a sigma is another letter at the end of a word, and so after a colon.
  const name = "\u03a3-utils";
  place.skill("project/.claude/skills", "s", skillMd(name));
  place.skill("home/.claude/skills", "s", skillMd(name));
  const catalog = await scanBoth(place);
  for (const scope of ["project", "global"]) {
    const found = [name, name.toLowerCase()].map((name) =>
      findSkill(`${scope}:${name}`, catalog)?.scope
    );
    assert.deepEqual(found, [scope, scope]);
  }
});

Deno.test("findSkill() prefers the skill with the qualified name, which a hidden one has beside two others", async () => {
  using place = new Place();
  const hidden = "name: git\ndescription: d\ndisable-model-invocation: true";
  place.skill("project/.claude/skills", "a", `---\n${hidden}\n---\n`);
  place.skill("project/.claude/skills", "b", skillMd("git"));
  place.skill("home/.claude/skills", "c", skillMd("git"));
  const catalog = await scanBoth(place);
  const folders = ["git", "project:git", "global:git"].map((name) =>
    basename(findSkill(name, catalog)!.directory)
  );
  assert.deepEqual(folders, ["b", "a", "c"]);
});

/** What names are made of, and what cleaning changes. */
const PIECES = {
  letters: ["a", "B", "\u0130", "\u0645", "\u1100", "\u1161", "\u{1f468}"],
  escapes: ["&", "&amp;", "amp;", "&lt", "&gt;", ";", "\u037e", "<", ">"],
  accents: ["\u0338", "\u0301", "\u0301".repeat(31)],
  blanks: [" ", "\n", "\u2800", "\u00a0"],
  invisible: ["\u200b", "\u200d", "\u200c", "\ufe0f", "\0"],
  others: ["\ud800", "project:"],
};

const piece = fc.constantFrom(...Object.values(PIECES).flat());

Deno.test("a clean name stays as it is, and a list prints it in a form with the same key", () => {
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 10 }), (pieces) => {
      const name = pieces.join("");
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

Deno.test("cleanName() takes linear time", async () => {
  for (const piece of ["&amp;", "&amp;amp", "&", " \u200b", "\u0301", "a&lt"]) {
    await assertLinearTime((length) => {
      cleanName(piece.repeat(length / piece.length));
    }, { length: 400_000, what: piece });
  }
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

for (const [what, uris] of Object.entries(OTHER_URIS)) {
  Deno.test(`parseSkillUri() returns undefined for a URI with ${what}`, () => {
    for (const uri of uris) assert.equal(parseSkillUri(uri), undefined, uri);
  });
}

const MARKED = `e${"\u0316\u0301".repeat(15)}`;

/** Two forms of a name that have one key. */
const SAME_KEY: [one: string, other: string][] = [
  ["GIT", "git"],
  [" git ", "git"],
  ["Git\n  Hub", "git hub"],
  // Letters and accents, whichever way they are composed, in names of any length.
  ["Cafe\u0301", "CAF\u00c9"],
  ["J\u030c", "\u01f0"],
  ["e\u0301".repeat(512), "\u00e9".repeat(512)],
  [MARKED, MARKED.normalize("NFC")],
  // What cannot be seen.
  ["gi\u0007t\u202e", "git"],
  ["gi\u{e0041}t", "git"],
  ["\u{1f468}\u200d\u{1f469}", "\u{1f468}\u{1f469}"],
  ["\u0645\u06cc\u200c\u062e", "\u0645\u06cc\u062e"],
];

Deno.test("skillKey() ignores case, surrounding whitespace, the composition of accents, and what cannot be seen", () => {
  for (const [one, other] of SAME_KEY) {
    assert.equal(skillKey(one), skillKey(other), JSON.stringify(one));
  }
  assert.equal(skillKey("Git"), "git");
  assert.notEqual(skillKey("git"), skillKey("gi t"));
  assert.equal(skillKey(skillKey("\u0130")), skillKey("\u0130"));
});

Deno.test("validName() returns a name in the form that hosts accept, for any text", () => {
  const cases: [name: string, valid: string | undefined][] = [
    ["git", "git"],
    ["My  Skill!", "my-skill"],
    ["--a__b--", "a-b"],
    ["R&D", "r-d"],
    ["g\u200bit", "git"],
    ["über", undefined],
    ["- -", undefined],
    ["", undefined],
  ];
  for (const [name, valid] of cases) assert.equal(validName(name), valid, name);
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (name) => {
      const valid = validName(name);
      if (valid === undefined) return;
      assert.match(valid, /^[a-z0-9]+(?:-[a-z0-9]+)*$/);
      assert.equal(validName(valid), valid);
    }),
  );
});

const LOOKALIKES = {
  "letters of two alphabets": ["g\u0456t", "tools g\u0456t", "\u0391lpha"],
  "other alphabets that look Latin": ["\u0261it", "\u0581it"],
  "other forms of letters": ["g\u2170t", "g\u{1d5c2}t", "\uff47lobal:git"],
  "almost a scope": ["gl\u043ebal:git", "global :git"],
  "almost a colon": [
    "global\uff1agit",
    "global\ua789git",
    "project \u2236 git",
  ],
};

const PLAIN_NAMES = {
  "one alphabet in each word": ["git", "\u0433\u0438\u0442 git"],
  "another alphabet": ["\u0433\u0438\u0442", "\u0563\u056b\u057f"],
  "accents and signs": ["gr\u00f6\u00dfe", "\u03b1-decay", "5\u00b5m"],
  "Latin beside East Asian letters": [
    "\u30c7\u30fc\u30bf pdf",
    "API\u8a2d\u8a08\uff08PDF\uff09",
  ],
  "no scope at the beginning": ["my global:git", "projects: plan"],
};

for (const [what, names] of Object.entries(LOOKALIKES)) {
  Deno.test(`isLookalike() finds names with ${what}`, () => {
    for (const name of names) assert.equal(isLookalike(name), true, name);
  });
}

for (const [what, names] of Object.entries(PLAIN_NAMES)) {
  Deno.test(`isLookalike() accepts names with ${what}`, () => {
    for (const name of names) assert.equal(isLookalike(name), false, name);
  });
}

Deno.test("a text that is too long for a name is none, whatever it consists of", () => {
  const long = "a\u0301".repeat(600);
  assert.equal(cleanName(long), "");
  assert.equal(skillKey(long), "");
  assert.equal(skillKey("a".repeat(1_025)), "");
  assert.equal(skillKey("A".repeat(1_024)), "a".repeat(1_024));
  assert.equal(parseSkillUri(`skill://${"a".repeat(65_528)}`)?.path, undefined);
  assert.equal(parseSkillUri(`skill://${"a".repeat(65_529)}`), undefined);
});
