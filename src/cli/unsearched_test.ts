import assert from "node:assert/strict";
import { runServer, serverCommand } from "../../tests/testing/server.ts";
import {
  missesIn,
  printedReport,
  type ReportedProblem,
} from "../../tests/testing/report.ts";
import { DiskSpy, Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { LocalServer } from "../../tests/walk/servers.ts";
import { basename, join } from "../files/paths.ts";

Deno.test("--list and --check report everything that is almost a skill, and the fix", async () => {
  using place = new Place();
  const skills = "home/.claude/skills";
  place.file(`${skills}/SKILL.md`, skillMd("loose"));
  place.file(`${skills}/up/Skill.markdown`, skillMd("up"));
  place.skill(`${skills}/deep/er`, "one");
  for (const name of ["pdf.zip", "docx.skill", "README.md", "notes.md"]) {
    place.file(`${skills}/${name}`, "");
  }
  place.file(`${skills}/review.md`, skillMd("review"));
  place.file(`${skills}/_assets/logo.png`, "");
  place.file(`${skills}/guide/guide.md`, "");
  place.skill(skills, "good");
  const { code, text } = await printedReport(place, "--check");
  assert.equal(code, 1);
  assert.equal(
    text.replaceAll(place.home.replaceAll("\\", "/"), "~"),
    `~/.claude/skills/SKILL.md: error[loose-file]: it is directly in a folder of skills
  fix: move it, and the files that it needs, into a folder of its own, as "SKILL.md"
~/.claude/skills/guide: error[skill-md-missing]: it is among the skills, and has no file "SKILL.md"
  fix: rename "guide.md" in it to "SKILL.md"
~/.claude/skills/review.md: error[loose-file]: it is directly in a folder of skills
  fix: move it, and the files that it needs, into a folder of its own, as "SKILL.md"
~/.claude/skills/up/Skill.markdown: error[file-name]: the file of a skill must be named "SKILL.md"
  fix: rename it to "SKILL.md", which must be plain text
~/.claude/skills/deep: warning[not-searched]: it has 1 skill deeper than the server looks
  fix: move them up, or add --skill-dir ~/.claude/skills/deep
~/.claude/skills/docx.skill: warning[archive]: it is an archive, where a folder was expected
  fix: unpack it into a folder of its own, and remove it
~/.claude/skills/pdf.zip: warning[archive]: it is an archive, where a folder was expected
  fix: unpack it into a folder of its own, and remove it

Checked 1 skill: 4 errors, 3 warnings
`,
  );
});

Deno.test("--list finds no near misses in skills, in what tools fill, and among the documents of a project", async () => {
  using place = new Place();
  place.skill("project/skills", "found");
  place.skill("project/skills/found/examples", "part-of-a-skill");
  place.skill("project/.git/modules", "not-mine");
  place.skill("project/node_modules", "not-mine");
  place.file("project/docs/skills.md", "");
  place.file("project/docs/docs.md", "");
  place.file("project/release.zip", "");
  assert.deepEqual(await missesIn(place, "project"), []);
  const folder = place.folder("project");
  place.file("project/docs/SKILL.txt", "");
  place.skill("project/plugins", "found-too");
  const misses = await missesIn(place, "home", "--skill-dir", folder);
  assert.deepEqual(misses.map((line) => line.split(":")[0]), [
    "file-name project/docs/SKILL.txt",
  ]);
});

Deno.test("--list does not mention a broken skill that is off", async () => {
  using place = new Place();
  place.skill("skills", "broken", "no frontmatter");
  const policy = place.file("policy.yaml", "rules: [{ state: off }]");
  assert.deepEqual(await missesIn(place, "skills", "--policy", policy), []);
  // Where a scan searches deep, it found this one, too.
  place.skill("skills/deep/deeper", "broken", "no frontmatter");
  const args = ["--policy", policy, "--skill-dir", join(place.path, "skills")];
  assert.deepEqual(await missesIn(place, "home", ...args), []);
});

Deno.test(
  "--list counts the skills in a folder that the user linked, and follows no link of a project out of it",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.file("secret/SKILL.txt", "");
    place.skill("secret/skills", "a");
    place.link("../../../secret", "home/.claude/skills/out");
    place.link("../../../secret", "project/.claude/skills/theirs");
    place.folder("home/.claude/skills/folder");
    place.link("../../../../secret", "home/.claude/skills/folder/in");
    const { text } = await printedReport(place, "--list");
    assert.deepEqual(text.split("\n").filter((line) => /^~.*: /.test(line)), [
      '~/.claude/skills/out/SKILL.txt: error[file-name]: the file of a skill must be named "SKILL.md"',
      "~/.claude/skills/out: warning[not-searched]: it has 1 skill deeper than the server looks",
    ]);
    assert.doesNotMatch(text, /theirs|folder/);
    const hint = ["--skill-dir", "~/.claude/skills/out"];
    assert.deepEqual(await namesIn(place, ...hint), ["a"]);
  },
);

/** Returns what `--list --json` prints. */
async function listIn(
  place: Place,
  args: string[],
): Promise<{ problems: ReportedProblem[]; skills: { name: string }[] }> {
  const { stdout } = await runServer(place, {
    args: ["--list", "--json", ...args],
  });
  return JSON.parse(stdout);
}

/** Lists the hints about folders that are not searched. */
async function hintsIn(place: Place, ...args: string[]): Promise<string[]> {
  const { problems } = await listIn(place, args);
  return problems.filter(({ rule }) => rule === "not-searched")
    .map(({ reason, hint }) => `${reason}; ${hint}`);
}

/** Returns the names of the skills that `--list` finds. */
async function namesIn(place: Place, ...args: string[]): Promise<string[]> {
  const { skills } = await listIn(place, args);
  return skills.map(({ name }) => name).sort();
}

/** Returns the option that a hint says to add, as words of a command line. */
function addedWords(hint: string): string[] {
  const [, option] = /\badd (.*)$/.exec(hint)!;
  return Array.from(
    option!.matchAll(/"([^"]*)"|(\S+)/g),
    ([, quoted, word]) => quoted ?? word!,
  );
}

Deno.test("--list says where skills lie deeper, and following each hint serves them", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "found");
  place.skill("home/.claude/skills/found/examples/deep", "part");
  for (const name of ["a", "b"]) {
    place.skill("home/.claude/skills/super powers/skills", name);
  }
  place.skill("home/.claude/skills/collection/some", "c");
  place.skill("home/.claude/skills/collection/more", "e");
  place.skill("project/.claude/skills/clone/plugins/one/skills", "d");
  place.skill("project/.claude/skills/clone/node_modules/two", "not-mine");
  const at = (...names: string[]) => join(place.path, ...names);
  const own = join("~", ".claude", "skills");
  const clone = at("project", ".claude", "skills", "clone");
  const hints = await hintsIn(place);
  assert.deepEqual(hints, [
    `it has 2 skills deeper than the server looks; move them up, or add --skill-dir ${
      join(own, "collection")
    }`,
    `it has 2 skills deeper than the server looks; move them up, or add --skill-dir "${
      join(own, "super powers")
    }"`,
    `it has 1 skill deeper than the server looks; move them up, or add --skill-dir ${clone}`,
  ]);
  const args = hints.flatMap(addedWords);
  assert.deepEqual(await namesIn(place, ...args), [
    "a",
    "b",
    "c",
    "d",
    "e",
    "found",
  ]);
  assert.deepEqual(await hintsIn(place, ...args), []);
});

Deno.test("--list joins folders until there are few lines, and 134 skills that lie too deep are one", async () => {
  using place = new Place();
  const names = Array.from({ length: 134 }, (_, index) => `s${index}`);
  for (const name of names) {
    place.skill(`home/.claude/skills/plugins/${name}/skills`, name);
  }
  const folder = join("~", ".claude", "skills", "plugins");
  const hints = await hintsIn(place);
  assert.deepEqual(hints, [
    `it has 134 skills deeper than the server looks; move them up, or add --skill-dir ${folder}`,
  ]);
  const found = await namesIn(place, ...addedWords(hints[0]!));
  assert.deepEqual(found, names.sort());
});

Deno.test("--list looks at no more than 1,000 folders of a project", async () => {
  using place = new Place();
  for (const folder of ["project/.claude/skills/z", "home/.claude/skills/z"]) {
    place.skill(`${folder}/z`, "deep");
    for (let index = 0; index < 1_000; index++) {
      place.folder(`${folder}/${index}`);
    }
  }
  place.skill("project/.agents/skills", "z");
  for (let index = 0; index < 1_000; index++) {
    place.folder(`project/.agents/skills/${index}`);
  }
  const hints = await hintsIn(place);
  assert.deepEqual(hints.map((hint) => hint.includes("~")), [true]);
});

Deno.test("--check of a folder that holds no skill fails, and says where they are", async () => {
  using place = new Place();
  place.skill("project/plugins/one/skills", "a");
  place.skill("project/plugins/two/skills", "b");
  const { code, text } = await printedReport(place, "--check", ".");
  assert.equal(code, 1);
  assert.match(
    text,
    /error\[no-skills\]: there is no skill to check$/m,
  );
  const line = "plugins: warning[not-searched]: it has 2 skills deeper ";
  assert.ok(text.includes(line), text);
  const args = ["--check", ".", "--skill-dir", "plugins"];
  const followed = await printedReport(place, ...args);
  assert.deepEqual(followed, {
    code: 0,
    text: "Checked 2 skills: no problems\n",
  });
  // What was found is checked, and the rest is a warning.
  place.skill("project/skills", "c");
  const some = await printedReport(place, "--check", ".");
  assert.equal(some.code, 0);
  assert.match(some.text, /^Checked 1 skill: 0 errors, 1 warning$/m);
});

Deno.test("--list names the folders of --agents that hold skills and are not searched", async () => {
  using place = new Place();
  place.skill("home/.agents/skills", "a");
  place.skill("home/.agents/skills", "b");
  place.file("home/.agents/skills/README.md", "");
  const found = ["it has 2 skills and is not searched; add --agents"];
  assert.deepEqual(await hintsIn(place), found);
  const { text } = await printedReport(place, "--list");
  assert.match(
    text,
    /^~\/\.agents\/skills: warning\[not-searched\]: it has 2/m,
  );
  place.skill("project/.agents/skills", "c");
  assert.deepEqual((await hintsIn(place)).length, 2);
  assert.deepEqual(await hintsIn(place, "--agents"), []);
  assert.deepEqual(await namesIn(place, "--agents"), ["a", "b", "c"]);
  // The user named other folders. Without skills there, nobody is left alone.
  const named = place.folder("named");
  assert.equal((await hintsIn(place, named)).length, 2);
  place.file("named/d/SKILL.md", "---\nname: d\n---\n");
  assert.deepEqual(await hintsIn(place, named), []);
  place.skill("named", "d");
  assert.deepEqual(await hintsIn(place, named), []);
});

/** Other folders with skills, in the home folder or above the working directory. */
const ELSEWHERE = [
  "home/.codex/skills",
  "home/.gemini/skills",
  "home/.qwen/skills",
  "home/.config/opencode/skills",
  "project/packages/one/skills",
  "project/.claude/skills",
  "project/packages/.claude/skills",
];

Deno.test("--list counts the skills in the folders of other clients and above, and adding the option serves them", async () => {
  for (const folder of ELSEWHERE) {
    using place = new Place();
    place.folder("project/.git");
    const here = place.folder("project/packages/one");
    const inside = { ...place, project: here };
    place.skill(folder, "a");
    place.skill(folder, "b");
    const listing = async (...args: string[]) => {
      const { stdout } = await runServer(inside, {
        args: ["--list", "--json", ...args],
      });
      return JSON.parse(stdout);
    };
    const { problems } = await listing();
    const [{ reason, hint }] = problems;
    assert.deepEqual([problems.length, reason], [
      1,
      "it has 2 skills and is not searched",
    ]);
    const { skills, ...rest } = await listing(...addedWords(`; ${hint}`));
    assert.equal(skills.length, 2, folder);
    assert.deepEqual(rest.problems, []);
    // Outside of a repository, nothing above the working directory counts.
    place.remove("project/.git");
    const isAbove = /^project\/(?!packages\/one\/)/.test(folder);
    assert.equal((await listing()).problems.length, isAbove ? 0 : 1);
  }
});

Deno.test("--list does not mention a folder that the client lists itself", async () => {
  using place = new Place();
  place.skill("home/.codex/skills", "a");
  const folder = join(place.home, ".codex", "skills");
  assert.equal((await hintsIn(place)).length, 1);
  assert.deepEqual(await hintsIn(place, "--name-only", folder), []);
});

Deno.test("--list names no folder above that is searched, as in a home folder in Git", async () => {
  using place = new Place();
  place.folder("home/.git");
  const here = place.folder("home/code/x");
  place.skill("home/.claude/skills/group/more", "deep");
  const { stdout } = await runServer({ ...place, project: here }, {
    args: ["--list", "--json"],
  });
  const { problems } = JSON.parse(stdout);
  assert.deepEqual(
    problems.map(({ hint }: ReportedProblem) => hint),
    [`move them up, or add --skill-dir ${
      join("~", ".claude", "skills", "group")
    }`],
  );
});

Deno.test("--list counts the skills of the plugins of Claude Code, and adding a plugin serves its skills", async () => {
  using place = new Place();
  const cache = "home/.claude/plugins/cache/market";
  place.skill(`${cache}/tools/1.0.0/skills`, "old");
  place.skill(`${cache}/tools/1.1.0/skills`, "new");
  place.skill("home/.claude/plugins/marketplaces/market", "never-installed");
  const [hint] = await hintsIn(place);
  assert.match(
    hint!,
    /^it has 2 skills and is not searched; Claude Code serves them itself; for another client, add --skill-dir with the folder of the newest version of a plugin in it$/,
  );
  const plugin = join(place.path, cache, "tools", "1.1.0");
  assert.deepEqual(await namesIn(place, "--skill-dir", plugin), ["new"]);
  // Who follows it is not told again.
  assert.deepEqual(await hintsIn(place, "--skill-dir", plugin), []);
});

Deno.test(
  "--list names the folder skill, which is almost skills",
  { ignore: lacks("case") },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skill", "a");
    place.skill("project/.agent/Skills", "b");
    place.folder("project/.claude/skill");
    const hint =
      'it has 1 skill and is not searched; move its skills to the folder "skills" beside it';
    assert.deepEqual(await hintsIn(place), [hint, hint]);
  },
);

Deno.test("--list names skills that lie deeper in a folder of --agents", async () => {
  using place = new Place();
  place.skill("home/.agents/skills/clone/skills", "a");
  const clone = join("~", ".agents", "skills", "clone");
  assert.deepEqual(await hintsIn(place), [
    `it has 1 skill deeper than the server looks; move them up, or add --skill-dir ${clone}`,
  ]);
  assert.deepEqual(await namesIn(place, "--skill-dir", clone), ["a"]);
});

Deno.test(
  "a hint about a folder of --agents counts no skill that is skipped where another path leads to it",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.agents/skills", "broken", "No frontmatter");
    place.link("../.agents/skills", "home/.claude/skills");
    assert.deepEqual(await hintsIn(place), []);
    place.remove("home/.claude");
    place.link("../../.agents/skills/broken", "home/.claude/skills/broken");
    assert.deepEqual(await hintsIn(place), []);
  },
);

Deno.test(
  "the search for near misses follows no link that leads out of a project, and those of the user",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("secret/group/deep", "private");
    place.skill("secret/more", "private-too");
    place.link("../../secret", "project/.agents/skills");
    place.link("../../secret", "project/.claude/skills");
    assert.deepEqual(await hintsIn(place), []);
    place.remove("project/.claude");
    place.link("../../home/.claude/skills", "project/.claude/skills");
    place.skill("home/.claude/skills/clone/skills", "a");
    place.link("../../../secret", "home/.claude/skills/link");
    const own = join("~", ".claude", "skills");
    assert.deepEqual((await hintsIn(place)).sort(), [
      `it has 1 skill deeper than the server looks; move them up, or add --skill-dir ${
        join(own, "clone")
      }`,
      `it has 2 skills deeper than the server looks; move them up, or add --skill-dir ${
        join(own, "link")
      }`,
    ]);
  },
);

Deno.test(
  "each link to a skill in a folder of --agents counts, and so does what lies behind links to other folders",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    for (let index = 0; index < 25; index++) {
      place.skill("store", `skill-${index}`);
      place.skill(`collections/${index}/more`, `deep-${index}`);
      const links = "home/.agents/skills";
      place.link(`../../../store/skill-${index}`, `${links}/skill-${index}`);
      place.link(`../../../collections/${index}`, `${links}/all-${index}`);
    }
    const agents = join("~", ".agents", "skills");
    assert.deepEqual(await hintsIn(place), [
      "it has 25 skills and is not searched; add --agents",
      `it has 25 skills deeper than the server looks; move them up, or add --skill-dir ${agents}`,
    ]);
  },
);

Deno.test(
  "a link to a folder with many files hides nothing else",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const big = place.folder("big");
    for (let index = 0; index <= 20_000; index++) {
      Deno.writeTextFileSync(`${big}/${index}`, "");
    }
    place.link("../../../big", "home/.agents/skills/0");
    for (const name of ["a", "b", "c"]) {
      place.skill("home/.agents/skills", name);
    }
    assert.deepEqual(await hintsIn(place), [
      "it has 3 skills and is not searched; add --agents",
    ]);
  },
);

Deno.test(
  "--check of a folder looks at a skill that another folder lists, too",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("home/.agents/skills", "git");
    place.link("../../.agents/skills/git", "home/.claude/skills/git");
    const clean = { code: 0, text: "Checked 1 skill: no problems\n" };
    const args = ["--check", "git", "--agents"];
    assert.deepEqual(await printedReport(place, ...args), clean);
  },
);

Deno.test(
  "a folder of --agents that a project links to the user's is named once",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.agents/skills", "a");
    place.link("../home/.agents", "project/.agents");
    assert.equal((await hintsIn(place)).length, 1);
  },
);

Deno.test(
  "--list needs no hint for skills that links lead to",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const skill = place.skill("home/.agents/skills", "a");
    place.link(
      `../../.agents/skills/${basename(skill)}`,
      "home/.claude/skills/a",
    );
    assert.deepEqual(await hintsIn(place), []);
    place.remove("home/.claude");
    place.link("../.agents/skills", "home/.claude/skills");
    assert.deepEqual(await hintsIn(place), []);
    // A skill that lies deeper, and is also found by another path.
    place.remove("home/.claude");
    place.skill("store/clone", "b");
    place.link("../../store", "home/.claude/skills");
    place.link("../../../store/clone/b", "home/.agents/skills/b");
    assert.deepEqual(await hintsIn(place, "--agents"), []);
  },
);

Deno.test("a running server looks nowhere but into its folders", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills/clone", "deeper");
  place.file("home/.claude/skills/typo/SKILL.txt", "");
  place.skill("home/.agents/skills", "installed");
  place.skill("project/.agents/skills", "clone");
  using server = await LocalServer.open({ ...place, args: [] });
  const folders = [
    join(place.home, ".claude", "skills"),
    ...["git", "clone", "typo"].map((name) =>
      join(place.home, ".claude", "skills", name)
    ),
  ];
  const looked = new Set<string>();
  using _disk = new DiskSpy((path, operation) => {
    if (operation === "readDirSync") looked.add(path);
    assert.ok(!path.includes(".agents"), path);
    return undefined;
  });
  await server.refresh();
  const call = { name: "skill", arguments: { name: "none" } };
  await server.ask(0, "tools/call", call);
  for (const path of looked) assert.ok(folders.includes(path), path);
});

Deno.test(
  "a shell runs nothing of a folder's name in a hint, and following it serves the skill",
  { ignore: lacks("sh") || lacks("names") },
  async () => {
    const names = ["$(touch gone)", "it's `touch gone`", 'a "b" !x', "a;b&c"];
    for (const name of names) {
      using place = new Place();
      place.skill(`home/.claude/skills/${name}/more`, "deep");
      const [hint] = await hintsIn(place);
      const [, option] = /\badd (.*)$/.exec(hint!)!;
      const [command, options] = serverCommand(place, { args: ["--list"] });
      const words = [command, ...options.args!].map((word) => `'${word}'`);
      const { stdout } = await new Deno.Command("sh", {
        ...options,
        args: ["-c", `${words.join(" ")} ${option}`],
      }).output();
      const text = new TextDecoder().decode(stdout);
      assert.match(text, /^ {2}deep +1 file/m, name);
      const left = [...Deno.readDirSync(place.project)];
      assert.deepEqual(left, [], name);
    }
  },
);
