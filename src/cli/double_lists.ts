/** Says how many skills a client and the server both list, and how to save their tokens. */

import type { OpenRegistry } from "../check/report.ts";
import { inHome, isAtOrBelow, realPathOf, withTilde } from "../fs/paths.ts";
import type { Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { count } from "../text.ts";
import { type ClientName, CLIENTS } from "../views/clients.ts";
import { listEntries } from "../views/entries.ts";
import { formatValue } from "./config.ts";
import { listPassages } from "./model_view.ts";

/** Explains which of the user's skills the client lists, too, by their real directories. */
export async function explainDoubleLists(
  name: ClientName,
  catalog: SkillCatalog,
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<string | undefined> {
  const { title, ownSkills = [], ownList, obeysClaudeConfigDir } =
    CLIENTS[name];
  const { options } = settings;
  const bases = obeysClaudeConfigDir
    ? options
    : { ...options, claudeDirectory: undefined };
  const dirs = ownSkills.filter((dir) => !dir.startsWith("./"))
    .flatMap((dir) => inHome(dir.replace("~/", ""), bases) ?? []);
  const clientDirs = await listRealDirs(dirs, settings, openRegistry);
  const entries = listEntries("model", catalog);
  const double = entries
    .filter(({ description }) => description !== "")
    .map(({ skill }) => skill)
    .filter(({ scope, realDirectory }) =>
      scope === "global" && clientDirs.has(realDirectory)
    );
  if (double.length === 0) return undefined;
  const all = count(entries.length, "skill");
  const start = `${title} also lists ${double.length} of ${all} itself`;
  if (ownList === "only names") return `${start}, but without descriptions.`;
  const sizeOf = (catalog: SkillCatalog) =>
    listPassages(name, catalog, options)
      .reduce((sum, { text }) => sum + text.length, 0);
  const saved = sizeOf(catalog) - sizeOf(listByName(double, catalog));
  if (saved <= 0) return `${start}.`;
  const list = formatRuleDirs(double, dirs, options.homeDirectory);
  return `${start}. If its list has room for all descriptions, the rule "- { in: ${list}, state: name-only }" in a file for --policy saves about ${
    Math.round(saved / 4)
  } tokens.`;
}

/** Lists the real directories of the skills that a client finds in its own. */
async function listRealDirs(
  dirs: readonly string[],
  settings: Settings,
  openRegistry: OpenRegistry,
): Promise<Set<string>> {
  const roots = dirs.map((path) => ({ path }));
  const options = { ...settings.options, policy: undefined };
  const catalog = await openRegistry(roots, options).refresh();
  return new Set(listAll(catalog).map(({ realDirectory }) => realDirectory));
}

/** A path that YAML reads as text without quotes, even in braces. A lone `~` is null. */
const PLAIN_SCALAR = /^[\w~./\\:-]*\w$/;

/** Formats the client's directories that hold the skills, or else those of the skills. */
function formatRuleDirs(
  skills: readonly Skill[],
  dirs: readonly string[],
  home: string | undefined,
): string {
  const ruleDirs = skills.map(({ directory, realDirectory }) =>
    dirs.find((dir) =>
      isAtOrBelow(directory, dir) || isAtOrBelow(realDirectory, realPathOf(dir))
    ) ?? directory
  );
  const [first = "", ...others] = [...new Set(ruleDirs)]
    .map((dir) => withTilde(dir, home))
    .map((dir) => PLAIN_SCALAR.test(dir) ? dir : formatValue(dir));
  return others.length === 0 ? first : `[${[first, ...others].join(", ")}]`;
}

/** Returns a catalog in which some skills have no description, as with a rule. */
function listByName(
  chosen: readonly Skill[],
  catalog: SkillCatalog,
): SkillCatalog {
  const skills = new Map(
    catalog.skills.entries().map(([key, skill]) => [
      key,
      chosen.includes(skill)
        ? { ...skill, state: "name-only" as const }
        : skill,
    ]),
  );
  return { ...catalog, skills };
}
