import assert from "node:assert/strict";
import { join } from "jsr:@std/path@^1";
import { SkillScanner } from "../mod.ts";
import { isCaseBlind } from "../src/files/paths.ts";
import { DiskSpy, OpenSpy, Place, skillMd } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { names, root, scansOf } from "./testing/registry.ts";

Deno.test("SkillScanner.scan() returns the same catalog, and opens no file, if nothing changed", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.skill("skills", "bad", "no frontmatter");
  const roots = [root(join(place.path, "skills"))];
  const scan = scansOf(roots);
  const { now } = Date;
  using opens = new OpenSpy();
  try {
    const first = await scan();
    // Files that were just written are read once more, because they could change undetected.
    Date.now = () => now() + 60_000;
    assert.equal(await scan(), first);
    assert.equal(opens.count, 4);
    assert.equal(await scan(), first);
    assert.equal(opens.count, 4);
  } finally {
    Date.now = now;
  }
});

Deno.test("SkillScanner.scan() rereads what it read while a folder in the path was changing", async () => {
  using place = new Place();
  const skill = place.skill("skills", "git");
  const roots = [root(join(place.path, "skills"))];
  const scan = scansOf(roots);
  const { now } = Date;
  using opens = new OpenSpy();
  try {
    const later = now() + 60_000;
    Date.now = () => later;
    Deno.utimeSync(skill, 0, later / 1_000);
    const first = await scan();
    Deno.utimeSync(skill, 0, 0);
    for (let i = 0; i < 3; i++) {
      assert.equal(await scan(), first);
    }
    assert.equal(opens.count, 2);
  } finally {
    Date.now = now;
  }
});

Deno.test(
  "SkillScanner.scan() keeps a skill whose SKILL.md is replaced while it is being read",
  {
    ignore: lacks("replacing"),
  },
  async () => {
    using place = new Place();
    place.skill("skills", "git", skillMd("git", "First"));
    const roots = [root(join(place.path, "skills"))];
    const scan = scansOf(roots);
    await scan();
    const save = (description: string) =>
      place.replace("skills/git/SKILL.md", skillMd("git", description));
    save("Second");
    let second;
    {
      using _opens = new OpenSpy({ afterOpen: () => save("Third") });
      second = await scan();
    }
    assert.equal(second.skills.get("git")!.description, "First");
    assert.deepEqual(second.problems, []);
    const third = await scan();
    assert.equal(third.skills.get("git")!.description, "Third");
  },
);

Deno.test("SkillScanner.scan() detects a change that preserves size and times", async () => {
  using place = new Place();
  const file = place.file("skills/git/SKILL.md", skillMd("git", "One thing"));
  const roots = [root(join(place.path, "skills"))];
  const scan = scansOf(roots);
  const { atime, mtime } = Deno.statSync(file);
  const first = await scan();
  Deno.writeTextFileSync(file, skillMd("git", "Two thing"));
  Deno.utimeSync(file, atime!, mtime!);
  const second = await scan();
  assert.equal(second.skills.get("git")!.description, "Two thing");
  assert.equal(second.revision, first.revision + 1);
});

Deno.test("SkillScanner.scan() reuses unchanged skills", async () => {
  using place = new Place();
  place.skill("skills", "git");
  place.skill("skills", "pdf");
  const roots = [root(join(place.path, "skills"))];
  const scan = scansOf(roots);
  const first = await scan();
  place.skill("skills", "pdf", skillMd("pdf", "New"));
  const second = await scan();
  assert.equal(second.skills.get("git"), first.skills.get("git"));
  assert.notEqual(second.skills.get("pdf"), first.skills.get("pdf"));
});

Deno.test("SkillScanner.scan() is deterministic for overlapping roots and reports each problem once", async () => {
  using place = new Place();
  place.skill("all/skills", "git");
  place.skill("all/skills", "bad", "no frontmatter");
  const roots = [
    root(join(place.path, "all", "skills")),
    root(join(place.path, "all"), { recursive: true }),
  ];
  const scan = scansOf(roots);
  const first = await scan();
  assert.equal(first.problems.length, 1);
  assert.equal(await scan(), first);
});

Deno.test("SkillScanner.scan() takes one operation for each skill that has not changed for a while", async () => {
  using place = new Place();
  const count = 100;
  for (let i = 0; i < count; i++) place.skill("skills", `skill-${i}`);
  const scan = scansOf([root(join(place.path, "skills"))]);
  const { now } = Date;
  try {
    Date.now = () => now() + 60_000;
    const catalog = await scan();
    using disk = new DiskSpy();
    assert.equal(await scan(), catalog);
    assert.equal(disk.counts.get("openSync"), undefined);
    // Where case does not matter, each folder is also listed for the name on disk.
    const operations = isCaseBlind ? 2 * count : count;
    assert.ok(disk.count < operations + 20, `${disk.count} operations`);
  } finally {
    Date.now = now;
  }
});

Deno.test("SkillScanner.scan() detects changes even if the clock is wrong", async () => {
  using place = new Place();
  place.skill("skills", "git");
  const roots = [root(join(place.path, "skills"))];
  const scan = scansOf(roots);
  const { now } = Date;
  let catalog = await scan();
  try {
    for (const jump of [-1e12, 1e12, -1e9, 0]) {
      Date.now = () => now() + jump;
      const text = skillMd("git", `Jump ${jump}`);
      place.skill("skills", "git", text);
      catalog = await scan();
      assert.equal(catalog.skills.get("git")!.description, `Jump ${jump}`);
    }
  } finally {
    Date.now = now;
  }
});

Deno.test(
  "SkillScanner.scan() closes a skill whose SKILL.md is linked anew, to the same file in a skill that is off",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    const skills = place.folder("skills");
    place.file("store/git/SKILL.md", skillMd("git"));
    place.folder("store/closed");
    const [git, closed] = ["git", "closed"].map((folder) =>
      join(place.path, "store", folder, "SKILL.md")
    );
    Deno.linkSync(git!, closed!);
    place.link(git!, "skills/linked/SKILL.md");
    const scanner = new SkillScanner([root(skills)], {
      trustLinks: [join(place.path, "store")],
      policy: {
        rules: [{ in: join(place.path, "store/closed"), state: "off" }],
      },
    });
    assert.deepEqual(names((await scanner.scan(true)).catalog), ["git"]);
    place.remove("skills/linked/SKILL.md");
    place.link(closed!, "skills/linked/SKILL.md");
    assert.deepEqual(names((await scanner.scan(true)).catalog), []);
  },
);

Deno.test(
  "SkillScanner.scan() searches where a linked SKILL.md lies even if it cannot be read",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const file = place.file("store/skill.md", skillMd("git", "x".repeat(500)));
    place.link(file, "links/skill.md");
    place.link(join(place.path, "links", "skill.md"), "skills/git/SKILL.md");
    const roots = [root(join(place.path, "skills"))];
    const { catalog, folders } = await new SkillScanner(roots, {
      trustLinks: [place.path],
      maxFileSize: 100,
    }).scan();
    assert.match(catalog.problems[0]!.reason, /the limit is/);
    assert.ok(folders.has(join(place.path, "store")));
  },
);
