// What other programs that npx downloads make of the printed configuration.
import assert from "node:assert/strict";
import { printedLaunch } from "../testing/command_line.ts";
import { environment } from "../testing/environment.ts";
import { Place } from "../testing/folders.ts";
import { lacks } from "../testing/needs.ts";
import { serverCommand } from "../testing/server.ts";

Deno.test(
  "MCP Inspector lists the tools of the server that --print-config describes",
  { ignore: lacks("npx") },
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
        "-y",
        "@modelcontextprotocol/inspector",
        "--cli",
        "--config",
        config,
        "--server",
        "skills",
        "--method",
        "tools/list",
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
