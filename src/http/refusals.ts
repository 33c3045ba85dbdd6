/**
 * Refuses requests, and logs why: at once for the first request of a client for each
 * reason, and then once a minute how many followed. No line has any text of the client.
 */

/** How often the log says how many requests were refused, in milliseconds. */
const SUMMARY_MS = 60_000;

/** The number of lines that are counted. Others are about "other clients". */
const MAX_COUNTED_LINES = 100;

export class Refusals {
  readonly #log: (line: string) => void;
  /** How many more requests each line is about than the log says. */
  readonly #more = new Map<string, number>();

  constructor(log: (line: string) => void) {
    this.#log = log;
  }

  /** @param sender The client's address, after the name of its token, if it sent one. */
  refuse(
    status: number,
    reason: string,
    sender = "an unknown address",
    headers?: HeadersInit,
  ): Response {
    const own = lineOf(sender, reason);
    const isCounted = this.#more.has(own) ||
      this.#more.size < MAX_COUNTED_LINES;
    const line = isCounted ? own : lineOf("other clients", reason);
    const isFirst = !this.#more.has(line);
    if (isFirst) this.#log(line);
    this.#more.set(line, isFirst ? 0 : this.#more.get(line)! + 1);
    return createRefusal(status, reason, headers);
  }

  /** Logs how many requests followed, and forgets the clients that sent no more. */
  sumUp(): void {
    for (const [line, more] of this.#more) {
      if (more === 0) this.#more.delete(line);
      else {
        this.#more.set(line, 0);
        this.#log(`${line} (${more} more since the last line)`);
      }
    }
  }

  /** Sums up once a minute. */
  startSummaries(): void {
    setInterval(() => this.sumUp(), SUMMARY_MS);
  }
}

function lineOf(sender: string, reason: string): string {
  return `Refused a request from ${sender}: ${reason}`;
}

export function createRefusal(
  status: number,
  message: string,
  headers?: HeadersInit,
): Response {
  const body = { jsonrpc: "2.0", error: { code: -32000, message } };
  return Response.json(body, { status, headers });
}
