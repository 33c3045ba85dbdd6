import assert from "node:assert/strict";
import { parseSkillUri, skillUri } from "../../mod.ts";
import { ODD } from "../../tests/testing/environment.ts";

Deno.test("skillUri() and parseSkillUri() are inverses", () => {
  for (const name of ["git", "Größe & 100%", "a/b", "..", "日本 語?#", "😀"]) {
    for (
      const path of [undefined, "", "SKILL.md", `a b/ü#${ODD}.md`, "%2e%2e/x"]
    ) {
      const uri = skillUri(name, path);
      assert.match(uri, /^skill:\/\/[\w.!~*'()%-]+(\/[\w.!~*'()%/-]*)?$/);
      assert.deepEqual(parseSkillUri(uri), { name, path });
    }
  }
});

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
