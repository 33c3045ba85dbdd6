/**
 * Tells the model how many files and folders may be meant as the user's skills but are
 * not served, and how to fix that. It does not name them, because the model gets no path
 * outside of skills. Those of a project are for people alone: what a stranger put there
 * must not make the server give advice.
 */

import { isForModel } from "../policy/states.ts";
import type {
  NearMiss,
  Skill,
  SkillCatalog,
  SkillRootReport,
} from "../skills/types.ts";
import { count, quote } from "../text.ts";

type Count = [number: number, thing: string, rest: string];

export function summarizeNearMisses(catalog: SkillCatalog): string | undefined {
  const counts = [...countSkills(catalog), ...countNearMisses(catalog)];
  const parts = counts.filter(([number]) => number > 0)
    .map(([number, thing, rest]) => `${count(number, thing)} ${rest}`);
  if (parts.length === 0) return undefined;
  return `The server noticed ${new Intl.ListFormat("en").format(parts)}.`;
}

const MAX_NAMED_COPIES = 3;

function countSkills({ skipped, shadowed }: SkillCatalog): Count[] {
  const broken = skipped.filter(({ scope, isForModel }) =>
    scope === "global" && isForModel
  );
  const copies = shadowed.map(({ skill }) => skill).filter(isCopy);
  const names = [...new Set(copies.map(({ name }) => quote(name)))]
    .slice(0, MAX_NAMED_COPIES).join(", ");
  return [
    [
      broken.length,
      "skill",
      "with a mistake in SKILL.md (load by the name of the folder to learn how to fix it)",
    ],
    [
      copies.length,
      "skill",
      `with the name of another one (${names}: delete the copy, or change the name in its SKILL.md)`,
    ],
  ];
}

/** Whether a shadowed skill is the user's, and no name at all loads it. */
function isCopy(skill: Skill): boolean {
  return skill.scope === "global" && skill.prefix === undefined &&
    isForModel(skill);
}

/** The words for each kind, which follow a number: a noun, and the fix. */
const COUNTED_MISSES: Readonly<
  Record<Exclude<NearMiss["kind"], "file">, [thing: string, rest: string]>
> = {
  archive: ["archive", "(if it has a skill, unpack into a folder of its own)"],
  misnamed: [
    "file",
    "that should be named exactly SKILL.md, in a folder of its own (save as plain text; an ending such as .txt may be hidden)",
  ],
  folder: [
    "folder",
    "without a file SKILL.md (if it is a skill, add one, or rename the Markdown file that is meant)",
  ],
  document: [
    "Markdown file",
    "outside the folder of a skill (move into a folder of its own, as SKILL.md)",
  ],
};

/**
 * Whether the model is told of a near miss. Beside skills, folders and documents are
 * often not meant as skills.
 */
function isCounted(
  { kind, path, document }: NearMiss,
  { root, skills }: SkillRootReport,
): boolean {
  if (kind === "archive" || kind === "misnamed") return true;
  return path !== root.path && (skills === 0 || document !== undefined);
}

function countNearMisses({ roots }: SkillCatalog): Count[] {
  const misses = roots.filter(({ scope }) => scope === "global")
    .flatMap((report) =>
      (report.nearMisses ?? []).filter((miss) => isCounted(miss, report))
    );
  const unsearched = roots.filter(({ root, status }) =>
    root.mustExist && status !== "found"
  );
  return [
    ...Object.entries(COUNTED_MISSES).map(([kind, [thing, rest]]): Count => {
      const ofKind = misses.filter((miss) => miss.kind === kind);
      return [ofKind.length, thing, rest];
    }),
    [
      unsearched.length,
      "folder",
      "that is missing or cannot be searched (choose it again in the settings)",
    ],
  ];
}
