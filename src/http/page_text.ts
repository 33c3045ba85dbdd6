/**
 * The page of the server: HTML, style, and script. It is a module, because a text
 * that is read or imported as such is missing where the server runs from a URL or
 * where a registry does not support that.
 *
 * @module
 */

/** The text of the page. `<!-- data -->` stands for the data that the script needs. */
export const PAGE_TEXT: string = String.raw`<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Agent Skills</title>
<link rel="icon" href="data:,">
<style>
:root {
  color-scheme: light dark;
  --back: light-dark(#fbfbfa, #16181b); --card: light-dark(#fff, #1e2125);
  --text: light-dark(#1c2024, #e6e8ea); --dim: light-dark(#5a6470, #a3acb6);
  --line: light-dark(#dde1e5, #363b41); --accent: light-dark(#0b5cad, #7db8f5);
  --on-accent: light-dark(#fff, #10253a); --bad: light-dark(#a3221b, #ff9d94);
}
* { box-sizing: border-box; }
[hidden], #problem:empty { display: none !important; }
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem;
  background: var(--back); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h1, p { margin: .5rem 0; }
h2 { margin: 2.25rem 0 .75rem; font-size: 1.15rem; }
h3 { margin: 1rem 0 .4rem; font-size: .85rem; }
h3, .dim, .label, .facts { color: var(--dim); }
.bad { color: var(--bad); font-weight: 600; }
.row { display: flex; flex-wrap: wrap; gap: .5rem; align-items: center; }
.row > .wide { flex: 1 1 14rem; min-width: 0; }
button, input, select {
  font: inherit; color: inherit; background: var(--card); min-height: 2.5rem;
  border: 1px solid var(--line); border-radius: .4rem; padding: .3rem .75rem;
}
input, select { border-color: var(--dim); }
#filter { width: 100%; }
button, summary { cursor: pointer; }
button:hover { border-color: var(--accent); }
button.main { background: var(--accent); color: var(--on-accent); }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
pre {
  margin: 0; padding: .75rem; border: 1px solid var(--line); border-radius: .4rem;
  background: var(--back); font: .85rem/1.5 ui-monospace, monospace;
  white-space: pre-wrap; max-height: 30rem; overflow: auto;
}
ul { list-style: none; margin: 0; padding: 0; }
#skills > li {
  border: 1px solid var(--line); border-radius: .5rem; background: var(--card);
  margin-bottom: .5rem; content-visibility: auto; contain-intrinsic-size: auto 6rem;
}
summary { padding: .7rem .9rem; border-radius: .5rem; }
summary .name { font-weight: 600; margin-right: .6rem; }
.facts, .label { font-size: .85rem; }
summary .about {
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden;
}
details[open] .about { -webkit-line-clamp: none; }
.body { padding: 0 .9rem .9rem; }
.files button {
  display: flex; width: 100%; gap: 1rem; justify-content: space-between; border: 0; text-align: left;
}
.files button:hover, .files [aria-pressed=true] { background: var(--back); }
.label { display: block; margin: 1rem 0 .4rem; }
.copy { margin: .75rem 0 .3rem; }
a { color: var(--accent); }
</style>
</head>
<body>
<header class="row">
  <h1 class="wide">Agent Skills</h1>
  <button id="forget" type="button" hidden>Forget token</button>
  <button id="reload" type="button">Reload</button>
</header>
<main>
  <p class="dim">An MCP server that offers skills to AI applications. Its address: <code id="address"></code>. <a href="#connect-title">How to connect</a></p>
  <p id="problem" class="bad" role="alert"></p>
  <form id="login" hidden>
    <label class="label" for="token">The server requires a token. This page keeps it until you close the tab.</label>
    <div class="row">
      <input id="token" class="wide" type="password" autocomplete="off" spellcheck="false" required>
      <button class="main">Show the skills</button>
    </div>
  </form>
  <section id="list" aria-labelledby="list-title" hidden>
    <h2 id="list-title">Skills</h2>
    <label class="label" for="filter">Filter by name and description</label>
    <input id="filter" type="search" autocomplete="off" spellcheck="false">
    <p id="count" class="dim" role="status"></p>
    <ul id="skills"></ul>
  </section>
  <section aria-labelledby="connect-title">
    <h2 id="connect-title">Connect</h2>
    <label class="label" for="client">Your application</label>
    <select id="client"></select>
    <div id="notes"></div>
    <div id="command-part">
      <div class="row copy"><span id="command-title" class="wide dim"></span><button id="copy-command" type="button">Copy the command</button></div>
      <pre id="command" tabindex="0"></pre>
    </div>
    <div class="row copy"><span id="entry-title" class="wide dim"></span><button id="copy-entry" type="button">Copy the entry</button></div>
    <pre id="entry" tabindex="0"></pre>
    <p id="copied" class="dim" role="status"></p>
  </section>
</main>
<!-- data -->
<script>
"use strict";
const VERSION = "2026-07-28";
const KEY = "skill-server-token";
const endpoint = new URL("mcp", location.href).href;
const data = JSON.parse($("data").textContent);
const numbers = new Intl.NumberFormat("en-US");
let token = sessionStorage.getItem(KEY) || "";
let lastId = 0, round = 0, rows = [];

function $(id) { return document.getElementById(id); }

/** Creates an element. Text goes only into text nodes, so nothing of a skill runs. */
function create(tag, properties, ...children) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...children);
  return element;
}

/** Sends a request to the MCP server and returns the result. */
async function ask(method, params = {}) {
  const meta = "io.modelcontextprotocol/";
  const headers = {
    "Content-Type": "application/json",
    "Accept": "application/json, text/event-stream",
    "MCP-Protocol-Version": VERSION,
    "Mcp-Method": method,
  };
  if (params.uri !== undefined) headers["Mcp-Name"] = params.uri;
  if (token !== "") headers.Authorization = "Bearer " + token;
  const _meta = {
    [meta + "protocolVersion"]: VERSION,
    [meta + "clientCapabilities"]: {},
    [meta + "clientInfo"]: { name: "skill-server-page", version: "1" },
  };
  const id = ++lastId;
  const body = JSON.stringify({ jsonrpc: "2.0", id, method, params: { ...params, _meta } });
  let response;
  try {
    response = await fetch(endpoint, { method: "POST", headers, body, credentials: "omit" });
  } catch {
    throw new Error("Cannot reach the server. Check that it is running, and then select Reload.");
  }
  if (response.status === 401) {
    const message = token && "The server does not accept this token. Check it, and try again.";
    throw Object.assign(new Error(message), { needsToken: true });
  }
  const reply = await response.json().catch(() => ({}));
  if (reply.error) throw new Error(reply.error.message);
  if (!reply.result) throw new Error("The server replied with status " + response.status + ".");
  return reply.result;
}

/** Requests each page of a list. */
async function* pages(method) {
  let cursor;
  do {
    const result = await ask(method, cursor === undefined ? {} : { cursor });
    yield result;
    cursor = result.nextCursor;
  } while (cursor !== undefined);
}

async function load() {
  const current = ++round;
  const isOld = () => current !== round; // Another load has started, or the token is gone.
  $("problem").textContent = "";
  try {
    const found = [];
    for await (const { resources } of pages("resources/list")) {
      if (isOld()) return;
      found.push(...resources.filter(({ uri }) => uri.endsWith("/SKILL.md")));
    }
    rows = found.map(createRow);
    $("login").hidden = true;
    $("list").hidden = false;
    $("forget").hidden = token === "";
    filter();
    const byUri = new Map(rows.map((row) => [row.uri, row]));
    for await (const { skills } of pages("skills/list")) {
      if (isOld()) return;
      for (const { uri, resources } of skills) byUri.get(uri)?.setFiles(resources);
    }
  } catch (error) {
    if (isOld()) return;
    $("problem").textContent = error.message;
    if (!error.needsToken) return;
    forget();
    $("token").focus();
  }
}

function forget() {
  round++;
  token = "";
  sessionStorage.removeItem(KEY);
  rows = [];
  $("skills").replaceChildren();
  $("list").hidden = true;
  $("forget").hidden = true;
  $("login").hidden = false;
}

/** Creates the row of a skill. Its content is loaded when it is opened. */
function createRow({ uri, name, description = "", _meta = {} }) {
  const scope = _meta["io.github.skill-server/scope"];
  const facts = create("span", { className: "facts" }, scope ?? "");
  const body = create("div", { className: "body" });
  const row = { uri, text: (name + "\n" + description).toLowerCase(), files: undefined };
  row.setFiles = (files) => {
    row.files = files;
    const size = files.reduce((sum, file) => sum + file.size, 0);
    const count = files.length === 1 ? "1 file" : numbers.format(files.length) + " files";
    facts.textContent = [scope, count, formatSize(size)].filter(Boolean).join(" · ");
  };
  const details = create("details", {},
    create("summary", {},
      create("bdi", { className: "name" }, name), facts, create("bdi", { className: "about dim" }, description),
    ),
    body,
  );
  details.ontoggle = () => details.open && !body.firstChild && open(row, body);
  row.item = create("li", {}, details);
  return row;
}

/** Shows the SKILL.md and the files of a skill. */
async function open(row, body) {
  const title = create("h3", {}, "SKILL.md");
  const text = create("pre", { tabIndex: 0 }, "Loading…");
  body.replaceChildren(title, text);
  showFile(row.uri, text);
  try {
    const files = row.files ?? (await ask("skills/get", { uri: row.uri })).skill.resources;
    if (!row.files) row.setFiles(files);
    const base = row.uri.slice(0, -"SKILL.md".length);
    const buttons = files.map(({ uri, size }) => {
      const path = uri.slice(base.length).split("/").map(decodeURIComponent).join("/");
      const label = create("span", { className: "dim" }, formatSize(size));
      const button = create("button", { type: "button" }, create("bdi", {}, path), label);
      button.setAttribute("aria-pressed", String(uri === row.uri));
      button.onclick = () => {
        buttons.forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
        title.textContent = path;
        showFile(uri, text);
      };
      return button;
    });
    const items = buttons.map((button) => create("li", {}, button));
    body.prepend(create("h3", {}, "Files"), create("ul", { className: "files" }, ...items));
  } catch (error) {
    body.prepend(create("p", { className: "dim" }, "The list of files is not available: " + error.message));
  }
}

async function showFile(uri, text) {
  text.dataset.uri = uri;
  let shown;
  try {
    const { contents: [content] } = await ask("resources/read", { uri });
    shown = content.text ?? "This file is not text (" + content.mimeType + ").";
  } catch (error) {
    shown = error.message;
  }
  if (text.dataset.uri === uri) text.textContent = shown;
}

function formatSize(bytes) {
  if (bytes < 1000) return bytes + " B";
  return bytes < 1e6 ? (bytes / 1e3).toFixed(1) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
}

/** Shows the rows that contain every word of the filter. Hiding the others would take long. */
function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(({ text }) => words.every((word) => text.includes(word)));
  const { children } = $("skills");
  const isSame = children.length === shown.length && shown.every(({ item }, index) => item === children[index]);
  if (!isSame) $("skills").replaceChildren(...shown.map(({ item }) => item));
  const total = numbers.format(rows.length);
  const count = shown.length < rows.length ? numbers.format(shown.length) + " of " : "";
  $("count").textContent = count + total + " skills";
}

/** Shows how to configure the selected client. */
function showClient() {
  const { text, notes, command, commandTitle, title } = data.clients[$("client").value];
  const here = (value) => value.replaceAll(data.placeholder, endpoint);
  $("notes").replaceChildren(...notes.map((note) => create("p", {}, note)));
  $("command-part").hidden = !command;
  $("command-title").textContent = (commandTitle ?? "") + ":";
  $("command").textContent = here(command ?? "");
  $("entry-title").textContent = title + ":";
  $("entry").textContent = here(text);
  $("copied").textContent = "";
}

async function copy(id) {
  const element = $(id);
  try {
    await navigator.clipboard.writeText(element.textContent);
    $("copied").textContent = "Copied.";
  } catch { // Only secure pages have a clipboard.
    getSelection().selectAllChildren(element);
    $("copied").textContent = document.execCommand("copy") ? "Copied." : "Selected. Press Ctrl+C to copy.";
  }
}

$("address").textContent = endpoint;
$("client").append(...data.clients.map(({ name }, value) => create("option", { value }, name)));
$("client").onchange = showClient;
$("filter").oninput = filter;
$("reload").onclick = load;
$("forget").onclick = forget;
$("copy-command").onclick = () => copy("command");
$("copy-entry").onclick = () => copy("entry");
$("login").onsubmit = (event) => {
  event.preventDefault();
  token = $("token").value.trim();
  $("token").value = "";
  sessionStorage.setItem(KEY, token);
  load();
};
showClient();
load();
</script>
</body>
</html>
`;
