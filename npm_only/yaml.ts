/**
 * The part of `jsr:@std/yaml` that the project uses, for networks that can reach
 * only the npm registry.
 *
 * @module
 */

import {
  CORE_SCHEMA,
  FAILSAFE_SCHEMA,
  loadAll,
  YAMLException,
} from "npm:js-yaml@^5";

const SCHEMAS = { core: CORE_SCHEMA, failsafe: FAILSAFE_SCHEMA };

/**
 * Parses one YAML document.
 *
 * @throws {SyntaxError} If the text is not a single YAML document. For a syntax error,
 *   the message contains the line and column.
 */
export function parse(
  text: string,
  { schema }: { schema: keyof typeof SCHEMAS },
): unknown {
  try {
    const documents = loadAll(text, { schema: SCHEMAS[schema] });
    if (documents.length <= 1) return documents[0] ?? null;
  } catch (error) {
    if (!(error instanceof YAMLException)) throw error;
    const { line = 0, column = 0 } = error.mark ?? {};
    throw new SyntaxError(
      `${error.reason} at line ${line + 1}, column ${column + 1}`,
    );
  }
  throw new SyntaxError("Found more than one document");
}
