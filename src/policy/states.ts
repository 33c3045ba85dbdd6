/** The table of policy states: which wins, from whom each hides a skill, and how to list it. */

import type { SkillHiding, SkillState } from "../skills/types.ts";

interface StateEffects {
  /** If the paths of a skill have different states, the highest strictness wins. */
  readonly strictness: number;
  /** Whether lists show these skills before others, and shorten them last. */
  readonly isFirst: boolean;
  readonly hiddenFrom: SkillHiding;
  readonly isDescribed: boolean;
}

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
