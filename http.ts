/**
 * Serves the skills over Streamable HTTP, for `deno serve` and for any host that
 * runs a `fetch` handler.
 *
 * ```sh
 * deno serve --host 127.0.0.1 --allow-read --allow-env jsr:@skill-server/skill-server/http
 * ```
 *
 * Clients connect to `/mcp`. The options are those of the command line. They may
 * also be given in `SKILL_SERVER_ARGS`. `SKILL_SERVER_TOKEN` is the bearer token
 * that clients must send. Without it only clients on this machine are served.
 * `SKILL_SERVER_HOSTS` lists the host names that are served beside localhost.
 *
 * Nothing is kept between requests, so any number of processes can share the load.
 *
 * @module
 */

import {
  describeServer,
  END_SIGNALS,
  openSkills,
  registerSkills,
  warnOfMissingFolders,
} from "./skill_server.ts";
import { UsageError } from "./src/command_line.ts";
import {
  AccessControl,
  isLoopback,
  NEEDS_TOKEN,
  refuse,
} from "./src/http_access.ts";
import { BodyError, RequestLimits } from "./src/http_limits.ts";
import { createHttpSettings, type HttpSettings } from "./src/http_settings.ts";
import { isObject } from "./src/json_rpc.ts";
import { McpHttpServer } from "./src/mcp_http_server.ts";
import { log, logged, toWellFormedJson } from "./src/text.ts";

/** Where clients connect. */
const MCP_PATH = "/mcp";

/** The README beside this file. */
const README_URL = import.meta.resolve("./README.md");

/** How long requests under way have when the process is to end, in milliseconds. */
const GRACE_MS = 500;

/** How long the last messages may take to be sent, in milliseconds. */
const FAREWELL_MS = 100;

const settings = await loadSettings();
const access = new AccessControl(settings.access);
const limits = new RequestLimits();
const skills = await openSkills(settings);
const { registry } = skills;
const mcp = new McpHttpServer(describeServer(settings, registry));
let isEnding = false;

warnOfMissingFolders(await registry.refresh(), settings);
registerSkills(mcp, registry, settings.tools);
skills.watch();
for (const signal of END_SIGNALS) Deno.addSignalListener(signal, end);

/** The server, as `deno serve` runs it. */
const server: Deno.ServeDefaultExport = { fetch, onListen };
export default server;

async function loadSettings(): Promise<HttpSettings> {
  try {
    return createHttpSettings(Deno.args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return await refuseToStart(error.message);
  }
}

async function refuseToStart(reason: string): Promise<never> {
  log(reason);
  await logged();
  Deno.exit(2);
}

function onListen(address: Deno.Addr): void {
  if (settings.access.token === undefined && !isLoopback(address)) {
    refuseToStart(NEEDS_TOKEN);
  } else if (address.transport === "tcp") {
    const { hostname, port } = address;
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    log(`Serving http://${host}:${port}${MCP_PATH}`);
  }
}

async function fetch(
  request: Request,
  info?: Deno.ServeHandlerInfo,
): Promise<Response> {
  if (isEnding) return refuse(503, "The server is shutting down");
  const refused = access.refuseHost(request);
  if (refused !== undefined) return refused;
  const { pathname } = URL.parse(request.url) ?? {};
  if (pathname === "/") return text(200, welcome());
  if (pathname !== MCP_PATH) {
    return text(404, `Not found: MCP clients connect to ${MCP_PATH}\n`);
  }
  return access.refuseClient(request, info?.remoteAddr) ??
    await serveMcp(request);
}

async function serveMcp(request: Request): Promise<Response> {
  if (request.method !== "POST") return await mcp.fetch(request);
  try {
    return await limits.handle(request, async (message) => {
      const response = await mcp.fetch(request, message);
      if (isListen(message)) return response;
      const text = toWellFormedJson(await response.text());
      return await limits.respond(text, response);
    });
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    return refuse(error.status, error.message, error);
  }
}

/** Whether a message asks for a stream that stays open. */
function isListen(message: unknown): boolean {
  return isObject(message) && message.method === "subscriptions/listen";
}

function welcome(): string {
  const header = settings.access.token === undefined
    ? ""
    : ` with the header "Authorization: Bearer <token>"`;
  return `Agent Skills over the Model Context Protocol

Connect an MCP client to ${MCP_PATH} at this address (Streamable HTTP)${header}.

${readmeLine()}
`;
}

/** Says where the README is: in a file system it is nobody's business where. */
function readmeLine(): string {
  return README_URL.startsWith("http")
    ? `README: ${README_URL}`
    : "README: README.md in the folder of the server";
}

function text(status: number, body: string): Response {
  const headers = {
    "content-type": "text/plain; charset=utf-8",
    "x-content-type-options": "nosniff",
  };
  return new Response(body, { status, headers });
}

/** Ends the process: answers what is under way, then ends the streams. */
async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await Promise.race([limits.whenIdle(), wait(GRACE_MS)]);
  await mcp.close();
  await wait(FAREWELL_MS);
  Deno.exit(0);
}

function wait(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
