import assert from "node:assert/strict";
import { join, resolve } from "../../fs/paths.ts";
import type { Launch } from "./clients.ts";
import { createLaunch } from "./launch.ts";
import type { Program } from "../../program/running_program.ts";
import {
  type Option,
  OPTIONS,
  SERVING_OPTIONS,
} from "../../program/command_line.ts";
import { ALLOW_SHELL } from "../../mcp/toolsets/shell.ts";
import {
  assertMisuse,
  PROGRAM,
  settingsFor,
} from "../../../tests/testing/command_line.ts";
import { Place } from "../../../tests/testing/folders.ts";
import { lacks } from "../../../tests/testing/needs.ts";

/** Returns the paths that Deno is allowed to read. */
function readableIn({ args }: Launch): string[] {
  return args[2]!.replace("--allow-read=", "").split(",");
}

Deno.test("createLaunch() starts Deno with its permissions and import map, or an executable", () => {
  const folder = resolve("/a/skills");
  const launchOf = (program: Partial<Program>) =>
    createLaunch({ ...PROGRAM, ...program }, settingsFor(folder));
  const { command, args } = launchOf({ importMap: "/map.json" });
  assert.deepEqual([command, ...args], [
    PROGRAM.executable,
    "run",
    "--no-config",
    `--allow-read=${folder}`,
    "--allow-env",
    "--import-map=/map.json",
    PROGRAM.mainModule,
    folder,
  ]);
  const executable = { executable: "/bin/server", mainModule: undefined };
  assert.deepEqual(launchOf(executable), {
    command: "/bin/server",
    args: [folder],
  });
});

Deno.test(
  "createLaunch() allows reading where a link leads, and the folders of the policy's rules",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    const store = place.folder("store");
    place.link("store", "link");
    const rules = place.folder("home/rules");
    const policy = place.file(
      "policy.yaml",
      'rules: [{ in: "~/rules", state: off }]',
    );
    const link = join(place.path, "link");
    const launchOf = () => {
      const settings = settingsFor(link, "--policy", policy);
      return createLaunch(PROGRAM, { ...settings, home: place.home });
    };
    assert.deepEqual(readableIn(launchOf()), [link, store, policy, rules]);
    for (const folder of ["~/", "~"]) {
      place.file("policy.yaml", `rules: [{ in: "${folder}", state: off }]`);
      assertMisuse(
        launchOf,
        `Cannot print an entry for the policy: for its rule "${folder}", Deno would have to read the home folder or one above it; name a folder, as in ~/code`,
      );
    }
  },
);

Deno.test("createLaunch() makes each path in the options absolute, and lets Deno read it", () => {
  using place = new Place();
  const names = SERVING_OPTIONS.filter((name) => {
    const { value }: Option = OPTIONS[name];
    return value === "DIR" || value === "FILE";
  });
  assert.ok(names.includes("policy") && names.includes("skill-dir"));
  for (const name of names) {
    const settings = settingsFor(`--${name}=some`);
    const launch = createLaunch(PROGRAM, { ...settings, home: place.home });
    const path = resolve("some");
    assert.ok(launch.args.includes(`--${name}=${path}`), name);
    assert.ok(readableIn(launch).includes(path), name);
  }
});

Deno.test(
  "createLaunch() lets Deno read the home folder, or one above it, only if the user named it",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    const { home, path } = place;
    place.link("/", "to-root");
    place.link("home", "to-home");
    const readFor = (...args: string[]) => {
      const settings = { ...settingsFor(...args), home };
      return readableIn(createLaunch(PROGRAM, settings));
    };
    for (
      const args of [
        [join(path, "to-root")],
        ["--skill-dir", join(path, "to-home")],
        ["--trust-links", join(path, "to-root")],
      ]
    ) {
      assertMisuse(
        () => readFor(...args),
        /^Cannot print an entry that lets Deno read all of ".*", where ".*to-\w+" leads: name the folders of the skills, or write ".*" if you mean it$/,
      );
    }
    assert.ok(readFor(home).includes(home));
    assert.ok(readFor("--trust-links", "/").includes("/"));
    assert.ok(readFor(join(home, "skills")).includes(join(home, "skills")));
  },
);

Deno.test("createLaunch() grants permission to run the shell if Deno has it and a tool needs it", async () => {
  const flags = (...args: string[]) =>
    createLaunch(PROGRAM, settingsFor(resolve("/a"), ...args)).args
      .filter((arg) => arg.startsWith("--allow-run"));
  const shell = ["--tools", "agentskills"];
  // The tests have all permissions.
  assert.deepEqual([flags(...shell), flags()], [[ALLOW_SHELL], []]);
  await Deno.permissions.revoke({ name: "run" });
  assert.deepEqual(flags(...shell), []);
});

Deno.test(
  "createLaunch() lets Deno read nothing more because of a link of the project",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    const { home, project } = place;
    place.folder("home/.ssh");
    place.folder("project/packages/skills");
    place.link(join(home, ".ssh"), "project/keys");
    place.link(home, "project/all");
    place.link("packages/skills", "project/inside");
    const readFor = (name: string) => {
      const settings = settingsFor(join(project, name));
      const options = { ...settings.options, workingDirectory: project };
      return readableIn(createLaunch(PROGRAM, { ...settings, home, options }));
    };
    assert.deepEqual(readFor("keys"), [join(project, "keys")]);
    assert.deepEqual(readFor("all"), [join(project, "all")]);
    assert.deepEqual(readFor("inside"), [
      join(project, "inside"),
      join(project, "packages", "skills"),
    ]);
  },
);
