// The page of the server over HTTP works in a real browser.
import assert from "node:assert/strict";
import type { Page } from "npm:playwright-core@^1";
import { openTab, type Tab } from "../testing/browser.ts";
import { type HttpOptions, HttpServer, TOKEN } from "../testing/http.ts";
import { lacks } from "../testing/needs.ts";
import { filesPlace, type Place, skillMd } from "../testing/place.ts";

/** What to say where the token is wrong. */
const WRONG = "The server does not accept this token. Check it, and try again.";

/** Registers a test of the page of a server in a browser. */
function testPage(
  name: string,
  { createPlace = filesPlace, ...options }: HttpOptions & {
    createPlace?: () => Place;
  },
  test: (
    context: { tab: Tab; page: Page; url: string; server: HttpServer },
  ) => Promise<void>,
): void {
  Deno.test({
    name,
    ignore: lacks("browser"),
    // Playwright keeps timers until the process of the browser has ended.
    sanitizeOps: false,
    sanitizeResources: false,
    fn: async () => {
      using place = createPlace();
      await using server = await HttpServer.start(place, options);
      const url = new URL("/", server.url).href;
      await using tab = await openTab(url);
      await test({ tab, page: tab.page, url, server });
      assert.deepEqual(tab.faults, []);
    },
  });
}

/** Returns the texts of the elements that are visible. */
function visibleTexts(page: Page, selector: string): Promise<string[]> {
  return page.locator(`${selector}:visible`).allTextContents();
}

/** Asserts that the page fits into windows from 360 to 1,600 pixels. */
async function assertFits(page: Page): Promise<void> {
  for (const width of [360, 800, 1_600]) {
    await page.setViewportSize({ width, height: 800 });
    const overflow = await page.evaluate(
      "document.documentElement.scrollWidth - innerWidth",
    ) as number;
    assert.ok(overflow <= 0, `${overflow} pixels at ${width}`);
  }
}

testPage(
  "the page shows the skills that a filter finds, with their files",
  {
    createPlace: () => {
      const place = filesPlace();
      place.skill(
        "project/.claude/skills",
        "pdf",
        skillMd("pdf", "Fill forms"),
      );
      return place;
    },
  },
  async ({ page, url }) => {
    await page.locator("#skills .name", { hasText: "git" }).waitFor();
    assert.equal(await page.textContent("#address"), `${url}mcp`);
    const row = page.locator("#skills > li", { hasText: "Fill forms" });
    await row.locator("summary", { hasText: "project" }).waitFor();
    await page.fill("#filter", "PDF fill");
    assert.deepEqual(await visibleTexts(page, "#skills .name"), ["pdf"]);
    assert.match(await page.textContent("#count") ?? "", /^1 of \d+ skills$/);
    await page.fill("#filter", "git");
    // The keyboard is enough to open a skill.
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    const git = page.locator("#skills > li:has(> details[open])");
    await git.locator("pre", { hasText: "name: git" }).waitFor();
    await git.locator("summary", { hasText: "references/API.md" })
      .press("Enter");
    await git.locator("pre:visible", { hasText: "# API" }).waitFor();
    await assertFits(page);
  },
);

testPage(
  "the page keeps the token that it asks for in its tab",
  { env: { SKILL_SERVER_TOKEN: TOKEN } },
  async ({ tab, page, url }) => {
    await page.locator("#login").waitFor();
    await page.fill("#token", "wrong");
    await page.keyboard.press("Enter");
    await page.locator("#problem", { hasText: WRONG }).waitFor();
    assert.equal(await page.locator("#skills > li").count(), 0);
    await page.fill("#token", ` ${TOKEN} `);
    await page.keyboard.press("Enter");
    await page.locator("#skills .name", { hasText: "git" }).waitFor();
    assert.equal(await page.isVisible("#problem"), false);
    await page.reload();
    await page.locator("#skills .name", { hasText: "git" }).waitFor();
    const kept = "[localStorage.length, document.cookie, location.href]";
    assert.deepEqual(await page.evaluate(kept), [0, "", url]);
    const other = await tab.context.newPage();
    await other.goto(url);
    await other.locator("#login").waitFor();
  },
);

testPage(
  "the page says that it cannot reach the server",
  {},
  async ({ page, server }) => {
    await page.locator("#skills .name", { hasText: "git" }).waitFor();
    await server.end();
    await page.locator("#skills summary", { hasText: "git" }).click();
    await page.locator("details div", { hasText: "Cannot reach the server" })
      .last().waitFor();
  },
);

/** Starts a proxy that lets only requests with its cookie through, which its page sets. */
function startProxy(target: string): Deno.HttpServer<Deno.NetAddr> {
  const options = { port: 0, hostname: "127.0.0.1", onListen: () => {} };
  return Deno.serve(options, async ({ url, method, headers, body }) => {
    if (method === "POST" && !headers.has("cookie")) {
      return new Response(null, { status: 401 });
    }
    const response = await fetch(new URL(new URL(url).pathname, target), {
      method,
      headers: { "content-type": "application/json" },
      body,
    });
    const cookie = {
      ...Object.fromEntries(response.headers),
      "set-cookie": "a=b",
    };
    return new Response(response.body, { headers: cookie });
  });
}

Deno.test({
  name: "the page shows the skills behind a proxy that asks for a cookie",
  ignore: lacks("browser"),
  sanitizeOps: false,
  sanitizeResources: false,
  fn: async () => {
    using place = filesPlace();
    await using server = await HttpServer.start(place);
    await using proxy = startProxy(server.url);
    await using tab = await openTab(`http://127.0.0.1:${proxy.addr.port}/`);
    await tab.page.locator("#skills .name", { hasText: "git" }).waitFor();
    assert.deepEqual(tab.faults, []);
  },
});
