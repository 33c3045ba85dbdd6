/** Says how many skills a client and the server both list, and how to save their tokens. */

import { inHome, isAtOrBelow, realPathOf } from "../fs/paths.ts";
import { quoteWord, withTilde } from "../program/running_program.ts";
import type { Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import type { Skill, SkillCatalog } from "../skills/types.ts";
import { count } from "../text.ts";
import { type ClientName, CLIENTS, profileOfOption } from "../views/clients.ts";
import { listEntries } from "../views/entries.ts";
import { listPassages } from "./model_view.ts";
import { type OpenSkills, SILENT } from "./report.ts";

/**
 * Explains which of the user's skills the client lists, too, by their real directories.
 *
 * @param settings The settings of the client's entry.
 */
export async function explainDoubleLists(
  name: ClientName,
  settings: Settings,
  openSkills: OpenSkills,
): Promise<string | undefined> {
  const { title, ownSkills = [], ownList } = CLIENTS[name];
  const { options, home } = settings;
  const dirs = ownSkills.filter((dir) => !dir.startsWith("./"))
    .flatMap((dir) => inHome(dir.replace("~/", ""), options) ?? []);
  const roots = dirs.map((path) => ({ path, scope: "global" as const }));
  const scan = (changes: Partial<Settings>) =>
    openSkills({ ...settings, ...changes }, SILENT).refresh();
  const theirs = new Set(
    listAll(await scan({ roots, options: { ...options, policy: undefined } }))
      .map(({ realDirectory }) => realDirectory),
  );
  const isDouble = ({ scope, realDirectory }: Skill) =>
    scope === "global" && theirs.has(realDirectory);
  const catalog = await scan({});
  const entries = listEntries("model", catalog);
  const double = entries.filter(({ skill, description }) =>
    description !== "" && isDouble(skill)
  );
  if (double.length === 0) return undefined;
  const start = `${title} also lists ${double.length} of ${
    count(entries.length, "skill")
  } itself`;
  if (ownList === "only names") return `${start}, but without descriptions.`;
  const ruleDirs = double.map(({ skill: { directory, realDirectory } }) =>
    dirs.find((dir) =>
      isAtOrBelow(directory, dir) || isAtOrBelow(realDirectory, realPathOf(dir))
    ) ?? directory
  );
  const shown = [...new Set(ruleDirs)].map((dir) =>
    quoteWord(withTilde(dir, home))
  );
  const list = shown.length === 1 ? shown[0] : `[${shown.join(", ")}]`;
  const sizeOf = (catalog: SkillCatalog) =>
    listPassages(name, { profile: profileOfOption(name), catalog, options })
      .reduce((sum, { text }) => sum + text.length, 0);
  const saved = sizeOf(catalog) - sizeOf(listByName(isDouble, catalog));
  return `${start}. If its list has room for all descriptions, the rule "- { in: ${list}, state: name-only }" in a file for --policy saves about ${
    Math.round(saved / 4)
  } tokens.`;
}

/** Returns a catalog in which some skills have no description, as with a rule. */
function listByName(
  isChosen: (skill: Skill) => boolean,
  catalog: SkillCatalog,
): SkillCatalog {
  const skills = new Map(
    catalog.skills.entries().map(([key, skill]) => [
      key,
      isChosen(skill) ? { ...skill, state: "name-only" as const } : skill,
    ]),
  );
  return { ...catalog, skills };
}
