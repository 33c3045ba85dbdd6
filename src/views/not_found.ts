/**
 * Answers for names that the model cannot load: they explain why a skill with that name
 * is skipped, and list the skills. About a project's skills, the server uses only its own
 * words, so that no stranger speaks to the model here.
 */

import {
  type Diagnostic,
  formatDiagnostic,
  formatReason,
} from "../diagnostics.ts";
import { basename, dirname } from "../fs/paths.ts";
import { findFailure } from "../skills/catalog.ts";
import { lookUp, parseName } from "../skills/lookup.ts";
import { skillKey } from "../skills/names.ts";
import { byScope } from "../skills/project.ts";
import type { SkillSource } from "../skills/source.ts";
import type { SkillCatalog, SkillScope } from "../skills/types.ts";
import { oneLine, truncate } from "../text.ts";
import { globalFirst, listEntries, type SkillEntry } from "./entries.ts";
import {
  findEmptyListReason,
  findNoSkillsReason,
  formatLine,
  formatMore,
} from "./lists.ts";
import type { ToolOptions } from "./options.ts";
import { indexesOf } from "./search.ts";

const MAX_SHOWN_NAME_LENGTH = 200;

/** The maximum length of the answer, in characters. Claude Code keeps about 10,000 of an error. */
const MAX_ANSWER_LENGTH = 8_000;

/** How many search results of each scope come first. */
const MAX_RESULTS = 10;

/**
 * Answers in the wording of the contract of the tool `skill`. Explains why a skill with
 * the name is skipped, and lists the skills, best matches of a search first.
 */
export async function answerUnknownName(
  name: string,
  registry: SkillSource,
  options: ToolOptions,
): Promise<string> {
  const { catalog } = registry;
  const shown = truncate(oneLine(name), MAX_SHOWN_NAME_LENGTH);
  const reasons = explainUnknownName(name, catalog, options);
  const notFound = `Skill '${shown}' not found.`;
  const advice = reasons.length === 0 ? findEmptyListReason(catalog) ?? [] : [];
  const start = [reasons, notFound, advice, "Available skills:"].flat()
    .join("\n\n");
  const end =
    "\n\nUse the exact skill name (case-insensitive) to load a skill.";
  const entries = await sortByMatch(shown, registry);
  const room = MAX_ANSWER_LENGTH - start.length - end.length;
  return start + takeLines(entries, room) + end;
}

/** Lists as many whole entries as fit, and counts the rest. */
function takeLines(entries: readonly SkillEntry[], limit: number): string {
  let list = "";
  for (const [index, entry] of entries.entries()) {
    const line = formatLine(entry);
    const more = formatMore(entries.length - index);
    if (list.length + line.length + more.length > limit) return list + more;
    list += line;
  }
  return list;
}

/**
 * Lists all entries for the model: the best matches first, then the others, and global
 * ones first in both. Each scope is searched by itself. So a clone can neither push out
 * the user's matches nor change their order.
 */
async function sortByMatch(
  words: string,
  registry: SkillSource,
): Promise<SkillEntry[]> {
  const entries = globalFirst(listEntries("model", registry.catalog));
  const bySkill = new Map(entries.map((entry) => [entry.skill, entry]));
  const indexes = indexesOf(registry);
  const best = async (scope: SkillScope) => {
    const skills = [...bySkill.keys()].filter((it) => it.scope === scope);
    const found = await indexes[scope].search(words, skills);
    return found.slice(0, MAX_RESULTS);
  };
  const first = [...await best("global"), ...await best("project")];
  return Array.from(
    new Set([...first, ...bySkill.keys()]),
    (skill) => bySkill.get(skill)!,
  );
}

/** Explains why a name loads no skill, as far as the model may know. */
function explainUnknownName(
  name: string,
  catalog: SkillCatalog,
  { isRemote = false }: ToolOptions,
): string[] {
  if (findNoSkillsReason(catalog) !== undefined) {
    return isRemote ? [] : [formatDiagnostic(findFailure(catalog)!)];
  }
  const { skipped } = lookUp(name, "model", catalog);
  const named = [
    ...skipped === undefined ? [] : [{ ...skipped, what: SKILL_OF_NAME }],
    ...listSkippedEntries(name, catalog),
  ];
  // A global one explains the name, if there is one.
  const [cause = []] = named.toSorted(byScope);
  const causes = [cause, listSkippedRoots(catalog)].flat();
  return [...new Set(causes.map((cause) => explain(cause, isRemote)))];
}

/** A possible reason why a name loads no skill. */
interface Cause {
  /** The diagnostics because of which it is skipped. */
  readonly diagnostics: readonly Diagnostic[];
  /** By its real path. */
  readonly scope: SkillScope;
  /** A noun phrase after "The server skips". */
  readonly what: string;
  /** Its path in the project, with slashes, if it is the project's. */
  readonly projectPath?: string | undefined;
}

const SKILL_OF_NAME = "a skill with this name";

/** Lists skipped entries of roots that have no `SKILL.md`, such as broken symlinks. */
function listSkippedEntries(
  name: string,
  { diagnostics, roots, skipped }: SkillCatalog,
): Cause[] {
  const { scopes, key } = parseName(name);
  const isOfSkill = (file: string) =>
    skipped.some((skill) => skill.diagnostics.some((it) => it.file === file));
  return diagnostics.flatMap((diagnostic) => {
    const { file } = diagnostic;
    const report = roots.find(({ root }) => root.path === dirname(file));
    if (report === undefined || isOfSkill(file)) return [];
    const { scope, projectPath } = report;
    const entry = basename(file);
    if (!scopes.includes(scope) || skillKey(entry) !== key) return [];
    return [{
      diagnostics: [diagnostic],
      scope,
      what: SKILL_OF_NAME,
      // The project itself can be a root.
      projectPath: projectPath ? `${projectPath}/${entry}` : entry,
    }];
  });
}

/** Lists the roots that are skipped, at least in part. */
function listSkippedRoots({ roots, diagnostics }: SkillCatalog): Cause[] {
  return roots.flatMap(({ root, scope, status, projectPath }) => {
    const diagnostic = diagnostics.find(({ file }) => file === root.path);
    if (diagnostic === undefined || status === "missing") return [];
    const part = status === "found" ? "part of " : "";
    const what = `${part}a folder of skills`;
    return [{ diagnostics: [diagnostic], scope, what, projectPath }];
  });
}

/** A path that is safe in the server's own sentences. */
const PLAIN_PATH = /^[\w.-]{1,64}(?:\/[\w.-]{1,64})*$/;

function explain(
  { diagnostics, scope, what, projectPath = "" }: Cause,
  isRemote: boolean,
): string {
  if (scope === "global" && !isRemote) {
    return diagnostics.map(formatDiagnostic).join("\n");
  }
  // Unlike a rule, a reason may quote what a stranger wrote.
  const rules = [...new Set(diagnostics.map(formatReason))].join("; ");
  const place = scope === "project" ? " in the project" : "";
  const path = scope === "project" && !isRemote && PLAIN_PATH.test(projectPath)
    ? ` (${projectPath})`
    : "";
  return `The server skips ${what}${place}${path}: ${rules}. Its log says how to fix it.`;
}
