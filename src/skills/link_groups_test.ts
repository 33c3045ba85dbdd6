import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import { printedReport } from "../../tests/testing/report.ts";
import { Session } from "../../tests/testing/client.ts";
import { Place, skillMd } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";

const ignore = lacks("links");

/** Creates skills whose files are all links into a folder, as a dotfile manager does. */
function dotfilesPlace(names: string[]): Place {
  const place = new Place();
  for (const name of names) {
    const folder = place.folder("home/.claude/skills", name);
    const file = place.file(
      `home/dot files/skills/${name}/SKILL.md`,
      skillMd(name),
    );
    place.link(file, `${folder.slice(place.path.length + 1)}/SKILL.md`);
  }
  return place;
}

Deno.test(
  "--list combines links into one folder, and the option that it prints serves them",
  { ignore },
  async () => {
    const names = ["a", "b", "c", "d", "e"];
    using place = dotfilesPlace(names);
    const list = await printedReport(place, "--list");
    assert.match(
      list.text,
      /^Problems \(1 error, 0 warnings\)\n {2}error\[link-outside\]\n {4}~\/.claude\/skills: 5 links in it point outside, into ".*dot files\/skills": "a\/SKILL.md", "b\/SKILL.md", "c\/SKILL.md", …\n/m,
    );
    const [, folder] = /\n {6}--trust-links ['"](.*)['"]\n/.exec(list.text)!;
    assert.equal(resolve(folder!), join(place.home, "dot files", "skills"));
    const args = ["--list", "--trust-links", folder!];
    const { text: stdout } = await printedReport(place, ...args);
    assert.match(stdout, /^Skills \(5\)$/m);
    assert.match(stdout, /Found 5 skills: no problems/);
  },
);

Deno.test(
  "the server logs links into one folder in one line, with the option to add",
  { ignore },
  async () => {
    using place = dotfilesPlace(["a", "b", "c", "d", "e"]);
    await using session = await Session.open(place);
    assert.deepEqual(await session.names(), []);
    const line = await session.stderr.take(() => true, "a line on stderr");
    assert.match(
      line,
      /Skipped ".*skills": 5 links in it point outside, into ".*skills": "a.SKILL.md", "b.SKILL.md", "c.SKILL.md", …; if the folder is yours and all of it can be served, add this option: --trust-links ['"].*dot files.+skills['"]$/,
    );
    // What was logged is not logged again with the next skill.
    place.skill("home/.claude/skills", "new");
    assert.match((await session.load("new")).text, /^Loading: new/);
    assert.deepEqual(await session.end(), []);
  },
);

Deno.test(
  "--list prints the option for a single link too",
  { ignore },
  async () => {
    using place = dotfilesPlace(["a"]);
    const { text: stdout } = await printedReport(place, "--list");
    assert.match(
      stdout,
      /skills\/a\/SKILL.md: it is a link that points outside/,
    );
    assert.match(
      stdout,
      /\n {6}--trust-links ['"].*dot files\/skills\/a['"]\n/,
    );
  },
);

Deno.test(
  "--list does not offer to trust the home folder, or a folder above it",
  { ignore },
  async () => {
    using place = new Place();
    for (
      const target of ["home/one/SKILL.md", "home/two/SKILL.md", "SKILL.md"]
    ) {
      const name = target.replaceAll(/\W/g, "-").toLowerCase();
      place.file(target, skillMd(name));
      place.folder("home/.claude/skills", name);
      place.link(
        join(place.path, target),
        `home/.claude/skills/${name}/SKILL.md`,
      );
    }
    const { text: stdout } = await printedReport(place, "--list");
    const offered = [
      ...stdout.matchAll(/\n {6}--trust-links ["']?([^\s"']+)["']?\n/g),
    ]
      .map(([, folder]) => resolve(folder!));
    assert.deepEqual(offered.sort(), [
      join(place.home, "one"),
      join(place.home, "two"),
    ]);
  },
);
