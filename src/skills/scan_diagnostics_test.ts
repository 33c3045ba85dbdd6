import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { LINK_OUTSIDE, SkillFileError } from "../fs/errors.ts";
import { rootIsMissing, skillDiagnosticOf } from "./scan_diagnostics.ts";

const withStores = needs("stores");

withStores.test("skillDiagnosticOf() names the store in the option for a user's link into it", () => {
  const fixFor = (target: string, scope: "global" | "project") =>
    skillDiagnosticOf(new SkillFileError("a", LINK_OUTSIDE, target), scope).fix;
  for (const store of ["/nix/store", "/gnu/store"]) {
    const fix = new RegExp(`, or use --trust-links ${store}$`);
    assert.match(fixFor(`${store}/abc-skill/SKILL.md`, "global"), fix);
    assert.doesNotMatch(fixFor(`${store}/abc-skill/SKILL.md`, "project"), fix);
  }
  assert.match(fixFor("/nix/storex", "global"), /use --trust-links DIR$/);
});

/** A directory that does not exist, and what is said of it. */
const MISSING: [path: string, reason: RegExp, fix: RegExp][] = [
  ["/a/skils", /^there is no such folder$/, /^check its spelling/],
  ["/here/${HOME}/skills", /the variable/, /^write the path/],
  ["/here/$HOME/skills", /the variable/, /^write the path/],
  ["/here/%USERPROFILE%/skills", /the variable/, /^write the path/],
  ['/here/"/a/skills"', /the quotes/, /^remove the quotes$/],
  ["/here/file:/a/skills", /URL/, /^write the path alone$/],
  ["/plugins/*/skills", /the wildcard/, /^write the path of each folder$/],
  ["/here/C:\\Users\\me", /for Windows/, /^in WSL, write "\/mnt\/c\/"/],
  ["/here/C:/Users/me", /for Windows/, /^in WSL, write "\/mnt\/c\/"/],
  ["/a:/b", /only "," separates/, /^write "," between the paths$/],
  ["/a:~/b", /only "," separates/, /^write "," between the paths$/],
  ["/a;b", /only "," separates/, /^write "," between the paths$/],
  ["C:\\skills", /^there is no such folder$/, /^check its spelling/],
];

Deno.test("rootIsMissing() says what a setting has that only a shell reads", () => {
  for (const [path, reason, fix] of MISSING) {
    const missing = rootIsMissing(path);
    assert.match(missing.reason, reason, path);
    assert.match(missing.fix, fix, path);
  }
});
