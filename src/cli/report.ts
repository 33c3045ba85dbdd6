/**
 * The output of `--list` and `--check`.
 *
 * With `--json`, it is the report as it is. As text, it is a flat list: with `--list`
 * what was found, then the problems, and last the summary, where a terminal shows it.
 * In GitHub Actions, problems are annotations.
 *
 * @module
 */

import { basename, dirname, join, relative } from "jsr:@std/path@^1";
import { findNearMisses } from "../program/near_misses.ts";
import {
  folderOf,
  missingFolders,
  type Settings,
} from "../program/settings.ts";
import { checkSkill, checkTogether } from "./text_checks.ts";
import { attempt } from "../files/faults.ts";
import { currentFolder, isAtOrBelow } from "../files/paths.ts";
import { findUnlisting, totalSize } from "../skills/checks.ts";
import { qualifiedName, SKILL_MD } from "../skills/names.ts";
import { hasEffect, isError, type Problem } from "../problems.ts";
import type { Skill, SkillCatalog, SkillSource } from "../skills/types.ts";
import {
  byCodeUnits,
  count,
  escapeHidden,
  jsonText,
  shownName,
} from "../text.ts";

/** The skills that were found, and the problems with them. `docs/check.md` describes it. */
export type Report = Awaited<ReturnType<typeof createReport>>;

/**
 * Scans the roots once and reports the result in the format that the command
 * line asks for. `isBad` means that `--check` found errors.
 */
export async function reportSkills(
  registry: SkillSource,
  settings: Settings,
): Promise<{ text: string; isBad: boolean }> {
  const { check = false, json } = settings.values;
  const report = await createReport(registry, settings);
  const text = json
    ? jsonWithoutCommands(report)
    : reportAsText(report, settings);
  return { text, isBad: check && report.problems.some(isError) };
}

/**
 * Scans the roots once and creates the report that the command line asks for:
 * of `--check`, or else of `--list`.
 */
export async function createReport(registry: SkillSource, settings: Settings) {
  const { check = false, policy } = settings.values;
  const catalog = await registry.refresh();
  const found = [
    ...catalog.skills.values(),
    ...catalog.shadowed.map(({ skill }) => skill),
    ...catalog.off,
  ];
  const skills = await Array.fromAsync(
    found,
    (skill) => inspect(skill, { registry, check }),
  );
  const problems = [
    ...catalog.problems,
    ...skills.flatMap(({ problems }) => problems),
    ...check ? checkTogether(found.filter(({ state }) => state !== "off")) : [],
    ...describeUnusedRules(registry, policy),
    ...missingFolders(catalog, settings),
    ...await findNearMisses(catalog, settings),
  ];
  if (check && found.length === 0 && !problems.some(isError)) {
    problems.push({
      rule: "no-skills",
      file: settings.roots[0]?.path ?? ".",
      reason:
        "there is no skill here, nor in the other folders that --list shows",
      hint:
        `add a folder with a ${SKILL_MD}, or pass another folder, as in "--check DIR"`,
    });
  }
  return {
    /** The number of skills that were checked. */
    checked: check ? countChecked(catalog, found) : undefined,
    policy,
    roots: catalog.roots.map(({ root, scope, status, skills }) => {
      const { path, recursive } = root;
      return { path, scope, recursive, status, skills };
    }),
    skills: skills.map(({ entry }) => entry),
    problems: problems.map((problem) => ({
      severity: isError(problem) ? "error" : "warning",
      ...problem,
    })),
  };
}

/** Reports the rules of the policy that match nothing, which are often misspelled. */
function describeUnusedRules(
  registry: SkillSource,
  policy: string | undefined,
): Problem[] {
  if (policy === undefined || hasPolicyFault(registry.catalog)) return [];
  return registry.listUnusedRules().map(({ line }) => ({
    rule: "rule-unused",
    file: policy,
    line,
    reason: "this rule matches no skill",
    hint:
      "check the spelling of its names and folders, or keep it for skills to come",
  }));
}

/** Whether the policy has problems, because of which other rules apply than in the file. */
function hasPolicyFault({ problems }: SkillCatalog): boolean {
  return problems.some(({ rule }) => rule === "policy");
}

/** Counts the skills that are not off, and the files that are skipped. */
function countChecked(
  { problems }: SkillCatalog,
  found: readonly Skill[],
): number {
  return new Set([
    ...found.filter(({ state }) => state !== "off")
      .map(({ directory }) => directory),
    ...problems.flatMap(({ file }) => folderOf(file) ?? []),
  ]).size;
}

/** Describes a skill, and checks its files if the command line asks for it. */
async function inspect(
  skill: Skill,
  { registry, check }: { registry: SkillSource; check: boolean },
) {
  const { name, description, scope, directory, file, state } = skill;
  const contents = state === "off"
    ? undefined
    : await registry.listFiles(skill);
  const problems = contents && check
    ? await checkSkill(skill, { source: registry, contents })
    : [];
  const shadowing = registry.catalog.shadowed.find((it) => it.skill === skill);
  const unlisting = contents && findUnlisting(skill, contents) ||
    problems.find((problem) => hasEffect(problem, "unlisted"));
  const entry = {
    ...{ name, description, scope, directory, file, state },
    /** The line of the policy's rule that applies, if there is one. */
    ruleLine: skill.rule?.line,
    /** The file of the skill that is served by its name. */
    shadowedBy: shadowing?.by.file,
    /** The name to load it by, if it is shadowed and has one. */
    qualifiedName: skill.prefix && qualifiedName(skill),
    /** The number of its files, and their total size in bytes, unless it is off. */
    files: contents?.files.length,
    size: contents && totalSize(contents.files),
    /** Why `skills/list` leaves it out, if it does. */
    unlisted: unlisting?.reason,
  };
  return { entry, problems };
}

/** Formats a report as text. */
export function reportAsText(
  report: Report,
  { values: { list }, home }: Pick<Settings, "values" | "home">,
): string {
  const problems = report.problems.toSorted((a, b) =>
    byCodeUnits(a.severity, b.severity) || byCodeUnits(a.file, b.file) ||
    (a.line ?? 0) - (b.line ?? 0)
  );
  const sections = [
    list ? withoutCommands(formatTables(report, home)) : "",
    problems.map((problem) => formatProblem(problem, home)).join(""),
    `${summarize(report)}\n`,
  ];
  return sections.filter((section) => section !== "").join("\n");
}

/** Formats what was found. */
function formatTables(report: Report, home: string | undefined): string {
  const { policy, roots, skills } = report;
  const folderRows = roots.map(({ status, scope, skills, path }) => [
    status,
    scope,
    status === "found" ? count(skills, "skill") : "",
    showPath(path, home),
  ]);
  const skillRows = skills.map((skill) => {
    const { state, ruleLine, files } = skill;
    const rule = ruleLine ? `${basename(policy!)}:${ruleLine}` : "";
    return [
      shownName(skill.name),
      ...policy === undefined ? [] : [state, rule],
      files === undefined ? "" : count(files, "file"),
      showPath(skill.directory, home),
      describeEffects(skill, home),
    ];
  });
  return Object.entries({ Folders: folderRows, Skills: skillRows })
    .filter(([, rows]) => rows.length > 0).map(formatTable).join("\n");
}

/** Describes who cannot load a skill by its name, and why. */
function describeEffects(
  { shadowedBy, qualifiedName, unlisted }: Report["skills"][number],
  home: string | undefined,
): string {
  const advice = qualifiedName
    ? `load it as ${shownName(qualifiedName)}`
    : "rename it to load it";
  return [
    shadowedBy && `after ${showPath(dirname(shadowedBy), home)}: ${advice}`,
    unlisted && `not for hosts with the Skills extension: ${unlisted}`,
  ].filter(Boolean).join("; ");
}

/** The maximum width that a column is padded to, in characters. Longer cells exceed it. */
const MAX_PADDING = 80;

/** Formats rows as padded columns, one line for each. */
function formatTable([title, rows]: [string, string[][]]): string {
  const cells = rows.map((row) => row.map((cell) => escapeHidden(cell)));
  const widths = cells[0]!.map((_, column) =>
    cells.reduce(
      (width, row) =>
        Math.min(MAX_PADDING, Math.max(width, row[column]!.length)),
      0,
    )
  );
  const lines = cells.map((row) =>
    `  ${row.map((cell, column) => cell.padEnd(widths[column]!)).join("  ")}`
  );
  return [`${title} (${rows.length})`, ...lines]
    .map((line) => `${line.trimEnd()}\n`).join("");
}

/**
 * Formats a problem. Its place has the form that editors and terminals turn into a
 * link. GitHub Actions gets a command instead, and shows it beside the line.
 *
 * @see {@link https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands}
 */
function formatProblem(
  problem: Report["problems"][number],
  home: string | undefined,
): string {
  const { rule, severity, file, line, lines = [] } = problem;
  const path = escapeHidden(showPath(file, home));
  const reason = escapeHidden(problem.reason);
  const fix = `fix: ${escapeHidden(problem.hint)}`;
  if (!isInActions()) {
    const place = line === undefined ? path : `${path}:${line}`;
    const start = `${place}: ${severity}[${rule}]: ${reason}`;
    // Lines to copy stand at the beginning of the line.
    return [start, `  ${fix}`, ...lines, ""].join("\n");
  }
  const place = path.replaceAll("%", "%25").replaceAll(":", "%3A")
    .replaceAll(",", "%2C") + (line === undefined ? "" : `,line=${line}`);
  const text = [reason, fix, ...lines].join("\n")
    .replaceAll("%", "%25").replaceAll("\n", "%0A");
  return `::${severity} file=${place},title=${rule}::${text}\n`;
}

/** Summarizes a report in its last line. */
function summarize({ problems, skills, checked }: Report): string {
  const errors = problems.filter(isError).length;
  const warnings = problems.length - errors;
  const found = problems.length === 0
    ? ""
    : `: ${count(errors, "error")}, ${count(warnings, "warning")}`;
  if (checked !== undefined) {
    const isClean = checked > 0 && problems.length === 0;
    return `Checked ${count(checked, "skill")}${
      isClean ? ": no problems" : found
    }`;
  }
  const visible = skills.filter(({ state }) => state !== "off");
  const shadowed = visible.filter(({ shadowedBy }) => shadowedBy !== undefined);
  const served = count(visible.length - shadowed.length, "skill");
  const rest = shadowed.length === 0
    ? ""
    : `, and ${shadowed.length} more behind another of the same name`;
  return `Found ${served}${rest}${found}.${adviseOn(skills, problems)}`;
}

/** Says what to do next, if the table and the problems do not. */
function adviseOn(
  skills: Report["skills"],
  problems: Report["problems"],
): string {
  if (problems.length > 0) return "";
  return skills.length === 0
    ? " To add one, create a folder with a SKILL.md in one of the folders above."
    : " To look for problems in their texts and files, use --check.";
}

/** Shortens a path in the working directory or the home folder. */
function showPath(path: string, home: string | undefined): string {
  const folders = [[currentFolder(), "."], [home, "~"]] as const;
  for (const [folder, name] of folders) {
    if (folder !== undefined && isAtOrBelow(path, folder)) {
      return join(name, relative(folder, path));
    }
  }
  return path;
}

/** Whether this process runs in GitHub Actions, which obeys commands in what a step prints. */
function isInActions(): boolean {
  return attempt(() => Deno.env.get("GITHUB_ACTIONS")) === "true";
}

/** Keeps GitHub Actions from obeying a text that contains text of skills. */
export function withoutCommands(text: string): string {
  const token = crypto.randomUUID();
  return text === "" || !isInActions()
    ? text
    : `::stop-commands::${token}\n${text}::${token}::\n`;
}

/** Formats a value as JSON in which GitHub Actions finds no commands of the old form. */
export function jsonWithoutCommands(value: unknown): string {
  return jsonText(value).replaceAll("##[", "\\u0023#[");
}
