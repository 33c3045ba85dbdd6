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
body {
  margin: 0 auto; padding: 1.5rem 1rem 4rem; max-width: 60rem;
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere;
}
h3 { margin: 1rem 0 .4rem; font-size: .85rem; }
h3, label, .dim { opacity: .75; }
#problem { color: light-dark(#a3221b, #ff9d94); font-weight: 600; }
button, input { font: inherit; min-height: 2.5rem; padding: .3rem .75rem; }
input, .files button { width: 100%; box-sizing: border-box; }
ul { list-style: none; margin: 0; padding: 0; }
pre, #skills > li { border: 1px solid #8886; border-radius: .5rem; padding: .7rem .9rem; }
pre { margin: 0; white-space: pre-wrap; max-height: 30rem; overflow: auto; font-size: .85rem; }
#skills > li { margin-bottom: .5rem; content-visibility: auto; contain-intrinsic-size: auto 6rem; }
.name { font-weight: 600; margin-right: .6rem; }
.about { display: block; }
details:not([open]) .about { display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 2; overflow: hidden; }
.files button { display: flex; gap: 1rem; justify-content: space-between; border: 0; background: none; text-align: left; }
</style>
</head>
<body>
<main>
  <h1>Agent Skills</h1>
  <p class="dim">An MCP server that offers skills to AI applications. Its address: <code id="address"></code>.</p>
  <p id="problem" role="alert"></p>
  <form id="login" hidden>
    <label for="token">The server requires a token. This page keeps it until you close the tab.</label>
    <input id="token" type="password" autocomplete="off" spellcheck="false" required>
    <button>Show the skills</button>
  </form>
  <section id="list" aria-labelledby="list-title" hidden>
    <h2 id="list-title">Skills</h2>
    <label for="filter">Filter by name and description</label>
    <input id="filter" type="search" autocomplete="off" spellcheck="false">
    <p id="count" class="dim" role="status"></p>
    <ul id="skills"></ul>
  </section>
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

/** Sends a request to the MCP server and returns the result. */
async function ask(method, params) {
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
  const about = create("bdi", { className: "about dim" }, description);
  const summary = create("summary", {}, title, scope, about);
  const body = create("div");
  const details = create("details", {}, summary, body);
  details.addEventListener("toggle", () => open(uri, body), { once: true });
  return { item: create("li", {}, details), text: (name + "\n" + description).toLowerCase() };
}

/** Shows the files of a skill, and its SKILL.md. */
async function open(uri, body) {
  const files = create("ul", { className: "files" }, "Loading…");
  const shown = create("div");
  body.append(create("h3", {}, "Files"), files, shown);
  showFile(uri, "SKILL.md", shown);
  try {
    const { skill } = await ask("skills/get", { uri });
    const base = uri.slice(0, -"SKILL.md".length);
    files.replaceChildren(...skill.resources.map((file) => {
      const path = decodeURIComponent(file.uri.slice(base.length));
      const size = create("span", { className: "dim" }, file.size.toLocaleString("en-US") + " bytes");
      const button = create("button", { type: "button" }, create("bdi", {}, path), size);
      button.onclick = () => showFile(file.uri, path, shown);
      return create("li", {}, button);
    }));
  } catch (error) {
    files.textContent = "The list of files is not available: " + error.message;
  }
}

async function showFile(uri, path, shown) {
  const text = create("pre", { tabIndex: 0 }, "Loading…");
  shown.replaceChildren(create("h3", {}, path), text);
  text.textContent = await ask("resources/read", { uri }).then(
    ({ contents: [file] }) => file.text ?? "This file is not text (" + file.mimeType + ").",
    (error) => error.message,
  );
}

/** Shows the rows that contain every word. */
function filter() {
  const words = $("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
  const shown = rows.filter(({ text }) => words.every((word) => text.includes(word)));
  $("skills").replaceChildren(...shown.map(({ item }) => item));
  $("count").textContent = (shown.length < rows.length ? shown.length + " of " : "") + rows.length + (rows.length === 1 ? " skill" : " skills");
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
