import assert from "node:assert/strict";
import { MAX_WATCHED_FOLDERS } from "../files/watcher.ts";
import { listWatchedFolders } from "./rescans.ts";
import type { ReadSkill } from "./skill_reader.ts";

Deno.test("listWatchedFolders() prefers folders that clients subscribed to, and the skills modified last", () => {
  const skills = Array.from({ length: 300 }, (_, modified) => {
    const realPath = `/skills/${modified}`;
    return { realPath, read: { mainFolder: realPath, modified } as ReadSkill };
  });
  const folders = listWatchedFolders({
    paths: [],
    followed: ["/followed"],
    skills,
    searched: ["/skills"],
  });
  const latest = skills.slice(-MAX_WATCHED_FOLDERS).reverse();
  assert.deepEqual([...folders], [
    "/followed",
    ...latest.map(({ realPath }) => realPath),
    "/skills",
  ]);
});
