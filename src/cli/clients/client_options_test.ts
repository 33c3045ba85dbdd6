import assert from "node:assert/strict";
import { DEFAULT_PROFILE } from "../../mcp/profiles.ts";
import { atHome, settingsFor } from "../../../tests/testing/command_line.ts";
import { join, resolve } from "../../fs/paths.ts";
import { addClientOptions } from "./client_options.ts";
import type { McpClient } from "./clients.ts";

/** A client that shows no skills itself. */
const PLAIN: McpClient = { title: "Editor", file: "~/a.json" };

/** What a client has that shows skills itself. */
const SHOWS = {
  shows: {
    skills: "the skills in .agents/skills",
    options: "--name-only ~/.agents/skills",
  },
};

const HOME = resolve("/home/me");

const CLAUDE = join(HOME, ".claude", "skills");

/** What a client needs, the user's options, and what is added to them. */
const additions: [
  client: Partial<McpClient>,
  args: string[],
  added: object,
  note: RegExp,
][] = [
  [
    SHOWS,
    [],
    {},
    /^Editor itself shows the skills in .* unless you add --agents;/,
  ],
  [SHOWS, ["--agents"], {}, /^Editor itself shows the skills in /],
  [{}, [], { agents: true }, /the entry adds --agents\.$/],
  [{}, ["--agents"], {}, /^$/],
  [{}, [HOME], {}, /^$/],
  [
    { ...SHOWS, toolset: "skilljack" },
    [],
    { tools: "skilljack" },
    /^Editor cannot open files, .* selects the toolset skilljack,/,
  ],
  [{ toolset: "skilljack" }, ["--agents", "--tools=reference"], {}, /^$/],
  [
    { ownSkills: [".agents/skills"] },
    [`--name-only=${CLAUDE}`],
    {
      "name-only": [
        join(".agents", "skills"),
        join(HOME, ".agents", "skills"),
        CLAUDE,
      ],
    },
    /^Editor itself describes the skills in \.agents\/skills, .*\.$/,
  ],
];

Deno.test("addClientOptions() adds what a client needs, and says why", () => {
  for (const [client, args, added, note] of additions) {
    const settings = atHome(settingsFor(...args), HOME);
    const { values, notes } = addClientOptions(
      { ...PLAIN, ...client },
      settings,
      DEFAULT_PROFILE,
    );
    assert.deepEqual(values, { ...settings.values, ...added });
    assert.match(notes.join("\n"), note);
  }
});

Deno.test("addClientOptions() adds only a project's folders without a home folder", () => {
  const settings = atHome(settingsFor(), undefined);
  const ownSkills = [".claude/skills", ".codex/skills"];
  const { values } = addClientOptions(
    { ...PLAIN, ownSkills },
    settings,
    DEFAULT_PROFILE,
  );
  assert.deepEqual(values["name-only"], [join(".claude", "skills")]);
});

Deno.test("addClientOptions() lists a client's private folder by name only, if it is searched", () => {
  const ownSkills = [".agents/skills", ".codex/skills"];
  for (const folder of ["", ".codex/skills", ".codex"]) {
    const args = folder === "" ? [] : ["--skill-dir", join(HOME, folder)];
    const { values } = addClientOptions(
      { ...PLAIN, ownSkills },
      atHome(settingsFor(...args), HOME),
      DEFAULT_PROFILE,
    );
    const own = ownSkills.slice(0, folder === "" ? 1 : 2)
      .flatMap((path) => [join(path), join(HOME, path)]);
    assert.deepEqual(values["name-only"], own, folder);
  }
});
