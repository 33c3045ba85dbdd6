/**
 * Writes what people read to a standard stream, without commands of services that run
 * builds. {@linkcode printLines} escapes everything else; what {@linkcode print} gets is
 * escaped already.
 *
 * @module
 */

import { type ByteWriter, writeAll } from "../protocol/stdio_transport.ts";
import {
  escapeCommands,
  escapeInvisible,
  formatIndentedJson,
  log,
  logged,
} from "../text.ts";

export function formatJson(value: unknown): string[] {
  return formatIndentedJson(value).trimEnd().split("\n");
}

/**
 * Prints lines, in which nothing can add a line or control the terminal. Returns the
 * exit code.
 */
export async function printLines(lines: readonly string[]): Promise<number> {
  const escaped = lines.map((line) => `${escapeInvisible(line)}\n`);
  return await print(escaped.join(""));
}

/**
 * Prints a text below what has been logged, and returns the exit code. It is not
 * an error if the reader closes the stream early.
 */
export async function print(
  text: string,
  stream: ByteWriter = Deno.stdout,
): Promise<number> {
  await logged();
  try {
    await writeAll(stream, new TextEncoder().encode(escapeCommands(text)));
  } catch (error) {
    if (error instanceof Deno.errors.BrokenPipe) return 0;
    log(
      `Cannot write the output: ${
        (error as Error).message
      }; write it to another file or disk`,
    );
    return 2;
  }
  return 0;
}
