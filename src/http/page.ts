/**
 * The page that people see at the address of the server.
 *
 * It contains nothing of the skills: it is an MCP client of the server that it
 * came from, with the same rights as any other. Its only data are the
 * configurations that `--print-config` prints, with a placeholder for the address,
 * which only the page knows. The Content-Security-Policy allows only its own script
 * and style, by their hashes, and connections to its own server.
 *
 * @module
 */

import { hash } from "node:crypto";
import { createClientConfig } from "../cli/client_config.ts";
import { CLIENT_NAMES, MCP_CLIENTS, TOKEN_VARIABLE } from "../cli/clients.ts";
import type { Program } from "../cli/program.ts";
import type { Settings } from "../cli/settings.ts";
import { stringifyJson } from "../text.ts";
import { PAGE_TEXT } from "./page_text.ts";

/** Stands for the address of the server. A local address requires no token. */
const PLACEHOLDER = "http://localhost:9/mcp";

export function createPage(
  settings: Settings,
  { hasToken }: { hasToken: boolean },
): () => Response {
  const data = {
    placeholder: PLACEHOLDER,
    clients: listClients(settings, hasToken),
  };
  // A tag in a text of the data must not end the element.
  const json = stringifyJson(data).replaceAll("<", "\\u003c");
  const text = PAGE_TEXT.replace("{{data}}", () => json);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": createPolicy(),
    "cache-control": "no-cache",
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  return () => new Response(text, { headers });
}

/** Lists how to configure each client. The paths of the server concern nobody else. */
function listClients(settings: Settings, hasToken: boolean): object[] {
  const values = { url: PLACEHOLDER };
  const remoteSettings = { ...settings, home: undefined, values };
  return CLIENT_NAMES.map((name) => ({
    name: MCP_CLIENTS[name].title,
    ...createClientConfig(name, remoteSettings, createProgram(hasToken)),
  }));
}

/** Creates a program whose environment contains nothing but a token, if there is one. */
function createProgram(hasToken: boolean): Program {
  return {
    executable: "",
    mainModule: undefined,
    importMap: undefined,
    os: "linux",
    variable: (name) =>
      hasToken && name === TOKEN_VARIABLE ? "<token>" : undefined,
  };
}

/** Returns the Content-Security-Policy, which allows two elements by their hashes. */
function createPolicy(): string {
  const [script, style] = ["script", "style"].map(hashOf);
  return "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; " +
    "frame-ancestors 'none'; img-src data:; require-trusted-types-for 'script'; " +
    `script-src ${script}; style-src ${style}; trusted-types 'none'`;
}

function hashOf(tag: string): string {
  const element = new RegExp(`<${tag}>([^]*)</${tag}>`);
  const [, content] = element.exec(PAGE_TEXT)!;
  return `'sha256-${hash("sha256", content!, "base64")}'`;
}
