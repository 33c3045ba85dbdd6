/** The data types for listing and reading the files of a folder. */

import type { Diagnostic } from "../diagnostics.ts";

/** Options for access to files. */
export interface FileAccessOptions {
  /** The maximum size of a file that can be read, in bytes. Default: 1 MiB. */
  readonly maxFileSize?: number | undefined;
  /** Folders that links in any skill are allowed to point into. */
  readonly trustLinks?: readonly string[] | undefined;
}

/** A file of a skill. */
export interface SkillFile {
  /** Its path relative to the skill's folder, with `/` as the separator. */
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

/** The contents of a skill's folder. */
export interface SkillFiles {
  /** The files that can be read, sorted by path. */
  readonly files: SkillFile[];
  /** The real paths of the folders. */
  readonly folders: string[];
  /**
   * The entries that are not served, such as links that point outside and files that
   * are too large or too deep. Their paths are relative to the skill's folder (empty
   * for the folder itself), and end with `/` for folders that cannot be read.
   */
  readonly leftOut: Diagnostic[];
  /** The number of entries that were visited. If it is more than the limit, there are others. */
  readonly entries: number;
}
