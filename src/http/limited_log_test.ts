import assert from "node:assert/strict";
import { limitLog } from "./limited_log.ts";

Deno.test("limitLog() passes on one line a minute and counts the others", () => {
  const { now } = performance;
  let time = 0;
  performance.now = () => time;
  try {
    const lines: string[] = [];
    const log = limitLog((line) => lines.push(line));
    for (const seconds of [0, 1, 59, 60, 61, 300]) {
      time = seconds * 1000;
      log(`at ${seconds}`);
    }
    assert.deepEqual(lines, [
      "at 0",
      "at 60 (2 more such events since the last line)",
      "at 300 (1 more such events since the last line)",
    ]);
  } finally {
    performance.now = now;
  }
});
