/**
 * Serves the Skills extension of MCP: the skills with the digests of all their files,
 * and their directories.
 *
 * @see
 *   {@link https://github.com/modelcontextprotocol/ext-skills/blob/main/specification/stable/skills.mdx}
 */

import type { Resource, Result } from "npm:@modelcontextprotocol/server@^2.4.0";
import type { DiagnosticDetails } from "../diagnostics.ts";
import { escapeInvisible } from "../invisible.ts";
import { remember } from "../remember.ts";
import { sha256 } from "../skills/files.ts";
import { findUnlistingReason, MAX_LISTED_ENTRIES } from "../skills/limits.ts";
import { lookUpUri } from "../skills/lookup.ts";
import { SKILL_MD, skillFileUri, skillMdUri } from "../skills/names.ts";
import { readSkillMd } from "../skills/skill_md.ts";
import type { SkillSource } from "../skills/source.ts";
import type { Skill } from "../skills/types.ts";
import { inTurns, SharedTask } from "../tasks.ts";
import { quoteSent, stringifyJson } from "../text.ts";
import { globalFirst, listEntries, type SkillEntry } from "../views/entries.ts";
import { mediaTypeOfName } from "../views/media_types.ts";
import { MAX_RESULT_SIZE, sizeOf } from "../views/results.ts";
import {
  type Handlers,
  InvalidParamsError,
  pageOf,
  unknownUri,
} from "./requests.ts";
import { requireResource } from "./resources.ts";

export const SKILLS_EXTENSION = "io.modelcontextprotocol/skills";

/** The size of a page of skills, in bytes of JSON. A single skill can take more. */
const MAX_PAGE_SIZE = MAX_RESULT_SIZE / 2;

/** The media type of directories, as the extension names it. */
const DIR_TYPE = "inode/directory";

/** A skill, as the extension describes it. */
interface Manifest {
  readonly uri: string;
  readonly frontmatter: unknown;
  readonly resources: readonly {
    readonly uri: string;
    readonly digest: string;
    readonly size: number;
  }[];
}

export const EXTENSION_HANDLERS: Handlers = {
  "skills/list": async (params, { registry }) => {
    const all = globalFirst(listEntries("host", registry.catalog));
    const page = pageOf("skills", all, params?.cursor);
    const [first] = page.skills;
    return first === undefined
      ? page
      : await loadsOf(registry)(first.skill).run(() =>
        loadPage(page, all, registry)
      );
  },
  "skills/get": async ({ uri }, { registry }) => ({
    skill: await requireManifest(uri, registry),
  }),
  "resources/directory/read": async ({ uri, cursor }, { registry }) => {
    const resources = await listDir(uri, registry);
    return pageOf("resources", resources, cursor);
  },
};

/**
 * Returns the task that loads the page that begins with a skill. Requests during a load
 * share the next one, because each reads the files of up to 1,000 skills.
 */
const loadsOf = remember((_: SkillSource) =>
  remember((_: Skill) => new SharedTask<Result>())
);

/** Loads the manifests of a page, which ends sooner if they take too much room. */
async function loadPage(
  page: { readonly skills: readonly SkillEntry[] },
  all: readonly SkillEntry[],
  registry: SkillSource,
): Promise<Result> {
  const skills: Manifest[] = [];
  let size = 0;
  for await (const { skill } of inTurns(page.skills)) {
    // `skills/get` and `--list` explain why a skill is left out.
    const manifest = await loadManifest(skill, registry).catch(() => undefined);
    if (manifest === undefined) continue;
    size += sizeOf(manifest);
    if (size > MAX_PAGE_SIZE && skills.length > 0) {
      const position = all.findIndex((it) => it.skill === skill);
      return { skills, nextCursor: `${position}` };
    }
    skills.push(manifest);
  }
  return { ...page, skills };
}

/** @throws {Error} If no skill is listed under the URI, or hosts cannot load it. */
async function requireManifest(
  uri: string,
  registry: SkillSource,
): Promise<Manifest> {
  const { skill } = lookUpUri(uri, registry.catalog) ?? {};
  if (skill === undefined || skillMdUri(skill) !== uri) {
    const advice =
      "pass a URI that skills/list returns, such as skill://pdf/SKILL.md";
    throw unknownUri("skill", uri, advice);
  }
  try {
    return await loadManifest(skill, registry);
  } catch (error) {
    const { message } = error as Error;
    const reason = `Cannot get the skill ${quoteSent(uri)}: ${message}`;
    throw new InvalidParamsError(reason, uri);
  }
}

/**
 * Creates the manifest of a skill: its frontmatter, and the digests of its files. The
 * frontmatter and the digest of its `SKILL.md` come from the same bytes.
 *
 * @throws {Error} If hosts cannot load the skill.
 */
async function loadManifest(
  skill: Skill,
  registry: SkillSource,
): Promise<Manifest> {
  const maxEntries = MAX_LISTED_ENTRIES;
  const contents = await registry.listFiles(skill, { maxEntries });
  const main = await registry.readFile(skill, SKILL_MD);
  const { frontmatter, diagnostic } = readSkillMd(main.bytes);
  if (frontmatter === undefined) throw toError(diagnostic);
  const isRepaired = diagnostic !== undefined;
  const current = { ...skill, frontmatter, isRepaired };
  const unlisting = findUnlistingReason(current, contents);
  if (unlisting !== undefined) throw toError(unlisting);
  if (frontmatter.name !== skill.name) {
    throw new Error("the skill was renamed; list the skills again");
  }
  const resources = [];
  for await (const file of inTurns(contents.files)) {
    const uri = skillFileUri(skill, file.path);
    const digested = file.path === SKILL_MD
      ? { digest: sha256(main.bytes), size: main.size }
      : await registry.digest(skill, file);
    resources.push({ uri, ...digested });
  }
  // YAML can write half a surrogate pair, which strict parsers of JSON refuse.
  const wellFormed = JSON.parse(stringifyJson(frontmatter));
  return { uri: skillMdUri(skill), frontmatter: wellFormed, resources };
}

function toError({ reason, fix }: DiagnosticDetails): Error {
  return new Error(`${reason}; ${fix}`);
}

/**
 * Lists the files and directories directly in a directory of a skill, sorted as the
 * files in them are.
 *
 * @throws {InvalidParamsError} If there is no such directory.
 */
async function listDir(
  uri: string,
  registry: SkillSource,
): Promise<Resource[]> {
  const { skill, path: dir } = requireResource(
    uri.replace(/(?<!\/)\/$/, ""),
    registry,
  );
  const prefix = dir ? `${dir}/` : "";
  const { files } = await registry.listFiles(skill);
  const inDir = files.filter(({ path }) => path.startsWith(prefix));
  if (inDir.length === 0) {
    const advice =
      "pass a skill, or a folder in it that holds files, such as skill://pdf or skill://pdf/references";
    throw unknownUri("folder", uri, advice);
  }
  const children = new Map<string, Resource>();
  for (const { path, size } of inDir) {
    const [name = "", ...rest] = path.slice(prefix.length).split("/");
    const isDir = rest.length > 0;
    const details = isDir
      ? { mimeType: DIR_TYPE }
      : { mimeType: mediaTypeOfName(path), size };
    children.set(isDir ? `${name}/` : name, {
      uri: skillFileUri(skill, prefix + name),
      name: escapeInvisible(name),
      ...details,
    });
  }
  return [...children.keys()].sort().map((key) => children.get(key)!);
}
