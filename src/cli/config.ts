/**
 * What `--print-config` prints: the entry with which an MCP client starts the server
 * the way it is running now, and notes for the user.
 */

import {
  basename,
  dirname,
  inHome,
  isAbsolute,
  isAtOrBelow,
  isWindows,
  join,
  realPathOf,
} from "../fs/paths.ts";
import { type Client, type ClientName, CLIENTS } from "../mcp/clients.ts";
import { ALLOW_SHELL, findShell } from "../mcp/toolsets/shell.ts";
import { wantsShell } from "../mcp/toolsets/toolsets.ts";
import { listRuleDirs } from "../policy/policy_file.ts";
import { SERVING_OPTIONS, UsageError } from "../program/command_line.ts";
import {
  commandWords,
  type Program,
  quoteWord,
  runningProgram,
  withTilde,
} from "../program/running_program.ts";
import {
  readEnvironment,
  type Settings,
  withOptions,
} from "../program/settings.ts";
import { Project } from "../skills/project.ts";
import { resolveSkillRoots } from "../skills/roots.ts";
import {
  escapeCodePoint,
  escapeInvisible,
  formatIndentedJson,
  isCopyable,
  quote,
  stringifyJson,
} from "../text.ts";

/** A program and its arguments. */
export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
}

export interface ClientConfig {
  /** What the user adds to the client's file. */
  readonly text: string;
  /** Says where to add it, in at most three sentences. */
  readonly notes: string;
}

/**
 * Creates the configuration for a client.
 *
 * @throws {UsageError} If Deno could read more than the user can expect.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
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
    ? configFile(client.file, program.os)
    : join(dir, basename(client.file));
  const notes = [
    sayWhereToAdd(client, file, command) + sayHowLong(launch, program) + ".",
    sayWhatIsAdded(client, settings, entrySettings),
    sayWhatIsTwice(client, entrySettings),
    command,
  ].filter((note) => note !== undefined);
  return {
    text: formatConfig(client, entry),
    notes: `\n${notes.join("\n\n")}\n`,
  };
}

/** Adds to the user's options what a client needs so that its model sees every skill. */
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
  { fields, listsCommand }: Client,
  { command, args }: Launch,
  claudeDirectory?: string,
): object {
  return {
    ...fields,
    ...listsCommand ? { command: [command, ...args] } : { command, args },
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
  // TOML writes texts and lists of texts as JSON does.
  const fields = Object.entries(entry).map(([key, value]) =>
    `${key} = ${escapeInvisible(stringifyJson(value), escapeCodePoint)}\n`
  );
  return `[${section}.skills]\n${fields.join("")}`;
}

/** Formats the client's own command, if every shell leaves the words in it as they are. */
function formatCommand(
  { command: template }: Client,
  { command, args }: Launch,
  entry: object,
): string | undefined {
  const text = [command, ...args].join(" ");
  // On Windows, shells change the separator of paths, and JSON in quotes.
  if (/['"\\]/.test(text) || !isCopyable(text)) return undefined;
  const parts: Readonly<Record<string, string>> = {
    entry: JSON.stringify(entry),
    named: JSON.stringify({ name: "skills", ...entry }),
    program: quoteWord(command),
    args: args.map(quoteWord).join(" "),
  };
  return template?.replace(/\{(\w+)\}/g, (_, part) => parts[part]!);
}

function sayWhereToAdd(
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

/** Says what would break the entry. */
function sayHowLong(
  { command }: Launch,
  { mainModule = "" }: Program,
): string {
  const occasions: string[] = [];
  if (isAbsolute(mainModule)) occasions.push(`move ${quote(mainModule)}`);
  if (/[\\/]_npx[\\/]/.test(command)) {
    occasions.push("empty the cache of npm, which holds its Deno");
  } else if (command.includes(Deno.version.deno)) {
    occasions.push("upgrade Deno, whose path names its version");
  }
  return occasions.length > 0
    ? `; print it again if you ${occasions.join(" or ")}`
    : "";
}

function configFile(file: string, os: Program["os"]): string {
  if (os === "windows") {
    return file.replace("{data}", "%APPDATA%").replace(/^~/, "%USERPROFILE%")
      .replaceAll("/", "\\");
  }
  const data = os === "darwin" ? "~/Library/Application Support" : "~/.config";
  return file.replace("{data}", data);
}

function sayWhatIsAdded(
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

/** Says how to describe skills only once that the client describes itself, and we do, too. */
function sayWhatIsTwice(
  { title, ownSkills = [], ownList }: Client,
  { roots, options, home }: Settings,
): string | undefined {
  if (ownList === "only names") return undefined;
  const dirs = ownSkills.filter((dir) => !dir.startsWith("./"))
    .map((dir) => inHome(dir.replace("~/", ""), options))
    .filter((own) => own !== undefined)
    .filter((own) => roots.some(({ path }) => isAtOrBelow(own, path)))
    .map((own) => quoteWord(withTilde(own, home)));
  if (dirs.length === 0) return undefined;
  const list = dirs.length === 1 ? dirs[0] : `[${dirs.join(", ")}]`;
  return `${title} also describes skills in ${
    dirs.join(" and ")
  } itself; if its list has room for all of them, a file for --policy with the rule "- { in: ${list}, state: name-only }" leaves that to it, which saves about 45 tokens a skill.`;
}

/**
 * Creates the command that starts the server on this machine. It does not use npx, even
 * if npx downloaded Deno: npm puts node_modules of the project on the PATH and starts
 * Deno with `node`, unless it ran the install script, which npm 12 does not. On
 * Windows, npx.cmd runs the npm that `prefix` in the project's .npmrc leads to, and
 * npm's cmd runs a deno.cmd of the project.
 *
 * @throws {UsageError} If Deno could read more than the user can expect.
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
 * Returns the path under which a program is on the PATH, or else its real path. Package
 * managers put the version into the latter, so an upgrade would remove it. A project
 * could replace what is in it.
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

/** Returns arguments that have the same effect in any directory and environment. */
function serverArguments({ values, dirs }: Settings): string[] {
  const flags = SERVING_OPTIONS.flatMap((name) =>
    [values[name] ?? []].flat().map((value) =>
      value === true ? `--${name}` : `--${name}=${value}`
    )
  );
  return [...flags, ...dirs];
}

/**
 * Lists what Deno must read, with the targets of links, because it watches a directory
 * only where it may read those. Directories of the project are relative, because each
 * start can be in another project.
 */
function listReadablePaths(settings: Settings): string[] {
  const { values, home, dirs, options } = settings;
  const { policy } = values;
  const defaultRoots = resolveSkillRoots({
    workingDirectory: ".",
    homeDirectory: home,
    claudeDirectory: options.claudeDirectory,
    // Directories that are named replace them.
    dirs: dirs.length > 0 ? [] : undefined,
    agents: values.agents,
  });
  const paths = [
    ...defaultRoots.map(({ path }) => path),
    ...dirs,
    ...values["skill-dir"] ?? [],
    ...values["trust-links"] ?? [],
    ...policy === undefined ? [] : [policy, ...listRuleDirs(policy, home)],
  ];
  const targets = paths.filter(isAbsolute)
    .map((path) => targetOf(path, settings));
  return [...paths, ...targets];
}

/**
 * Returns where a path that the user named leads, unless a link of the project leads
 * out.
 *
 * @throws {UsageError} If it leads to the home directory, or to one above it.
 */
function targetOf(path: string, { home, options }: Settings): string {
  const target = realPathOf(path);
  if (new Project(options).leadsOut(path, target)) return path;
  const exposesHome = (dir: string) =>
    dir === dirname(dir) || (home !== undefined &&
      [home, realPathOf(home)].some((it) => isAtOrBelow(it, dir)));
  if (exposesHome(path) || !exposesHome(target)) return target;
  const [from, to] = [path, target].map(quote);
  throw new UsageError(
    `Cannot print an entry that lets Deno read all of ${to}, where ${from} leads: name the folders of the skills, or write ${to} if you mean it`,
  );
}

/** @throws {UsageError} If the flag cannot name one of the paths. */
function allowRead(paths: readonly string[]): string {
  const odd = paths.find((path) => path.includes(","));
  if (odd === undefined) return `--allow-read=${[...new Set(paths)].join(",")}`;
  const action = `Cannot print an entry that lets Deno read only ${quote(odd)}`;
  throw new UsageError(`${action}: its path contains a comma; rename it`);
}
