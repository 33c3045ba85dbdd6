/**
 * Returns a function that creates the same result only once for each object. For objects
 * that never change, such as catalogs.
 */
export function remember<Key extends object, Value>(
  create: (key: Key) => Value,
): (key: Key) => Value {
  const known = new WeakMap<Key, Value>();
  return (key) => known.getOrInsertComputed(key, create);
}
