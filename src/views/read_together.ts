/**
 * Reads several files of a skill for one message.
 *
 * @module
 */

import { MAX_MESSAGE_SIZE } from "../protocol/json_rpc.ts";
import { stringifyJson } from "../text.ts";
import type { SkillFile } from "../skills/types.ts";

/**
 * Reads files for one message.
 *
 * @param files The files.
 * @param read Returns what the message contains for a file.
 * @throws {Error} If they do not fit into one message.
 */
export function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => T,
): T[] {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  // In JSON, a byte of a file takes one to six bytes.
  if (size > MAX_MESSAGE_SIZE) throw createTooLargeError(files, size);
  if (size * 6 < MAX_MESSAGE_SIZE / 2) return files.map(read);
  let length = 0;
  return files.map((file) => {
    const content = read(file);
    length += stringifyJson(content).length;
    if (length > MAX_MESSAGE_SIZE) throw createTooLargeError(files, size);
    return content;
  });
}

function createTooLargeError(files: readonly SkillFile[], size: number): Error {
  return new Error(
    `Cannot read ${files.length} files at once: they have ${size} bytes in total, and the limit for a message is ${MAX_MESSAGE_SIZE}; read them one at a time`,
  );
}
