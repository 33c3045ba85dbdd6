/**
 * Reads several files of a skill for one message.
 *
 * @module
 */

import { MAX_MESSAGE_SIZE } from "../protocol/json_rpc.ts";
import { stringifyJson } from "../text.ts";
import { TimeSlice } from "../time_slice.ts";
import type { SkillFile } from "../skills/types.ts";

/** The minimum size of what a message contains for an empty file, without its path, in bytes. */
const ITEM_SIZE = 20;

/**
 * Reads files for one message.
 *
 * @param read Returns what the message contains for a file.
 * @throws {Error} If they do not fit into one message. If their sizes show that,
 *   none of them is read.
 */
export async function readTogether<T>(
  files: readonly SkillFile[],
  read: (file: SkillFile) => Promise<T>,
): Promise<T[]> {
  const needed = files.reduce(
    (sum, { path, size }) => sum + size + path.length + ITEM_SIZE,
    0,
  );
  if (needed > MAX_MESSAGE_SIZE) throw createTooLargeError(files);
  const slice = new TimeSlice();
  const contents: T[] = [];
  let length = 0;
  for (const file of files) {
    if (slice.isOver) await slice.pause();
    const content = await read(file);
    // In JSON, a byte of a file takes one to six bytes.
    length += stringifyJson(content).length;
    if (length > MAX_MESSAGE_SIZE) throw createTooLargeError(files);
    contents.push(content);
  }
  return contents;
}

function createTooLargeError(files: readonly SkillFile[]): Error {
  const size = files.reduce((sum, file) => sum + file.size, 0);
  return new Error(
    `Cannot read ${files.length} files at once: they have ${size} bytes in total, and the limit for a message, with their names, is ${MAX_MESSAGE_SIZE}; read them one at a time`,
  );
}
