// What the steps of a scan pass on, for tests of a single step.
import type {
  ReadSkill,
  RootVisit,
  VisitedFolder,
} from "../../src/scan/record.ts";
import { readSkillMd } from "../../src/skills/skill_md.ts";
import type { SkillRoot } from "../../src/skills/types.ts";

/** Describes a folder directly under a root. */
export function visited(
  root: SkillRoot,
  path: string,
  realPath = path,
): VisitedFolder {
  return { path, realPath, root, depth: 1, isLink: false, parent: undefined };
}

/** Describes the visit of a root that was found. */
export function visitOf(
  root: SkillRoot,
  rest: Partial<RootVisit> = {},
): RootVisit {
  const { scope } = root;
  const report = { root, scope, status: "found", skills: 0 } as const;
  const nothing = { folders: [], unread: [], unsearched: [], failures: [] };
  return { report, ...nothing, ...rest };
}

/** Describes what was read of a `SKILL.md` with a text. */
export function readOf(text: string, mainFolder: string): ReadSkill {
  return {
    fileName: "SKILL.md",
    mainFolder,
    parsed: readSkillMd(new TextEncoder().encode(text)),
    isRead: true,
    digest: text,
    modified: 0,
    fileVersion: "1",
    isSettled: true,
  };
}
