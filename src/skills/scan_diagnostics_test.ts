import assert from "node:assert/strict";
import { LINK_OUTSIDE, SkillFileError } from "../fs/errors.ts";
import { isLinkText, skillDiagnosticOf } from "./scan_diagnostics.ts";

Deno.test("skillDiagnosticOf() finishes the option for a link of the user's into a store, and for no other", () => {
  const fixFor = (target: string, scope: "global" | "project") =>
    skillDiagnosticOf(new SkillFileError("a", LINK_OUTSIDE, target), scope).fix;
  for (const store of ["/nix/store", "/gnu/store"]) {
    const fix = new RegExp(`, or use --trust-links ${store}$`);
    assert.match(fixFor(`${store}/abc-skill/SKILL.md`, "global"), fix);
    assert.doesNotMatch(fixFor(`${store}/abc-skill/SKILL.md`, "project"), fix);
  }
  assert.match(fixFor("/nix/storex", "global"), /use --trust-links DIR$/);
});

Deno.test("isLinkText() accepts one relative path with a slash, and nothing else", () => {
  for (const text of ["../a", "./a/b", "../../shared/my pdf\n", "../a\r\n"]) {
    assert.equal(isLinkText(text), true, text);
  }
  for (
    const text of ["", "..", "a/b", "/a", "../a\n../b", "../", ".../a", "../\0"]
  ) {
    assert.equal(isLinkText(text), false, text);
  }
});
