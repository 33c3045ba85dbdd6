/**
 * The `SKILL.md` of one skill: finding it in a folder, and reading and parsing it.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import { FENCE, MAX_FRONTMATTER_SIZE, readSkillText } from "./frontmatter.ts";
import { lstatIfThere } from "../files/confinement.ts";
import type { Steps } from "../time_slice.ts";
import type { OpenFile } from "../files/open_file.ts";
import { childPath, isCaseBlind, SKILL_MD } from "../files/paths.ts";
import { withoutInvisible } from "../text.ts";
import type { Problem, Skill, SkillRoot, SkillScope } from "./types.ts";

/** A folder that may be a skill or contain skills. */
export interface SkillFolder {
  /** The path through which a root lists it. */
  readonly path: string;
  readonly realPath: string;
  readonly root: SkillRoot;
  /** The scope of its real path. */
  readonly scope: SkillScope;
  /** Where its entry lies: its name in the real path of the folder that lists it. */
  readonly entry: string;
  /** Whether a link of the project leads here. All links below are confined then, too. */
  readonly isConfined: boolean;
  /** The real path of the skill around it, if a search found one. */
  readonly outer: string | undefined;
  /** How many levels it is below the root. */
  readonly depth: number;
}

/** The `SKILL.md` of a skill, or the error of the attempt to find it. */
type FoundFile =
  | { file: string; info: Deno.FileInfo }
  | { file: string; error: unknown };

/** A `SKILL.md` that is not served. */
export interface FaultySkill {
  readonly file: string;
  /**
   * The possible names of the skill: the folder's name, and the name in the
   * frontmatter if that was readable.
   */
  readonly names: readonly string[];
}

/** Finds the `SKILL.md` in a folder, even if it is a dangling link. */
export function* findSkillFile(
  folder: string,
): Steps<FoundFile | undefined> {
  for (const name of SKILL_FILE_NAMES) {
    const file = childPath(folder, name);
    try {
      const info = lstatIfThere(file);
      yield;
      if (info === undefined) continue;
      return { file: childPath(folder, nameOnDisk(name, folder)), info };
    } catch (error) {
      return { file, error };
    }
  }
}

/** Returns a name with its capitalization on disk, which real paths have too. */
function nameOnDisk(name: string, folder: string): string {
  if (!isCaseBlind) return name;
  const key = name.toLowerCase();
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((other) => other.toLowerCase() === key);
  return names.includes(name) ? name : names[0] ?? name;
}

/** The allowed names of a skill's main file, starting with the standard one. */
const SKILL_FILE_NAMES = [SKILL_MD, "skill.md"];

/** What the text of a `SKILL.md` says. */
export interface ParsedSkill {
  readonly outcome: Skill | FaultySkill;
  readonly problems: readonly Problem[];
  /** Whether a flag hides it from the model. */
  readonly isHidden: boolean;
}

/** Parses the text of a `SKILL.md`. */
export function parseSkill(
  { text, excerpt }: SkillHead,
  { file, size, version, folder }: Pick<Skill, "file" | "size" | "version"> & {
    folder: SkillFolder;
  },
): ParsedSkill {
  const said = readSkillText(text);
  const { frontmatter, name, isRepaired, isHiddenFromModel: isHidden } = said;
  const problems = said.problems.map((problem) => ({ file, ...problem }));
  if (frontmatter === undefined) {
    const names = [basename(folder.path), ...name === undefined ? [] : [name]];
    return { outcome: { file, names }, problems, isHidden };
  }
  const outcome: Skill = {
    name: withoutInvisible(frontmatter.name),
    description: withoutInvisible(frontmatter.description),
    frontmatter,
    ...isRepaired && { isRepaired },
    excerpt,
    directory: folder.path,
    realDirectory: folder.realPath,
    file,
    size,
    version,
    scope: folder.scope,
    root: folder.root,
  };
  return { outcome, problems, isHidden };
}

/** The maximum length of a name in a report, in characters. */
export const MAX_SHOWN_NAME = 200;

/** How much of a `SKILL.md` is read first, in bytes. Most frontmatter is shorter. */
const SHORT_HEAD_SIZE = 2 * 1024;

/** A shared buffer for the beginnings of files, because a scan reads many files. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + 1);

const headDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** How much of the instructions is kept for searching, in bytes. */
const EXCERPT_SIZE = 800;

/** The beginning of a `SKILL.md`. */
export interface SkillHead {
  /**
   * The frontmatter. It is a text of its own, because the strings that are parsed
   * from a text keep the whole text in memory.
   */
  readonly text: string;
  /** What follows it. */
  readonly excerpt: Uint8Array;
}

/** Reads the beginning of a `SKILL.md`. */
export function readHead(file: OpenFile): SkillHead {
  let length = 0;
  for (let limit = SHORT_HEAD_SIZE;; limit = headBuffer.length) {
    const read = file.read(headBuffer.subarray(length, limit));
    length += read;
    const isWhole = read === 0 || length === headBuffer.length;
    const bytes = headBuffer.subarray(0, length);
    const end = findFrontmatterEnd(bytes) ?? (isWhole ? length : undefined);
    if (end === undefined) continue;
    return {
      text: headDecoder.decode(bytes.subarray(0, end)),
      excerpt: bytes.slice(end, end + EXCERPT_SIZE),
    };
  }
}

/** Whether the beginning of a `SKILL.md` is the same as before. */
export function isSameHead(
  { text, excerpt }: SkillHead,
  before: SkillHead | undefined,
): boolean {
  return text === before?.text && excerpt.length === before.excerpt.length &&
    excerpt.every((byte, index) => byte === before.excerpt[index]);
}

/** Returns the end of the line that closes the frontmatter, if there is one. */
function findFrontmatterEnd(bytes: Uint8Array): number | undefined {
  return FRONTMATTER.exec(byteDecoder.decode(bytes))?.[0].length;
}

/** Decodes each byte to one character. */
const byteDecoder = new TextDecoder("latin1");

/** Frontmatter after an optional byte order mark, as bytes. */
const FRONTMATTER = new RegExp(
  String.raw`^(?:\xef\xbb\xbf)?${FENCE}\n(?:[^]*?\n)??${FENCE}\n`,
);
