// deno-lint-ignore-file no-import-prefix -- a file run from a URL has no deno.json to map bare specifiers with

/**
 * Finds [Agent Skills](https://agentskills.io/specification) (folders with a
 * `SKILL.md`: YAML frontmatter, then Markdown) and serves them to any client of
 * the [Model Context Protocol](https://modelcontextprotocol.io) over stdio.
 *
 * ## As a server
 *
 * Run as the main module it is an MCP server. It needs two permissions, and
 * asks for no other: `--allow-read` to read skills and `--allow-env` to know
 * the home folder and `SKILLS_DIR`.
 *
 * ```sh
 * deno run --allow-read --allow-env jsr:@skill-server/skill-server
 * ```
 *
 * ## As a library
 *
 * The scanner, the registry and the tools can be used on their own.
 *
 * ```ts
 * import { SkillRegistry } from "@skill-server/skill-server";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * await registry.refresh();
 *
 * const skill = registry.find("GIT"); // names are matched without regard to case
 * if (skill?.description !== "Review, commit and push changes with git") {
 *   throw new Error("The skill was not found");
 * }
 * const { text } = registry.readFile(skill, "SKILL.md");
 * console.log(text);
 * ```
 *
 * @module
 */

import {
  basename,
  dirname,
  isAbsolute,
  join,
  normalize,
  relative,
  resolve,
} from "jsr:@std/path@^1";
import { parse as parseYaml } from "jsr:@std/yaml@^1";
import * as z from "npm:zod@^4";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import {
  CallToolRequestSchema,
  ListToolsRequestSchema,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import type {
  CallToolResult,
  Result,
  Tool,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types";

// ---------------------------------------------------------------------------
// Limits
// ---------------------------------------------------------------------------

const isWindows = Deno.build.os === "windows";

/** Whether names that differ in the case of their letters alone are those of one file. */
const isCaseBlind = isWindows || Deno.build.os === "darwin";

/** What stands between the names in a path. */
const SEPARATOR = isWindows ? "\\" : "/";

/** Largest file that is read or served unless the caller says otherwise, in bytes. */
export const DEFAULT_MAX_FILE_SIZE: number = 1024 * 1024;

/** Seconds between two rescans unless the caller says otherwise. */
export const DEFAULT_REFRESH_SECONDS = 30;

/** How much of what was read is kept, in bytes. */
const MAX_CONTENTS_SIZE = 4 * 1024 * 1024;

/** How many entries a folder may have to be remembered. */
const MAX_KNOWN_ENTRIES = 1_000;

/** How many digests of files are kept. */
const MAX_DIGESTS = 100_000;

/** How much may be waiting to be written to stderr, in characters. */
const MAX_LOG_SIZE = 256 * 1024;

/** Largest frontmatter, in bytes, its two `---` lines included. */
const MAX_FRONTMATTER_SIZE = 64 * 1024;

/** How much of a `SKILL.md` is read first, in bytes: most frontmatter is shorter. */
const SHORT_HEAD_SIZE = 2 * 1024;

/** How many levels below a recursive root skills are searched. */
const MAX_SEARCH_DEPTH = 6;

/** How many folders are looked into below one root. */
const MAX_SEARCHED_FOLDERS = 50_000;

/** How many names the path of a file may have below its skill directory. */
const MAX_FILE_DEPTH = 10;

/** How many entries of one skill's folders are looked at to list its files. */
const MAX_WALKED_ENTRIES = 20_000;

/** How long a scan, or another long work, may hold the event loop at a time, in milliseconds. */
const SLICE_MS = 10;

/**
 * A file that changed less than this before it was read can change again
 * without its times telling, in milliseconds. FAT keeps times to two seconds.
 */
const RACY_MS = 2_000;

/** A burst of file system events ends when it was quiet for this long, in milliseconds. */
const WATCH_QUIET_MS = 100;

/** A burst of file system events is looked at after this long at the latest, in milliseconds. */
const WATCH_BURST_MS = 1_000;

/** How long watchers are closed before their folders are watched anew, in milliseconds. */
const REOPEN_MS = 10;

/** How many `Deno.FsWatcher`s may pile up before they are merged into one. */
const MAX_WATCHERS = 8;

/** Up to this many skills the answer to an unknown name lists them all. */
const MAX_LISTED_SKILLS = 100;

/** How many skills, or files, it lists where there are more. */
const NEAREST_SKILLS = 20;

/** How many words of a name that is not found are looked for. */
const MAX_SEARCH_WORDS = 20;

/** How many characters of a name that is not found are repeated. */
const MAX_ECHO_LENGTH = 200;

/** How much files that are read together may have, in bytes. */
const MAX_FILES_SIZE = 16 * 1024 * 1024;

/** How long a shell command may run unless the caller says otherwise, in seconds. */
const DEFAULT_SHELL_TIMEOUT = 60;

/** How much of each of a shell command's two outputs is kept, in bytes. */
const MAX_OUTPUT_SIZE = 256 * 1024;

/** How long the output of a process that has ended is waited for, in milliseconds. */
const OUTPUT_GRACE_MS = 500;

// ---------------------------------------------------------------------------
// Types
// ---------------------------------------------------------------------------

/** Where a skill comes from: the project worked in, or the user's own folders. */
export type SkillScope = "project" | "global";

/** A folder that holds skill folders. */
export interface SkillRoot {
  /** The folder's path as configured. */
  readonly path: string;
  /** Which scope its skills have. Links in a project's root are held to {@linkcode ScanOptions.linkTargets}. */
  readonly scope: SkillScope;
  /** Whether skills are searched in its subfolders too, or directly under it only. */
  readonly recursive: boolean;
}

/**
 * The frontmatter of a `SKILL.md`, verbatim.
 *
 * @see {@link https://agentskills.io/specification#frontmatter}
 */
export interface SkillFrontmatter {
  /** The skill's name. */
  readonly name: string;
  /** What the skill does and when to use it. */
  readonly description: string;
  /** Whatever else the author wrote. */
  readonly [field: string]: unknown;
}

/** A skill that was found. */
export interface Skill {
  /** The name as its frontmatter writes it. */
  readonly name: string;
  /** The description as its frontmatter writes it. */
  readonly description: string;
  /** The whole frontmatter. */
  readonly frontmatter: SkillFrontmatter;
  /** The skill directory as configured: what to tell people. */
  readonly directory: string;
  /** The skill directory with all links resolved: the boundary of its files. */
  readonly realDirectory: string;
  /** The path of its `SKILL.md` below {@linkcode Skill.directory}. */
  readonly file: string;
  /** The size of its `SKILL.md` when it was scanned, in bytes. */
  readonly size: number;
  /** The {@linkcode SkillFile.version} of its `SKILL.md` when it was scanned. */
  readonly version: string;
  /** The scope of its root. */
  readonly scope: SkillScope;
  /** The root it was found in. */
  readonly root: SkillRoot;
}

/** Why something that looks like a skill or a root is not served. */
export interface SkillProblem {
  /** The file or folder it is about. */
  readonly file: string;
  /** What is the matter. */
  readonly reason: string;
  /** How to mend it. */
  readonly hint: string;
  /** The line of {@linkcode SkillProblem.file} it is about, from 1. */
  readonly line?: number;
  /** What the skill may be called: its folder's name, and its own where that could be read. */
  readonly names?: readonly string[];
}

/** A skill whose name another one, found earlier, has taken. */
export interface ShadowedSkill {
  /** The skill that is not served. */
  readonly skill: Skill;
  /** The skill that is served under its name. */
  readonly by: Skill;
}

/** What became of a root in a scan. */
export interface SkillRootReport {
  /** The root. */
  readonly root: SkillRoot;
  /** Whether it was searched, is not there, or may not be read. */
  readonly status: "found" | "missing" | "refused";
  /** Its path with all links resolved, if it was searched. */
  readonly realPath?: string;
  /** How many skills were found in it, shadowed ones included. */
  readonly skills: number;
}

/** What a scan found: a snapshot that never changes. */
export interface SkillCatalog {
  /** The skills by {@linkcode skillKey}, in the order of their keys. */
  readonly skills: ReadonlyMap<string, Skill>;
  /** What was skipped and why. */
  readonly problems: readonly SkillProblem[];
  /** Skills that another one of the same name hides. */
  readonly shadowed: readonly ShadowedSkill[];
  /** The roots in their order. */
  readonly roots: readonly SkillRootReport[];
  /** Counts the snapshots of one chain of scans. The same number means the same content. */
  readonly revision: number;
}

/** How files are reached. */
export interface FileAccessOptions {
  /** Largest file that is read, in bytes. Default: {@linkcode DEFAULT_MAX_FILE_SIZE}. */
  readonly maxFileSize?: number;
  /** Folders that count as inside every skill that links to them. */
  readonly trustLinks?: readonly string[];
}

/** Options of {@linkcode scanSkillRoots}. */
export interface ScanOptions extends FileAccessOptions {
  /**
   * Folders that links in a root of scope "project" may lead into, beside
   * {@linkcode FileAccessOptions.trustLinks} and the roots of scope "global",
   * so that a cloned repository cannot publish folders of its user.
   * Default: the working directory.
   */
  readonly linkTargets?: readonly string[];
}

/** A file of a skill. */
export interface SkillFile {
  /** Its path in the skill directory, with `/` between names. */
  readonly path: string;
  /** Its size in bytes. */
  readonly size: number;
  /** Changes whenever the file does: made of its device, inode, size and times. */
  readonly version: string;
  /** Whether it changed so lately that it may change again with the same version. */
  readonly isRacy: boolean;
}

/** A file of a skill, read. */
export interface SkillFileContent extends SkillFile {
  /** The file's bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The bytes as UTF-8, to the letter, or `undefined` where they are not UTF-8. */
  readonly text: string | undefined;
}

/** What a refresh changed that a client can see. */
export interface SkillChange {
  /** The catalog as it is now. */
  readonly catalog: SkillCatalog;
  /** The catalog as it was. */
  readonly previous: SkillCatalog;
  /** The keys of the skills that are new, gone, or have another `SKILL.md` than before. */
  readonly keys: ReadonlySet<string>;
  /** The paths of the other files that are new, gone or changed, by the keys of their skills, as far as those are tracked. */
  readonly files: ReadonlyMap<string, ReadonlySet<string>>;
}

/** `SKILL.md` cannot be understood. */
export class SkillSyntaxError extends SyntaxError {
  /** What is the matter. */
  readonly reason: string;
  /** The line it is about, from 1. */
  readonly line: number;
  /** How to mend it. */
  readonly hint: string;

  /** Makes an error that tells the reason, the line, and how to mend it. */
  constructor(reason: string, line: number, hint: string) {
    super(`Cannot parse SKILL.md: ${reason} (line ${line}); ${hint}`);
    this.name = "SkillSyntaxError";
    this.reason = reason;
    this.line = line;
    this.hint = hint;
  }
}

/** A file of a skill cannot be had. */
export class SkillFileError extends Error {
  /** What is the matter. */
  readonly reason: string;
  /** How to mend it. */
  readonly hint: string;
  /** Makes an error that tells the file, the reason, and how to mend it. */
  constructor(path: string, fault: { reason: string; hint: string }) {
    super(`Cannot read ${quote(path)}: ${fault.reason}; ${fault.hint}`);
    this.name = "SkillFileError";
    this.reason = fault.reason;
    this.hint = fault.hint;
  }
}

// ---------------------------------------------------------------------------
// Text
// ---------------------------------------------------------------------------

/** Lines on their way to stderr, and how many characters they have. */
let logging: Promise<void> = Promise.resolve();
let loggingSize = 0;

/**
 * Writes a line for people to stderr. Stdout belongs to the protocol.
 *
 * It does not wait: a client that never reads its server's stderr must not
 * stop it. What piles up past 256 KiB is dropped.
 *
 * @param line The line, with no line break at its end.
 */
export function log(line: string): void {
  const text = `skill-server: ${oneLine(line)}\n`;
  if (loggingSize + text.length > MAX_LOG_SIZE) return;
  loggingSize += text.length;
  logging = logging.then(() => writeToStderr(text)).then(() => {
    loggingSize -= text.length;
  });
}

/**
 * Fulfilled when all lines logged so far are written.
 *
 * @internal
 */
export function logged(): Promise<void> {
  return logging;
}

async function writeToStderr(text: string): Promise<void> {
  try {
    const writer = Deno.stderr.writable.getWriter();
    try {
      await writer.write(new TextEncoder().encode(text));
    } finally {
      writer.releaseLock();
    }
  } catch {
    // Nobody is left to read it, which is no reason to stop serving.
  }
}

/**
 * Puts a value in quotes, with what a terminal would act on escaped.
 *
 * @internal
 */
export function quote(value: string): string {
  return `"${escapeControls(value)}"`;
}

/**
 * Escapes what a terminal would act on.
 *
 * @internal
 */
export function escapeControls(text: string): string {
  return text.toWellFormed().replace(
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    /[\u0000-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/g,
    (character) =>
      `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/**
 * Joins the lines of a text and drops its control characters.
 *
 * @internal
 */
export function oneLine(text: string): string {
  return withoutControls(text.replace(/\s+/g, " ")).trim();
}

/** Drops control characters, but for the tab and the line feed. */
function withoutControls(text: string): string {
  return text.toWellFormed().replace(
    // deno-lint-ignore no-control-regex -- control characters are what is looked for
    /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g,
    "",
  );
}

/** Escapes a text for XML, so that it cannot end the element it stands in. */
function escapeXml(text: string): string {
  return withoutControls(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

/**
 * Writes a value as JSON of several lines, with what a terminal would act on escaped.
 *
 * @internal
 */
export function jsonText(value: unknown): string {
  const lines = JSON.stringify(value, null, 2).split("\n");
  return `${lines.map(escapeControls).join("\n")}\n`;
}

/** Orders texts by their UTF-16 code units: the same everywhere, in any locale. */
function byCodeUnits(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// ---------------------------------------------------------------------------
// Frontmatter
// ---------------------------------------------------------------------------

/**
 * Reads the frontmatter of a `SKILL.md`: after an optional byte order mark the
 * first line is `---`, a later line `---` closes it (blanks may follow, CRLF is
 * fine), and between them stands a YAML mapping whose `name` and `description`
 * are texts with something in them. Dates stay texts (YAML's core schema).
 *
 * ```ts
 * import { parseSkillMd } from "@skill-server/skill-server";
 *
 * const { name } = parseSkillMd("---\nname: pdf\ndescription: Fill forms\n---\n");
 * if (name !== "pdf") throw new Error(name);
 * ```
 *
 * @see {@link https://agentskills.io/specification#skill-md-format}
 *
 * @param text The text of a `SKILL.md`.
 * @returns The frontmatter, verbatim.
 * @throws {SkillSyntaxError} If there is no such frontmatter, or it is larger than 64 KiB.
 */
export function parseSkillMd(text: string): SkillFrontmatter {
  const { yaml } = splitSkillMd(text);
  const value = parseMapping(yaml);
  for (const field of ["name", "description"]) {
    requireText(value, { field, yaml });
  }
  return value as SkillFrontmatter;
}

/**
 * Splits a `SKILL.md` into the YAML between its two `---` lines and the Markdown
 * after them.
 *
 * @internal
 * @throws {SkillSyntaxError} If there are no such lines.
 */
export function splitSkillMd(text: string): { yaml: string; body: string } {
  const start = text.startsWith("\ufeff") ? 1 : 0;
  const opening = lineEnd(text, start);
  if (!isFence(text.slice(start, opening))) {
    throw new SkillSyntaxError(
      "there is no frontmatter",
      1,
      'make "---" the first line, then name: and description:, then "---" again',
    );
  }
  let line = opening + 1;
  while (line < text.length && line <= MAX_FRONTMATTER_SIZE) {
    const end = lineEnd(text, line);
    if (isFence(text.slice(line, end)) && !isTooLarge(text, end)) {
      const yaml = text.slice(opening + 1, line);
      return { yaml, body: text.slice(end + 1) };
    }
    line = end + 1;
  }
  if (isTooLarge(text, text.length)) {
    throw new SkillSyntaxError(
      "the frontmatter does not end within 64 KiB",
      1,
      'close it with a line "---", and move what is long into the body',
    );
  }
  throw new SkillSyntaxError(
    "the frontmatter does not end",
    1,
    'close it with a line "---" before the Markdown begins',
  );
}

/** Whether the first `end` characters are more bytes than a frontmatter may have. */
function isTooLarge(text: string, end: number): boolean {
  if (end * 3 <= MAX_FRONTMATTER_SIZE) return false;
  return new TextEncoder().encode(text.slice(0, end)).length >
    MAX_FRONTMATTER_SIZE;
}

/** Returns where the line that begins at `start` ends. */
function lineEnd(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end === -1 ? text.length : end;
}

function isFence(line: string): boolean {
  return /^---[ \t]*\r?$/.test(line);
}

function parseMapping(yaml: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseYaml(yaml, { schema: "core" });
  } catch (error) {
    throw yamlFault(error as Error, yaml);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new SkillSyntaxError(
      "the frontmatter is not a YAML mapping",
      2,
      'write it as "name: …" and "description: …", a line each',
    );
  }
  return value as Record<string, unknown>;
}

/** Turns what the YAML parser throws into an error that says how to mend it. */
function yamlFault(error: Error, yaml: string): SkillSyntaxError {
  if (error instanceof RangeError) {
    return new SkillSyntaxError(
      "the YAML is nested too deeply",
      2,
      "write it flat",
    );
  }
  const place = /^(.*?) at line (\d+), column \d+/s.exec(error.message);
  const reason = oneLine(place?.[1] ?? error.message.split("\n")[0]!);
  const lines = yaml.trimEnd().split("\n");
  // What is wrong with the last line some parsers see in the one after it.
  const line = Math.min(Number(place?.[2] ?? 1), lines.length);
  return new SkillSyntaxError(
    `the YAML is malformed: ${reason}`,
    line + 1,
    yamlHint(lines[line - 1]!),
  );
}

function yamlHint(line: string): string {
  if (/^\s*\t/.test(line)) return "indent with spaces, not with tabs";
  if (/^\s*[\w-]+:\s+[^"'|>\s].*(:\s|\s#|:$)/.test(line)) {
    return 'put the value in double quotes, since it holds ": " or " #"';
  }
  if (/^\s*[\w-]+:\s+[@`%&*!{}[\]>|"'-]/.test(line)) {
    return "put the whole value in double quotes, since its first character means something in YAML";
  }
  return "check this line and the one before: quotes, colons, indentation";
}

function requireText(
  frontmatter: Record<string, unknown>,
  { field, yaml }: { field: string; yaml: string },
): void {
  const value = frontmatter[field];
  if (typeof value === "string" && value.trim() !== "") return;
  if (!Object.hasOwn(frontmatter, field)) {
    const similar = Object.keys(frontmatter).find((key) =>
      key.toLowerCase() === field
    );
    throw new SkillSyntaxError(
      `the field ${quote(field)} is missing`,
      similar ? lineOf(similar, yaml) : 1,
      similar
        ? `write ${quote(similar)} in lower case`
        : `add a line "${field}: …" to the frontmatter`,
    );
  }
  const isEmpty = value === null || typeof value === "string";
  throw new SkillSyntaxError(
    `the field ${quote(field)} is ${isEmpty ? "empty" : "not a text"}`,
    lineOf(field, yaml),
    isEmpty ? `write something after "${field}:"` : "put its value in quotes",
  );
}

/**
 * Returns the line of a `SKILL.md` that a field of its frontmatter begins on.
 *
 * @internal
 */
export function lineOf(field: string, yaml: string): number {
  const keys = yaml.split("\n").map((line) => {
    const [key] = line.split(":", 1);
    return key!.trimEnd().replace(/^["']|["']$/g, "");
  });
  // What is indented is a field of another one, or all of them are.
  const [, indentation = ""] = /^( *)[^\s#]/m.exec(yaml) ?? [];
  const index = keys.indexOf(indentation + field);
  return Math.max(index, 0) + 2;
}

/**
 * The form of a name under which skills are found: as it is shown (blanks
 * folded, no control characters), in Unicode's normal form C, in lower case.
 *
 * ```ts
 * import { skillKey } from "@skill-server/skill-server";
 *
 * if (skillKey(" Git  Flow") !== "git flow") throw new Error();
 * ```
 *
 * @param name The name as it is written.
 * @returns The key in {@linkcode SkillCatalog.skills}.
 */
export function skillKey(name: string): string {
  return oneLine(name).normalize("NFC").toLowerCase().normalize("NFC");
}

// ---------------------------------------------------------------------------
// Roots
// ---------------------------------------------------------------------------

/** Options of {@linkcode resolveSkillRoots}. */
export interface SkillRootOptions {
  /** The working directory, or `undefined` where there is none. */
  readonly workingDirectory?: string;
  /** The home folder, or `undefined` where it is not known. */
  readonly homeDirectory?: string;
  /** Folders that replace the default roots: each itself, its `.claude/skills`, its `skills`. */
  readonly directories?: readonly string[];
  /** Folders that are searched recursively, after all others. */
  readonly recursiveDirectories?: readonly string[];
  /** Whether `./.agents/skills` and `~/.agents/skills` are searched as well. */
  readonly agents?: boolean;
}

/**
 * Lists the roots in the order in which they are searched. The default roots
 * are `./.agent/skills`, `~/.agent/skills`, `./.claude/skills` and
 * `~/.claude/skills`. Those that need a folder which is not known are left out.
 *
 * ```ts
 * import { resolveSkillRoots } from "@skill-server/skill-server";
 *
 * const roots = resolveSkillRoots({ homeDirectory: Deno.env.get("HOME") });
 * console.log(roots.map(({ path }) => path));
 * ```
 *
 * @param options Which folders there are and which are asked for.
 * @returns The roots, each path absolute, each once.
 * @throws {Error} If a given folder is relative to one that is not known.
 */
export function resolveSkillRoots(options: SkillRootOptions): SkillRoot[] {
  const { directories, recursiveDirectories = [] } = options;
  const roots = directories
    ? directories.flatMap((directory) => configuredRoots(directory, options))
    : [
      ...wellKnownRoots(".agent", options),
      ...wellKnownRoots(".claude", options),
    ];
  if (options.agents) roots.push(...wellKnownRoots(".agents", options));
  for (const directory of recursiveDirectories) {
    roots.push(configuredRoot(directory, { ...options, recursive: true }));
  }
  return roots.filter((root, index) => {
    const isSame = (other: SkillRoot) =>
      other.path === root.path && other.recursive === root.recursive;
    return roots.findIndex(isSame) === index;
  });
}

/** Returns the roots that every agent knows: a folder's `skills` in the project and at home. */
function wellKnownRoots(
  folder: string,
  options: SkillRootOptions,
): SkillRoot[] {
  const { workingDirectory: project, homeDirectory: home } = options;
  const places = [
    // What is in the home folder is the user's own, wherever it is looked at from.
    [project === home ? undefined : project, "project"],
    [home, "global"],
  ] as const;
  return places.flatMap(([place, scope]) =>
    place === undefined
      ? []
      : [{ path: join(place, folder, "skills"), scope, recursive: false }]
  );
}

/** Returns the roots that one folder given by the user stands for. */
function configuredRoots(
  directory: string,
  options: SkillRootOptions,
): SkillRoot[] {
  return ["", join(".claude", "skills"), "skills"].map((folder) =>
    configuredRoot(join(directory, folder), { ...options, recursive: false })
  );
}

function configuredRoot(
  directory: string,
  options: SkillRootOptions & { recursive: boolean },
): SkillRoot {
  const { workingDirectory: project, recursive } = options;
  const path = resolveFolder(directory, options);
  const inProject = project !== undefined && isWithin(path, project);
  return { path, scope: inProject ? "project" : "global", recursive };
}

/**
 * Makes the path of a folder absolute, as a shell would: from the working
 * directory, or from home where it begins with `~`.
 *
 * @internal
 * @throws {Error} If that folder is not known.
 */
export function resolveFolder(
  folder: string,
  { workingDirectory, homeDirectory }: SkillRootOptions,
): string {
  const isAtHome = /^~(?=$|[\\/])/.test(folder);
  const base = isAtHome ? homeDirectory : workingDirectory;
  if (base === undefined && !isAbsolute(folder)) {
    throw new Error(
      `Cannot find the folder ${quote(folder)}: the ${
        isAtHome ? "home folder" : "working directory"
      } is not known; give its whole path`,
    );
  }
  const path = isAtHome ? join(".", folder.slice(1)) : folder;
  return base === undefined ? normalize(folder) : resolve(base, path);
}

/**
 * Whether a path is a folder or lies in it, by their letters.
 *
 * @internal
 */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return !isAbsolute(way) && !/^\.\.(?:[\\/]|$)/.test(way);
}

// ---------------------------------------------------------------------------
// Scanner
// ---------------------------------------------------------------------------

/** What is known of a `SKILL.md` from one scan to the next. */
interface ReadSkill {
  readonly version: string;
  /** The text it was read from, kept while its version may not tell a change. */
  readonly racyText: string | undefined;
  readonly outcome: Skill | SkillProblem;
}

/** What the scan of a catalog leaves to those who come after it. */
interface ScanTrace {
  /** The files it read, by their paths. */
  readonly read: ReadonlyMap<string, ReadSkill>;
  /** Real paths of the folders it looked into. */
  readonly folders: ReadonlySet<string>;
  /** Paths where what matters may come or go: roots, and what links lead to. */
  readonly ways: ReadonlySet<string>;
}

const scanTraces = new WeakMap<SkillCatalog, ScanTrace>();

/** A scan under way. */
interface Scan {
  readonly maxFileSize: number;
  readonly trustLinks: readonly string[];
  /** Real paths that the links of a project may lead into. */
  readonly linkTargets: readonly string[];
  readonly known: ReadonlyMap<string, ReadSkill>;
  readonly read: Map<string, ReadSkill>;
  readonly folders: Set<string>;
  readonly ways: Set<string>;
  readonly found: Map<string, Skill>;
  /** Real paths of the folders that are skills, good or bad. */
  readonly directories: Set<string>;
  readonly shadowed: ShadowedSkill[];
  readonly problems: SkillProblem[];
  readonly slice: TimeSlice;
}

/** A folder that may be a skill, or hold some. */
interface SearchedFolder {
  readonly path: string;
  readonly realPath: string;
  readonly depth: number;
  readonly root: SkillRoot;
}

/**
 * Searches the roots for skills.
 *
 * The outcome depends on nothing but the folders: roots are searched in their
 * order, names in the order of their code units, and the first skill of a name
 * is the one that counts. Whatever is not right is told in
 * {@linkcode SkillCatalog.problems}; nothing is thrown, nothing harms another
 * skill. Files that are as they were in the scan of `previous` are not read
 * again.
 *
 * ```ts
 * import { scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills, problems } = await scanSkillRoots([
 *   { path: "testdata/invalid", scope: "project", recursive: false },
 * ]);
 * for (const { file, reason, hint } of problems) {
 *   console.log(`${file}: ${reason}; ${hint}`);
 * }
 * if (skills.size > 0) throw new Error("All of these are invalid");
 * ```
 *
 * @param roots The roots in their order.
 * @param previous The catalog of the scan before, if there was one.
 * @param options Limits, and where links may lead.
 * @returns The new catalog, or `previous` itself if nothing is different.
 */
export async function scanSkillRoots(
  roots: readonly SkillRoot[],
  previous?: SkillCatalog,
  options: ScanOptions = {},
): Promise<SkillCatalog> {
  const scan = beginScan(roots, previous, options);
  const reports: SkillRootReport[] = [];
  for (const root of roots) {
    const count = scan.found.size + scan.shadowed.length;
    const entered = enterRoot(root, scan);
    const { realPath } = entered;
    if (realPath !== undefined) {
      await searchRoot({ path: root.path, realPath, depth: 0, root }, scan);
    }
    const skills = scan.found.size + scan.shadowed.length - count;
    reports.push({ root, ...entered, skills });
  }
  return endScan(scan, reports, previous);
}

function beginScan(
  roots: readonly SkillRoot[],
  previous: SkillCatalog | undefined,
  options: ScanOptions,
): Scan {
  const trustLinks = boundaries(options.trustLinks ?? []);
  const global = roots.filter((root) => root.scope === "global");
  return {
    maxFileSize: options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE,
    trustLinks,
    linkTargets: [
      ...boundaries(options.linkTargets ?? ["."]),
      ...boundaries(global.map((root) => root.path)),
      ...trustLinks,
    ],
    known: (previous && scanTraces.get(previous)?.read) ?? new Map(),
    read: new Map(),
    folders: new Set(),
    ways: new Set(),
    found: new Map(),
    directories: new Set(),
    shadowed: [],
    problems: [],
    // In its first scan a registry keeps nobody waiting who could be served.
    slice: new TimeSlice(previous?.revision === 0 ? Infinity : SLICE_MS),
  };
}

/**
 * Returns the folders that real paths are compared with. Where Deno may not look
 * into one its path must do: if a link is in it no real path begins with it.
 */
function boundaries(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch (error) {
      return error instanceof Deno.errors.NotCapable ? [path] : [];
    }
  });
}

/** Returns the real paths of those folders that are there and may be read. */
function realPaths(paths: readonly string[]): string[] {
  return paths.flatMap((path) => {
    try {
      return [Deno.realPathSync(path)];
    } catch {
      return [];
    }
  });
}

function endScan(
  scan: Scan,
  roots: SkillRootReport[],
  previous: SkillCatalog | undefined,
): SkillCatalog {
  const skills = new Map(
    [...scan.found].sort(([a], [b]) => byCodeUnits(a, b)),
  );
  const { problems, shadowed } = scan;
  const revision = (previous?.revision ?? 0) + 1;
  const catalog = { skills, problems, shadowed, roots, revision };
  const isSame = previous !== undefined && isSameCatalog(catalog, previous);
  const current = isSame ? previous : catalog;
  const { read, folders, ways } = scan;
  scanTraces.set(current, { read, folders, ways });
  return current;
}

function isSameCatalog(a: SkillCatalog, b: SkillCatalog): boolean {
  const told = ({ problems, roots }: SkillCatalog) =>
    JSON.stringify([problems, roots]);
  return a.skills.size === b.skills.size &&
    [...a.skills].every(([key, skill]) => b.skills.get(key) === skill) &&
    a.shadowed.length === b.shadowed.length &&
    a.shadowed.every(({ skill, by }, index) =>
      b.shadowed[index]!.skill === skill && b.shadowed[index]!.by === by
    ) &&
    told(a) === told(b);
}

/**
 * Divides long work, so that other work can run in between.
 *
 * @internal
 */
export class TimeSlice {
  readonly #length: number;
  #end: number;

  /** Begins the first slice. All slices are of one length, in milliseconds. */
  constructor(length = SLICE_MS) {
    this.#length = length;
    this.#end = performance.now() + length;
  }

  /** Whether this has held the event loop for long enough. */
  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  /** Lets other work run. */
  async yield(): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve));
    this.#end = performance.now() + this.#length;
  }
}

/** Finds out whether a root is there and may be searched. */
function enterRoot(
  root: SkillRoot,
  scan: Scan,
): Pick<SkillRootReport, "status" | "realPath"> {
  scan.ways.add(root.path);
  try {
    noteTarget(root.path, scan);
    const realPath = Deno.realPathSync(root.path);
    if (root.scope === "project" && !isInside(realPath, scan.linkTargets)) {
      scan.problems.push({ file: root.path, ...LINK_OUT_OF_PROJECT });
      return { status: "refused" };
    }
    if (!Deno.statSync(root.path).isDirectory) {
      scan.problems.push({ file: root.path, ...ROOT_IS_A_FILE });
      return { status: "refused" };
    }
    if (!root.recursive && findSkillFile(root.path) !== undefined) {
      scan.problems.push({ file: root.path, ...ROOT_IS_A_SKILL });
    }
    return { status: "found", realPath };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return { status: "missing" };
    scan.problems.push({ file: root.path, ...faultOf(error) });
    return { status: "refused" };
  }
}

/** Notes where a link leads, be it nowhere: there something may come or go. */
function noteTarget(path: string, scan: Scan): void {
  if (isLink(path)) {
    scan.ways.add(resolve(dirname(path), Deno.readLinkSync(path)));
  }
}

/** Searches one root, breadth first. */
async function searchRoot(top: SearchedFolder, scan: Scan): Promise<void> {
  const { path, root } = top;
  if (root.recursive && takeSkill(top, scan)) return;
  const queue = [top];
  const visited = new Set([top.realPath]);
  scan.folders.add(top.realPath);
  for (const folder of queue) {
    for (const child of subfolders(folder, scan)) {
      if (scan.slice.isOver) await scan.slice.yield();
      if (visited.has(child.realPath)) continue;
      if (visited.size > MAX_SEARCHED_FOLDERS) {
        scan.problems.push({ file: path, ...TOO_MANY_FOLDERS });
        return;
      }
      visited.add(child.realPath);
      scan.folders.add(child.realPath);
      if (takeSkill(child, scan)) continue;
      if (root.recursive && child.depth < MAX_SEARCH_DEPTH) queue.push(child);
    }
  }
}

/** Lists the folders in a folder that are searched, links to folders included. */
function* subfolders(
  folder: SearchedFolder,
  scan: Scan,
): Generator<SearchedFolder> {
  const { root } = folder;
  const depth = folder.depth + 1;
  for (const { name, isDirectory, isSymlink } of sortedEntries(folder, scan)) {
    if (root.recursive && !isSearched(name)) continue;
    const path = childPath(folder.path, name);
    if (isDirectory) {
      if (name.includes("\ufffd") && !isThere(path)) {
        scan.problems.push({ file: path, ...NAME_IS_NOT_UTF_8 });
      }
      yield { path, realPath: childPath(folder.realPath, name), depth, root };
    } else if (isSymlink) {
      const realPath = followFolderLink(path, root, scan);
      if (realPath !== undefined) yield { path, realPath, depth, root };
    }
  }
}

function sortedEntries(folder: SearchedFolder, scan: Scan): Deno.DirEntry[] {
  try {
    return readFolder(folder.path);
  } catch (error) {
    if (!isAbsence(error)) {
      scan.problems.push({ file: folder.path, ...faultOf(error) });
    }
    return [];
  }
}

/** Whether a recursive search goes into a folder of this name. */
function isSearched(name: string): boolean {
  return name.startsWith(".")
    ? [".claude", ".agent", ".agents"].includes(name)
    : name !== "node_modules";
}

/** Returns where a link leads, if that is a folder that skills may be in. */
function followFolderLink(
  path: string,
  root: SkillRoot,
  scan: Scan,
): string | undefined {
  try {
    noteTarget(path, scan);
    const realPath = Deno.realPathSync(path);
    if (!Deno.statSync(path).isDirectory) return undefined;
    if (root.scope === "global" || isInside(realPath, scan.linkTargets)) {
      return realPath;
    }
    // Whether it is meant to be a skill is all that is asked of it.
    if (findSkillFile(path) === undefined) return undefined;
    tellOfLink(path, LINK_OUT_OF_PROJECT, scan);
  } catch (error) {
    // Among the files of a project links that lead nowhere are nothing to tell.
    if (!root.recursive) tellOfLink(path, faultOf(error), scan);
  }
}

function tellOfLink(file: string, fault: Fault, scan: Scan): void {
  const { reason, hint } = fault;
  scan.problems.push({ file, reason, hint, names: [basename(file)] });
}

/** Takes the skill in a folder into the scan, and tells whether there is one. */
function takeSkill(folder: SearchedFolder, scan: Scan): boolean {
  // Another root has led here before.
  if (scan.directories.has(folder.realPath)) return true;
  const outcome = readSkill(folder, scan);
  if (outcome === undefined) return false;
  scan.directories.add(folder.realPath);
  if ("reason" in outcome) {
    scan.problems.push(outcome);
    return true;
  }
  const key = skillKey(outcome.name);
  const by = scan.found.get(key);
  if (by === undefined) scan.found.set(key, outcome);
  else scan.shadowed.push({ skill: outcome, by });
  return true;
}

/** Returns the skill in a folder, why it is not served, or `undefined` if there is none. */
function readSkill(
  folder: SearchedFolder,
  scan: Scan,
): Skill | SkillProblem | undefined {
  const found = findSkillFile(folder.path);
  if (found === undefined) return undefined;
  const { file } = found;
  const skipped = (error: unknown) => {
    return { file, ...faultOf(error), names: [basename(folder.path)] };
  };
  if ("error" in found) return skipped(found.error);
  try {
    const checked = found.info.isSymlink
      ? followFileLink(file, folder, scan)
      : { path: file, realPath: realPathIn(folder, file), info: found.info };
    const known = scan.known.get(file);
    if (
      known !== undefined && known.version === fileVersion(checked.info) &&
      known.racyText === undefined && isOf(folder, known)
    ) {
      scan.read.set(file, known);
      return known.outcome;
    }
    return readSkillMd(checked, { folder, known, scan });
  } catch (error) {
    if (isAbsence(error) && !found.info.isSymlink) return undefined;
    return skipped(error);
  }
}

/** Where a link that stands for a `SKILL.md` leads: into its skill, or into what is trusted. */
function followFileLink(
  file: string,
  folder: SearchedFolder,
  scan: Scan,
): CheckedFile {
  noteTarget(file, scan);
  const realPath = Deno.realPathSync(file);
  if (!isOwn(realPath, folder.realPath, scan.trustLinks)) {
    throw new SkillFileError(file, LINK_OUT_OF_SKILL);
  }
  scan.folders.add(dirname(realPath));
  return { path: file, realPath, info: Deno.statSync(file) };
}

/** Returns the real path of a file in a folder that is no link itself. */
function realPathIn(folder: SearchedFolder, file: string): string {
  return folder.realPath + file.slice(folder.path.length);
}

/** The file of a skill, or why it cannot be told whether there is one. */
type FoundFile =
  | { file: string; info: Deno.FileInfo }
  | { file: string; error: unknown };

/** Looks for the `SKILL.md` in a folder, be it a link that leads nowhere. */
function findSkillFile(folder: string): FoundFile | undefined {
  for (const name of SKILL_FILE_NAMES) {
    const file = childPath(folder, name);
    try {
      const info = lstatIfThere(file);
      if (info !== undefined) {
        return { file: childPath(folder, nameOnDisk(name, folder)), info };
      }
    } catch (error) {
      return { file, error };
    }
  }
}

/** Returns how a name is written in a folder: real paths have it so, whatever it was asked for by. */
function nameOnDisk(name: string, folder: string): string {
  if (!isCaseBlind) return name;
  const key = name.toLowerCase();
  const names = Array.from(Deno.readDirSync(folder), ({ name }) => name)
    .filter((other) => other.toLowerCase() === key);
  return names.includes(name) ? name : names[0] ?? name;
}

/** Returns what seems to be the name in a text whose frontmatter is malformed. */
function nameIn(text: string): string {
  for (const line of text.split("\n", 100)) {
    if (line.startsWith("name:")) {
      return line.slice("name:".length).trim().replace(/^["']|["']$/g, "");
    }
  }
  return "";
}

/** The names that the file of a skill may have, the proper one first. */
const SKILL_FILE_NAMES = ["SKILL.md", "skill.md"];

/** Whether what is known of a file was read in the same folder, reached the same way. */
function isOf(folder: SearchedFolder, { outcome }: ReadSkill): boolean {
  return "reason" in outcome ||
    outcome.root === folder.root && outcome.realDirectory === folder.realPath;
}

function readSkillMd(
  checked: CheckedFile,
  { folder, known, scan }: {
    folder: SearchedFolder;
    known: ReadSkill | undefined;
    scan: Scan;
  },
): Skill | SkillProblem {
  const file = checked.path;
  const { text, info } = readConfined(
    checked,
    scan.maxFileSize,
    (file, info) => ({ text: readHead(file), info }),
  );
  const version = fileVersion(info);
  const isKnown = known?.version === version && known.racyText === text &&
    isOf(folder, known);
  const outcome = isKnown
    ? known.outcome
    : understand(text, { file, size: info.size, version, folder });
  const racyText = isRacy(info) ? text : undefined;
  scan.read.set(file, { version, racyText, outcome });
  return outcome;
}

function understand(
  text: string,
  { file, size, version, folder }: Pick<Skill, "file" | "size" | "version"> & {
    folder: SearchedFolder;
  },
): Skill | SkillProblem {
  try {
    const frontmatter = parseSkillMd(text);
    return {
      name: frontmatter.name,
      description: frontmatter.description,
      frontmatter,
      directory: folder.path,
      realDirectory: folder.realPath,
      file,
      size,
      version,
      scope: folder.root.scope,
      root: folder.root,
    };
  } catch (error) {
    if (!(error instanceof SkillSyntaxError)) throw error;
    const { reason, line, hint } = error;
    const { path } = folder;
    const names = [basename(path), nameIn(text)].filter((name) => name !== "");
    return { file, reason, hint, line, names };
  }
}

// ---------------------------------------------------------------------------
// File access
// ---------------------------------------------------------------------------

/** What is the matter with a file or folder, and how to mend it. */
interface Fault {
  readonly reason: string;
  readonly hint: string;
}

/** A file that is not there, or that does not belong to the skill: the answer is the same. */
const NOT_THERE: Fault = {
  reason: "there is no such file in the skill",
  hint: "name a file of the skill by its path from the skill's folder",
};

const LINK_OUT_OF_SKILL: Fault = {
  reason:
    "it is a link that leads outside its skill, or to what is hidden in it",
  hint:
    "put the file itself there, or, if you trust the folder DIR that it leads into, start with --trust-links DIR",
};

const LINK_OUT_OF_PROJECT: Fault = {
  reason: "it is a link that leads outside the project",
  hint:
    "put the folder itself there, or, if you trust the folder DIR that it leads into, start with --trust-links DIR",
};

const LINK_BACK: Fault = {
  reason: "it is a link that leads back to a folder that it lies in",
  hint: "remove it",
};

const LINK_TO_NOTHING: Fault = {
  reason: "it is a link that leads nowhere",
  hint: "make the link anew or remove it",
};

const IS_A_FOLDER: Fault = {
  reason: "it is a folder",
  hint: "a file is wanted here",
};

const NOT_A_FILE: Fault = {
  reason: "it is not a regular file",
  hint: "put a regular file in its place",
};

const CHANGED_MEANWHILE: Fault = {
  reason: "it was replaced while it was being read",
  hint: "try again",
};

const TOO_DEEP: Fault = {
  reason: `it lies more than ${MAX_FILE_DEPTH} names deep`,
  hint: "move it nearer to the SKILL.md",
};

const TOO_MANY_ENTRIES: Fault = {
  reason:
    `it and what comes after it are past the ${MAX_WALKED_ENTRIES} entries that are looked at`,
  hint: "move what the skill does not need out of it",
};

const NAME_IS_NOT_UTF_8: Fault = {
  reason: "its name is not UTF-8, so that it cannot be opened",
  hint: "give it another name",
};

const ONLY_WITH_ALL: Fault = {
  reason: "Deno reads network folders and devices only if it may do everything",
  hint: "copy it to a local folder",
};

const ROOT_IS_A_FILE: Fault = {
  reason: "it is a file, where a folder of skills was expected",
  hint: "name a folder",
};

const ROOT_IS_A_SKILL: Fault = {
  reason: "it is a skill itself, where a folder of skills was expected",
  hint: "name the folder that it lies in, or use --skill-dir",
};

const TOO_MANY_FOLDERS: Fault = {
  reason: `it has more than ${MAX_SEARCHED_FOLDERS} folders`,
  hint: "name a folder nearer to the skills",
};

/** Says what an error of the file system means and what to do about it. */
function faultOf(error: unknown): Fault {
  if (error instanceof SkillFileError) {
    const { reason, hint } = error;
    return { reason, hint };
  }
  if (error instanceof Deno.errors.NotFound) return LINK_TO_NOTHING;
  if (error instanceof Deno.errors.NotCapable) {
    if (error.message.includes("--allow-all")) return ONLY_WITH_ALL;
    return {
      reason: "Deno was not allowed to read it",
      hint: "add it to the folders of --allow-read",
    };
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    return {
      reason: "the system does not let it be read",
      hint: "give yourself the right to read it, or remove it",
    };
  }
  if (error instanceof Deno.errors.FilesystemLoop) {
    return {
      reason: "it is a link that leads back to itself",
      hint: LINK_TO_NOTHING.hint,
    };
  }
  return {
    reason: `the system refuses it (${oneLine((error as Error).message)})`,
    hint: "put a readable file or folder in its place",
  };
}

function tooLarge(size: number, maxFileSize: number): Fault {
  return {
    reason: `it has ${size} bytes, more than the ${maxFileSize} allowed`,
    hint: "make it smaller, or raise --max-file-size",
  };
}

/** Whether there is anything under a path, be it a link that leads nowhere. */
function isThere(path: string): boolean {
  return lstatIfThere(path) !== undefined;
}

function isLink(path: string): boolean {
  return lstatIfThere(path)?.isSymlink ?? false;
}

function lstatIfThere(path: string): Deno.FileInfo | undefined {
  try {
    return Deno.lstatSync(path);
  } catch (error) {
    if (isAbsence(error)) return undefined;
    throw error;
  }
}

/** Lists a folder in the order of the names' code units. */
function readFolder(path: string): Deno.DirEntry[] {
  return [...Deno.readDirSync(path)].sort((a, b) =>
    byCodeUnits(a.name, b.name)
  );
}

/** Whether a real path is one of the folders or lies in one. */
function isInside(realPath: string, folders: readonly string[]): boolean {
  return folders.some((folder) => isWithin(realPath, folder));
}

/** What was found out of a file before it is opened. */
interface CheckedFile {
  readonly path: string;
  /** Where its path led. */
  readonly realPath: string;
  readonly info: Deno.FileInfo;
}

/**
 * Opens a file and reads of it. What is no regular file is not opened, for to
 * open a FIFO or a device could hang. Links are followed anew by each call of
 * the system, so a file may be swapped between the check and its use: hence one
 * handle is opened, which must be of the file that was checked, and its path
 * must lead to the same place afterwards.
 */
function readConfined<T>(
  { path, realPath, info }: CheckedFile,
  maxFileSize: number,
  read: (file: Deno.FsFile, info: Deno.FileInfo) => T,
): T {
  if (info.isDirectory) throw new SkillFileError(path, IS_A_FOLDER);
  if (!info.isFile) throw new SkillFileError(path, NOT_A_FILE);
  if (info.size > maxFileSize) {
    throw new SkillFileError(path, tooLarge(info.size, maxFileSize));
  }
  using file = Deno.openSync(path);
  const opened = statOpen(file, path);
  if (
    opened.ino !== info.ino || opened.dev !== info.dev || !opened.isFile ||
    Deno.realPathSync(path) !== realPath
  ) {
    throw new SkillFileError(path, CHANGED_MEANWHILE);
  }
  return read(file, opened);
}

/**
 * Stats an open file. That takes the permission to read its real path, which is
 * missing where an allowed folder is a link: then its path must do.
 */
function statOpen(file: Deno.FsFile, path: string): Deno.FileInfo {
  try {
    return file.statSync();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) return Deno.statSync(path);
    throw error;
  }
}

/** Reads a file to its end, or to `limit` bytes if it has more. */
function readUpTo(
  file: Deno.FsFile,
  { expected, limit }: { expected: number; limit: number },
): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(Math.min(expected + 1, limit));
  let length = 0;
  for (;;) {
    const read = file.readSync(buffer.subarray(length));
    length += read ?? 0;
    if (read === null || length === limit) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const larger = new Uint8Array(Math.min(buffer.length * 2, limit));
      larger.set(buffer);
      buffer = larger;
    }
  }
}

/** What the beginnings of files are read into: a scan reads many. */
const headBuffer = new Uint8Array(MAX_FRONTMATTER_SIZE + 1);

const headDecoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * Reads the beginning of a `SKILL.md`, to the end of its frontmatter and no
 * further: what is made of a text keeps all of it in memory.
 */
function readHead(file: Deno.FsFile): string {
  let length = 0;
  for (let limit = SHORT_HEAD_SIZE;; limit = headBuffer.length) {
    const read = file.readSync(headBuffer.subarray(length, limit));
    length += read ?? 0;
    const isWhole = read === null || length === headBuffer.length;
    const bytes = headBuffer.subarray(0, length);
    const end = closingFenceEnd(bytes);
    if (end !== undefined) return headDecoder.decode(bytes.subarray(0, end));
    if (isWhole) return headDecoder.decode(bytes);
  }
}

/** Returns where the line ends that closes a frontmatter, if it does. */
function closingFenceEnd(bytes: Uint8Array): number | undefined {
  for (
    let start = bytes.indexOf(LINE_FEED) + 1;
    start > 0;
    start = bytes.indexOf(LINE_FEED, start) + 1
  ) {
    if (bytes[start] !== HYPHEN) continue;
    const end = bytes.indexOf(LINE_FEED, start) + 1;
    if (
      end > 0 && isFence(headDecoder.decode(bytes.subarray(start, end - 1)))
    ) {
      return end;
    }
  }
}

const LINE_FEED = 0x0a;
const HYPHEN = 0x2d;

/** Returns a text that differs whenever the file does. */
function fileVersion({ dev, ino, size, mtime, ctime }: Deno.FileInfo): string {
  return `${dev}:${ino}:${size}:${mtime?.getTime()}:${ctime?.getTime()}`;
}

/** Whether a file changed so lately that it may change again unnoticed. */
function isRacy({ mtime, ctime }: Deno.FileInfo): boolean {
  const changed = Math.max(mtime?.getTime() ?? 0, ctime?.getTime() ?? 0);
  return Date.now() - changed < RACY_MS;
}

/** Whether a file or folder of this name is part of a skill. */
function isVisible(name: string): boolean {
  return !name.startsWith(".") && name !== "node_modules" &&
    name !== "__pycache__";
}

/** A place in a skill directory, and through it the folders on the way there. */
interface Place {
  readonly path: string;
  readonly realPath: string;
  readonly parent: Place | undefined;
  /** How many names lead to it from the skill directory. */
  readonly depth: number;
}

/** What a walk through a skill needs to know. */
interface Walk {
  readonly skill: Skill;
  readonly trustLinks: readonly string[];
  readonly maxFileSize: number;
  /** Real paths of the folders that were walked through. */
  readonly folders: string[];
  /** What lies in the skill and is not served, by its path. */
  readonly leftOut: Map<string, Fault>;
  /** How many entries of folders were looked at. */
  entries: number;
}

function beginWalk(skill: Skill, options: FileAccessOptions): Walk {
  return {
    skill,
    trustLinks: boundaries(options.trustLinks ?? []),
    maxFileSize: options.maxFileSize ?? DEFAULT_MAX_FILE_SIZE,
    folders: [],
    leftOut: new Map(),
    entries: 0,
  };
}

function topOf({ skill }: Walk): Place {
  const { directory, realDirectory } = skill;
  return {
    path: directory,
    realPath: realDirectory,
    parent: undefined,
    depth: 0,
  };
}

/**
 * Goes from a folder of a skill to what `name` is in it: the one rule for what
 * belongs to a skill. Hidden names do not, nor does what a link leads to
 * outside the skill, to something hidden in it, or back to where it came from.
 *
 * @throws {Deno.errors.NotFound} If it does not belong to the skill.
 */
function step(
  parent: Place,
  { name, isLink }: { name: string; isLink: boolean },
  { skill, trustLinks }: Walk,
): Place {
  const path = childPath(parent.path, name);
  const realPath = isLink
    ? Deno.realPathSync(path)
    : childPath(parent.realPath, name);
  const isOwnPath = !isLink ||
    isOwn(realPath, skill.realDirectory, trustLinks) &&
      !isOnWay(realPath, parent);
  if (!isVisible(name) || !isOwnPath) throw new Deno.errors.NotFound(path);
  return { path, realPath, parent, depth: parent.depth + 1 };
}

/** Joins a name to the path of a folder: `join` without its care, which takes long. */
function childPath(folder: string, name: string): string {
  return folder.endsWith(SEPARATOR) ? folder + name : folder + SEPARATOR + name;
}

/** Whether a real path is that of a place or of one on the way to it. */
function isOnWay(realPath: string, place: Place | undefined): boolean {
  while (place !== undefined && place.realPath !== realPath) {
    place = place.parent;
  }
  return place !== undefined;
}

/** Whether a real path belongs to a skill: lies in its directory and is not hidden there, or is trusted. */
function isOwn(
  realPath: string,
  realDirectory: string,
  trustLinks: readonly string[],
): boolean {
  return isWithin(realPath, realDirectory)
    ? relative(realDirectory, realPath).split(/[\\/]/).every(isVisible)
    : isInside(realPath, trustLinks);
}

/** Returns the names a path consists of, or `undefined` if it leads out of the skill. */
function namesOf(path: string): string[] | undefined {
  const names: string[] = [];
  // There a colon would name a drive or another stream of a file.
  if (isWindows && /[<>:"|?*]/.test(path)) return undefined;
  const parts = path.split(isWindows ? /[\\/]/ : "/");
  if (parts.length > 1 && parts[0] === "") return undefined;
  for (const part of parts) {
    if (part === "..") {
      if (names.pop() === undefined) return undefined;
    } else if (part !== "." && part !== "") {
      names.push(part);
    }
  }
  return names.length > MAX_FILE_DEPTH ? undefined : names;
}

/**
 * Returns where a file or folder of a skill lies in the file system, if it
 * belongs to the skill: names that begin with a dot, `node_modules` and
 * `__pycache__` do not, nor does anything whose real path leaves the skill's
 * real directory.
 *
 * ```ts
 * import { resolveSkillFile, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * const { realPath } = resolveSkillFile(skills.get("pdf")!, "SKILL.md");
 * console.log(realPath);
 * ```
 *
 * @param skill The skill.
 * @param path The path from the skill directory, with `/` between names; empty for the directory itself.
 * @param options What counts as inside.
 * @returns The path as configured, and with all links resolved.
 * @throws {SkillFileError} If there is nothing there that belongs to the skill.
 */
export function resolveSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): { path: string; realPath: string } {
  const walk = beginWalk(skill, options);
  try {
    const names = namesOf(path);
    const main = basename(skill.file);
    const isOtherName = names?.length === 1 && names[0] === main;
    if (names === undefined || main !== "SKILL.md" && isOtherName) {
      throw new Deno.errors.NotFound(path);
    }
    if (names.join("/") === "SKILL.md") names[0] = main;
    const direct = directPlace(names, walk);
    if (direct !== undefined) return direct;
    let place = topOf(walk);
    for (const name of names) {
      place = step(place, { name, isLink: true }, walk);
    }
    return { path: place.path, realPath: place.realPath };
  } catch (error) {
    throw new SkillFileError(
      path,
      isAbsence(error) ? NOT_THERE : faultOf(error),
    );
  }
}

/** Returns the place that names lead to if none of them is a link: then one look is enough. */
function directPlace(
  names: readonly string[],
  { skill }: Walk,
): { path: string; realPath: string } | undefined {
  const path = names.reduce(childPath, skill.directory);
  const realPath = Deno.realPathSync(path);
  const isDirect = names.every(isVisible) &&
    realPath === names.reduce(childPath, skill.realDirectory);
  return isDirect ? { path, realPath } : undefined;
}

/** Whether an error says that there is nothing under a path. */
function isAbsence(error: unknown): boolean {
  return error instanceof Deno.errors.NotFound ||
    error instanceof Deno.errors.NotADirectory ||
    error instanceof Deno.errors.FilesystemLoop ||
    error instanceof TypeError; // a NUL in the path
}

/**
 * Reads a file of a skill, as it is now.
 *
 * ```ts
 * import { readSkillFile, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * const { text, size } = readSkillFile(skills.get("git")!, "SKILL.md");
 * console.log(size, text);
 * ```
 *
 * @param skill The skill.
 * @param path The file's path from the skill directory, as {@linkcode resolveSkillFile} takes it.
 * @param options What counts as inside, and how large a file may be.
 * @returns The file's content.
 * @throws {SkillFileError} If the file does not belong to the skill, is not a regular file, is too large or cannot be read.
 */
export function readSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions = {},
): SkillFileContent {
  return readChecked(checkSkillFile(skill, path, options), path, options);
}

/** Finds a file of a skill and stats it. */
function checkSkillFile(
  skill: Skill,
  path: string,
  options: FileAccessOptions,
): CheckedFile {
  const place = resolveSkillFile(skill, path, options);
  return tellingOf(path, () => ({ ...place, info: Deno.statSync(place.path) }));
}

function readChecked(
  checked: CheckedFile,
  path: string,
  { maxFileSize = DEFAULT_MAX_FILE_SIZE }: FileAccessOptions,
): SkillFileContent {
  return tellingOf(
    path,
    () =>
      readConfined(checked, maxFileSize, (file, info) => {
        const expected = info.size;
        const bytes = readUpTo(file, { expected, limit: maxFileSize + 1 });
        if (bytes.length > maxFileSize) {
          throw new SkillFileError(path, tooLarge(bytes.length, maxFileSize));
        }
        return {
          path: namesOf(path)!.join("/"),
          size: bytes.length,
          version: fileVersion(info),
          isRacy: isRacy(info),
          bytes,
          text: decodeUtf8(bytes),
        };
      }),
  );
}

/** Does something with a file, and tells of what fails by its path in the skill. */
function tellingOf<T>(path: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw new SkillFileError(
      path,
      isAbsence(error) ? NOT_THERE : faultOf(error),
    );
  }
}

/** Decodes UTF-8 to the letter, byte order mark included; `undefined` if it is none. */
function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
      .decode(bytes);
  } catch {
    return undefined;
  }
}

/**
 * Lists the files of a skill that can be read: those that
 * {@linkcode resolveSkillFile} finds and that are not too large, nested skills'
 * files too. Its `SKILL.md` goes by that name whatever the letters' case.
 *
 * ```ts
 * import { listSkillFiles, scanSkillRoots } from "@skill-server/skill-server";
 *
 * const { skills } = await scanSkillRoots([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * for (const { path, size } of listSkillFiles(skills.get("pdf")!)) {
 *   console.log(path, size);
 * }
 * ```
 *
 * @param skill The skill.
 * @param options What counts as inside, and how large a file may be.
 * @returns The files in the order of their paths. After 20,000 entries the search ends.
 */
export function listSkillFiles(
  skill: Skill,
  options: FileAccessOptions = {},
): SkillFile[] {
  return walkSkill(skill, options).files;
}

/** Lists the files of a skill, the real paths of the folders that they lie in, and what is left out. */
function walkSkill(
  skill: Skill,
  options: FileAccessOptions,
): { files: SkillFile[] } & Pick<Walk, "folders" | "leftOut"> {
  const walk = beginWalk(skill, options);
  const files: SkillFile[] = [];
  listFolder(topOf(walk), { prefix: "", files, walk });
  files.sort((a, b) => byCodeUnits(a.path, b.path));
  return { files, folders: walk.folders, leftOut: walk.leftOut };
}

function listFolder(
  folder: Place,
  { prefix, files, walk }: { prefix: string; files: SkillFile[]; walk: Walk },
): void {
  const { skill, leftOut, maxFileSize } = walk;
  walk.folders.push(folder.realPath);
  let entries: readonly Deno.DirEntry[] = [];
  try {
    entries = folderEntries(folder.path, skill);
  } catch (error) {
    if (!isAbsence(error)) leftOut.set(prefix, faultOf(error));
  }
  for (const entry of entries) {
    const { name, isSymlink: isLink, isDirectory } = entry;
    if (!isVisible(name)) continue;
    const path = prefix + name;
    if (++walk.entries > MAX_WALKED_ENTRIES) {
      leftOut.set(path, TOO_MANY_ENTRIES);
      return;
    }
    try {
      const place = step(folder, { name, isLink }, walk);
      const info = isDirectory ? undefined : Deno.statSync(place.path);
      if (info === undefined || info.isDirectory) {
        if (place.depth === MAX_FILE_DEPTH) leftOut.set(path, TOO_DEEP);
        else listFolder(place, { prefix: `${path}/`, files, walk });
      } else if (!info.isFile) {
        leftOut.set(path, NOT_A_FILE);
      } else if (info.size > maxFileSize) {
        leftOut.set(path, tooLarge(info.size, maxFileSize));
      } else {
        files.push({
          path: place.path === skill.file ? "SKILL.md" : path,
          size: info.size,
          version: fileVersion(info),
          isRacy: isRacy(info),
        });
      }
    } catch (error) {
      // What cannot be reached does not belong to the skill.
      const fault = isLink
        ? linkFault(folder, name)
        : absenceFault(name, error);
      if (fault !== undefined) leftOut.set(path, fault);
    }
  }
}

/** Says why a link in a skill leads to nothing that belongs to the skill. */
function linkFault(folder: Place, name: string): Fault {
  try {
    const realPath = Deno.realPathSync(childPath(folder.path, name));
    return isOnWay(realPath, folder) ? LINK_BACK : LINK_OUT_OF_SKILL;
  } catch (error) {
    const { NotFound, NotADirectory, FilesystemLoop } = Deno.errors;
    if (error instanceof FilesystemLoop) return faultOf(error);
    const isDangling = error instanceof NotFound ||
      error instanceof NotADirectory;
    return isDangling ? LINK_TO_NOTHING : LINK_OUT_OF_SKILL;
  }
}

/** Says why something that is no link cannot be reached, if it has not just gone. */
function absenceFault(name: string, error: unknown): Fault | undefined {
  if (!isAbsence(error)) return faultOf(error);
  return name.includes("\ufffd") ? NAME_IS_NOT_UTF_8 : undefined;
}

/** What is in the folders of a skill, for as long as their versions stay the same. */
const knownFolders = new WeakMap<Skill, Map<string, KnownFolder>>();

interface KnownFolder {
  readonly version: string;
  readonly entries: readonly Deno.DirEntry[];
}

/** Lists a folder of a skill in the order of its names. */
function folderEntries(path: string, skill: Skill): readonly Deno.DirEntry[] {
  // To stat a folder takes a quarter of what it takes to list it.
  const info = Deno.statSync(path);
  const version = fileVersion(info);
  const known = knownFolders.get(skill)?.get(path);
  if (known?.version === version) return known.entries;
  const entries = readFolder(path);
  if (!isRacy(info) && entries.length <= MAX_KNOWN_ENTRIES) {
    const folders = knownFolders.get(skill) ?? new Map();
    knownFolders.set(skill, folders.set(path, { version, entries }));
  }
  return entries;
}

// ---------------------------------------------------------------------------
// Registry
// ---------------------------------------------------------------------------

/** Options of a {@linkcode SkillRegistry}. */
export interface SkillRegistryOptions extends ScanOptions {
  /** Seconds between two rescans, 0 for none. Default: {@linkcode DEFAULT_REFRESH_SECONDS}. */
  readonly refreshSeconds?: number;
  /** Whether the folders are watched as well, to tell of changes at once. Default: `true`. */
  readonly watchFolders?: boolean;
  /** Takes the lines that tell people what is skipped and why. Default: {@linkcode log}. */
  readonly log?: (line: string) => void;
}

/** Hears of what a refresh changed. */
export type SkillChangeListener = (change: SkillChange) => void;

/**
 * The skills of some roots, kept current, and the only way to their files.
 *
 * ```ts
 * import { SkillRegistry } from "@skill-server/skill-server";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * registry.onChange(({ keys }) => console.error("changed:", ...keys));
 * await registry.refresh();
 * registry.watch();
 * ```
 */
export class SkillRegistry {
  readonly #roots: readonly SkillRoot[];
  readonly #options: SkillRegistryOptions;
  readonly #log: (line: string) => void;
  readonly #listeners = new Set<SkillChangeListener>();
  #catalog: SkillCatalog;
  #told: ReadonlySet<string> = new Set();
  /** How often each skill's files are asked to be tracked; `undefined` stands for all skills. */
  readonly #tracked = new Map<string | undefined, number>();
  #trackedFiles: ReadonlyMap<string, TrackedFiles> = new Map();
  /** What was read of late, by the versions and the paths of the files. */
  readonly #contents = new Map<string, SkillFileContent>();
  #contentsSize = 0;
  /** Digests by the versions of the files. */
  readonly #digests = new Map<string, string>();
  #running: Promise<SkillCatalog> | undefined;
  #next: Promise<SkillCatalog> | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #watcher: FolderWatcher | undefined;
  #isClosed = false;

  /**
   * Makes a registry that is empty until its first {@linkcode refresh}.
   *
   * @param roots The roots in their order.
   * @param options Limits, and how it is kept current.
   */
  constructor(roots: readonly SkillRoot[], options: SkillRegistryOptions = {}) {
    this.#roots = roots;
    this.#options = options;
    this.#log = options.log ?? log;
    this.#catalog = {
      skills: new Map(),
      problems: [],
      shadowed: [],
      roots: [],
      revision: 0,
    };
  }

  /** The catalog of the last whole scan. */
  get catalog(): SkillCatalog {
    return this.#catalog;
  }

  /** Finds a skill by its name, whatever the case of the letters. */
  find(name: string): Skill | undefined {
    return this.#catalog.skills.get(skillKey(name));
  }

  /** Lists the files of a skill. See {@linkcode listSkillFiles}. */
  listFiles(skill: Skill): SkillFile[] {
    return listSkillFiles(skill, this.#options);
  }

  /**
   * Lists the files of a skill, and what else lies in it and is not served,
   * beside what is hidden there: links that lead out, files that are too large
   * or lie too deep.
   *
   * @returns The files; what is left out, by its path in the skill, folders that
   * cannot be read with `/` at the end, and why, and how to mend it.
   */
  inspectFiles(skill: Skill): { files: SkillFile[]; leftOut: SkillProblem[] } {
    const { files, leftOut } = walkSkill(skill, this.#options);
    return {
      files,
      leftOut: [...leftOut].map(([file, fault]) => ({ file, ...fault })),
    };
  }

  /**
   * Reads a file of a skill. See {@linkcode readSkillFile}.
   *
   * @throws {SkillFileError} If it cannot be had.
   */
  readFile(skill: Skill, path: string): SkillFileContent {
    const checked = checkSkillFile(skill, path, this.#options);
    const key = `${fileVersion(checked.info)}:${checked.path}`;
    const known = this.#contents.get(key);
    if (known !== undefined) return known;
    const content = readChecked(checked, path, this.#options);
    if (!content.isRacy) this.#keep(key, content);
    return content;
  }

  /** Keeps what was read for as long as its file stays the same, the latest of it. */
  #keep(key: string, content: SkillFileContent): void {
    this.#contents.set(key, content);
    this.#contentsSize += content.size;
    for (const [key, { size }] of this.#contents) {
      if (this.#contentsSize <= MAX_CONTENTS_SIZE) break;
      this.#contents.delete(key);
      this.#contentsSize -= size;
    }
  }

  /**
   * Returns the SHA-256 digest of a file of a skill as it is now, and the size
   * of the bytes that it was made of. It is kept for as long as the file stays
   * the same.
   *
   * @param skill The skill.
   * @param file The file, as {@linkcode listFiles} lists it.
   * @returns The digest, `sha256:` and 64 hexadecimal digits; the size in bytes.
   * @throws {SkillFileError} If the file cannot be had.
   */
  async digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }> {
    // By the path too: not every system's inodes are as exact as a number can be.
    const key = `${file.version}:${skill.directory}:${file.path}`;
    const known = file.isRacy ? undefined : this.#digests.get(key);
    if (known !== undefined) return { digest: known, size: file.size };
    const { bytes, size, version, isRacy } = this.readFile(skill, file.path);
    const digest = await sha256(bytes);
    if (this.#digests.size >= MAX_DIGESTS) this.#digests.clear();
    if (!isRacy && version === file.version) this.#digests.set(key, digest);
    return { digest, size };
  }

  /**
   * Scans the roots anew. One scan runs at a time; who asks meanwhile shares
   * the one after it, so that each sees what was there when it asked.
   *
   * @returns The catalog, once it is whole.
   */
  refresh(): Promise<SkillCatalog> {
    if (this.#running === undefined) {
      this.#running = this.#scan().finally(() => this.#running = undefined);
      return this.#running;
    }
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.refresh();
    });
    return this.#next;
  }

  /**
   * Calls a listener after each refresh that changed something a client can see.
   *
   * @returns A function that ends it.
   */
  onChange(listener: SkillChangeListener): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Tells of changes of a skill's files too, not of its `SKILL.md` alone.
   *
   * @param key The skill's {@linkcode skillKey}, or `undefined` for all skills.
   * @returns A function that ends it, once changes from now on will be told.
   */
  async trackFiles(key: string | undefined): Promise<() => void> {
    const count = this.#tracked.get(key) ?? 0;
    this.#tracked.set(key, count + 1);
    if (count === 0) await this.refresh();
    let isTracked = true;
    return () => {
      const count = this.#tracked.get(key)!;
      if (isTracked && count === 1) this.#tracked.delete(key);
      else if (isTracked) this.#tracked.set(key, count - 1);
      isTracked = false;
    };
  }

  /** Keeps the catalog current from now on: by a timer, and by watching the folders. */
  watch(): void {
    const { refreshSeconds = DEFAULT_REFRESH_SECONDS, watchFolders = true } =
      this.#options;
    if (this.#isClosed || this.#timer !== undefined || this.#watcher) return;
    if (refreshSeconds > 0) {
      this.#timer = setInterval(() => this.refresh(), refreshSeconds * 1000);
      Deno.unrefTimer(this.#timer);
    }
    if (watchFolders) {
      this.#watcher = new FolderWatcher(() => this.refresh(), this.#log);
      this.#watchFolders();
    }
  }

  /** Ends watching. May be called again. */
  close(): void {
    this.#isClosed = true;
    clearInterval(this.#timer);
    this.#watcher?.close();
    this.#listeners.clear();
  }

  /** Closes the registry at the end of a `using` block. */
  [Symbol.dispose](): void {
    this.close();
  }

  async #scan(): Promise<SkillCatalog> {
    const previous = this.#catalog;
    const catalog = await scanSkillRoots(this.#roots, previous, this.#options);
    const tracked = await this.#readTracked(catalog);
    if (this.#isClosed) return this.#catalog;
    const files = changedFiles(tracked, this.#trackedFiles);
    this.#catalog = catalog;
    this.#trackedFiles = tracked;
    this.#watchFolders();
    this.#tellProblems();
    const keys = differences(catalog.skills, previous.skills);
    if (keys.size > 0 || files.size > 0) {
      this.#tellChange({ catalog, previous, keys, files });
    }
    return catalog;
  }

  /** Lists the files of the skills that are tracked. */
  async #readTracked(
    catalog: SkillCatalog,
  ): Promise<Map<string, TrackedFiles>> {
    const tracked = new Map<string, TrackedFiles>();
    const keys = this.#tracked.has(undefined)
      ? catalog.skills.keys()
      : this.#tracked.keys();
    const slice = new TimeSlice();
    for (const key of keys) {
      const skill = catalog.skills.get(key!);
      if (skill === undefined) continue;
      if (slice.isOver) await slice.yield();
      const { files, folders } = walkSkill(skill, this.#options);
      const versions = files
        // That one the scan has seen, a moment before.
        .filter(({ path }) => path !== "SKILL.md")
        .map(({ path, version }) => [path, version] as const);
      tracked.set(key!, { versions: new Map(versions), folders });
    }
    return tracked;
  }

  /** Watches where the catalog came from, and looks again if that was not watched before. */
  #watchFolders(): void {
    const tracked = [...this.#trackedFiles.values()];
    const folders = tracked.flatMap(({ folders }) => folders);
    const isNew = this.#watcher?.update(
      watchedFolders(this.#catalog, folders),
    );
    if (isNew) this.refresh();
  }

  /** Tells people of faults, each once for as long as it lasts. */
  #tellProblems(): void {
    const lines = describeProblems(this.#catalog);
    for (const line of lines) {
      if (!this.#told.has(line)) this.#log(line);
    }
    this.#told = new Set(lines);
  }

  #tellChange(change: SkillChange): void {
    for (const listener of this.#listeners) {
      try {
        listener(change);
      } catch (error) {
        this.#log(`Cannot tell of a change: ${(error as Error).message}`);
      }
    }
  }
}

/**
 * Returns the SHA-256 digest of some bytes as the Skills extension writes it.
 *
 * @internal
 */
export async function sha256(bytes: Uint8Array): Promise<string> {
  // Loaded when it is needed, since it takes a while; and not Web Crypto, which
  // takes five times as long for small files.
  const { createHash } = await (crypto ??= import("node:crypto"));
  return `sha256:${createHash("sha256").update(bytes).digest("hex")}`;
}

let crypto: Promise<typeof import("node:crypto")> | undefined;

/** What is known of the files of a skill from one refresh to the next. */
interface TrackedFiles {
  /** The files' versions by their paths. */
  readonly versions: ReadonlyMap<string, string>;
  /** Real paths of the folders that they lie in. */
  readonly folders: readonly string[];
}

/** Returns the paths of files that changed, of those skills that were tracked before too. */
function changedFiles(
  now: ReadonlyMap<string, TrackedFiles>,
  before: ReadonlyMap<string, TrackedFiles>,
): Map<string, Set<string>> {
  const changed = new Map<string, Set<string>>();
  for (const [key, { versions }] of now) {
    const old = before.get(key)?.versions ?? versions;
    const paths = differences(versions, old);
    if (paths.size > 0) changed.set(key, paths);
  }
  return changed;
}

/** Returns the keys under which two maps differ. */
function differences<T>(
  a: ReadonlyMap<string, T>,
  b: ReadonlyMap<string, T>,
): Set<string> {
  const keys = [...a.keys(), ...b.keys()];
  return new Set(keys.filter((key) => a.get(key) !== b.get(key)));
}

/** Says what a catalog leaves out: a line for each problem and each shadowed skill. */
function describeProblems({ problems, shadowed }: SkillCatalog): string[] {
  return [
    ...problems.map(describeProblem),
    ...shadowed.map(({ skill, by }) =>
      `Skipped ${quote(skill.file)}: the name ${
        quote(skill.name)
      } is taken by ${quote(by.file)}, which comes first`
    ),
  ];
}

function describeProblem({ file, line, reason, hint }: SkillProblem): string {
  const place = line === undefined ? "" : ` (line ${line})`;
  return `Skipped ${quote(file)}${place}: ${reason}; ${hint}`;
}

/** The folders to watch: all that happens in them matters, or only what happens to some names. */
type WatchedFolders = ReadonlyMap<string, "all" | ReadonlySet<string>>;

/**
 * Lists where a change can show: in the folders that the scan looked into, and
 * in the `others` that tracked files lie in; and, where a root or what a link
 * leads to may come, go or be replaced, in the two folders above it and in the
 * nearest that there is. Those may be the home folder, so there only the names
 * on the way matter.
 */
function watchedFolders(
  catalog: SkillCatalog,
  others: readonly string[],
): WatchedFolders {
  const { folders: searched = [], ways = [] } = scanTraces.get(catalog) ?? {};
  const folders = new Map<string, "all" | Set<string>>();
  for (const way of ways) {
    let path = way;
    for (let level = 1; path !== dirname(path); level++) {
      const [folder] = realPaths([dirname(path)]);
      if (folder !== undefined) {
        const names = folders.get(folder) ?? new Set();
        if (names !== "all") folders.set(folder, names.add(basename(path)));
        if (level >= 2) break;
      }
      path = dirname(path);
    }
  }
  for (const folder of [...searched, ...others]) folders.set(folder, "all");
  return folders;
}

/**
 * Watches folders, not what is below them, and calls back once after each burst
 * of events. Events only say that it is time to look again.
 */
class FolderWatcher {
  readonly #onEvents: () => void;
  readonly #log: (line: string) => void;
  readonly #watchers: Deno.FsWatcher[] = [];
  readonly #covered = new Set<string>();
  /** Folders that went or came while they were watched. */
  readonly #stale = new Set<string>();
  #reopening: ReturnType<typeof setTimeout> | undefined;
  #folders: WatchedFolders = new Map();
  #burstEnd: number | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isClosed = false;

  constructor(onEvents: () => void, log: (line: string) => void) {
    this.#onEvents = onEvents;
    this.#log = log;
  }

  /** Watches these folders from now on, and tells whether any of them is newly watched. */
  update(folders: WatchedFolders): boolean {
    this.#folders = folders;
    if (this.#isClosed || this.#reopening !== undefined) return false;
    const isMissing = (folder: string) => !this.#covered.has(folder);
    const missing = [...folders.keys()].filter(isMissing).filter(isWatchable);
    if (missing.length === 0) return false;
    const isStale = missing.some((folder) => this.#stale.has(folder));
    if (isStale || this.#watchers.length >= MAX_WATCHERS) {
      this.#reopen();
      return false;
    }
    try {
      this.#open(missing);
    } catch (error) {
      // A folder went, or was locked, just now: the next refresh will see it.
      const { NotFound, PermissionDenied } = Deno.errors;
      if (error instanceof NotFound || error instanceof PermissionDenied) {
        return false;
      }
      this.#giveUp(error as Error);
    }
    return true;
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    clearTimeout(this.#reopening);
    this.#closeWatchers();
  }

  /**
   * Watches all folders by one watcher again. All watchers share what they
   * know of a path: one that was moved away counts as watched, though another
   * folder has taken its place, until all that watch it were closed for a while.
   */
  #reopen(): void {
    this.#closeWatchers();
    this.#reopening = setTimeout(() => {
      this.#reopening = undefined;
      this.update(this.#folders);
      this.#onEvents();
    }, REOPEN_MS);
  }

  #open(folders: string[]): void {
    const watcher = Deno.watchFs(folders, { recursive: false });
    this.#watchers.push(watcher);
    for (const folder of folders) this.#covered.add(folder);
    this.#listen(watcher);
  }

  #closeWatchers(): void {
    for (const watcher of this.#watchers.splice(0)) watcher.close();
    this.#covered.clear();
    this.#stale.clear();
  }

  async #listen(watcher: Deno.FsWatcher): Promise<void> {
    try {
      for await (const event of watcher) {
        if (this.#matters(event)) this.#gather();
      }
    } catch (error) {
      this.#giveUp(error as Error);
    }
  }

  #matters({ kind, paths, flag }: Deno.FsEvent): boolean {
    if (flag === "rescan") return true;
    if (kind === "access") return false;
    // A folder that went or came is no longer the one that is watched.
    for (const path of kind === "modify" ? [] : paths) {
      if (this.#covered.delete(path)) this.#stale.add(path);
    }
    return paths.some((path) => {
      const names = this.#folders.get(dirname(path));
      return this.#folders.has(path) || names === "all" ||
        names?.has(basename(path));
    });
  }

  /** Calls back when it has been quiet for a while, and not too late. */
  #gather(): void {
    const now = performance.now();
    this.#burstEnd ??= now + WATCH_BURST_MS;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#burstEnd = undefined;
      this.#onEvents();
    }, Math.max(0, Math.min(WATCH_QUIET_MS, this.#burstEnd - now)));
  }

  #giveUp(error: Error): void {
    if (this.#isClosed) return;
    this.close();
    this.#onEvents();
    this.#log(
      `Cannot watch folders: ${error.message}; changes are found by the next rescan instead`,
    );
  }
}

/** Whether a folder may be read by Deno and by the system's leave, so that it can be watched. */
function isWatchable(path: string): boolean {
  const permission = { name: "read", path } as const;
  if (Deno.permissions.querySync(permission).state !== "granted") return false;
  try {
    Deno.readDirSync(path);
    return true;
  } catch {
    return false;
  }
}

// ---------------------------------------------------------------------------
// Resources
// ---------------------------------------------------------------------------

/**
 * Returns the URI of a skill's file, `skill://<name>/<path>`, or of the skill
 * itself where no path is given.
 *
 * ```ts
 * import { parseSkillUri, skillUri } from "@skill-server/skill-server";
 *
 * const uri = skillUri("pdf", "reference/forms & fields.md");
 * if (uri !== "skill://pdf/reference/forms%20%26%20fields.md") throw new Error(uri);
 * console.log(parseSkillUri(uri)); // { name: "pdf", path: "reference/forms & fields.md" }
 * ```
 *
 * @see {@link https://modelcontextprotocol.io/extensions/skills/overview}
 *
 * @param name The skill's name, any characters.
 * @param path The file's path from the skill directory; empty for the collection of all its files.
 * @returns The URI, each name in it percent-encoded.
 */
export function skillUri(name: string, path?: string): string {
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  const rest = path === undefined
    ? ""
    : `/${path.split("/").map(encode).join("/")}`;
  return `skill://${encode(name)}${rest}`;
}

/**
 * Takes a URI apart that {@linkcode skillUri} makes. Each file has one URI
 * only: a path with empty names, `.` or `..` in it has none.
 *
 * @param uri Any text.
 * @returns The name and the path (`undefined` for the skill itself, empty for the collection), or `undefined` if it is no such URI.
 */
export function parseSkillUri(
  uri: string,
): { name: string; path: string | undefined } | undefined {
  const [, name, path] = /^skill:\/\/([^/?#]*)(?:\/([^?#]*))?$/.exec(uri) ?? [];
  if (!name) return undefined;
  try {
    const names = path?.split("/").map(decodeURIComponent);
    const isExact = !path ||
      names!.every((name) =>
        name !== "" && name !== "." && name !== ".." && !name.includes("/")
      );
    if (!isExact) return undefined;
    return { name: decodeURIComponent(name), path: names?.join("/") };
  } catch {
    return undefined;
  }
}

/** What `resources/read` and embedded resources hold: text to the letter, or base64. */
type ResourceContents =
  | { uri: string; mimeType?: string; text: string }
  | { uri: string; mimeType?: string; blob: string };

/**
 * Makes the contents of a resource of a file.
 *
 * @internal
 */
export async function resourceContents(
  uri: string,
  { path, text, bytes }: SkillFileContent,
): Promise<ResourceContents> {
  const mimeType = await mimeTypeOf(path);
  return text === undefined
    ? { uri, mimeType, blob: bytes.toBase64() }
    : { uri, mimeType, text };
}

/**
 * Returns the media type that the ending of a file's name stands for.
 *
 * @internal
 */
export async function mimeTypeOf(path: string): Promise<string | undefined> {
  // In a skill this is TypeScript. The registry knows only a video format.
  if (/\.[cm]?tsx?$/i.test(path)) return "text/typescript";
  const { default: mime } = await import("npm:mime@^4");
  return mime.getType(path) ?? undefined;
}

// ---------------------------------------------------------------------------
// Tools
// ---------------------------------------------------------------------------

/** A set of tools that belong together, named after the server that has them. */
export type Toolset = "skill" | "skilljack" | "reference" | "agentskills";

/** Options of {@linkcode registerSkillTools}. */
export interface SkillToolOptions {
  /** Which tools. */
  readonly toolset: Toolset;
  /** How many characters the description of a tool may have. Default: as many as it takes. */
  readonly descriptionLimit?: number;
  /** How long a shell command may run, in seconds. Default: 60. */
  readonly shellTimeout?: number;
  /** Whether Python packages are installed before a command that needs some. Default: `false`. */
  readonly autoInstallDeps?: boolean;
}

/** What a tool works with. */
interface ToolContext {
  readonly registry: SkillRegistry;
  readonly options: SkillToolOptions;
  /** Ends when the client takes its call back, or goes. */
  readonly signal: AbortSignal;
}

/** A tool: one entry of a toolset. */
interface SkillTool<Input extends z.ZodObject = z.ZodObject> {
  /** The name it is called by. */
  readonly name: string;
  /** The name that people read. */
  readonly title: string;
  /** Writes what the model reads, from the skills there are. */
  readonly describe: (catalog: SkillCatalog) => string;
  /** Writes it such that it has no more characters than a limit. Default: what it always is. */
  readonly describeShortly?: (catalog: SkillCatalog, limit: number) => string;
  /** What it takes. */
  readonly input: Input;
  /** What its structured result looks like, if it gives one. */
  readonly output?: z.ZodObject;
  /** What it does to the world. */
  readonly annotations: ToolAnnotations;
  /** Whether Deno's permissions are enough for it. Default: they are. */
  readonly isAllowed?: () => boolean;
  /** Does it. Throws an error whose message is for the model if it cannot. */
  readonly call: (
    input: z.infer<Input>,
    context: ToolContext,
  ) => CallToolResult | Promise<CallToolResult>;
}

/** Makes an entry of the table of tools: its input is checked before it is called. */
function defineTool<Input extends z.ZodObject>(
  tool: SkillTool<Input>,
): SkillTool {
  const call = async (input: unknown, context: ToolContext) =>
    await tool.call(tool.input.parse(input), context);
  return { ...tool, call };
}

/** Annotations of a tool that only reads skills. */
const READS: ToolAnnotations = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
};

/** The tool `skill`, where nothing else is asked for. */
const skillTool = defineTool({
  name: "skill",
  title: "Load Skill",
  describe: (catalog) =>
    `Execute a skill within the main conversation

<skills_instructions>
When users ask you to perform tasks, check if any of the available skills below can help complete the task more effectively. Skills provide specialized capabilities and domain knowledge.

How to use skills:
- Invoke skills using this tool with the skill name only (no arguments)
- When you invoke a skill, you will see <command-message>The "{name}" skill is loading</command-message>
- The skill's prompt will expand and provide detailed instructions on how to complete the task
- Examples:
  - \`name: "pdf"\` - invoke the pdf skill
  - \`name: "xlsx"\` - invoke the xlsx skill
  - \`name: "ms-office-suite:pdf"\` - invoke using fully qualified name

Important:
- Only use skills listed in <available_skills> below
- Do not invoke a skill that is already running
- Do not use this tool for built-in CLI commands (like /help, /clear, etc.)
</skills_instructions>

${availableSkills(catalog, ({ scope }) => scope)}`,
  describeShortly: (catalog, limit) =>
    shortList(
      "Load a skill: instructions for a particular kind of task. Before you begin a task, load the skill that fits it by its name.",
      catalog,
      limit,
    ),
  input: z.strictObject({
    name: z.string()
      .min(1, "Skill name cannot be empty")
      .describe("Name of the skill to load (case-insensitive)"),
  }),
  annotations: READS,
  call: async ({ name }, { registry }) => {
    const { skill, text } = await readSkillText(name, registry);
    return textResult(
      `Loading: ${skill.name}\nBase directory: ${skill.directory}\n\n${text}`,
    );
  },
});

/** Skilljack's tool `skill`. */
const skilljackSkillTool = defineTool({
  name: "skill",
  title: "Activate Skill",
  describe: (catalog) =>
    `Load and activate an Agent Skill by name. Returns the full SKILL.md content.

# Skills

When a user's task matches a skill description below: 1) activate it, 2) follow its instructions completely.

${availableSkills(catalog, ({ file }) => file)}`,
  describeShortly: (catalog, limit) =>
    shortList(
      "Load an Agent Skill by name. When a task matches a skill below: 1) activate it, 2) follow its instructions completely.",
      catalog,
      limit,
    ),
  input: z.object({
    name: z.string().describe("Skill name from <available_skills>"),
  }),
  annotations: READS,
  call: ({ name }, context) => loadSkill(name, context),
});

/** Skilljack's tool `skill-resource`. */
const skilljackResourceTool = defineTool({
  name: "skill-resource",
  title: "Read Skill File",
  describe: () =>
    "Read files within a skill's directory (scripts/, references/, assets/, snippets/, …) as its instructions name them. Pass the path of a file to read it, the path of a folder to read all files in it, or an empty path to list the files.",
  input: z.object({
    skill: z.string().describe("Skill name"),
    path: z.string().describe(
      "Path from the skill's directory: 'snippets/tool.ts' (a file), 'templates' (all files in a folder), '' (the list of files)",
    ),
  }),
  annotations: READS,
  call: ({ skill: name, path }, { registry }) =>
    withSkill(
      name,
      registry,
      (skill) =>
        path.trim() === ""
          ? listResources(skill, registry)
          : readResource(skill, path, registry),
    ),
});

/** The reference implementation's tool `list_skills`. */
const referenceListTool = defineTool({
  name: "list_skills",
  title: "List Available Skills",
  describe: (catalog) =>
    `List all available skills with their names and descriptions. Read one with read_skill when a task needs it.\n\nCurrently available:\n${
      modelSkills(catalog).map(skillLine).join("\n") || "none"
    }`,
  describeShortly: (catalog, limit) =>
    shortList(
      "List all available skills. Read one with read_skill when a task needs it.",
      catalog,
      limit,
    ),
  input: z.object({}),
  output: z.object({
    skills: z.array(z.object({ name: z.string(), description: z.string() })),
  }),
  annotations: READS,
  call: (_input, { registry }) => {
    const skills = modelSkills(registry.catalog).map(
      ({ name, description }) => ({ name, description }),
    );
    const text = JSON.stringify(skills, null, 2);
    return { ...textResult(text), structuredContent: { skills } };
  },
});

/** The reference implementation's tool `read_skill`. */
const referenceReadTool = defineTool({
  name: "read_skill",
  title: "Read Skill Instructions",
  describe: () =>
    "Read the full instructions of a skill by its name. Returns the complete SKILL.md content.",
  input: z.object({
    name: z.string().describe("The skill name to read (from list_skills)"),
  }),
  annotations: READS,
  call: ({ name }, context) => loadSkill(name, context),
});

/** AgentSkills' tool `load_skill_metadata_op`. */
const agentSkillsMetadataTool = defineTool({
  name: "load_skill_metadata_op",
  title: "Load Skill Metadata",
  describe: () =>
    "Load metadata from all available skills (always call at task start). Returns each skill's description and directory by its name.",
  input: z.object({}),
  annotations: READS,
  call: (_input, { registry }) => {
    const metadata = modelSkills(registry.catalog).map(
      ({ name, description, directory }) =>
        [name, { description, skill_dir: directory }] as const,
    );
    return textResult(JSON.stringify(Object.fromEntries(metadata), null, 2));
  },
});

/** What AgentSkills' tools call a skill by. */
const skillName = z.string().describe("Name of the skill");

/** AgentSkills' tool `load_skill_op`. */
const agentSkillsLoadTool = defineTool({
  name: "load_skill_op",
  title: "Load Skill",
  describe: () => "Load a specific skill's instructions (its SKILL.md).",
  input: z.object({ skill_name: skillName }),
  annotations: READS,
  call: ({ skill_name }, context) => loadSkill(skill_name, context),
});

/** AgentSkills' tool `read_reference_file_op`. */
const agentSkillsReadTool = defineTool({
  name: "read_reference_file_op",
  title: "Read Reference File",
  describe: () =>
    "Read a reference file of a skill, such as forms.md or reference.md, from the skill's directory.",
  input: z.object({
    skill_name: skillName,
    file_name: z.string().describe(
      "The file's name, or its path from the skill's directory",
    ),
  }),
  annotations: READS,
  call: ({ skill_name, file_name }, { registry }) =>
    withSkill(skill_name, registry, async (skill) => ({
      content: [await fileContent(skill, file_name, registry)],
    })),
});

/** AgentSkills' tool `run_shell_command_op`: the only one that runs anything. */
const agentSkillsShellTool = defineTool({
  name: "run_shell_command_op",
  title: "Run Shell Command",
  describe: () =>
    "Execute a shell command in a skill's directory, for instance to run a script that the skill's instructions name. Returns what it wrote to stdout and stderr.",
  input: z.object({
    skill_name: skillName,
    command: z.string().describe("The shell command to execute"),
  }),
  annotations: {
    readOnlyHint: false,
    destructiveHint: true,
    idempotentHint: false,
    openWorldHint: true,
  },
  isAllowed: mayRunShell,
  call: async ({ skill_name, command }, { registry, options, signal }) => {
    const skill = await withSkill(skill_name, registry, (skill) => skill);
    const { shellTimeout = DEFAULT_SHELL_TIMEOUT, autoInstallDeps } = options;
    return runShellCommand(command, {
      directory: skill.directory,
      install: autoInstallDeps === true && command.includes("py"),
      timeout: shellTimeout,
      signal,
    });
  },
});

/** The toolsets: to add one, add a line. */
const TOOLSETS: Readonly<Record<Toolset, readonly SkillTool[]>> = {
  skill: [skillTool],
  skilljack: [skilljackSkillTool, skilljackResourceTool],
  reference: [referenceListTool, referenceReadTool],
  agentskills: [
    agentSkillsMetadataTool,
    agentSkillsLoadTool,
    agentSkillsReadTool,
    agentSkillsShellTool,
  ],
};

/**
 * The names of the toolsets.
 *
 * @internal
 */
export const TOOLSET_NAMES = Object.keys(TOOLSETS) as Toolset[];

/** The skills that a model may load by itself. */
function modelSkills({ skills }: SkillCatalog): Skill[] {
  return [...skills.values()].filter(isForModel);
}

function isForModel({ frontmatter }: Skill): boolean {
  return frontmatter["disable-model-invocation"] !== true;
}

/** Lists the skills for a tool's description, so that none can break out of the list. */
function availableSkills(
  catalog: SkillCatalog,
  locationOf: (skill: Skill) => string,
): string {
  const skills = modelSkills(catalog).map((skill) =>
    `<skill>
<name>${escapeXml(oneLine(skill.name))}</name>
<description>${escapeXml(skill.description.trim())}</description>
<location>${escapeXml(oneLine(locationOf(skill)))}</location>
</skill>`
  );
  return `<available_skills>\n${skills.join("\n")}\n</available_skills>`;
}

/**
 * Lists the skills such that the whole has no more characters than a limit:
 * every name, and of the descriptions what there is room for, the same for
 * each. Where even the names have no room, the last line says how to find the
 * others.
 */
function shortList(
  usage: string,
  catalog: SkillCatalog,
  limit: number,
): string {
  const skills = modelSkills(catalog).map(({ name, description }) => ({
    name: escapeXml(oneLine(name)),
    description: escapeXml(oneLine(description)),
  }));
  const head = `${usage}\n\nSkills:`;
  const names = skills.map(({ name }) => `\n- ${name}`);
  const room = limit - head.length - names.join("").length;
  if (room < 0) return `${head}${fittingNames(names, limit - head.length)}`;
  const share = fairShare(skills.map(({ description }) => description), room);
  const lines = names.map((name, index) => {
    const { description } = skills[index]!;
    const text = `: ${shorten(description, share - ": ".length)}`;
    return share > ": …".length ? name + text : name;
  });
  return head + lines.join("");
}

/** Returns how long each text may be, so that all together have no more characters than there is room for. */
function fairShare(texts: readonly string[], room: number): number {
  const lengths = texts.map(({ length }) => length + ": ".length)
    .sort((a, b) => a - b);
  let rest = room;
  for (const [index, length] of lengths.entries()) {
    const share = Math.floor(rest / (lengths.length - index));
    if (length > share) return share;
    rest -= length;
  }
  return Infinity;
}

/** Cuts a text at the end of a word where it can, so that it has no more characters than a limit. */
function shorten(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit - 1).toWellFormed().replace(/&[a-z]*$/, "");
  const word = cut.lastIndexOf(" ");
  return `${word > limit / 2 ? cut.slice(0, word) : cut}…`;
}

/** Returns as many names as there is room for, and a last line about the others. */
function fittingNames(names: readonly string[], room: number): string {
  const lastLine = (count: number) =>
    `\n(and ${count} more: ask for one by its name, or for words, and the nearest are named)`;
  let text = "";
  for (const [index, name] of names.entries()) {
    const rest = names.length - index - 1;
    if (`${text}${name}${lastLine(rest)}`.length > room) {
      return `${text}${lastLine(rest + 1)}`.slice(0, Math.max(room, 0));
    }
    text += name;
  }
  return text;
}

function skillLine({ name, description }: Skill): string {
  return `- ${oneLine(name)}: ${oneLine(description)}`;
}

/**
 * Finds a skill for a model and does something with it. Before that fails it
 * looks again, since the skill may have come, gone or moved a moment ago.
 *
 * @throws {Error} If there is no such skill, with a text that a model can act on.
 */
async function withSkill<T>(
  name: string,
  registry: SkillRegistry,
  use: (skill: Skill) => T | Promise<T>,
): Promise<T> {
  try {
    return await use(findForModel(name, registry));
  } catch {
    await registry.refresh();
    return await use(findForModel(name, registry));
  }
}

function findForModel(name: string, registry: SkillRegistry): Skill {
  const skill = registry.find(name);
  if (skill && isForModel(skill)) return skill;
  throw new Error(notFoundText(name, registry.catalog));
}

/**
 * Reads the `SKILL.md` of a skill as it is now. If it changed since the scan
 * its frontmatter may say something else by now, so it is scanned anew.
 *
 * @throws {Error} If there is no such skill (any more), with a text that a model can act on.
 */
async function readSkillText(
  name: string,
  registry: SkillRegistry,
): Promise<{ skill: Skill; text: string }> {
  const read = (skill: Skill) => ({
    skill,
    file: registry.readFile(skill, "SKILL.md"),
  });
  let { skill, file } = await withSkill(name, registry, read);
  if (file.version !== skill.version) {
    await registry.refresh();
    ({ skill, file } = await withSkill(name, registry, read));
  }
  return { skill, text: file.text ?? new TextDecoder().decode(file.bytes) };
}

async function loadSkill(
  name: string,
  { registry }: ToolContext,
): Promise<CallToolResult> {
  return textResult((await readSkillText(name, registry)).text);
}

/** Reads a file of a skill as one item of a result. */
async function fileContent(
  skill: Skill,
  path: string,
  registry: SkillRegistry,
): Promise<CallToolResult["content"][number]> {
  const file = registry.readFile(skill, path);
  if (file.text !== undefined) return { type: "text", text: file.text };
  const uri = skillUri(skill.name, file.path);
  return { type: "resource", resource: await resourceContents(uri, file) };
}

function listResources(skill: Skill, registry: SkillRegistry): CallToolResult {
  const paths = registry.listFiles(skill)
    .map(({ path }) => path)
    .filter((path) => path !== "SKILL.md");
  const name = quote(skill.name);
  return textResult(
    paths.length > 0
      ? `Files of the skill ${name}:\n\n- ${paths.join("\n- ")}`
      : `The skill ${name} has no files beside its SKILL.md`,
  );
}

/** Reads a file, or all files in a folder. */
async function readResource(
  skill: Skill,
  path: string,
  registry: SkillRegistry,
): Promise<CallToolResult> {
  try {
    return { content: [await fileContent(skill, path, registry)] };
  } catch (error) {
    const files = registry.listFiles(skill);
    const inFolder = filesBelow(path, files);
    if (inFolder.length > 0) return readFolderFiles(skill, inFolder, registry);
    const paths = files.slice(0, NEAREST_SKILLS).map(({ path }) => quote(path));
    const rest = files.length - paths.length;
    const more = rest > 0 ? ` and ${rest} more` : "";
    throw new Error(
      `${(error as Error).message}. Its files: ${paths.join(", ")}${more}`,
    );
  }
}

/** Returns those files whose paths lead through a folder. */
function filesBelow(folder: string, files: readonly SkillFile[]): SkillFile[] {
  const names = namesOf(folder);
  if (names === undefined) return [];
  const prefix = names.map((name) => `${name}/`).join("");
  return files.filter(({ path }) => path.startsWith(prefix));
}

async function readFolderFiles(
  skill: Skill,
  files: readonly SkillFile[],
  registry: SkillRegistry,
): Promise<CallToolResult> {
  checkTogether(files);
  const content: CallToolResult["content"] = [];
  for (const { path } of files) {
    const item = await fileContent(skill, path, registry);
    if (item.type === "text") item.text = `--- ${path} ---\n${item.text}`;
    content.push(item);
  }
  return { content };
}

/**
 * Refuses to read files together that are more than one answer should hold.
 *
 * @internal
 * @throws {Error} If they are.
 */
export function checkTogether(files: readonly SkillFile[]): void {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  if (size > MAX_FILES_SIZE) {
    throw new Error(
      `Cannot read ${files.length} files at once: they have ${size} bytes together, more than ${MAX_FILES_SIZE}; read them one at a time`,
    );
  }
}

/** Says that there is no skill of a name, why one was skipped, and which there are. */
function notFoundText(name: string, catalog: SkillCatalog): string {
  const skipped = catalog.problems
    .filter((problem) => isAbout(name, problem))
    .map((problem) => `${describeProblem(problem)}\n\n`);
  const skills = modelSkills(catalog);
  const listed = skills.length > MAX_LISTED_SKILLS
    ? nearestSkills(name, skills)
    : skills;
  const lines = listed.map(skillLine);
  const rest = skills.length - listed.length;
  const echo = oneLine(name.slice(0, MAX_ECHO_LENGTH));
  if (rest > 0) lines.push(`(and ${rest} more, less like '${echo}')`);
  return `${skipped.join("")}Skill '${echo}' not found.

Available skills:
${lines.map((line) => `${line}\n`).join("")}
Use the exact skill name (case-insensitive) to load a skill.`;
}

/** Whether a problem is about the skill of this name, by its folder's name or its own. */
function isAbout(wanted: string, { names = [] }: SkillProblem): boolean {
  const key = skillKey(wanted);
  return names.some((name) => skillKey(name) === key);
}

/**
 * Returns the skills whose names and descriptions share most with a text, the
 * nearest first.
 *
 * @internal
 */
export function nearestSkills(
  text: string,
  skills: readonly Skill[],
): Skill[] {
  const wanted = [...wordsOf(text)].slice(0, MAX_SEARCH_WORDS);
  const score = (skill: Skill) => {
    const { name, description } = wordsOfSkill(skill);
    let sum = 0;
    for (const word of wanted) {
      if (name.has(word)) sum += 4;
      else if ([...name].some((other) => isLike(word, other))) sum += 2;
      if (description.has(word)) sum += 1;
    }
    return sum;
  };
  return skills
    .map((skill) => ({ skill, score: score(skill) }))
    .sort((a, b) => b.score - a.score)
    .slice(0, NEAREST_SKILLS)
    .map(({ skill }) => skill);
}

/** Returns the words of a skill, which are taken apart once for each skill. */
function wordsOfSkill(skill: Skill): SkillWords {
  let words = skillWords.get(skill);
  if (words === undefined) {
    const { name, description } = skill;
    words = { name: wordsOf(name), description: wordsOf(description) };
    skillWords.set(skill, words);
  }
  return words;
}

/** The words of a skill's name and description. */
type SkillWords = Record<"name" | "description", ReadonlySet<string>>;

const skillWords = new WeakMap<Skill, SkillWords>();

/** Whether one word begins with the other. */
function isLike(a: string, b: string): boolean {
  return a.startsWith(b) || b.startsWith(a);
}

function wordsOf(text: string): Set<string> {
  return new Set(skillKey(text).match(/[\p{L}\p{N}]+/gu) ?? []);
}

function textResult(text: string): CallToolResult {
  return { content: [{ type: "text", text }] };
}

/**
 * The low-level `Server` of `@modelcontextprotocol/sdk`, as far as tools need
 * it. (Written out, for its own type refers to much that is not documented here.)
 */
export interface SkillToolServer {
  /** Sets the handler of a request. */
  setRequestHandler(requestSchema: never, handler: never): void;
  /** Tells the client that the list of tools is another. */
  sendToolListChanged(): Promise<void>;
}

/**
 * Serves a toolset: its tools' descriptions follow the catalog, and the client
 * is told when they change.
 *
 * ```ts
 * import { registerSkillTools, SkillRegistry } from "@skill-server/skill-server";
 * import { Server } from "npm:@modelcontextprotocol/sdk@^1.32.2/server/index.js";
 *
 * using registry = new SkillRegistry([
 *   { path: "testdata/skills", scope: "project", recursive: false },
 * ]);
 * await registry.refresh();
 * const server = new Server(
 *   { name: "my-server", version: "1.0.0" },
 *   { capabilities: { tools: { listChanged: true } } },
 * );
 * registerSkillTools(server, registry, { toolset: "skill" });
 * // await server.connect(transport);
 * ```
 *
 * @param server The server, its capability `tools` declared, not yet connected.
 * @param registry The skills.
 * @param options Which tools, and how.
 */
export function registerSkillTools(
  server: SkillToolServer,
  registry: SkillRegistry,
  options: SkillToolOptions,
): void {
  const tools = TOOLSETS[options.toolset].filter(
    ({ isAllowed }) => isAllowed?.() ?? true,
  );
  const list = perCatalog((catalog) =>
    tools.map((tool) => toolEntry(tool, catalog, options.descriptionLimit))
  );
  handleRequest(
    server,
    ListToolsRequestSchema,
    ({ params }) => {
      refuseCursor(params?.cursor);
      return { tools: list(registry.catalog) };
    },
  );
  handleRequest(server, CallToolRequestSchema, ({ params }, { signal }) => {
    const tool = tools.find(({ name }) => name === params.name);
    if (tool === undefined) throw unknownTool(params.name, tools);
    const context = { registry, options, signal };
    return callTool(tool, params.arguments ?? {}, context);
  });
  tellWhenChanged(registry, list, () => server.sendToolListChanged());
}

/**
 * Refuses a cursor of a list that has but one page.
 *
 * @internal
 * @throws {Error} If there is one.
 */
export function refuseCursor(cursor: string | undefined): void {
  if (cursor === undefined) return;
  throw invalidParams(
    `Unknown cursor ${quote(cursor)}: take the nextCursor of a list, or none`,
  );
}

function unknownTool(name: string, tools: readonly SkillTool[]): Error {
  const names = tools.map(({ name }) => quote(name)).join(", ");
  return invalidParams(`Unknown tool ${quote(name)}: the tools are ${names}`);
}

function toolEntry(
  tool: SkillTool,
  catalog: SkillCatalog,
  limit = Infinity,
): Tool {
  const { name, title, annotations, input, output } = tool;
  const full = tool.describe(catalog);
  const description = full.length > limit && tool.describeShortly
    ? tool.describeShortly(catalog, limit)
    : full;
  const schema = (type: z.ZodObject) =>
    z.toJSONSchema(type, { io: "input" }) as Tool["inputSchema"];
  return {
    name,
    title,
    description,
    inputSchema: schema(input),
    ...(output && { outputSchema: schema(output) }),
    annotations: { title, ...annotations },
  };
}

/** Calls a tool. Whatever fails becomes a result that tells the model why. */
async function callTool(
  tool: SkillTool,
  input: Record<string, unknown>,
  context: ToolContext,
): Promise<CallToolResult> {
  try {
    return await tool.call(input, context);
  } catch (error) {
    const text = error instanceof z.ZodError
      ? `Cannot call ${quote(tool.name)}: ${describeIssues(error)}`
      : (error as Error).message;
    return { ...textResult(text), isError: true };
  }
}

function describeIssues({ issues }: z.ZodError): string {
  return issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ");
}

/**
 * Derives something from a catalog, once for each catalog.
 *
 * @internal
 */
export function perCatalog<T>(
  derive: (catalog: SkillCatalog) => T,
): (catalog: SkillCatalog) => T {
  const derived = new WeakMap<SkillCatalog, { value: T }>();
  return (catalog) => {
    let entry = derived.get(catalog);
    if (entry === undefined) {
      derived.set(catalog, entry = { value: derive(catalog) });
    }
    return entry.value;
  };
}

/**
 * Notifies the client when what is derived from the catalog is another.
 *
 * @internal
 */
export function tellWhenChanged(
  registry: SkillRegistry,
  list: (catalog: SkillCatalog) => unknown,
  notify: () => Promise<void>,
): void {
  registry.onChange(({ catalog, previous }) => {
    if (JSON.stringify(list(catalog)) === JSON.stringify(list(previous))) {
      return;
    }
    // Where no client is connected the notice has no way to go.
    notify().catch(() => {});
  });
}

/**
 * Sets the handler of a request. Params that do not fit the schema are answered
 * with "invalid params" and what is wrong with them.
 *
 * @internal
 */
export function handleRequest<Schema extends RequestSchema>(
  server: RequestHandlers,
  schema: Schema,
  handler: RequestHandler<z.infer<Schema>>,
): void {
  const any = z.looseObject({ method: schema.shape.method });
  plainSetRequestHandler(server).call(server, any, (request, extra) => {
    const { success, data, error } = schema.safeParse(request);
    if (success) return handler(data, extra);
    throw invalidParams(`Invalid params: ${describeIssues(error)}`);
  });
}

/**
 * Returns the method that sets a handler and does no more. The SDK's `Server`
 * has one of its own over that: it checks calls of tools once more, before and
 * after, and answers with a list of zod's issues.
 */
function plainSetRequestHandler(server: RequestHandlers): SetRequestHandler {
  let found: unknown;
  for (let type = server; type !== null; type = Object.getPrototypeOf(type)) {
    if (Object.hasOwn(type, "setRequestHandler")) {
      found = type.setRequestHandler;
    }
  }
  return found as SetRequestHandler;
}

/** Sets the handler of the requests that a schema takes. */
type SetRequestHandler = (
  this: RequestHandlers,
  schema: RequestSchema,
  handler: RequestHandler,
) => void;

/**
 * Handles a request. What it throws is answered with, by its code if it has one.
 *
 * @internal
 */
export type RequestHandler<Request = unknown> = (
  request: Request,
  extra: { signal: AbortSignal },
) => Result | Promise<Result>;

/** What handles requests: any server of the SDK. */
type RequestHandlers = Pick<SkillToolServer, "setRequestHandler">;

/**
 * The schema of a request.
 *
 * @internal
 */
export type RequestSchema = z.ZodObject<{ method: z.ZodLiteral<string> }>;

/**
 * Makes an error that the SDK answers with as it is: JSON-RPC's "invalid params".
 *
 * @internal
 */
export function invalidParams(message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code: -32602, data });
}

// ---------------------------------------------------------------------------
// Shell
// ---------------------------------------------------------------------------

/** The program that runs shell commands. */
const SHELL = isWindows ? "cmd" : "sh";

/**
 * Deno's flag for the permission to run the shell.
 *
 * @internal
 */
export const ALLOW_SHELL: string = `--allow-run=${SHELL}`;

/**
 * Whether Deno may run the shell.
 *
 * @internal
 */
export function mayRunShell(): boolean {
  const permission = { name: "run", command: SHELL } as const;
  return Deno.permissions.querySync(permission).state === "granted";
}

/** Installs what the Python files here import, then runs `$1`. */
const INSTALL_AND_RUN = `
if command -v pipreqs >/dev/null 2>&1; then
  list=$(mktemp) &&
    { pipreqs --force --savepath "$list" . && pip install -r "$list"; } >"$list.log" 2>&1 ||
    { echo "Cannot install the packages that the Python files import:"; cat "$list.log"; } >&2
  rm -f "$list" "$list.log"
fi
exec sh -c "$1"`;

/** How to run a command in a folder. */
interface ShellRun {
  readonly directory: string;
  /** Whether Python packages are installed before. */
  readonly install: boolean;
  /** Time limit in seconds. */
  readonly timeout: number;
  readonly signal: AbortSignal;
}

/**
 * Runs a shell command to its end, or to its time limit. Whatever it has
 * started by then ends with it.
 */
async function runShellCommand(
  command: string,
  { directory, install, timeout, signal }: ShellRun,
): Promise<CallToolResult> {
  signal.throwIfAborted();
  const shell = new Deno.Command(SHELL, {
    args: shellArguments(command, install),
    cwd: directory,
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    // So that they can be ended together. On Windows that takes no group of
    // processes, and one would have a window of its own.
    detached: !isWindows,
    windowsRawArguments: true,
  }).spawn();
  let isLate = false;
  const kill = () => killTree(shell.pid);
  const timer = setTimeout(() => {
    isLate = true;
    kill();
  }, timeout * 1000);
  signal.addEventListener("abort", kill);
  const outputs = [new Output(shell.stdout), new Output(shell.stderr)];
  const { code } = await shell.status;
  // On Windows what has ended leaves no trace of what it has started.
  if (!isWindows) kill();
  clearTimeout(timer);
  signal.removeEventListener("abort", kill);
  const [stdout, stderr] = await Promise.all(outputs.map((out) => out.end()));
  const text = `${stdout}\n${stderr}`;
  if (isLate) {
    const note =
      `[ended after ${timeout} s, the time limit; --shell-timeout sets it]`;
    return { ...textResult(`${text}\n${note}`), isError: true };
  }
  return textResult(code === 0 ? text : `${text}\n[exit code ${code}]`);
}

function shellArguments(command: string, install: boolean): string[] {
  if (isWindows) return ["/d", "/s", "/c", `"${command}"`];
  return install ? ["-c", INSTALL_AND_RUN, "sh", command] : ["-c", command];
}

/** Ends a process and all that it has started and that is still in its group. */
function killTree(pid: number): void {
  try {
    if (isWindows) {
      // By the shell, since that is what may be run.
      const args = ["/d", "/c", "taskkill", "/T", "/F", "/PID", String(pid)];
      new Deno.Command(SHELL, { args }).outputSync();
    } else if (
      Deno.permissions.querySync({ name: "run" }).state === "granted"
    ) {
      Deno.kill(-pid, "SIGKILL");
    } else {
      const args = ["-c", `kill -s KILL -- -${pid}`];
      new Deno.Command(SHELL, { args, stderr: "null" }).outputSync();
    }
  } catch {
    // Nothing of it is left.
  }
}

/** Collects what a process writes, up to a limit. */
class Output {
  readonly #reader: ReadableStreamDefaultReader<Uint8Array<ArrayBuffer>>;
  readonly #chunks: Uint8Array<ArrayBuffer>[] = [];
  readonly #reading: Promise<void>;
  #size = 0;

  constructor(stream: ReadableStream<Uint8Array<ArrayBuffer>>) {
    this.#reader = stream.getReader();
    this.#reading = this.#read();
  }

  /** Waits for the end, but not long: a process that left the group may hold the pipe. */
  async end(): Promise<string> {
    const timer = setTimeout(() => this.#reader.cancel(), OUTPUT_GRACE_MS);
    await this.#reading;
    clearTimeout(timer);
    const text = await new Blob(this.#chunks).text();
    const rest = this.#size - MAX_OUTPUT_SIZE;
    return rest > 0 ? `${text}\n[${rest} more bytes are left out]` : text;
  }

  async #read(): Promise<void> {
    for (;;) {
      const { value } = await this.#reader.read();
      if (value === undefined) return;
      const room = MAX_OUTPUT_SIZE - this.#size;
      if (room > 0) this.#chunks.push(value.subarray(0, room));
      this.#size += value.length;
    }
  }
}

// ---------------------------------------------------------------------------
// Main
// ---------------------------------------------------------------------------

if (import.meta.main) {
  // Not awaited: this module must be whole before one that imports it can run.
  import("./skill_server.ts").then(({ main }) => main(Deno.args));
}
