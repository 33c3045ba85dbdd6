import assert from "node:assert/strict";
import { scanSkillRoots } from "../mod.ts";
import { basename, join } from "../src/files/paths.ts";
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
  "scanSkillRoots() confines links in a project to the project and the user's own roots",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    const { project } = place;
    place.link(place.skill("documents", "private"), "project/skills/out");
    place.link(place.skill("project/vendor", "vendored"), "project/skills/in");
    place.link(place.skill("home/.agents/skills", "own"), "project/skills/own");
    place.link(place.skill("trusted", "stored"), "project/skills/store");
    place.link(join(place.path, "documents"), "project/root");
    const roots = [
      root(join(project, "skills"), { scope: "project" }),
      root(join(project, "root"), { scope: "project" }),
    ];
    const folders = { workingDirectory: project, homeDirectory: place.home };
    const catalog = await scanSkillRoots(roots, folders);
    assert.deepEqual(names(catalog), ["vendored"]);
    assert.deepEqual(
      catalog.problems.map(({ file, reason }) => [basename(file), reason]),
      [
        ["out", "it is a link that points outside the project"],
        ["own", "it is a link that points outside the project"],
        ["store", "it is a link that points outside the project"],
        ["root", "it is a link that points outside the project"],
      ],
    );
    assert.match(catalog.problems[0]!.hint, /--trust-links DIR/);
    assert.deepEqual(catalog.roots.map(({ status }) => status), [
      "found",
      "refused",
    ]);
    const trustLinks = [join(place.path, "trusted")];
    const options = { ...folders, trustLinks };
    const trusting = await scanSkillRoots(roots, options);
    assert.deepEqual(names(trusting), ["stored", "vendored"]);
    const own = root(join(place.home, ".agents/skills"));
    const both = await scanSkillRoots([...roots, own], folders);
    const { directory, scope } = both.skills.get("own")!;
    // A link of the project changes nothing about what the user lists.
    assert.deepEqual([directory, scope], [join(own.path, "own"), "global"]);
  },
);

Deno.test(
  "scanSkillRoots() lets no root that a link of the project leads away widen where links may lead",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.link(place.skill("documents", "private"), "home/skills/private");
    place.link(join(place.path, "documents"), "project/root");
    const confinesLinks = true;
    const roots = [
      root(join(place.project, "root"), { scope: "project", confinesLinks }),
      root(join(place.home, "skills"), { confinesLinks }),
    ];
    const catalog = await scanSkillRoots(roots, {
      workingDirectory: place.project,
      homeDirectory: place.home,
    });
    assert.deepEqual(names(catalog), []);
    assert.deepEqual(
      catalog.problems.map(({ file }) => basename(file)),
      ["private", "root"],
    );
  },
);

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

Deno.test("scanSkillRoots() ignores links that do not point to skill folders", {
  ignore: lacks("links"),
}, async () => {
  using place = new Place();
  const outside = place.file("outside/notes.md", "notes");
  place.link(outside, "project/skills/README.md");
  place.link(join(place.path, "outside"), "project/skills/docs");
  place.link("nowhere", "project/skills/deep/dangling");
  const path = join(place.project, "skills");
  for (const recursive of [false, true]) {
    const { problems } = await scanSkillRoots(
      [{ path, scope: "project", recursive }],
      { workingDirectory: place.project },
    );
    assert.deepEqual(problems, []);
  }
});
