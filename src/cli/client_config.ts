/**
 * What `--print-config` prints: the configuration for an MCP client, and what
 * the user should know about it.
 *
 * @module
 */

import {
  commandToAdd,
  entryFor,
  expandPath,
  formatConfig,
  userFileOf,
  type UserPlaces,
} from "./client_files.ts";
import {
  type ClientName,
  isLocal,
  MCP_CLIENTS,
  type McpClient,
  type Server,
  TOKEN_VARIABLE,
} from "./clients.ts";
import { UsageError } from "./command_line.ts";
import { createInstallLinks, INSTALL_LINKS } from "./install_links.ts";
import {
  createLaunch,
  createPortableLaunch,
  listUsualRoots,
} from "./launch.ts";
import {
  hasUnknownImportMap,
  isInNpxCache,
  type Program,
  runningProgram,
} from "./program.ts";
import type { Settings } from "./settings.ts";
import { realPathIfThere } from "../files/paths.ts";
import { isAtOrBelow } from "../files/paths.ts";
import { quoteCommand, SHELL_TITLES, shellInUse } from "../shell_quoting.ts";
import { listSkillFolders } from "../skills/near_misses.ts";
import { quote, wrapText } from "../text.ts";

/** A client's configuration, and what the user should know about it. */
export interface ClientConfig {
  /** The snippet to add to the configuration file, or the links that install the server. */
  readonly text: string;
  /** Messages for the user, a paragraph each. */
  readonly notes: readonly string[];
  /** A command that adds the configuration, ready to paste. */
  readonly command?: string;
  /** Introduces the command. */
  readonly commandTitle?: string;
  /** Introduces the text. */
  readonly title: string;
}

/**
 * Creates the configuration for a client that starts the server the way it is
 * running now or, with `--url`, connects to a URL. With `--link`, the text
 * consists of links.
 *
 * @throws {UsageError} If the client does not support that.
 */
export function createClientConfig(
  name: ClientName,
  settings: Settings,
  program: Program = runningProgram(),
): ClientConfig {
  const client = MCP_CLIENTS[name];
  const { url, link } = settings.values;
  const places = { ...program, home: settings.home ?? "~" };
  const context = { client, settings, program, places };
  if (link) return createLinks(name, context);
  const { server, notes } = url === undefined
    ? describeLaunch(context)
    : describeRemote(context, url);
  return {
    text: formatConfig(client, server),
    notes: [...notes, ...listExpanded(client, server)],
    ...createCommand(context, server),
    title: describePlace(context),
  };
}

/** Formats everything but the configuration itself, between blank lines, for a terminal of 80 columns. */
export function configMessage(config: ClientConfig): string {
  const { notes, commandTitle, command, title } = config;
  const paragraphs = notes.map((note) => wrapText(note));
  if (command === undefined) {
    paragraphs.push(wrapText(`${title}:`));
  } else {
    const lowered = title.charAt(0).toLowerCase() + title.slice(1);
    paragraphs.push(wrapText(`${commandTitle}:`), command);
    paragraphs.push(wrapText(`Or ${lowered}:`));
  }
  return `\n${paragraphs.join("\n\n")}\n\n`;
}

/** What a configuration is made of. */
interface Context {
  readonly client: McpClient;
  readonly settings: Settings;
  readonly program: Program;
  readonly places: UserPlaces;
}

/** Returns the notes that apply. */
function listNotes(...notes: (string | false | undefined)[]): string[] {
  return notes.filter((note) => typeof note === "string");
}

/** Returns the command that starts the server, and what the user should know about it. */
function describeLaunch(context: Context) {
  const { program } = context;
  const { settings, notes } = adaptSettings(context);
  const server = createLaunch(program, settings);
  return {
    server,
    notes: listNotes(
      ...notes,
      isInNpxCache(program.executable) &&
        "The entry uses npx, which asks the npm registry for Deno at each start, and prefers a Deno in the node_modules of the folder where the client starts it. To avoid both, install Deno (https://deno.com) and print the configuration with it.",
      program.mainModule !== undefined && hasUnknownImportMap &&
        "Cannot determine the import map that Deno runs with: add --import-map=… to the arguments.",
      server.args.includes("--allow-read") &&
        "Cannot limit Deno to folders with a comma in their names: it gets permission to read every folder.",
    ),
  };
}

/** Adds to the settings what a client needs. */
function adaptSettings(context: Context) {
  const { client: { title, toolset, ownSkillsLimit }, settings } = context;
  const { values: { tools = toolset }, options } = settings;
  const ownSkills = findOwnSkills(context);
  const nameOnlyFolders = [...ownSkills, ...options.nameOnlyFolders ?? []];
  const hasOwn = ownSkills.length > 0;
  const notes = listNotes(
    toolset !== undefined && settings.values.tools === undefined &&
      `${title} cannot open files. So the entry selects the toolset ${toolset}, which has a tool that reads the other files of a skill.`,
    hasOwn &&
      `${title} itself lists the skills in ${
        inWords(ownSkills)
      }. So that the model sees each description once, the server lists these skills by name (--name-only). Remove these arguments if you switch off the list of ${title}.`,
    hasOwn && ownSkillsLimit,
  );
  return {
    settings: {
      ...settings,
      values: { ...settings.values, tools },
      options: { ...options, nameOnlyFolders },
    },
    notes,
  };
}

/** Joins items as in a sentence. */
function inWords(items: readonly string[]): string {
  return new Intl.ListFormat("en").format(items);
}

/** Returns the folders whose skills both the client and the server list. */
function findOwnSkills(context: Context): string[] {
  const { client: { ownSkills = [] }, settings, places } = context;
  const usual = listUsualRoots(settings);
  const folders = ownSkills.map((path) => expandPath(path, places));
  return folders.filter((folder) =>
    usual.includes(folder) ||
    settings.roots.some(({ path, recursive }) =>
      path === folder || recursive && isAtOrBelow(folder, path) ||
      hasSkillsIn(path, folder)
    )
  );
}

/** Whether a root lists skills in a folder, as through the links of skill installers. */
function hasSkillsIn(root: string, folder: string): boolean {
  const realPath = realPathIfThere(folder);
  return realPath !== undefined &&
    listSkillFolders(root).some((skill) => isAtOrBelow(skill, realPath));
}

/** Like {@linkcode describeLaunch} for a server at a URL. Completes the URL if it has no path. */
function describeRemote({ client, program }: Context, text: string) {
  const url = new URL(text);
  const isBare = url.pathname === "/";
  if (isBare) url.pathname = "/mcp";
  const { href, pathname } = url;
  // On this machine, a server needs no token unless the environment has one.
  const needsToken = !isLocal(href) ||
    Boolean(program.variable(TOKEN_VARIABLE));
  const { token = "<token>", urlNote } = client;
  return {
    server: { url: href, token: needsToken ? token : undefined },
    notes: listNotes(
      isBare && `Clients connect to /mcp, so the URL is ${href}.`,
      !/\/mcp\/?$/.test(pathname) &&
        `The server expects clients at /mcp. Check that ${href} leads there.`,
      urlNote,
      needsToken && describeToken(client),
    ),
  };
}

/** Describes where a client gets the token. */
function describeToken({ title, token, tokenSource }: McpClient): string {
  if (token === undefined) {
    return `Replace <token> with the token of the server, because ${title} cannot read it from the environment.`;
  }
  return tokenSource ??
    `${title} reads the token from the environment variable ${TOKEN_VARIABLE}.`;
}

/** Creates the client's own command that adds the entry, if it can be pasted safely. */
function createCommand(
  context: Context,
  server: Server,
): Pick<ClientConfig, "command" | "commandTitle"> {
  const { client, program } = context;
  const words = commandToAdd(client, server);
  const shell = shellInUse(program);
  const command = words && quoteCommand(words, shell);
  if (command === undefined) return {};
  const { unsetField = "" } = client;
  const entry: Record<string, unknown> = { ...entryFor(client, server) };
  const rest = entry[unsetField] === undefined
    ? ""
    : ` and then add "${unsetField}": ${entry[unsetField]} to the entry in ${
      fileOf(context)
    }`;
  const commandTitle = `Run this command in ${SHELL_TITLES[shell]}${rest}`;
  return { command, commandTitle };
}

/** Describes which file a configuration belongs in. */
function describePlace(context: Context): string {
  const { client: { title, projectFile, formerFile }, places } = context;
  const former = formerFile === undefined
    ? ""
    : ` (in older versions, ${quote(expandPath(formerFile, places))})`;
  const project = projectFile === undefined
    ? ""
    : `, or for a single project in ${quote(projectFile)}`;
  return `Add this to the configuration of ${title} in ${
    fileOf(context)
  }${former}${project}`;
}

function fileOf({ client, places }: Context): string {
  return quote(userFileOf(client, places));
}

/** Returns a message for each text that the client would expand. */
function listExpanded(client: McpClient, server: Server): string[] {
  const { title, expands } = client;
  const texts = "url" in server
    ? [server.url]
    : [server.command, ...server.args];
  return texts.filter((text) => expands?.test(text)).map((text) =>
    `Cannot configure ${title} with ${
      quote(text)
    }: the client would expand part of it. Use other names.`
  );
}

/** Creates the links that install the server in a client. */
function createLinks(name: ClientName, context: Context): ClientConfig {
  const { client, settings } = context;
  const { title } = client;
  const format = INSTALL_LINKS[name];
  if (format === undefined) {
    throw new UsageError(
      `Cannot create a link for ${title}: only ${
        inWords(Object.keys(INSTALL_LINKS))
      } install servers from links`,
    );
  }
  const { url } = settings.values;
  const { server, notes } = url === undefined
    ? describePortableLaunch(context, format.homeFolder)
    : describeRemote({ ...context, client: { ...client, ...format } }, url);
  const [app, web] = createInstallLinks(format, format.query(client, server));
  return {
    text: `${app}\n${web}\n`,
    notes: [
      ...notes,
      `The first link opens ${title}. The second is for pages that accept only web links, such as those on GitHub. It opens ${title} through ${
        new URL(web).hostname
      }, which can read the entry.`,
    ],
    title: `Use one of these links to install the server in ${title}`,
  };
}

/** Like {@linkcode describeLaunch} for a link that others open. */
function describePortableLaunch(
  context: Context,
  homeFolder: string | undefined,
) {
  const { client: { title }, program } = context;
  const { settings, notes } = adaptSettings(context);
  const server = createPortableLaunch(program, { ...settings, homeFolder });
  const { home = "~", directories, recursiveDirectories } = settings;
  const foreign = [...directories, ...recursiveDirectories]
    .filter((folder) => !isAtOrBelow(folder, home)).map(quote);
  return {
    server,
    notes: listNotes(
      ...notes,
      "Whoever opens the link needs Node: npx asks the npm registry for Deno at each start, and prefers a Deno in the node_modules of the folder where the client starts it.",
      foreign.length > 0 &&
        `Others need the same folders: ${inWords(foreign)}.`,
      server.args.includes("--allow-read") &&
        `Deno gets permission to read every folder, because ${title} cannot put the home folder into an argument.`,
    ),
  };
}
