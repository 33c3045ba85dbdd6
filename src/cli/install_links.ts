/**
 * Links that install the server in a client. Each contains the same entry that
 * `--print-config` prints.
 *
 * @module
 */

import { entryFor, namedEntryFor } from "./client_files.ts";
import {
  type ClientName,
  type McpClient,
  type RemoteServer,
  type Server,
  SERVER_NAME,
  TOKEN_VARIABLE,
} from "./clients.ts";
import type { Launch } from "./launch.ts";
import { escapeUnits, stringifyJson } from "../text.ts";

/** How a client installs a server from a link. */
interface LinkFormat {
  /** What the client replaces with the home folder in arguments. */
  readonly homeFolder?: string;
  /** The note that says where the client gets the token, if it is another one than in its file. */
  readonly tokenSource?: string;
  /** The link that opens the client itself, without the query. */
  readonly app: string;
  /**
   * A web page of the client's vendor that opens it, for pages that accept only
   * web links. It gets the same query or, after `=`, the whole link.
   */
  readonly web: string;
  readonly query: (client: McpClient, server: Server) => string;
}

export const INSTALL_LINKS: { readonly [Name in ClientName]?: LinkFormat } = {
  /** @see {@link https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url} */
  "vscode": {
    homeFolder: "${userHome}",
    app: "vscode:mcp/install",
    web: "https://insiders.vscode.dev/redirect?url=",
    query: (client, server) => encode(asciiJson(namedEntryFor(client, server))),
  },
  /** @see {@link https://cursor.com/docs/mcp/install-links} */
  "cursor": {
    homeFolder: "${userHome}",
    app: "cursor://anysphere.cursor-deeplink/mcp/install",
    web: "https://cursor.com/en/install-mcp",
    query: base64Query,
  },
  /** @see {@link https://goose-docs.ai/docs/getting-started/using-extensions#deeplinks} */
  "goose": {
    tokenSource: "goose asks for the token.",
    app: "goose://extension",
    web: "https://goose-docs.ai/extension",
    query: (_, server) => gooseQuery(server),
  },
  /** @see {@link https://lmstudio.ai/docs/app/mcp/deeplink} */
  "lm-studio": {
    app: "lmstudio://add_mcp",
    web: "https://lmstudio.ai/install-mcp",
    query: base64Query,
  },
  /** @see {@link https://kiro.dev/docs/mcp/servers} */
  "kiro": {
    app: "kiro://kiro.mcp/add",
    web: "https://kiro.dev/launch/mcp/add",
    query: (client, server) => configQuery(asciiJson(entryFor(client, server))),
  },
};

/** Creates the link that opens the client itself, and the one that opens it through a web page. */
export function createInstallLinks(
  { app, web }: LinkFormat,
  query: string,
): [app: string, web: string] {
  const link = `${app}?${query}`;
  return [link, web.endsWith("=") ? web + encode(link) : `${web}?${query}`];
}

function base64Query(client: McpClient, server: Server): string {
  return configQuery(btoa(asciiJson(entryFor(client, server))));
}

function configQuery(config: string): string {
  return formatQuery([["name", SERVER_NAME], ["config", config]]);
}

function gooseQuery(server: Server): string {
  return formatQuery([
    ..."url" in server ? gooseRemote(server) : gooseCommand(server),
    ["id", SERVER_NAME],
    ["name", SERVER_NAME],
    ["description", "Agent Skills"],
    ["timeout", "300"],
  ]);
}

type Field = readonly [name: string, value: string];

function gooseCommand({ command, args }: Launch): Field[] {
  return [["cmd", command], ...args.map((arg): Field => ["arg", arg])];
}

function gooseRemote({ url, token }: RemoteServer): Field[] {
  const fields: Field[] = [["url", url], ["type", "streamable_http"]];
  if (token === undefined) return fields;
  return [
    ...fields,
    ["header", `Authorization=Bearer ${token}`],
    // Makes goose ask for the token.
    ["env", `${TOKEN_VARIABLE}=Token of the skill server`],
  ];
}

function formatQuery(fields: readonly Field[]): string {
  return fields.map(([name, value]) => `${name}=${encode(value)}`).join("&");
}

/** Encodes a text for a link in Markdown, where parentheses and apostrophes have a meaning. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /['()]/g,
    (character) => `%${character.charCodeAt(0).toString(16)}`,
  );
}

/** Serializes a value as JSON in ASCII, which every decoder of a link reads alike. */
function asciiJson(value: unknown): string {
  return stringifyJson(value).replace(/[^\x20-\x7e]/g, escapeUnits);
}
