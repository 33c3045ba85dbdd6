import assert from "node:assert/strict";
import { resolve } from "jsr:@std/path@^1";
import { resolveSkillRoots, type SkillRoot } from "../../mod.ts";
import { Place } from "../../tests/testing/folders.ts";
import { onWindows } from "../../tests/testing/server.ts";

const places = {
  workingDirectory: resolve("/project"),
  homeDirectory: resolve("/home/me"),
};

function shown(roots: readonly SkillRoot[]): string[] {
  return roots.map(({ path, scope, recursive }) =>
    `${scope} ${path.replace(/^[a-z]:/i, "").replaceAll("\\", "/")}${
      recursive ? " and below" : ""
    }`
  );
}

Deno.test("resolveSkillRoots() returns exactly four folders in order of priority", () => {
  assert.deepEqual(shown(resolveSkillRoots(places)), [
    "project /project/.agent/skills",
    "global /home/me/.agent/skills",
    "project /project/.claude/skills",
    "global /home/me/.claude/skills",
  ]);
});

Deno.test("resolveSkillRoots() omits the roots in an unknown folder", () => {
  const { workingDirectory, homeDirectory } = places;
  assert.deepEqual(shown(resolveSkillRoots({ homeDirectory })), [
    "global /home/me/.agent/skills",
    "global /home/me/.claude/skills",
  ]);
  assert.deepEqual(shown(resolveSkillRoots({ workingDirectory })), [
    "project /project/.agent/skills",
    "project /project/.claude/skills",
  ]);
  assert.deepEqual(resolveSkillRoots({}), []);
});

Deno.test("resolveSkillRoots() treats the home folder's roots as global even if it is the working directory", () => {
  const { homeDirectory } = places;
  const both = { homeDirectory, workingDirectory: homeDirectory };
  assert.deepEqual(shown(resolveSkillRoots(both)), [
    "global /home/me/.agent/skills",
    "global /home/me/.claude/skills",
  ]);
});

Deno.test("resolveSkillRoots() returns a folder both as a plain and as a recursive root if it is passed as both", () => {
  const directories = ["/opt"];
  const roots = resolveSkillRoots({
    directories,
    recursiveDirectories: ["/opt"],
  });
  assert.deepEqual(shown(roots), [
    "global /opt",
    "global /opt/.claude/skills",
    "global /opt/skills",
    "global /opt and below",
  ]);
  assert.deepEqual(resolveSkillRoots({ ...places, directories: [] }), []);
});

Deno.test("resolveSkillRoots() replaces the four roots with the given folders and two subfolders of each", () => {
  const directories = ["/opt/skills", "more", "~/mine"];
  assert.deepEqual(shown(resolveSkillRoots({ ...places, directories })), [
    "global /opt/skills",
    "global /opt/skills/.claude/skills",
    "global /opt/skills/skills",
    "global /project/more",
    "global /project/more/.claude/skills",
    "global /project/more/skills",
    "global /home/me/mine",
    "global /home/me/mine/.claude/skills",
    "global /home/me/mine/skills",
  ]);
});

Deno.test("resolveSkillRoots() adds .agents and recursive folders after the others, each once", () => {
  const roots = resolveSkillRoots({
    ...places,
    agents: true,
    recursiveDirectories: ["/opt/all", "/opt/all", "~"],
  });
  assert.deepEqual(shown(roots).slice(4), [
    "project /project/.agents/skills",
    "global /home/me/.agents/skills",
    "global /opt/all and below",
    "global /home/me and below",
  ]);
});

Deno.test("resolveSkillRoots() throws if a folder is relative to an unknown folder", () => {
  assert.throws(
    () => resolveSkillRoots({ directories: ["skills"] }),
    /Cannot find the folder "skills": the working directory is unknown/,
  );
  assert.throws(
    () => resolveSkillRoots({ directories: ["~/skills"] }),
    /the home folder is unknown/,
  );
});

Deno.test("resolveSkillRoots() supports drive letters and both slashes on Windows", async () => {
  using place = new Place();
  const paths = await onWindows(
    place,
    String.raw`
    const places = { workingDirectory: "C:\\code\\app", homeDirectory: "C:\\Users\\me" };
    const shown = (roots) => roots.map(({ scope, path }) => scope + " " + path);
    console.log(JSON.stringify([
      shown(mod.resolveSkillRoots(places)),
      ...["D:\\skills", "c:/code/app/team", "..\\other", "~\\own", "~/own", "\\\\host\\share"]
        .map((folder) => shown(mod.resolveSkillRoots({ ...places, recursiveDirectories: [folder], directories: [] }))[0]),
    ]));`,
  );
  assert.deepEqual(paths, [
    [
      "project C:\\code\\app\\.agent\\skills",
      "global C:\\Users\\me\\.agent\\skills",
      "project C:\\code\\app\\.claude\\skills",
      "global C:\\Users\\me\\.claude\\skills",
    ],
    "global D:\\skills",
    "global c:\\code\\app\\team",
    "global C:\\code\\other",
    "global C:\\Users\\me\\own",
    "global C:\\Users\\me\\own",
    "global \\\\host\\share\\",
  ]);
});
