// Clients of a server process: the SDK's, and requests for whole lists.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/client"
import { Client } from "npm:@modelcontextprotocol/sdk@^1.32.2/client/index.js";
import type { Transport } from "npm:@modelcontextprotocol/sdk@^1.32.2/shared/transport";
import type { CallToolResult } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
// @ts-types="npm:@modelcontextprotocol/sdk@^1.32.2/types"
import {
  PromptListChangedNotificationSchema,
  ResourceListChangedNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from "npm:@modelcontextprotocol/sdk@^1.32.2/types.js";
import { parseSkillMd, type Toolset } from "../../mod.ts";
import type { Place } from "./place.ts";
import { type Asking, type ServerOptions, Wire } from "./server.ts";
import { Inbox, within } from "./waiting.ts";

/**
 * Creates a transport that connects the SDK's client to a server process. The SDK's
 * own transport does not work here: it starts processes with Node's `child_process`,
 * and when Deno starts another Deno that way, it changes the permissions.
 */
function clientTransport(wire: Wire): Transport {
  const transport: Transport = {
    start: () => Promise.resolve(),
    send: (message) => wire.write(message),
    close: async () => {
      await wire.endInput();
      transport.onclose?.();
    },
  };
  wire.onLine = (line) => transport.onmessage?.(JSON.parse(line));
  // Pending requests then fail.
  wire.onEnd = () => transport.onclose?.();
  return transport;
}

/** A server that runs as the README describes, connected to the SDK's client. */
export class Session implements AsyncDisposable {
  readonly client = new Client({ name: "test", version: "1.0.0" });
  /** The methods of the list-changed notifications. */
  readonly notifications = new Inbox<string>();
  /** The URIs of the resources that were updated. */
  readonly updates = new Inbox<string>();
  readonly stderr: Inbox<string>;
  readonly #wire: Wire;

  private constructor(wire: Wire) {
    this.#wire = wire;
    this.client.onclose = () => {
      this.notifications.end("the server ended");
      this.updates.end("the server ended");
    };
    this.stderr = wire.stderrLines;
    const lists = [
      ToolListChangedNotificationSchema,
      PromptListChangedNotificationSchema,
      ResourceListChangedNotificationSchema,
    ];
    for (const schema of lists) {
      this.client.setNotificationHandler(
        schema,
        ({ method }) => this.notifications.put(method),
      );
    }
    this.client.setNotificationHandler(
      ResourceUpdatedNotificationSchema,
      ({ params }) => this.updates.put(params.uri),
    );
  }

  static async open(place: Place, options?: ServerOptions): Promise<Session> {
    const wire = new Wire(place, options);
    const session = new Session(wire);
    const transport = clientTransport(wire);
    await within(session.client.connect(transport), "the server to start");
    return session;
  }

  async call(
    name: string,
    input: Record<string, unknown> = {},
  ): Promise<CallToolResult> {
    const params = { name, arguments: input };
    return await this.client.callTool(params) as CallToolResult;
  }

  /** Calls a tool and returns its result, which must be a single text. */
  async text(
    tool: string,
    input?: Record<string, unknown>,
  ): Promise<{ text: string; isError: boolean }> {
    const { content, isError = false } = await this.call(tool, input);
    const [item, ...rest] = content;
    assert.ok(item?.type === "text" && rest.length === 0);
    return { text: item.text, isError };
  }

  /** Calls the tool `skill` and returns its result. */
  load(name: string): Promise<{ text: string; isError: boolean }> {
    return this.text("skill", { name });
  }

  async description(): Promise<string> {
    const { tools } = await this.client.listTools();
    return tools.find(({ name }) => name === "skill")!.description!;
  }

  /** Returns the names in the description of the tool `skill`. */
  async names(): Promise<string[]> {
    const description = await this.description();
    // In lines if the policy hides descriptions.
    const [contract = "", lines] = description.split("\n\nSkills:\n");
    const names = lines?.matchAll(/^- ([^:\n]*)/gm) ??
      contract.matchAll(/^<name>(.*)<\/name>$/gm);
    return [...names].map(([, name]) => name!);
  }

  /** Waits for the notification that a list changed. */
  async listChanged(list = "tools"): Promise<void> {
    const method = `notifications/${list}/list_changed`;
    await this.notifications.take((other) => other === method, method);
  }

  /** Waits for the notification that a resource was updated. */
  async updated(uri: string): Promise<void> {
    await this.updates.take((it) => it === uri, `an update of ${uri}`);
  }

  /** Ends the server, and returns the rest of what it logged. */
  async end(): Promise<string[]> {
    await this.client.close();
    assert.equal((await this.#wire.ended).code, 0);
    return this.stderr.takeAll();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.end();
  }
}

/** The tools of each toolset, except those that need permission to run programs. */
export const toolsets: Record<Toolset, string[]> = {
  skill: ["skill"],
  skilljack: ["skill", "skill-resource"],
  reference: ["list_skills", "read_skill"],
  agentskills: [
    "load_skill_metadata_op",
    "load_skill_op",
    "read_reference_file_op",
  ],
};

/** An entry in `skills/list` of the Skills extension. */
export interface Entry {
  uri: string;
  frontmatter: Record<string, unknown>;
  resources: { uri: string; digest: string; size: number }[];
}

let lastId = 1_000;

/** Returns an unused request ID. */
export function nextId(): number {
  return ++lastId;
}

/** Requests all pages of a list and returns the results. */
export async function pages(
  wire: Asking,
  method: string,
  params: Record<string, unknown> = {},
  // deno-lint-ignore no-explicit-any -- the tests assert what it contains
): Promise<any[]> {
  const results = [];
  let cursor: string | undefined;
  do {
    const id = nextId();
    const { result, error } = await wire.ask(id, method, { ...params, cursor });
    assert.equal(error, undefined);
    results.push(result);
    cursor = result.nextCursor;
  } while (cursor !== undefined);
  return results;
}

/** Lists the entries of all skills. */
export async function listSkills(wire: Asking): Promise<Entry[]> {
  return (await pages(wire, "skills/list")).flatMap(({ skills }) => skills);
}

/** Verifies an entry against the files that the server serves, as a host would. */
export async function verify(wire: Asking, entry: Entry): Promise<void> {
  for (const { uri, digest, size } of entry.resources) {
    const params = { uri };
    const { result, error } = await wire.ask(
      nextId(),
      "resources/read",
      params,
    );
    assert.equal(error, undefined);
    const [content, ...rest] = result.contents;
    assert.deepEqual([content.uri, rest], [uri, []]);
    const bytes = content.text === undefined
      ? Uint8Array.fromBase64(content.blob)
      : new TextEncoder().encode(content.text);
    assert.equal(`sha256:${hash("sha256", bytes)}`, digest);
    assert.equal(bytes.length, size);
    if (uri === entry.uri) {
      assert.equal(content.mimeType, "text/markdown");
      assert.deepEqual(parseSkillMd(content.text), entry.frontmatter);
    }
  }
  const root = entry.uri.slice(0, -"/SKILL.md".length);
  assert.deepEqual(
    (await files(wire, root)).sort(),
    entry.resources.map(({ uri }) => uri).sort(),
  );
}

/** Lists all files under a directory by reading each directory. */
async function files(wire: Asking, uri: string): Promise<string[]> {
  const found: string[] = [];
  for (const page of await pages(wire, "resources/directory/read", { uri })) {
    for (const { uri, mimeType } of page.resources) {
      if (mimeType === "inode/directory") found.push(...await files(wire, uri));
      else found.push(uri);
    }
  }
  return found;
}
