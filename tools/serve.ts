/**
 * Runs `deno serve` for the task `serve`. The options of `deno serve` go before the
 * module and all other arguments after it, so users can write them in any order.
 *
 *     deno task serve --port 8123 --tools skilljack ~/skills
 */

import { attempt } from "../src/attempt.ts";
import { onEndSignal } from "../src/program/end_signals.ts";

const HTTP = new URL("../http.ts", import.meta.url).href;

/** The options that go before the module, each with a value. */
const SERVE_OPTIONS = ["--port", "--host", "--import-map"];

const before = ["--no-config", "--host", "127.0.0.1"];
before.push("--allow-read", "--allow-env");
const after: string[] = [];

const words = Deno.args.values();
for (const word of words) {
  const [name] = word.split("=", 1);
  if (!SERVE_OPTIONS.includes(name!)) after.push(word);
  else if (word === name) before.push(word, words.next().value ?? "");
  else before.push(word);
}

const server = new Deno.Command(Deno.execPath(), {
  args: ["serve", ...before, HTTP, ...after],
}).spawn();
onEndSignal(() => attempt(() => server.kill("SIGTERM")));
const { code } = await server.status;
Deno.exit(code);
