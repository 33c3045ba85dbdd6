/**
 * The limits of texts that clients send. Whoever looks at such a text first, refuses one
 * that is longer.
 *
 * @module
 */

/** The maximum lengths, in characters. */
export const MAX_LENGTHS = {
  name: 1_024,
  path: 4_096,
  uri: 65_536,
  cursor: 1_024,
};
