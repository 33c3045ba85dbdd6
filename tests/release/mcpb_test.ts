// The bundle for Claude Desktop starts, and server.json is valid for the MCP Registry.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { Ajv } from "npm:ajv@^8.17.1";
import config from "../../deno.json" with { type: "json" };
import serverEntry from "../../server.json" with { type: "json" };
import type { Launch } from "../../src/cli/config.ts";
import { join } from "../../src/fs/paths.ts";
import serverSchema from "../../testdata/server.schema.json" with {
  type: "json",
};
import { Session } from "../testing/client.ts";
import {
  environment,
  FLAGS,
  IMPORTS,
  MOD,
  REPOSITORY,
} from "../testing/environment.ts";
import { lacks } from "../testing/needs.ts";
import { Place } from "../testing/place.ts";

/** The package that checks, packs, and unpacks bundles, and that starts them in clients. */
const MCPB = "npm:@anthropic-ai/mcpb@2.1.2";

/** How a client starts a bundle. */
interface ClientConfig extends Launch {
  readonly env: Record<string, string>;
}

/** Runs Deno without this project's lock file and returns its output. */
function runDeno(...args: string[]): string {
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-lock", ...args],
    cwd: REPOSITORY,
    env: environment,
  }).outputSync();
  const decoder = new TextDecoder();
  assert.ok(success, decoder.decode(stderr));
  return decoder.decode(stdout);
}

/**
 * Creates and unpacks the bundle, and returns its directory. Where there is no
 * executable, a script takes its place.
 */
function unpackBundle(place: Place): string {
  const bundle = join(place.path, "skill-server.mcpb");
  const executable = lacks("compile")
    ? ["--executable", createScript(place)]
    : [];
  const tool = join(REPOSITORY, "tools", "mcpb.ts");
  runDeno(...IMPORTS, tool, ...executable, "-o", bundle);
  const dir = join(place.path, "extension");
  runDeno(`${MCPB}/mcpb`, "unpack", bundle, dir);
  return dir;
}

/** Creates a script that starts the server with the permissions of the executable. */
function createScript(place: Place): string {
  const command = [Deno.execPath(), ...FLAGS, MOD].map((word) => `'${word}'`);
  const path = place.file(
    "skill-server.sh",
    `#!/bin/sh\nexec ${command.join(" ")} "$@"\n`,
  );
  Deno.chmodSync(path, 0o755);
  return path;
}

/** Returns how a client starts an unpacked bundle, for values that the user chose. */
function clientConfig(
  place: Place,
  dir: string,
  userConfig: Record<string, unknown> = {},
): ClientConfig {
  const script = place.file(
    "config.js",
    `import { getMcpConfigForManifest } from "${MCPB}";
    const [extensionPath, userConfig] = Deno.args;
    const manifest = JSON.parse(
      Deno.readTextFileSync(extensionPath + "/manifest.json"),
    );
    console.log(JSON.stringify(await getMcpConfigForManifest({
      manifest,
      extensionPath,
      systemDirs: {},
      userConfig: JSON.parse(userConfig),
      pathSeparator: "/",
    })));`,
  );
  return JSON.parse(runDeno(script, dir, JSON.stringify(userConfig)));
}

Deno.test(
  "deno task mcpb creates a bundle that starts with and without settings",
  { ignore: lacks("compile") && lacks("sh") },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    place.skill("home/.agent/skills", "deploy");
    place.skill("home/.agents/skills", "installed");
    // As "Extract all" leaves it.
    place.skill("team/review", "review");
    const size = 1.5 * 1024 * 1024;
    place.file("team/review/review/large.txt", "x".repeat(size));
    place.skill("team/downloads/repository-main/skills", "travel");
    place.skill("team/old", "retired");
    const dir = unpackBundle(place);
    {
      const { env, ...launch } = clientConfig(place, dir);
      await using session = await Session.open(place, { launch, env });
      const { tools } = await session.client.listTools();
      const manifest = JSON.parse(
        Deno.readTextFileSync(join(dir, "manifest.json")),
      );
      assert.deepEqual(
        tools.map(({ name }) => name),
        manifest.tools.map(({ name }: { name: string }) => name),
      );
      assert.equal((await session.load("git")).isError, false);
      assert.equal((await session.load("deploy")).isError, false);
      assert.equal((await session.load("installed")).isError, false);
      assert.equal((await session.load("review")).isError, true);
    }
    const { env, ...launch } = clientConfig(place, dir, {
      folders: [join(place.path, "team")],
      max_file_size: 2,
    });
    await using session = await Session.open(place, { launch, env });
    assert.equal((await session.load("git")).isError, false);
    assert.equal((await session.load("travel")).isError, false);
    assert.equal((await session.load("retired")).isError, true);
    const { text } = await session.text("skill-resource", {
      skill: "review",
      path: "large.txt",
    });
    assert.equal(text.length, size);
  },
);

Deno.test("server.json is valid for the MCP Registry, before and after a release", () => {
  using place = new Place();
  const bundles = ["windows-x64", "macos-arm64"].map((platform) =>
    place.file(`skill-server-${platform}.mcpb`, platform)
  );
  const completed = JSON.parse(runDeno(
    join(REPOSITORY, "tools", "server_json.ts"),
    "--repository",
    "someone/skills",
    ...bundles,
  ));
  const validate = new Ajv({ formats: { uri: URL.canParse } })
    .compile(serverSchema);
  for (const entry of [serverEntry, completed]) {
    assert.ok(validate(entry), JSON.stringify(validate.errors));
  }
  assert.equal(completed.name, "io.github.someone/skills");
  assert.equal(completed.version, config.version);
  const [first, ...others] = completed.packages;
  assert.deepEqual(first, {
    registryType: "mcpb",
    identifier:
      `https://github.com/someone/skills/releases/download/v${config.version}/skill-server-windows-x64.mcpb`,
    version: config.version,
    fileSha256: createHash("sha256").update("windows-x64").digest("hex"),
    transport: { type: "stdio" },
  });
  assert.equal(others.length, 1);
});
