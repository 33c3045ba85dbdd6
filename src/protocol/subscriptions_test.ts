import assert from "node:assert/strict";
import { filesPlace } from "../../tests/testing/folders.ts";
import {
  askModern,
  listen,
  SERVER_INFO,
  subscriptionOf,
  takeNotification,
} from "../../tests/testing/modern.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { Wire } from "../../tests/testing/server.ts";
import { eventually } from "../../tests/testing/waiting.ts";

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
      resourceSubscriptions: [uri, "skill://none", "file:///etc/passwd", uri],
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

Deno.test("subscriptions/listen ends without a reply when it is cancelled", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  const uri = "skill://git/logo.png";
  const wanted = { toolsListChanged: true, resourceSubscriptions: [uri] };
  for (const id of [1, 2]) await listen(wire, id, wanted);
  await wire.write({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });
  // The reply comes after the server has handled the cancellation.
  await askModern(wire, "tools/list");
  place.replace("home/.claude/skills/git/logo.png", "new");
  place.skill("home/.claude/skills", "new");
  const methods = [
    (await takeNotification(wire, 2)).method,
    (await takeNotification(wire, 2)).method,
  ];
  assert.deepEqual(methods.sort(), [
    "notifications/resources/updated",
    "notifications/tools/list_changed",
  ]);
  await askModern(wire, "tools/list");
  assert.deepEqual(wire.lines.takeAll(), []);
});

for (const end of ["the end of its input", "SIGTERM"]) {
  Deno.test(
    `subscriptions/listen ends with a result when the server exits after ${end}`,
    {
      ignore: lacks("signals"),
    },
    async () => {
      using place = filesPlace();
      await using wire = new Wire(place);
      await listen(wire, "a", { toolsListChanged: true });
      if (end === "SIGTERM") wire.process.kill("SIGTERM");
      const { code } = await (end === "SIGTERM" ? wire.ended : wire.endInput());
      assert.equal(code, 0);
      assert.deepEqual(
        JSON.parse(
          await wire.lines.take(
            (line) => subscriptionOf(line) === "a",
            "the result",
          ),
        ),
        {
          jsonrpc: "2.0",
          id: "a",
          result: {
            resultType: "complete",
            _meta: {
              "io.modelcontextprotocol/subscriptionId": "a",
              ...SERVER_INFO,
            },
          },
        },
      );
    },
  );
}

Deno.test("both eras can subscribe to the same resource and unsubscribe separately", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await wire.initialize();
  const uri = "skill://git/logo.png";
  await wire.ask(1, "resources/subscribe", { uri });
  await listen(wire, "a", { resourceSubscriptions: [uri] });
  const isUntagged = (line: string) =>
    line.includes("resources/updated") && subscriptionOf(line) === undefined;
  const change = (text: string) =>
    place.replace("home/.claude/skills/git/logo.png", text);
  change("one");
  await takeNotification(wire, "a");
  await wire.lines.take(isUntagged, "the legacy notification");
  await wire.ask(2, "resources/unsubscribe", { uri });
  change("two");
  await takeNotification(wire, "a");
  await wire.ask(3, "resources/subscribe", { uri });
  await wire.write({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: "a" },
  });
  await wire.ask(4, "ping");
  change("three");
  await wire.lines.take(isUntagged, "the legacy notification");
  await wire.ask(4, "ping");
  assert.deepEqual(wire.lines.takeAll(), []);
});

Deno.test("a client that never initializes gets no notifications that it did not request", async () => {
  using place = filesPlace();
  await using wire = new Wire(place);
  await askModern(wire, "tools/list");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  place.skill("home/.claude/skills", "new");
  const isListed = async () => {
    const { result } = await askModern(wire, "tools/list");
    return result.tools[0].description.includes("<name>new<");
  };
  await eventually(isListed, "the refresh");
  assert.deepEqual(wire.lines.takeAll(), []);
});
