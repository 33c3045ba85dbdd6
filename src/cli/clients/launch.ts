/**
 * The command that starts the server the way it is running now, with only the
 * permissions it needs.
 */

import {
  dirname,
  isAbsolute,
  isAtOrBelow,
  realPathOf,
} from "../../fs/paths.ts";
import { listRuleFolders } from "../../policy/policy_file.ts";
import { SERVING_OPTIONS, UsageError } from "../../program/command_line.ts";
import { commandWords, type Program } from "../../program/running_program.ts";
import type { Settings } from "../../program/settings.ts";
import { Project } from "../../skills/project.ts";
import { resolveSkillRoots } from "../../skills/roots.ts";
import { quote } from "../../text.ts";
import { ALLOW_SHELL, findShell } from "../../mcp/toolsets/shell.ts";
import { wantsShell } from "../../mcp/toolsets/toolsets.ts";
import type { Launch } from "./clients.ts";

/**
 * Creates the command that starts the server on this machine. It does not use npx,
 * even if npx downloaded Deno: npm puts node_modules of the project on the PATH and
 * starts Deno with `node`, unless it ran the install script, which npm 12 does not.
 * On Windows, npx.cmd runs the npm that `prefix` in the project's .npmrc leads to,
 * and npm's cmd runs a deno.cmd of the project.
 *
 * @throws {UsageError} If that would be less safe than the user can expect.
 */
export function createLaunch(program: Program, settings: Settings): Launch {
  const args = serverArguments(settings);
  const { executable: command, mainModule } = program;
  if (mainModule === undefined) return { command, args };
  const runsShell = wantsShell(settings.options) && findShell() !== undefined;
  const [, ...words] = commandWords(program, {
    allowRead: allowRead(listReadableFolders(settings)),
    flags: runsShell ? [ALLOW_SHELL] : [],
  });
  return { command, args: [...words, ...args] };
}

/** Returns arguments that have the same effect in any folder and environment. */
function serverArguments({ values, folders }: Settings): string[] {
  const flags = SERVING_OPTIONS.flatMap((name) =>
    [values[name] ?? []].flat().map((value) =>
      value === true ? `--${name}` : `--${name}=${value}`
    )
  );
  return [...flags, ...folders];
}

function exposesHome(path: string, { home }: Settings): boolean {
  return path === dirname(path) || (home !== undefined &&
    [home, realPathOf(home)].some((folder) => isAtOrBelow(folder, path)));
}

/**
 * @throws {UsageError} If one is, or contains, the home folder, although the user
 *   did not name it: a project can contain a link to it.
 */
function listReadableFolders(settings: Settings): string[] {
  const { values, home, folders } = settings;
  // Those in the project are relative, because each launch can have another project.
  const defaultRoots = resolveSkillRoots({
    workingDirectory: ".",
    homeDirectory: home,
    homeFolders: settings.options.homeFolders,
    // Folders that are named replace them.
    folders: folders.length > 0 ? [] : undefined,
    agents: values.agents,
  });
  const given = [
    ...defaultRoots.map(({ path }) => path),
    ...folders,
    ...values["skill-dir"] ?? [],
    ...values["trust-links"] ?? [],
  ];
  // Deno watches a folder only where it may read what a link to it leads to.
  const targets = given.filter(isAbsolute)
    .map((path) => targetOf(path, settings));
  // These are only resolved, because one may lead to a folder that is searched.
  const nameOnly = values["name-only"] ?? [];
  return [...given, ...nameOnly, ...targets, ...listPolicyPaths(settings)];
}

/**
 * Returns where a folder that the user named leads. A link of the project that leaves
 * it counts for nothing, because the server does not follow it either.
 *
 * @throws {UsageError} If it leads to the home folder, or to one above it.
 */
function targetOf(path: string, settings: Settings): string {
  const target = realPathOf(path);
  if (new Project(settings.options).leadsOut(path, target)) return path;
  if (exposesHome(path, settings) || !exposesHome(target, settings)) {
    return target;
  }
  const [from, to] = [path, target].map(quote);
  throw new UsageError(
    `Cannot print an entry that lets Deno read all of ${to}, where ${from} leads: name the folders of the skills, or write ${to} if you mean it`,
  );
}

/**
 * Lists what the server must read to use its policy and to notice its changes: the
 * file, and the folders of its rules, with the targets of links.
 *
 * @throws {UsageError} If a rule is about the home folder, or one above it.
 */
function listPolicyPaths(settings: Settings): string[] {
  const { values: { policy }, home } = settings;
  if (policy === undefined) return [];
  const paths = [policy, realPathOf(policy)];
  for (const { path, text } of listRuleFolders(policy, home)) {
    const target = realPathOf(path);
    if (exposesHome(path, settings) || exposesHome(target, settings)) {
      const rule = quote(text);
      throw new UsageError(
        `Cannot print an entry for the policy: for its rule ${rule}, Deno would have to read the home folder or one above it; name a folder, as in ~/code`,
      );
    }
    paths.push(path, target);
  }
  return paths;
}

/** @throws {UsageError} If the flag cannot name one of the folders. */
function allowRead(folders: readonly string[]): string {
  const odd = folders.find((path) => path.includes(","));
  if (odd === undefined) {
    return `--allow-read=${[...new Set(folders)].join(",")}`;
  }
  const action = `Cannot print an entry that lets Deno read only ${quote(odd)}`;
  throw new UsageError(`${action}: its path contains a comma; rename it`);
}
