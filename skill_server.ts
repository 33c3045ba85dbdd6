// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * The MCP server around the skills: command line, wire, beginning and end.
 *
 * @module
 */

import { parseArgs } from "node:util";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/server"
import { Server } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/index.js";
import config from "./deno.json" with { type: "json" };
import {
  DEFAULT_MAX_FILE_SIZE,
  DEFAULT_REFRESH_SECONDS,
  log,
  logged,
  oneLine,
  quote,
  registerSkillTools,
  resolveFolder,
  resolveSkillRoots,
  scanSkillRoots,
  type SkillCatalog,
  SkillRegistry,
  type SkillRegistryOptions,
  type SkillRoot,
  type SkillRootOptions,
} from "./mod.ts";
import { StdioTransport } from "./stdio_transport.ts";

// ---------------------------------------------------------------------------
// Command line
// ---------------------------------------------------------------------------

const USAGE =
  `Finds Agent Skills and serves them to an MCP client over stdin and stdout.

Usage: skill-server [options] [DIR...]

  DIR                  search DIR, DIR/.claude/skills and DIR/skills, in place of
                       ./.agent/skills, ~/.agent/skills, ./.claude/skills and
                       ~/.claude/skills; several may be given, also with commas

Options:
  --skill-dir DIR      search DIR as well, and the folders in it; repeatable
  --agents             search ./.agents/skills and ~/.agents/skills as well
  --trust-links DIR    let links lead into DIR; repeatable
  --max-file-size MB   do not read larger files; default 1
  --refresh SECONDS    look for changes this often, 0 for never; default ${DEFAULT_REFRESH_SECONDS}
  --no-watch           do not watch the folders in between
  --list               show what is found and where, and end
  --check              the same, and end with 1 if anything is wrong
  --json               with --list or --check: show it as JSON
  --help               show this
  --version            show the version

Environment:
  SKILLS_DIR           stands for DIR where none is given; commas between several
  MAX_FILE_SIZE_MB     stands for --max-file-size where that is not given
`;

const OPTIONS = {
  "skill-dir": { type: "string", multiple: true },
  "agents": { type: "boolean" },
  "trust-links": { type: "string", multiple: true },
  "max-file-size": { type: "string" },
  "refresh": { type: "string" },
  "no-watch": { type: "boolean" },
  "list": { type: "boolean" },
  "check": { type: "boolean" },
  "json": { type: "boolean" },
  "help": { type: "boolean", short: "h" },
  "version": { type: "boolean", short: "V" },
} as const;

/** Longest time a timer can wait, in seconds. */
const MAX_REFRESH_SECONDS = 2_000_000;

/** The command line is wrong. */
class UsageError extends Error {}

/** Where skills are looked for, and how. */
interface Settings {
  readonly roots: readonly SkillRoot[];
  /** The folders that the user named: they should be there. */
  readonly named: readonly string[];
  readonly options: SkillRegistryOptions;
}

function parseCommandLine(args: readonly string[]) {
  try {
    const command = parseArgs({
      args: [...args],
      options: OPTIONS,
      allowPositionals: true,
    });
    const { json, list, check } = command.values;
    if (!json || list || check) return command;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  throw new UsageError("--json goes with --list or --check");
}

/** Makes settings of the command line and the environment. */
function settingsOf(
  { values, positionals }: ReturnType<typeof parseCommandLine>,
): Settings {
  const places = {
    workingDirectory: workingDirectory(),
    homeDirectory: homeDirectory(),
  };
  const absolute = (folders: readonly string[]) =>
    folders.flatMap((folder) => resolvedFolders(folder, places));
  const directories = absolute(
    positionals.length > 0 ? positionals : [environment("SKILLS_DIR") ?? ""],
  );
  const recursiveDirectories = absolute(values["skill-dir"] ?? []);
  const { agents } = values;
  return {
    roots: resolveSkillRoots({
      ...places,
      directories,
      recursiveDirectories,
      agents,
    }),
    named: [...directories, ...recursiveDirectories],
    options: {
      trustLinks: absolute(values["trust-links"] ?? []),
      linkTargets: linkTargets(places),
      maxFileSize: maxFileSize(values["max-file-size"]),
      refreshSeconds: refreshSeconds(values.refresh),
      watchFolders: !values["no-watch"],
    },
  };
}

/** Returns an environment variable, if it is set and Deno may read it. */
function environment(name: string): string | undefined {
  try {
    return Deno.env.get(name);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotCapable)) throw error;
    log(
      `Cannot read the environment variable ${name}: Deno was not allowed to; add --allow-env`,
    );
  }
}

function workingDirectory(): string | undefined {
  try {
    return Deno.cwd();
  } catch {
    log(
      "Cannot tell the working directory: the project's skills are left out; start in a folder that is there",
    );
  }
}

function homeDirectory(): string | undefined {
  const home = environment("HOME") || environment("USERPROFILE");
  if (home) return home;
  log(
    "Cannot tell the home folder: the skills in it are left out; set HOME",
  );
}

/** Where links in a project may lead: into it, and into the user's own skill roots. */
function linkTargets(places: SkillRootOptions): string[] {
  const roots = [
    ...resolveSkillRoots(places),
    ...resolveSkillRoots({ ...places, agents: true }),
  ];
  const own = roots.filter(({ scope }) => scope === "global");
  const { workingDirectory: project } = places;
  return [...project ? [project] : [], ...own.map(({ path }) => path)];
}

/** Returns the absolute paths of the folders in an argument that may have commas. */
function resolvedFolders(argument: string, places: SkillRootOptions): string[] {
  const names = isFolder(argument, places) ? [argument] : argument.split(",");
  return names.map((name) => name.trim()).filter(Boolean).flatMap((name) => {
    try {
      return [resolveFolder(name, places)];
    } catch (error) {
      log((error as Error).message);
      return [];
    }
  });
}

function isFolder(folder: string, places: SkillRootOptions): boolean {
  try {
    return Deno.statSync(resolveFolder(folder, places)).isDirectory;
  } catch {
    return false;
  }
}

function maxFileSize(option: string | undefined): number {
  const value = option ?? environment("MAX_FILE_SIZE_MB");
  if (value === undefined || value === "") return DEFAULT_MAX_FILE_SIZE;
  const size = Number(value) * 1024 * 1024;
  if (size > 0 && Number.isFinite(size)) return Math.round(size);
  const name = option === undefined ? "MAX_FILE_SIZE_MB" : "--max-file-size";
  throw new UsageError(
    `${name} takes a number of megabytes above 0, not ${quote(value)}`,
  );
}

function refreshSeconds(option: string | undefined): number {
  if (option === undefined) return DEFAULT_REFRESH_SECONDS;
  const seconds = option.trim() === "" ? NaN : Number(option);
  if (seconds >= 0 && seconds <= MAX_REFRESH_SECONDS) return seconds;
  throw new UsageError(
    `--refresh takes a number of seconds from 0 to ${MAX_REFRESH_SECONDS}, not ${
      quote(option)
    }`,
  );
}

// ---------------------------------------------------------------------------
// Report
// ---------------------------------------------------------------------------

/** Returns what a catalog holds and leaves out, for programs. */
function reportAsJson(catalog: SkillCatalog): string {
  const { roots, skills, shadowed, problems } = catalog;
  const report = {
    roots: roots.map(({ root, status, skills }) => ({
      path: root.path,
      scope: root.scope,
      recursive: root.recursive,
      status,
      skills,
    })),
    skills: [...skills.values()].map(
      ({ name, description, scope, directory, file }) => ({
        name,
        description,
        scope,
        directory,
        file,
      }),
    ),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      file: skill.file,
      by: by.file,
    })),
    problems,
  };
  return `${JSON.stringify(report, null, 2)}\n`;
}

/** Returns what a catalog holds and leaves out, for people. */
function reportAsText(catalog: SkillCatalog): string {
  const { roots, skills, shadowed, problems } = catalog;
  const sections = [
    section("Roots", roots, ({ root, status, skills }) => [
      status,
      root.scope,
      status === "found" ? `${skills} skill${skills === 1 ? "" : "s"}` : "",
      root.path,
    ]),
    section("Skills", [...skills.values()], ({ name, scope, directory }) => [
      oneLine(name),
      scope,
      directory,
    ]),
    section("Shadowed skills", shadowed, ({ skill, by }) => [
      oneLine(skill.name),
      skill.file,
      `by ${by.file}`,
    ]),
    section("Problems", problems, ({ file, line, reason, hint }) => [
      `${quote(file)}${line === undefined ? "" : ` (line ${line})`}:\n` +
      `      ${reason};\n      ${hint}`,
    ]),
  ];
  return sections.join("\n");
}

/** Lists items in columns under a heading that counts them. */
function section<T>(
  heading: string,
  items: readonly T[],
  columns: (item: T) => string[],
): string {
  const rows = items.map(columns);
  const widths = rows[0]?.map((_, column) =>
    Math.max(...rows.map((row) => row[column]!.length))
  );
  const lines = rows.map((row) => {
    const cells = row.map((cell, column) => cell.padEnd(widths![column]!));
    return `  ${cells.join("  ").trimEnd()}\n`;
  });
  return `${heading} (${items.length})\n${lines.join("")}`;
}

// ---------------------------------------------------------------------------
// Main
// ---------------------------------------------------------------------------

/**
 * Runs the program: serves until the client goes, or does what else the command
 * line asks for. Then the process ends.
 *
 * @param args The command line.
 */
export async function main(args: readonly string[]): Promise<void> {
  const code = await run(args);
  await Promise.race([logged(), new Promise((end) => setTimeout(end, 100))]);
  Deno.exit(code);
}

/** Runs the program and returns its exit code. */
async function run(args: readonly string[]): Promise<number> {
  try {
    const command = parseCommandLine(args);
    const { help, version, list, check, json } = command.values;
    if (help) return print(USAGE);
    if (version) return print(`${config.version}\n`);
    const settings = settingsOf(command);
    if (!list && !check) return await serve(settings);
    const catalog = await scanSkillRoots(
      settings.roots,
      undefined,
      settings.options,
    );
    print(json ? reportAsJson(catalog) : reportAsText(catalog));
    return check && catalog.problems.length > 0 ? 1 : 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    print(`skill-server: ${error.message}\n\n${USAGE}`, Deno.stderr);
    return 2;
  }
}

/** Serves a client until it goes. */
async function serve({ roots, named, options }: Settings): Promise<number> {
  if (Deno.stdin.isTerminal()) {
    log(
      "Waiting for an MCP client on stdin. To see which skills there are, use --list; to end, press Ctrl+C.",
    );
  }
  using registry = new SkillRegistry(roots, options);
  const catalog = await registry.refresh();
  tellMissing(catalog, named);
  const server = createServer(registry);
  const transport = new StdioTransport();
  const ended = new Promise<void>((resolve) => server.onclose = resolve);
  server.onerror = (error) => log(`Cannot handle a message: ${error.message}`);
  for (const signal of END_SIGNALS) {
    Deno.addSignalListener(signal, () => transport.close());
  }
  await server.connect(transport);
  // The first answer comes first: to begin watching takes a moment.
  transport.firstReply.then(() => registry.watch());
  await ended;
  return 0;
}

/** The signals that end the process, where the system has them. */
const END_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM"];

/** Tells of folders that the user named and that are not there. */
function tellMissing({ roots }: SkillCatalog, named: readonly string[]): void {
  for (const { root, status } of roots) {
    if (status === "missing" && named.includes(root.path)) {
      log(
        `Cannot find the folder ${
          quote(root.path)
        }: it is searched as soon as it is there; check how it is written`,
      );
    }
  }
}

/** Makes the MCP server, not yet connected. */
function createServer(registry: SkillRegistry): Server {
  const { name, version } = config;
  const server = new Server({ name, title: "Agent Skills", version }, {
    capabilities: { tools: { listChanged: true } },
  });
  registerSkillTools(server, registry, "skill");
  return server;
}

/** Writes a text at once. A reader that has seen enough is no fault. */
function print(
  text: string,
  stream: { writeSync(bytes: Uint8Array): number } = Deno.stdout,
): 0 {
  try {
    const bytes = new TextEncoder().encode(text);
    for (let sent = 0; sent < bytes.length;) {
      sent += stream.writeSync(bytes.subarray(sent));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.BrokenPipe)) throw error;
  }
  return 0;
}
