import assert from "node:assert/strict";
import { needs } from "../../tests/testing/needs.ts";
import { Place } from "../../tests/testing/place.ts";
import { join } from "../fs/paths.ts";
import { missingDir } from "./scan_diagnostics.ts";

const withNames = needs("names");

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

withNames.test("missingDir() takes no sign of a folder that exists for a mistake", () => {
  using place = new Place();
  const dir = place.dir("it's $HOME;*");
  const { reason } = missingDir(join(dir, "skils"));
  assert.equal(reason, "there is no such folder");
});

Deno.test("missingDir() says what a setting has that only a shell reads", () => {
  for (const [path, reason, fix] of MISSING) {
    const missing = missingDir(path);
    assert.match(missing.reason, reason, path);
    assert.match(missing.fix, fix, path);
  }
});
