/**
 * The output of `--print-config`: an entry that makes an MCP client start the server as
 * it runs now, and notes for the user.
 */

import { ALLOW_SHELL, findShell } from "../features/toolsets/shell.ts";
import { wantsShell } from "../features/toolsets/toolsets.ts";
import {
  basename,
  dirname,
  isAbsolute,
  isAtOrBelow,
  isWindows,
  join,
  realPathOf,
  withDirsAbove,
} from "../fs/paths.ts";
import { escapeCodePoint, escapeInvisible } from "../invisible.ts";
import { isCopyable } from "../log.ts";
import { listRuleDirs } from "../policy/policy_file.ts";
import { SERVING_OPTIONS, UsageError } from "../program/command_line.ts";
import {
  commandWords,
  type Program,
  quoteWord,
  runningProgram,
} from "../program/running_program.ts";
import {
  readEnvironment,
  type Settings,
  withOptions,
} from "../program/settings.ts";
import { Project } from "../skills/project.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import { formatIndentedJson, quote, stringifyJson } from "../text.ts";
import { type Client, type ClientName, CLIENTS } from "../views/clients.ts";

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface ClientConfig {
  readonly text: string;
  readonly notes: readonly string[];
}

/**
 * Creates the configuration for a client.
 *
 * @param doubleLists What to say about skills that the client lists itself.
 * @throws {UsageError} If Deno could read more than the user expects.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
  doubleLists: string | undefined,
  program: Program = runningProgram(),
): ClientConfig {
  const client = CLIENTS[name];
  const entrySettings = withClientOptions(name, settings);
  const launch = createLaunch(program, entrySettings);
  const dir = client.obeysClaudeConfigDir
    ? settings.options.claudeDirectory
    : undefined;
  const entry = createEntry(client, launch, dir);
  const command = formatCommand(client, launch, entry);
  const file = dir === undefined
    ? configFile(client, program.os)
    : join(dir, basename(client.file));
  const notes = [
    explainWhereToAdd(client, file, command) +
    explainWhenToReprint(launch, program) + ".",
    explainAddedOptions(client, settings, entrySettings),
    dir === undefined ? explainClaudeDirectory(settings) : undefined,
    doubleLists,
    explainCommas(program, entrySettings),
    command,
  ].filter((note) => note !== undefined);
  return {
    text: formatConfig(client, entry),
    notes,
  };
}

/** Adds the options that a client needs so that its model sees every skill. */
export function withClientOptions(
  name: ClientName,
  settings: Settings,
): Settings {
  const { toolset, ownSkills = [], ownList } = CLIENTS[name];
  const { values, dirs } = settings;
  const describesAgents = ownSkills.includes(".agents/skills") &&
    ownList === "every description";
  return withOptions(settings, {
    ...values,
    tools: values.tools ?? toolset,
    agents: values.agents || (dirs.length === 0 && !describesAgents) ||
      undefined,
  });
}

export function createEntry(
  { fields, listsCommand, programField = "command" }: Client,
  { command, args }: Launch,
  claudeDirectory?: string,
): object {
  return {
    ...fields,
    ...listsCommand
      ? { command: [command, ...args] }
      : { [programField]: command, args },
    ...claudeDirectory && { env: { CLAUDE_CONFIG_DIR: claudeDirectory } },
  };
}

export function formatConfig(
  { format = "json", section = "mcpServers" }: Client,
  entry: object,
): string {
  if (format === "json") {
    return formatIndentedJson({ [section]: { skills: entry } });
  }
  const [start, indent, sign] = format === "toml"
    ? [`[${section}.skills]`, "", " ="]
    : [`${section}:\n  skills:`, "    ", ":"];
  const fields = Object.entries(entry).map(([key, value]) =>
    `\n${indent}${key}${sign} ${formatValue(value)}`
  );
  return `${start}${fields.join("")}\n`;
}

/** Formats a string or a list of strings, which are the same in JSON, TOML, and YAML. */
export function formatValue(value: unknown): string {
  return escapeInvisible(stringifyJson(value), escapeCodePoint);
}

/** Formats the command of a client that adds the entry, if its words are safe in every shell. */
function formatCommand(
  { command: template }: Client,
  { command, args }: Launch,
  entry: object,
): string | undefined {
  // A double quote in one of its texts has a backslash in JSON. Shells on Windows change
  // backslashes.
  const json = JSON.stringify(entry);
  if (/['\\]/.test(json) || !isCopyable(json)) return undefined;
  const parts: Readonly<Record<string, string>> = {
    entry: json,
    named: JSON.stringify({ name: "skills", ...entry }),
    program: quoteWord(command),
    args: args.map(quoteWord).join(" "),
  };
  return template?.replace(/\{(\w+)\}/g, (_, part) => parts[part]!);
}

function explainWhereToAdd(
  { title, projectFile }: Client,
  file: string,
  command: string | undefined,
): string {
  const places = [
    `Add this to the configuration of ${title} in ${quote(file)}`,
  ];
  if (projectFile) places.push(`for one project in ${quote(projectFile)}`);
  if (command) places.push("run the command below");
  return places.join(", or ");
}

/** Lists events that would break the entry. */
function explainWhenToReprint(
  { command }: Launch,
  { mainModule = "" }: Program,
): string {
  const occasions: string[] = [];
  if (isAbsolute(mainModule)) occasions.push(`move ${quote(mainModule)}`);
  if (/[\\/]_npx[\\/]/.test(command)) {
    occasions.push("empty the npm cache, which contains this Deno");
  } else if (command.includes(Deno.version.deno)) {
    occasions.push("upgrade Deno, because its path contains the version");
  }
  return occasions.length > 0
    ? `; print it again if you ${occasions.join(" or ")}`
    : "";
}

function configFile(
  { file, windowsFile = file }: Client,
  os: Program["os"],
): string {
  if (os === "windows") {
    return windowsFile.replace("{data}", "%APPDATA%")
      .replace(/^~/, "%USERPROFILE%").replaceAll("/", "\\");
  }
  const data = os === "darwin" ? "~/Library/Application Support" : "~/.config";
  return file.replace("{data}", data);
}

function explainAddedOptions(
  { title, ownSkills }: Client,
  { values: before }: Settings,
  { values }: Settings,
): string | undefined {
  const added: string[] = [];
  if (values.tools !== before.tools) {
    added.push(
      `--tools=${values.tools}, because ${title} cannot open the other files of a skill`,
    );
  }
  if (values.agents !== before.agents) {
    const reason = ownSkills?.includes(".agents/skills")
      ? `${title} itself does not describe all skills in ~/.agents/skills`
      : "installers such as npx skills add put skills in ~/.agents/skills";
    added.push(`--agents, because ${reason}`);
  }
  return added.length > 0
    ? `The entry adds ${added.join(", and ")}.`
    : undefined;
}

/** Without the variable, the server would find no skills, and say so only in its log. */
function explainClaudeDirectory(
  { dirs, options: { claudeDirectory } }: Settings,
): string | undefined {
  return claudeDirectory === undefined || dirs.length > 0
    ? undefined
    : `The server needs CLAUDE_CONFIG_DIR=${
      quote(claudeDirectory)
    }, as it is set here. Add it to the environment of the entry.`;
}

/**
 * Creates the command that starts the server on this machine. It never uses npx, with
 * which a project could replace the program: npm puts the project's node_modules on the
 * PATH and starts Deno with `node`, unless it ran the install script, which npm 12 does
 * not. On Windows, npx.cmd runs the npm at the `prefix` in the project's .npmrc, and cmd
 * runs a deno.cmd of the project.
 *
 * @throws {UsageError} If Deno could read more than the user expects.
 */
export function createLaunch(program: Program, settings: Settings): Launch {
  const args = serverArguments(settings);
  const executable = lastingPath(program.executable, settings);
  if (program.mainModule === undefined) return { command: executable, args };
  const runsShell = wantsShell(settings.options) && findShell() !== undefined;
  const [command, ...words] = commandWords({ ...program, executable }, {
    allowRead: allowRead(listReadablePaths(settings)),
    flags: runsShell ? [ALLOW_SHELL] : [],
  });
  return { command: command!, args: [...words, ...args] };
}

/**
 * Returns the path of a program on the PATH, or else its given path. Package managers put
 * the version into the real path, so an upgrade would remove that. Ignores directories
 * of the project, which could replace the program.
 */
function lastingPath(executable: string, { options }: Settings): string {
  const project = new Project(options);
  const realPath = realPathOf(executable);
  const found = (readEnvironment("PATH") ?? "").split(isWindows ? ";" : ":")
    .filter((dir) =>
      isAbsolute(dir) &&
      [dir, realPathOf(dir)].every((path) => project.scopeOf(path) === "global")
    )
    .map((dir) => join(dir, basename(executable)))
    .find((path) => realPathOf(path) === realPath);
  return found ?? executable;
}

/** Returns arguments that work the same in any directory and environment. */
function serverArguments({ values, dirs }: Settings): string[] {
  const flags = SERVING_OPTIONS.flatMap((name) =>
    [values[name] ?? []].flat().map((value) =>
      value === true ? `--${name}` : `--${name}=${value}`
    )
  );
  return [...flags, ...dirs];
}

/**
 * Lists the paths that Deno must read, and the targets of symlinks among them, without
 * which Deno would not watch a directory. Paths in the project are relative, because the
 * client can start the server in any project.
 */
function listReadablePaths(settings: Settings): string[] {
  const { options, values, dirs } = settings;
  const { homeDirectory, claudeDirectory } = options;
  const { policy } = values;
  const defaultRoots = resolveSkillRoots({
    workingDirectory: ".",
    homeDirectory,
    claudeDirectory,
    // Other directories replace the default roots.
    dirs: dirs.length > 0 ? [] : undefined,
    agents: values.agents,
  });
  const paths = [
    ...defaultRoots.map(({ path }) => path),
    ...dirs,
    ...values["skill-dir"] ?? [],
    ...values["trust-links"] ?? [],
    ...policy === undefined
      ? []
      : [policy, ...listRuleDirs(policy, homeDirectory)],
  ];
  const targets = paths.filter(isAbsolute)
    .map((path) => targetOf(path, settings));
  return [...paths, ...targets];
}

/**
 * Returns the target of a path, unless a symlink of the project leads out of it.
 *
 * @throws {UsageError} If the target is the home directory or above it.
 */
function targetOf(
  path: string,
  { options }: Settings,
): string {
  const { homeDirectory: home } = options;
  const target = realPathOf(path);
  if (new Project(options).leadsOut(path, target)) return path;
  const exposesHome = (dir: string) =>
    dir === dirname(dir) || (home !== undefined &&
      [home, realPathOf(home)].some((it) => isAtOrBelow(it, dir)));
  if (exposesHome(path) || !exposesHome(target)) return target;
  const [from, to] = [path, target].map(quote);
  throw new UsageError(
    `Cannot print an entry that lets Deno read all of ${to}, the target of ${from}: pass the folders of the skills, or ${to} if you mean it`,
  );
}

/** Returns the flag for paths, which it sorts, because their order means nothing. */
function allowRead(paths: readonly string[]): string {
  return `--allow-read=${
    [...new Set(paths.map(withoutComma))].sort().join(",")
  }`;
}

/** Returns a path, or the innermost one above it without a comma, which separates paths. */
function withoutComma(path: string): string {
  return withDirsAbove(path).find((it) => !it.includes(","))!;
}

function explainCommas(
  { mainModule }: Program,
  settings: Settings,
): string | undefined {
  const paths = mainModule === undefined ? [] : listReadablePaths(settings);
  const [path] = paths.filter((it) => it.includes(","));
  return path === undefined
    ? undefined
    : `Deno cannot list ${
      quote(path)
    }, because of the comma, so the entry lets it read all of ${
      quote(withoutComma(path))
    }. To avoid that, rename the folder.`;
}
