// The SDK's own client gets all that it asks for over stdio, in both eras.
import assert from "node:assert/strict";
import {
  Client,
  type VersionNegotiationOptions,
} from "npm:@modelcontextprotocol/client@^2";
import { SkillsClient } from "npm:@modelcontextprotocol/client@^2/ext/skills";
import { StdioClientTransport } from "npm:@modelcontextprotocol/client@^2/stdio";
import { GIT_CALL } from "./testing/http.ts";
import { filesPlace } from "./testing/place.ts";
import { serverCommand } from "./testing/server.ts";
import { Inbox } from "./testing/waiting.ts";

const ERAS: Readonly<Record<string, VersionNegotiationOptions["mode"]>> = {
  "up to 2025-11-25": "legacy",
  "of 2026-07-28": { pin: "2026-07-28" },
  "of either era": "auto",
};

for (const [era, mode] of Object.entries(ERAS)) {
  Deno.test(`a client ${era} gets all that it asks for`, async () => {
    using place = filesPlace();
    const [command, options] = serverCommand(place);
    const transport = new StdioClientTransport({
      command,
      args: options.args!,
      cwd: String(options.cwd),
      env: options.env!,
    });
    const client = new Client(
      { name: "test", version: "1.0.0" },
      { versionNegotiation: { mode } },
    );
    const changes = new Inbox<string>();
    client.setNotificationHandler(
      "notifications/tools/list_changed",
      () => changes.put("tools"),
    );
    client.setNotificationHandler(
      "notifications/resources/updated",
      ({ params }) => changes.put(params.uri),
    );
    await client.connect(transport);

    const { content: [item] } = await client.callTool(GIT_CALL);
    assert.ok(item?.type === "text" && item.text.startsWith("Loading: git\n"));
    const { completion } = await client.complete({
      ref: { type: "ref/prompt", name: "skill" },
      argument: { name: "name", value: "g" },
    });
    assert.deepEqual(completion.values, ["git"]);

    const skills = new SkillsClient(client);
    const { skills: [skill] } = await skills.list();
    assert.equal(skill!.frontmatter.name, "git");
    assert.deepEqual((await skills.get(skill!.uri)).skill, skill);
    const file = await skills.read(skill!, "references/API.md");
    assert.match(JSON.stringify(file), /# API/);

    const uri = "skill://git/references/API.md";
    if (client.getNegotiatedProtocolVersion() === "2026-07-28") {
      const filter = { toolsListChanged: true, resourceSubscriptions: [uri] };
      const { honoredFilter } = await client.listen(filter);
      assert.deepEqual(honoredFilter, filter);
    } else {
      await client.subscribeResource({ uri });
    }
    place.replace("home/.claude/skills/git/references/API.md", "# API 2");
    await changes.take((change) => change === uri, "the change of the file");
    place.skill("home/.claude/skills", "new");
    await changes.take(
      (change) => change === "tools",
      "the change of the list",
    );
    await client.close();
  });
}
