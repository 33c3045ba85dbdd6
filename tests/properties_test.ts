// Rules of the library that hold for any input, which is drawn at random.
import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import {
  parseSkillUri,
  scanSkillRoots,
  type SkillCatalog,
  SkillFileError,
  skillUri,
} from "../mod.ts";
import { isMisread, join } from "../src/fs/paths.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { hostilePlace } from "./testing/hostile.ts";
import { lacks } from "./testing/needs.ts";
import { readSkillFile, root } from "./testing/registry.ts";
import { Random } from "./walk/random.ts";

/** The usual number of inputs for a property. */
const RUNS = { numRuns: 1_000 };

Deno.test("skillUri() and parseSkillUri() are inverses for any name and path", () => {
  const name = fc.string({ unit: "grapheme", minLength: 1 });
  const part = name.map((part) => part.replaceAll("/", "_"))
    .filter((part) => part !== "." && part !== ".." && !isMisread(part));
  const path = fc.array(part, { maxLength: 5 }).map((parts) => parts.join("/"));
  fc.assert(
    fc.property(name, fc.option(path, { nil: undefined }), (name, path) => {
      const uri = skillUri(name, path);
      assert.deepEqual(parseSkillUri(uri), { name, path });
      assert.ok(URL.canParse(uri));
    }),
    RUNS,
  );
});

Deno.test(
  "SkillRegistry.readFile() returns a file in the skill, or throws, for any path",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.file("secret/key.txt", "secret");
    place.file("skills/other/SKILL.md", skillMd("other") + "secret");
    place.skill("skills", "git");
    place.file("skills/git/docs/a.md", "inside");
    place.link("../../secret", "skills/git/out");
    place.link("../../../secret/key.txt", "skills/git/docs/key.md");
    place.link("docs", "skills/git/in");
    place.link(".", "skills/git/docs/loop");
    const catalog = await scanSkillRoots([root(join(place.path, "skills"))]);
    const skill = catalog.skills.get("git")!;
    const name = fc.constantFrom(
      "docs",
      "a.md",
      "out",
      "key.txt",
      "key.md",
      "in",
      "loop",
      "..",
      ".",
      "other",
      "SKILL.md",
      "skills",
      "secret",
      "\0",
      "\\",
      place.path,
      "~",
      "",
    );
    const path = fc.oneof(
      fc.array(name, { maxLength: 12 }).map((names) => names.join("/")),
      fc.string({ unit: "binary" }),
    );
    let reads = 0;
    fc.assert(
      fc.property(path, (path) => {
        try {
          assert.ok(!readSkillFile(skill, path).text!.includes("secret"));
          reads++;
        } catch (error) {
          assert.ok(error instanceof SkillFileError, String(error));
        }
      }),
      { ...RUNS, examples: [["in/loop/a.md"]] },
    );
    assert.ok(reads > 0);
  },
);

Deno.test("scanSkillRoots() finds the same skills for any order of directory entries", async () => {
  using place = hostilePlace();
  const { readDirSync } = Deno;
  const path = join(place.home, ".claude", "skills");
  const roots = [root(path, { recursive: true }), root(path)];
  const shape = ({ skills, diagnostics, shadowed }: SkillCatalog) => ({
    skills: [...skills].map(([key, { directory }]) => [key, directory]),
    diagnostics,
    shadowed: shadowed.map(({ skill, by }) => [skill.file, by.file]),
  });
  const expected = shape(await scanSkillRoots(roots));
  const random = new Random(1);
  try {
    for (let round = 0; round < 25; round++) {
      Deno.readDirSync = (path) =>
        [...readDirSync(path)].map((entry) => ({ entry, key: random.next() }))
          .sort((a, b) => a.key - b.key).map(({ entry }) => entry).values();
      assert.deepEqual(shape(await scanSkillRoots(roots)), expected);
    }
  } finally {
    Deno.readDirSync = readDirSync;
  }
});
