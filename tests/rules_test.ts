// Each rule of docs/check.md, and something that breaks it, which is really reported.
import assert from "node:assert/strict";
import { scanSkillRoots, SkillFileError, SkillRegistry } from "../mod.ts";
import { join } from "../src/files/paths.ts";
import { type ProblemRule, SENTENCES } from "../src/problems.ts";
import { YAML_SENTENCES } from "../src/skills/frontmatter_faults.ts";
import { diskError, DiskSpy, OpenSpy, Place } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";
import { problemsIn } from "./testing/report.ts";

/** Breaks a rule in the folder `skills`, and returns the rules of what is reported. */
type Breach = (place: Place) => Promise<readonly string[]>;

/** Returns the rules of what `--check` reports about the folder `skills`. */
async function check(place: Place, ...args: string[]): Promise<string[]> {
  const folder = join(place.path, "skills");
  const problems = await problemsIn("--check", folder, ...args);
  // They are printed as they are by users of the library.
  for (const problem of problems) {
    assert.ok(!Object.values(problem).includes(undefined), problem.reason);
  }
  return problems.map(({ rule }) => rule);
}

/** Returns the text of a `SKILL.md` without problems, but for more lines of frontmatter. */
function skill(more = "", { name = "git", description = "About Git" } = {}) {
  return `---\nname: ${name}\ndescription: ${description}\n${more}\n---\nText\n`;
}

/** Checks a skill in the folder `git`. */
function withText(text: string | Uint8Array): Breach {
  return withFiles({ "git/SKILL.md": text });
}

/** Checks a folder with these files. */
function withFiles(files: Record<string, string | Uint8Array>): Breach {
  return (place) => {
    for (const [path, content] of Object.entries(files)) {
      place.file(`skills/${path}`, content);
    }
    return check(place);
  };
}

/** Checks a folder with a link. */
function withLink(target: string, path: string): Breach {
  return (place) => {
    place.file("secret.md", skill());
    place.link(target, `skills/${path}`);
    return check(place);
  };
}

/** Checks a skill while a file of it cannot be opened. */
function withFailure(name: string, error: Error): Breach {
  return async (place) => {
    place.file("skills/git/SKILL.md", skill());
    place.file("skills/git/key.md", "");
    using _disk = new DiskSpy((path, operation) =>
      operation === "openSync" && path.endsWith(name) ? error : undefined
    );
    return await check(place);
  };
}

/** Checks a skill whose `SKILL.md` grows whenever it was opened. */
async function withReplacements(place: Place): Promise<readonly string[]> {
  const file = place.file("skills/git/SKILL.md", skill());
  const grow = () => Deno.writeTextFileSync(file, "x", { append: true });
  using _opens = new OpenSpy({ afterOpen: grow });
  return await check(place);
}

/** Reads a file that a skill does not have. */
async function readMissingFile(place: Place): Promise<readonly string[]> {
  place.file("skills/git/SKILL.md", skill());
  using registry = new SkillRegistry([root(join(place.path, "skills"))]);
  await registry.refresh();
  return await registry.readFile(registry.find("git")!, "none.md").then(
    () => [],
    (error) => error instanceof SkillFileError ? [error.rule] : [],
  );
}

/** Searches a project with more folders than a project may have. */
async function withManyFolders(place: Place): Promise<readonly string[]> {
  for (let index = 0; index <= 1_000; index++) place.folder(`skills/${index}`);
  const folder = root(join(place.path, "skills"), { scope: "project" });
  const { problems } = await scanSkillRoots([folder]);
  return problems.map(({ rule }) => rule);
}

/** Checks a skill with more files than a host accepts. */
async function withManyFiles(place: Place): Promise<readonly string[]> {
  for (let index = 0; index < 512; index++) {
    place.file(`skills/git/${index}`, "");
  }
  return await withText(skill())(place);
}

const BREACHES: Readonly<Record<ProblemRule, Breach>> = {
  "policy": (place) => check(place, "--policy", join(place.path, "none.yaml")),
  "policy-unused": async (place) => {
    const policy = place.file("p.yaml", "rules: [{ skill: x, state: off }]");
    const folder = place.folder("skills");
    const problems = await problemsIn("--list", folder, "--policy", policy);
    return problems.map(({ rule }) => rule);
  },
  "no-skills": (place) => (place.folder("skills"), check(place)),
  "folder-missing": (place) => check(place),
  "not-a-folder": (place) => (place.file("skills", ""), check(place)),
  "file-name": withFiles({ "git/SKILL.txt": skill() }),
  "loose-file": withFiles({ ".claude/skills/SKILL.md": skill() }),
  "link-text": withFiles({ "git/SKILL.md": "../other/SKILL.md" }),
  "skill-md-missing": withFiles({ "git/git.py": "" }),
  "frontmatter-missing": withText("# Git\n"),
  "yaml": withText(skill("license: [")),
  "name-missing": withText(skill("", { name: "" })),
  "name-malformed": withText(skill("", { name: "project:git" })),
  "description-missing": withText(skill("", { description: "" })),
  "too-large": withText(skill() + "x".repeat(1024 * 1024)),
  "not-a-file": (place) => {
    place.folder("skills/git/SKILL.md");
    return check(place);
  },
  "link-outside": withLink("../../secret.md", "git/SKILL.md"),
  "link-broken": withLink("nowhere", "git"),
  "permission": withFailure("SKILL.md", new Deno.errors.PermissionDenied()),
  "changed": withReplacements,
  "too-many": withManyFolders,
  "file-missing": readMissingFile,
  "inaccessible": withFailure("SKILL.md", diskError()),
  "yaml-repaired": withText(skill("", { description: "Use: Git" })),
  "name-characters": withText(skill("", { name: "Git" })),
  "name-length": withText(skill("", { name: "g".repeat(65) })),
  "description-length": withText(skill("", { description: "x".repeat(1_025) })),
  "hidden-characters": withText(skill("", { description: '"a\\u200bb"' })),
  "compatibility": withText(skill("compatibility: []")),
  "metadata": withText(skill("metadata: { version: 1.0 }")),
  "frontmatter-json": withText(skill("size: .inf")),
  "utf-8": withText(
    new Uint8Array([...new TextEncoder().encode(skill()), 0xff]),
  ),
  "size": withManyFiles,
  "unreadable": withFailure("key.md", diskError()),
  "name-folder": withText(skill("", { name: "other" })),
  "flags": withText(skill("user-invocable: maybe")),
  "field-misspelled": withText(skill("licence: MIT")),
  "file-case": withFiles({ "git/skill.md": skill() }),
  "invisible-characters": withText(`${skill()}a\u202eb\n`),
  "description-comment": withText(skill("", { description: "Fix issue #1" })),
  "description-tag": withText(skill("", { description: "Fill <form> in" })),
  "argument-hint": withText(skill("argument-hint: [file]")),
  "allowed-tools": withText(skill("allowed-tools: [Read]")),
  "body-empty": withText(skill().replace("Text\n", "")),
  "long": withText(skill() + "line\n".repeat(500)),
  "broken-link": withText(`${skill()}[a](none.md)\n`),
  "name-twice": withFiles({ "git/SKILL.md": skill(), "b/SKILL.md": skill() }),
  "not-served": withFiles({
    "git/SKILL.md": skill(),
    "git/data.bin": new Uint8Array(1024 * 1024 + 1),
  }),
  "not-searched": withFiles({ "more/skills/git/SKILL.md": skill() }),
  "archive": withFiles({ "git.zip": "" }),
};

const NEEDS_LINKS = new Set(["link-outside", "link-broken"]);

for (const [rule, breach] of Object.entries(BREACHES)) {
  Deno.test({
    name: `what breaks the rule ${rule} is reported under it`,
    ignore: NEEDS_LINKS.has(rule) && lacks("links"),
    fn: async () => {
      using place = new Place();
      const rules = await breach(place);
      assert.ok(rules.includes(rule), `It reports ${JSON.stringify(rules)}`);
    },
  });
}

Deno.test("--check reports nothing about the skill that these breaches begin with", async () => {
  using place = new Place();
  assert.deepEqual(await withText(skill())(place), []);
});

Deno.test("docs/check.md has the sentences that the model reads of what is skipped", () => {
  const page = Deno.readTextFileSync("docs/check.md");
  const text = page.replaceAll("`", "").replaceAll(/\s+/g, " ");
  for (const [rule, sentence] of Object.entries(SENTENCES)) {
    assert.ok(text.includes(` - ${rule}: ${sentence}`), rule);
  }
  for (const sentence of Object.values(YAML_SENTENCES)) {
    assert.ok(text.includes(sentence), sentence);
  }
});
