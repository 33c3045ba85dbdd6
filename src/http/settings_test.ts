import assert from "node:assert/strict";
import { basename } from "jsr:@std/path@^1";
import { createHttpSettings, type HttpSettings } from "./settings.ts";
import { UsageError } from "../cli/command_line.ts";

/** Creates settings as if the environment had nothing but these variables. */
function create(
  variables: Record<string, string>,
  args: string[] = [],
  denied?: string,
): HttpSettings {
  const { get } = Deno.env;
  Deno.env.get = (name) => {
    if (name === denied) throw new Deno.errors.NotCapable();
    return { HOME: "/home", ...variables }[name];
  };
  try {
    return createHttpSettings(args);
  } finally {
    Deno.env.get = get;
  }
}

const namesOf = ({ roots }: HttpSettings) =>
  roots.map(({ path }) => basename(path));

Deno.test("createHttpSettings() combines the command line with SKILL_SERVER_ARGS, and prefers it", () => {
  const settings = create(
    {
      SKILLS_DIR: "/env",
      SKILL_SERVER_ARGS:
        `--tools skilljack --refresh 2 --skill-dir "/th ree" '/fo'ur`,
    },
    ["--tools=reference", "--skill-dir=/two", "/one"],
  );
  const { tools } = settings;
  assert.deepEqual([tools.toolset, settings.values.refresh], [
    "reference",
    "2",
  ]);
  assert.deepEqual([tools.allowShell, tools.isRemote], [false, true]);
  const names = namesOf(settings);
  for (const name of ["one", "two", "th ree"]) {
    assert.ok(names.includes(name), name);
  }
  for (const name of ["four", "env"]) assert.ok(!names.includes(name), name);
  assert.ok(namesOf(create({ SKILLS_DIR: "/env" })).includes("env"));
});

Deno.test("createHttpSettings() refuses a setting that is invalid or does not apply to HTTP", () => {
  const hosts = /Invalid SKILL_SERVER_HOSTS ".*": expected host names/;
  for (
    const [variables, message] of [
      [{ SKILL_SERVER_ARGS: "--check" }, /Cannot use --check over HTTP/],
      [{ SKILL_SERVER_ARGS: "--shell-timeout 5" }, /--shell-timeout over HTTP/],
      [{ SKILL_SERVER_ARGS: "--tools all" }, /Invalid --tools "all"/],
      [{ SKILL_SERVER_ARGS: "--skill-dir 'a" }, /Invalid SKILL_SERVER_ARGS/],
      [
        { SKILL_SERVER_ARGS: "--policy" },
        /Invalid SKILL_SERVER_ARGS: --policy requires/,
      ],
      [{ SKILL_SERVER_TOKEN: "two words" }, /Invalid SKILL_SERVER_TOKEN/],
      [{ SKILL_SERVER_TOKEN: " " }, /TOKEN: it is set and empty; create a/],
      [{ SKILL_SERVER_HOSTS: " , " }, hosts],
      [{ SKILL_SERVER_HOSTS: "*.example.com" }, hosts],
      [{ SKILL_SERVER_HOSTS: "a.example.com,https://b.example.com" }, hosts],
    ] as [Record<string, string>, RegExp][]
  ) {
    assert.throws(
      () => create(variables),
      (error) => error instanceof UsageError && message.test(error.message),
      message.source,
    );
  }
  const { access } = create({
    SKILL_SERVER_TOKEN: " abc== ",
    SKILL_SERVER_HOSTS: "A.example.com, [::1],",
  });
  const names = ["a.example.com", "[::1]"];
  assert.deepEqual(access, { token: "abc==", hosts: names });
});

Deno.test("createHttpSettings() fails if it cannot read one of its variables", () => {
  const names = ["TOKEN", "HOSTS", "ARGS"].map((name) =>
    `SKILL_SERVER_${name}`
  );
  for (const name of [...names, "SKILLS_DIR"]) {
    assert.throws(
      () => create({}, [], name),
      /Cannot read the settings in the environment: Deno has no permission; add --allow-env, or /,
    );
  }
});
