import assert from "node:assert/strict";
import { MAX_WATCHED_FOLDERS } from "../files/watcher.ts";
import type { FoundSkill } from "./found_skills.ts";
import { listWatchedFolders } from "./rescans.ts";

Deno.test("listWatchedFolders() prefers folders that clients subscribed to, and the skills modified last", () => {
  const skills = Array.from({ length: 300 }, (_, modified) => {
    const realPath = `/skills/${modified}`;
    // A SKILL.md that is a link into another folder.
    const mainFolder = modified === 299 ? "/store" : realPath;
    const read = { mainFolder, modified };
    return { realPath, read } as FoundSkill;
  });
  const folders = listWatchedFolders([], {
    policyFile: undefined,
    followed: ["/followed"],
    skills,
  });
  const [last, ...others] = skills.slice(-MAX_WATCHED_FOLDERS).reverse()
    .map(({ realPath }) => realPath);
  assert.deepEqual([...folders], ["/followed", last, "/store", ...others]);
});
