/**
 * Finds skills in directories that the server does not search: those of other agents
 * and of the packages of a project, and those a level off or too deep. Says which
 * option adds them.
 */

import { attempt } from "../attempt.ts";
import type { Diagnostic } from "../diagnostics.ts";
import {
  basename,
  childOn,
  currentDir,
  dirname,
  inHome,
  isAtOrBelow,
  isAtOrBelowAny,
  isThere,
  join,
  mayRead,
} from "../fs/paths.ts";
import { quoteWord, withTilde } from "../program/running_program.ts";
import type { Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import { DEFAULT_DIRS, UNSEARCHED_NAMES } from "../skills/roots.ts";
import { isSkillDir } from "../skills/skill_file.ts";
import type { Skill, SkillCatalog, SkillRoot } from "../skills/types.ts";
import { count } from "../text.ts";

/**
 * The directories around `skills` in which agents keep skills, in projects, in the home
 * directory, or in both, as `npx skills` 1.7.4, dsh-skills-anywhere, and the vendors
 * say in November
 * 2026. A project can have its skills in a directory that has no other name.
 */
const AGENT_DIRS =
  `. .adal .aider-desk .astrbot/data .augment .autohand .bob .cline
  .clinerules .codeartsdoer .codebuddy .codeium/windsurf .codemaker .codestudio .codex
  .commandcode .config/agents .config/crush .config/devin .config/goose
  .config/kimchi/harness .config/opencode .continue .copilot .cortex .crush .cursor
  .deepagents/agent .devin .dsh .factory .firebender .forge .fx .gemini .gemini/antigravity
  .gemini/antigravity-cli .github .goose .grok .hermes .iflow .inferencesh .jazz .junie .kilo
  .kilocode .kimchi .kiro .kode .lingma .mcpjam .minimax .moxby .mux .neovate .ona .openclaw
  .opencode .openhands .pi .pi/agent .pochi .posit/assistant .qoder .qoder-cn .qwen .reasonix
  .roo .rovodev .snowflake/cortex .tabnine/agent .terramind .tinycloud .trae .trae-cn .vibe
  .windsurf .zcode .zencoder agent data`.split(/\s+/);

/** Directories that are almost those that the server searches, and what they should be. */
const ALMOST: readonly [dir: string, meant: string][] = [
  ...DEFAULT_DIRS.flatMap((dir) =>
    ["skill", "Skill", "Skills"].map((name): [string, string] => [
      join(dir, name),
      join(dir, "skills"),
    ])
  ),
  [join("claude", "skills"), join(".claude", "skills")],
];

/** The directories of a package in a project that hold skills. */
const PACKAGE_DIRS = [...DEFAULT_DIRS, ".agents"];

/** The maximum number of lines about packages, and about deeper directories. */
const MAX_PACKAGES = 25;
const MAX_DEEPER = 10;

/** How many directories of a project may be packages. */
const MAX_DIRS = 1_000;

/** A directory that may hold skills, and what to do with them. */
interface Place {
  readonly path: string;
  readonly fix: string;
  /** Whether the fix finds its skills at any level. Default: `false`. */
  readonly recursive?: boolean;
}

/**
 * Lists the directories with skills that only one more scan finds: it searches the
 * roots, the places where skills often are, and then the roots at any depth. A skill
 * counts where it is found first.
 */
export async function listElsewhere(
  catalog: SkillCatalog,
  settings: Settings,
  scanRoots: (roots: readonly SkillRoot[]) => Promise<SkillCatalog>,
): Promise<Diagnostic[]> {
  const { roots } = settings;
  const isChosen = hasUsefulDirs(catalog, settings);
  const known = isChosen ? [] : listKnownPlaces(settings);
  const packages = isChosen ? [] : listPackages(settings);
  const places = [...known, ...packages];
  const shallow: SkillRoot[] = [...roots, ...places.map(toRoot)];
  const deep = shallow.filter(({ recursive }) => !recursive)
    .map((root) => ({ ...root, includesItself: false, recursive: true }))
    .toSorted((a, b) => b.path.length - a.path.length);
  const found = await scanRoots([...shallow, ...deep]);
  const report = (place: Place): Diagnostic[] => {
    const { path: file, fix } = place;
    const root = found.roots[roots.length + places.indexOf(place)]!;
    const unsearched = root.skills - root.repeated;
    if (unsearched === 0) return [];
    const reason = `it has ${count(unsearched, "skill")} and is not searched`;
    return [{ rule: "not-searched", file, reason, fix }];
  };
  return [
    ...known.flatMap(report),
    ...packages.flatMap(report).slice(0, MAX_PACKAGES),
    ...isChosen ? [] : listLevelOff(settings),
    ...listDeeper(found, deep, settings),
  ];
}

/** Whether the user named directories that hold something, and needs no hint about other places. */
function hasUsefulDirs(
  { served, diagnostics }: SkillCatalog,
  { dirs, values }: Settings,
): boolean {
  if (values.check) return dirs.some(isThere);
  return dirs.length > 0 &&
    (served.size > 0 ||
      diagnostics.some(({ rule }) => rule !== "folder-missing"));
}

function listKnownPlaces(settings: Settings): Place[] {
  const bases = listBases(settings);
  const add = (path: string) => adviseToAdd(path, settings);
  const places = bases.flatMap(({ shown, pathOf }): Place[] => [
    { path: pathOf(".agents/skills"), fix: "add --agents" },
    ...ALMOST.map(([dir, meant]) => ({
      path: pathOf(dir),
      fix: `move its skills to ${shown}/${meant}`,
    })),
    ...AGENT_DIRS.map((dir) => pathOf(`${dir}/skills`))
      .map((path) => ({ path, fix: add(path), recursive: true })),
    {
      path: pathOf(".claude/plugins/cache"),
      fix: ADD_A_PLUGIN,
      recursive: true,
    },
  ]);
  const above = listDirsAbove(currentDir()).map((dir) => {
    const path = join(dir, ".claude", "skills");
    const fix = `start the client in that project, or ${add(path)}`;
    return { path, fix, recursive: true };
  });
  return [...places, ...above].filter((it) => isUnsearched(it, settings));
}

// All of them together would bring old versions, too.
const ADD_A_PLUGIN =
  "Claude Code serves them itself; for another client, add --skill-dir with the folder of the newest version of a plugin in it";

/** The home directory and the project: how they are written, and a path in them. */
function listBases(
  { options }: Settings,
): { shown: string; pathOf: (dir: string) => string }[] {
  const here = currentDir();
  const home = (dir: string) => inHome(join(dir), options)!;
  return [
    ...options.homeDirectory ? [{ shown: "~", pathOf: home }] : [],
    ...here ? [{ shown: ".", pathOf: (it: string) => join(here, it) }] : [],
  ];
}

/** Whether something is at a place that Deno may read, and no root has it. */
function isUnsearched(
  { path }: Place,
  { roots }: Settings,
): boolean {
  return mayRead(path) && isThere(path) &&
    !roots.some((root) => isAtOrBelow(root.path, path));
}

/** Lists the directories above a directory, up to the root of its repository, if it is in one. */
function listDirsAbove(dir = ""): string[] {
  const above: string[] = [];
  for (let last = dir; mayRead(last); last = dirname(last)) {
    if (isThere(join(last, ".git"))) return above;
    if (dirname(last) === last) return [];
    above.push(dirname(last));
  }
  return [];
}

/** Lists where the packages of a project may have skills, up to two levels below it. */
function listPackages(settings: Settings): Place[] {
  const here = currentDir();
  if (here === undefined) return [];
  const first = listDirs(here);
  const packages = [...first, ...first.flatMap(listDirs)]
    .slice(0, MAX_DIRS);
  return packages.flatMap((dir) =>
    PACKAGE_DIRS.map((name) => join(dir, name, "skills"))
  ).map((path) => {
    const add = adviseToAdd(path, settings);
    const fix = `start the client in that package, or ${add}`;
    return { path, fix, recursive: true };
  }).filter((it) => isUnsearched(it, settings));
}

/** Lists the directories in a directory, without hidden ones and those that tools fill. */
function listDirs(path: string): string[] {
  if (!mayRead(path)) return [];
  const entries = attempt(() => [...Deno.readDirSync(path)]) ?? [];
  return entries.filter(({ name, isDirectory }) =>
    isDirectory && !name.startsWith(".") && !UNSEARCHED_NAMES.has(name)
  ).map(({ name }) => join(path, name)).toSorted();
}

/** Lists the skills that are beside a directory `skills`, not in it. */
function listLevelOff(settings: Settings): Diagnostic[] {
  const { roots } = settings;
  return listBases(settings).flatMap(({ shown, pathOf }) =>
    DEFAULT_DIRS.flatMap((name) => {
      const others = listDirs(pathOf(name)).filter((dir) =>
        !/^skills?$/i.test(basename(dir)) &&
        !roots.some(({ path }) => isAtOrBelow(path, dir))
      );
      return others.flatMap((file): Diagnostic[] => {
        const skills = [file, ...listDirs(file)].filter(isSkillDir);
        if (skills.length === 0) return [];
        const isSkill = skills[0] === file;
        const what = isSkill
          ? "it is a skill"
          : `it has ${count(skills.length, "skill")}`;
        const reason = `${what}, and is beside the folder "skills", not in it`;
        const fix = `move ${
          isSkill ? "it" : "its skills"
        } to ${shown}/${name}/skills`;
        return [{ rule: "not-searched", file, reason, fix }];
      });
    })
  );
}

function toRoot({ path, recursive }: Place): SkillRoot {
  // A project may be a stranger's, so the limit for its directories applies.
  const isProject = isAtOrBelow(path, currentDir() ?? path);
  return { path, scope: isProject ? "project" : "global", recursive };
}

/** Says which directories in roots hold skills that only a deep search finds. */
function listDeeper(
  found: SkillCatalog,
  deep: readonly SkillRoot[],
  settings: Settings,
): Diagnostic[] {
  const isDeep = ({ root }: Skill) =>
    root.recursive === true && deep.some(({ path }) => path === root.path);
  const skills = listAll(found);
  const known = skills.filter((skill) => !isDeep(skill))
    .map(({ realDirectory }) => realDirectory);
  const searched = found.roots.map(({ realPath }) => realPath);
  // What is in a skill belongs to it, and a searched directory is not a skill.
  const deeper = skills.filter((skill) =>
    isDeep(skill) && !searched.includes(skill.realDirectory) &&
    !isAtOrBelowAny(skill.realDirectory, known)
  );
  const holderOf = ({ directory, root }: Skill) =>
    childOn(directory, root.path);
  const areMany = new Set(deeper.map(holderOf)).size > MAX_DEEPER;
  const byHolder = Map.groupBy(
    deeper,
    (skill) => areMany ? skill.root.path : holderOf(skill),
  );
  return Array.from(byHolder, ([file, { length }]) => {
    const skills = count(length, "skill");
    const moved = length === 1 ? "it" : "them";
    return {
      rule: "not-searched",
      file,
      reason: `it has ${skills} deeper than the server looks`,
      fix: `move ${moved} up, or ${adviseToAdd(file, settings)}`,
    };
  });
}

function adviseToAdd(dir: string, { home }: Settings): string {
  return `add --skill-dir ${quoteWord(withTilde(dir, home))}`;
}
