// Servers for the walk, in this process, over an in-memory transport and over HTTP.
import {
  createMcpHandler,
  InMemoryTransport,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
import { SkillRegistry } from "../../mod.ts";
import { createService } from "../../src/mcp/server.ts";
import { parseCommandLine } from "../../src/program/command_line.ts";
import { createSettings, type Settings } from "../../src/program/settings.ts";
import { SubscribedFiles } from "../../src/mcp/subscriptions.ts";
import { nextId } from "../testing/client.ts";
import { MODERN_META } from "../testing/modern.ts";
import type { Asking, Reply, ServerDirs } from "../testing/server.ts";
import type { Ask } from "./observer.ts";

export interface Launch extends ServerDirs {
  readonly args: string[];
  readonly env?: Record<string, string>;
  readonly log?: (line: string) => void;
}

/** What a server sends without being asked. */
interface Notification {
  readonly method: string;
  readonly params?: { readonly uri?: string };
}

/** Connections by era and transport. */
type Asks = Record<string, Ask>;

/** A server in this process, with a connection for each era and transport. */
export class LocalServer implements Asking, Disposable {
  readonly asks: Asks;
  /** The notifications over stdio. */
  readonly notifications: Notification[] = [];
  readonly registry: SkillRegistry;

  private constructor(settings: Settings, registry: SkillRegistry) {
    this.registry = registry;
    // Unknown names need not wait for a scan that may be too early for another one.
    const { refresh } = registry;
    registry.refresh = () => refresh.call(registry);
    this.asks = {
      ...askStdio(settings, registry, this.notifications),
      ...askHttp(settings, registry),
    };
  }

  static async open(launch: Launch): Promise<LocalServer> {
    const settings = pretend(
      launch,
      () => createSettings(parseCommandLine(launch.args)),
    );
    const registry = new SkillRegistry(settings.roots, {
      ...settings.options,
      log: launch.log ?? (() => {}),
    });
    await registry.refresh();
    return new LocalServer(settings, registry);
  }

  /** Sends a request over stdio, as tests of a process do. */
  async ask(_id: number, method: string, params: object = {}): Promise<Reply> {
    return await this.asks.stdio!(method, { ...params }) as Reply;
  }

  /** Waits for the end of a scan that nobody has requested yet. */
  nextScan(): Promise<void> {
    const { registry } = this;
    const { promise, resolve } = Promise.withResolvers<void>();
    const { refresh } = registry;
    registry.refresh = async (options) => {
      registry.refresh = refresh;
      const catalog = await refresh.call(registry, options);
      resolve();
      return catalog;
    };
    return promise;
  }

  [Symbol.dispose](): void {
    this.registry.close();
  }
}

/** Calls a function as if in another working directory and environment. */
function pretend<T>({ project, home, env }: Launch, work: () => T): T {
  const { cwd } = Deno;
  const { get } = Deno.env;
  const variables: Record<string, string> = { HOME: home, ...env };
  Deno.cwd = () => project;
  Deno.env.get = (name) => variables[name];
  try {
    return work();
  } finally {
    Deno.cwd = cwd;
    Deno.env.get = get;
  }
}

function askStdio(
  { options }: Settings,
  registry: SkillRegistry,
  notifications: Notification[],
): Asks {
  const ready = Promise.resolve();
  const files = new SubscribedFiles(registry);
  const { createServer } = createService(registry, options, ready, files);
  const waiting = new Map<unknown, (reply: Reply) => void>();
  const connect = () => {
    const [client, transport] = InMemoryTransport.createLinkedPair();
    client.onmessage = (message) => {
      if ("method" in message) notifications.push(message as Notification);
      else waiting.get(message.id)?.(message as Reply);
    };
    serveStdio(createServer, { transport });
    return client;
  };
  // The first message of a connection decides about its era.
  const [legacy, modern] = [connect(), connect()];
  return createAsks((message) => {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    waiting.set(message.id, resolve);
    const client = "_meta" in message.params ? modern : legacy;
    client.send(message as never);
    return promise as ReturnType<Ask>;
  }, "stdio");
}

function askHttp({ options }: Settings, registry: SkillRegistry): Asks {
  const ready = Promise.resolve();
  const { createServer, bus } = createService(registry, options, ready);
  const server = createMcpHandler(createServer, { bus });
  return createAsks(async (message) => {
    const { name, uri, _meta } = message.params as Record<
      string,
      string | undefined
    >;
    const target = name ?? uri;
    const headers = {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ..._meta && {
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": message.method,
        ...target !== undefined && { "mcp-name": target },
      },
    };
    const options = { method: "POST", headers };
    const request = new Request("http://localhost/mcp", options);
    const response = await server.fetch(request, { parsedBody: message });
    const text = await response.text();
    return JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text);
  }, "http");
}

function createAsks(
  send: (
    message: { jsonrpc: string; id: number; method: string; params: object },
  ) => ReturnType<Ask>,
  transport: string,
): Asks {
  const ask = (method: string, params: object) =>
    send({ jsonrpc: "2.0", id: nextId(), method, params });
  return {
    [transport]: (method, params = {}) => ask(method, params),
    [`modern ${transport}`]: (method, params = {}) =>
      ask(method, { ...params, _meta: MODERN_META }),
  };
}
