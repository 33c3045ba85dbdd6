/**
 * The program: an MCP server that serves skills as tools, prompts, and resources,
 * and through the Skills extension.
 *
 * @module
 */

import type {
  CompleteResult,
  GetPromptResult,
  Prompt,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import {
  CompleteRequestSchema,
  GetPromptRequestSchema,
  ListPromptsRequestSchema,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import * as z from "npm:zod@^4";
import config from "./deno.json" with { type: "json" };
import {
  DEFAULT_REFRESH_SECONDS,
  registerSkillTools,
  SkillRegistry,
  type SkillToolServer,
} from "./mod.ts";
import { DEFAULT_PROFILE, profileFor } from "./src/views/client_profiles.ts";
import {
  createSettings,
  helpText,
  missingFolders,
  openPolicy,
  parseCommandLine,
  type Settings,
  USAGE_LINE,
  UsageError,
} from "./src/cli/command_line.ts";
import {
  cachePerCatalog,
  getPage,
  type ListItem,
  notifyWhenChanged,
  sortList,
  valuesOf,
} from "./src/views/list_views.ts";
import {
  invalidParams,
  McpServer,
  type RequestHandlers,
  type ServerDescription,
} from "./src/protocol/mcp_server.ts";
import { qualifiedName, servedSkills } from "./src/skills/names.ts";
import { findShellFault } from "./src/shell.ts";
import {
  divideList,
  formatSkillLine,
  inListOrder,
  isForUser,
  listKey,
  listUserSkills,
} from "./src/views/skill_lists.ts";
import { nearestSkills } from "./src/skills/search.ts";
import {
  type ByteWriter,
  StdioTransport,
  writeAll,
} from "./src/protocol/stdio_transport.ts";
import { SKILL_MD } from "./src/files/paths.ts";
import { jsonText, log, logged, quote, skillKey } from "./src/text.ts";
import {
  createInstructions,
  type SkillToolOptions,
  type Toolset,
} from "./src/views/toolsets.ts";
import type { Skill, SkillCatalog, SkillChange } from "./src/skills/types.ts";
import {
  findResource,
  readFile,
  registerResources,
  RESOURCE_TEMPLATES,
} from "./src/views/resources.ts";
import {
  registerSkillsExtension,
  SKILLS_EXTENSION,
  type SkillsExtensionOptions,
} from "./src/views/skills_extension.ts";
import { skillMdUri } from "./src/skills/uri.ts";

// Compiling the schemas would take longer than this process spends using them.
z.config({ jitless: true });

/** The prompt that takes a skill's name as its argument. */
const SKILL_PROMPT = "skill";

function registerPrompts(
  server: RequestHandlers,
  registry: SkillRegistry,
  toolset: Toolset,
): void {
  server.setRequestHandler(ListPromptsRequestSchema, ({ params }) => {
    const page = getPage(listPrompts(registry.catalog), params?.cursor);
    return { prompts: page.items, nextCursor: page.nextCursor };
  });
  server.setRequestHandler(GetPromptRequestSchema, ({ params }, { client }) => {
    const { name, arguments: input } = params;
    // Skilljack's prompts embed the skill as a resource. Some clients drop such prompts.
    const asResource = toolset === "skilljack" &&
      !profileFor(client).dropsEmbeddedResources;
    const options = { registry, asResource };
    if (name !== SKILL_PROMPT) {
      return createPrompt(name, { kind: "prompt", ...options });
    }
    if (input?.name) {
      return createPrompt(input.name, { kind: "skill", ...options });
    }
    throw invalidParams('The prompt "skill" requires the argument "name"');
  });
  const notify = () => server.notify("notifications/prompts/list_changed");
  const list = (catalog: SkillCatalog) => valuesOf(listPrompts(catalog));
  notifyWhenChanged(registry, list, notify);
}

/** Creates the description of the prompt that takes a name. It lists the skills. */
function describeSkillPrompt(skills: readonly Skill[]): string {
  const lines = skills.map((skill) => `${formatSkillLine(skill)}\n`);
  const usage = "Load a skill by name.";
  const whole = `${usage}\n\nAvailable skills:\n${lines.join("")}`;
  return whole.length <= DEFAULT_PROFILE.descriptionLimit
    ? whole
    : divideList(usage, skills, DEFAULT_PROFILE).description;
}

/** Lists the prompt `skill`, which takes a name, and a prompt for each skill with another name. */
const listPrompts = cachePerCatalog(createPrompts);

function createPrompts(catalog: SkillCatalog): ListItem<Prompt>[] {
  const skills = listUserSkills(catalog);
  const own = skills.filter(({ name }) => name !== SKILL_PROMPT)
    .map((skill) => {
      const { name, description } = skill;
      const value = { name, title: name, description };
      return { key: listKey(skill, name), value };
    });
  const value = {
    name: SKILL_PROMPT,
    title: "Load Skill",
    description: describeSkillPrompt(skills),
    arguments: [{
      name: "name",
      description: "Name of the skill (case-insensitive)",
      required: true,
    }],
  };
  // The empty key puts this prompt on the first page. Many clients read no other.
  return sortList([{ key: "", value }, ...own]);
}

/** Options of {@linkcode createPrompt}. */
interface PromptOptions {
  /** What the name in the request refers to. */
  readonly kind: "prompt" | "skill";
  readonly registry: SkillRegistry;
  /** Whether the prompt contains the skill as an embedded resource instead of as text. */
  readonly asResource: boolean;
}

/**
 * Creates the prompt that loads a skill.
 *
 * @throws {Error} If there is no skill with this name that the user can load.
 *   The message says whether the client asked for a prompt or a skill.
 */
async function createPrompt(
  name: string,
  { kind, registry, asResource }: PromptOptions,
): Promise<GetPromptResult> {
  const skill = registry.find(name);
  if (skill === undefined || !isForUser(skill)) {
    throw await createUnknownNameError(name, {
      kind,
      catalog: registry.catalog,
    });
  }
  const file = readFile(registry, skill, SKILL_MD);
  const text = file.text ?? new TextDecoder().decode(file.bytes);
  const uri = skillMdUri(skill);
  const resource = { uri, mimeType: "text/markdown", text };
  return {
    description: skill.description,
    messages: [{
      role: "user",
      content: {
        ...(asResource
          ? { type: "resource", resource }
          : { type: "text", text }),
        annotations: { audience: ["assistant"], priority: 1.0 },
      },
    }],
  };
}

/** The maximum number of names that the error for an unknown name lists. */
const MAX_NEAR_NAMES = 5;

/**
 * Creates the error for an unknown name. Its message lists available names, the
 * most similar first.
 */
async function createUnknownNameError(
  name: string,
  { kind, catalog }: { kind: string; catalog: SkillCatalog },
): Promise<Error> {
  const found = await nearestSkills(name, catalog, isForUser);
  const near = [...new Set([...found, ...listUserSkills(catalog)])]
    .slice(0, MAX_NEAR_NAMES).map(({ name }) => quote(name)).join(", ");
  return invalidParams(
    `Unknown ${kind} ${quote(name)}${
      near && `: available names include ${near}`
    }`,
  );
}

/** The URI of a subscription to all skills. */
const ALL_SKILLS = "skill://";

/** What a client subscribed to. */
interface Subscription {
  /** The skill's key, or `undefined` for all skills. */
  readonly key: string | undefined;
  /**
   * The path of a file or folder, `undefined` for the skill itself, or an empty
   * string for all of its files.
   */
  readonly path: string | undefined;
}

function registerSubscriptions(
  server: McpServer,
  registry: SkillRegistry,
): void {
  server.onsubscribe = async (uri) => {
    const subscription = parseSubscription(uri, registry);
    const endTracking = await registry.trackFiles(subscription.key);
    const endListening = registry.onChange((change) => {
      if (!isAffected(subscription, change)) return;
      server.notify("notifications/resources/updated", { uri });
    });
    return () => {
      endListening();
      endTracking();
    };
  };
}

function parseSubscription(
  uri: string,
  registry: SkillRegistry,
): Subscription {
  if (uri === ALL_SKILLS) return { key: undefined, path: "" };
  const { skill, path } = findResource(uri, registry);
  return { key: skillKey(qualifiedName(skill)), path };
}

/** Whether a change affects what a client subscribed to. */
function isAffected(
  { key, path }: Subscription,
  change: SkillChange,
): boolean {
  const { catalog, previous, keys, files } = change;
  if (key === undefined) return keys.size + files.size > 0;
  if (keys.has(key)) {
    const isAddedOrRemoved = !servedSkills(catalog).has(key) ||
      !servedSkills(previous).has(key);
    if (isAddedOrRemoved || !path || path === SKILL_MD) return true;
  }
  const paths = [...files.get(key) ?? []];
  return path !== undefined &&
    paths.some((changed) =>
      path === "" || changed === path || changed.startsWith(`${path}/`)
    );
}

/** The maximum number of values in a completion. */
const MAX_COMPLETIONS = 100;

function registerCompletion(
  server: RequestHandlers,
  registry: SkillRegistry,
): void {
  server.setRequestHandler(CompleteRequestSchema, ({ params }) => {
    const { ref, argument, context } = params;
    const start = argument.value;
    const isPrompt = ref.type === "ref/prompt";
    const isKnown = isPrompt
      ? listPrompts(registry.catalog).some(({ value }) =>
        value.name === ref.name
      )
      : RESOURCE_TEMPLATES.some(({ uriTemplate }) => uriTemplate === ref.uri);
    if (!isKnown) {
      throw invalidParams(
        `Unknown reference ${quote(isPrompt ? ref.name : ref.uri)}`,
      );
    }
    const values = argument.name === "name"
      ? isPrompt ? listNames(registry) : listAuthorities(registry)
      : argument.name === "path"
      ? listPaths({ name: context?.arguments?.name, start }, registry)
      : [];
    return { completion: completeValue(start, values) };
  });
}

/** Lists the names by which users can load skills: plain names, then qualified names. */
function listNames({ catalog }: SkillRegistry): string[] {
  const shadowed = catalog.shadowed.map(({ skill }) => skill)
    .filter(isForUser);
  return [...listUserSkills(catalog), ...shadowed].map(qualifiedName);
}

/**
 * Lists the values for `<name>` in `skill://<name>`: the names of skills and
 * the prefixes of shadowed skills.
 */
function listAuthorities({ catalog }: SkillRegistry): string[] {
  const skills = inListOrder([...servedSkills(catalog).values()]);
  return [...new Set(skills.map(({ name, prefix }) => prefix ?? name))];
}

/**
 * Lists the paths that can follow `skill://<name>/`. If the name is a prefix,
 * these are the paths in the shadowed skills with that prefix: all files of a
 * skill if `start` begins with the skill's name and a slash, or else only its
 * `SKILL.md`.
 */
function listPaths(
  { name = "", start }: { name: string | undefined; start: string },
  registry: SkillRegistry,
): string[] {
  const { skills, shadowed } = registry.catalog;
  const key = skillKey(name);
  const plain = skills.get(key);
  if (plain !== undefined) return listFilePaths(plain, registry);
  return shadowed.map(({ skill }) => skill)
    .filter(({ prefix = "" }) => skillKey(prefix) === key)
    .flatMap((skill) => {
      const folder = `${skill.name}/`;
      const paths = start.toLowerCase().startsWith(folder.toLowerCase())
        ? listFilePaths(skill, registry)
        : [SKILL_MD];
      return paths.map((path) => folder + path);
    });
}

function listFilePaths(skill: Skill, registry: SkillRegistry): string[] {
  return registry.listFiles(skill).map(({ path }) => path);
}

function completeValue(
  start: string,
  values: string[],
): CompleteResult["completion"] {
  const key = start.toLowerCase();
  const matches = values.filter((value) => value.toLowerCase().startsWith(key));
  return {
    values: matches.slice(0, MAX_COMPLETIONS),
    total: matches.length,
    hasMore: matches.length > MAX_COMPLETIONS,
  };
}

/**
 * Runs the program and exits the process. Unless the command line asks for
 * something else, the program serves a client until the client disconnects.
 *
 * @param args The command-line arguments.
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
    const { help, version, list, check, as, "print-config": client } =
      command.values;
    if (help) return await printHelp();
    if (version) return await print(`${config.version}\n`);
    const settings = createSettings(command);
    if (client !== undefined) return await printConfig(client, settings);
    if (as !== undefined) return await printModelView(as, settings);
    if (list || check) return await printReport(settings);
    return await serve(settings);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    const text = `skill-server: ${error.message}\n\n${USAGE_LINE}\n`;
    await print(`${text}Run with --help to see the options.\n`, Deno.stderr);
    return 2;
  }
}

// Modules that a running server does not need are loaded on demand.

async function printHelp(): Promise<number> {
  const { CLIENT_NAMES } = await import("./src/cli/clients.ts");
  return await print(helpText(CLIENT_NAMES));
}

/** Prints the configuration for an MCP client. */
async function printConfig(
  client: string,
  settings: Settings,
): Promise<number> {
  const { createClientConfig } = await import("./src/cli/client_config.ts");
  const { text, notes, command } = createClientConfig(client, settings);
  for (const note of notes) log(note);
  await logged();
  // Printed without the prefix of log lines, so that it can be pasted.
  if (command !== undefined) await print(`${command}\n`, Deno.stderr);
  return await print(text);
}

/** Prints what the model sees in a client. */
async function printModelView(
  client: string,
  settings: Settings,
): Promise<number> {
  const { createModelView, parseClient, viewAsText } = await import(
    "./src/cli/model_view.ts"
  );
  parseClient(client);
  const { registry } = await openSkills(settings);
  const catalog = await registry.refresh();
  warnOfMissingFolders(catalog, settings);
  const view = createModelView(client, catalog, settings.tools);
  return await print(
    settings.values.json ? jsonText(view) : viewAsText(view),
  );
}

/** Prints the report of `--list` or `--check`. */
async function printReport(settings: Settings): Promise<number> {
  const { reportSkills } = await import("./src/cli/report.ts");
  const { text, isBad } = await reportSkills(settings);
  const code = await print(text);
  return code === 0 && isBad ? 1 : code;
}

/** Serves a client until it disconnects. */
async function serve(settings: Settings): Promise<number> {
  if (Deno.stdin.isTerminal()) {
    log(
      "Waiting for an MCP client on stdin. Use --list to list the skills, or press Ctrl+C to exit.",
    );
  }
  // The registry is never closed, because the process exits anyway, and Deno's
  // watchers are slow to close while files change rapidly.
  const skills = await openSkills(settings);
  const { registry } = skills;
  const server = new McpServer(describeServer(settings, registry));
  server.onerror = (error) => log(`Cannot handle a message: ${error.message}`);
  const transport = new StdioTransport();
  for (const signal of END_SIGNALS) {
    Deno.addSignalListener(signal, () => server.close());
  }
  // Starting to watch takes a moment, so the client's first requests are handled first.
  transport.firstMessage.then(() =>
    setTimeout(() => skills.watch(), WATCH_DELAY_MS)
  );
  const ready = prepare(server, registry, settings);
  const ended = server.connect(transport, ready);
  await Promise.race([ready, ended]);
  await ended;
  return 0;
}

/** The skills to serve. */
interface OpenSkills {
  /** The skills, with the user's policy applied. */
  readonly registry: SkillRegistry;
  /** Starts watching the skills and the policy. */
  watch(): void;
}

/** Creates the registry for the settings and loads their policy. Does not scan the roots. */
export async function openSkills(settings: Settings): Promise<OpenSkills> {
  const { roots, options } = settings;
  const file = await openPolicy(settings, log);
  const registry = new SkillRegistry(roots, {
    ...options,
    policy: file?.policy,
  });
  return {
    registry,
    watch: () => {
      registry.watch();
      file?.watch(
        (policy) =>
          registry.setPolicy(policy).catch((error) =>
            log(`Cannot apply the policy: ${error.message}`)
          ),
        options,
      );
    },
  };
}

/**
 * Finds the skills, and then registers the handlers. In the reverse order, the
 * first scan would count as a change.
 */
async function prepare(
  server: McpServer,
  registry: SkillRegistry,
  settings: Settings,
): Promise<void> {
  warnOfMissingFolders(await registry.refresh(), settings);
  if (settings.tools.toolset === "agentskills") logShellFault();
  const listers = new Set<string | undefined>();
  registerSkills(server, registry, {
    ...settings.tools,
    listsSkills: (client) => listers.has(client?.name),
    onlist: (client) => listers.add(client?.name),
  });
  registerSubscriptions(server, registry);
}

/** Logs a warning for each folder in the settings that does not exist. */
export function warnOfMissingFolders(
  catalog: SkillCatalog,
  settings: Settings,
): void {
  for (const folder of missingFolders(catalog, settings)) {
    log(
      `Cannot find the folder ${
        quote(folder)
      }: check its spelling; it will be searched as soon as it exists`,
    );
  }
}

/** Sets the request handlers that stdio and HTTP share, which do not need a connection. */
export function registerSkills(
  server: RequestHandlers & SkillToolServer,
  registry: SkillRegistry,
  options: SkillToolOptions & SkillsExtensionOptions,
): void {
  registerSkillTools(server, registry, options);
  registerPrompts(server, registry, options.toolset);
  registerResources(server, registry);
  registerSkillsExtension(server, registry, options);
  registerCompletion(server, registry);
}

/** Logs why the tool that runs shell commands is unavailable, if it is. */
async function logShellFault(): Promise<void> {
  const fault = await findShellFault();
  if (fault === undefined) return;
  log(`The tool run_shell_command_op is unavailable: ${fault}`);
}

/** The time between the first message to the client and the start of watching, in milliseconds. */
const WATCH_DELAY_MS = 250;

/** The signals that end the process. */
export const END_SIGNALS: readonly Deno.Signal[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

const CAPABILITIES = {
  tools: { listChanged: true },
  prompts: { listChanged: true },
  resources: { subscribe: true, listChanged: true },
  completions: {},
  extensions: { [SKILLS_EXTENSION]: { directoryRead: true } },
};

/** The maximum time for which a client is allowed to cache results, in seconds. */
const MAX_TTL_SECONDS = 5;

/** Creates the description of the server for clients of both eras of the protocol. */
export function describeServer(
  { options, tools }: Settings,
  registry: SkillRegistry,
): ServerDescription {
  const { refreshSeconds = DEFAULT_REFRESH_SECONDS } = options;
  return {
    serverInfo: {
      name: config.name,
      title: "Agent Skills",
      version: config.version,
    },
    capabilities: CAPABILITIES,
    instructions: () => createInstructions(tools.toolset, registry.catalog),
    ttlMs: Math.floor(Math.min(refreshSeconds, MAX_TTL_SECONDS) * 1000),
  };
}

/**
 * Prints a text and returns the exit code. It is not an error if the reader
 * closes the stream early.
 */
async function print(
  text: string,
  stream: ByteWriter = Deno.stdout,
): Promise<number> {
  try {
    await writeAll(stream, new TextEncoder().encode(text));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    log(`Cannot write the output: ${(error as Error).message}`);
    return 2;
  }
  return 0;
}
