/**
 * The page at the address of the server. It is an MCP client like any other, so it
 * contains nothing about the skills. Its policy allows only its own script and style,
 * by their hashes, and connections to its own server.
 *
 * It is part of a module, because a server that runs from a URL cannot read text files.
 */

import { hash } from "node:crypto";

export function servePage(): Response {
  const [script, style] = ["script", "style"].map(hashOf);
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy":
      "default-src 'none'; base-uri 'none'; connect-src 'self'; form-action 'none'; " +
      "frame-ancestors 'none'; img-src data:; require-trusted-types-for 'script'; " +
      `script-src ${script}; style-src ${style}; trusted-types 'none'`,
    "cache-control": "no-cache",
    "x-content-type-options": "nosniff",
  };
  return new Response(PAGE, { headers });
}

function hashOf(tag: string): string {
  const [, content] = PAGE.match(`<${tag}>([^]*)</${tag}>`)!;
  return `'sha256-${hash("sha256", content!, "base64")}'`;
}

const PAGE = String.raw`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Skills</title>
<link rel="icon" href="data:,">
<style>
:root { color-scheme: light dark; }
body { margin: 1.5rem auto 4rem; padding: 0 1rem; max-width: 60rem; font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
#problem { color: light-dark(#a3221b, #ff9d94); font-weight: 600; }
.dim { opacity: .75; }
button, input { font: inherit; padding: .3rem .75rem; }
input { width: 100%; box-sizing: border-box; }
ul { list-style: none; padding: 0; }
li, details details { margin: .5rem 0; padding: .5rem .9rem; border: 1px solid #8886; border-radius: .5rem; }
summary bdi { margin-right: .6rem; }
.name { font-weight: 600; }
pre { white-space: pre-wrap; max-height: 30rem; overflow: auto; font-size: .85rem; }
</style>
</head>
<body>
<h1>Agent Skills</h1>
<p class="dim">An MCP server that offers skills to AI applications. Its address: <code id="address"></code>.</p>
<p id="problem" role="alert"></p>
<form id="login" hidden>
  <label for="token">The server requires a token. This page keeps it until you close the tab.</label>
  <input id="token" type="password" autocomplete="off" spellcheck="false" required>
  <button>Show the skills</button>
</form>
<main id="list" hidden>
  <label for="filter">Filter by name and description</label>
  <input id="filter" type="search" autocomplete="off" spellcheck="false">
  <p id="count" class="dim" role="status"></p>
  <ul id="skills"></ul>
</main>
<script>
const KEY = "skill-server-token";
const endpoint = new URL("mcp", location.href).href;
let token = sessionStorage.getItem(KEY) || "";
let rows = [];

function $(id) { return document.getElementById(id); }

/** Creates an element. Text goes only into text nodes, so nothing in a skill runs. */
function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

async function ask(method, params) {
  const headers = { "Content-Type": "application/json" };
  if (token !== "") headers.Authorization = "Bearer " + token;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const request = { method: "POST", headers, body };
  const response = await fetch(endpoint, request).catch(() => {
    throw new Error("Cannot reach the server. Check that it is running, and then reload the page.");
  });
  if (response.status === 401) askForToken();
  const { result, error } = await response.json().catch(() => {
    throw new Error("The server replied with status " + response.status + ".");
  });
  if (error) throw new Error(error.message);
  return result;
}

function askForToken() {
  sessionStorage.removeItem(KEY);
  $("login").hidden = false;
  $("token").focus();
  throw new Error(token && "The server does not accept this token. Check it, and try again.");
}

async function load() {
  $("problem").textContent = "";
  try {
    rows = (await listSkills()).map(createRow);
    $("login").hidden = true;
    $("list").hidden = false;
    filter();
  } catch (error) {
    $("problem").textContent = error.message;
  }
}

async function listSkills(cursor) {
  const { resources, nextCursor } = await ask("resources/list", { cursor });
  const skills = resources.filter(({ uri }) => uri.endsWith("/SKILL.md"));
  return nextCursor === undefined ? skills : [...skills, ...await listSkills(nextCursor)];
}

/** Creates the row of a skill, which loads its files when it is opened for the first time. */
function createRow({ uri, name, description = "", _meta = {} }) {
  const title = create("bdi", { className: "name" }, name);
  const scope = create("span", { className: "dim" }, _meta["io.github.skill-server/scope"] ?? "");
  const about = create("div", { className: "dim", dir: "auto" }, description);
  const files = create("div", {}, "Loading…");
  const details = create("details", {}, create("summary", {}, title, scope, about), files);
  details.addEventListener("toggle", () => showFiles(uri, files), { once: true });
  return { item: create("li", {}, details), text: (name + "\n" + description).toLowerCase() };
}

/** Shows all files of a skill, or only its SKILL.md if they are too large for one result. */
async function showFiles(main, files) {
  const base = main.slice(0, -"SKILL.md".length);
  const read = (uri) => ask("resources/read", { uri });
  try {
    const { contents } = await read(base).catch(() => read(main));
    files.replaceChildren(...contents.map(({ uri, text, mimeType }) => {
      const path = create("bdi", {}, decodeURIComponent(uri.slice(base.length)));
      const shown = create("pre", { tabIndex: 0 }, text ?? "This file is not text (" + mimeType + ").");
      return create("details", { open: uri === main }, create("summary", {}, path), shown);
    }));
  } catch (error) {
    files.textContent = error.message;
  }
}

function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/);
  const shown = rows.filter(({ text }) => words.every((word) => text.includes(word)));
  $("skills").replaceChildren(...shown.map(({ item }) => item));
  $("count").textContent = shown.length + " of " + rows.length + " skills";
}

$("address").textContent = endpoint;
$("filter").oninput = filter;
$("login").onsubmit = (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  sessionStorage.setItem(KEY, token);
  load();
};
load();
</script>
</body>
</html>
`;
