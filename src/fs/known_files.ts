/** The contents and the digests of files that were read, by the versions of the files. */

import type { SkillFile, SkillFileContent } from "./served_files.ts";

/**
 * Values by path and version. If their total size exceeds the limit, all earlier ones are
 * forgotten.
 */
class KnownValues<Value> {
  readonly #values = new Map<string, Value>();
  readonly #limit: number;
  #size = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  find({ path, version }: Omit<SkillFile, "size">): Value | undefined {
    // The path counts because a number cannot represent every inode exactly.
    return this.#values.get(`${version}:${path}`);
  }

  add({ path, version, size }: SkillFile, value: Value): void {
    this.#size += size;
    if (this.#size > this.#limit) {
      this.#values.clear();
      this.#size = size;
    }
    this.#values.set(`${version}:${path}`, value);
  }
}

/** The content of a file, with its real path. */
export interface FileContent extends SkillFileContent {
  /** Whether its place is proven, and its version identifies it. Only then is it remembered. */
  readonly isCertain: boolean;
}

export class KnownFiles {
  /** Up to 2 MiB. */
  readonly contents = new KnownValues<FileContent>(2 * 1024 * 1024);
  /** Up to 100,000, as these are much smaller. */
  readonly digests = new KnownValues<string>(100_000);
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand. For small files, Web Crypto takes five times as long.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
