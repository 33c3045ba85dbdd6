/** The public data types: roots, skills, policies, and catalogs. */

import type {
  Advice,
  Diagnostic,
  Effect,
  ReportedDiagnostic,
  Rule,
} from "../diagnostics.ts";
import type { BaseDirs } from "../fs/paths.ts";

export type { Advice, BaseDirs, Diagnostic, Effect, ReportedDiagnostic, Rule };

/** A file of a skill. */
export interface SkillFile {
  /** Its path relative to the skill's directory, with `/` as the separator. */
  readonly path: string;
  /** Its size in bytes. */
  readonly size: number;
  /** A string that changes with the file: its device, inode, size, and times. */
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
  readonly files: readonly SkillFile[];
  /** The real paths of the directories. */
  readonly dirs: readonly string[];
  /**
   * The entries that the skill does not serve, such as symlinks that lead outside and
   * files that are too large or too deep. Their paths are relative to the skill's
   * directory (empty for the directory itself). Unreadable directories end with `/`.
   */
  readonly skipped: readonly Diagnostic[];
  /** The number of entries that were visited. */
  readonly entryCount: number;
  /** Whether these are all. */
  readonly isComplete: boolean;
}

/** The origin of a skill: the current project, or the user's own directories. */
export type SkillScope = "project" | "global";

/** A directory of skills. */
export interface SkillRoot {
  /** The configured path of the directory. */
  readonly path: string;
  /**
   * Whether a stranger may have written it, as in a cloned project. Scans then visit at
   * most 1,000 directories and symlinks in all such roots, and read and parse their
   * changed files for at most two seconds. Default: `false`.
   */
  readonly isLimited?: boolean | undefined;
  /**
   * Whether to find skills up to six levels below it, instead of directly in it and in
   * its groups. Default: `false`.
   */
  readonly recursive?: boolean | undefined;
  /**
   * Whether a recursive search omits the directories that cannot be groups, such as
   * `old` and `_drafts`, except `.agent`, `.agents`, and `.claude`. Default: `false`.
   */
  readonly omitsPutAway?: boolean | undefined;
  /** Whether a skill below the root can contain others. Default: `false`. */
  readonly searchesSkills?: boolean | undefined;
  /**
   * Whether a `SKILL.md` in the root makes the root itself a skill. Default:
   * {@linkcode SkillRoot.recursive}.
   */
  readonly includesItself?: boolean | undefined;
  /** Whether to report a missing directory. Default: `false`. */
  readonly mustExist?: boolean | undefined;
  /**
   * Whether to follow only symlinks into a root that also confines its symlinks, or into
   * a trusted directory. Default: `false`.
   */
  readonly confinesSymlinks?: boolean | undefined;
}

/** A directory of skills to search. Its path can be a file URL. */
export interface GivenSkillRoot extends Omit<SkillRoot, "path"> {
  /** The path or URL of the directory. */
  readonly path: string | URL;
}

/** Options of {@linkcode resolveSkillRoots}. */
export interface SkillRootOptions extends BaseDirs {
  /**
   * The paths or file URLs of directories to search instead of the default roots: each
   * directory itself, its `.claude/skills`, and its `skills`.
   */
  readonly dirs?: readonly (string | URL)[] | undefined;
  /** The paths or file URLs of directories to search recursively, after all other roots. */
  readonly recursiveDirs?: readonly (string | URL)[] | undefined;
  /** Whether to search `./.agents/skills` and `~/.agents/skills` too. Default: `false`. */
  readonly agents?: boolean | undefined;
}

/**
 * The frontmatter of a `SKILL.md`, as the server reads it. In a repaired skill, fields
 * are corrected or left out.
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

/** A state in the user's policy, which decides how a skill is served. See `docs/policy.md`. */
export type SkillState = "on" | "pinned" | "name-only" | "manual" | "off";

/** Who sees skills: the model through tools, the user through prompts, hosts through URIs. */
export type Viewer = "model" | "user" | "host";

/** From whom a skill or file is hidden, from the least to the most strict. */
export type SkillHiding = "nobody" | "model" | "everyone";

/** A rule of a policy. It applies to skills that match all of its conditions. */
export interface SkillPolicyRule {
  /** The state of these skills. */
  readonly state: SkillState;
  /**
   * The skill's name, or a list of names, regardless of case. `*` stands for any text,
   * and `?` for one character. Default: any name.
   */
  readonly skill?: string | readonly string[] | undefined;
  /** The skill's scope. Default: both. */
  readonly scope?: SkillScope | undefined;
  /**
   * A directory, or a list of directories. The rule matches everything in them, at any
   * depth. Default: any directory.
   */
  readonly in?: string | readonly string[] | undefined;
}

/** A rule of a policy in effect. */
export interface AppliedPolicyRule extends SkillPolicyRule {
  /** Its place in the policy, such as `rules[2]`. */
  readonly place: string;
}

/** A policy, which decides whether and how prominently to serve each skill. */
export interface SkillPolicy {
  /** The rules. The last matching one decides. Without one, a skill is `"on"`. */
  readonly rules: readonly SkillPolicyRule[];
}

/** A skill. */
export interface Skill {
  /** The name in its frontmatter, cleaned: one line without escapes or invisible characters. */
  readonly name: string;
  /** Its description, cut to 1,024 characters, without invisible ones. */
  readonly description: string;
  /** The whole frontmatter. */
  readonly frontmatter: SkillFrontmatter;
  /** The path of the skill's directory through its root. Show this path to users. */
  readonly directory: string;
  /** The skill's directory with all symlinks resolved: the boundary of its files. */
  readonly realDirectory: string;
  /** The path of its `SKILL.md` below {@linkcode Skill.directory}. */
  readonly file: string;
  /** The beginning of its instructions, for search: up to 800 bytes of UTF-8. */
  readonly excerpt: string;
  /** The {@linkcode SkillFile.version} of its `SKILL.md` when it was scanned. */
  readonly fileVersion: string;
  /** Its scope, which {@linkcode ScanOptions} defines. */
  readonly scope: SkillScope;
  /** The root that contains it. */
  readonly root: SkillRoot;
  /**
   * From whom it is hidden: by its state, by its frontmatter, or because its `SKILL.md`
   * is a symlink into a hidden directory. {@linkcode Skill.isHiddenFromUser} says whether
   * its frontmatter also hides it from the user.
   */
  readonly hiddenFrom: SkillHiding;
  /** Whether its frontmatter hides it from the user, so that it is not a prompt. */
  readonly isHiddenFromUser: boolean;
  /** Whether a field is not read as it is written. Hosts cannot read the frontmatter. */
  readonly isRepaired: boolean;
  /** Its state in the user's policy. */
  readonly state: SkillState;
  /** The policy rule that decided its state, if any. */
  readonly policyRule?: AppliedPolicyRule | undefined;
  /** Its plugin, if its directory is `<plugin>/skills/<name>`, or has a version between. */
  readonly plugin?: string | undefined;
  /**
   * Its scope, its plugin, or both, if its plain name loads another skill. It then has a
   * qualified name, such as `scope:name`, and URIs such as `skill://global%3Agit/…`.
   */
  readonly prefix?: string | undefined;
}

/** A skill whose plain name loads another skill. */
export interface ShadowedSkill {
  /** The shadowed skill. */
  readonly skill: Skill;
  /** The skill that the name loads. */
  readonly by: Skill;
}

/** A directory with an invalid or unreadable `SKILL.md`. */
export interface SkippedSkill {
  /** The name in its frontmatter, if readable, and the names of its directory. */
  readonly names: readonly string[];
  /** Its plugin, if any. */
  readonly plugin?: string | undefined;
  /** The reasons why the scan skipped it. */
  readonly diagnostics: readonly Diagnostic[];
  /** Its scope. */
  readonly scope: SkillScope;
  /** From whom it would be hidden if it were valid, as far as that is known. */
  readonly hiddenFrom: SkillHiding;
  /** If it is in the project, the relative path of its `SKILL.md`, with slashes. */
  readonly projectPath?: string | undefined;
}

/** The result of scanning a root. */
export interface SkillRootReport {
  /** The root. */
  readonly root: SkillRoot;
  /** The scope of its real path, or of its path if it is missing. */
  readonly scope: SkillScope;
  /** Whether the scan searched it, did not find it, or could not search it. */
  readonly status: "found" | "missing" | "skipped";
  /** Its path with all symlinks resolved, if the scan could enter it. */
  readonly realPath?: string | undefined;
  /** If it is in the project, its relative path, with slashes. */
  readonly projectPath?: string | undefined;
  /** The number of skills in it, except skills that are off. */
  readonly skillCount: number;
  /** How many of these skills are also in an earlier root. */
  readonly repeatedCount: number;
}

/** The result of a scan: an immutable snapshot. */
export interface SkillCatalog {
  /** The skills, sorted by key. A key is a clean name in lowercase. */
  readonly skills: ReadonlyMap<string, Skill>;
  /** Diagnostics of the policy, and the first 1,000 of what was skipped or repaired. */
  readonly diagnostics: readonly Diagnostic[];
  /**
   * Skills whose names load other skills. One without a {@linkcode Skill.prefix} can be
   * loaded only by the name of its directory, if no other skill has that.
   */
  readonly shadowed: readonly ShadowedSkill[];
  /** The directories with a skipped `SKILL.md`. */
  readonly skipped: readonly SkippedSkill[];
  /** The skills that are off. */
  readonly off: readonly Skill[];
  /** All loadable skills, by the keys of their plain or qualified names. */
  readonly served: ReadonlyMap<string, Skill>;
  /** The roots in search order. */
  readonly roots: readonly SkillRootReport[];
  /** The number of the scan, or 0 before the first one. */
  readonly revision: number;
}

/**
 * Options of {@linkcode scanSkillRoots}.
 *
 * The working directory is the project, unless it is the home directory or contains it.
 * A skill has the scope `"project"` if its real directory is in the project. By default,
 * the working directory is the current one, and the home directory is unknown.
 *
 * A cloned repository must not publish the user's other directories. So a symlink in the
 * project is ignored if it leads out of the project, unless it leads into
 * {@linkcode ScanOptions.trustedDirs}, even if a root, an option, or a rule names it.
 */
export interface ScanOptions extends Omit<BaseDirs, "claudeDirectory"> {
  /** The maximum size of a file in bytes. Larger ones are not read. Default: 1 MiB. */
  readonly maxFileSize?: number | undefined;
  /** The paths or file URLs of directories that symlinks in any skill may lead into. */
  readonly trustedDirs?: readonly (string | URL)[] | undefined;
  /**
   * The policy, or the path or file URL of a policy file, which each scan reads. While
   * the file is invalid, the last valid policy applies, or no skills are served if there
   * was none. Directories in a file are relative to the file's directory, others to the
   * working directory. Default: all skills are `"on"`.
   */
  readonly policy?: SkillPolicy | string | URL | undefined;
}

/** Options of a {@linkcode SkillRegistry}. */
export interface SkillRegistryOptions extends ScanOptions {
  /**
   * The maximum time between two scans in seconds, or 0 for no timer. If there are too
   * many directories to watch, scans follow sooner. Default: 30.
   */
  readonly refreshSeconds?: number | undefined;
  /** Whether to watch the directories too, to notice changes immediately. Default: `true`. */
  readonly watchDirs?: boolean | undefined;
  /**
   * What to add to the fix of each rule, as it is, such as an option of your program:
   * `{ "too-large": ", or use --max-size" }`. Default: nothing.
   */
  readonly advice?: Advice | undefined;
  /**
   * Logs a line, such as why the scan skipped a skill. Default: logs to stderr.
   */
  readonly log?: ((line: string) => void) | undefined;
}

/** The visible changes after a refresh. */
export interface SkillChange {
  /** The new catalog. */
  readonly catalog: SkillCatalog;
  /** The previous catalog. */
  readonly previous: SkillCatalog;
  /**
   * The keys of the skills that were added, removed, or changed. A shadowed skill has
   * the key of its qualified name.
   */
  readonly keys: ReadonlySet<string>;
}

/** Receives the changes after a refresh. If it returns a promise, the refresh waits for it. */
export type SkillChangeListener = (change: SkillChange) => unknown;

/** Options for listing the files of a skill. */
export interface SkillFilesOptions {
  /** The viewer, from whom skills and inner skills can be hidden. Default: `"host"`. */
  readonly viewer?: Viewer | undefined;
  /** The maximum number of entries to visit. Default: 20,000. */
  readonly maxEntries?: number | undefined;
}
