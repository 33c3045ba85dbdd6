import assert from "node:assert/strict";
import { join, resolve } from "jsr:@std/path@^1";
import { allowRead, createLaunch, createPortableLaunch } from "./launch.ts";
import { isInNpxCache, type Program, SPECIFIER } from "./program.ts";
import { ALLOW_SHELL } from "../shell.ts";
import { settingsFor } from "../../tests/testing/command_line.ts";
import { Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { onWindows } from "../../tests/testing/server.ts";

const PROGRAM: Program = {
  executable: "/bin/deno",
  mainModule: SPECIFIER,
  importMap: undefined,
  os: "linux",
  variable: () => undefined,
  folder: "/code",
};

const FOLDER = resolve("/a/skills");

/** Creates the command for a program with one skill folder. */
function launchOf(program: Partial<Program>, ...args: string[]) {
  const settings = settingsFor(FOLDER, ...args);
  const all = { ...PROGRAM, ...program };
  return createLaunch(all, settings);
}

Deno.test("createLaunch() starts a module from a registry, a URL, or a file", () => {
  assert.deepEqual(launchOf({}, "--agents").args.slice(0, 1), ["run"]);
  assert.deepEqual(launchOf({}), {
    command: "/bin/deno",
    args: ["run", `--allow-read=${FOLDER}`, "--allow-env", SPECIFIER, FOLDER],
  });
  const mainOf = (mainModule: string) => launchOf({ mainModule }).args.at(-2);
  const url = "https://example.com/mod.ts";
  assert.equal(mainOf(url), url);
  assert.equal(mainOf("/code/mod.ts"), "/code/mod.ts");
});

Deno.test("createLaunch() starts an executable with only the server's arguments", () => {
  assert.deepEqual(launchOf({ mainModule: undefined }), {
    command: "/bin/deno",
    args: [FOLDER],
  });
});

Deno.test("createLaunch() starts a Deno that npx downloaded through npx", () => {
  const executable = "/home/me/.npm/_npx/0123/node_modules/deno/deno";
  const { command, args } = launchOf({ executable });
  assert.deepEqual([command, ...args.slice(0, 4)], [
    ...["npx", "-y", "deno", "run"],
    `--allow-read=${FOLDER}`,
  ]);
  // Most programs cannot start a batch file, such as npx on Windows.
  const windows = launchOf({
    executable: String.raw`C:\Users\me\npm-cache\_npx\0123\deno.exe`,
    os: "windows",
  });
  assert.deepEqual([windows.command, ...windows.args.slice(0, 5)], [
    ...["cmd", "/c", "npx", "-y", "deno", "run"],
  ]);
});

Deno.test("isInNpxCache() recognizes a program that npx can delete", () => {
  const path = "/home/me/.npm/_npx/0123/node_modules/deno/deno";
  assert.deepEqual([path, "/bin/deno"].map(isInNpxCache), [true, false]);
});

Deno.test("createLaunch() includes the import map", () => {
  const { args } = launchOf({ importMap: "/map.json" });
  assert.deepEqual(args.slice(2, 4), [
    "--allow-env",
    "--import-map=/map.json",
  ]);
});

Deno.test(
  "createLaunch() allows reading where a link leads, and the folders of the policy's rules",
  {
    ignore: lacks("links"),
  },
  () => {
    using place = new Place();
    const store = place.folder("store");
    place.link("store", "link");
    const rules = place.folder("home/rules");
    const policy = place.file(
      "policy.yaml",
      'rules: [{ in: "~/rules/**", state: off }]',
    );
    const link = join(place.path, "link");
    const settings = settingsFor(link, "--policy", policy);
    const home = place.home;
    const { args } = createLaunch(PROGRAM, { ...settings, home });
    assert.equal(
      args[1],
      `--allow-read=${[link, store, policy, rules].join(",")}`,
    );
  },
);

Deno.test("allowRead() grants permission for everything if a permission flag cannot express a folder", () => {
  const [a, b, c] = ["/a", "/b,c", "/ab"].map((path) => resolve(path));
  assert.equal(allowRead([a!, b!]), "--allow-read");
  assert.equal(allowRead([]), "--allow-read");
  assert.equal(
    allowRead([a!, join(a!, "b"), a!, c!]),
    `--allow-read=${a},${c}`,
  );
  // Another project has other folders.
  const nested = [".agents/skills", resolve(".agents/skills/x")];
  assert.equal(allowRead(nested), `--allow-read=${nested.join(",")}`);
});

Deno.test("allowRead() keeps both spellings of a folder on Windows, where case is ignored", async () => {
  using place = new Place();
  const flag = await onWindows(
    place,
    String.raw`
    const { allowRead } = await import(${
      JSON.stringify(new URL("launch.ts", import.meta.url))
    });
    const spellings = ["C:\\Users\\J\u00f6rg", "C:\\users\\J\u00f6rg"];
    console.log(JSON.stringify(allowRead([...spellings, "c:\\USERS\\J\u00f6rg\\.claude"])));`,
  );
  assert.equal(flag, "--allow-read=C:\\Users\\Jörg,C:\\users\\Jörg");
});

Deno.test("createPortableLaunch() uses a module that others can load, and ~ for the home folder", () => {
  const home = resolve("/home/me");
  const other = resolve("/srv/b");
  const portable = (mainModule: string | undefined, homeFolder?: string) => {
    const args = [
      ...[join(home, "team"), "--policy", join(home, "rules", "a.yaml")],
      ...["--name-only", join(home, "team"), "--trust-links", home],
      ...["--skill-dir", other, "--tools", "agentskills"],
    ];
    const settings = { ...settingsFor(...args), home, homeFolder };
    return createPortableLaunch({ ...PROGRAM, mainModule }, settings);
  };
  assert.deepEqual(portable(SPECIFIER, "${userHome}"), {
    command: "npx",
    args: [
      ...["-y", "deno", "run"],
      `--allow-read=\${userHome}/team,${other},\${userHome},\${userHome}/rules/a.yaml`,
      ...["--allow-env", ALLOW_SHELL, SPECIFIER, "--tools=agentskills"],
      ...[`--skill-dir=${other}`, "--policy=~/rules/a.yaml"],
      ...["--name-only=~/team", "--trust-links=~", "~/team"],
    ],
  });
  const url = "https://example.com/mod.ts";
  const mainOf = (main: string | undefined) =>
    portable(main).args.find((arg) => /^(?:jsr|https|file):|mod\.ts/.test(arg));
  assert.equal(mainOf(url), url);
  assert.equal(mainOf(`${SPECIFIER}@1.0.0`), `${SPECIFIER}@1.0.0`);
  assert.equal(mainOf("/code/mod.ts"), SPECIFIER);
  assert.equal(mainOf("https://jsr.io/@skill-server/x/1/mod.ts"), SPECIFIER);
  assert.equal(mainOf(undefined), SPECIFIER);
  assert.ok(portable(SPECIFIER).args.includes("--allow-read"));
});
