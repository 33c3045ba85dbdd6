// What some tests need and not every system has.
import { attempt } from "../../src/attempt.ts";
import { isThere, join } from "../../src/fs/paths.ts";
import { findBrowser } from "./browser.ts";
import { IMPORTS, isNpmOnly, isWindows } from "./environment.ts";
import { Place } from "./place.ts";

/** Something that tests need, and how to find out whether the system has it. */
type Need = readonly [what: string, isMet: () => boolean];

const NEEDS = {
  /** Not every user can create links on Windows, and Wine creates links that nothing follows. */
  links: ["links that can be created and followed", () => canLink("dir")],
  caseBlind: ["a file system that ignores the case of names", ignoresCase],
  caseSensitive: [
    "a file system that distinguishes the case of names",
    () => !ignoresCase(),
  ],
  names: ["file names with any characters", () => !isWindows],
  junctions: [
    "links to folders, which are junctions on Windows",
    () => canLink("junction"),
  ],
  std: ["the YAML parser from JSR, which users get", () => !isNpmOnly],
  /** A command that the program prints has no other import map than its own. */
  ownImports: [
    "packages from JSR, or from the repository's import map",
    () => isNpmOnly || IMPORTS.length === 0,
  ],
  registry: ["the npm registry, with an empty cache", canDownload],
  bundler: ["deno bundle, which downloads esbuild", canBundle],
  signals: ["POSIX signals", () => !isWindows],
  sh: ["a POSIX shell", () => !isWindows],
  cmd: ["the shell of Windows", () => isWindows],
  windows: ["Windows", () => isWindows],
  terminal: [
    "the program script, which opens a terminal",
    () => Deno.build.os === "linux" && isProgram("script"),
  ],
  /** Its base binary is downloaded, or found at `DENORT_BIN`. */
  compile: ["deno compile, with a base binary of its own version", canCompile],
  git: ["Git", () => isProgram("git")],
  browser: ["Chromium or Chrome", () => findBrowser() !== undefined],
  proc: ["the processes in /proc", () => Deno.build.os === "linux"],
} satisfies Record<string, Need>;

/** Which needs the system meets, as far as that is known. */
const answers = new Map<string, boolean>();

/**
 * Whether the system lacks anything that a test needs. Prints what is not tested,
 * once for each need.
 */
export function lacks(...needs: readonly (keyof typeof NEEDS)[]): boolean {
  for (const name of needs) {
    if (answers.has(name)) continue;
    const [what, isMet] = NEEDS[name];
    answers.set(name, isMet());
    if (!answers.get(name)) {
      console.error(`NOT TESTED: a test requires ${what}`);
    }
  }
  return needs.some((name) => !answers.get(name));
}

/** Returns what registers a test, which is ignored if the system lacks anything that it needs. */
export function needs(
  ...names: readonly (keyof typeof NEEDS)[]
): { test: (name: string, fn: Deno.TestDefinition["fn"]) => void } {
  return { test: lacks(...names) ? Deno.test.ignore : Deno.test };
}

function canLink(type: "dir" | "junction"): boolean {
  using place = new Place();
  const target = join(place.file("folder/file", "text"), "..");
  const link = join(place.path, "link");
  return attempt(() => {
    Deno.symlinkSync(target, link, { type });
    return Deno.lstatSync(link).isSymlink &&
      Deno.readTextFileSync(join(link, "file")) === "text";
  }) ?? false;
}

function ignoresCase(): boolean {
  using place = new Place();
  place.file("name", "");
  return isThere(join(place.path, "NAME"));
}

function canDownload(): boolean {
  using place = new Place();
  const args = ["cache", "npm:minisearch@^7"];
  const env = { DENO_DIR: place.path };
  return new Deno.Command(Deno.execPath(), { args, env }).outputSync().success;
}

function canBundle(): boolean {
  using place = new Place();
  const file = place.file("main.js", "");
  const args = ["bundle", "-o", `${file}.out`, file];
  return new Deno.Command(Deno.execPath(), { args }).outputSync().success;
}

/** Whether it creates an executable that is the program, and not another one that ignores it. */
function canCompile(): boolean {
  using place = new Place();
  const file = place.file("main.js", "console.log('ok')");
  const args = ["compile", "--quiet", "--no-config", "-o", `${file}.exe`, file];
  const { success } = new Deno.Command(Deno.execPath(), { args }).outputSync();
  if (!success) return false;
  const { stdout } = new Deno.Command(`${file}.exe`).outputSync();
  return new TextDecoder().decode(stdout).trim() === "ok";
}

function isProgram(name: string): boolean {
  const command = new Deno.Command(name, { args: ["--version"] });
  return attempt(() => command.outputSync().success) ?? false;
}
