// subscriptions/listen of the modern era. What a change updates is in
// src/mcp/subscriptions_test.ts.
import assert from "node:assert/strict";
import { filesPlace } from "./testing/folders.ts";
import { listen, SERVER_INFO, takeNotification } from "./testing/modern.ts";
import { lacks } from "./testing/needs.ts";
import { Wire } from "./testing/server.ts";

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
