/** Reads the files of a skill for the model: one, all in a directory, or their list. */

import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import { attempt } from "../attempt.ts";
import { type Diagnostic, isAboutSymlink } from "../diagnostics.ts";
import { isAbsolute, isAtOrBelow, relative } from "../fs/paths.ts";
import { escapeInvisible } from "../invisible.ts";
import { splitPath } from "../skills/files.ts";
import { lookUpUri } from "../skills/lookup.ts";
import { SKILL_MD, skillFileUri } from "../skills/names.ts";
import type { Skill, SkillFile } from "../skills/types.ts";
import { inTurns } from "../tasks.ts";
import { count, normalizeText, quote } from "../text.ts";
import { MAX_LIST_LENGTH, takeFitting } from "./lists.ts";
import { logLoad, requireAccepted } from "./loading.ts";
import { mediaTypeOfName, resourceContents } from "./media_types.ts";
import type { RequestContext } from "./options.ts";
import { createTextResult, MAX_RESULT_SIZE, sizeOf } from "./results.ts";

type Content = CallToolResult["content"][number];

/**
 * Makes an absolute path or a URI relative to the skill's directory, because some models
 * pass absolute paths. Clients on other machines do not know the directory.
 */
export function pathInSkill(
  skill: Skill,
  path: string,
  { options, registry: { catalog } }: RequestContext,
): string {
  const found = lookUpUri(path, catalog);
  if (found?.skill === skill) return found.path ?? SKILL_MD;
  if (options.isRemote || !isAbsolute(path)) return path;
  const { directory, realDirectory, file } = skill;
  if (path === file) return SKILL_MD;
  const base = [directory, realDirectory].find((dir) => isAtOrBelow(path, dir));
  return base === undefined ? path : relative(base, path);
}

/** Reads a path as it is written, or else as a model may mean it. The first error counts. */
export async function readAsMeant<T>(
  path: string,
  read: (path: string) => Promise<T>,
): Promise<T> {
  const errors: unknown[] = [];
  for (const meant of listMeantPaths(path)) {
    try {
      return await read(meant);
    } catch (error) {
      errors.push(error);
    }
  }
  throw errors[0];
}

/**
 * Lists a path as it is; without a fragment, percent-encoding, backslashes, and a leading
 * slash; and that with composed letters, or decomposed ones, as in archives from macOS.
 */
function listMeantPaths(path: string): Set<string> {
  const [beforeFragment = ""] = path.split("#", 1);
  const decoded = attempt(() => decodeURIComponent(beforeFragment)) ?? path;
  const meant = decoded.replaceAll("\\", "/").replace(/^\//, "");
  return new Set([
    path,
    meant,
    normalizeText(meant),
    normalizeText(meant, "NFD"),
  ]);
}

/** Reads a file, reads all files of a directory, or lists the files if the path is empty. */
export async function readPath(
  skill: Skill,
  path: string,
  context: RequestContext,
): Promise<CallToolResult> {
  if (path.trim() === "") return await describeFiles(skill, context);
  try {
    return { content: [await readContent(skill, path, context)] };
  } catch (error) {
    const content = await readDir(skill, path, context);
    if (content.length === 0) throw error;
    return { content };
  }
}

/** @throws {Error} If the file cannot be read, or the client accepts no result of its size. */
export async function readContent(
  skill: Skill,
  path: string,
  context: RequestContext,
): Promise<Content> {
  const file = await context.registry.readFile(skill, path, {
    viewer: "model",
  });
  const isNamedText = mediaTypeOfName(file.path)?.startsWith("text/");
  if (file.text === undefined && isNamedText) {
    throw new Error(
      `Cannot read ${
        quote(file.path)
      }: it is a text file, but not in UTF-8; ask the user to save it as UTF-8`,
    );
  }
  const uri = skillFileUri(skill, file.path);
  const content: Content = file.text === undefined
    ? { type: "resource", resource: resourceContents(uri, file) }
    : { type: "text", text: file.text };
  requireAccepted(content, skill, file.path, context);
  if (file.path === SKILL_MD) logLoad(skill, "with a tool", context);
  return content;
}

/** Reads all files of a directory. Returns nothing if there are none. */
async function readDir(
  skill: Skill,
  dir: string,
  context: RequestContext,
): Promise<Content[]> {
  const prefix = [...splitPath(dir) ?? [dir], ""].join("/");
  const { files, skipped } = await context.registry
    .listFiles(skill, { viewer: "model" });
  const inDir = files.filter(({ path }) => path.startsWith(prefix));
  if (inDir.length === 0) return [];
  const { maxResultSize } = context.profile;
  const readNext = ({ path }: SkillFile) => readInDir(skill, path, context);
  const contents = await readTogether(inDir, readNext, maxResultSize);
  const missing = skipped.filter(({ file }) => file.startsWith(prefix));
  const notes = createTextResult(...formatSkipped(missing));
  return [...contents, ...notes.content];
}

/** Reads one of several files, with its path. If that fails, returns the reason. */
async function readInDir(
  skill: Skill,
  path: string,
  context: RequestContext,
): Promise<Content> {
  const content = await readContent(skill, path, context)
    .catch(({ message }: Error): Content => ({ type: "text", text: message }));
  if (content.type !== "text") return content;
  const text = `--- ${escapeInvisible(path)} ---\n${content.text}`;
  return { ...content, text };
}

/**
 * Reads files for one result.
 *
 * @param limit The largest result, in bytes of JSON.
 * @throws {Error} If the result would be larger.
 */
export async function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => Promise<T>,
  limit: number = MAX_RESULT_SIZE,
): Promise<T[]> {
  const contents: T[] = [];
  let size = 0;
  for await (const file of inTurns(files)) {
    const content = await read(file);
    size += sizeOf(content);
    if (size > limit) {
      const names = listNamed(files.map(({ path }) => quote(path))).join(", ");
      const all = count(files.length, "file");
      throw new Error(
        `Cannot return ${all} at once: the limit is ${limit} bytes of JSON; read them one by one: ${names}`,
      );
    }
    contents.push(content);
  }
  return contents;
}

async function describeFiles(
  skill: Skill,
  context: RequestContext,
): Promise<CallToolResult> {
  const { files, skipped } = await context.registry
    .listFiles(skill, { viewer: "model" });
  const lines = files.map(({ path }) => `\n- ${escapeInvisible(path)}`);
  const shown = takeFitting(lines, MAX_LIST_LENGTH, ({ length }) => length);
  const missing = files.slice(shown.length);
  const more = missing.length > 0 ? `\n${formatMissing(missing)}` : "";
  const list = `Files of the skill ${quote(skill.name)}:\n${
    shown.join("")
  }${more}`;
  return createTextResult([list, ...formatSkipped(skipped)].join("\n\n"));
}

/** Says how many files a list leaves out, and in which directories of the skill. */
function formatMissing(files: readonly SkillFile[]): string {
  const dirs = files.filter(({ path }) => path.includes("/"))
    .map(({ path }) => quote(path.split("/")[0]!));
  const names = listNamed([...new Set(dirs)]).join(", ");
  const place = names === "" ? "" : `, also in ${names}`;
  return `(and ${files.length} more${place})`;
}

const MAX_NAMED = 20;

/** Returns the first items, and how many more there are. */
function listNamed(items: readonly string[]): string[] {
  const more = items.length - MAX_NAMED;
  return more > 0
    ? [...items.slice(0, MAX_NAMED), `(and ${more} more)`]
    : [...items];
}

/**
 * Lists the entries that are left out, with reasons. A symlink that leads outside the
 * skill, or nowhere, is not mentioned, as if it did not exist.
 */
function formatSkipped(diagnostics: readonly Diagnostic[]): string[] {
  const named = diagnostics.filter((it) => !isAboutSymlink(it));
  if (named.length === 0) return [];
  const lines = listNamed(
    named.map(({ file, reason }) => `- ${quote(file)}: ${reason}`),
  );
  return [`Skipped:\n\n${lines.join("\n")}`];
}
