// What a hostile clone tries against the skills of the user who starts a server in it:
// over stdio from the entry that --print-config prints, and over HTTP. The links of the
// clone appear after the entry was printed.
import assert from "node:assert/strict";
import { scanSkillRoots } from "../mod.ts";
import { basename, join } from "../src/files/paths.ts";
import { printedLaunch } from "./testing/command_line.ts";
import { DiskSpy, Place, skillMd } from "./testing/folders.ts";
import { HttpServer } from "./testing/http.ts";
import { lacks } from "./testing/needs.ts";
import { root } from "./testing/registry.ts";
import { type Reply, Wire } from "./testing/server.ts";

const MINE = "home/.agent/skills";
const THEIRS = "project/.claude/skills";
const SECRET = "the user's secret";

/** Sends a request, and returns the text of its reply. */
type Ask = (method: string, params?: object) => Promise<string>;

/** Something that a clone tries. */
interface Attempt {
  readonly title: string;
  readonly args?: readonly string[];
  readonly client?: string;
  /** Writes what the user has. */
  prepare(place: Place): void;
  /** Writes what the clone has, once the entry was printed. */
  attack(place: Place): void;
  /** Asserts that nothing of the user's was lost or shown. */
  check(ask: Ask): Promise<void>;
}

async function load(ask: Ask, name: string): Promise<string> {
  return await ask("tools/call", { name: "skill", arguments: { name } });
}

async function read(ask: Ask, uri: string): Promise<string> {
  return await ask("resources/read", { uri });
}

const ATTEMPTS: readonly Attempt[] = [
  {
    title: "a folder of skills that is a link to the user's costs descriptions",
    // Its entry lists the skills in .claude/skills by name.
    client: "claude-code",
    prepare: (place) => place.skill(MINE, "git", skillMd("git", "Mine")),
    attack: (place) => {
      place.folder("project", ".claude");
      place.link(join(place.path, MINE), THEIRS);
    },
    check: async (ask) => {
      assert.match(await ask("tools/list"), /Mine/);
    },
  },
  {
    title:
      "a trusted folder that becomes a link to the home folder shows a key",
    args: ["--trust-links", "shared"],
    prepare: (place) => {
      place.folder("project", "shared");
      place.file("home/.ssh/key", SECRET);
      place.file("home/.ssh/SKILL.md", skillMd("keys", SECRET));
    },
    attack: (place) => {
      place.remove("project/shared");
      place.link(place.home, "project/shared");
      place.skill(THEIRS, "evil");
      const key = join(place.home, ".ssh", "key");
      place.link(key, `${THEIRS}/evil/key`);
      place.link("../../../shared/.ssh/key", `${THEIRS}/evil/key2`);
      place.link("../../shared/.ssh", `${THEIRS}/keys`);
    },
    check: async (ask) => {
      assert.match(await load(ask, "evil"), /Loading: evil/);
      for (const file of ["key", "key2", ""]) {
        const text = await read(ask, `skill://evil/${file}`);
        assert.ok(!text.includes(SECRET), text);
      }
      assert.ok(!(await load(ask, "keys")).includes(SECRET));
      assert.ok(!(await ask("skills/list")).includes(SECRET));
    },
  },
];

/** Returns what sends requests over stdio. */
function asker(wire: Wire): Ask {
  let id = 0;
  return async (method, params = {}) =>
    JSON.stringify(await wire.ask(++id, method, params));
}

for (const { title, args = [], client, prepare, attack, check } of ATTEMPTS) {
  Deno.test(`no clone achieves that ${title}`, {
    ignore: lacks("links"),
  }, async () => {
    using place = new Place();
    prepare(place);
    const launch = await printedLaunch(place, { args: [...args] }, client);
    attack(place);
    await using wire = await Wire.open(place, { launch });
    await check(asker(wire));
    await using http = await HttpServer.start(place, { args: [...args] });
    await check(async (method, params = {}) =>
      JSON.stringify(await http.ask(method, { ...params }) as Reply)
    );
  });
}

Deno.test(
  "a folder that an option or a rule names, and that a clone makes a link out, names nothing, with one problem, as does one that cannot be resolved",
  {
    ignore: lacks("links"),
  },
  async () => {
    using place = new Place();
    place.skill(MINE, "git", skillMd("git", "Mine"));
    place.folder("project", ".agent");
    place.link("/", "project/vendor");
    place.link(join(place.path, MINE), "project/vendor2");
    place.link(join(place.path, MINE), "project/.agent/skills");
    const denied = place.folder("denied");
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
    const { skills, problems } = await scanSkillRoots(roots, {
      workingDirectory: place.project,
      homeDirectory: place.home,
      trustLinks: [vendor, join(place.project, "missing")],
      nameOnlyFolders: [vendor, denied],
      policy: { rules: [{ in: "vendor2", state: "off" }] },
    });
    assert.deepEqual(
      Array.from(skills.values(), ({ name, state }) => [name, state]),
      [["git", "on"]],
    );
    assert.deepEqual(
      problems.map(({ file, rule }) => [basename(file), rule]),
      [
        ["vendor", "link-outside"],
        ["denied", "permission"],
        ["vendor2", "link-outside"],
        ["skills", "link-outside"],
      ],
    );
  },
);

Deno.test("in a clone, names that only look like the user's are malformed, and the user's own names are as they were", async () => {
  using place = new Place();
  const names = [
    "gl\u043ebal:git",
    "g\u0456t",
    "global\uff1agit",
    "global :git",
  ];
  for (const [index, name] of names.entries()) {
    const text = skillMd(JSON.stringify(name), "Lookalike");
    place.skill("project/.claude/skills", `${index}`, text);
    place.skill("home/.claude/skills", `own-${index}`, text);
  }
  place.skill("project/.claude/skills", "\u0433\u0438\u0442");
  const roots = ["project", "home"].map((base) =>
    root(join(place.path, base, ".claude", "skills"))
  );
  const { skills, problems } = await scanSkillRoots(roots, {
    workingDirectory: place.project,
  });
  const theirs = [...skills.values()].filter(({ scope }) =>
    scope === "project"
  );
  assert.deepEqual(theirs.map(({ name }) => name), ["\u0433\u0438\u0442"]);
  assert.equal(skills.size, 5);
  assert.deepEqual(
    problems.map(({ rule, line }) => [rule, line]),
    names.map(() => ["name-malformed", 2]),
  );
});
