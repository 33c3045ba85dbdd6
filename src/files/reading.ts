/**
 * Reads the files of a folder.
 *
 * @module
 */

import {
  type CheckedFile,
  DEFAULT_MAX_FILE_SIZE,
  readConfined,
  statLocated,
} from "./confinement.ts";
import {
  faultOf,
  isAbsence,
  NOT_THERE,
  SkillFileError,
  tooLarge,
} from "./faults.ts";
import { fileVersion, isRacy, type OpenFile, openFile } from "./open_file.ts";
import {
  FolderWalk,
  ForeignLinkError,
  type ServedFolder,
  splitPath,
} from "./walking.ts";
import type { Steps } from "../time_slice.ts";
import type { FileAccessOptions, SkillFileContent } from "./types.ts";

/** Reads a file to its end, but at most `limit` bytes. */
function readUpTo(file: OpenFile, limit: number): Uint8Array<ArrayBuffer> {
  let buffer = new Uint8Array(Math.min(file.info.size + 1, limit));
  let length = 0;
  for (;;) {
    const read = file.read(buffer.subarray(length));
    length += read;
    if (read === 0 || length === limit) return buffer.subarray(0, length);
    if (length === buffer.length) {
      const size = Math.min(length * 2, limit);
      buffer = new Uint8Array(buffer.buffer.transfer(size));
    }
  }
}

/** Finds a file of a folder and stats it. */
export function* checkFile(
  folder: ServedFolder,
  path: string,
  options: FileAccessOptions & { isListed?: boolean },
): Steps<CheckedFile> {
  try {
    const walk = new FolderWalk(folder, options);
    const located = yield* walk.find(path, options.isListed);
    yield;
    return { ...located, info: statLocated(located) };
  } catch (error) {
    throw toFileError(path, error);
  }
}

/** Reads a checked file as bytes. */
export function* readChecked(
  checked: CheckedFile,
  path: string,
  { maxFileSize = DEFAULT_MAX_FILE_SIZE }: FileAccessOptions,
): Steps<Omit<SkillFileContent, "text">> {
  const read = (file: OpenFile, isCertain: boolean) => {
    const bytes = readUpTo(file, maxFileSize + 1);
    if (bytes.length > maxFileSize) {
      throw new SkillFileError(path, tooLarge(bytes.length, maxFileSize));
    }
    return {
      path: splitPath(path)!.join("/"),
      size: bytes.length,
      version: fileVersion(file.info),
      isRacy: isRacy(file.info) || !isCertain,
      bytes,
    };
  };
  try {
    const options = { maxFileSize, open: openFile };
    return yield* readConfined(checked, options, read);
  } catch (error) {
    throw toFileError(path, error);
  }
}

/**
 * Converts an error to one about a path in the skill. Callers cannot distinguish
 * a file outside the skill from a missing one.
 */
export function toFileError(path: string, error: unknown): SkillFileError {
  const isNotThere = isAbsence(error) || error instanceof ForeignLinkError;
  return new SkillFileError(path, isNotThere ? NOT_THERE : faultOf(error));
}

/** Adds the exact text to the bytes of a file, including a byte order mark. */
export function withText(
  content: Omit<SkillFileContent, "text">,
): SkillFileContent {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  try {
    return { ...content, text: decoder.decode(content.bytes) };
  } catch {
    return { ...content, text: undefined };
  }
}

/** Returns the SHA-256 digest of some bytes in the format of the Skills extension. */
export function sha256(bytes: Uint8Array): string {
  // Loaded on demand, because loading takes a while. For small files, Web Crypto
  // takes five times as long.
  const { hash } = globalThis.process.getBuiltinModule("node:crypto");
  return `sha256:${hash("sha256", bytes)}`;
}
