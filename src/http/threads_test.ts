import { HttpServer, modernClient } from "../../tests/testing/http.ts";
import { needs } from "../../tests/testing/needs.ts";
import { filesPlace } from "../../tests/testing/place.ts";
import { eventually } from "../../tests/testing/waiting.ts";

const withLinks = needs("links");

withLinks.test("with several threads, no client that listens keeps an old list", async () => {
  using place = filesPlace();
  const flags = ["--parallel"];
  const env = { DENO_JOBS: "3" };
  await using server = await HttpServer.start(place, { flags, env });
  const lists: string[] = [];
  const clients = await Promise.all(
    Array.from({ length: 6 }, async (_, index) => {
      const client = await modernClient(server);
      const list = async () => {
        const { tools } = await client.listTools();
        lists[index] = tools[0]!.description!;
      };
      client.setNotificationHandler("notifications/tools/list_changed", list);
      await client.listen({ toolsListChanged: true });
      return client;
    }),
  );
  for (const name of ["one", "two", "three"]) {
    const dir = place.skill("store", name);
    place.link(dir, `home/.claude/skills/${name}`);
    // The thread that answers scans at once, and the others later.
    await server.ask("tools/call", { name: "skill", arguments: { name } });
    await eventually(
      () => clients.every((_, index) => lists[index]?.includes(name)),
      `the skill ${name} in all lists`,
    );
  }
  for (const client of clients) await client.close();
});
