/** Writing to a standard stream. */

import { wait } from "./tasks.ts";

export type ByteWriter = Pick<typeof Deno.stdout, "write">;

/** How long to wait before writing to a full pipe again, in milliseconds. */
const RETRY_MS = 10;

/** @throws {Deno.errors.BrokenPipe} If the reader has closed the stream. */
export async function writeAll(
  output: ByteWriter,
  bytes: Uint8Array,
): Promise<void> {
  for (let sent = 0; sent < bytes.length;) {
    try {
      sent += await output.write(bytes.subarray(sent));
    } catch (error) {
      // The reader made the pipe non-blocking, and it is full.
      if (!(error instanceof Deno.errors.WouldBlock)) throw error;
      await wait(RETRY_MS);
    }
  }
}
