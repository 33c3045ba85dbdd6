/** Work that may fail. */

/** Returns what a function returns, or `undefined` if it throws an error, whatever the reason. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
