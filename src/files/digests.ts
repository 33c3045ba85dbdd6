/**
 * Digests of files.
 *
 * @module
 */

/** A digest (`sha256:` and 64 hexadecimal digits), and the size of what it is of, in bytes. */
export interface Digest {
  readonly digest: string;
  readonly size: number;
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand. For small files, Web Crypto takes five times as long.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
