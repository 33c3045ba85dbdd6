import assert from "node:assert/strict";
import { isCopyable } from "./log.ts";

Deno.test("isCopyable() refuses what looks like the log, hides something, or is a command", () => {
  const refused = [
    "::error::x",
    "  ::error::x",
    "\u00a0::x",
    "a ##[error]x",
    "##vso[task.setvariable variable=PATH]/evil",
    "skill-server: Serving",
    "skill-server:x",
    "a\u200bb",
    "a\nb",
    "a\tb",
    "a\u001b[0m",
  ];
  const accepted = ["name: a", "  version: '1'", "---", "a: b::c #[d]", "## a"];
  for (const line of refused) assert.equal(isCopyable(line), false, line);
  for (const line of accepted) assert.equal(isCopyable(line), true, line);
});
