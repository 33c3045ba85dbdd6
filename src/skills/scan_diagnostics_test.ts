import assert from "node:assert/strict";
import { rootIsMissing } from "./scan_diagnostics.ts";

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
