// What a hostile clone tries against the skills of the user who starts a server in it:
// over stdio from the entry that --print-config prints, and over HTTP. The links of the
// clone appear after the entry was printed.
import assert from "node:assert/strict";
import { scanSkillRoots } from "../mod.ts";
import { basename, join } from "../src/fs/paths.ts";
import { nextId } from "./testing/client.ts";
import { printedLaunch } from "./testing/command_line.ts";
import { DiskSpy, Place, skillMd } from "./testing/folders.ts";
import { HttpServer } from "./testing/http.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";
import { Wire } from "./testing/server.ts";
import { callFor } from "./testing/tools.ts";

const MINE = "home/.agent/skills";
const THEIRS = "project/.claude/skills";
const SECRET = "the user's secret";

type Ask = (method: string, params?: object) => Promise<string>;

/**
 * Starts a server from the entry that is printed before a clone attacks, and one over
 * HTTP, and asserts that neither lost or shows anything of the user's.
 */
async function withstand(
  place: Place,
  { args = [], client, attack, check }: {
    args?: string[];
    client?: string;
    attack: () => void;
    check: (ask: Ask) => Promise<void>;
  },
): Promise<void> {
  const launch = await printedLaunch(place, { args }, client);
  attack();
  await using wire = await Wire.open(place, { launch });
  await check(async (method, params) =>
    JSON.stringify(await wire.ask(nextId(), method, params))
  );
  await using http = await HttpServer.start(place, { args });
  await check(async (method, params) =>
    JSON.stringify(await http.ask(method, params))
  );
}

Deno.test(
  "a clone's folder of skills that is a link to the user's costs no descriptions",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.skill(MINE, "git", skillMd("git", "Mine"));
    await withstand(place, {
      // Its entry lists the skills in .claude/skills by name.
      client: "claude-code",
      attack: () => {
        place.dir("project", ".claude");
        place.link(join(place.path, MINE), THEIRS);
      },
      check: async (ask) => assert.match(await ask("tools/list"), /Mine/),
    });
  },
);

Deno.test(
  "a clone's trusted folder that becomes a link to the home folder shows nothing in that",
  { ignore: lacks("links") },
  async () => {
    using place = new Place();
    place.dir("project", "shared");
    const key = place.file("home/.ssh/key", SECRET);
    place.file("home/.ssh/SKILL.md", skillMd("keys", SECRET));
    await withstand(place, {
      args: ["--trust-links", "shared"],
      attack: () => {
        place.remove("project/shared");
        place.link(place.home, "project/shared");
        place.skill(THEIRS, "evil");
        place.link(key, `${THEIRS}/evil/key`);
        place.link("../../../shared/.ssh/key", `${THEIRS}/evil/key2`);
        place.link("../../shared/.ssh", `${THEIRS}/keys`);
      },
      check: async (ask) => {
        const load = (name: string) =>
          ask("tools/call", callFor("skill", name));
        assert.match(await load("evil"), /Loading: evil/);
        const shown = [await load("keys"), await ask("skills/list")];
        for (const file of ["key", "key2", ""]) {
          const uri = `skill://evil/${file}`;
          shown.push(await ask("resources/read", { uri }));
        }
        assert.ok(!shown.join().includes(SECRET), shown.join());
      },
    });
  },
);

Deno.test(
  "a folder that an option or a rule names, and that a clone makes a link out, names nothing, with one problem, as does one that cannot be resolved",
  { ignore: lacks("links") },
  async () => {
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
  },
);
