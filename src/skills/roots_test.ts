import assert from "node:assert/strict";
import { formatHelp } from "../cli/help.ts";
import {
  resolveSkillRoots,
  type SkillRoot,
  type SkillRootOptions,
} from "../../mod.ts";
import { README } from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";
import { listCode, read } from "../../tests/testing/pages.ts";
import { onWindows } from "../../tests/testing/server.ts";
import { resolve } from "../fs/paths.ts";
import { DEFAULT_DIRS } from "./roots.ts";

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

const { workingDirectory, homeDirectory } = places;
const HOME = [
  "global /home/me/.agent/skills",
  "global /home/me/.claude/skills",
];
const PROJECT = [
  "project /project/.agent/skills",
  "project /project/.claude/skills",
];

/** The default directories as texts name them, in their order. */
const DIRS = DEFAULT_DIRS.flatMap((dir) =>
  ["./", "~/"].map((base) => `${base}${dir}/skills`)
);

/** Options, and the roots in order of priority. */
const CASES: Record<string, [SkillRootOptions, string[]]> = {
  "exactly four folders": [
    places,
    [PROJECT[0]!, HOME[0]!, PROJECT[1]!, HOME[1]!],
  ],
  "no roots in an unknown folder": [{}, []],
  "no roots in an unknown working directory": [{ homeDirectory }, HOME],
  "no roots in an unknown home folder": [{ workingDirectory }, PROJECT],
  "global roots if the home folder is the working directory": [
    { homeDirectory, workingDirectory: homeDirectory },
    HOME,
  ],
  "no default roots if there are folders": [{ ...places, dirs: [] }, []],
  "a folder that is passed twice as a plain and as a recursive root": [
    { dirs: ["/opt"], recursiveDirs: ["/opt", "/opt"] },
    [
      "global /opt",
      "global /opt/.claude/skills",
      "global /opt/skills",
      "global /opt and below",
    ],
  ],
  "the given folders and two subfolders of each": [
    { ...places, dirs: ["more", "~/mine"] },
    [
      "global /project/more",
      "global /project/more/.claude/skills",
      "global /project/more/skills",
      "global /home/me/mine",
      "global /home/me/mine/.claude/skills",
      "global /home/me/mine/skills",
    ],
  ],
  "recursive folders after .agents": [
    { workingDirectory, agents: true, recursiveDirs: ["/opt/all"] },
    [
      ...PROJECT,
      "project /project/.agents/skills",
      "global /opt/all and below",
    ],
  ],
};

for (const [name, [options, expected]] of Object.entries(CASES)) {
  Deno.test(`resolveSkillRoots() returns ${name}`, () => {
    assert.deepEqual(shown(resolveSkillRoots(options)), expected);
  });
}

Deno.test("resolveSkillRoots() throws if a folder is relative to an unknown folder", () => {
  assert.throws(
    () => resolveSkillRoots({ dirs: ["skills"] }),
    /Cannot find "skills": the working directory is unknown/,
  );
  assert.throws(
    () => resolveSkillRoots({ dirs: ["~/skills"] }),
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
        .map((dir) => shown(mod.resolveSkillRoots({ ...places, recursiveDirs: [dir], dirs: [] }))[0]),
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

/** The default directories in the order in which the program and its pages name them. */
const NAMED: Record<string, () => string[]> = {
  "the comment of resolveSkillRoots()": () => {
    const source = read("src/skills/roots.ts");
    return listCode(/The default roots are\b[^]*?, except/.exec(source)![0]);
  },
  "--help": () => /it searches\n(.*)\.\n/.exec(formatHelp())![1]!.split(", "),
  "the README": () => {
    const rows = README.matchAll(/^\| \d +\| (`[^`]+`) +\|.*\| always +\|$/gm);
    return Array.from(rows).flatMap(([, dir]) => listCode(dir!));
  },
  "docs/running.md": () =>
    /deno task compile "--allow-read=(.*)"/.exec(read("docs/running.md"))![1]!
      .replaceAll("$HOME", "~").split(",")
      .map((path) => path.replace(/^\./, "./.")),
};

for (const [place, listNamed] of Object.entries(NAMED)) {
  Deno.test(`${place} names the default folders in their order`, () => {
    assert.deepEqual(listNamed(), DIRS);
  });
}

Deno.test("the README names the folders of --agents in their order", () => {
  const [, added = ""] = /^\| \d +\| (.*?) +\| .*`--agents`/m.exec(README) ??
    [];
  const dirs = DIRS.slice(0, 2);
  assert.deepEqual(
    listCode(added),
    dirs.map((dir) => dir.replace(".agent", ".agents")),
  );
});
