import assert from "node:assert/strict";
import { MAX_WATCHED_FOLDERS } from "../files/watcher.ts";
import type { ReadSkill } from "./skill_reader.ts";
import { listWatchedFolders } from "./watched_folders.ts";

Deno.test("listWatchedFolders() prefers folders that clients subscribed to, and the skills modified last", () => {
  const skills = Array.from({ length: 300 }, (_, modified) => {
    const realPath = `/skills/${modified}`;
    return { realPath, read: { mainFolder: realPath, modified } as ReadSkill };
  });
  const folders = listWatchedFolders({
    roots: [],
    policyFile: undefined,
    tracked: ["/tracked"],
    skills,
    searched: ["/skills"],
  });
  const latest = skills.slice(-MAX_WATCHED_FOLDERS).reverse();
  assert.deepEqual([...folders.keys()], [
    "/tracked",
    ...latest.map(({ realPath }) => realPath),
  ]);
});
