/**
 * Answers for names that the model cannot load: they explain why there is no skill with
 * that name, and list the skills. About a project's files, the server uses only words of
 * its own, so that no stranger's text is in them.
 */

import { formatDiagnostic, formatForModel } from "../diagnostics.ts";
import { basename, dirname } from "../fs/paths.ts";
import { findFailure } from "../skills/catalog.ts";
import { lookUp, parseName } from "../skills/lookup.ts";
import { skillKey } from "../skills/names.ts";
import type { NearMiss, SkillSource } from "../skills/source.ts";
import type { SkillCatalog, SkillScope } from "../skills/types.ts";
import { oneLine, truncate } from "../text.ts";
import { globalFirst, listEntries, type SkillEntry } from "./entries.ts";
import {
  findEmptyListReason,
  findNoSkillsReason,
  nameSearchedDirs,
  PLAIN_PATH,
} from "./instructions.ts";
import { takeList } from "./lists.ts";
import type { ToolOptions } from "./options.ts";
import { indexesOf } from "./search.ts";

/** How much of the name the answer repeats and searches for, in characters. */
const MAX_SHOWN_NAME_LENGTH = 200;

/** The maximum length of the answer, in characters. Claude Code keeps about 10,000 of an error. */
const MAX_ANSWER_LENGTH = 8_000;

/** How long the reasons, or the advice, may be, so that the answer has room for skills. */
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
  const advice = reasons.length > 0
    ? ""
    : findEmptyListReason(catalog, options) ??
      nameSearchedDirs(catalog, options);
  const start = [
    truncate(reasons.join("\n\n"), MAX_REASONS_LENGTH),
    `Skill '${shown}' not found.`,
    truncate(advice, MAX_REASONS_LENGTH),
    "Available skills:",
  ].filter(Boolean).join("\n\n");
  const end =
    "\n\nUse the exact skill name (case-insensitive) to load a skill.";
  const entries = await sortByMatch(shown, registry);
  const room = MAX_ANSWER_LENGTH - start.length - end.length;
  return start + takeList(entries, room) + end;
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
  const sorted = new Set([...first, ...bySkill.keys()]);
  return Array.from(sorted, (skill) => bySkill.get(skill)!);
}

/** A possible reason why a name loads no skill. */
interface Cause extends NearMiss {
  /** What is skipped, as a noun phrase. Default: a skill with this name. */
  readonly what?: string;
}

/**
 * Explains why a name loads no skill, as far as the model may know: because of a skipped
 * skill, a near miss, or else a root. If global ones do, it names no others.
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
    ...listSkippedInRoots(name, catalog),
  ];
  if (!causes.some(isGlobal)) {
    const { scopes } = parseName(name);
    const nearMisses = await registry.listNearMissesOf(name);
    causes.push(...nearMisses.filter(({ scope }) => scopes.includes(scope)));
  }
  const globalCauses = causes.filter(isGlobal);
  const told = [globalCauses, causes, listSkippedRoots(catalog)]
    .find((list) => list.length > 0) ?? [];
  return [...new Set(told.map((cause) => explain(cause, isRemote)))];
}

function isGlobal({ scope }: Cause): boolean {
  return scope === "global";
}

/** Lists what is skipped directly in a root, such as a broken symlink. */
function listSkippedInRoots(
  name: string,
  { diagnostics, roots }: SkillCatalog,
): Cause[] {
  const { scopes, key } = parseName(name);
  return diagnostics.flatMap((diagnostic) => {
    const { file } = diagnostic;
    const report = roots.find(({ root }) => root.path === dirname(file));
    const base = basename(file);
    if (report === undefined || skillKey(base) !== key) return [];
    const { scope, projectPath } = report;
    if (!scopes.includes(scope)) return [];
    // The project itself can be a root.
    const path = projectPath ? `${projectPath}/${base}` : base;
    return [{ diagnostic, scope, projectPath: path }];
  });
}

/** Lists the roots that are missing or skipped, at least in part. */
function listSkippedRoots({ roots, diagnostics }: SkillCatalog): Cause[] {
  return roots.flatMap(({ root, scope, status, projectPath }) => {
    const diagnostic = diagnostics.find(({ file }) => file === root.path);
    if (diagnostic === undefined) return [];
    const part = status === "found" ? "part of " : "";
    const what = `${part}a folder of skills`;
    return [{ diagnostic, scope, what, projectPath }];
  });
}

/** Explains a cause: the user's own with its path, and others in the server's words. */
function explain(
  { diagnostic, scope, projectPath = "", what = "a skill with this name" }:
    Cause,
  isRemote: boolean,
): string {
  if (scope === "global" && !isRemote) return formatDiagnostic(diagnostic);
  const { line } = diagnostic;
  const path = !isRemote && PLAIN_PATH.test(projectPath) ? projectPath : "";
  const position = [path, line === undefined ? "" : `line ${line}`]
    .filter(Boolean).join(", ");
  const place = (scope === "project" ? " in the project" : "") +
    (position === "" ? "" : ` (${position})`);
  return `The server skips ${what}${place}: ${formatForModel(diagnostic)}.`;
}
