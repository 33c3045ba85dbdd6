/** Lists of skills as JSON, in the results of tools. */

import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import type { SkillCatalog } from "../../skills/types.ts";
import { formatIndentedJson } from "../../text.ts";
import { deriveOnce } from "../derive_once.ts";
import { createTextResult } from "../loading.ts";
import {
  findEmptyListReason,
  fitSkills,
  formatMore,
  type ListedSkill,
  listForModel,
} from "../skill_list.ts";

/** The maximum size of a list of skills as JSON, in bytes. A message can contain it twice. */
const MAX_JSON_SIZE = 4 * 1024 * 1024;

/**
 * Returns the entries of the skills that fit into a list as JSON, with shorter descriptions
 * if they do not fit otherwise.
 */
export function fitJsonList<Entry extends object>(
  catalog: SkillCatalog,
  entryOf: (listed: ListedSkill) => Entry,
): Entry[] {
  const encoder = new TextEncoder();
  const lengthOf = deriveOnce((listed: ListedSkill) => {
    // The list is a text in a message, which is JSON in JSON.
    const escaped = JSON.stringify(formatIndentedJson([entryOf(listed)]));
    return encoder.encode(escaped).length;
  });
  return fitSkills(listForModel(catalog), { limit: MAX_JSON_SIZE, lengthOf })
    .map(entryOf);
}

/** Creates the result of a tool that lists skills, and says what is missing and why. */
export function createJsonList(
  list: object,
  count: number,
  catalog: SkillCatalog,
): CallToolResult {
  const missing = listForModel(catalog).length - count;
  const note = missing > 0
    ? formatMore(missing).trim()
    : findEmptyListReason(catalog);
  const json = formatIndentedJson(list).trimEnd();
  return note === undefined
    ? createTextResult(json)
    : createTextResult(json, note);
}
