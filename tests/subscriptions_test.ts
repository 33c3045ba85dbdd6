// subscriptions/listen of the modern era. What a change updates is in
// src/mcp/subscriptions_test.ts.
import assert from "node:assert/strict";
import { filesPlace } from "./testing/folders.ts";
import {
  askModern,
  listen,
  SERVER_INFO,
  takeNotification,
} from "./testing/modern.ts";
import { lacks } from "./testing/needs.ts";
import { Wire } from "./testing/server.ts";

Deno.test("subscriptions/listen acknowledges first, and then sends only the requested notifications, with its ID", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const uri = "skill://git/references/API.md";
  assert.deepEqual(
    await listen(wire, 1, {
      toolsListChanged: true,
      promptsListChanged: false,
      somethingElse: true,
    }),
    { toolsListChanged: true },
  );
  assert.deepEqual(
    await listen(wire, "one", {
      resourcesListChanged: true,
      resourceSubscriptions: [uri],
    }),
    { resourcesListChanged: true, resourceSubscriptions: [uri] },
  );
  assert.deepEqual(await listen(wire, "1", {}), {});
  place.replace("home/.claude/skills/git/references/API.md", "# API 2");
  assert.deepEqual(await takeNotification(wire, "one"), {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: {
      uri,
      _meta: { "io.modelcontextprotocol/subscriptionId": "one" },
    },
  });
  place.skill("home/.claude/skills", "new");
  assert.deepEqual(await takeNotification(wire, 1), {
    jsonrpc: "2.0",
    method: "notifications/tools/list_changed",
    params: { _meta: { "io.modelcontextprotocol/subscriptionId": 1 } },
  });
  const { method } = await takeNotification(wire, "one");
  assert.equal(method, "notifications/resources/list_changed");
  await askModern(wire, "tools/list");
  assert.deepEqual(wire.lines.takeAll(), []);
});

for (const end of ["the end of its input", "SIGTERM"]) {
  Deno.test(
    `subscriptions/listen ends with a result when the server exits after ${end}`,
    { ignore: lacks("signals") },
    async () => {
      using place = filesPlace();
      await using wire = new Wire(place);
      await listen(wire, "a", { toolsListChanged: true });
      if (end === "SIGTERM") wire.process.kill("SIGTERM");
      const { code } = await (end === "SIGTERM" ? wire.ended : wire.endInput());
      assert.equal(code, 0);
      assert.deepEqual(await takeNotification(wire, "a"), {
        jsonrpc: "2.0",
        id: "a",
        result: {
          resultType: "complete",
          _meta: {
            "io.modelcontextprotocol/subscriptionId": "a",
            ...SERVER_INFO,
          },
        },
      });
    },
  );
}
