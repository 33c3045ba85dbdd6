// A real browser, driven by Playwright.
import { attempt } from "../../src/attempt.ts";
import type { Browser, BrowserContext, Page } from "npm:playwright-core@^1";

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

/** A browser with one tab that notes everything that must not happen. */
export class Tab implements AsyncDisposable {
  readonly context: BrowserContext;
  readonly page: Page;
  /** Uncaught errors, violations of the policy, and requests to other servers. */
  readonly faults: string[] = [];
  readonly #browser: Browser;

  private constructor(browser: Browser, context: BrowserContext, page: Page) {
    this.#browser = browser;
    this.context = context;
    this.page = page;
  }

  static async open(url: string): Promise<Tab> {
    // Loaded only where there is a browser.
    const { chromium } = await import("npm:playwright-core@^1");
    const browser = await chromium.launch({
      executablePath: findBrowser(),
      args: FLAGS,
    });
    const context = await browser.newContext();
    const tab = new Tab(browser, context, await context.newPage());
    tab.#watch(new URL(url).origin);
    await tab.page.goto(url);
    return tab;
  }

  #watch(origin: string): void {
    this.page.on("pageerror", ({ message }) => this.faults.push(message));
    this.page.on("console", (message) => {
      if (/Content.Security.Policy|Trusted/i.test(message.text())) {
        this.faults.push(message.text());
      }
    });
    this.page.on("request", (request) => {
      const url = new URL(request.url());
      if (url.origin !== origin && url.protocol !== "data:") {
        this.faults.push(`request: ${url}`);
      }
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#browser.close();
  }
}
