/**
 * Serves skills over Streamable HTTP with `deno serve`, or on any host that runs
 * a `fetch` handler.
 *
 * ```sh
 * deno serve --no-config --host 127.0.0.1 --allow-read --allow-env jsr:@skill-server/skill-server/http
 * ```
 *
 * Clients connect to `/mcp`. At `/`, a page for browsers shows the skills.
 * Options come from the command line and from `SKILL_SERVER_ARGS`.
 * `SKILL_SERVER_TOKEN` is the bearer token that clients must send. Without one, the
 * server accepts only clients on this machine. `SKILL_SERVER_HOSTS` lists the host
 * names that are served in addition to localhost. The server keeps no state between
 * requests, so any number of processes can share the load.
 *
 * @module
 */

import {
  END_SIGNALS,
  openSkills,
  warnOfMissingFolders,
} from "./skill_server.ts";
import { UsageError } from "./src/cli/command_line.ts";
import { DOCUMENTATION_URL } from "./src/cli/help.ts";
import { AccessControl, refuse } from "./src/http/access.ts";
import { BodyError, readMessage } from "./src/http/body.ts";
import { createHttpSettings, type HttpSettings } from "./src/http/settings.ts";
import { McpHttpServer } from "./src/protocol/http_server.ts";
import { isObject, log, logged, toWellFormedJson } from "./src/text.ts";
import { wait } from "./src/time_slice.ts";
import { describeServer, registerViews } from "./src/views/views.ts";

/** The path that clients connect to. */
const MCP_PATH = "/mcp";

/** The time limit for pending requests when the process ends, in milliseconds. */
const GRACE_MS = 500;

/** How long to wait for the last messages to be sent, in milliseconds. */
const FLUSH_MS = 100;

const settings = await loadSettings();
const hasToken = settings.access.token !== undefined;
const access = new AccessControl(settings.access, log);
const registry = openSkills(settings, { limitsProject: true });
const mcp = new McpHttpServer(
  describeServer(registry, settings.options),
);
/** The requests without a response. */
const pending = new Set<Promise<Response>>();
let isEnding = false;

warnOfMissingFolders(await registry.refresh(), settings);
registerViews(mcp, registry, settings.options);
registry.watch();
for (const signal of END_SIGNALS) Deno.addSignalListener(signal, end);

/** The server in the form that `deno serve` expects. */
const server: Deno.ServeDefaultExport = {
  fetch: (request, info) => {
    const response = handleRequest(request, info);
    pending.add(response);
    return response.finally(() => pending.delete(response));
  },
  onListen,
};
export default server;

async function loadSettings(): Promise<HttpSettings> {
  try {
    return createHttpSettings(Deno.args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return await exit(error.message, 2);
  }
}

async function exit(reason: string, code: number): Promise<never> {
  log(reason);
  await logged();
  Deno.exit(code);
}

function onListen(address: Deno.Addr): void {
  const fault = access.faultFor(address);
  if (fault !== undefined) exit(fault, 2);
  else if (address.transport === "tcp") {
    const { hostname, port } = address;
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    log(`Serving http://${host}:${port}${MCP_PATH}`);
  }
}

async function handleRequest(
  request: Request,
  info?: Deno.ServeHandlerInfo,
): Promise<Response> {
  if (isEnding) return refuse(503, "The server is shutting down");
  const address = info?.remoteAddr;
  const refused = access.refuseHost(request, address);
  if (refused !== undefined) return refused;
  const { pathname } = URL.parse(request.url) ?? {};
  if (pathname === "/") return await serveWelcome(request);
  if (pathname !== MCP_PATH) {
    return refuse(404, `Not found: MCP clients connect to ${MCP_PATH}`);
  }
  return access.refuseClient(request, address) ?? await serveMcp(request);
}

/** Serves the page to browsers, and a text to other programs. */
async function serveWelcome({ method, headers }: Request): Promise<Response> {
  if (method !== "GET" && method !== "HEAD") {
    return refuseMethod("GET", "HEAD");
  }
  const isBrowser = /\btext\/html\b/i.test(headers.get("accept") ?? "");
  if (!isBrowser) return welcome();
  // The page is not needed to start.
  const { servePage } = await import("./src/http/page.ts");
  return servePage();
}

async function serveMcp(request: Request): Promise<Response> {
  if (request.method !== "POST") return refuseMethod("POST");
  let message;
  try {
    message = await readMessage(request);
  } catch (error) {
    if (!(error instanceof BodyError)) throw error;
    return refuse(error.status, error.message, error);
  }
  const response = await mcp.fetch(request, message);
  // A stream that stays open.
  if (isObject(message) && message.method === "subscriptions/listen") {
    return response;
  }
  // Some statuses do not allow a body, not even an empty one.
  const text = toWellFormedJson(await response.text()) || null;
  return new Response(text, response);
}

function refuseMethod(...allowed: string[]): Response {
  const headers = { Allow: allowed.join(", ") };
  return refuse(405, `Method not allowed: use ${allowed[0]}`, { headers });
}

function welcome(): Response {
  const header = hasToken
    ? ` with the header "Authorization: Bearer <token>"`
    : "";
  const text = `Agent Skills over the Model Context Protocol

Connect an MCP client to ${MCP_PATH} at this address (Streamable HTTP)${header}.

Documentation: ${DOCUMENTATION_URL}
`;
  return new Response(text, { headers: { "vary": "Accept" } });
}

/** Shuts down: waits for pending requests, closes the streams, and exits. */
async function end(): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  await wait(GRACE_MS, Promise.allSettled(pending));
  await mcp.close();
  await wait(FLUSH_MS);
  Deno.exit(0);
}
