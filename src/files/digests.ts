/**
 * Digests of files, which are remembered until the files change.
 *
 * @module
 */

import type { SkillFile } from "./served_files.ts";
import type { FileContent } from "./served_folder.ts";

/** The maximum number of remembered digests. */
const MAX_DIGESTS = 100_000;

/** A digest (`sha256:` and 64 hexadecimal digits), and the size of what it is of, in bytes. */
interface Digest {
  readonly digest: string;
  readonly size: number;
}

/** Remembers digests by version and path. */
export class Digests {
  readonly #known = new Map<string, string>();

  /**
   * Returns the digest of the current content of a file.
   *
   * @param file The file as it was listed in a folder.
   * @param read Reads it.
   */
  digestOf(
    { path, version, size }: SkillFile,
    folder: string,
    read: () => FileContent,
  ): Digest {
    // The path is part of the key because a number cannot represent every inode exactly.
    const keyOf = (fileVersion: string) => `${fileVersion}:${folder}:${path}`;
    const known = this.#known.get(keyOf(version));
    if (known !== undefined) return { digest: known, size };
    const content = read();
    const digest = sha256(content.bytes);
    if (this.#known.size >= MAX_DIGESTS) this.#known.clear();
    if (content.isSettled) this.#known.set(keyOf(content.version), digest);
    return { digest, size: content.size };
  }
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand. For small files, Web Crypto takes five times as long.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
