/**
 * The page that people see at the address of the server: HTML, style, and script.
 *
 * It contains nothing of the skills: it is an MCP client of the server that it
 * came from, with the same rights as any other. The Content-Security-Policy allows
 * only its own script and style, by their hashes, and connections to its own server.
 *
 * It is a module, because a text that is read or imported as such is missing where
 * the server runs from a URL or where a registry does not support that.
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
    "cross-origin-opener-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  };
  return new Response(PAGE, { headers });
}

function hashOf(tag: string): string {
  const [, rest] = PAGE.split(`<${tag}>`, 2);
  const [content] = rest!.split(`</${tag}>`, 1);
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
:root {
  color-scheme: light dark;
  --dim: color-mix(in srgb, CanvasText 65%, Canvas);
  --line: color-mix(in srgb, CanvasText 20%, Canvas);
}
* { box-sizing: border-box; }
[hidden], #problem:empty { display: none !important; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1, p { margin: .5rem 0; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem; }
h3 { margin: 1rem 0 .4rem; font-size: .85rem; }
h3, .dim, .label { color: var(--dim); }
#problem { color: light-dark(#a3221b, #ff9d94); font-weight: 600; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; margin: .75rem 0 .3rem; }
.wide { flex: 1 1 14rem; min-width: 0; }
button, input { font: inherit; min-height: 2.5rem; padding: .3rem .75rem; }
button, summary { cursor: pointer; }
#filter, .files button { width: 100%; }
ul { list-style: none; margin: 0; padding: 0; }
pre, #skills > li { border: 1px solid var(--line); border-radius: .5rem; }
pre { margin: 0; padding: .75rem; white-space: pre-wrap; max-height: 30rem; overflow: auto; font-size: .85rem; }
#skills > li { margin-bottom: .5rem; content-visibility: auto; contain-intrinsic-size: auto 6rem; }
summary { padding: .7rem .9rem; }
.body { padding: 0 .9rem .9rem; }
.name { font-weight: 600; margin-right: .6rem; }
.about { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
details[open] .about { -webkit-line-clamp: none; }
.files button { display: flex; gap: 1rem; justify-content: space-between; border: 0; background: none; text-align: left; }
.label { display: block; margin: 1rem 0 .4rem; }
</style>
</head>
<body>
<main>
  <h1>Agent Skills</h1>
  <p class="dim">An MCP server that offers skills to AI applications. Its address: <code id="address"></code>.</p>
  <p id="problem" role="alert"></p>
  <form id="login" hidden>
    <label class="label" for="token">The server requires a token. This page keeps it until you close the tab.</label>
    <div class="row">
      <input id="token" class="wide" type="password" autocomplete="off" spellcheck="false" required>
      <button>Show the skills</button>
    </div>
  </form>
  <section id="list" aria-labelledby="list-title" hidden>
    <h2 id="list-title">Skills</h2>
    <label class="label" for="filter">Filter by name and description</label>
    <input id="filter" type="search" autocomplete="off" spellcheck="false">
    <p id="count" class="dim" role="status"></p>
    <ul id="skills"></ul>
  </section>
</main>
<script>
"use strict";
const KEY = "skill-server-token";
const endpoint = new URL("mcp", location.href).href;
let token = sessionStorage.getItem(KEY) || "";
let rows = [];

function $(id) { return document.getElementById(id); }

/** Creates an element. Text goes only into text nodes, so nothing of a skill runs. */
function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Sends a request to the MCP server and returns the result. The reply is an event. */
async function ask(method, params = {}) {
  const headers = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
  };
  if (token !== "") headers.Authorization = "Bearer " + token;
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const request = { method: "POST", headers, body, credentials: "omit" };
  const response = await fetch(endpoint, request).catch(() => {
    throw new Error("Cannot reach the server. Check that it is running, and then reload the page.");
  });
  if (response.status === 401) {
    const message = token && "The server does not accept this token. Check it, and try again.";
    throw Object.assign(new Error(message), { needsToken: true });
  }
  const text = await response.text();
  const [, event = text] = /^data: ([^\n]*)/m.exec(text) ?? [];
  if (!event.startsWith("{")) throw new Error("The server replied with status " + response.status + ".");
  const { result, error } = JSON.parse(event);
  if (error) throw new Error(error.message);
  return result;
}

async function load() {
  $("problem").textContent = "";
  try {
    const found = [];
    let cursor;
    do {
      const { resources, nextCursor } = await ask("resources/list", { cursor });
      found.push(...resources.filter(({ uri }) => uri.endsWith("/SKILL.md")));
      cursor = nextCursor;
    } while (cursor !== undefined);
    rows = found.map(createRow);
    $("login").hidden = true;
    $("list").hidden = false;
    filter();
  } catch (error) {
    $("problem").textContent = error.message;
    if (!error.needsToken) return;
    sessionStorage.removeItem(KEY);
    $("login").hidden = false;
    $("token").focus();
  }
}

/** Creates the row of a skill. Its content is loaded when it is opened. */
function createRow({ uri, name, description = "", _meta = {} }) {
  const scope = create("span", { className: "dim" }, _meta["io.github.skill-server/scope"] ?? "");
  const about = create("bdi", { className: "about dim" }, description);
  const body = create("div", { className: "body" });
  const details = create("details", {},
    create("summary", {}, create("bdi", { className: "name" }, name), scope, about),
    body,
  );
  details.ontoggle = () => details.open && !body.firstChild && open(uri, body);
  return { item: create("li", {}, details), text: (name + "\n" + description).toLowerCase() };
}

/** Shows the SKILL.md and the files of a skill. */
async function open(uri, body) {
  const title = create("h3", {}, "SKILL.md");
  const text = create("pre", { tabIndex: 0 }, "Loading…");
  body.replaceChildren(title, text);
  showFile(uri, text);
  try {
    const { skill } = await ask("skills/get", { uri });
    const base = uri.slice(0, -"SKILL.md".length);
    const items = skill.resources.map((file) => {
      const path = file.uri.slice(base.length).split("/").map(decodeURIComponent).join("/");
      const size = create("span", { className: "dim" }, file.size.toLocaleString("en-US") + " bytes");
      const button = create("button", { type: "button" }, create("bdi", {}, path), size);
      button.onclick = () => {
        title.textContent = path;
        showFile(file.uri, text);
      };
      return create("li", {}, button);
    });
    body.prepend(create("h3", {}, "Files"), create("ul", { className: "files" }, ...items));
  } catch (error) {
    body.prepend(create("p", { className: "dim" }, "The list of files is not available: " + error.message));
  }
}

async function showFile(uri, text) {
  text.dataset.uri = uri;
  const shown = await ask("resources/read", { uri }).then(
    ({ contents: [file] }) => file.text ?? "This file is not text (" + file.mimeType + ").",
    (error) => error.message,
  );
  // Another file may have been selected in the meantime.
  if (text.dataset.uri === uri) text.textContent = shown;
}

/** Shows the rows that contain every word of the filter. Hiding the others would take long. */
function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(({ text }) => words.every((word) => text.includes(word)));
  $("skills").replaceChildren(...shown.map(({ item }) => item));
  const counts = shown.length < rows.length ? [shown.length, rows.length] : [rows.length];
  $("count").textContent = counts.map((count) => count.toLocaleString("en-US")).join(" of ") + " skills";
}

$("address").textContent = endpoint;
$("filter").oninput = filter;
$("login").onsubmit = (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  $("token").value = "";
  sessionStorage.setItem(KEY, token);
  load();
};
load();
</script>
</body>
</html>
`;
