// A real browser, driven by Playwright.
import type { BrowserContext, Page } from "npm:playwright-core@^1";
import { attempt } from "../../src/attempt.ts";

/** Where Chromium and Chrome are installed. Playwright's own download is not used. */
const EXECUTABLES = [
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** Disables what needs privileges, a GPU, or other servers than the one under test. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/** Returns the path of a browser, if one is installed. */
export function findBrowser(): string | undefined {
  return EXECUTABLES.find((path) => attempt(() => Deno.statSync(path).isFile));
}

/** A tab of a browser of its own. */
export interface Tab extends AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Uncaught errors, violations of the policy, and requests to other servers. */
  readonly faults: string[];
}

/** Opens a page in a browser that ends with the tab. */
export async function openTab(url: string): Promise<Tab> {
  // Loaded only where there is a browser.
  const { chromium } = await import("npm:playwright-core@^1");
  const browser = await chromium.launch({
    executablePath: findBrowser(),
    args: FLAGS,
  });
  const context = await browser.newContext();
  const page = await context.newPage();
  const faults: string[] = [];
  page.on("pageerror", ({ message }) => faults.push(message));
  page.on("console", (message) => {
    const text = message.text();
    if (/Content.Security.Policy|Trusted/i.test(text)) faults.push(text);
  });
  page.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    const isOwn = origin === new URL(url).origin || protocol === "data:";
    if (!isOwn) faults.push(`request: ${request.url()}`);
  });
  await page.goto(url);
  const close = () => browser.close();
  return { context, page, faults, [Symbol.asyncDispose]: close };
}
