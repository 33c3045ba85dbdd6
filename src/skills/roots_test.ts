import assert from "node:assert/strict";
import { resolveSkillRoots, type SkillRootOptions } from "../../mod.ts";
import { DEFAULT_FOLDERS } from "../../tests/testing/environment.ts";
import { resolve } from "../fs/paths.ts";
import { limitingScope } from "./roots.ts";

const places = {
  workingDirectory: resolve("/project"),
  homeDirectory: resolve("/home/me"),
};

const { workingDirectory, homeDirectory } = places;
const HOME = [
  "global /home/me/.agent/skills",
  "global /home/me/.claude/skills",
];
const PROJECT = [
  "project /project/.agent/skills",
  "project /project/.claude/skills",
];

/** Options, and the roots in order of priority. */
const CASES: Record<string, [SkillRootOptions, string[]]> = {
  "no roots in an unknown working directory": [{ homeDirectory }, HOME],
  "no roots in an unknown home folder": [{ workingDirectory }, PROJECT],
  "global roots in the root of a disk": [
    { workingDirectory: resolve("/") },
    ["global /.agent/skills", "global /.claude/skills"],
  ],
  "global roots above the home folder": [
    { homeDirectory: resolve("/project/me"), workingDirectory },
    DEFAULT_FOLDERS.map((dir) =>
      dir.replace("~", "global /project/me").replace(/^\./, "global /project")
    ),
  ],
  "no default roots if there are folders": [{ ...places, dirs: [] }, []],
  "a folder that is passed twice as a plain and as a recursive root": [
    { dirs: ["/opt"], recursiveDirs: ["/opt", "/opt"] },
    [
      "global /opt itself",
      "global /opt/.claude/skills",
      "global /opt/skills",
      "global /opt itself and below",
    ],
  ],
  "the given folders and two subfolders of each": [
    { ...places, dirs: ["more", "~/mine"] },
    [
      "global /project/more itself",
      "global /project/more/.claude/skills",
      "global /project/more/skills",
      "global /home/me/mine itself",
      "global /home/me/mine/.claude/skills",
      "global /home/me/mine/skills",
    ],
  ],
  "recursive folders after .agents": [
    { workingDirectory, agents: true, recursiveDirs: ["/opt/all"] },
    [
      ...PROJECT,
      "project /project/.agents/skills",
      "global /opt/all itself and below",
    ],
  ],
};

for (const [name, [options, expected]] of Object.entries(CASES)) {
  Deno.test(`resolveSkillRoots() returns ${name}`, () => {
    const roots = resolveSkillRoots(options).map((root) => {
      const path = root.path.replace(/^[a-z]:/i, "").replaceAll("\\", "/");
      const itself = root.includesItself ? " itself" : "";
      return `${limitingScope(root)} ${path}${itself}${
        root.recursive ? " and below" : ""
      }`;
    });
    assert.deepEqual(roots, expected);
  });
}
