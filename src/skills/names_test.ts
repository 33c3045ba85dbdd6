import assert from "node:assert/strict";
import { parseSkillUri } from "../../mod.ts";

Deno.test("parseSkillUri() returns undefined for other URIs", () => {
  for (
    const uri of [
      "",
      "skill:",
      "skill://",
      "skill:///SKILL.md",
      "file:///etc/passwd",
      "https://git/SKILL.md",
      "skill://git/../x",
      "skill://git/a/../../x",
      "skill://git/./x",
      "skill://git//x",
      "skill://git/a//b",
      "skill://git/a%2Fb",
      "skill://git/%2e%2e/x",
      "skill://git/%",
      "skill://%ff/x",
      "skill://git/x?y",
      "skill://git/x#y",
      "skill://git?x",
      `skill://git/${"x".repeat(1024 * 1024)}`,
    ]
  ) assert.equal(parseSkillUri(uri), undefined, uri);
});
