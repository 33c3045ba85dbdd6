import assert from "node:assert/strict";
import { root } from "../../tests/testing/registry.ts";
import { MAX_WATCHED_FOLDERS } from "../files/watcher.ts";
import type { DecidedSkill } from "./decide.ts";
import { listWatchedFolders } from "./watched_folders.ts";

const LISTING = { root: root("/mine"), depth: 1 };

Deno.test("listWatchedFolders() prefers folders that clients subscribed to, and the skills modified last", () => {
  const skills = Array.from({ length: 300 }, (_, modified) => {
    const realPath = `/skills/${modified}`;
    // A SKILL.md that is a link into another folder.
    const mainFolder = modified === 299 ? "/store" : realPath;
    const read = { mainFolder, modified };
    return { realPath, read, listings: [LISTING] } as unknown as DecidedSkill;
  });
  const folders = listWatchedFolders(skills, {
    roots: [],
    policyFile: undefined,
    subscribed: ["/subscribed"],
  });
  const [last, ...others] = skills.slice(-MAX_WATCHED_FOLDERS).reverse()
    .map(({ realPath }) => realPath);
  assert.deepEqual([...folders], ["/subscribed", last, "/store", ...others]);
});
