/**
 * Creates `dist/skill-server-<platform>.mcpb`, a bundle that Claude Desktop
 * installs with a double-click.
 *
 *     deno task mcpb [--target TARGET] [--executable FILE] [-o FILE]
 *
 * The bundle contains the executable, an icon, and a manifest. `--target` is a
 * target of `deno compile`, by default this system's. `--executable` is an
 * executable that already exists.
 *
 * @see {@link https://github.com/modelcontextprotocol/mcpb/blob/main/MANIFEST.md}
 * @module
 */

import { parseArgs } from "node:util";
import config from "../deno.json" with { type: "json" };
import { ROOT_PARENTS } from "../src/skills/roots.ts";

/** The program that checks and packs bundles. */
const MCPB = "npm:@anthropic-ai/mcpb@2.1.2/mcpb";

interface Platform {
  /** The name in the bundle's file name. */
  readonly name: string;
  /** The name in the manifest. */
  readonly os: "win32" | "darwin" | "linux";
}

/** The platforms, by the target of `deno compile`. */
const PLATFORMS: Readonly<Record<string, Platform>> = {
  "x86_64-pc-windows-msvc": { name: "windows-x64", os: "win32" },
  "aarch64-apple-darwin": { name: "macos-arm64", os: "darwin" },
  "x86_64-apple-darwin": { name: "macos-x64", os: "darwin" },
  "x86_64-unknown-linux-gnu": { name: "linux-x64", os: "linux" },
  "aarch64-unknown-linux-gnu": { name: "linux-arm64", os: "linux" },
};

/** The directories in the home directory that are searched without a choice. */
const DIRS = ROOT_PARENTS.map((dir) => `${dir}/skills`);

/** What Claude Desktop asks its user for. */
const USER_CONFIG = {
  folders: {
    type: "directory",
    title: "The folder with your skills",
    description:
      "Each skill is a folder in it with a file named SKILL.md. Unpack archives. You can add several folders.",
    multiple: true,
    required: false,
    default: [],
  },
  max_file_size: {
    type: "number",
    title: "Largest file (MB)",
    description: "Larger files are skipped.",
    required: false,
    default: 1,
    min: 1,
  },
};

/** Joins words with commas and "and". */
function joined(words: readonly string[]): string {
  return new Intl.ListFormat("en").format(words);
}

/** Creates the manifest of a bundle. */
function createManifest({ os }: Platform, executable: string) {
  return {
    manifest_version: "0.3",
    name: "skill-server",
    display_name: "Agent Skills",
    version: config.version,
    description: "Lets Claude use the skills in your folders.",
    long_description: `Finds Agent Skills in ${
      joined(DIRS.map((dir) => `\`${dir}\``))
    } in your home folder, and in the folders that you choose, also deep inside. A skill is a folder with a file named \`SKILL.md\`. Claude loads a skill when a task needs it. The server only reads files and does not use the network.`,
    author: { name: "the skill-server authors" },
    icon: "icon.png",
    license: config.license,
    keywords: ["skills", "agent-skills"],
    server: {
      type: "binary",
      entry_point: executable,
      mcp_config: {
        command: `\${__dirname}/${executable}`,
        args: ["--tools=skilljack", "${user_config.folders}"],
        env: {
          SKILLS_DIR: DIRS.map((dir) => `~/${dir}`).join(),
          MAX_FILE_SIZE_MB: "${user_config.max_file_size}",
        },
      },
    },
    user_config: USER_CONFIG,
    tools: [
      { name: "skill", description: "Load a skill." },
      { name: "skill-resource", description: "Read the files of a skill." },
    ],
    prompts_generated: true,
    compatibility: { platforms: [os] },
  };
}

/** Runs Deno. Exits if it fails. */
function runDeno(...args: string[]): void {
  const { code } = new Deno.Command(Deno.execPath(), {
    args,
    stdin: "null",
    stdout: "inherit",
    stderr: "inherit",
  }).outputSync();
  if (code !== 0) Deno.exit(code);
}

/** Runs the program that checks and packs bundles, as it was locked. Exits if it fails. */
function runMcpb(...args: string[]): void {
  const lock = ["--frozen", `--lock=${import.meta.dirname}/mcpb/deno.lock`];
  const permissions = ["--no-prompt", "--allow-read", "--allow-write"];
  const flags = ["--quiet", "--no-config", ...lock, ...permissions];
  runDeno("run", ...flags, "--allow-env", MCPB, ...args);
}

/** Returns the platform of a target. Exits if there is none. */
function platformOf(target: string): Platform {
  const platform = PLATFORMS[target];
  if (platform !== undefined) return platform;
  const targets = Object.keys(PLATFORMS).join(", ");
  console.error(
    `Cannot create a bundle for "${target}": there is none for this target; use --target with one of ${targets}`,
  );
  Deno.exit(2);
}

function createBundle(): void {
  const { values } = parseArgs({
    options: {
      target: { type: "string", default: Deno.build.target },
      executable: { type: "string" },
      output: { type: "string", short: "o" },
    },
  });
  const platform = platformOf(values.target);
  const dir = Deno.makeTempDirSync();
  const executable = platform.os === "win32"
    ? "server/skill-server.exe"
    : "server/skill-server";
  Deno.mkdirSync(`${dir}/server`);
  if (values.executable !== undefined) {
    Deno.copyFileSync(values.executable, `${dir}/${executable}`);
  } else {
    const output = ["--output", `${dir}/${executable}`];
    runDeno("task", "compile", "--target", values.target, ...output);
  }
  const manifest = createManifest(platform, executable);
  Deno.writeTextFileSync(`${dir}/manifest.json`, JSON.stringify(manifest));
  const copy = (source: string, name: string) =>
    Deno.copyFileSync(new URL(source, import.meta.url), `${dir}/${name}`);
  copy("mcpb/icon.png", "icon.png");
  copy("../LICENSE", "LICENSE");
  const bundle = values.output ?? `dist/skill-server-${platform.name}.mcpb`;
  runMcpb("validate", `${dir}/manifest.json`);
  runMcpb("pack", dir, bundle);
  Deno.removeSync(dir, { recursive: true });
}

createBundle();
