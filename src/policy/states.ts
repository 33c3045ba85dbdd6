/** The table of policy states. It decides which rule wins, who sees a skill, and how to list it. */

import type { Skill, SkillHiding, SkillState } from "../skills/types.ts";

interface StateEffects {
  /** If the paths of a skill have different states, the highest strictness wins. */
  readonly strictness: number;
  /** Whether lists show these skills before others. */
  readonly isFirst: boolean;
  readonly hiddenFrom: SkillHiding;
  readonly isDescribed: boolean;
}

/** The effects of the default state, from which the others differ. */
const ON: StateEffects = {
  strictness: 0,
  isFirst: false,
  hiddenFrom: "nobody",
  isDescribed: true,
};

/** The effects of each state. `docs/policy.md` explains them. */
export const STATES: Readonly<Record<SkillState, StateEffects>> = {
  on: ON,
  pinned: { ...ON, isFirst: true },
  "name-only": { ...ON, strictness: 1, isDescribed: false },
  manual: { ...ON, strictness: 2, hiddenFrom: "model" },
  off: { ...ON, strictness: 3, hiddenFrom: "everyone" },
};

export const STATE_NAMES = Object.keys(STATES) as readonly SkillState[];

/** Who sees skills: the model through tools, the user through prompts, hosts through URIs. */
export type Viewer = "model" | "user" | "host";

/** From whom each value hides a skill, the strictest value last. */
const HIDDEN: Readonly<Record<SkillHiding, readonly Viewer[]>> = {
  nobody: [],
  model: ["model"],
  everyone: ["model", "host", "user"],
};

const HIDINGS = Object.keys(HIDDEN) as readonly SkillHiding[];

export function strictest(...hidings: SkillHiding[]): SkillHiding {
  return HIDINGS.findLast((it) => hidings.includes(it)) ?? "nobody";
}

export function isHiddenFrom(
  viewer: Viewer,
  { hiddenFrom }: Pick<Skill, "hiddenFrom">,
): boolean {
  return HIDDEN[hiddenFrom].includes(viewer);
}

export function isOff({ hiddenFrom }: Pick<Skill, "hiddenFrom">): boolean {
  return hiddenFrom === "everyone";
}

export function isForModel(skill: Pick<Skill, "hiddenFrom">): boolean {
  return !isHiddenFrom("model", skill);
}
