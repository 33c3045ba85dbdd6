// A server without a transport, which a test asks directly.
import type { Result } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  type ListName,
  type RequestContext,
  RequestDispatcher,
} from "../../src/protocol/dispatcher.ts";

/** The context of a request, unless the test says otherwise. */
export const CONTEXT: RequestContext = {
  id: 1,
  signal: new AbortController().signal,
  client: "test",
};

/** A dispatcher that the test asks. It records which lists changed. */
export class TestDispatcher extends RequestDispatcher {
  readonly changed: ListName[] = [];

  constructor() {
    super({
      serverInfo: { name: "test", title: "Test", version: "1.0.0" },
      capabilities: {},
      instructions: () => "",
      ttlMs: 0,
    });
  }

  override notifyListChanged(list: ListName): void {
    this.changed.push(list);
  }

  has(method: string): boolean {
    return this.hasHandler(method);
  }

  ask(
    method: string,
    params?: Record<string, unknown>,
    context = CONTEXT,
  ): Result | Promise<Result> {
    return this.handle({ jsonrpc: "2.0", id: 1, method, params }, context);
  }
}
