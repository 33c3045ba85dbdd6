// The settings that a server of the walk starts with.
import { dirname, join, relative } from "../../src/fs/paths.ts";
import { TOOLSET_NAMES } from "../../src/mcp/toolsets/toolsets.ts";
import { configurable, type Layout } from "./changes.ts";
import type { Disk } from "./disk.ts";
import type { Random } from "./random.ts";
import type { Launch } from "./servers.ts";
import type { Root, Rule, World } from "./model.ts";

export interface Start {
  readonly workingDirectory: string;
  readonly toolset: string;
  /** The directories on the command line, and in `SKILLS_DIR`. */
  readonly dirs: readonly string[];
  readonly skillsDir: readonly string[];
  readonly skillDirs: readonly string[];
  readonly agents: boolean;
  readonly trustLinks: readonly string[];
  /** The seconds between two rescans of a server that watches. Default: 1. */
  readonly refresh?: number;
  readonly policy?: string;
}

export function chooseStart(
  disk: Disk,
  layout: Layout,
  random: Random,
): Start {
  const { home, path } = disk.place;
  const dir = () => random.pick(configurable(disk, layout));
  const some = (probability: number, choose: () => string) =>
    random.chance(probability) ? [choose()] : [];
  const workingDirectory = random.chance(0.75)
    ? layout.project
    : random.pick([home, path, "/"]);
  return {
    workingDirectory,
    toolset: random.pick(TOOLSET_NAMES),
    dirs: [
      ...some(0.3, dir),
      ...some(0.1, () => relativeBelow(workingDirectory, dir())),
    ],
    skillsDir: random.chance(0.15) ? [dir(), dir()] : [],
    skillDirs: some(0.4, dir),
    agents: random.chance(0.3),
    trustLinks: some(0.25, () => join(path, random.pick(["store", "other"]))),
    ...random.chance(0.8) && { policy: layout.policy },
  };
}

/**
 * Returns a path relative to a directory if it lies below. Otherwise, it would lead
 * elsewhere once the directory becomes a link.
 */
function relativeBelow(dir: string, path: string): string {
  const below = relative(dir, path) || ".";
  return below.startsWith("..") ? path : below;
}

/** Returns the directories, the arguments, and the environment of a server. */
export function launchOf(start: Start, disk: Disk): Launch {
  const { skillsDir, policy } = start;
  return {
    project: start.workingDirectory,
    home: disk.place.home,
    args: [
      "--tools",
      start.toolset,
      ...start.agents ? ["--agents"] : [],
      ...policy === undefined ? [] : ["--policy", policy],
      ...start.skillDirs.flatMap((dir) => ["--skill-dir", dir]),
      ...start.trustLinks.flatMap((dir) => ["--trust-links", dir]),
      ...start.dirs,
    ],
    env: skillsDir.length > 0 ? { SKILLS_DIR: skillsDir.join(",") } : {},
  };
}

/** Returns what the model needs to know, without the rules. */
export function worldOf(start: Start, disk: Disk): World {
  const { workingDirectory, toolset } = start;
  const { home } = disk.place;
  return {
    workingDirectory,
    home,
    toolset,
    trustLinks: [...start.trustLinks],
    rules: [],
    roots: rootsOf(start, home),
  };
}

/** Returns the directories that a server searches, in their order. */
function rootsOf(start: Start, home: string): Root[] {
  const { workingDirectory, toolset, skillsDir } = start;
  const absolute = (dir: string) =>
    dir.startsWith("/") ? dir : join(workingDirectory, dir);
  const usesBoth = start.dirs.length === 0 || toolset === "skilljack";
  const dirs = [...start.dirs, ...usesBoth ? skillsDir : []];
  const bases = new Set([workingDirectory, home]);
  const recursive = toolset === "agentskills";
  const wellKnown = (name: string): Root[] =>
    [...bases].map((base) => ({
      path: join(base, name, "skills"),
      recursive,
      includesItself: recursive,
    }));
  const configured = (dir: string): Root[] =>
    ["", ".claude/skills", "skills"].map((name) => ({
      path: join(absolute(dir), name),
      recursive,
      includesItself: recursive || name === "",
    }));
  const roots = dirs.length > 0
    ? dirs.flatMap(configured)
    : [...wellKnown(".agent"), ...wellKnown(".claude")];
  if (start.agents) roots.push(...wellKnown(".agents"));
  const named = { recursive: true, includesItself: true };
  return [...roots, ...start.skillDirs.map((path) => ({ ...named, path }))];
}

/**
 * Returns the rules of the policy file with absolute directories.
 *
 * @param last The last valid rules, which apply while the file is invalid.
 */
export function readRules(
  { policy }: Start,
  { place: { home } }: Disk,
  last?: readonly Rule[],
): readonly Rule[] | undefined {
  if (policy === undefined) return [];
  try {
    const { rules } = JSON.parse(Deno.readTextFileSync(policy));
    return (rules as WrittenRule[]).map((rule): Rule => ({
      ...rule,
      skill: rule.skill === undefined ? undefined : [rule.skill].flat(),
      in: rule.in === undefined
        ? undefined
        : [rule.in].flat().map((dir) => absolutePath(dir, { home, policy })),
    }));
  } catch {
    return last;
  }
}

/** A rule as it stands in the file. */
type WrittenRule =
  & Omit<Rule, "skill" | "in">
  & Partial<Record<"skill" | "in", string | string[]>>;

function absolutePath(
  dir: string,
  { home, policy }: { home: string; policy: string },
): string {
  const path = dir.replace(/^~/, home).replace(/\/\*\*$/, "");
  return path.startsWith("/") ? path : join(dirname(policy), path);
}
