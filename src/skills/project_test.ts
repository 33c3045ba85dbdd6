import assert from "node:assert/strict";
import { scanSkillRoots } from "../../mod.ts";
import { Session } from "../../tests/testing/client.ts";
import { DiskSpy } from "../../tests/testing/fakes.ts";
import { needs } from "../../tests/testing/needs.ts";
import { Place, skillMd } from "../../tests/testing/place.ts";
import { root } from "../../tests/testing/registry.ts";
import { basename, join } from "../fs/paths.ts";

const withLinks = needs("links");

withLinks.test("a folder of an option or a rule that a clone links out names nothing", async () => {
  using place = new Place();
  place.skill("home/.agent/skills", "git", skillMd("git", "Mine"));
  place.dir("project", ".agent");
  place.link("/", "project/vendor");
  place.link(join(place.path, "home/.agent/skills"), "project/vendor2");
  place.link(join(place.path, "home/.agent/skills"), "project/.agent/skills");
  const denied = place.dir("denied");
  using _disk = new DiskSpy((path, operation) =>
    path === denied && operation === "realPathSync"
      ? new Deno.errors.NotCapable("Requires read access")
      : undefined
  );
  const vendor = join(place.project, "vendor");
  const roots = [
    root(join(place.project, ".agent", "skills"), { isLimited: true }),
    root(join(place.path, "home/.agent/skills")),
  ];
  const { skills, diagnostics } = await scanSkillRoots(roots, {
    workingDirectory: place.project,
    homeDirectory: place.home,
    trustedDirs: [vendor, denied, join(place.project, "missing")],
    policy: { rules: [{ in: "vendor2", state: "off" }] },
  });
  assert.deepEqual(
    Array.from(skills.values(), ({ name, state }) => [name, state]),
    [["git", "on"]],
  );
  assert.deepEqual(
    diagnostics.map(({ file, rule }) => [basename(file), rule]),
    [
      ["vendor", "link-outside"],
      ["denied", "permission"],
      ["missing", "folder-missing"],
      ["vendor2", "link-outside"],
      ["skills", "link-outside"],
    ],
  );
});

withLinks.test("server treats the home folder's skills as global if it runs in that folder", async () => {
  using place = new Place();
  place.link(place.skill("elsewhere", "git"), "project/.claude/skills/git");
  place.link(place.project, "home-link");
  for (const HOME of [place.project, join(place.path, "home-link")]) {
    await using session = await Session.open(place, { env: { HOME } });
    assert.deepEqual(await session.names(), ["git"]);
    assert.match(await session.description(), /<location>global</);
  }
});
