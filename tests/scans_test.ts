// What a scan finds, as a table: which directories are skills, which of them has a
// name, and where links may lead.
import assert from "node:assert/strict";
import {
  resolveSkillRoots,
  scanSkillRoots,
  type SkillCatalog,
  SkillRegistry,
  type SkillRoot,
} from "../mod.ts";
import { join, relative } from "../src/fs/paths.ts";
import { createEntries } from "./testing/entries.ts";
import { Place } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";

interface Scan {
  /** The entries of the place, as {@linkcode createEntries} reads them. */
  readonly files: string;
  /** The roots, in order, each with its options after a colon. */
  readonly roots: string;
  /** A directory that links may lead into. */
  readonly trusted?: string;
  /** Whether a policy turns the project's skills off. */
  readonly isProjectOff?: boolean;
  /** The skills that have their names, each with its directory. */
  readonly found: string;
  /** What is reported, each with its rule. */
  readonly diagnostics?: string;
}

const ROOTS: Readonly<Record<string, Partial<SkillRoot>>> = {
  "": {},
  deep: { recursive: true },
  unpacked: { recursive: true, omitsPutAway: true },
  nested: { recursive: true, searchesSkills: true },
  confined: { confinesLinks: true },
  itself: { includesItself: true },
};

/** What a scan does, and an example. */
const SCANS: Readonly<Record<string, readonly Scan[]>> = {
  "finds skills in groups, one level deep": [{
    files: `skills/git/,
      skills/eng/tdd/, skills/eng/review/, skills/eng/more/deep/`,
    roots: "skills",
    found: `git skills/git,
      review skills/eng/review, tdd skills/eng/tdd`,
  }],
  "ignores groups that are hidden or set aside": [{
    files: `skills/.x/a/, skills/_x/b/, skills/disabled/c/,
      skills/Archive/d/, skills/backup/e/, skills/old/f/`,
    roots: "skills",
    found: "",
  }],
  "searches no group in node_modules, in a skill, or in another root": [
    {
      files: `skills/node_modules/g/, skills/outer/, skills/outer/inner/,
        skills/root/one/, own/, own/folder/part/`,
      roots: "skills, skills/root, own:itself",
      found: "one skills/root/one, outer skills/outer, own own",
    },
    {
      files: "skills/root/one/, skills/outer/, skills/outer/inner/",
      roots: "skills:confined",
      found: "outer skills/outer",
    },
  ],
  "prefers a skill directly in a root to one in a group, and groups in the order of their paths":
    [
      {
        files: "skills/b/git/, skills/a/git/",
        roots: "skills",
        found: "git skills/a/git",
      },
      {
        files: "skills/b/git/, skills/a/git/, skills/git copy/=git",
        roots: "skills",
        found: "git skills/git copy",
      },
    ],
  "prefers the skill in a folder of its name to a copy, but not to one in an earlier root":
    [
      {
        files: "mine/invoice/=pdf, mine/pdf/=PDF, more/pdf/",
        roots: "mine, more",
        found: "PDF mine/pdf",
      },
      {
        files: "mine/invoice/=pdf, more/pdf/",
        roots: "mine, more",
        found: "pdf mine/invoice",
      },
    ],
  "reports a root that is a file, but not one that is missing": [{
    files: "file, skills/git/",
    roots: "none, file, skills",
    found: "git skills/git",
    diagnostics: "file not-a-folder",
  }],
  "serves a configured folder that is a skill, and searches its subfolders": [{
    files: "all/git/, all/git/inner/, all/git/skills/deeper/",
    roots: "all/git:configured",
    found: `deeper all/git/skills/deeper,
      git all/git, inner all/git/inner`,
  }],
  "searches a recursive root six levels deep, also in hidden folders": [{
    files: `all/one/, all/a/b/c/d/e/six/, all/a/b/c/d/e/f/seven/,
      all/skills/.curated/curated/, all/.claude/skills/claude/`,
    roots: "all:deep",
    found: `claude all/.claude/skills/claude,
      curated all/skills/.curated/curated,
      one all/one, six all/a/b/c/d/e/six`,
  }],
  "searches a recursive root up to its skills, except itself": [
    {
      files: `all/=all, all/one/, all/one/examples/two/, all/one/SKILL/bad/=bad,
        all/.claude/worktrees/copy/one/, all/worktrees/three/`,
      roots: "all:deep",
      found: "all all, one all/one, three all/worktrees/three",
    },
    {
      files: "all/one/, all/one/examples/two/, all/one/examples/two/three/",
      roots: "all:nested",
      found: `one all/one, three all/one/examples/two/three,
        two all/one/examples/two`,
    },
    {
      files: "all/one/, all/one/two/",
      roots: "all:deep, all/one",
      found: "one all/one, two all/one/two",
    },
  ],
  "omits what is put away in a root of unpacked archives": [{
    files: `all/pdf/pdf/, all/repository-main/skills/git/,
      all/repository-main/.claude/skills/own/, all/_drafts/=_drafts, all/.x/a/,
      all/_drafts/b/, all/more/disabled/c/, all/more/Old/d/, all/archive/e/`,
    roots: "all:unpacked",
    found: `_drafts all/_drafts, git all/repository-main/skills/git,
      own all/repository-main/.claude/skills/own, pdf all/pdf/pdf`,
  }],
  "serves a project that is a skill itself as the project's": [
    { files: "project/=a", roots: "", found: "a project" },
    { files: "project/=a", roots: "", isProjectOff: true, found: "" },
  ],
  "skips the folders of tools in a recursive root": [{
    files: `all/.git/git/, all/__pycache__/cached/, all/venv/,
      all/node_modules/package/skills/module/, all/.venv/skills/installed/,
      all/venv/lib/site-packages/installed-too/`,
    roots: "all:deep",
    found: "venv all/venv",
  }],
};

/** A project whose links lead out, into it, to the user's skills, and into a store. */
const LINKED = `
  project/skills/out -> documents/private, documents/private/,
  project/skills/in -> project/vendor/vendored, project/vendor/vendored/,
  project/skills/own -> home/.agents/skills/own, home/.agents/skills/own/,
  project/skills/store -> trusted/stored, trusted/stored/,
  project/root -> documents`;

const OUTSIDE = `project/skills/out link-outside,
  project/skills/own link-outside,
  project/skills/store link-outside,
  project/root link-outside`;

/** A project with a link out of it, and a link to the project. */
const LINKED_PROJECT = `linked -> project, project/.claude/skills/theirs/,
  project/.claude/skills/out -> documents/private, documents/private/`;

/** Where links may lead. */
const LINKS: Readonly<Record<string, readonly Scan[]>> = {
  "follows a link out of a project only into a trusted folder": [
    {
      files: LINKED,
      roots: "project/skills, project/root",
      found: "vendored project/skills/in",
      diagnostics: OUTSIDE,
    },
    {
      files: LINKED,
      roots: "project/skills, project/root",
      trusted: "trusted",
      found: "stored project/skills/store, vendored project/skills/in",
      diagnostics: OUTSIDE.replace(/project.skills.store link-outside,\s+/, ""),
    },
  ],
  "finds the user's skills, whatever links to them the project has": [
    {
      files: LINKED,
      roots: "project/skills, project/root, home/.agents/skills",
      found: "own home/.agents/skills/own, vendored project/skills/in",
      diagnostics: OUTSIDE,
    },
    {
      files: "home/skills/git/, project/skills -> home/skills",
      roots: "project/skills, home/skills",
      isProjectOff: true,
      found: "git home/skills/git",
    },
  ],
  "neither serves nor reports skills that are off, which shadow nothing": [{
    files: `project/skills/git/, project/skills/evil/,
      project/skills/broken/=bad, project/skills/dangling -> nowhere,
      home/skills/git/`,
    roots: "project/skills, home/skills",
    isProjectOff: true,
    found: "git home/skills/git",
  }],
  "recognizes the project through a link, and in a folder that is searched": [
    {
      files: LINKED_PROJECT,
      roots: "linked/.claude/skills",
      found: "theirs linked/.claude/skills/theirs",
      diagnostics: "linked/.claude/skills/out link-outside",
    },
    {
      files: LINKED_PROJECT,
      roots: "linked/.claude:deep",
      found: "theirs linked/.claude/skills/theirs",
      diagnostics: "linked/.claude/skills/out link-outside",
    },
    {
      // The target of the project's link is in the searched folder, too.
      files: LINKED_PROJECT,
      roots: ":deep",
      found: `private documents/private,
          theirs linked/.claude/skills/theirs`,
      diagnostics: "linked/.claude/skills/out link-outside",
    },
    {
      files: LINKED_PROJECT,
      roots: ":deep, linked/.claude/skills",
      isProjectOff: true,
      found: "private documents/private",
    },
  ],
  "follows links only within the roots, not where a link of the project moves a root":
    [{
      files: `documents/private/, project/root -> documents,
        home/skills/private -> documents/private`,
      roots: "project/root:confined, home/skills:confined",
      found: "",
      diagnostics:
        "home/skills/private link-outside, project/root link-outside",
    }],
  "follows links in groups as in roots, and links to groups": [
    {
      files: `home/skills/team -> home/store/team, home/store/team/git/,
        home/skills/eng/single -> home/store/single, home/store/single/,
        home/skills/eng/gone -> nowhere`,
      roots: "home/skills",
      found: "git home/skills/team/git, single home/skills/eng/single",
    },
    {
      files: `secret/keys/private/, project/skills/keys -> secret/keys,
        project/skills/group/private -> secret/keys/private`,
      roots: "project/skills",
      found: "",
      diagnostics: "project/skills/group/private link-outside",
    },
  ],
  "finds a project's links wherever a link of the user's leads to it": [{
    files: `home/code -> project, home/mine -> store/mine, store/mine/,
      project/.claude/skills/out -> store/out, store/out/`,
    roots: "home:deep",
    found: "mine home/mine",
    diagnostics: "home/code/.claude/skills/out link-outside",
  }],
  "gives a skill that a link leads into the project the scope of the project": [
    {
      files: "home/skills/x -> project/tools/x, project/tools/x/",
      roots: "home/skills",
      found: "x home/skills/x",
    },
    {
      files: "home/skills/x -> project/tools/x, project/tools/x/",
      roots: "home/skills",
      isProjectOff: true,
      found: "",
    },
  ],
  "finds a skill once, in the first root that lists it, and ends in a loop": [
    {
      files: "one/git -> two/git, two/git/, two/pdf/",
      roots: "one, two",
      found: "git one/git, pdf two/pdf",
    },
    {
      files: "all/a/, all/a/up -> all, all/b/again -> all/a, all/b/c/",
      roots: "all:deep",
      found: "a all/a, c all/b/c",
    },
  ],
  "ignores links that lead to no skill": [{
    files: `project/skills/README.md -> outside/notes.md, outside/notes.md,
      project/skills/docs -> outside,
      project/skills/deep/dangling -> nowhere`,
    roots: "project/skills, project/skills:deep",
    found: "",
  }],
  "follows a SKILL.md that is a link into a folder that is trusted": [{
    files: "skills/git/SKILL.md -> store/git.md, store/git.md=git",
    roots: "skills",
    trusted: "store",
    found: "git skills/git",
  }],
  "skips a SKILL.md that is a broken link, or a link to a hidden file or out of its skill":
    [{
      files: `skills/good/, skills/gone -> nowhere,
        skills/dangling/SKILL.md -> nowhere,
        skills/loop/SKILL.md -> skills/loop/SKILL.md,
        skills/hidden/SKILL.md -> skills/hidden/.store/SKILL.md,
        skills/hidden/.store/SKILL.md=hidden,
        skills/out/SKILL.md -> secret.md, secret.md=secret`,
      roots: "skills",
      found: "good skills/good",
      diagnostics: `skills/gone link-broken,
        skills/dangling/SKILL.md link-broken,
        skills/hidden/SKILL.md link-outside,
        skills/loop/SKILL.md link-broken,
        skills/out/SKILL.md link-outside`,
    }],
};

/** A scan, and the scans after changes of the disk. */
interface Rescan extends Scan {
  readonly steps: readonly (Pick<Scan, "found" | "diagnostics"> & {
    /** Paths to remove. */
    readonly remove?: string;
    /** What to rename, and to what. */
    readonly rename?: readonly [string, string];
    readonly add?: string;
  })[];
}

const RESCANS: Readonly<Record<string, readonly Rescan[]>> = {
  "reads a SKILL.md that changed or was removed": [{
    files: "skills/git/",
    roots: "skills",
    found: "git skills/git",
    steps: [
      { add: "skills/git/SKILL.md=fixed", found: "fixed skills/git" },
      { remove: "skills/git/SKILL.md", found: "" },
    ],
  }],
  "prefers SKILL.md to skill.md": [{
    files: "skills/git/skill.md=lower",
    roots: "skills",
    found: "lower skills/git",
    steps: [
      { add: "skills/git/SKILL.md=upper", found: "upper skills/git" },
      { remove: "skills/git/SKILL.md", found: "lower skills/git" },
    ],
  }],
  "finds the skills of a group until it becomes a skill": [{
    files: "skills/eng/tdd/",
    roots: "skills",
    found: "tdd skills/eng/tdd",
    steps: [
      { add: "skills/eng/", found: "eng skills/eng" },
      { remove: "skills/eng/SKILL.md", found: "tdd skills/eng/tdd" },
      {
        rename: ["skills/eng", "skills/old"],
        found: "",
      },
    ],
  }],
  "follows a root and a link that change where they lead": [
    {
      files: "skills/a/, store/b/",
      roots: "skills",
      found: "a skills/a",
      steps: [
        { remove: "skills", add: "skills -> store", found: "b skills/b" },
        { remove: "skills", add: "skills/c/", found: "c skills/c" },
      ],
    },
    {
      files: "skills/x -> store/a, store/a/, store/b/",
      roots: "skills",
      found: "a skills/x",
      steps: [
        {
          remove: "skills/x",
          add: "skills/x -> store/b",
          found: "b skills/x",
        },
        {
          remove: "store/b",
          found: "",
          diagnostics: "skills/x link-broken",
        },
        {
          remove: "skills/x",
          add: "skills/x/",
          found: "x skills/x",
        },
      ],
    },
  ],
};

/** Returns the roots and the options of a row. */
function argumentsOf(
  place: Place,
  { roots, trusted, isProjectOff }: Scan,
): Parameters<typeof scanSkillRoots> {
  const all = roots.split(", ").flatMap((it) => {
    const [dir = "", kind = ""] = it.split(":");
    const path = join(place.path, dir);
    if (kind === "configured") return resolveSkillRoots({ dirs: [path] });
    const scope = dir.startsWith("project") ? "project" : "global";
    return [root(path, { scope, ...ROOTS[kind] })];
  });
  const off = { scope: "project", state: "off" } as const;
  return [all, {
    workingDirectory: place.project,
    homeDirectory: place.home,
    trustLinks: trusted === undefined ? [] : [join(place.path, trusted)],
    policy: { rules: isProjectOff ? [off] : [] },
  }];
}

/** Asserts that a scan found the skills of a row, with their scopes, and its diagnostics. */
function assertFound(
  place: Place,
  { skills, diagnostics }: SkillCatalog,
  expected: Pick<Scan, "found" | "diagnostics">,
): void {
  const pathOf = (path: string) =>
    relative(place.path, path).replaceAll("\\", "/");
  for (const { scope, realDirectory } of skills.values()) {
    const isInProject = /^project(?:\/|$)/.test(pathOf(realDirectory));
    assert.equal(scope, isInProject ? "project" : "global");
  }
  const found = Array.from(
    skills.values(),
    ({ name, directory }) => `${name} ${pathOf(directory)}`,
  );
  const reported = diagnostics
    .map(({ file, rule }) => `${pathOf(file)} ${rule}`);
  assert.deepEqual([found.join(", "), reported.join(", ")], [
    onOneLine(expected.found),
    onOneLine(expected.diagnostics ?? ""),
  ]);
}

function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

function testScan(
  title: string,
  rows: readonly Scan[],
  test: (place: Place, row: Scan) => Promise<void>,
): void {
  const text = JSON.stringify(rows);
  Deno.test({
    name: `a scan ${title}`,
    ignore: text.includes("->") && lacks("links") ||
      text.includes("skill.md") && lacks("caseSensitive"),
    fn: async (context) => {
      for (const row of rows) {
        const name = `${row.roots} with ${onOneLine(row.files)}`;
        await context.step(name, async () => {
          using place = new Place();
          createEntries(row.files, place);
          await test(place, row);
        });
      }
    },
  });
}

for (const [title, rows] of Object.entries({ ...SCANS, ...LINKS })) {
  testScan(title, rows, async (place, row) => {
    const catalog = await scanSkillRoots(...argumentsOf(place, row));
    assertFound(place, catalog, row);
  });
}

for (const [title, rows] of Object.entries(RESCANS)) {
  testScan(`after a change ${title}`, rows, async (place, row) => {
    const [roots, options] = argumentsOf(place, row);
    using registry = new SkillRegistry(roots, { ...options, log: () => {} });
    assertFound(place, await registry.refresh(), row);
    for (const { remove, rename, add, ...found } of (row as Rescan).steps) {
      if (remove !== undefined) place.remove(remove);
      if (rename !== undefined) {
        const [from, to] = rename.map((path) => join(place.path, path));
        Deno.renameSync(from!, to!);
      }
      if (add !== undefined) createEntries(add, place);
      assertFound(place, await registry.refresh(), found);
    }
  });
}
