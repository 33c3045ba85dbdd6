// Processes that serve skills over HTTP.
import assert from "node:assert/strict";
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernTransport,
} from "npm:@modelcontextprotocol/client@^2";
import { attempt } from "../../src/attempt.ts";
import { nextId } from "./client.ts";
import { HTTP, IMPORTS } from "./environment.ts";
import {
  linesOf,
  MODERN_META,
  type Reply,
  serverCommand,
  type ServerDirs,
} from "./server.ts";
import { Inbox, within } from "./waiting.ts";

/** How a server over HTTP is started. */
export interface HttpOptions {
  args?: string[];
  env?: Record<string, string>;
  /** The host that the server listens on. */
  host?: string;
  /** Additional flags of `deno serve`, such as permissions. */
  flags?: string[];
  /** The flags that grant permissions. */
  permissions?: string[];
  /** The whole command, instead of all of these but the environment. */
  command?: string[];
}

/** Returns the options with which {@linkcode serverCommand} serves skills over HTTP. */
export function httpCommand(
  {
    args = [],
    env,
    host = "127.0.0.1",
    flags = [],
    permissions = ["--allow-read", "--allow-env"],
    command,
  }: HttpOptions = {},
): Parameters<typeof serverCommand>[1] {
  const listen = [`--host=${host}`, "--port=0", ...permissions];
  const words = ["serve", "--no-prompt", "--no-config", ...listen];
  words.push(...IMPORTS, ...flags, HTTP);
  const [program, ...rest] = command ?? [Deno.execPath(), ...words, ...args];
  return { launch: { command: program!, args: rest }, env };
}

/** A process that serves skills over HTTP at a free port. */
export class HttpServer implements AsyncDisposable {
  readonly stderr = new Inbox<string>();
  readonly process: Deno.ChildProcess;
  readonly #reading: Promise<void>;
  url!: string;

  private constructor(place: ServerDirs, options?: HttpOptions) {
    const [command, settings] = serverCommand(place, httpCommand(options));
    this.process = new Deno.Command(command, {
      ...settings,
      stdin: "null",
      stdout: "null",
      stderr: "piped",
    }).spawn();
    this.#reading = this.#readStderr();
  }

  static async start(
    place: ServerDirs,
    options?: HttpOptions,
  ): Promise<HttpServer> {
    const server = new HttpServer(place, options);
    const line = await Promise.race([
      server.stderr.take(
        (line) => line.includes("Serving http:"),
        "the server to listen",
      ),
      server.process.status.then(() => server.stderr.values.join("\n")),
    ]);
    const [url = assert.fail(line)] = /http:\S+/.exec(line) ?? [];
    server.url = url.replace("0.0.0.0", "127.0.0.1");
    return server;
  }

  /** Sends a body, if there is one, with the usual headers and others. */
  async fetch(
    body: string | object | undefined,
    headers: Record<string, string> = {},
  ): Promise<Response> {
    return await fetch(this.url, {
      method: body === undefined ? "GET" : "POST",
      headers: {
        "content-type": "application/json",
        "accept": "application/json, text/event-stream",
        ...headers,
      },
      body: typeof body === "object" ? JSON.stringify(body) : body,
    });
  }

  /** Sends a request of the modern era and returns the response. */
  send(method: string, params: object = {}): Promise<Response> {
    const { name, uri } = params as { name?: string; uri?: string };
    return this.fetch(modern(method, params), {
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": method,
      ...((name ?? uri) && { "mcp-name": (name ?? uri)! }),
    });
  }

  /** Sends a request of the modern era and returns the reply. */
  async ask(method: string, params: object = {}): Promise<Reply> {
    return await (await this.send(method, params)).json();
  }

  /** Sends a request of the legacy era and returns the reply. */
  async askLegacy(method: string, params: object = {}): Promise<Reply> {
    const id = nextId();
    const response = await this.fetch({ jsonrpc: "2.0", id, method, params });
    return await response.json();
  }

  /** Ends the server as a service manager does. */
  async end(): Promise<Deno.CommandStatus> {
    this.process.kill("SIGTERM");
    return await within(this.process.status, "the server to exit");
  }

  async #readStderr(): Promise<void> {
    for await (const line of linesOf(this.process.stderr)) {
      this.stderr.put(line);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It may have exited already.
    attempt(() => this.process.kill("SIGKILL"));
    await this.process.status;
    await this.#reading;
  }
}

/** Creates a request of the modern era. */
export function modern(method: string, params: object = {}): object {
  const withMeta = { ...params, _meta: MODERN_META };
  return { jsonrpc: "2.0", id: nextId(), method, params: withMeta };
}

/** The token of servers that require one. */
export const TOKEN = "correct-horse-battery-staple";

/** A call of the tool of the default toolset. */
export const GIT_CALL = { name: "skill", arguments: { name: "git" } };

/** Connects a client of the modern era. */
export async function modernClient(
  { url }: HttpServer,
  requestInit: RequestInit = {},
): Promise<ModernClient> {
  const client = new ModernClient({ name: "test", version: "1.0.0" }, {
    versionNegotiation: { mode: { pin: "2026-07-28" } },
  });
  await client.connect(new ModernTransport(new URL(url), { requestInit }));
  return client;
}
