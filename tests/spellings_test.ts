// No other spelling of a name reaches a file that a skill does not serve: on a file system
// that ignores case, and on Windows.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { listSkills, nextId, Session, verify } from "./testing/client.ts";
import { SECRET } from "./testing/hostile.ts";
import { needs } from "./testing/needs.ts";
import { Place, skillMd } from "./testing/place.ts";
import { Wire } from "./testing/server.ts";
import { callFor } from "./testing/tools.ts";

const SKILLS = "home/.claude/skills";

/** Creates a skill with hidden files and a nested skill that a policy turns off, and another skill. */
function createPlace(): Place {
  const place = new Place();
  const git = `${SKILLS}/git`;
  place.skill(SKILLS, "git");
  place.file(`${git}/docs/help.md`, "Help");
  place.file(`${git}/documentation/help.md`, "Help");
  place.file(`${git}/node_modules/x.js`, SECRET);
  place.file(`${git}/.env`, SECRET);
  place.skill(`${git}/docs`, "inner", skillMd("inner", SECRET));
  place.file(`${git}/docs/inner/notes.md`, SECRET);
  const flag = "disable-model-invocation: true\n";
  place.skill(SKILLS, "other", skillMd("other", "d", flag) + SECRET);
  const rule = '{ in: "~/.claude/skills/git/docs/inner", state: off }';
  place.file("home/policy.yaml", `rules: [${rule}]`);
  return place;
}

/** Paths that a system reads as a file of the skill, or as one outside of it. */
const SPELLINGS = {
  caseBlind: () => [
    "NODE_MODULES",
    "NODE_MODULES/x.js",
    "Node_Modules/X.JS",
    "docs/Inner",
    "docs/INNER/notes.md",
    "DOCS/inner/NOTES.md",
    "docs/Inner/SKILL.md",
  ],
  windows: (skill: string) => [
    // Streams.
    "SKILL.md::$DATA",
    "SKILL.md:hidden",
    "docs/help.md::$DATA",
    "docs::$INDEX_ALLOCATION/help.md",
    // Devices.
    "CON",
    "NUL",
    "NUL.txt",
    "docs/COM1",
    "docs/aux.md",
    "CONIN$",
    // Dots and blanks at the end.
    "docs/help.md.",
    "docs/help.md ",
    "docs./help.md",
    "docs /help.md",
    ".../docs/help.md",
    "node_modules./x.js",
    // Other case, and short names.
    "NODE_MODULES/x.js",
    "NODE_M~1/x.js",
    // Other drives, other directories, and other machines.
    "C:docs/help.md",
    "C:/Windows/win.ini",
    "C:\\Windows\\win.ini",
    "\\\\?\\C:\\Windows\\win.ini",
    "\\\\.\\C:\\Windows\\win.ini",
    `\\\\?\\${join(skill, "docs", "help.md")}`,
    `\\\\localhost\\${skill.replace(":", "$")}\\docs\\help.md`,
    "..\\other\\SKILL.md",
    "docs\\..\\..\\other\\SKILL.md",
    "docs\\..\\.env",
  ],
};

const METHODS = ["resources/read", "resources/directory/read", "skills/get"];

for (const [system, list] of Object.entries(SPELLINGS)) {
  const { test } = needs(system as keyof typeof SPELLINGS);
  test(`a path that the system reads as another file is not there (${system})`, async () => {
    using place = createPlace();
    const skill = join(place.path, SKILLS, "git");
    const paths = list(skill);
    const policy = ["--policy", "~/policy.yaml", "--skill-dir", "~/.claude"];
    await using wire = await Wire.open(place, { args: policy });
    const entries = await listSkills(wire);
    const entry = entries.find(({ uri }) => uri.includes("git"))!;
    assert.deepEqual(entry.resources.map(({ uri }) => uri), [
      "skill://git/SKILL.md",
      "skill://git/docs/help.md",
      "skill://git/documentation/help.md",
    ]);
    await verify(wire, entry);
    for (const path of paths) {
      const encoded = path.split("/").map(encodeURIComponent).join("/");
      const uri = `skill://git/${encoded}`;
      for (const method of METHODS) {
        const { error } = await wire.ask(nextId(), method, { uri });
        // To this client, a missing resource has a code of its own.
        const isMissing = [-32602, -32002].includes(error?.code ?? 0);
        assert.ok(isMissing, `${method} ${uri}`);
      }
    }
    for (const toolset of ["skilljack", "agentskills"] as const) {
      const args = ["--tools", toolset, ...policy];
      await using session = await Session.open(place, { args });
      const read = (path: string) => {
        const { name, arguments: input } = callFor(toolset, "git", path);
        return session.text(name, input);
      };
      assert.equal((await read("docs\\help.md")).text, "Help");
      assert.equal((await read(join(skill, "docs", "help.md"))).text, "Help");
      for (const path of paths) {
        const { text, isError } = await read(path);
        const isRefused = isError && !text.includes(SECRET);
        assert.ok(isRefused, `${toolset} ${path}: ${text}`);
      }
    }
  });
}
