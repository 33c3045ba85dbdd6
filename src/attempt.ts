/** Calls a function and returns its result, or `undefined` if it throws any error. */
export function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
