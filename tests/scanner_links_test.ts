import assert from "node:assert/strict";
import { scanSkillRoots } from "../mod.ts";
import { join } from "../src/files/paths.ts";
import {
  DiskSpy,
  exchange,
  OpenSpy,
  Place,
  skillMd,
} from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { listPaths, names, readSkillFile, root } from "./testing/registry.ts";

Deno.test(
  "scanSkillRoots() reports a folder of an option that leads out of the project or cannot be resolved, and none that is missing",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const home = place.link(place.home, "linked-home");
    const out = place.link(place.folder("documents"), "project/out");
    const denied = place.folder("denied");
    using _disk = new DiskSpy((path, operation) =>
      path === denied && operation === "realPathSync"
        ? new Deno.errors.NotCapable("Requires read access")
        : undefined
    );
    const { problems } = await scanSkillRoots([], {
      workingDirectory: place.project,
      homeDirectory: home,
      trustLinks: [join(place.project, "missing"), join(home, "missing")],
      nameOnlyFolders: [out, denied],
    });
    assert.deepEqual(problems.map(({ file }) => file), [out, denied]);
  },
);

Deno.test(
  "scanSkillRoots() reveals no names from a folder that is swapped in during the scan",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill("project/skills/group", "git");
    place.skill("outside", "secret");
    const group = join(place.project, "skills", "group");
    const roots = [root(join(place.project, "skills"), { recursive: true })];
    using _disk = new DiskSpy((path, operation) => {
      if (path !== group || operation !== "readDirSync") return undefined;
      place.remove("project/skills/group");
      place.link(join(place.path, "outside"), "project/skills/group");
    });
    const options = { workingDirectory: place.project };
    const catalog = await scanSkillRoots(roots, options);
    assert.equal(catalog.skills.size, 0);
    assert.ok(!JSON.stringify(catalog.problems).includes("secret"));
  },
);

Deno.test(
  "scanSkillRoots() follows links from a skill's files to trusted folders",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const store = place.folder("store");
    place.link(
      place.file("store/1-git.md", skillMd("git")),
      "skills/git/SKILL.md",
    );
    place.link(place.file("store/2-help.md", "Help"), "skills/git/help.md");
    const roots = [root(join(place.path, "skills"))];
    assert.deepEqual(names(await scanSkillRoots(roots)), []);
    const options = { trustLinks: [store] };
    const catalog = await scanSkillRoots(roots, options);
    assert.deepEqual(names(catalog), ["git"]);
    const skill = catalog.skills.get("git")!;
    assert.deepEqual(
      await listPaths(skill, options),
      ["SKILL.md", "help.md"],
    );
    assert.equal(readSkillFile(skill, "help.md", options).text, "Help");
  },
);

Deno.test(
  "scanSkillRoots() reads nothing through a skill folder that is swapped for a link out and back again",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const git = place.skill("skills", "git");
    place.skill("skills", "pdf");
    const outside = place.skill("outside", "git", skillMd("git", "secret"));
    const link = place.link(outside, "links/git");
    const skills = join(place.path, "skills");
    const { now } = Date;
    const later = now() + 60_000;
    const swap = () => {
      exchange(git, link);
      // The clock of this test is ahead, so the swap must not seem to be old.
      Deno.utimeSync(skills, 0, later / 1_000);
    };
    let isSwapped = false;
    using _opens = new OpenSpy({
      beforeOpen: (path) => {
        isSwapped = path.startsWith(git);
        if (isSwapped) swap();
        return path;
      },
      afterOpen: () => isSwapped && swap(),
    });
    try {
      Date.now = () => later;
      const { skills: found, problems } = await scanSkillRoots([root(skills)]);
      assert.deepEqual([...found.keys()], ["pdf"]);
      assert.deepEqual(problems.map(({ file, reason }) => [file, reason]), [
        [git, "it was replaced while it was being read"],
      ]);
    } finally {
      Date.now = now;
    }
  },
);
