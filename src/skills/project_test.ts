import assert from "node:assert/strict";
import { join, resolve } from "../fs/paths.ts";
import { Project } from "./project.ts";

Deno.test("the root of a disk, the home folder, and the folders above it are never a project", () => {
  const homeDirectory = resolve("/home/me");
  const scopeIn = (dir: string) => {
    const workingDirectory = resolve(dir);
    const project = new Project({ workingDirectory, homeDirectory });
    return project.scopeOf(join(workingDirectory, "x"));
  };
  assert.deepEqual(
    ["/", "/home", "/home/me"].map(scopeIn),
    Array(3).fill("global"),
  );
  assert.equal(scopeIn("/home/me/code"), "project");
});
