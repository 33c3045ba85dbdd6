/** Values that are derived once from each catalog or skill. */

/**
 * Makes a function derive a value only once from each object, such as a catalog or a
 * skill. A scan keeps the objects of unchanged skills, so that a change to one skill
 * derives only the value of that skill. The map is weak, so that a value goes with its
 * object.
 */
export function deriveOnce<Source extends object, T>(
  derive: (source: Source) => T,
): (source: Source) => T {
  const values = new WeakMap<Source, T>();
  return (source) => {
    const value = values.get(source) ?? derive(source);
    values.set(source, value);
    return value;
  };
}
