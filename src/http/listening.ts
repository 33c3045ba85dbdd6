/**
 * Keeps the server listening when the process runs out of file descriptors.
 *
 * 1. Deno never closes a connection on which no request arrives, and has no
 *    setting that limits connections. Anyone who can connect can use up the file
 *    descriptors.
 * 2. Deno then stops listening. `deno serve` ends the process with a stack trace.
 * 3. Only the signal that is given to `Deno.serve` closes all connections of a
 *    server. `deno serve` calls `Deno.serve` without one, and offers no other way
 *    to change that call than to replace the function before.
 *
 * @module
 */

import { wait } from "../time_slice.ts";

/** The time that pending requests have before connections are closed, in milliseconds. */
const GRACE_MS = 500;

/** The time between attempts to listen again, in milliseconds. */
const RETRY_MS = 250;

/** The number of attempts to listen again. */
const MAX_ATTEMPTS = 40;

/** The options with which `deno serve` calls `Deno.serve`. */
type ServeOptions = Deno.ServeTcpOptions & Deno.ServeInit<Deno.NetAddr>;

interface ListeningOptions {
  readonly log: (line: string) => void;
  /** Called with the reason if the server cannot listen, or cannot listen again. */
  readonly onFailure: (reason: string) => void;
}

/**
 * Makes a server of `deno serve` that stops with an error close its connections
 * and listen again. Call it before `deno serve` starts the server, that is, while
 * the main module is evaluated.
 */
export function keepListening(options: ListeningOptions): void {
  const serve = Deno.serve;
  const start = (init: ServeOptions): Deno.HttpServer<Deno.NetAddr> => {
    const controller = new AbortController();
    const server = serve({ ...init, signal: controller.signal });
    server.finished.catch(async ({ message }: Error) => {
      options.log(
        `Cannot accept connections: ${message}; closing all connections and listening again`,
      );
      await wait(GRACE_MS);
      controller.abort();
      // Port 0 stands for any port.
      const { port } = server.addr;
      await restart(() => start({ ...init, port }), options);
    });
    return server;
  };
  const startFirst = (init: ServeOptions) => {
    try {
      return start(init);
    } catch (error) {
      options.onFailure(describeFailure(init, error as Error));
      return NO_SERVER;
    }
  };
  Object.defineProperty(Deno, "serve", { value: startFirst });
}

/** What `deno serve` gets instead of a stack trace, until the process ends. */
const NO_SERVER = { finished: new Promise<void>(() => {}) };

function describeFailure(
  { hostname, port }: ServeOptions,
  { name, message }: Error,
): string {
  const start = `Cannot listen on port ${port} of ${hostname}`;
  return name === "AddrInUse"
    ? `${start}: another program uses it; choose another port (deno serve --port PORT)`
    : `${start}: ${message}`;
}

/** Starts a server, several times if necessary. */
async function restart(
  start: () => unknown,
  { onFailure }: ListeningOptions,
): Promise<void> {
  let message = "";
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    // The connections close after the signal, not with it.
    await wait(RETRY_MS);
    try {
      start();
      return;
    } catch (error) {
      message = (error as Error).message;
    }
  }
  onFailure(`Cannot listen again: ${message}`);
}
