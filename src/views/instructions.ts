/** The server's instructions, and what it says in a sentence about its skills and folders. */

import { findFailure } from "../skills/catalog.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { quote, truncate } from "../text.ts";
import { listEntries } from "./entries.ts";
import { TOOL_NAMES, type ToolOptions, type Toolset } from "./options.ts";

/**
 * Creates the server's instructions: what the skills are about, how to use
 * them, and how to find the tools in a client that defers them behind a search.
 * Some clients show only the first line, so it must make sense on its own.
 */
export function createInstructions(
  toolset: Toolset,
  catalog: SkillCatalog,
): string {
  const { list, load } = TOOL_NAMES[toolset];
  const purpose = "Instructions for tasks (skills)";
  // Before the first scan, it is unknown whether there are any.
  const firstLine = catalog.revision === 0
    ? `${purpose}: the tool ${list} lists them.`
    : summarizeSkills(catalog, purpose);
  return `${firstLine}
Before you start a task, check whether one of the skills that the tool ${list} lists matches it. If so, load that skill with the tool ${load} and follow its instructions.
If the tool ${load} is not in your list of tools, use your tool search to find it: search for "${load}" or "skills". A skill that is added later can be loaded by name at any time.`;
}

/** The maximum length of the summary of the skills, in characters. Codex shows no more. */
const MAX_SUMMARY_LENGTH = 250;

/** The names that are plain enough for the server's own sentences. */
export const PLAIN_NAME = /^[a-z0-9-]{1,64}$/;

/**
 * Summarizes the skills in one line of limited length, after a text without a period.
 * Some clients show the model nothing else until it searches for tools.
 */
export function summarizeSkills(
  catalog: SkillCatalog,
  purpose: string,
): string {
  const entries = listEntries("model", catalog);
  if (entries.length === 0) {
    return findNoSkillsReason(catalog) ?? `${purpose}. There are none yet.`;
  }
  const names = entries.filter(({ skill }) => skill.scope === "global")
    .map(({ name }) => name).filter((name) => PLAIN_NAME.test(name));
  const whole = `${purpose}: ${names.join(", ")}.`;
  const isWhole = names.length === entries.length &&
    whole.length <= MAX_SUMMARY_LENGTH;
  if (isWhole) return whole;
  const more = names.length > 0 ? `, such as ${names.join(", ")}.` : ".";
  const summary = `${purpose}: ${entries.length} in total${more}`;
  return truncate(summary, MAX_SUMMARY_LENGTH);
}

/** Returns one line that explains why no skills are served, if a failure is the reason. */
export function findNoSkillsReason(catalog: SkillCatalog): string | undefined {
  const failure = findFailure(catalog);
  if (failure === undefined || catalog.served.size > 0) return undefined;
  const cause = failure.rule === "policy"
    ? "the policy is not valid"
    : "the scan failed";
  return `No skills are served, because ${cause}. The server's log says how to fix it.`;
}

/** Returns one line of advice for the user, if there are no skills for the model. */
export function findEmptyListReason(
  catalog: SkillCatalog,
  options: ToolOptions,
): string | undefined {
  if (listEntries("model", catalog).length > 0) return undefined;
  return findNoSkillsReason(catalog) ??
    `There are no skills. Tell the user to put skills, which are folders with a file SKILL.md, into a folder that this server searches, or to choose the folder that holds them in its settings. ${
      nameSearchedDirs(catalog, options)
    }`.trim();
}

/** A path in a project that is safe in the server's own sentences. */
export const PLAIN_PATH = /^[\w.-]{1,64}(?:\/[\w.-]{1,64})*$/;

/** How many directories a sentence names. */
const MAX_NAMED_DIRS = 12;

/** Names the directories that are searched in a sentence, unless the client is elsewhere. */
export function nameSearchedDirs(
  { roots }: SkillCatalog,
  { isRemote = false }: ToolOptions,
): string {
  // Those in a directory that the user named go without saying.
  const paths = roots.filter(({ root }) => root.includesItself !== false)
    .flatMap(({ root, scope, projectPath = "" }) => {
      if (scope === "global") return root.path;
      return PLAIN_PATH.test(projectPath) ? projectPath : [];
    });
  if (isRemote || paths.length === 0) return "";
  const named = [...new Set(paths)].slice(0, MAX_NAMED_DIRS).map(quote);
  return `The server searches ${named.join(", ")}.`;
}
