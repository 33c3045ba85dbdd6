// How subscriptions/listen of the modern era begins and ends. What a change updates is
// in src/mcp/subscriptions_test.ts.
import assert from "node:assert/strict";
import config from "../deno.json" with { type: "json" };
import { filesPlace } from "./testing/folders.ts";
import { needs } from "./testing/needs.ts";
import { MODERN_META, Wire } from "./testing/server.ts";

const withSignals = needs("signals");

for (const end of ["the end of its input", "SIGTERM"]) {
  withSignals.test(`subscriptions/listen acknowledges what the server supports, and ends with a result when the server exits after ${end}`, async () => {
    using place = filesPlace();
    await using wire = new Wire(place);
    const wanted = {
      toolsListChanged: true,
      promptsListChanged: false,
      somethingElse: true,
    };
    await wire.write({
      jsonrpc: "2.0",
      id: "a",
      method: "subscriptions/listen",
      params: { _meta: MODERN_META, notifications: wanted },
    });
    const subscription = { "io.modelcontextprotocol/subscriptionId": "a" };
    const take = async (what: string) =>
      JSON.parse(await wire.lines.take(() => true, what));
    assert.deepEqual(await take("the acknowledgment"), {
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: {
        notifications: { toolsListChanged: true },
        _meta: subscription,
      },
    });
    if (end === "SIGTERM") wire.process.kill("SIGTERM");
    const { code } = await (end === "SIGTERM" ? wire.ended : wire.endInput());
    assert.equal(code, 0);
    const { result, ...message } = await take("the result");
    assert.deepEqual(message, { jsonrpc: "2.0", id: "a" });
    const { _meta, resultType } = result;
    assert.equal(resultType, "complete");
    const info = _meta["io.modelcontextprotocol/serverInfo"];
    assert.equal(info.version, config.version);
  });
}
