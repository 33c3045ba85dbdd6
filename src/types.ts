/**
 * The data that everything else is about: roots, skills, catalogs, files.
 *
 * @module
 */

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

/**
 * What the user's policy says of a skill: listed as usual, listed first, listed
 * last and by its name alone where room is short, for the user only, or not
 * there at all.
 */
export type SkillState = "on" | "pinned" | "name-only" | "manual" | "off";

/** A rule of a policy. It fits the skills that all of its conditions fit. */
export interface SkillPolicyRule {
  /** What it says of them. */
  readonly state: SkillState;
  /** A glob on the skill's name, in any case. Default: `*`. */
  readonly skill?: string;
  /** The scope of the skill. Default: either. */
  readonly scope?: SkillScope;
  /**
   * A glob on the skill directory; `~` is home. Where it has no wildcard, it
   * fits the folder and everything in it. Default: any directory.
   */
  readonly in?: string;
  /** The line of {@linkcode SkillPolicy.file} that it is on, from 1. */
  readonly line?: number;
}

/** Which skills are served, and how prominently. */
export interface SkillPolicy {
  /** The rules: the last one that fits a skill decides. A skill that none fits is `"on"`. */
  readonly rules: readonly SkillPolicyRule[];
  /** The file that it was read from. Relative globs start in its folder, else in the working directory. */
  readonly file?: string;
  /** The home folder, for globs that start with `~`. */
  readonly homeDirectory?: string;
}

/** A skill that was found. */
export interface Skill {
  /** The name in its frontmatter, without invisible characters. */
  readonly name: string;
  /** The description in its frontmatter, without invisible characters. */
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
  /** What the user's policy says of it. Default: `"on"`. */
  readonly state?: SkillState;
  /**
   * What stands before its name where another skill has the plain one: in
   * `prefix:name`, and in its URIs, `skill://prefix/name/…`.
   */
  readonly prefix?: string;
}

/** What a policy decided, for people to see. */
export interface SkillPolicyReport {
  /** The rules that decided, by the skills of the catalog. */
  readonly rules: ReadonlyMap<Skill, SkillPolicyRule>;
  /** The skills that are off, and the rules that decided. */
  readonly off: readonly { skill: Skill; rule: SkillPolicyRule | undefined }[];
  /** The rules that fit no skill. */
  readonly unused: readonly SkillPolicyRule[];
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
  /** Real paths of folders that do not belong to the skills that they lie in: those of skills that are off. */
  readonly excludedFolders?: ReadonlySet<string>;
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
  /** Which skills are served, and how prominently. Default: all, alike. */
  readonly policy?: SkillPolicy;
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
  /** The keys of the skills that are new, gone, or have another `SKILL.md` than before. Of a shadowed skill, that of its qualified name. */
  readonly keys: ReadonlySet<string>;
  /** The keys of the other skills of which the policy says something else than before. */
  readonly states: ReadonlySet<string>;
  /** The paths of the other files that are new, gone or changed, by the keys of their skills, as far as those are tracked. */
  readonly files: ReadonlyMap<string, ReadonlySet<string>>;
}

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

/** Takes what a refresh changed. */
export type SkillChangeListener = (change: SkillChange) => void;

/**
 * The skills and the only way to their files: what tools, prompts, resources
 * and reports are made of. `SkillRegistry` is the one that there is.
 */
export interface SkillSource {
  /** The catalog of the last whole scan. */
  readonly catalog: SkillCatalog;
  /** Finds a skill by its name or its qualified name, in any case. */
  find(name: string): Skill | undefined;
  /** Lists the files of a skill. */
  listFiles(skill: Skill): SkillFile[];
  /** Lists the files of a skill, and what else lies in it and is not served. */
  inspectFiles(skill: Skill): { files: SkillFile[]; leftOut: SkillProblem[] };
  /** Finds the skill that a `skill://` URI belongs to, and the path of the file in it. */
  findResource(
    uri: string,
  ): { skill: Skill; path: string | undefined } | undefined;
  /** Reads a file of a skill. */
  readFile(skill: Skill, path: string): SkillFileContent;
  /** Returns the digest of a file of a skill, and the size of what it was made from. */
  digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }>;
  /** Scans the roots again. */
  refresh(): Promise<SkillCatalog>;
  /** Calls a listener after each refresh that changed something. */
  onChange(listener: SkillChangeListener): () => void;
}
