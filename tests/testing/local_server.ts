// A server in the process of the tests, with a client that speaks as over stdio.
import { InMemoryTransport } from "npm:@modelcontextprotocol/server@^2.4.0";
import { serveStdio } from "npm:@modelcontextprotocol/server@^2.4.0/stdio";
import {
  createSkillService,
  SkillRegistry,
  type SkillService,
} from "../../mod.ts";
import { parseCommandLine } from "../../src/program/command_line.ts";
import { createSettings } from "../../src/program/settings.ts";
import { replaced, withVariables } from "./fakes.ts";
import type { Asking, Reply, ServerDirs } from "./server.ts";

interface LocalOptions extends ServerDirs {
  readonly args: string[];
  readonly log?: (line: string) => void;
}

/** A server of a place. It starts faster than a process, and reads the same options. */
export class LocalServer implements Asking, Disposable {
  readonly registry: SkillRegistry;
  readonly #client: InMemoryTransport;
  readonly #waiting = new Map<unknown, (reply: Reply) => void>();
  #lastId = 0;

  private constructor(
    { createServer }: SkillService,
    registry: SkillRegistry,
  ) {
    this.registry = registry;
    const [client, transport] = InMemoryTransport.createLinkedPair();
    this.#client = client;
    client.onmessage = (message) => {
      const reply = message as Reply;
      this.#waiting.get(reply.id)?.(reply);
    };
    serveStdio(createServer, { transport });
  }

  static async open(
    { project, home, args, log = () => {} }: LocalOptions,
  ): Promise<LocalServer> {
    using _directory = replaced(Deno, { cwd: () => project });
    const settings = withVariables(
      { HOME: home },
      () => createSettings(parseCommandLine(args)),
    );
    const { roots, options } = settings;
    const registry = new SkillRegistry(roots, { ...options, log });
    const service = await createSkillService(registry, options);
    await service.ready;
    return new LocalServer(service, registry);
  }

  /** Sends a request, as tests of a process do. */
  ask(_id: number, method: string, params: object = {}): Promise<Reply> {
    const id = ++this.#lastId;
    const { promise, resolve } = Promise.withResolvers<Reply>();
    this.#waiting.set(id, resolve);
    this.#client.send({ jsonrpc: "2.0", id, method, params: { ...params } });
    return promise;
  }

  /** Returns the instructions that a client of the legacy era gets. */
  async instructions(): Promise<string> {
    const { result } = await this.ask(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name: "test", version: "1" },
    });
    return result.instructions;
  }

  [Symbol.dispose](): void {
    this.registry.close();
  }
}
