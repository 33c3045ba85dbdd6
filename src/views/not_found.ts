/**
 * Answers for names that the model cannot load: they explain why there is no skill with
 * that name, and list the skills. About a project's files, the server uses only words of
 * its own, so that no stranger's text is in them.
 */

import { formatDiagnostic, formatWords } from "../diagnostics.ts";
import { basename, dirname } from "../fs/paths.ts";
import { findFailure } from "../skills/catalog.ts";
import { lookUp, parseName } from "../skills/lookup.ts";
import { skillKey } from "../skills/names.ts";
import { byScope } from "../skills/project.ts";
import type { NearMiss, SkillSource } from "../skills/source.ts";
import type { SkillCatalog, SkillScope } from "../skills/types.ts";
import { oneLine, truncate } from "../text.ts";
import { globalFirst, listEntries, type SkillEntry } from "./entries.ts";
import {
  findEmptyListReason,
  findNoSkillsReason,
  formatLine,
  formatMore,
  nameSearchedDirs,
  PLAIN_PATH,
} from "./lists.ts";
import type { ToolOptions } from "./options.ts";
import { indexesOf } from "./search.ts";

const MAX_SHOWN_NAME_LENGTH = 200;

/** The maximum length of the answer, in characters. Claude Code keeps about 10,000 of an error. */
const MAX_ANSWER_LENGTH = 8_000;

/** How long the reasons may be, so that the answer has room for skills. */
const MAX_REASONS_LENGTH = 4_000;

/** How many search results of each scope come first. */
const MAX_RESULTS = 10;

/**
 * Answers in the wording of the contract of the tool `skill`. Explains why there is no
 * skill with the name, and lists the skills, best matches of a search first.
 */
export async function answerUnknownName(
  name: string,
  registry: SkillSource,
  options: ToolOptions,
): Promise<string> {
  const { catalog } = registry;
  const shown = truncate(oneLine(name), MAX_SHOWN_NAME_LENGTH);
  const reasons = await explainUnknownName(name, registry, options);
  const notFound = `Skill '${shown}' not found.`;
  const advice = reasons.length > 0
    ? ""
    : findEmptyListReason(catalog, options) ??
      nameSearchedDirs(catalog, options);
  const explained = truncate(reasons.join("\n\n"), MAX_REASONS_LENGTH);
  const start = [explained, notFound, advice, "Available skills:"]
    .filter(Boolean).join("\n\n");
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

/** A possible reason why a name loads no skill. */
interface Cause extends NearMiss {
  /** What is skipped, as a noun phrase. Default: a skill with this name. */
  readonly what?: string;
}

/**
 * Explains why a name loads no skill, as far as the model may know: because of a skipped
 * skill, a near miss, or else a root. Global ones come first.
 */
async function explainUnknownName(
  name: string,
  registry: SkillSource,
  { isRemote = false }: ToolOptions,
): Promise<string[]> {
  const { catalog } = registry;
  if (findNoSkillsReason(catalog) !== undefined) {
    return isRemote ? [] : [formatDiagnostic(findFailure(catalog)!)];
  }
  const { skipped } = lookUp(name, "model", catalog);
  const causes: Cause[] = [
    ...skipped?.diagnostics.map((it) => ({ ...skipped, diagnostic: it })) ?? [],
    ...listSkippedEntries(name, catalog),
  ];
  if (!causes.some(({ scope }) => scope === "global")) {
    const { scopes } = parseName(name);
    const nearMisses = await registry.findNearMisses(name);
    causes.push(...nearMisses.filter(({ scope }) => scopes.includes(scope)));
  }
  const [first] = causes.toSorted(byScope);
  const told = first === undefined
    ? listSkippedRoots(catalog)
    : causes.filter(({ scope }) => scope === first.scope);
  return [...new Set(told.map((cause) => explain(cause, isRemote)))];
}

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
    // The project itself can be a root.
    const path = projectPath ? `${projectPath}/${entry}` : entry;
    return [{ diagnostic, scope, projectPath: path }];
  });
}

/** Lists the roots that are missing or skipped, at least in part. */
function listSkippedRoots({ roots, diagnostics }: SkillCatalog): Cause[] {
  return roots.flatMap(({ root, scope, status, projectPath }) => {
    const diagnostic = diagnostics.find(({ file }) => file === root.path);
    if (diagnostic === undefined) return [];
    const part = status === "found" ? "part of " : "";
    return [{
      diagnostic,
      scope,
      what: `${part}a folder of skills`,
      projectPath,
    }];
  });
}

function explain(
  { diagnostic, scope, projectPath = "", what = "a skill with this name" }:
    Cause,
  isRemote: boolean,
): string {
  if (scope === "global" && !isRemote) return formatDiagnostic(diagnostic);
  const { line } = diagnostic;
  const position = [
    ...!isRemote && PLAIN_PATH.test(projectPath) ? [projectPath] : [],
    ...line === undefined ? [] : [`line ${line}`],
  ].join(", ");
  const place = [
    ...scope === "project" ? [" in the project"] : [],
    ...position === "" ? [] : [` (${position})`],
  ].join("");
  return `The server skips ${what}${place}: ${formatWords(diagnostic)}.`;
}
