// What a scan finds, as a table: which directories are skills, which of them has a
// name, and where links may lead.
import assert from "node:assert/strict";
import { resolveSkillRoots, scanSkillRoots, type SkillRoot } from "../mod.ts";
import { join, relative } from "../src/fs/paths.ts";
import { createEntries } from "./testing/entries.ts";
import { Place } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";

interface Scan {
  /** What lies in the place of the test. */
  readonly files: string;
  /** The roots, in order, each with its options after a colon. */
  readonly roots: string;
  /** A directory that links may lead into. */
  readonly trusted?: string;
  /** What is in the project and off. */
  readonly isProjectOff?: boolean;
  /** The skills that have their names, each with its directory. */
  readonly found: string;
  /** What is reported, each with its rule. */
  readonly diagnostics?: string;
}

const ROOTS: Readonly<Record<string, Partial<SkillRoot>>> = {
  "": {},
  deep: { recursive: true },
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
  "takes nothing for a group that is hidden or put aside": [{
    files: `skills/.x/a/, skills/_x/b/, skills/disabled/c/,
      skills/Archive/d/, skills/backup/e/, skills/old/f/`,
    roots: "skills",
    found: "",
  }],
  "takes nothing for a group that is filled by tools, a skill, or a root": [
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
  "prefers a skill directly in a root to those of groups, which go by path": [
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
  "prefers SKILL.md to skill.md": [{
    files: "skills/b/skill.md=lower, skills/b/SKILL.md=upper",
    roots: "skills",
    found: "upper skills/b",
  }],
  "reports a root that is a file, but none that is missing": [{
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
  "does not search what tools fill in a recursive root": [{
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
  "follows no link out of a project, but into a folder that is trusted": [
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
  "lets no link of the project change what the user lists": [
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
  "takes a project for the same through a link, and below a folder that is searched":
    [
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
        // Only the directory itself lists what the link of the project leads to.
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
  "lets no root that a link of the project leads away widen where links may lead":
    [{
      files: `documents/private/, project/root -> documents,
        home/skills/private -> documents/private`,
      roots: "project/root:confined, home/skills:confined",
      found: "",
      diagnostics:
        "home/skills/private link-outside, project/root link-outside",
    }],
  "takes no link in a project for the user's, whichever folder around it is searched":
    [{
      files: `secret/keys/, project/.claude/skills/theirs/,
        project/.claude/skills/keys -> secret/keys`,
      roots: "project:deep",
      found: "theirs project/.claude/skills/theirs",
      diagnostics: "project/.claude/skills/keys link-outside",
    }],
  "follows links in groups as in roots, and a group can be one": [
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
  "skips a SKILL.md that is a link to nothing, to what is hidden, or out of its skill":
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

/** Scans the roots of a row, in the project and for the user of a place. */
async function scan(
  place: Place,
  { roots, trusted, isProjectOff }: Scan,
): Promise<{ found: string; diagnostics: string }> {
  const all = roots.split(", ").flatMap((it) => {
    const [dir = "", kind = ""] = it.split(":");
    const path = join(place.path, dir);
    if (kind === "configured") return resolveSkillRoots({ dirs: [path] });
    const scope = dir.startsWith("project") ? "project" : "global";
    return [root(path, { scope, ...ROOTS[kind] })];
  });
  const off = { scope: "project", state: "off" } as const;
  const { skills, diagnostics } = await scanSkillRoots(all, {
    workingDirectory: place.project,
    homeDirectory: place.home,
    trustLinks: trusted === undefined ? [] : [join(place.path, trusted)],
    policy: { rules: isProjectOff ? [off] : [] },
  });
  const pathOf = (path: string) =>
    relative(place.path, path).replaceAll("\\", "/");
  for (const { scope, realDirectory } of skills.values()) {
    const isInProject = pathOf(realDirectory).startsWith("project/");
    assert.equal(scope, isInProject ? "project" : "global");
  }
  return {
    found: Array.from(
      skills.values(),
      ({ name, directory }) => `${name} ${pathOf(directory)}`,
    ).join(", "),
    diagnostics: diagnostics.map(({ file, rule }) => `${pathOf(file)} ${rule}`)
      .join(", "),
  };
}

function onOneLine(text: string): string {
  return text.trim().replaceAll(/\s+/g, " ");
}

for (const [needsLinks, table] of [[false, SCANS], [true, LINKS]] as const) {
  for (const [title, rows] of Object.entries(table)) {
    Deno.test({
      name: `a scan ${title}`,
      ignore: needsLinks && lacks("links"),
      fn: async (test) => {
        for (const row of rows) {
          const { files, roots, found, diagnostics = "" } = row;
          await test.step(`${roots} with ${onOneLine(files)}`, async () => {
            using place = new Place();
            createEntries(files, place);
            assert.deepEqual(await scan(place, row), {
              found: onOneLine(found),
              diagnostics: onOneLine(diagnostics),
            });
          });
        }
      },
    });
  }
}
