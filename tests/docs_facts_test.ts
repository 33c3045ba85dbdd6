// The links and the facts in the pages are right. Their commands are in docs_commands_test.ts.
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { dirname, join } from "../src/fs/paths.ts";
import { record } from "../tools/record.ts";
import { listLinks, PAGES, read } from "./testing/docs.ts";
import { environment, IMPORTS, REPOSITORY } from "./testing/environment.ts";
import { HttpServer } from "./testing/http.ts";
import { needs } from "./testing/needs.ts";
import { Place } from "./testing/place.ts";
import { Wire } from "./testing/server.ts";

const withSh = needs("sh");

/** The anchors that GitHub gives the headings of a page. */
function anchorsOf(page: string): string[] {
  const text = read(page).replaceAll(/^```.*?^```/gms, "");
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) =>
    heading!.toLowerCase().replaceAll(/[^\p{L}\p{N}_\- ]/gu, "")
      .replaceAll(" ", "-")
  );
}

Deno.test("each link of a page leads to a file and a heading that exist", () => {
  let checked = 0;
  for (const page of PAGES) {
    for (const link of listLinks(page)) {
      // Links that start with ../../ lead to other parts of the repository's site.
      if (/^(\w+:|\.\.\/\.\.\/)/.test(link)) continue;
      const [path, anchor] = link.split("#");
      const target = path ? join(dirname(page), path) : page;
      assert.ok(existsSync(join(REPOSITORY, target)), `${link} in ${page}`);
      checked++;
      if (anchor === undefined) continue;
      assert.ok(anchorsOf(target).includes(anchor), `${link} in ${page}`);
    }
  }
  assert.ok(checked > 30);
});

const PROTOCOL = read("docs/protocol.md");

Deno.test("the lines of deno.json in docs/running.md are those of a clone without JSR", () => {
  const [, block = ""] = /```json\n([^]*?)```/.exec(read("docs/running.md")) ??
    [];
  const { imports } = JSON.parse(read("npm_only/import_map.json"));
  const replaced = Object.entries<string>(imports).map((
    [name, path],
  ) => [name, path.replace(/^\.\//, "./skill-server/npm_only/")]);
  const { name } = JSON.parse(read("deno.json"));
  assert.deepEqual(JSON.parse(block).imports, {
    [name]: "./skill-server/mod.ts",
    ...Object.fromEntries(replaced),
  });
});

Deno.test("the lines in docs/protocol.md are a conversation on stdio", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const [, lines = ""] = /<<'EOF'\n([^]*?)EOF\n/.exec(PROTOCOL) ?? [];
  await using wire = new Wire(place);
  await wire.write(lines);
  assert.equal((await wire.reply(1)).result.protocolVersion, "2025-11-25");
  assert.equal((await wire.reply(2)).result.tools.length, 1);
});

Deno.test("the command of curl in docs/protocol.md gets the skills over HTTP", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const [command = ""] = /^curl -s [^]*?^```$/m.exec(PROTOCOL) ?? [];
  const headers = Array.from(
    command.matchAll(/-H '(.+?): (.+?)'/g),
    ([, name, value]) => [name!, value!],
  );
  const [, body] = /-d '(.*)'/.exec(command) ?? [];
  await using server = await HttpServer.start(place);
  const response = await fetch(server.url, {
    method: "POST",
    headers: Object.fromEntries(headers),
    body,
  });
  const { result } = await response.json();
  assert.deepEqual(
    result.skills.map(({ uri }: { uri: string }) => uri),
    ["skill://git/SKILL.md"],
  );
});

withSh.test("docs/terminal.svg shows what --list and --check print", async () => {
  // Deno finds its cache by the home directory, which is another one there.
  Deno.env.set("DENO_DIR", environment.DENO_DIR);
  const file = join(REPOSITORY, "docs", "terminal.svg");
  assert.equal(
    await record(IMPORTS),
    Deno.readTextFileSync(file),
    "Run deno task record",
  );
});
