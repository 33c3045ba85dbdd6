/**
 * The data types for files: what is listed, what is read, and the limits.
 *
 * @module
 */

/** The folders that relative paths, and paths that begin with `~`, start from. */
export interface BaseFolders {
  /** The working directory, if there is one. */
  readonly workingDirectory?: string;
  /** The home folder, if it is known. */
  readonly homeDirectory?: string;
}

/** Options for access to files. */
export interface FileAccessOptions {
  /** The maximum size of a file that can be read, in bytes. Default: 1 MiB. */
  readonly maxFileSize?: number;
  /** Folders that links in any skill are allowed to point into. */
  readonly trustLinks?: readonly string[];
}

/** A file of a skill. */
export interface SkillFile {
  /** Its path relative to the skill directory, with `/` as the separator. */
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
