import assert from "node:assert/strict";
import { Place } from "./testing/folders.ts";
import {
  httpCommand,
  type HttpOptions,
  HttpServer,
  TOKEN,
} from "./testing/http.ts";
import { runServer } from "./testing/server.ts";

Deno.test("options come from the command line and the environment", async () => {
  using place = new Place();
  place.skill("skills", "one");
  place.skill("more", "two");
  await using server = await HttpServer.start(place, {
    args: ["--tools", "reference"],
    env: {
      SKILLS_DIR: `${place.path}/skills`,
      SKILL_SERVER_ARGS: `--skill-dir "${place.path}/more"`,
    },
  });
  const { result } = await server.ask("tools/call", {
    name: "list_skills",
    arguments: {},
  });
  assert.deepEqual(
    result.structuredContent.skills.map(({ name }: { name: string }) => name),
    ["one", "two"],
  );
});

Deno.test("the server exits if an option is invalid or does not apply to HTTP", async () => {
  using place = new Place();
  for (
    const [options, message] of [
      [{ args: ["--check"] }, /Cannot use --check over HTTP/],
      [
        { args: ["--shell-timeout", "5"] },
        /Cannot use --shell-timeout over HTTP/,
      ],
      [{ args: ["--tools", "all"] }, /Invalid --tools "all"/],
      [
        { env: { SKILL_SERVER_ARGS: "--skill-dir 'a" } },
        /Invalid SKILL_SERVER_ARGS/,
      ],
      [
        { env: { SKILL_SERVER_TOKEN: "two words" } },
        /Invalid SKILL_SERVER_TOKEN/,
      ],
      [
        { env: { SKILL_SERVER_TOKEN: " " } },
        /Invalid SKILL_SERVER_TOKEN: it is set and empty; create a token/,
      ],
      [
        { host: "0.0.0.0", env: { SKILL_SERVER_TOKEN: "x".repeat(15) } },
        /Cannot serve other machines with a token of less than 16 characters/,
      ],
      [
        { env: { SKILL_SERVER_ARGS: "--policy" } },
        /Invalid SKILL_SERVER_ARGS: --policy requires the path of a file/,
      ],
      [
        { env: { SKILL_SERVER_HOSTS: " , " } },
        /Invalid SKILL_SERVER_HOSTS " , ": expected host names/,
      ],
      [
        { env: { SKILL_SERVER_HOSTS: "*.example.com" } },
        /Invalid SKILL_SERVER_HOSTS "\*\.example\.com": .* or wildcard; list each name/,
      ],
      [
        { env: { SKILL_SERVER_HOSTS: "https://example.com" } },
        /Invalid SKILL_SERVER_HOSTS "https:\/\/example\.com"/,
      ],
    ] as [HttpOptions, RegExp][]
  ) {
    const { code, stderr } = await runServer(
      place,
      httpCommand(options),
    );
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

Deno.test("the server does not start if it cannot read its settings in the environment", async () => {
  using place = new Place();
  place.file("policy.yaml", "rules: [{ state: off }]");
  const all = ["TOKEN", "HOSTS", "ARGS"].map((name) => `SKILL_SERVER_${name}`);
  const readable = ["HOME", "USERPROFILE", "MAX_FILE_SIZE_MB", ...all];
  const env = {
    SKILL_SERVER_TOKEN: TOKEN,
    SKILL_SERVER_HOSTS: "skills.example.com",
    SKILL_SERVER_ARGS: `--policy ${place.path}/policy.yaml`,
    SKILLS_DIR: place.path,
  };
  for (const name of ["SKILLS_DIR", ...all]) {
    const names = [...readable, "SKILLS_DIR"].filter((other) => other !== name);
    const permissions = ["--allow-read", `--allow-env=${names}`];
    const { code, stderr } = await runServer(
      place,
      httpCommand({ env, permissions }),
    );
    assert.equal(code, 2, name);
    assert.match(
      stderr,
      /^skill-server: Cannot read the settings in the environment: Deno has no permission; add --allow-env, or /,
    );
  }
});

Deno.test("an option on the command line takes precedence over SKILL_SERVER_ARGS", async () => {
  using place = new Place();
  const folder = (name: string) => {
    place.skill(name, name);
    return `${place.path}/${name}`;
  };
  await using server = await HttpServer.start(place, {
    args: ["--tools=reference", `--skill-dir=${folder("two")}`, folder("one")],
    env: {
      SKILL_SERVER_ARGS: `--tools skilljack --refresh 2 --skill-dir "${
        folder("three")
      }" "${folder("four")}"`,
    },
  });
  const { result } = await server.ask("tools/call", {
    name: "list_skills",
    arguments: {},
  });
  assert.deepEqual(
    result.structuredContent.skills.map(({ name }: { name: string }) => name)
      .sort(),
    ["one", "three", "two"],
  );
  assert.equal((await server.ask("tools/list")).result.ttlMs, 2_000);
});

Deno.test("the values of each repeatable option are combined with those in SKILL_SERVER_ARGS", async () => {
  using place = new Place();
  const folders = ["one", "two"].map((name) => {
    place.skill(name, name);
    return `${place.path}/${name}`;
  });
  const [first, second] = folders;
  await using server = await HttpServer.start(place, {
    args: [`--name-only=${first}`, ...folders],
    env: { SKILL_SERVER_ARGS: `--name-only="${second}"` },
  });
  const { result } = await server.ask("tools/list");
  const [{ description }] = result.tools;
  assert.match(description, /<name>one</);
  assert.doesNotMatch(description, /About/);
});
