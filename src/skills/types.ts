/**
 * The data types of skills, which the source and users of the library share: roots,
 * skills, and catalogs.
 */

import type { BaseDirs } from "../fs/paths.ts";
import type {
  Diagnostic,
  DiagnosticDetails,
  Effect,
  ReportedDiagnostic,
  Rule,
} from "../diagnostics.ts";

export type { BaseDirs };
export type { Diagnostic, DiagnosticDetails, Effect, ReportedDiagnostic, Rule };

/** Options for access to files. */
export interface FileAccessOptions {
  /** The maximum size of a file that can be read, in bytes. Default: 1 MiB. */
  readonly maxFileSize?: number | undefined;
  /** Directories that links in any skill are allowed to point into. */
  readonly trustLinks?: readonly string[] | undefined;
}

/** A file of a skill. */
export interface SkillFile {
  /** Its path relative to the skill's directory, with `/` as the separator. */
  readonly path: string;
  /** Its size in bytes. */
  readonly size: number;
  /**
   * A string that changes when the file does. It consists of the file's device,
   * inode, size, and times.
   */
  readonly version: string;
}

/** A file of a skill and its content. */
export interface SkillFileContent extends SkillFile {
  /** The file's bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The exact text, or `undefined` if the bytes are not valid UTF-8. */
  readonly text: string | undefined;
}

/** The contents of a skill's directory. */
export interface SkillFiles {
  /** The files that can be read, sorted by path. */
  readonly files: SkillFile[];
  /** The real paths of the directories. */
  readonly dirs: string[];
  /**
   * The entries that are not served, such as links that point outside and files that
   * are too large or too deep. Their paths are relative to the skill's directory (empty
   * for the directory itself), and end with `/` for directories that cannot be read.
   */
  readonly leftOut: Diagnostic[];
  /** The number of entries that were visited. If it is more than the limit, there are others. */
  readonly entries: number;
}

/** Where a skill comes from: the current project or the user's own directories. */
export type SkillScope = "project" | "global";

/** A directory that contains the directories of skills. */
export interface SkillRoot {
  /** The directory's path as configured. */
  readonly path: string;
  /**
   * Whose limits apply: a root of a project may have at most 1,000 directories, and a
   * scan reads it for two seconds at most. Whose it is depends on its real path alone.
   */
  readonly scope: SkillScope;
  /** Whether to search six levels of subdirectories instead of one. Default: `false`. */
  readonly recursive?: boolean | undefined;
  /**
   * Whether the directory is served as a skill if it has a `SKILL.md` itself. Default:
   * {@linkcode SkillRoot.recursive}.
   */
  readonly includesItself?: boolean | undefined;
  /** Whether it is a problem if the directory is missing. Default: `false`. */
  readonly mustExist?: boolean | undefined;
  /**
   * Whether links in it count only if they lead into a root that confines its links,
   * too, or into a trusted directory. Default: `false`.
   */
  readonly confinesLinks?: boolean | undefined;
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
  /** Any other field. */
  readonly [field: string]: unknown;
}

/** How a skill is served according to the user's policy. `docs/policy.md` explains each state. */
export type SkillState = "on" | "pinned" | "name-only" | "manual" | "off";

/** From whom something is hidden, from the least strict to the strictest. */
export type SkillHiding = "nobody" | "model" | "everyone";

/** A rule of a policy. It applies to the skills that match all of its conditions. */
export interface SkillPolicyRule {
  /** How these skills are served. */
  readonly state: SkillState;
  /**
   * The skill's name, or a list of names, regardless of case. `*` stands for any text,
   * and `?` for one character. Default: any name.
   */
  readonly skill?: string | readonly string[] | undefined;
  /** The scope of the skill. Default: both. */
  readonly scope?: SkillScope | undefined;
  /**
   * A directory, or a list of directories. Everything in them at any depth counts.
   * Default: any directory.
   */
  readonly in?: string | readonly string[] | undefined;
  /** Its path in the policy file, such as `rules[2]`. */
  readonly path?: string | undefined;
}

/** Which skills are served, and how prominently. */
export interface SkillPolicy {
  /** The rules. The last one that matches a skill applies. Without one, it is `"on"`. */
  readonly rules: readonly SkillPolicyRule[];
}

/** A skill. */
export interface Skill {
  /** The clean name of its frontmatter: on one line, without escapes and invisible characters. */
  readonly name: string;
  /** The description in its frontmatter, without invisible characters. */
  readonly description: string;
  /** The whole frontmatter. */
  readonly frontmatter: SkillFrontmatter;
  /** The skill's directory as configured. This is the path to show to users. */
  readonly directory: string;
  /** The skill's directory with all links resolved: the boundary of its files. */
  readonly realDirectory: string;
  /** The path of its `SKILL.md` below {@linkcode Skill.directory}. */
  readonly file: string;
  /** The beginning of its instructions, for searching: up to 800 bytes of UTF-8. */
  readonly excerpt: string;
  /** The {@linkcode SkillFile.version} of its `SKILL.md` when it was scanned. */
  readonly fileVersion: string;
  /** Whether it is the project's or the user's own. See {@linkcode ScanOptions}. */
  readonly scope: SkillScope;
  /** The root it was found in. */
  readonly root: SkillRoot;
  /**
   * From whom it is hidden: by its state, by its frontmatter, or because its `SKILL.md`
   * is a link into a hidden directory.
   */
  readonly hiddenFrom: SkillHiding;
  /** Whether its frontmatter hides it from the user, who loads skills as prompts. */
  readonly isHiddenFromUser: boolean;
  /** Whether its frontmatter parses only after a repair, so that hosts cannot read it. */
  readonly isRepaired: boolean;
  /** How it is served according to the user's policy. */
  readonly state: SkillState;
  /** The rule of the policy that applies, if there is one. */
  readonly policyRule?: SkillPolicyRule | undefined;
  /** The plugin that it is in, if its directory is `<plugin>/skills/<name>`. */
  readonly plugin?: string | undefined;
  /**
   * Its scope or its plugin, if another skill is served under its plain name. It then
   * has a qualified name, `scope:name` or `plugin:name`, and URIs such as
   * `skill://global%3Agit/…`.
   */
  readonly prefix?: string | undefined;
}

/** A skill whose plain name loads another skill. */
export interface ShadowedSkill {
  /** The shadowed skill. */
  readonly skill: Skill;
  /** The skill that is served under that name. */
  readonly by: Skill;
}

/** A directory with a `SKILL.md` that is not served, because something is wrong with it. */
export interface SkippedSkill {
  /** The name in its frontmatter, if that can be read, and the names of its directory. */
  readonly names: readonly string[];
  /** The plugin that it is in, if there is one. */
  readonly plugin?: string | undefined;
  /** Why it is skipped: everything that is wrong with it. */
  readonly diagnostics: readonly Diagnostic[];
  /** Whose it is. */
  readonly scope: SkillScope;
  /** Whether the model could load it if it were valid. */
  readonly isForModel: boolean;
  /** The path of its `SKILL.md` in the project, with slashes, if it is one of the project. */
  readonly projectPath?: string | undefined;
}

/** The result of scanning a root. */
export interface SkillRootReport {
  /** The root. */
  readonly root: SkillRoot;
  /** The scope of its real path, or of its path if it is missing. */
  readonly scope: SkillScope;
  /** Whether it was searched, does not exist, or cannot be searched. */
  readonly status: "found" | "missing" | "refused";
  /** Its path with all links resolved, if it was searched. */
  readonly realPath?: string | undefined;
  /** The number of skills in it, without those that are off. */
  readonly skills: number;
  /** How many of these skills are in an earlier root, too, through a symlink. */
  readonly repeated: number;
}

/** The result of a scan: an immutable snapshot. */
export interface SkillCatalog {
  /** The skills, in the order of their keys: the names, cleaned and in lowercase. */
  readonly skills: ReadonlyMap<string, Skill>;
  /** What was skipped or repaired, and why. */
  readonly diagnostics: readonly Diagnostic[];
  /** The skills whose names others have. Those without a prefix cannot be loaded. */
  readonly shadowed: readonly ShadowedSkill[];
  /** The directories whose `SKILL.md` is skipped. */
  readonly skipped: readonly SkippedSkill[];
  /** The skills that are off. */
  readonly off: readonly Skill[];
  /** All skills that can be loaded, by the keys of their plain or qualified names. */
  readonly served: ReadonlyMap<string, Skill>;
  /** The roots in search order. */
  readonly roots: readonly SkillRootReport[];
  /** The number of the scan. It is 0 before the first one. */
  readonly revision: number;
}

/**
 * Options of {@linkcode scanSkillRoots}.
 *
 * A skill whose real directory is in the working directory has the scope
 * `"project"`. A working directory that is the home directory, or contains it, is no
 * project. A link in the project must point into the project, or into
 * {@linkcode FileAccessOptions.trustLinks}, so that a cloned repository cannot publish
 * the user's other directories. By default, the working directory is the current one,
 * and the home directory is unknown.
 *
 * If a root, an option, or a rule names a directory in the project whose real path is
 * outside, it is ignored, unless it is trusted.
 */
export interface ScanOptions extends FileAccessOptions, BaseDirs {
  /**
   * Which skills are served, and how prominently, or the path of a file that says so
   * and can change. While the file is invalid, the last valid policy stays in effect.
   * Until there is one, no skills are served. Its directories are relative to the
   * directory of the file, or to the working directory. Default: all skills are `"on"`.
   */
  readonly policy?: SkillPolicy | string | undefined;
}

/** Options of a {@linkcode SkillRegistry}. */
export interface SkillRegistryOptions extends ScanOptions {
  /**
   * The longest time between two scans in seconds, or 0 for no timer. Default: 30.
   */
  readonly refreshSeconds?: number | undefined;
  /** Whether to watch the directories too, so that changes are noticed immediately. Default: `true`. */
  readonly watchDirs?: boolean | undefined;
  /**
   * Logs a line, such as which skill is skipped and why. Where a hint names an option
   * of the program, such as `--trust-links`, the library has one of the same name.
   * Default: to stderr.
   */
  readonly log?: ((line: string) => void) | undefined;
}

/** The changes that clients can see after a refresh. */
export interface SkillChange {
  /** The new catalog. */
  readonly catalog: SkillCatalog;
  /** The previous catalog. */
  readonly previous: SkillCatalog;
  /**
   * The keys of the skills that were added, removed, or changed. The key of a
   * shadowed skill is the key of its qualified name.
   */
  readonly keys: ReadonlySet<string>;
}

/** Options of {@linkcode resolveSkillRoots}. */
export interface SkillRootOptions extends BaseDirs {
  /**
   * Directories to search instead of the default roots: each directory itself, its
   * `.claude/skills`, and its `skills`.
   */
  readonly dirs?: readonly string[] | undefined;
  /** Directories to search recursively, after all others. */
  readonly recursiveDirs?: readonly string[] | undefined;
  /** Whether to search `./.agents/skills` and `~/.agents/skills` too. Default: `false`. */
  readonly agents?: boolean | undefined;
}

/**
 * A function that is called with the changes after a refresh. If it returns a
 * promise, the refresh waits for it.
 */
export type SkillChangeListener = (change: SkillChange) => unknown;

/** @ignore Reacts to scans, and names directories to watch. */
export interface ScanSubscriber {
  /** Called with the catalog after a scan, whether or not anything changed. */
  onScan(catalog: SkillCatalog): void;
  /** Lists the real paths of directories to watch before those of other skills. */
  listDirsToWatch(): readonly string[];
}

/** Who reads the files of a skill. */
export interface SkillViewer {
  /** Whether it is the model, from which nested skills can be hidden. Default: `false`. */
  readonly forModel?: boolean | undefined;
}

/** How to list the files of a skill. */
export interface SkillFilesOptions extends SkillViewer {
  /** The maximum number of entries of the skill that are visited. Default: 20,000. */
  readonly maxEntries?: number | undefined;
}

/** @ignore What the views know of a `SkillRegistry`, which documents it. */
export interface SkillSource {
  readonly catalog: SkillCatalog;
  find(name: string): Skill | undefined;
  listFiles(skill: Skill, options?: SkillFilesOptions): Promise<SkillFiles>;
  readFile(
    skill: Skill,
    path: string,
    viewer?: SkillViewer,
  ): Promise<SkillFileContent>;
  digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }>;
  listUnusedRules(): Diagnostic[];
  refresh(options?: { minIntervalMs?: number }): Promise<SkillCatalog>;
  onChange(listener: SkillChangeListener): () => void;
  addSubscriber(subscriber: ScanSubscriber): void;
  watchDirs(): void;
}
