// The repository, and what tests start Deno with.
import { isWindows, resolve } from "../../src/fs/paths.ts";

export { isWindows } from "../../src/fs/paths.ts";

/** The directory of the repository. */
export const REPOSITORY = resolve(import.meta.dirname!, "../..");

const README = Deno.readTextFileSync(
  resolve(REPOSITORY, "README.md"),
);

/** The default folders, in the order of the README. */
export const DEFAULT_FOLDERS: readonly string[] = Array.from(
  README.matchAll(/^\d\. `([^`]+)`$/gm),
  ([, dir]) => dir!,
);

/** The main module of the server over stdio, and the library. */
export const MOD = resolve(REPOSITORY, "mod.ts");

/** The main module of the server over HTTP. */
export const HTTP = resolve(REPOSITORY, "http.ts");

/** What separates the names in paths. */
export const SEPARATOR = isWindows ? "\\" : "/";

/** Whether `@std` comes from npm in this process, because JSR is unreachable. */
export const isNpmOnly = import.meta.resolve("jsr:@std/yaml@^1/parse")
  .endsWith("/npm_only/yaml.ts");

/**
 * The flags that servers need to find `@std` where this process does. If that is in
 * an import map other than the repository's, the variable `IMPORTS` has them, as it has
 * for all tasks.
 */
export const IMPORTS = isNpmOnly
  ? [`--import-map=${resolve(REPOSITORY, "npm_only/import_map.json")}`]
  : (Deno.env.get("IMPORTS") ?? "").split(" ").filter(Boolean);

/** The flags in the README's command. */
export const FLAGS = [
  "run",
  "--no-config",
  "--allow-read",
  "--allow-env",
  ...IMPORTS,
];

/** Returns the flags in the README's command, with other permissions and without prompts. */
export function flagsWith(...permissions: string[]): string[] {
  return ["run", "--no-config", "--no-prompt", ...permissions, ...IMPORTS];
}

/**
 * Downloads what programs import, so that they start at once and do not print that they
 * download it. They use no lock file, so they can need other versions than the tests.
 */
export function preload(...programs: string[]): void {
  const flags = ["--quiet", "--no-config", ...IMPORTS, "--entrypoint"];
  const { success, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["install", ...flags, ...programs],
  }).outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}

/** The environment variables that the server needs when tests change its home directory. */
export const environment = {
  DENO_DIR: Deno.env.get("DENO_DIR") ?? denoDir(),
  NO_COLOR: "1",
  // There, reports are annotations.
  GITHUB_ACTIONS: "",
};

function denoDir(): string {
  const { stdout } = new Deno.Command(Deno.execPath(), {
    args: ["info", "--json"],
  }).outputSync();
  return JSON.parse(new TextDecoder().decode(stdout)).denoDir;
}
