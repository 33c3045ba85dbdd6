/**
 * Serves skills over Streamable HTTP with `deno serve`, or on any host that runs
 * a `fetch` handler.
 *
 * ```sh
 * deno serve --no-config --host 127.0.0.1 --allow-read --allow-env jsr:@skill-server/skill-server/http
 * ```
 *
 * Clients connect to `/mcp`. At `/`, a page shows the skills. Options come from the
 * command line or `SKILL_SERVER_ARGS`.
 *
 * Clients must send one of the bearer tokens in `SKILL_SERVER_TOKEN`, such as
 * `alice:TOKEN,bob:TOKEN`, or in the file that `SKILL_SERVER_TOKENS_FILE` names, which
 * the server reads again when it changes. Without either, the server accepts only
 * clients on this machine. `SKILL_SERVER_HOSTS` lists host names to serve in addition to
 * localhost. `GET /health` says with its status whether the server is ready.
 *
 * The server keeps no state between requests, so any number of processes can share the
 * load.
 *
 * @module
 */

import { createMcpHandler } from "npm:@modelcontextprotocol/server@^2.4.0";
import { createSkillService, SkillRegistry } from "./mod.ts";
import { AccessControl } from "./src/http/access.ts";
import { Exchange, MAX_LISTENERS } from "./src/http/exchange.ts";
import {
  createHttpSettings,
  type HttpSettings,
} from "./src/http/http_settings.ts";
import { servePage } from "./src/http/page.ts";
import { createRefusal, Refusals } from "./src/http/refusals.ts";
import { shareChanges } from "./src/http/threads.ts";
import { log, logged } from "./src/log.ts";
import { UsageError } from "./src/program/command_line.ts";
import { onEndSignal } from "./src/program/end_signals.ts";
import { logWarnings } from "./src/program/settings.ts";
import { wait } from "./src/tasks.ts";
import { count } from "./src/text.ts";

const MCP_PATH = "/mcp";

/** Matches the paths that proxies and clients make of it. */
const MCP_PATHS = /\/mcp\/*$/;

/** Under these paths, clients look for descriptions of the server. */
const WELL_KNOWN = "/.well-known/";

const NO_OAUTH =
  'This server has no OAuth: set the header "Authorization: Bearer <token>" in the configuration of the client, with a token of this server';

/** How long the server still answers requests after a signal to end, in milliseconds. */
const REQUEST_GRACE_MS = 400;

/** How long the last messages have to reach the clients or the log, in milliseconds. */
const CLOSE_MS = 100;

/** Why Deno cannot listen, by its error, and how to fix it. */
const NOT_LISTENING: readonly [error: RegExp, advice: string][] = [
  [
    /^AddrInUse/,
    "another program uses the port; end it, or choose another port with --port",
  ],
  [
    /^AddrNotAvailable|lookup address/,
    "this machine has no such address; correct --host",
  ],
  [
    /^PermissionDenied/,
    "the system does not allow it; choose a port from 1024 on with --port",
  ],
];

const settings = await loadSettings();
const refusals = new Refusals(log);
const access = new AccessControl(settings.access, refusals);
const registry = new SkillRegistry(settings.roots, settings.options);
logWarnings(settings);
const service = await createSkillService(registry, settings.options);
const mcp = createMcpHandler(service.createServer, {
  bus: service.bus,
  maxSubscriptions: MAX_LISTENERS,
});
const exchange = new Exchange(mcp, refusals);
let isClosed = false;

await service.ready;
shareChanges(registry, service.bus);
registry.watch();
settings.access.tokens?.follow(log);
refusals.startSummaries();
onEndSignal(end);
addEventListener("unhandledrejection", exitIfNotListening);

/** The server in the form that `deno serve` expects. */
const server: Deno.ServeDefaultExport = { fetch: handleRequest, onListen };
export default server;

async function loadSettings(): Promise<HttpSettings> {
  try {
    return createHttpSettings(Deno.args);
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    return await exit(`${error.message} (docs/http.md describes the settings)`);
  }
}

async function exit(reason: string): Promise<never> {
  log(reason);
  await wait(CLOSE_MS, logged());
  Deno.exit(2);
}

/** `deno serve` would print the stack of its own code. */
function exitIfNotListening(event: PromiseRejectionEvent): void {
  const { reason } = event;
  const [, advice] =
    NOT_LISTENING.find(([error]) => error.test(String(reason))) ?? [];
  if (advice === undefined) return;
  event.preventDefault();
  exit(`Cannot listen: ${advice}`);
}

function onListen(address: Deno.Addr): void {
  removeEventListener("unhandledrejection", exitIfNotListening);
  const reason = access.findNoTokenReason(address);
  if (reason !== undefined) exit(reason);
  else if (address.transport === "tcp") {
    const { hostname, port } = address;
    const host = hostname.includes(":") ? `[${hostname}]` : hostname;
    log(formatService(`http://${host}:${port}${MCP_PATH}`));
  }
}

function formatService(url: string): string {
  const skills = count(registry.catalog.skills.size, "skill");
  const required = access.requiresToken
    ? "a token is required"
    : "no token is required, because only this machine can connect";
  return `Serving ${url} with ${skills}; ${required}`;
}

async function handleRequest(
  request: Request,
  info?: Deno.ServeHandlerInfo,
): Promise<Response> {
  const { pathname = "/" } = URL.parse(request.url) ?? {};
  // A load balancer knows neither a host name nor a token.
  if (pathname === "/health") return answerHealth(request);
  const response = await answer(request, pathname, info?.remoteAddr);
  return access.allowOrigin(request, response);
}

async function answer(
  request: Request,
  path: string,
  address?: Deno.Addr,
): Promise<Response> {
  const refused = access.refuseUnknownHost(request, address);
  if (refused !== undefined) return refused;
  // Browsers send it without a token, before a request from a page of another origin.
  const preflight = answerPreflight(request);
  if (preflight !== undefined) return preflight;
  // The page contains nothing about the skills, so it needs no token.
  if (path === "/") {
    return isGetOrHead(request) ? servePage() : refuseMethod("GET", "HEAD");
  }
  if (!MCP_PATHS.test(path) || path.includes(WELL_KNOWN)) {
    return answerNotFound();
  }
  const sender = access.identify(request, address);
  if (sender instanceof Response) return sender;
  if (request.method !== "POST") return refuseMethod("POST");
  if (isClosed) {
    const reason = "The server is shutting down: try again in a minute";
    return createRefusal(503, reason);
  }
  return await exchange.respond(request, sender);
}

/** Says only whether the server is ready: it has a usable policy, and found a folder of skills. */
function answerHealth(request: Request): Response {
  if (!isGetOrHead(request)) return refuseMethod("GET", "HEAD");
  // Without a usable policy, no folder is searched.
  const { roots } = registry.catalog;
  const isReady = roots.some(({ status }) => status === "found");
  return new Response(null, { status: isReady ? 200 : 503 });
}

/** Answers in the form that clients with OAuth show, which look for a login if a token is wrong. */
function answerNotFound(): Response {
  const reason = `Not found: MCP clients connect to ${MCP_PATH}`;
  const description = access.requiresToken ? `${reason}. ${NO_OAUTH}` : reason;
  const body = { error: "not_found", error_description: description };
  return Response.json(body, { status: 404 });
}

function isGetOrHead({ method }: Request): boolean {
  return ["GET", "HEAD"].includes(method);
}

function answerPreflight({ method, headers }: Request): Response | undefined {
  const asked = headers.get("access-control-request-method");
  if (method !== "OPTIONS" || asked === null) return undefined;
  const requested = headers.get("access-control-request-headers") ?? "";
  const allowed = {
    "Access-Control-Allow-Methods": asked,
    "Access-Control-Allow-Headers": requested,
  };
  return new Response(null, { status: 204, headers: allowed });
}

function refuseMethod(...allowed: string[]): Response {
  const reason = `Method not allowed: use ${allowed[0]}`;
  return createRefusal(405, reason, { Allow: allowed.join(", ") });
}

async function end(): Promise<void> {
  await wait(REQUEST_GRACE_MS);
  isClosed = true;
  await mcp.close();
  await wait(CLOSE_MS);
  Deno.exit(0);
}
