/**
 * The limits of texts that clients send. The first function that looks at such a text
 * refuses a longer one.
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
