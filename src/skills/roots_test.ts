import assert from "node:assert/strict";
import { resolveSkillRoots, type SkillRootOptions } from "../../mod.ts";
import { README } from "../../tests/testing/environment.ts";
import { resolve } from "../fs/paths.ts";
import { DEFAULT_DIRS } from "./roots.ts";

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
  "exactly four folders": [
    places,
    [PROJECT[0]!, HOME[0]!, PROJECT[1]!, HOME[1]!],
  ],
  "no roots in an unknown working directory": [{ homeDirectory }, HOME],
  "no roots in an unknown home folder": [{ workingDirectory }, PROJECT],
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
      return `${root.scope} ${path}${itself}${
        root.recursive ? " and below" : ""
      }`;
    });
    assert.deepEqual(roots, expected);
  });
}

Deno.test("the README lists the default folders in their order", () => {
  const rows = README.matchAll(/^\d\. `([^`]+)`$/gm);
  assert.deepEqual(
    Array.from(rows, ([, dir]) => dir),
    DEFAULT_DIRS.flatMap((dir) => [`./${dir}/skills`, `~/${dir}/skills`]),
  );
});
