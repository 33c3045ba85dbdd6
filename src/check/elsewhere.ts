/**
 * Finds skills in directories that the server does not search: those of other agents
 * and of the packages of a project, and those a level off or too deep. Says which option
 * adds them.
 */

import type { Diagnostic } from "../diagnostics.ts";
import {
  basename,
  childOn,
  findWorkingDirectory,
  inHome,
  isAtOrBelow,
  isAtOrBelowAny,
  isThere,
  join,
  mayRead,
  realPathOf,
  withDirsAbove,
  withTilde,
} from "../fs/paths.ts";
import { quoteWord } from "../program/running_program.ts";
import type { Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import { deepenRoots, listSubdirs } from "../skills/near_misses.ts";
import { DEFAULT_ROOT_PARENTS, ROOT_PARENTS } from "../skills/roots.ts";
import { isSkillDir } from "../skills/skill_file.ts";
import type { Skill, SkillCatalog, SkillRoot } from "../skills/types.ts";
import { count } from "../text.ts";

/**
 * Where agents have a directory `skills`, in projects or in the home directory, according
 * to `npx skills` 1.7.4 and the vendors in November 2026. Some have it in the project
 * itself.
 */
export const AGENT_DIRS =
  `. .adal .aider-desk .astrbot/data .augment .autohand .bob .cline
  .clinerules .codeartsdoer .codebuddy .codeium/windsurf .codemaker .codestudio .codex
  .commandcode .config/agents .config/crush .config/devin .config/goose
  .config/kilo .config/kimchi/harness .config/opencode .continue .copilot .cortex .crush .cursor
  .deepagents/agent .devin .dsh .factory .firebender .forge .fx .gemini .gemini/antigravity
  .gemini/antigravity-cli .gemini/config .github .goose .grok .hermes .iflow .inferencesh
  .jazz .junie .kilo .kilocode .kimchi .kiro .kode .lingma .mcpjam .minimax .moxby .mux
  .neovate .ona .openclaw .opencode .openhands .pi .pi/agent .pochi .posit/assistant .qoder
  .qoder-cn .qwen .reasonix .roo .rovodev .snowflake/cortex .tabnine/agent .terramind .tinycloud
  .trae .trae-cn .vibe .windsurf .zcode .zencoder agent data`.split(/\s+/);

/** The maximum number of lines about other directories, and about deeper ones. */
const MAX_REPORTED_DIRS = 25;

/** How many directories of a project can be packages, or can be beside `skills`. */
const MAX_PLACES = 1_000;

/** A directory that may hold skills but is not searched, and how to change that. */
interface Place extends SkillRoot {
  readonly fix: string;
  /** Whether skills can be too deep in it once it is searched. */
  readonly isDeepened?: boolean;
}

/**
 * Lists where skills may be that no root covers: other places, and the roots again, at
 * any depth. A skill counts in the first place that has it.
 */
export function listOtherRoots(
  catalog: SkillCatalog,
  settings: Settings,
): { places: Place[]; deep: SkillRoot[] } {
  const { roots } = settings;
  const all = areDirsEnough(catalog, settings) ? [] : [
    ...listKnown(settings),
    ...listAbove(settings),
    ...listBeside(settings),
    ...listPlugins(settings),
    ...listPackages(settings),
  ];
  const unsearched = all.filter(({ path }) => isOutsideRoots(path, roots));
  const byRealPath = Map.groupBy(unsearched, ({ path }) => realPathOf(path));
  for (const { path } of roots) byRealPath.delete(realPathOf(path));
  const places = Array.from(byRealPath.values(), ([first]) => first!);
  const deepened = places.filter(({ isDeepened }) => isDeepened);
  return { places, deep: deepenRoots([...roots, ...deepened]) };
}

export function reportPlaces(
  places: readonly Place[],
  found: SkillCatalog,
): Diagnostic[] {
  const reports = new Map(found.roots.map((report) => [report.root, report]));
  return places.flatMap((place): Diagnostic[] => {
    // After a failed scan, there is no report.
    const { skillCount = 0, repeatedCount = 0 } = reports.get(place) ?? {};
    const unsearched = skillCount - repeatedCount;
    if (unsearched === 0) return [];
    const reason = `it has ${count(unsearched, "skill")}, but is not searched`;
    const { path: file, fix } = place;
    return [{ rule: "not-searched", file, reason, fix }];
  }).slice(0, MAX_REPORTED_DIRS);
}

/** Whether the user named directories and needs no hints about others. */
function areDirsEnough(
  { served, diagnostics }: SkillCatalog,
  { dirs, values }: Settings,
): boolean {
  if (values.check) return dirs.some(isThere);
  const isEmpty = served.size === 0 &&
    diagnostics.every(({ rule }) => rule === "folder-missing");
  return dirs.length > 0 && !isEmpty;
}

/** Whether something is at a path that Deno may read, and no root is there or below. */
function isOutsideRoots(path: string, roots: readonly SkillRoot[]): boolean {
  return mayRead(path) && isThere(path) &&
    !roots.some((root) => isAtOrBelow(root.path, path));
}

function placeAt(path: string, fix: string, rest: Partial<Place>): Place {
  // A project may be a stranger's, so the limit for its directories applies.
  const here = findWorkingDirectory();
  const isLimited = here === undefined || isAtOrBelow(path, here);
  return { path, fix, isLimited, ...rest };
}

/** Creates a place that an option adds, if the user cannot do something better. */
function placeToAdd(path: string, settings: Settings, better = ""): Place {
  const fix = better + adviseToAdd(path, settings);
  return placeAt(path, fix, { recursive: true });
}

function adviseToAdd(dir: string, { options }: Settings): string {
  const shown = withTilde(dir, options.homeDirectory);
  return `add --skill-dir ${quoteWord(shown)}`;
}

/** Lists the newest version of each plugin of Claude Code. */
function listPlugins(settings: Settings): Place[] {
  const byNumber = new Intl.Collator("en", { numeric: true }).compare;
  const cache = inHome(".claude/plugins/cache", settings.options);
  if (cache === undefined) return [];
  return listSubdirs(cache).flatMap((dir) => listSubdirs(dir))
    .flatMap((plugin) => listSubdirs(plugin).sort(byNumber).at(-1) ?? [])
    .map((it) =>
      placeToAdd(it, settings, "for other clients than Claude Code, ")
    );
}

/** Lists the directories of other agents, and `.claude` without its dot. */
function listKnown(settings: Settings): Place[] {
  return listBases(settings).flatMap(({ shown, pathOf }) => [
    placeAt(pathOf(".agents/skills"), "add --agents", { isDeepened: true }),
    placeAt(
      pathOf("claude/skills"),
      `move its skills to ${shown}/.claude/skills`,
      { isDeepened: true },
    ),
    ...AGENT_DIRS
      .map((dir) => placeToAdd(pathOf(`${dir}/skills`), settings)),
  ]);
}

/** Lists the directories above the working directory, up to the root of its repository. */
function listAbove(settings: Settings): Place[] {
  const here = findWorkingDirectory();
  if (here === undefined) return [];
  const dirs = withDirsAbove(here);
  const isTop = (dir: string) => mayRead(dir) && isThere(join(dir, ".git"));
  const top = dirs.findIndex(isTop);
  // Without a repository, no directory above belongs to the project.
  if (top < 0) return [];
  return dirs.slice(1, 1 + top)
    .map((dir) => join(dir, ".claude", "skills"))
    .map((it) =>
      placeToAdd(it, settings, "start the client in that project, or ")
    );
}

/** The home directory and the project: how to write them, and paths in them. */
function listBases(
  { options }: Settings,
): { shown: string; pathOf: (dir: string) => string }[] {
  const here = findWorkingDirectory();
  const home = (dir: string) => inHome(dir, options)!;
  return [
    ...options.homeDirectory ? [{ shown: "~", pathOf: home }] : [],
    ...here ? [{ shown: ".", pathOf: (it: string) => join(here, it) }] : [],
  ];
}

/** Lists where the packages of a project can have skills, up to two levels below it. */
function listPackages(settings: Settings): Place[] {
  const here = findWorkingDirectory();
  if (here === undefined) return [];
  const outer = listSubdirs(here).slice(0, MAX_PLACES);
  const packages = [...outer, ...outer.flatMap((dir) => listSubdirs(dir))]
    .slice(0, MAX_PLACES);
  return packages
    .flatMap((dir) => ROOT_PARENTS.map((name) => join(dir, name, "skills")))
    .map((it) =>
      placeToAdd(it, settings, "start the client in that package, or ")
    );
}

/** Lists the directories beside where `skills` should be, such as `skill`, or a skill. */
function listBeside(settings: Settings): Place[] {
  return listBases(settings).flatMap(({ shown, pathOf }) =>
    DEFAULT_ROOT_PARENTS.flatMap((name) => {
      const dirs = listSubdirs(pathOf(name))
        .filter((path) => basename(path) !== "skills").slice(0, MAX_PLACES);
      return dirs.map((path) => {
        const what = isSkillDir(path) ? "it" : "its skills";
        const fix = `move ${what} to ${shown}/${name}/skills`;
        return placeAt(path, fix, { includesItself: true });
      });
    })
  );
}

/** Reports the directories in roots whose skills only a deep search found. */
export function reportDeeper(
  deep: readonly SkillRoot[],
  found: SkillCatalog,
  settings: Settings,
): Diagnostic[] {
  const isDeep = ({ root }: Skill) => deep.includes(root);
  const skills = listAll(found);
  const known = skills.filter((skill) => !isDeep(skill))
    .map(({ realDirectory }) => realDirectory);
  const searched = found.roots.map(({ realPath }) => realPath);
  // A searched directory is not a skill, and a skill's subdirectories belong to it.
  const deeper = skills.filter((skill) =>
    isDeep(skill) && !searched.includes(skill.realDirectory) &&
    !isAtOrBelowAny(skill.realDirectory, known)
  );
  const byDir = Map.groupBy(
    deeper,
    ({ directory, root }) => childOn(directory, root.path),
  );
  return Array.from(byDir, ([file, { length }]): Diagnostic => ({
    rule: "not-searched",
    file,
    reason: `it has ${count(length, "skill")} deeper than the server searches`,
    fix: `move ${length === 1 ? "it" : "them"} up, or ${
      adviseToAdd(file, settings)
    }`,
  })).slice(0, MAX_REPORTED_DIRS);
}
