/**
 * Links that install the server in a client. Each contains the same entry that
 * `--print-config` prints.
 *
 * @module
 */

import { entryFor } from "./client_files.ts";
import type { ClientName } from "./client_names.ts";
import { type McpClient, type RemoteServer, SERVER_NAME } from "./clients.ts";
import type { Launch } from "./launch.ts";
import { escapeUnits, stringifyJson } from "../text.ts";

/** The same link in two forms. */
interface InstallLink {
  /** Opens the client itself. */
  readonly app: string;
  /** A web page of the client's vendor that opens it, for pages that accept only web links. */
  readonly web: string;
}

/** How a client installs a server from a link. */
interface LinkFormat {
  /** What the client replaces with the home folder in arguments. */
  readonly homeFolder?: string;
  /** The note that says where the client gets the token, if it is another one than in its file. */
  readonly tokenSource?: string;
  readonly create: (
    client: McpClient,
    server: Launch | RemoteServer,
  ) => InstallLink;
}

export const INSTALL_LINKS: { readonly [Name in ClientName]?: LinkFormat } = {
  /** @see {@link https://code.visualstudio.com/api/extension-guides/ai/mcp#create-an-mcp-installation-url} */
  "vscode": {
    homeFolder: "${userHome}",
    create: (client, server) => {
      const entry = {
        name: SERVER_NAME,
        ...entryFor(client, server),
        ...("url" in server && client.remote.topLevel?.(server)),
      };
      const app = `vscode:mcp/install?${encode(asciiJson(entry))}`;
      const web = "https://insiders.vscode.dev/redirect?url=";
      return { app, web: web + encode(app) };
    },
  },
  /** @see {@link https://cursor.com/docs/mcp/install-links} */
  "cursor": {
    homeFolder: "${userHome}",
    create: (client, server) =>
      withBase64({
        app: "cursor://anysphere.cursor-deeplink/mcp/install",
        web: "https://cursor.com/en/install-mcp",
      }, entryFor(client, server)),
  },
  /** @see {@link https://goose-docs.ai/docs/getting-started/using-extensions#deeplinks} */
  "goose": {
    tokenSource: "goose asks for the token.",
    create: (_, server) => gooseLink(server),
  },
  /** @see {@link https://lmstudio.ai/docs/app/mcp/deeplink} */
  "lm-studio": {
    create: (client, server) =>
      withBase64({
        app: "lmstudio://add_mcp",
        web: "https://lmstudio.ai/install-mcp",
      }, entryFor(client, server)),
  },
  /** @see {@link https://kiro.dev/docs/mcp/servers} */
  "kiro": {
    create: (client, server) => {
      const config = asciiJson(entryFor(client, server));
      return withQuery({
        app: "kiro://kiro.mcp/add",
        web: "https://kiro.dev/launch/mcp/add",
      }, [["name", SERVER_NAME], ["config", config]]);
    },
  },
};

function withBase64(link: InstallLink, entry: object): InstallLink {
  const config = btoa(asciiJson(entry));
  return withQuery(link, [["name", SERVER_NAME], ["config", config]]);
}

function withQuery(
  { app, web }: InstallLink,
  fields: readonly (readonly [string, string])[],
): InstallLink {
  const query = fields.map(([name, value]) => `${name}=${encode(value)}`).join(
    "&",
  );
  return { app: `${app}?${query}`, web: `${web}?${query}` };
}

/** Encodes a text for a link in Markdown, where parentheses and apostrophes have a meaning. */
function encode(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function gooseLink(server: Launch | RemoteServer): InstallLink {
  return withQuery({
    app: "goose://extension",
    web: "https://goose-docs.ai/extension",
  }, [
    ..."url" in server ? gooseRemote(server) : gooseCommand(server),
    ["id", SERVER_NAME],
    ["name", SERVER_NAME],
    ["description", "Agent Skills"],
    ["timeout", "300"],
  ]);
}

type Field = readonly [string, string];

function gooseCommand({ command, args }: Launch): Field[] {
  return [
    ["cmd", command],
    ...args.map((arg): Field => ["arg", arg]),
  ];
}

function gooseRemote({ url, token }: RemoteServer): Field[] {
  const [, variable = ""] = /^\$\{(\w+)\}$/.exec(token ?? "") ?? [];
  return [
    ["url", url],
    ["type", "streamable_http"],
    ...token === undefined ? [] : [
      ["header", `Authorization=Bearer ${token}`] as const,
      // Makes goose ask for the token.
      ["env", `${variable}=Token of the skill server`] as const,
    ],
  ];
}

/** Serializes a value as JSON in ASCII, which every decoder of a link reads alike. */
function asciiJson(value: unknown): string {
  return stringifyJson(value).replace(/[^\x20-\x7e]/g, escapeUnits);
}
