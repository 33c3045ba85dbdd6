import assert from "node:assert/strict";
import { withVariables } from "../../tests/testing/fakes.ts";
import { basename } from "../fs/paths.ts";
import { UsageError } from "../program/command_line.ts";
import { createHttpSettings, type HttpSettings } from "./http_settings.ts";

/** Creates settings as if the environment had nothing but these variables. */
function create(
  variables: Record<string, string>,
  args: string[] = [],
): HttpSettings {
  const all = { HOME: "/home", ...variables };
  return withVariables(all, () => createHttpSettings(args));
}

Deno.test("createHttpSettings() reads SKILL_SERVER_ARGS if the command line is empty", () => {
  const variables = {
    SKILL_SERVER_ARGS: "\n--refresh  2 --skill-dir /three /four\t",
  };
  const cases = [
    [[], "2", ["four", "three"]],
    [["--refresh=3", "/one"], "3", ["one"]],
  ] as const;
  for (const [args, refresh, dirs] of cases) {
    const { values, roots, options } = create(variables, [...args]);
    assert.equal(values.refresh, refresh);
    assert.deepEqual([options.allowShell, options.isRemote], [false, true]);
    const found = roots.map(({ path }) => basename(path))
      .filter((name) => name !== "skills");
    assert.deepEqual(found, dirs);
  }
});

Deno.test("createHttpSettings() refuses what it cannot use over HTTP", () => {
  const hosts = /Invalid SKILL_SERVER_HOSTS ".*": expected host names/;
  const cases = [
    [{ SKILL_SERVER_ARGS: "--check" }, /Cannot use --check over HTTP/],
    [{ SKILL_SERVER_ARGS: "--skill-dir 'a'" }, /Invalid SKILL_SERVER_ARGS/],
    [{ SKILL_SERVER_ARGS: '--policy="/a b"' }, /Invalid SKILL_SERVER_ARGS/],
    [
      { SKILL_SERVER_ARGS: "--policy" },
      /--policy requires a value: expected the path of a file/,
    ],
    [{ SKILL_SERVER_HOSTS: " , " }, hosts],
    [{ SKILL_SERVER_HOSTS: "*.example.com" }, hosts],
    [{ SKILL_SERVER_HOSTS: "a.example.com,https://b.example.com" }, hosts],
    [
      { SKILL_SERVER_PROXY: "proxy.example.com" },
      /Invalid SKILL_SERVER_PROXY "proxy.example.com": expected the IP address/,
    ],
  ] as [Record<string, string>, RegExp][];
  for (const [variables, message] of cases) {
    assert.throws(
      () => create(variables),
      (error) => error instanceof UsageError && message.test(error.message),
      message.source,
    );
  }
  const { access } = create({ SKILL_SERVER_HOSTS: "A.example.com, [::1]," });
  assert.deepEqual(access.hosts, ["a.example.com", "[::1]"]);
});
