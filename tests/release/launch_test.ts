// The server starts in each way that a release has: from JSR, from a clone, as a bundle, and
// as an executable.
import assert from "node:assert/strict";
import { hash } from "node:crypto";
import { cpSync } from "node:fs";
import config from "../../deno.json" with { type: "json" };
import type { Launch } from "../../src/cli/config.ts";
import { basename, extname, join, resolve } from "../../src/fs/paths.ts";
import { Session } from "../testing/client.ts";
import { printedLaunch, serverArgs } from "../testing/command_line.ts";
import { MODULES, read } from "../testing/docs.ts";
import {
  environment,
  IMPORTS,
  MOD,
  REPOSITORY,
} from "../testing/environment.ts";
import { needs } from "../testing/needs.ts";
import { Place, runSync } from "../testing/place.ts";
import { runServer } from "../testing/server.ts";

const withJunctions = needs("junctions");
const withRegistry = needs("registry");
const withBundler = needs("bundler");
const withCompile = needs("compile");

/** The media types of files that are not TypeScript. */
const TYPES: Record<string, string> = {
  ".json": "application/json",
  ".js": "text/javascript",
};

/** Serves a directory's files over HTTP, and others that are given as JSON. */
function serveDir(
  dir: string,
  prefix = "/",
  others: Record<string, object> = {},
): { url: string } & AsyncDisposable {
  const server = Deno.serve(
    { port: 0, hostname: "127.0.0.1", onListen: () => {} },
    async ({ url }) => {
      const { pathname } = new URL(url);
      if (others[pathname]) return Response.json(others[pathname]);
      const file = join(dir, pathname.replace(prefix, "/"));
      try {
        const type = TYPES[extname(pathname)] ?? "text/typescript";
        const headers = { "content-type": type };
        return new Response(await Deno.readFile(file), { headers });
      } catch {
        return new Response("Not found", { status: 404 });
      }
    },
  );
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

/** Creates a separate Deno cache that shares the npm packages of the usual one. */
function createCache(place: Place): string {
  const cache = place.dir("cache");
  const npm = join(environment.DENO_DIR, "npm");
  Deno.symlinkSync(npm, join(cache, "npm"), { type: "junction" });
  return cache;
}

/** Serves this repository as a package of a registry like JSR. */
function servePackage() {
  const { version, exports } = config;
  const path = `/${config.name}/`;
  const manifest: Record<string, object> = {};
  for (const file of ["deno.json", ...MODULES]) {
    const bytes = Deno.readFileSync(join(REPOSITORY, file));
    const checksum = `sha256-${hash("sha256", bytes)}`;
    manifest[`/${file}`] = { size: bytes.length, checksum };
  }
  return serveDir(REPOSITORY, `${path}${version}/`, {
    [`${path}meta.json`]: { latest: version, versions: { [version]: {} } },
    [`${path}${version}_meta.json`]: { manifest, exports },
  });
}

withJunctions.test("the server runs from JSR in a project whose files would replace it", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const hostile = "throw new Error('hostile');";
  const imports = { "npm:zod@^4/mini": "./hostile.ts" };
  const replacement = { name: config.name, version: "1.0.0", imports };
  place.file("project/hostile.ts", hostile);
  place.file(
    "project/deno.json",
    JSON.stringify({ ...replacement, exports: "./hostile.ts" }),
  );
  place.file("project/package.json", '{ "dependencies": { "zod": "1" } }');
  place.file("project/node_modules/zod/package.json", "{}");
  await using registry = servePackage();
  const env = {
    DENO_DIR: createCache(place),
    JSR_URL: `${registry.url}/`,
  };
  const main = `jsr:${config.name}`;
  assert.ok(
    read("docs/running.md").includes(
      `deno run --no-config --allow-read --allow-env ${main} --list\n`,
    ),
  );
  {
    await using session = await Session.open(place, { main, env });
    assert.equal((await session.load("git")).isError, false);
  }
  const launch = await printedLaunch(place, { main, env });
  assert.deepEqual(serverArgs(launch, main), []);
  await using session = await Session.open(place, { launch, env });
  assert.deepEqual(await session.names(), ["git"]);
});

/** Copies what a clone of the repository needs to start the server. */
function copyRepository(place: Place): string {
  const clone = place.dir("clone");
  const files = ["deno.json", "deno.lock", "mod.ts", "skill_server.ts"];
  const dirs = ["npm_only", "src", "tools"];
  for (const name of [...files, ...dirs]) {
    cpSync(join(REPOSITORY, name), join(clone, name), { recursive: true });
  }
  return clone;
}

/** Lists the npm packages in a cache, without their scopes. */
function listPackages(cache: string): string[] {
  const namesIn = (dir: string) =>
    Array.from(Deno.readDirSync(dir), ({ name }) => join(dir, name));
  const isPackage = (dir: string) =>
    namesIn(dir).some((path) => /^\d/.test(basename(path)));
  return namesIn(join(cache, "npm"))
    .flatMap(namesIn)
    .flatMap((dir) => basename(dir).startsWith("@") ? namesIn(dir) : [dir])
    .filter((dir) => Deno.statSync(dir).isDirectory && isPackage(dir))
    .map((dir) => basename(dir));
}

withRegistry.test("in a fresh clone, deno task start downloads only what the program needs", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  const cache = place.dir("cache");
  const { success, stdout, stderr } = new Deno.Command(Deno.execPath(), {
    args: ["task", "-q", "start", "--print-config", "cursor"],
    cwd: copyRepository(place),
    env: {
      ...environment,
      HOME: place.home,
      USERPROFILE: place.home,
      DENO_DIR: cache,
    },
  }).outputSync();
  const [printed = "", logged = ""] = [stdout, stderr]
    .map((bytes) => new TextDecoder().decode(bytes));
  assert.ok(success, logged);
  assert.match(logged, /^\nAdd this to the configuration of Cursor in /);
  const packages = listPackages(cache);
  const needed = [
    // The SDK, its core and its schemas, and search.
    ...["core", "minisearch", "server", "zod"],
    // The Markdown of --check, which Deno downloads although a server loads none of it.
    ...["common", "highlight", "markdown"],
  ];
  // Without JSR, another parser replaces that of @std/yaml.
  const replacements = ["argparse", "js-yaml"];
  const own = packages.filter((name) => !replacements.includes(name));
  assert.deepEqual(own.sort(), needed.sort());
  const { command, args }: Launch = JSON.parse(printed).mcpServers.skills;
  const [run = "", ...others] = args;
  const launch = { command, args: [run, "--cached-only", ...others] };
  const env = { DENO_DIR: cache };
  await using session = await Session.open(place, { launch, env });
  assert.deepEqual(await session.names(), ["git"]);
});

function createBundle(place: Place): void {
  const file = join(place.dir("dist"), "skill_server.js");
  const script = resolve(MOD, "..", "tools/bundle.ts");
  runSync(Deno.execPath(), "run", "--allow-all", script, ...IMPORTS, file);
}

/**
 * Returns the environment variables of a process with an empty cache and no
 * access to registries.
 */
function withoutRegistries(place: Place): Record<string, string> {
  return {
    DENO_DIR: place.dir("empty"),
    NPM_CONFIG_REGISTRY: "http://127.0.0.1:9/",
    JSR_URL: "http://127.0.0.1:9/",
  };
}

withBundler.test("the bundle runs from a URL without any registry", async () => {
  using place = new Place();
  place.skill("home/.claude/skills", "git");
  place.file("home/.claude/skills/git/logo.png", Uint8Array.of(255));
  createBundle(place);
  await using host = serveDir(join(place.path, "dist"));
  const main = `${host.url}/skill_server.js`;
  const flags = ["run", "--allow-read", "--allow-env"];
  const options = { main, flags, env: withoutRegistries(place) };
  {
    await using session = await Session.open(place, options);
    assert.equal((await session.load("git")).isError, false);
    const { contents } = await session.client.readResource({
      uri: "skill://git/logo.png",
    });
    assert.equal(contents[0]!.mimeType, "image/png");
  }
  // The file holds mod.ts and skill_server.ts, which both start the program if run.
  const version = await runServer(place, { ...options, args: ["--version"] });
  assert.equal(version.stdout, `${config.version}\n`);
  for (const args of [["--check"], ["--print-config", "cursor"]]) {
    const { code, stderr } = await runServer(place, { ...options, args });
    assert.deepEqual([code, stderr.includes("import map")], [0, false]);
  }
});

withCompile.test("deno task compile creates an executable that reads only what it may", async () => {
  using place = new Place();
  const dir = place.dir("home/.claude/skills");
  place.skill("home/.claude/skills", "git");
  place.skill("elsewhere", "pdf");
  const command = join(place.path, "skill-server.exe");
  const allowed = `--allow-read=${dir}`;
  runSync(Deno.execPath(), "task", "compile", allowed, "-o", command);
  const env = withoutRegistries(place);
  const dirs = [dir, join(place.path, "elsewhere")];
  const run = (...args: string[]) =>
    runServer(place, { launch: { command, args }, env });
  {
    const launch = { command, args: dirs };
    await using session = await Session.open(place, { launch, env });
    assert.deepEqual(await session.names(), ["git"]);
    assert.equal((await session.load("git")).isError, false);
  }
  const { stdout: list } = await run(...dirs, "--list");
  assert.match(list, /elsewhere: error\[permission\]/);
  assert.match(list, /compile the executable with it among/);
  const { stdout: config } = await run("--print-config", "cursor");
  const printed: Launch = JSON.parse(config).mcpServers.skills;
  assert.deepEqual([printed.command, printed.args], [command, []]);
});
