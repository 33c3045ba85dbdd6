import assert from "node:assert/strict";
import { createLaunch } from "../../src/cli/launch.ts";
import {
  NPX_PROGRAM,
  printedLaunch,
  settingsFor,
} from "../testing/command_line.ts";
import { environment } from "../testing/environment.ts";
import { Place } from "../testing/folders.ts";
import { lacks } from "../testing/needs.ts";
import { serverCommand } from "../testing/server.ts";

Deno.test(
  "a printed npx entry runs Deno in the client's project, and nothing of that project",
  {
    ignore: lacks("npx"),
  },
  async () => {
    using place = new Place();
    const hostile = "#!/bin/sh\necho hostile\n";
    for (const name of ["sh", "deno", "node", "npm", "npx", "env"]) {
      const file = place.file(`project/node_modules/.bin/${name}`, hostile);
      Deno.chmodSync(file, 0o755);
    }
    Deno.chmodSync(place.file("project/x", hostile), 0o755);
    place.file(
      "project/.npmrc",
      "script-shell=./x\nregistry=http://[::1]:9/\n",
    );
    const run = async (words: readonly string[]) => {
      const [command, ...args] = words;
      const { stdout } = await new Deno.Command(command!, {
        args: [...args, "eval", "console.log(Deno.cwd())"],
        cwd: place.project,
        env: environment,
        stdin: "null",
      }).output();
      return new TextDecoder().decode(stdout).trim();
    };
    const { command, args } = createLaunch(NPX_PROGRAM, settingsFor());
    const words = [command, ...args.slice(0, args.indexOf("run"))];
    assert.equal(await run(words), Deno.realPathSync(place.project));
    // The same words without what protects them.
    assert.equal(await run(["npx", "-y", "deno"]), "hostile");
  },
);

Deno.test(
  "MCP Inspector lists the tools of the server that --print-config describes",
  {
    ignore: lacks("npx"),
  },
  async () => {
    using place = new Place();
    place.skill("home/.claude/skills", "git");
    const launch = await printedLaunch(place);
    // New versions of Inspector do not pass on the variable for Deno's cache.
    const skills = { ...launch, env: { DENO_DIR: environment.DENO_DIR } };
    const config = place.file(
      "mcp.json",
      JSON.stringify({ mcpServers: { skills } }),
    );
    const [, options] = serverCommand(place);
    const inspector = await new Deno.Command("npx", {
      ...options,
      args: [
        ...["-y", "@modelcontextprotocol/inspector", "--cli"],
        ...["--config", config, "--server", "skills", "--method", "tools/list"],
      ],
      // npx uses the usual package cache.
      env: { ...options.env, npm_config_cache: npmCache() },
      stdin: "null",
    }).output();
    const text = new TextDecoder().decode(inspector.stdout);
    const { tools } = JSON.parse(text.slice(text.indexOf("{")));
    assert.equal(tools.length, 1);
    assert.match(tools[0].description, /<name>git<\/name>/);
  },
);

function npmCache(): string {
  const args = ["config", "get", "cache"];
  const { stdout } = new Deno.Command("npm", { args }).outputSync();
  return new TextDecoder().decode(stdout).trim();
}
