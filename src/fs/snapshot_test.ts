import assert from "node:assert/strict";
import { LaterClock, Place } from "../../tests/testing/folders.ts";
import { lacks } from "../../tests/testing/needs.ts";
import { dirname, join } from "./paths.ts";
import { PathSnapshot } from "./snapshot.ts";

Deno.test("PathSnapshot holds until the folder, or one above it, changes", () => {
  using place = new Place();
  const folder = place.folder("a", "b", "c");
  assert.equal(new PathSnapshot(folder, false).holds(), false);
  using _clock = new LaterClock();
  for (
    let path = folder;
    path !== dirname(place.path);
    path = dirname(path)
  ) {
    const snapshot = new PathSnapshot(folder, false);
    assert.equal(snapshot.holds(), true, path);
    Deno.utimeSync(path, 1, Math.random() * 1_000);
    assert.equal(snapshot.holds(), false, path);
  }
});

Deno.test(
  "PathSnapshot proves nothing if a folder on the path is a link",
  { ignore: lacks("links") },
  () => {
    using place = new Place();
    place.folder("a", "b");
    place.link("a", "link");
    using _clock = new LaterClock();
    for (const [path, holds] of [["a/b", true], ["link/b", false]] as const) {
      const snapshot = new PathSnapshot(join(place.path, path), false);
      assert.equal(snapshot.holds(), holds, path);
    }
  },
);

Deno.test({
  name:
    "PathSnapshot passes over folders above that Deno may not look at, unless others may swap them",
  permissions: { read: [Deno.cwd()], write: true, env: true, sys: true },
  fn: () => {
    const folder = join(Deno.cwd(), "testdata");
    using _clock = new LaterClock();
    assert.equal(new PathSnapshot(folder, false).holds(), true);
    const shared = new PathSnapshot(folder, true);
    assert.equal(shared.holds(), false);
  },
});
