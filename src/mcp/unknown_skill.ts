/**
 * Answers for names that the model cannot load: why a skill with that name is skipped, and
 * which skills there are. Sentences about a project's skills are the server's own, so that
 * no text of a stranger speaks to the model here.
 */

import { basename, dirname } from "../fs/paths.ts";
import { isForModel } from "../policy/states.ts";
import {
  type Diagnostic,
  formatDiagnostic,
  formatReason,
  hasEffect,
} from "../diagnostics.ts";
import { findPolicyDiagnostic } from "../skills/catalog.ts";
import { keysOf, skillKey } from "../skills/names.ts";
import type { SkillCatalog, SkillRoot, SkillScope } from "../skills/types.ts";
import { oneLine, truncate } from "../text.ts";
import { deriveOnce } from "./derive_once.ts";
import type { ToolOptions } from "./options.ts";
import { indexSkills } from "./search.ts";
import {
  findEmptyListReason,
  findNoSkillsReason,
  fitList,
  isAmongProjects,
  listByName,
  type ListedSkill,
  listForModel,
} from "./skill_list.ts";

/**
 * The maximum number of skills that the answer to an unknown name lists. If
 * there are more, it lists search results instead.
 */
const MAX_LISTED_SKILLS = 100;

const MAX_SHOWN_NAME_LENGTH = 200;

/** The maximum length of the list after a search without results, in characters. */
const MAX_SHORT_LIST_LENGTH = 4_000;

/** Search results are a result. Everything else is an error that the model can act on. */
export async function answerUnknownName(
  name: string,
  catalog: SkillCatalog,
  options: ToolOptions,
): Promise<{ text: string; isError: boolean }> {
  const shown = truncate(oneLine(name), MAX_SHOWN_NAME_LENGTH);
  const reasons = explainMissing(name, catalog, options);
  const advice = reasons.length === 0
    ? findEmptyListReason(catalog)
    : undefined;
  const start = [...reasons, `Skill '${shown}' not found.`, advice ?? []]
    .flat().join("\n\n");
  const skills = listForModel(catalog);
  const areMany = skills.length > MAX_LISTED_SKILLS;
  const found = areMany ? await searchSkills(shown, catalog) : [];
  if (found.length > 0) {
    const text = formatResults(start, found, skills.length);
    return { text, isError: false };
  }
  const list = fitList(skills, areMany ? MAX_SHORT_LIST_LENGTH : undefined);
  return { text: formatAvailable(start, list), isError: true };
}

/** The wording is that of the contract of the tool `skill`. */
function formatAvailable(start: string, list: string): string {
  return `${start}

Available skills:${list}

Use the exact skill name (case-insensitive) to load a skill.`;
}

const MAX_RESULTS = 20;

/** The skills that the model can find. The others have no influence on the results. */
const searchIndexOf = deriveOnce(({ skills }: SkillCatalog) =>
  indexSkills(skills.values().filter(isForModel))
);

/**
 * Lists up to 20 skills that match some words: the user's own first, then the project's,
 * and those of the same rank by how well they match. The project's are at most half of
 * them, unless the user's own are fewer.
 */
export async function searchSkills(
  words: string,
  catalog: SkillCatalog,
): Promise<ListedSkill[]> {
  const search = await searchIndexOf(catalog);
  const found = listByName(search(words));
  const projects = found.filter(({ skill }) => isAmongProjects(skill));
  const users = found.filter(({ skill }) => !isAmongProjects(skill));
  const limit = Math.max(MAX_RESULTS / 2, MAX_RESULTS - users.length);
  const shownProjects = projects.slice(0, limit);
  const shownUsers = users.slice(0, MAX_RESULTS - shownProjects.length);
  return [...shownUsers, ...shownProjects];
}

function formatResults(
  start: string,
  found: readonly ListedSkill[],
  total: number,
): string {
  const list = fitList(found);
  return `${start}

Search results for these words, the user's own skills first, then best match first:${list}
(and ${total - found.length} other skills)

To load one of these skills, use its exact name (case-insensitive). To search again, pass other words instead of a name.`;
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
  const refused = listRefusedFolders(catalog);
  const skipped = findSkipped(skillKey(name), catalog);
  const missing = skipped === undefined ? refused : [skipped, ...refused];
  return [...new Set(missing.map((it) => explain(it, options)))];
}

/** Something that is skipped, and how the model is told of it. */
interface NotServed {
  readonly diagnostics: readonly Diagnostic[];
  /** The owner, by where it really lies. */
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
function listRefusedFolders({ roots, diagnostics }: SkillCatalog): NotServed[] {
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

/** A path that may stand in the server's own sentences. */
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
