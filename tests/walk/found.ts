// Walks that found a fault, cut to what shows it: the disk on which a server started,
// and what changed then. The message of a walk that fails contains its recording.
import type { Start } from "./start.ts";
import type { Recording } from "./walk.ts";

/** A server in a project, without options. */
const START: Start = {
  workingDirectory: "@/project",
  toolset: "skill",
  dirs: [],
  skillsDir: [],
  skillDirs: [],
  agents: false,
  trustLinks: [],
};

/** Recordings, by what was wrong. */
export const FOUND: Readonly<Record<string, Recording>> = {
  "a folder was refused that had been a link into the project when the server started":
    {
      mode: "scan",
      start: { ...START, toolset: "reference", dirs: ["@/linked"] },
      world: [
        ["folder", "@/home"],
        ["write", "@/project/skills/d/SKILL.md", skill("d", "tok1")],
        ["link", "@/linked", "@/project"],
      ],
      changes: [
        [["remove", "@/linked"], ["folder", "@/linked"]],
        [["move", "@/project/skills/d", "@/linked/.claude/skills/a"]],
        [["write", "@/linked/c/SKILL.md", skill("c", "tok2")]],
      ],
    },
  "the home folder became a project when it became a link": {
    mode: "scan",
    start: {
      ...START,
      workingDirectory: "@/home",
      skillsDir: ["@/home", "@/store"],
      trustLinks: ["@/store"],
    },
    world: [
      ["write", "@/store/.claude/skills/d/SKILL.md", skill("d", "tok1")],
      ["link", "@/store/.claude/skills/d/d", "."],
      ["folder", "@/home/skills"],
    ],
    changes: [
      [
        ["move", "@/home", "@/directory/skills/root9"],
        ["link", "@/home", "@/directory/skills/root9"],
      ],
      [["write", "@/home/skills/a/SKILL.md", skill("a", "tok2")]],
    ],
  },
  "a link of the project led out of it, found from a folder of the user's": {
    mode: "scan",
    start: {
      ...START,
      workingDirectory: "@/data/code/project",
      toolset: "skilljack",
      skillDirs: ["@/home"],
      agents: true,
    },
    world: [
      ["folder", "@/data/code/project/.claude/skills"],
      ["link", "@/home/code", "../data/code"],
      ["link", "@/home/a", "@/store/skills/a"],
      ["write", "@/store/c/SKILL.md", skill("b", "tok1")],
      ["write", "@/store/skills/a/SKILL.md", skill("a", "tok2")],
    ],
    changes: [
      [["link", "@/data/code/project/.claude/skills/c", "@/store/c"]],
      [["link", "@/data/code/project/.agent/skills/a", "../../../../../home"]],
    ],
  },
  "a project that is a skill itself had the scope of the folder around it": {
    mode: "scan",
    start: {
      ...START,
      workingDirectory: "@/store/a",
      dirs: ["@/store"],
      policy: "@/policy.yaml",
    },
    world: [
      ["folder", "@/home"],
      ["write", "@/store/a/SKILL.md", skill("a", "tok1")],
      ["write", "@/store/b/SKILL.md", skill("b", "tok2")],
      ["write", "@/policy.yaml", policy("manual", "global")],
    ],
    changes: [
      [["write", "@/policy.yaml", policy("off", "project")]],
    ],
  },
  "a name behind a scope led to the second skill that has it": {
    mode: "scan",
    start: {
      ...START,
      toolset: "agentskills",
      dirs: ["@/project/.claude"],
      skillDirs: ["@"],
    },
    world: [
      ["folder", "@/home"],
      [
        "write",
        "@/project/.claude/a/b/SKILL.md",
        skill("b", "tok1", "disable-model-invocation: true\n"),
      ],
      ["write", "@/other/b/SKILL.md", skill("b", "tok2")],
    ],
    changes: [
      [["write", "@/project/.claude/skills/b/SKILL.md", skill("b", "tok3")]],
    ],
  },
  "a folder that became a link to itself ended all watching": {
    mode: "watch",
    start: { ...START, dirs: ["@"], agents: true, refresh: 0 },
    world: [
      ["folder", "@/home"],
      ["folder", "@/project/.agents/skills"],
      ["folder", "@/.claude/skills"],
    ],
    changes: [
      [
        ["move", "@/project/.agents/skills", "@/store/skills"],
        ["link", "@/project/.agents/skills", "skills"],
        ["write", "@/.claude/skills/b/SKILL.md", skill("b", "tok1")],
      ],
      [["write", "@/.claude/skills/c/SKILL.md", skill("c", "tok2")]],
    ],
  },
};

/** Returns the text of a `SKILL.md`, which ends with a token that no other file contains. */
function skill(name: string, token: string, fields = ""): string {
  return `---\nname: ${name}\ndescription: About ${name}\n${fields}---\n${token}`;
}

function policy(state: string, scope: string): string {
  return JSON.stringify({ rules: [{ state, scope }] });
}
