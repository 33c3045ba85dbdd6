/** The options of the programs that help with a problem, for what they log and print. */

import type { Rule } from "../diagnostics.ts";

/** What to add to the fix of each rule. */
export const ADVICE: Partial<Record<Rule, string>> = {
  "link-outside":
    ", or, if you trust the folder DIR that it points into, use --trust-links DIR",
  "too-large":
    ', or raise the limit for files (MAX_FILE_SIZE_MB, or "Largest file" in the settings)',
};
