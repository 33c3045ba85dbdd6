import assert from "node:assert/strict";
import { withVariables } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { runServer } from "../../tests/testing/server.ts";
import { join } from "../fs/paths.ts";
import {
  type Option,
  OPTIONS,
  parseCommandLine,
  SERVING_OPTIONS,
} from "./command_line.ts";
import { createSettings, type Settings } from "./settings.ts";

const withLinks = needs("links");

/** Creates settings with these variables, and no others, in the environment. */
function settingsWith(
  variables: Record<string, string>,
  ...args: string[]
): Settings {
  return withVariables(variables, () => createSettings(parseCommandLine(args)));
}

/** Creates settings in a place: its home directory, and paths in it for those in `args`. */
function settingsIn(
  { path, home }: Place,
  args: string[],
  variables: Record<string, string> = {},
): Settings {
  const absolute = args.map((arg) =>
    arg.startsWith("/") ? join(path, arg) : arg
  );
  const all = { HOME: home, USERPROFILE: home, ...variables };
  return settingsWith(all, ...absolute);
}

Deno.test("createSettings() takes folders from the command line or SKILLS_DIR", () => {
  using place = new Place();
  const [a, b, comma] = [
    place.dir("a"),
    place.dir("b"),
    place.dir("c,d"),
  ];
  const cases: [args: string[], SKILLS_DIR: string, dirs: string[]][] = [
    [[a, b], "", [a, b]],
    [[`${a}, ${b}`], "", [a, b]],
    [[], `${a},${b},`, [a, b]],
    [[b], a, [b]],
    [["--tools=skilljack", b], a, [b, a]],
    // A directory is not split at the comma in its name.
    [[comma], "", [comma]],
  ];
  for (const [args, SKILLS_DIR, dirs] of cases) {
    const settings = settingsWith({ HOME: place.home, SKILLS_DIR }, ...args);
    assert.deepEqual(settings.dirs, dirs);
  }
});

Deno.test("createSettings() reads the size limit from MAX_FILE_SIZE_MB", () => {
  using place = new Place();
  const cases = [
    ["", undefined, false],
    ["2.5", 2.5 * 1024 * 1024, false],
    ["1000", 1_000 * 1024 * 1024, false],
    ["1e-9", undefined, true],
    ["big", undefined, true],
  ] as const;
  for (const [MAX_FILE_SIZE_MB, limit, isIgnored] of cases) {
    const { options, warnings } = settingsIn(place, [], { MAX_FILE_SIZE_MB });
    assert.equal(options.maxFileSize, limit);
    const warning =
      `Ignoring MAX_FILE_SIZE_MB="${MAX_FILE_SIZE_MB}": expected a number of MiB greater than 0`;
    assert.deepEqual(warnings, isIgnored ? [warning] : []);
  }
});

/** Returns a value of an option other than its default, if it has one. */
function unusualValue({ type, choices, isValid }: Option): string | undefined {
  if (type === "boolean") return undefined;
  return choices?.at(-1) ?? (isValid === undefined ? "folder" : "999");
}

Deno.test("createSettings() derives something from each option of a server", () => {
  using place = new Place();
  const derive = (...args: string[]) => {
    const { roots, options } = settingsIn(place, args);
    return { roots, options };
  };
  const usual = derive();
  for (const name of SERVING_OPTIONS) {
    const value = unusualValue(OPTIONS[name]);
    const arg = value === undefined ? `--${name}` : `--${name}=${value}`;
    assert.notDeepEqual(derive(arg), usual, arg);
  }
});

Deno.test("--remote turns the shell off", () => {
  using place = new Place();
  assert.equal(settingsIn(place, []).options.allowShell, true);
  assert.equal(settingsIn(place, ["--remote"]).options.allowShell, false);
});

/** Returns the names of the skills that the server finds, and what it logs. */
async function listed(
  place: Place,
  env: Record<string, string>,
  ...args: string[]
): Promise<{ names: string[]; stderr: string; diagnostics: string[] }> {
  const { stdout, stderr } = await runServer(place, {
    args: ["--list", "--json", ...args],
    env,
  });
  const { skills, diagnostics } = JSON.parse(stdout);
  return {
    names: skills.map(({ name }: { name: string }) => name),
    stderr,
    diagnostics: diagnostics.map(({ fix }: { fix: string }) => fix),
  };
}

Deno.test("CLAUDE_CONFIG_DIR stands for ~/.claude in the default folders and in hints", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "home");
  place.skill("project/.claude/skills", "project");
  place.skill("moved/skills", "moved");
  place.skill("moved/plugins/cache/market/tools/skills", "plugin");
  const env = { CLAUDE_CONFIG_DIR: join(place.path, "moved") };
  const { names, stderr, diagnostics } = await listed(place, env);
  assert.deepEqual([names, stderr], [["moved", "project"], ""]);
  assert.equal(diagnostics.length, 1);
  assert.match(
    diagnostics[0]!,
    /^for other clients than Claude Code, add --skill-dir /,
  );
  assert.deepEqual((await listed(place, {})).names, ["home", "project"]);
});

withLinks.test("CLAUDE_CONFIG_DIR is ignored if it is relative, or in the project", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "home");
  place.skill("project/own/skills", "theirs");
  place.link(join(place.project, "own"), "outside");
  const dirs = [
    join(place.project, "own"),
    join(place.path, "outside"),
    "own",
  ];
  for (const dir of dirs) {
    const env = { CLAUDE_CONFIG_DIR: dir };
    const { names, stderr } = await listed(place, env);
    assert.deepEqual(names, ["home"]);
    assert.equal(
      stderr,
      `skill-server: Ignoring CLAUDE_CONFIG_DIR="${dir}": expected an absolute path outside the project\n`,
    );
  }
});
