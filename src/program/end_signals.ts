/** The signals that end the process. */

import { isWindows } from "../fs/paths.ts";

const END_SIGNALS: readonly Deno.Signal[] = isWindows
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"];

export function onEndSignal(listener: () => void): void {
  for (const signal of END_SIGNALS) Deno.addSignalListener(signal, listener);
}
