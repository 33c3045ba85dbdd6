/**
 * The states that a policy gives to skills, in one table. What depends on a state
 * mostly follows from it: which rule wins, who sees a skill, and how it is listed.
 */

import type { Skill, SkillHiding, SkillState } from "../skills/types.ts";

interface StateEffects {
  /** The larger one wins if the rules give the paths of a skill different states. */
  readonly strictness: number;
  /** Whether it comes before the others in lists. */
  readonly isFirst: boolean;
  readonly hiddenFrom: SkillHiding;
  readonly isDescribed: boolean;
}

/** The effects of the usual state. The table says how the others differ. */
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

export function strictest(...hidings: SkillHiding[]): SkillHiding {
  if (hidings.includes("everyone")) return "everyone";
  return hidings.includes("model") ? "model" : "nobody";
}

export function isOff({ hiddenFrom }: Pick<Skill, "hiddenFrom">): boolean {
  return hiddenFrom === "everyone";
}

export function isForModel(
  { hiddenFrom }: Pick<Skill, "hiddenFrom">,
): boolean {
  return hiddenFrom === "nobody";
}
