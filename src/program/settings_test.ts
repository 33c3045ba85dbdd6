import assert from "node:assert/strict";
import { join } from "../fs/paths.ts";
import {
  type Option,
  OPTIONS,
  parseCommandLine,
  SERVING_OPTIONS,
} from "./command_line.ts";
import { createSettings, type Settings } from "./settings.ts";
import { withVariables } from "../../tests/testing/environment.ts";
import { Place } from "../../tests/testing/folders.ts";

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

Deno.test("createSettings() makes the paths of options absolute", () => {
  using place = new Place();
  const args = ["--skill-dir=~/a", "--policy=~/b", "--trust-links=~/c"];
  const { values, options, home } = settingsIn(place, [
    ...args,
  ]);
  assert.equal(home, place.home);
  assert.deepEqual(values["skill-dir"], [join(place.home, "a")]);
  assert.equal(values.policy, join(place.home, "b"));
  assert.deepEqual(options.trustLinks, [join(place.home, "c")]);
});

Deno.test("createSettings() replaces the default roots by the given folders only", () => {
  using place = new Place();
  place.dir("a");
  const usual = settingsIn(place, []).roots.map(({ path }) => path);
  assert.ok(usual.includes(join(place.home, ".claude", "skills")));
  const more = settingsIn(place, ["--skill-dir=~/a", "--agents"]).roots;
  const paths = more.map(({ path }) => path);
  assert.deepEqual(usual.filter((path) => !paths.includes(path)), []);
  assert.deepEqual(
    more.filter(({ recursive }) => recursive).map(({ path }) => path),
    [join(place.home, "a")],
  );
  const given = settingsIn(place, ["/a"]);
  assert.deepEqual(given.dirs, [join(place.path, "a")]);
  assert.deepEqual(
    given.roots.map(({ path, includesItself }) => [path, includesItself]),
    [
      [join(place.path, "a"), true],
      [join(place.path, "a", ".claude", "skills"), false],
      [join(place.path, "a", "skills"), false],
    ],
  );
});

Deno.test("createSettings() takes folders from the command line, or else from SKILLS_DIR, or from both for skilljack", () => {
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

Deno.test("createSettings() searches folders deep for agentskills", () => {
  using place = new Place();
  for (const option of ["--tools=skill", "--tools=agentskills"]) {
    const { roots } = settingsIn(place, [option]);
    const isDeep = option !== "--tools=skill";
    assert.ok(roots.length > 0);
    assert.ok(roots.every(({ recursive }) => recursive === isDeep));
  }
});

Deno.test("createSettings() reads the size limit from MAX_FILE_SIZE_MB, which has no upper limit", () => {
  using place = new Place();
  const cases: [MAX_FILE_SIZE_MB: string, limit: number][] = [
    ["", 1],
    ["2", 2],
    ["2.5", 2.5],
    ["1000", 1_000],
    ["1e-9", 1],
    ["big", 1],
  ];
  for (const [MAX_FILE_SIZE_MB, limit] of cases) {
    const { options } = settingsIn(place, [], { MAX_FILE_SIZE_MB });
    assert.equal(options.maxFileSize, limit * 1024 * 1024);
  }
});

Deno.test("createSettings() warns of what it ignores, and how to fix it", () => {
  using place = new Place();
  const size = settingsIn(place, [], { MAX_FILE_SIZE_MB: "big" });
  assert.deepEqual(size.warnings, [
    'Ignoring MAX_FILE_SIZE_MB="big": expected a number of MiB greater than 0',
  ]);
  const homeless = settingsWith({});
  assert.match(homeless.warnings.join(), /^Cannot determine the home folder/);
  // Nothing in the home directory is searched.
  const dir = place.dir("a");
  assert.deepEqual(settingsWith({}, dir).warnings, []);
  assert.equal(settingsWith({}, dir, "--agents").warnings.length, 1);
});

Deno.test("createSettings() gives clients on other machines URIs instead of paths, and no shell", () => {
  using place = new Place();
  for (
    const [args, isRemote] of [[[], undefined], [["--remote"], true]] as const
  ) {
    const { options } = settingsIn(place, [...args]);
    assert.deepEqual([options.isRemote, options.allowShell], [
      isRemote,
      !isRemote,
    ]);
  }
});

Deno.test("createSettings() searches a folder once that is named twice", () => {
  using place = new Place();
  const dir = place.dir("skills");
  const args = ["--tools=agentskills", "/skills", "--skill-dir", "/skills"];
  const { roots } = settingsIn(place, args);
  const same = roots.filter(({ path }) => path === dir);
  assert.equal(same.length, 1);
});

Deno.test("createSettings() checks the skill that a file is in", () => {
  using place = new Place();
  const pdf = place.skill("skills", "pdf");
  const nested = place.skill("skills/pdf/examples", "nested");
  place.file("skills/pdf/references/forms.md", "");
  place.file("skills/pdf/examples/nested/a.txt", "");
  place.file("skills/loose.md", "");
  const checked = (file: string) => settingsIn(place, ["--check", file]).dirs;
  assert.deepEqual(checked("/skills/pdf/SKILL.md"), [pdf]);
  assert.deepEqual(checked("/skills/pdf/references/forms.md"), [pdf]);
  assert.deepEqual(checked("/skills/pdf/examples/nested/a.txt"), [nested]);
  // It is in no skill.
  const loose = join(place.path, "skills", "loose.md");
  assert.deepEqual(checked("/skills/loose.md"), [loose]);
});

/** Returns a value of an option that its default is not. */
function unusualValue(
  { type, choices, expected = "" }: Option,
): string | undefined {
  if (type === "boolean") return undefined;
  const [, maximum = "999"] = /up to (\d+)/.exec(expected) ?? [];
  return choices?.at(-1) ?? (/number/.test(expected) ? maximum : "folder");
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
    assert.notDeepEqual(
      derive(arg),
      usual,
      `${arg} changes neither the roots nor the options that createSettings() returns`,
    );
  }
});
