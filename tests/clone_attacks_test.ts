// What a hostile clone tries against the skills of the user who starts a server in it.
import assert from "node:assert/strict";
import { scanSkillRoots } from "../mod.ts";
import { basename, join } from "../src/fs/paths.ts";
import { nextId } from "./testing/client.ts";
import { printedLaunch } from "./testing/command_line.ts";
import { DiskSpy, Place, skillMd } from "./testing/folders.ts";
import { HttpServer } from "./testing/http.ts";
import { needs } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";
import { Wire } from "./testing/server.ts";
import { callFor } from "./testing/tools.ts";

const withLinks = needs("links");

const MINE = "home/.agent/skills";
const THEIRS = "project/.claude/skills";
const SECRET = "the user's secret";

withLinks.test("a clone's trusted folder that becomes a link to the home folder shows nothing in that", async () => {
  using place = new Place();
  place.dir("project", "shared");
  const key = place.file("home/.ssh/key", SECRET);
  place.file("home/.ssh/SKILL.md", skillMd("keys", SECRET));
  const args = ["--trust-links", "shared"];
  const launch = await printedLaunch(place, { args });
  // The clone changes after the entry was printed.
  place.remove("project/shared");
  place.link(place.home, "project/shared");
  place.skill(THEIRS, "evil");
  place.link(key, `${THEIRS}/evil/key`);
  place.link("../../../shared/.ssh/key", `${THEIRS}/evil/key2`);
  place.link("../../shared/.ssh", `${THEIRS}/keys`);
  await using wire = await Wire.open(place, { launch });
  await using http = await HttpServer.start(place, { args });
  const requests: [method: string, params: object][] = [
    ["tools/call", callFor("skill", "keys")],
    ["skills/list", {}],
    ...["key", "key2", ""].map((file): [string, object] => [
      "resources/read",
      { uri: `skill://evil/${file}` },
    ]),
  ];
  const servers = [
    (...request: [string, object]) => wire.ask(nextId(), ...request),
    (...request: [string, object]) => http.ask(...request),
  ];
  for (const ask of servers) {
    const loaded = await ask("tools/call", callFor("skill", "evil"));
    assert.match(JSON.stringify(loaded), /Loading: evil/);
    for (const request of requests) {
      const shown = JSON.stringify(await ask(...request));
      assert.ok(!shown.includes(SECRET), shown);
    }
  }
});

withLinks.test("a folder that an option or a rule names, and that a clone makes a link out, names nothing, with one problem, as does one that cannot be resolved", async () => {
  using place = new Place();
  place.skill(MINE, "git", skillMd("git", "Mine"));
  place.dir("project", ".agent");
  place.link("/", "project/vendor");
  place.link(join(place.path, MINE), "project/vendor2");
  place.link(join(place.path, MINE), "project/.agent/skills");
  const denied = place.dir("denied");
  using _disk = new DiskSpy((path, operation) =>
    path === denied && operation === "realPathSync"
      ? new Deno.errors.NotCapable("Requires read access")
      : undefined
  );
  const vendor = join(place.project, "vendor");
  const roots = [
    root(join(place.project, ".agent", "skills"), { scope: "project" }),
    root(join(place.path, MINE)),
  ];
  const { skills, diagnostics } = await scanSkillRoots(roots, {
    workingDirectory: place.project,
    homeDirectory: place.home,
    trustLinks: [vendor, denied, join(place.project, "missing")],
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
      ["vendor2", "link-outside"],
      ["skills", "link-outside"],
    ],
  );
});
