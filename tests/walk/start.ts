// The settings that a server of the walk starts with.
import { dirname, join, relative } from "../../src/files/paths.ts";
import { TOOLSET_NAMES } from "../../src/views/toolsets/toolsets.ts";
import { type ChangingDisk, Disk } from "./disk.ts";
import { Random } from "./random.ts";
import type { Launch } from "./servers.ts";
import { isWithin, real } from "./reading.ts";
import type { Root, Rule, World } from "./model.ts";

/** How a server is started. */
export interface Start {
  readonly workingDirectory: string;
  readonly toolset: string;
  /** The folders on the command line, and in `SKILLS_DIR`. */
  readonly folders: readonly string[];
  readonly skillsDir: readonly string[];
  readonly skillDirs: readonly string[];
  readonly agents: boolean;
  readonly trustLinks: readonly string[];
  readonly nameOnly: readonly string[];
  readonly usesPolicy: boolean;
}

/** A disk, and how servers of it are started. */
export interface Course {
  readonly disk: ChangingDisk;
  readonly start: Start;
}

/** Creates a disk that changes at random, and chooses how servers are started. */
export function chooseCourse(seed: number): Course {
  const random = new Random(seed);
  const disk = new Disk(random);
  const start = chooseStart(disk, random);
  disk.roots = worldOf(start, disk).roots.map(({ path }) => path)
    .filter((path) => path.startsWith(disk.place.path));
  for (const folder of disk.roots) Deno.mkdirSync(folder, { recursive: true });
  for (let count = 0; count < 12; count++) disk.change();
  return { disk, start };
}

function chooseStart(disk: Disk, random: Random): Start {
  const { home, path } = disk.place;
  const folder = () => random.pick(disk.configurable);
  const some = (probability: number, choose: () => string) =>
    random.chance(probability) ? [choose()] : [];
  const workingDirectory = random.chance(0.75)
    ? disk.project
    : random.pick([home, path, "/"]);
  return {
    workingDirectory,
    toolset: random.pick(TOOLSET_NAMES),
    folders: [
      ...some(0.3, folder),
      ...some(0.1, () => relativeBelow(workingDirectory, folder())),
    ],
    skillsDir: random.chance(0.15) ? [folder(), folder()] : [],
    skillDirs: some(0.4, folder),
    agents: random.chance(0.3),
    trustLinks: some(0.25, () => join(path, random.pick(["store", "other"]))),
    nameOnly: some(0.3, () => join(folder(), random.pick(["", "skills"]))),
    usesPolicy: random.chance(0.8),
  };
}

/**
 * Returns a path relative to a folder if it lies below. Otherwise, it would lead
 * elsewhere once the folder becomes a link.
 */
function relativeBelow(folder: string, path: string): string {
  const below = relative(folder, path) || ".";
  return below.startsWith("..") ? path : below;
}

/** Returns the folders, the arguments, and the environment of a server. */
export function launchOf(start: Start, disk: ChangingDisk): Launch {
  const { skillsDir } = start;
  return {
    project: start.workingDirectory,
    home: disk.place.home,
    args: [
      "--tools",
      start.toolset,
      ...start.agents ? ["--agents"] : [],
      ...start.usesPolicy ? ["--policy", disk.policy] : [],
      ...start.skillDirs.flatMap((folder) => ["--skill-dir", folder]),
      ...start.trustLinks.flatMap((folder) => ["--trust-links", folder]),
      ...start.nameOnly.flatMap((folder) => ["--name-only", folder]),
      ...start.folders,
    ],
    env: skillsDir.length > 0 ? { SKILLS_DIR: skillsDir.join(",") } : {},
  };
}

/** Returns what the model needs to know, without the rules. */
export function worldOf(start: Start, disk: ChangingDisk): World {
  const { workingDirectory, toolset, skillsDir } = start;
  const { home } = disk.place;
  const absolute = (folder: string) =>
    folder.startsWith("/") ? folder : join(workingDirectory, folder);
  const usesBoth = start.folders.length === 0 || toolset === "skilljack";
  const folders = [...start.folders, ...usesBoth ? skillsDir : []];
  const bases = new Set([workingDirectory, home]);
  const recursive = toolset === "agentskills";
  const isProjectFolder = (base: string) =>
    base === workingDirectory && !isWithin(real(home)!, real(base)!);
  const wellKnown = (name: string): Root[] =>
    [...bases].map((base) => ({
      path: join(base, name, "skills"),
      recursive,
      isProject: isProjectFolder(base),
      includesItself: recursive,
    }));
  const configured = (folder: string): Root[] =>
    ["", ".claude/skills", "skills"].map((name) => ({
      path: join(absolute(folder), name),
      recursive,
      isProject: false,
      includesItself: recursive || name === "",
    }));
  const roots = folders.length > 0
    ? folders.flatMap(configured)
    : [...wellKnown(".agent"), ...wellKnown(".claude")];
  if (start.agents) roots.push(...wellKnown(".agents"));
  const more = start.skillDirs.map((path) => ({
    path,
    recursive: true,
    isProject: false,
    includesItself: true,
  }));
  return {
    workingDirectory,
    home,
    toolset,
    trustLinks: [...start.trustLinks],
    nameOnly: start.nameOnly.map((path) => path.replace(/\/$/, "")),
    rules: [],
    roots: [...roots, ...more],
  };
}

/**
 * Returns the rules of the policy file with absolute folders.
 *
 * @param last The last valid rules, which apply while the file is invalid.
 */
export function readRules(
  { usesPolicy }: Start,
  disk: ChangingDisk,
  last?: readonly Rule[],
): readonly Rule[] | undefined {
  if (!usesPolicy) return [];
  try {
    const { rules } = JSON.parse(Deno.readTextFileSync(disk.policy));
    return (rules as WrittenRule[]).map((rule): Rule => ({
      ...rule,
      skill: rule.skill === undefined ? undefined : [rule.skill].flat(),
      in: rule.in === undefined
        ? undefined
        : [rule.in].flat().map((folder) => absolutePath(folder, disk)),
    }));
  } catch {
    return last;
  }
}

/** A rule as it stands in the file. */
type WrittenRule =
  & Omit<Rule, "skill" | "in">
  & Partial<Record<"skill" | "in", string | string[]>>;

/** Returns the absolute path of a folder in the policy file. */
function absolutePath(folder: string, disk: ChangingDisk): string {
  const path = folder.replace(/^~/, disk.place.home).replace(/\/\*\*$/, "");
  return path.startsWith("/") ? path : join(dirname(disk.policy), path);
}
