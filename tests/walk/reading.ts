// The simplest ways to read the disk: paths, globs, and frontmatter.
import { attempt } from "../../src/attempt.ts";
import { basename, dirname, join } from "../../src/fs/paths.ts";

/** Whether a path is a directory or lies in it. */
export function isWithin(path: string, dir: string): boolean {
  return path === dir || path.startsWith(dir.replace(/\/?$/, "/"));
}

export const real = (path: string) => attempt(() => Deno.realPathSync(path));

export const reals = (paths: string[]) =>
  paths.flatMap((path) => real(path) ?? []);

export const isDir = (path: string) =>
  attempt(() => Deno.statSync(path).isDirectory) ?? false;

export const isLink = (path: string) =>
  attempt(() => Deno.lstatSync(path).isSymlink) ?? false;

/** Lists a directory in the order of the names. */
export function list(dir: string): Deno.DirEntry[] {
  const entries = attempt(() => [...Deno.readDirSync(dir)]) ?? [];
  return entries.sort((a, b) => a.name < b.name ? -1 : 1);
}

/** Whether entries with a name belong to a skill. */
export function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__";
}

/** Returns an expression for a name in which an asterisk stands for any text. */
export function namePattern(name: string): RegExp {
  const source = name.split("*").map(RegExp.escape).join(".*");
  return new RegExp(`^${source}$`, "is");
}

/** Finds the main file of a skill, even if it is a dangling link. */
export function findMain(dir: string): string | undefined {
  return ["SKILL.md", "skill.md"].map((name) => join(dir, name))
    .find((file) => attempt(() => Deno.lstatSync(file)) !== undefined);
}

/** What the frontmatter of a skill says, even if it is broken. */
export interface Frontmatter {
  readonly name: string | undefined;
  readonly isValid: boolean;
  readonly forModel: boolean;
  readonly forUser: boolean;
}

/** Reads frontmatter as the walk writes it: one field on each line. */
export function readFrontmatter(file: string): Frontmatter {
  const text = attempt(() => Deno.readTextFileSync(file)) ?? "";
  const field = (name: string) =>
    new RegExp(`^${name}: *(.+)$`, "m").exec(text)?.[1]?.trim();
  const name = field("name");
  // Without an end, there are no fields, and so no flags.
  const isClosed = /^---\n[^]*\n---\n/.test(text);
  return {
    name,
    isValid: isClosed && name !== undefined &&
      field("description") !== undefined,
    forModel: !isClosed || field("disable-model-invocation") !== "true",
    forUser: !isClosed || field("user-invocable") !== "false",
  };
}

export function isInside(path: string, dirs: readonly string[]): boolean {
  return dirs.some((dir) => isWithin(path, dir));
}

/** Returns the path of an entry in the real path of its directory. */
export function locate(path: string): string {
  return join(real(dirname(path)) ?? dirname(path), basename(path));
}

export function namesBelow(dir: string, path: string): string[] {
  return path.slice(dir.length).split("/").filter(Boolean);
}

/** Whether the search for skills skips a directory, below a root that is searched deep. */
export function isUnsearched(name: string): boolean {
  return name === ".git" || name === "node_modules";
}

/** Whether a directory directly in a root is no group, whatever it holds. */
export function isUnused(name: string): boolean {
  return /^[._]|^old$/.test(name) || isUnsearched(name);
}

/**
 * Lists the files of a skill: the path of each, and its real path. Links are
 * followed if their target is the skill's own. No directory is listed in itself.
 */
export function listFiles(
  { path, realPath, main }: Record<"path" | "realPath" | "main", string>,
  { isOwn, isOpen }: Record<"isOwn" | "isOpen", (realPath: string) => boolean>,
): Map<string, string> {
  const files = new Map<string, string>();
  const walk = (dir: string, prefix: string, above: string[]) => {
    for (const { name, isSymlink } of list(dir)) {
      const path = join(dir, name);
      const target = real(path);
      if (target === undefined || !isVisible(name) || !isOpen(target)) continue;
      if ((isSymlink && !isOwn(target)) || above.includes(target)) continue;
      if (!isDir(target)) {
        files.set(path === main ? "SKILL.md" : prefix + name, target);
      } else if (above.length < 10) {
        walk(path, `${prefix}${name}/`, [...above, target]);
      }
    }
  };
  walk(path, "", [realPath]);
  return files;
}
