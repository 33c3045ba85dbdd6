import assert from "node:assert/strict";
import { skillMd } from "../../tests/testing/folders.ts";
import { root } from "../../tests/testing/registry.ts";
import { readOf, visited, visitOf } from "../../tests/testing/scan.ts";
import { basename, dirname, resolve } from "../fs/paths.ts";
import { MAX_WATCHED_FOLDERS } from "../fs/watch.ts";
import { Policy } from "../policy/policy.ts";
import { Project } from "../skills/roots.ts";
import type { SkillPolicyRule, SkillRoot } from "../skills/types.ts";
import { TimeSlice } from "../tasks.ts";
import {
  type DecidedSkill,
  decideSkills,
  type Decisions,
  HiddenFolders,
  listWatchedFolders,
} from "./decide.ts";

const PROJECT = resolve("/project");
const MINE = root("/mine");
const THEIRS = root(PROJECT, { scope: "project" });

/** A path that a root lists, and where it leads. */
interface Listed {
  readonly root: SkillRoot;
  readonly path: string;
  readonly realPath?: string;
}

/** Stands for the text of a file that cannot be read. */
const UNREAD = "unread";

const FLAG = "disable-model-invocation: true\n";

/** Decides on what the roots list, the project's first. All have these texts by real path. */
async function decide(
  listed: readonly Listed[],
  rules: readonly SkillPolicyRule[] = [],
  rest: {
    texts?: Record<string, string>;
    mainFolders?: Record<string, string>;
    unread?: string[];
  } = {},
): Promise<Decisions> {
  const { texts = {}, mainFolders = {}, unread = [] } = rest;
  const skills = new Map(
    listed.map(({ path, realPath = path }) => {
      const text = texts[realPath] ?? skillMd(basename(realPath));
      const read = readOf(text, resolve(mainFolders[realPath] ?? realPath));
      return [resolve(realPath), { ...read, isRead: text !== UNREAD }];
    }),
  );
  const project = new Project({ workingDirectory: PROJECT });
  const policy = new Policy({ policy: { rules } });
  await policy.load(project);
  const foldersOf = (root: SkillRoot) =>
    listed.filter((it) => it.root === root).map(({ path, realPath = path }) =>
      visited(root, resolve(path), resolve(realPath))
    );
  const visits = [
    visitOf(THEIRS, { folders: foldersOf(THEIRS) }),
    visitOf(MINE, {
      folders: foldersOf(MINE),
      unread: unread.map((path) => resolve(path)),
    }),
  ];
  const reading = { skills, unread: [], failures: [] };
  const slice = new TimeSlice();
  const findings = { visits, reading, policy, project, slice };
  return await decideSkills(findings);
}

/** Describes the skills in a few words, in order. */
function briefly({ skills }: Decisions): string[] {
  return skills.map(({ realPath, listings, scope, state }) => {
    const folders = listings.map(({ path }) => dirname(path)).join("+");
    return `${realPath} in ${folders}: ${scope}, ${state}`;
  });
}

Deno.test("decideSkills() groups the paths of a real folder, and orders skills by their first path", async () => {
  const decisions = await decide([
    { root: MINE, path: "/mine/b" },
    { root: MINE, path: "/mine/a", realPath: "/store/a" },
    { root: MINE, path: "/mine/c", realPath: "/store/a" },
    { root: THEIRS, path: "/project/x" },
  ]);
  assert.deepEqual(
    briefly(decisions),
    [
      `${resolve("/project/x")} in ${PROJECT}: project, on`,
      `${resolve("/mine/b")} in ${resolve("/mine")}: global, on`,
      `${resolve("/store/a")} in ${resolve("/mine")}+${
        resolve("/mine")
      }: global, on`,
    ],
  );
});

Deno.test("a hidden folder hides what lies between it and the skill, and from whom", async () => {
  const { hidden } = await decide(
    [
      { root: MINE, path: "/mine/outer" },
      { root: MINE, path: "/mine/outer/manual" },
      { root: MINE, path: "/mine/outer/on" },
      { root: MINE, path: "/mine/outer/off" },
      { root: MINE, path: "/mine/outer/flag" },
      { root: MINE, path: "/mine/outer/broken" },
      { root: MINE, path: "/mine/outer/large" },
    ],
    [
      { skill: "manual", state: "manual" },
      { skill: ["off", "broken"], state: "off" },
    ],
    {
      texts: {
        "/mine/outer/flag": skillMd("flag", "d", FLAG),
        "/mine/outer/broken": "no frontmatter",
        "/mine/outer/large": UNREAD,
      },
      // Another root lists the second one.
      unread: ["/mine/outer/unread", "/mine/outer/on"],
    },
  );
  const seenBy = (path: string, skill: string) => {
    const isHidden = (forModel: boolean) =>
      hidden.has(resolve(path), resolve(skill), { forModel });
    return isHidden(false) ? "nobody" : isHidden(true) ? "user" : "all";
  };
  const cases: [path: string, skill: string, seen: string][] = [
    ["/mine/outer/file", "/mine/outer", "all"],
    ["/mine/outer/manual/file", "/mine/outer", "user"],
    ["/mine/outer/manual/file", "/mine/outer/manual", "all"],
    ["/mine/outer/off/deep/file", "/mine/outer", "nobody"],
    ["/mine/outer/flag/file", "/mine/outer", "user"],
    ["/mine/outer/broken/file", "/mine/outer", "nobody"],
    ["/mine/outer/unread/file", "/mine/outer", "nobody"],
    ["/mine/outer/large/file", "/mine/outer", "nobody"],
    ["/mine/outer/on/file", "/mine/outer", "all"],
    // A link from elsewhere.
    ["/mine/outer/off/file", "/mine/other", "nobody"],
    ["/mine/outer/file", "/mine/other", "all"],
  ];
  for (const [path, skill, seen] of cases) {
    assert.equal(seenBy(path, skill), seen, `${path} of ${skill}`);
  }
});

Deno.test("a skill whose SKILL.md is a link into a hidden folder is as hidden as that", async () => {
  const { skills } = await decide(
    [
      { root: MINE, path: "/mine/a" },
      { root: MINE, path: "/mine/a/off" },
      { root: MINE, path: "/mine/b" },
      { root: MINE, path: "/mine/b/manual" },
    ],
    [
      { skill: "off", state: "off" },
      { skill: "manual", state: "manual" },
      { skill: ["a", "b"], state: "on" },
    ],
    {
      mainFolders: {
        "/mine/a": "/mine/a/off",
        "/mine/b": "/mine/b/manual",
      },
    },
  );
  assert.deepEqual(
    skills.map(({ hiddenFrom }) => hiddenFrom),
    ["everyone", "everyone", "model", "model"],
  );
  assert.deepEqual(
    skills.map(({ state }) => state),
    ["on", "off", "on", "manual"],
  );
});

Deno.test("decideSkills() tells what is skipped, by which names, and for whom", async () => {
  const { skipped, diagnostics } = await decide(
    [
      { root: THEIRS, path: "/project/skills/x" },
      // The names of all its folders count, wherever they are, as for a rule.
      { root: MINE, path: "/mine/y", realPath: "/store/y-1.0" },
      { root: MINE, path: "/mine/off" },
      { root: MINE, path: "/mine/aws-1" },
      { root: MINE, path: "/mine/z" },
    ],
    [{ skill: ["off", "aws-*"], state: "off" }],
    {
      texts: {
        "/project/skills/x": "---\nname: deploy\n---\n",
        "/store/y-1.0": `---\nname: y\n${FLAG}---\n`,
        "/mine/off": "---\nname: off\n---\n",
        // A rule is about the name of the folder, or what can be read of the skill's.
        "/mine/aws-1": "no frontmatter",
        "/mine/z": "---\nname: aws-2\ndescription: a: b\n---\n",
      },
    },
  );
  assert.deepEqual(
    skipped.map(({ names, scope, isForModel, projectPath, diagnostics }) => {
      const rules = diagnostics.map(({ rule }) => rule);
      return [names, scope, isForModel, projectPath, rules].flat();
    }),
    [
      [
        "deploy",
        "x",
        "project",
        true,
        "skills/x/SKILL.md",
        "description-missing",
      ],
      ["y", "y-1.0", "global", false, undefined, "description-missing"],
    ],
  );
  // The user's own come first.
  assert.deepEqual(diagnostics.map(({ file }) => file), [
    resolve("/mine/y/SKILL.md"),
    resolve("/project/skills/x/SKILL.md"),
  ]);
});

Deno.test("HiddenFolders hides a SKILL.md behind a link from whom reading it is refused", () => {
  const hidden = new HiddenFolders([], [], ["/unsearched"]);
  const cases: [folder: string, hiding: string][] = [
    // A file directly in an unsearched folder is in no skill that nobody found.
    ["/unsearched", "nobody"],
    ["/unsearched/x", "everyone"],
    ["/listed", "nobody"],
  ];
  for (const [mainFolder, hiding] of cases) {
    const realPath = "/skills/git";
    const skill = { realPath, read: { mainFolder } } as unknown as DecidedSkill;
    assert.equal(hidden.hidingOfFile(skill), hiding, mainFolder);
    const file = `${mainFolder}/SKILL.md`;
    assert.equal(hidden.hidingOf(file, realPath), hiding, file);
  }
});

const LISTING = { root: root("/mine"), depth: 1 };

Deno.test("listWatchedFolders() prefers folders that clients subscribed to, and the skills modified last", () => {
  const skills = Array.from({ length: 300 }, (_, modified) => {
    const realPath = `/skills/${modified}`;
    // A SKILL.md that is a link into another folder.
    const mainFolder = modified === 299 ? "/store" : realPath;
    const read = { mainFolder, modified };
    return { realPath, read, listings: [LISTING] } as unknown as DecidedSkill;
  });
  const folders = listWatchedFolders(skills, {
    roots: [],
    policyFile: undefined,
    subscribed: ["/subscribed"],
  });
  const [last, ...others] = skills.slice(-MAX_WATCHED_FOLDERS).reverse()
    .map(({ realPath }) => realPath);
  assert.deepEqual([...folders], ["/subscribed", last, "/store", ...others]);
});
