/**
 * Answers for names that the model cannot load: why a skill with that name is skipped,
 * and which skills there are. Sentences about a project's skills are the server's own,
 * so that no text of a stranger speaks to the model here.
 */

import { basename, dirname } from "../fs/paths.ts";
import {
  type Diagnostic,
  formatDiagnostic,
  formatReason,
  hasEffect,
} from "../diagnostics.ts";
import { findPolicyDiagnostic } from "../skills/catalog.ts";
import { keysOf, skillKey } from "../skills/names.ts";
import type {
  Skill,
  SkillCatalog,
  SkillRoot,
  SkillScope,
} from "../skills/types.ts";
import { oneLine, truncate } from "../text.ts";
import { globalFirst, listEntries, type SkillEntry } from "./entries.ts";
import type { ToolOptions } from "./options.ts";
import { indexSkills } from "./search.ts";
import {
  findEmptyListReason,
  findNoSkillsReason,
  formatLine,
  formatMore,
} from "./lists.ts";

const MAX_SHOWN_NAME_LENGTH = 200;

/** The maximum length of the answer, in characters. Claude Code keeps about 10,000 of an error. */
const MAX_ANSWER_LENGTH = 8_000;

/** How many search results of each scope come first. */
const MAX_RESULTS = 10;

/**
 * Answers in the wording of the contract of the tool `skill`: why a skill with the name
 * is skipped, and which skills there are, those first that match the name as a search.
 */
export async function answerUnknownName(
  name: string,
  catalog: SkillCatalog,
  options: ToolOptions,
): Promise<string> {
  const shown = truncate(oneLine(name), MAX_SHOWN_NAME_LENGTH);
  const reasons = explainMissing(name, catalog, options);
  const advice = reasons.length === 0
    ? findEmptyListReason(catalog)
    : undefined;
  const notFound = `Skill '${shown}' not found.`;
  const start = [...reasons, notFound, advice ?? []].flat().join("\n\n");
  const end =
    "\n\nUse the exact skill name (case-insensitive) to load a skill.";
  const frame = `${start}\n\nAvailable skills:${end}`;
  const entries = await sortByMatch(shown, catalog);
  const list = takeLines(entries, MAX_ANSWER_LENGTH - frame.length);
  return `${start}\n\nAvailable skills:${list}${end}`;
}

/** Lists as many entries as fit, whole, and counts the rest. */
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

/** The search of each catalog, of what the model can load. The rest has no influence. */
const searches = new WeakMap<
  SkillCatalog,
  Promise<(query: string) => Skill[]>
>();

/**
 * Lists all entries for the model: the best matches first, then the others, global ones
 * first in both. A clone whose skills match everything pushes out no match of the
 * user's.
 */
async function sortByMatch(
  words: string,
  catalog: SkillCatalog,
): Promise<SkillEntry[]> {
  const entries = globalFirst(listEntries("model", catalog));
  const search = searches.get(catalog) ??
    indexSkills(entries.map(({ skill }) => skill));
  searches.set(catalog, search);
  const byScope = Map.groupBy((await search)(words), ({ scope }) => scope);
  const best = (scope: SkillScope) =>
    (byScope.get(scope) ?? []).slice(0, MAX_RESULTS);
  const found = [...best("global"), ...best("project")];
  const matches = found.map((skill) =>
    entries.find((entry) => entry.skill === skill)!
  );
  const isFound = new Set(found);
  return [...matches, ...entries.filter(({ skill }) => !isFound.has(skill))];
}

/** Says why there is no skill with a name, as far as the model may know. */
function explainMissing(
  name: string,
  catalog: SkillCatalog,
  options: ToolOptions,
): string[] {
  const reason = findNoSkillsReason(catalog);
  if (reason !== undefined) {
    const diagnostic = findPolicyDiagnostic(catalog)!;
    return [
      options.isRemote ? reason : formatDiagnostic(diagnostic),
    ];
  }
  const refused = listRefusedDirs(catalog);
  const skipped = findSkipped(skillKey(name), catalog);
  const missing = skipped === undefined ? refused : [skipped, ...refused];
  return [...new Set(missing.map((it) => explain(it, options)))];
}

/** Something that is skipped, and how the model is told of it. */
interface NotServed {
  readonly diagnostics: readonly Diagnostic[];
  /** By its real path. */
  readonly scope: SkillScope;
  /** A noun phrase that follows "The project has a". */
  readonly what: string;
  /** Its path in the project, with slashes, if it is the project's. */
  readonly projectPath?: string | undefined;
}

/** Finds what is skipped under a key, the user's own first. */
function findSkipped(
  key: string,
  catalog: SkillCatalog,
): NotServed | undefined {
  const skipped = [
    ...listSkippedSkills(key, catalog),
    ...listSkippedEntries(key, catalog),
  ].filter(({ diagnostics }) =>
    diagnostics.some((diagnostic) => hasEffect(diagnostic, "skipped"))
  );
  return skipped.find(({ scope }) => scope === "global") ?? skipped[0];
}

const SKILL_OF_NAME = "skill with this name that is skipped";

function listSkippedSkills(
  key: string,
  { skipped }: SkillCatalog,
): NotServed[] {
  return skipped
    .filter((skill) =>
      skill.isForModel &&
      skill.names.some((name) => keysOf({ ...skill, name }).includes(key))
    )
    .map((skill) => ({ ...skill, what: SKILL_OF_NAME }));
}

/** Lists what is skipped directly in a root and has no `SKILL.md`, such as a broken link. */
function listSkippedEntries(
  key: string,
  { diagnostics, roots, skipped }: SkillCatalog,
): NotServed[] {
  const known = new Set(
    skipped.flatMap((skill) => skill.diagnostics.map(({ file }) => file)),
  );
  const entries: NotServed[] = [];
  for (const diagnostic of diagnostics) {
    const { file } = diagnostic;
    const report = roots.find(({ root }) => root.path === dirname(file));
    if (report === undefined || known.has(file)) continue;
    const { scope } = report;
    const name = basename(file);
    if (!keysOf({ name, scope }).includes(key)) continue;
    const projectPath = `${pathOfRoot(report.root)}/${name}`;
    const what = SKILL_OF_NAME;
    entries.push({ diagnostics: [diagnostic], scope, what, projectPath });
  }
  return entries;
}

/** Lists the roots whose skills are not served, or not all of them. */
function listRefusedDirs({ roots, diagnostics }: SkillCatalog): NotServed[] {
  return roots.flatMap(({ root, scope, status }) => {
    const diagnostic = diagnostics.find(({ file }) => file === root.path);
    if (diagnostic === undefined || status === "missing") return [];
    const part = status === "found" ? " in part" : "";
    const what = `folder of skills that is skipped${part}`;
    const projectPath = pathOfRoot(root);
    return [{ diagnostics: [diagnostic], scope, what, projectPath }];
  });
}

/** Returns how a root is known in its project, such as `.claude/skills`. */
function pathOfRoot({ path }: SkillRoot): string {
  return `${basename(dirname(path))}/${basename(path)}`;
}

/** A path that is safe in the server's own sentences. */
const PLAIN_PATH = /^[\w.-]{1,64}(?:\/[\w.-]{1,64})*$/;

function explain(
  { diagnostics, scope, what, projectPath = "" }: NotServed,
  { isRemote = false }: ToolOptions,
): string {
  if (scope === "global" && !isRemote) {
    return diagnostics.map(formatDiagnostic).join("\n");
  }
  // A reason may quote what a stranger wrote.
  const reasons = new Set(
    diagnostics.filter((diagnostic) => hasEffect(diagnostic, "skipped"))
      .map(formatReason),
  );
  const owner = scope === "project" ? "The project has" : "The server has";
  const path = scope === "project" && !isRemote && PLAIN_PATH.test(projectPath)
    ? ` (${projectPath})`
    : "";
  const why = [...reasons].join("; ");
  return `${owner} a ${what}${path}: ${why}. The server's log says how to fix it.`;
}
