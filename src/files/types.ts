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

/** A folder, and the boundary of what belongs to it. */
export interface Boundary {
  /** The folder's path as configured. */
  readonly directory: string;
  /** The path with all links resolved. What lies outside does not belong to the folder. */
  readonly realDirectory: string;
}

/** Options for access to files. */
export interface FileAccessOptions {
  /**
   * The maximum size of a file that can be read, in bytes. Default:
   * {@linkcode DEFAULT_MAX_FILE_SIZE}.
   */
  readonly maxFileSize?: number;
  /** Folders that links in any skill are allowed to point into. */
  readonly trustLinks?: readonly string[];
  /**
   * Returns whether a file or folder, given by its real path, is closed to the
   * skill. It then does not belong to the skill. Default: none is.
   */
  readonly isClosed?: (realPath: string) => boolean;
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
  /**
   * Whether the file changed so recently that another change might leave the
   * version unchanged. In the result of reading the file, this is also `true`
   * if a folder in its path changed recently, or if a part of its path is a
   * link.
   */
  readonly isRacy: boolean;
}

/** A file of a skill and its content. */
export interface SkillFileContent extends SkillFile {
  /** The file's bytes. */
  readonly bytes: Uint8Array<ArrayBuffer>;
  /** The exact text, or `undefined` if the bytes are not valid UTF-8. */
  readonly text: string | undefined;
}
