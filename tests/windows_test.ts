// Paths as Windows reads them, and directories as Windows has them.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { listSkills, nextId, Session, verify } from "./testing/client.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { SECRET } from "./testing/hostile.ts";
import { needs } from "./testing/needs.ts";
import { runServer, Wire } from "./testing/server.ts";
import { callFor } from "./testing/tools.ts";

const onWindows = needs("windows");

/** Paths that Windows reads as a file of the skill, or as one outside of it. */
function otherSpellings(skill: string): string[] {
  return [
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
  ];
}

const METHODS = ["resources/read", "resources/directory/read", "skills/get"];

/** Creates a skill with hidden files, and another skill. */
function createPlace(): Place {
  const place = new Place();
  const skills = "home/.claude/skills";
  place.skill(skills, "git");
  place.file(`${skills}/git/docs/help.md`, "Help");
  place.file(`${skills}/git/documentation/help.md`, "Help");
  place.file(`${skills}/git/node_modules/x.js`, SECRET);
  place.file(`${skills}/git/.env`, SECRET);
  place.skill(
    skills,
    "other",
    "---\nname: other\ndescription: d\ndisable-model-invocation: true\n---\n" +
      SECRET,
  );
  return place;
}

onWindows.test("a path that Windows reads as another file is not there, in any view", async () => {
  using place = createPlace();
  const skill = join(place.home, ".claude", "skills", "git");
  const paths = otherSpellings(skill);
  await using wire = await Wire.open(place);
  const entry = (await listSkills(wire)).find(({ uri }) => uri.includes("git"));
  assert.deepEqual(entry!.resources.map(({ uri }) => uri), [
    "skill://git/SKILL.md",
    "skill://git/docs/help.md",
    "skill://git/documentation/help.md",
  ]);
  await verify(wire, entry!);
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
    const args = ["--tools", toolset];
    await using session = await Session.open(place, { args });
    const read = (path: string) => {
      const { name, arguments: input } = callFor(toolset, "git", path);
      return session.text(name, input);
    };
    assert.equal((await read("docs\\help.md")).text, "Help");
    assert.equal((await read(join(skill, "docs", "help.md"))).text, "Help");
    for (const path of paths) {
      const { text, isError } = await read(path);
      assert.ok(
        isError && !text.includes(SECRET),
        `${toolset} ${path}: ${text}`,
      );
    }
  }
});

onWindows.test("the server works in a home folder whose name has a blank and an umlaut, on Windows", async () => {
  using place = new Place();
  const home = place.dir("J\u00fcrgen M\u00fcller");
  place.skill(
    "J\u00fcrgen M\u00fcller/.claude/skills",
    "git",
    skillMd("git"),
  );
  const env = { HOME: home, USERPROFILE: home };
  await using session = await Session.open(place, { env });
  assert.deepEqual(await session.names(), ["git"]);
  assert.equal((await session.load("git")).isError, false);
  const { stdout } = await runServer(place, {
    env,
    args: ["--print-config", "cursor"],
  });
  const { command, args } = JSON.parse(stdout).mcpServers.skills;
  assert.ok(args.some((arg: string) => arg.includes(home)), args.join("\n"));
  const launch = { command, args };
  await using printed = await Session.open(place, { env, launch });
  assert.deepEqual(await printed.names(), ["git"]);
});
