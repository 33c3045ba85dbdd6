/**
 * Reads the bodies of HTTP requests within limits of size and time.
 *
 * @module
 */

import { readRequestBody } from "npm:@modelcontextprotocol/server@^2.4.0";

/** The maximum size of a body, in bytes. */
const MAX_SIZE = 1024 * 1024;

/** The time limit for receiving a body, in milliseconds. */
const TIMEOUT_MS = 10_000;

/** Thrown for a body that is not accepted. */
export class BodyError extends Error {
  /** Creates an error with the HTTP status and the JSON-RPC code of the response. */
  constructor(
    reason: string,
    readonly status: number,
    readonly code?: number,
  ) {
    super(`Cannot read the request: ${reason}`);
  }
}

/**
 * Returns the JSON-RPC message in the body of a request.
 *
 * @throws {BodyError} If the body is too large, arrives too slowly, or is not a
 *   single message.
 */
export async function readMessage(request: Request): Promise<unknown> {
  const text = await readText(request);
  let message;
  try {
    message = JSON.parse(text);
  } catch {
    throw new BodyError("it is not JSON", 400, -32700);
  }
  if (!Array.isArray(message)) return message;
  // A batch could use as many resources as any number of requests.
  throw new BodyError("batches are not supported", 400, -32600);
}

async function readText(request: Request): Promise<string> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const slow = new BodyError("it arrived too slowly", 408);
  const timer = setTimeout(() => reject(slow), TIMEOUT_MS);
  try {
    const reading = readRequestBody(request, MAX_SIZE).catch(() => {
      throw new BodyError("the client disconnected", 400);
    });
    const read = await Promise.race([reading, late]);
    if (!read.tooLarge) return read.text;
    throw new BodyError(`it has more than ${MAX_SIZE} bytes`, 413);
  } finally {
    clearTimeout(timer);
  }
}
