import assert from "node:assert/strict";
import { filterAllowed, listWatchedFolders } from "./watch_list.ts";
import { Place } from "../../tests/testing/folders.ts";

/** Lists which of some folders are allowed, and which ones Deno was asked about. */
function filter(
  folders: string[],
  statuses: Record<string, { state: string; partial: boolean }>,
): { allowed: string[]; asked: string[] } {
  const { querySync } = Deno.permissions;
  const asked: string[] = [];
  Deno.permissions.querySync = (descriptor) => {
    const { path } = descriptor as { path: string };
    asked.push(path);
    return (statuses[path] ?? { state: "prompt" }) as Deno.PermissionStatus;
  };
  try {
    return { allowed: [...filterAllowed(folders)], asked };
  } finally {
    Deno.permissions.querySync = querySync;
  }
}

Deno.test("filterAllowed() asks about no folder below one that is allowed with everything in it", () => {
  const folders = ["/home", "/home/skills", "/home/skills/a", "/home/skills/b"];
  const nested = "/home/skills/b/nested";
  const statuses = { "/home/skills": { state: "granted", partial: false } };
  assert.deepEqual(filter([...folders, nested], statuses), {
    allowed: ["/home/skills", "/home/skills/a", "/home/skills/b", nested],
    asked: ["/home", "/home/skills"],
  });
});

Deno.test("filterAllowed() asks about each folder below one of which a part is denied", () => {
  const folders = [
    "/skills",
    "/skills/a",
    "/skills/denied",
    "/skills/denied/a",
  ];
  const statuses = {
    "/skills": { state: "granted", partial: true },
    "/skills/a": { state: "granted", partial: false },
    "/skills/denied": { state: "denied", partial: false },
    "/skills/denied/a": { state: "denied", partial: false },
  };
  assert.deepEqual(filter(folders, statuses), {
    allowed: ["/skills", "/skills/a"],
    asked: folders,
  });
});

Deno.test("listWatchedFolders() lists a file itself if Deno is not allowed to read its folder", async () => {
  using place = new Place();
  const file = Deno.realPathSync(place.file("policy/policy.yaml", ""));
  const list = async () => {
    const around = { folders: [], roots: [], linkTargets: [], files: [file] };
    return (await listWatchedFolders(new Set(), around)).parts;
  };
  assert.ok(!(await list()).has(file));
  const { querySync } = Deno.permissions;
  Deno.permissions.querySync = (permission) =>
    "path" in permission && permission.path === file
      ? querySync(permission)
      : { state: "prompt" } as Deno.PermissionStatus;
  try {
    assert.deepEqual([...(await list()).keys()], [file]);
  } finally {
    Deno.permissions.querySync = querySync;
  }
});
