import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import {
  runScript,
  runServer,
  serverScript,
  spawnServer,
} from "../../tests/testing/server.ts";

const withProc = needs("proc");

Deno.test("--list exits quietly when its output is closed", async () => {
  using place = new Place();
  const list = spawnServer(place, { args: ["--list"] });
  await list.stdout.cancel();
  await list.stdin.close();
  assert.equal(await new Response(list.stderr).text(), "");
  assert.equal((await list.status).code, 0);
});

withProc.test("--check exits with 2 if it cannot write, even if there are errors", async () => {
  using place = new Place();
  const script = `${serverScript(place, "--check")} >/dev/full`;
  const { code, stderr } = await runScript(place, script);
  assert.equal(code, 2);
  assert.match(stderr, /^skill-server: Cannot write the output: .*\n$/);
});

Deno.test("--list keeps GitHub Actions from running commands in the text of a skill", async () => {
  using place = new Place();
  const text = skillMd('"::stop-commands::x"', '"##[add-mask]x"');
  place.skill("home/.claude/skills", "a", text);
  for (const args of [["--list"], ["--list", "--as", "cline"]]) {
    const env = { GITHUB_ACTIONS: "true" };
    const { stdout } = await runServer(place, { args, env });
    const [, token, shown, rest] =
      /^::stop-commands::(\S+)\n(.*)^::\1::\n(.*)$/ms.exec(stdout)!;
    assert.match(token!, /^[\da-f-]{36}$/);
    assert.match(shown!, /::stop-commands::x/);
    assert.doesNotMatch(rest!, /stop-commands/);
    assert.doesNotMatch(stdout, /##\[/);
  }
});
