/**
 * Finds what the user most likely meant as skills and the scan of a server does not find,
 * for `--list` and `--check`: skills in folders that are not searched, and files with
 * almost the right name.
 */

import {
  childOn,
  currentFolder,
  dirname,
  inHome,
  isAtOrBelow,
  isAtOrBelowAny,
  isCaseBlind,
  isThere,
  join,
  mayRead,
  realPathOf,
} from "../fs/paths.ts";
import type { Diagnostic } from "../diagnostics.ts";
import { quoteWord, withTilde } from "../program/running_program.ts";
import type { Settings } from "../program/settings.ts";
import { listAll } from "../skills/catalog.ts";
import { byScope, Project } from "../skills/project.ts";
import {
  DEFAULT_FOLDERS,
  isNamedSkills,
  SHARED_FOLDERS,
} from "../skills/roots.ts";
import type { SkillCatalog, SkillRoot } from "../skills/types.ts";
import { count, isCopyable } from "../text.ts";
import { MCP_CLIENTS } from "./clients/clients.ts";
import { findFileDiagnostic, listNearMisses } from "./near_misses.ts";

/** The maximum number of lines about one folder. People do not read more. */
const MAX_DEEPER_LINES = 10;

interface UnsearchedPlace {
  readonly root: SkillRoot;
  readonly fix: string;
}

/**
 * Lists the near misses in the roots, and the skills that are not found there. One more
 * scan searches the roots, the places where installers put skills, and then all of these
 * deep. A skill counts where it is found first.
 */
export async function listMissed(
  catalog: SkillCatalog,
  settings: Settings,
  scanRoots: (roots: readonly SkillRoot[]) => Promise<SkillCatalog>,
): Promise<Diagnostic[]> {
  const { roots } = settings;
  const places = hasUsefulFolders(catalog, settings)
    ? []
    : listUnsearchedPlaces(settings);
  const shallow = [...roots, ...places.map(({ root }) => root)];
  const deep = deepen(shallow);
  const searched = [...shallow, ...deep];
  const found = await scanRoots(searched);
  const named = found.roots.filter(({ root }) => roots.includes(root));
  return [
    ...places.flatMap(({ root, fix }) => {
      const { skills = 0 } = found.roots.find((it) => it.root === root) ?? {};
      return listPlaceDiagnostics(root, skills, fix);
    }),
    ...listDeeperDiagnostics(found, deep, settings),
    ...listNearMisses(
      named,
      listSkillDirs(found),
      new Project(settings.options),
    ),
  ];
}

/** Lists the real paths of the directories of all skills, valid or not. */
function listSkillDirs(found: SkillCatalog): string[] {
  const broken = found.skipped.flatMap(({ diagnostics }) =>
    diagnostics.map(({ file }) => realPathOf(dirname(file)))
  );
  // A searched directory is only a skill if it includes itself.
  const searched = found.roots
    .filter(({ root }) => !root.recursive && !root.includesItself)
    .map(({ realPath }) => realPath);
  return [...listAll(found).map((it) => it.realDirectory), ...broken]
    .filter((realPath) => !searched.includes(realPath));
}

/** Whether the user named folders that hold something, and needs no hint about other places. */
function hasUsefulFolders(
  { served, diagnostics }: SkillCatalog,
  { folders, values }: Settings,
): boolean {
  if (values.check) return folders.some(isThere);
  return folders.length > 0 &&
    (served.size > 0 ||
      diagnostics.some(({ rule }) => rule !== "folder-missing"));
}

/** Returns roots that are searched deep for those that are not, the innermost first. */
function deepen(roots: readonly SkillRoot[]): SkillRoot[] {
  return roots.filter(({ recursive }) => !recursive)
    .map((root) => ({ includesItself: false, ...root, recursive: true }))
    .toSorted((a, b) => b.path.length - a.path.length);
}

const ALMOST_SKILLS = ["skill", ...isCaseBlind ? [] : ["Skill", "Skills"]];

const MOVE = 'move its skills to the folder "skills" beside it';

// All of them together would bring old versions, too.
const ADD_A_PLUGIN =
  "Claude Code serves them itself; for another client, add --skill-dir with the folder of the newest version of a plugin in it";

/** A folder where installers, clients, or people put skills. */
interface Place {
  readonly base: string | undefined;
  readonly folder: string;
  /** What to do. Default: add it with `--skill-dir`. */
  readonly fix?: string;
  /** Whether its skills lie at any level. Default: `false`. */
  readonly recursive?: boolean;
}

function listPlaces(settings: Settings): Place[] {
  const { home } = settings;
  const here = currentFolder();
  const anywhere = (folder: string, fix: string) =>
    [home, here].map((base) => ({ base, folder, fix }));
  return [
    ...anywhere(join(".agents", "skills"), "add --agents"),
    ...Object.values(MCP_CLIENTS).flatMap(({ ownSkills = [] }) => ownSkills)
      .filter((folder) => !SHARED_FOLDERS.includes(dirname(join(folder))))
      .map((folder) => ({ base: home, folder, recursive: true })),
    { base: here, folder: "skills", recursive: true },
    {
      base: home,
      folder: join(".claude", "plugins", "cache"),
      fix: ADD_A_PLUGIN,
      recursive: true,
    },
    ...listFoldersAbove(here ?? "").map((base) => {
      const folder = join(".claude", "skills");
      const advice = formatSkillDirFix(join(base, folder), settings);
      const fix = `start the client in that project, or ${advice}`;
      return { base, folder, fix, recursive: true };
    }),
    ...DEFAULT_FOLDERS.flatMap((folder) =>
      ALMOST_SKILLS.flatMap((name) => anywhere(join(folder, name), MOVE))
    ),
  ];
}

/** Lists the places that are not searched, and that the client does not list itself. */
function listUnsearchedPlaces(settings: Settings): UnsearchedPlace[] {
  const { home, roots, values } = settings;
  return listPlaces(settings).flatMap((place) => {
    const { base, folder, fix, recursive = false } = place;
    if (base === undefined) return [];
    const path = base === home
      ? inHome(folder, settings.options)!
      : join(base, folder);
    if (!mayRead(path) || values["name-only"]?.includes(path)) return [];
    // A user who searches a part of it has chosen.
    if (roots.some((root) => isAtOrBelow(root.path, path))) return [];
    const scope = base === home ? "global" : "project";
    const root = { path, scope, recursive } as const;
    return [{ root, fix: fix ?? formatSkillDirFix(path, settings) }];
  });
}

/** Lists the folders above a folder, up to the root of its repository, if it is in one. */
function listFoldersAbove(folder: string): string[] {
  const above: string[] = [];
  for (let last = folder; mayRead(last); last = dirname(last)) {
    if (isThere(join(last, ".git"))) return above;
    if (dirname(last) === last) return [];
    above.push(dirname(last));
  }
  return [];
}

function listPlaceDiagnostics(
  { path: file }: SkillRoot,
  skills: number,
  fix: string,
): Diagnostic[] {
  if (skills === 0) return [];
  const reason = `it has ${count(skills, "skill")} and is not searched`;
  return [{ rule: "not-searched", file, reason, fix }];
}

/** Says which folders in roots hold skills that only a deep search finds. */
function listDeeperDiagnostics(
  found: SkillCatalog,
  deep: readonly SkillRoot[],
  settings: Settings,
): Diagnostic[] {
  const skills = listAll(found);
  const folders = new Set(found.roots.map(({ realPath }) => realPath));
  const known = skills.filter(({ root }) => !deep.includes(root))
    .map(({ realDirectory }) => realDirectory);
  // What is in a skill belongs to it, and a searched folder is not a skill.
  const deeper = skills.filter(({ root, realDirectory }) =>
    deep.includes(root) && !isAtOrBelowAny(realDirectory, known) &&
    !folders.has(realDirectory)
  );
  return deep.toSorted(byScope).flatMap((root) => {
    const inRoot = deeper.filter((skill) => skill.root === root)
      .map(({ directory }) => directory);
    return [...countByHolder(root.path, inRoot)].map(([file, number]) => {
      const skills = count(number, "skill");
      const reason = `it has ${skills} deeper than the server looks`;
      const moved = number === 1 ? "it" : "them";
      const fix = `move ${moved} up, or ${formatSkillDirFix(file, settings)}`;
      return { rule: "not-searched", file, reason, fix };
    });
  });
}

/**
 * Counts folders by the folder directly in the root that holds them, or all together if
 * there are many of those.
 */
function countByHolder(
  root: string,
  folders: readonly string[],
): Map<string, number> {
  const holders = folders.toSorted().map((folder) => childOn(folder, root));
  const isShort = new Set(holders).size <= MAX_DEEPER_LINES;
  const counts = new Map<string, number>();
  for (const holder of isShort ? holders : holders.map(() => root)) {
    counts.set(holder, (counts.get(holder) ?? 0) + 1);
  }
  return counts;
}

/**
 * Says what is wrong with a file that was named as a folder of skills. If it lies among
 * skills, it may be a near miss, or belong there.
 */
export function toNamedMiss(diagnostic: Diagnostic): Diagnostic[] {
  const { rule, file } = diagnostic;
  const path = dirname(file);
  if (rule !== "not-a-folder" || !isNamedSkills(path)) return [diagnostic];
  const found = findFileDiagnostic(file);
  return found === undefined ? [] : [{ ...found, file }];
}

function formatSkillDirFix(folder: string, { home }: Settings): string {
  const word = quoteWord(withTilde(folder, home));
  return isCopyable(word)
    ? `add --skill-dir ${word}`
    : "rename it, because its path has characters that cannot be copied, and add it with --skill-dir";
}
