import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import {
  message,
  metaOf,
  runScript,
  runServer,
  serverCommand,
  serverScript,
  spawnServer,
  Wire,
} from "../../tests/testing/server.ts";
import { eventually, within } from "../../tests/testing/waiting.ts";

const withLinks = needs("links");
const withSh = needs("sh");
const withProc = needs("proc");

Deno.test("server writes pending replies and exits with 0 when its input ends", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  await using wire = await Wire.open(place);
  const call = (id: number) => {
    const input = { name: id % 50 ? "git" : "none" };
    return message(id, "tools/call", { name: "skill", arguments: input });
  };
  const expected = Array.from({ length: 2_000 }, (_, index) => index + 1);
  await wire.write(
    expected.map((id) => `${JSON.stringify(call(id))}\n`).join(""),
  );
  const { code } = await wire.endInput();
  assert.equal(code, 0);
  const ids = wire.lines.takeAll().map((line) => JSON.parse(line).id);
  assert.deepEqual(ids.sort((a, b) => a - b), expected);
  assert.equal(wire.stderr, "");
});

Deno.test("server says what to do if its input ends before any message", async () => {
  using place = new Place();
  const { code, stdout, stderr } = await runServer(place);
  assert.deepEqual([code, stdout], [0, ""]);
  assert.match(
    stderr,
    /^skill-server: Stdin ended before any message, .* in a container with -i, or serve over HTTP[^\n]*\n$/,
  );
});

withLinks.test("server exits at once when its client disconnects during the first scan", async () => {
  using place = new Place();
  for (let i = 0; i < 2_500; i++) {
    place.link("nowhere", `home/.claude/skills/${i}-${"x".repeat(60)}`);
  }
  await using wire = new Wire(place);
  await wire.write(message(1, "initialize"));
  assert.equal((await wire.endInput()).code, 0);
  // The scan logs problems only at its end.
  assert.doesNotMatch(wire.stderr, /nowhere/);
});

Deno.test("server exits quietly when its output is closed", async () => {
  using place = new Place();
  const server = spawnServer(place);
  const stdin = server.stdin.getWriter();
  const stdout = server.stdout.getReader();
  const line = (id: number) =>
    new TextEncoder().encode(`${JSON.stringify(message(id, "ping"))}\n`);
  await stdin.write(line(1));
  await within(stdout.read(), "the first reply");
  await stdout.cancel();
  // The pipe may close a moment later, so one reply may still fit into it.
  let code: number | undefined;
  server.status.then((status) => code = status.code);
  await eventually(async () => {
    await stdin.write(line(2)).catch(() => {});
    return code !== undefined;
  }, "the server to exit");
  assert.equal(code, 0);
  assert.equal(await new Response(server.stderr).text(), "");
  await stdin.abort().catch(() => {});
});

Deno.test("server answers a client that sends all its requests before it reads", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const server = spawnServer(place);
  const requests = Array.from({ length: 3_000 }, (_, id) => {
    const request = message(id, "resources/read", {
      uri: "skill://git/SKILL.md",
    });
    return `${JSON.stringify(request)}\n`;
  });
  const stdin = server.stdin.getWriter();
  const bytes = new TextEncoder().encode(requests.join(""));
  await within(stdin.write(bytes), "the server to read all requests");
  const [output] = await Promise.all([
    new Response(server.stdout).text(),
    stdin.close(),
  ]);
  assert.equal(output.split("\n").length, 1 + requests.length);
  await server.stderr.cancel();
  await server.status;
});

Deno.test("server exits after its input ends, even if its client does not read", async () => {
  using place = new Place();
  const server = spawnServer(place);
  const _meta = metaOf("2026-07-28");
  const notifications = { toolsListChanged: true };
  const requests = [
    message(0, "subscriptions/listen", { _meta, notifications }),
    ...Array.from(
      { length: 300 },
      (_, id) => message(id + 1, "tools/list", { _meta }),
    ),
    ...Array(1_500).fill("nonsense"),
  ];
  const stdin = server.stdin.getWriter();
  const lines = requests.map((it) => `${JSON.stringify(it)}\n`).join("");
  await stdin.write(new TextEncoder().encode(lines));
  await stdin.close();
  const { code } = await within(server.status, "the server to exit");
  assert.equal(code, 0);
  await server.stdout.cancel();
  await server.stderr.cancel();
});

withProc.test("server says that it cannot write to stdout", async () => {
  using place = new Place();
  const request = JSON.stringify(message(1, "tools/list"));
  const script = `echo '${request}' | ${serverScript(place)} >/dev/full`;
  const { code, stderr } = await runScript(place, script);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^skill-server: Cannot write to stdout: No space left .*; start the server from an MCP client\n$/,
  );
});

Deno.test("server keeps serving if its client does not read stderr", async () => {
  using place = new Place();
  for (let i = 0; i < 500; i++) {
    place.skill("home/.claude/skills", `bad-${"x".repeat(100)}-${i}`, "none");
  }
  place.skill("home/.claude/skills", "git");
  const server = spawnServer(place);
  const stdin = server.stdin.getWriter();
  const request = message(1, "tools/list");
  await stdin.write(new TextEncoder().encode(`${JSON.stringify(request)}\n`));
  const stdout = server.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const { value } = await within(stdout.read(), "the reply");
  assert.match(value!, /"id":1[,}]/);
  await stdin.close();
  const end = await within(stdout.read(), "the end of the output");
  assert.equal(end.done, true);
  await server.stderr.cancel();
  assert.equal((await server.status).code, 0);
});

withSh.test("server keeps serving if stderr is closed", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  const [command, { args, cwd, env }] = serverCommand(place);
  const request = JSON.stringify(message(1, "tools/list"));
  const script = `printf '%s\\n' '${request}' | "$@" 2>&-`;
  const { code, stdout } = await new Deno.Command("sh", {
    args: ["-c", script, "sh", String(command), ...args!],
    cwd,
    env,
  }).output();
  assert.equal(code, 0);
  const reply = JSON.parse(new TextDecoder().decode(stdout));
  assert.match(reply.result.tools[0].description, /<name>git</);
});

withSh.test("server says why it cannot read stdin", async () => {
  using place = new Place();
  const script = `${serverScript(place)} < .`;
  const { code, stderr } = await runScript(place, script);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /^skill-server: Cannot read stdin: .*; start the server from an MCP client\n$/,
  );
});
