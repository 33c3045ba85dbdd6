/**
 * The output of `--list --as CLIENT`: everything about the server that the model in an
 * MCP client sees before it calls a tool.
 */

import { listMcpTools } from "../features/tools.ts";
import type { SkillCatalog } from "../skills/types.ts";
import { count } from "../text.ts";
import { OTHER_CLIENTS, profileOfOption } from "../views/clients.ts";
import { listEntries } from "../views/entries.ts";
import { createInstructions } from "../views/instructions.ts";
import type { ToolOptions } from "../views/options.ts";
import { formatJson, withoutCommands } from "./print.ts";

export function formatModelView(
  client: string,
  catalog: SkillCatalog,
  options: ToolOptions,
  json = false,
): readonly string[] {
  const passages = listPassages(client, catalog, options);
  if (json) return formatJson(passages);
  const skills = count(listEntries("model", catalog).length, "skill");
  const title = formatClient(client);
  const total = passages.reduce((sum, { text }) => sum + text.length, 0);
  const sections = [
    `What the model sees in ${title} (${skills}, toolset ${options.toolset})`,
    ...passages.map(formatPassage),
    `Total: ${formatSize(total)} (estimated as characters / 4)`,
  ];
  return withoutCommands(sections.join("\n\n").split("\n"));
}

function formatClient(client: string): string {
  if (client === OTHER_CLIENTS) return "clients without a profile";
  return profileOfOption(client).measured === undefined
    ? `${client}, which was not measured`
    : client;
}

interface Passage {
  readonly title: string;
  readonly text: string;
}

function formatPassage({ title, text }: Passage): string {
  const lines = text.split("\n").map((line) => `  ${line}`);
  return [`${title}: ${formatSize(text.length)}`, ...lines].join("\n");
}

/** Lists all texts of the server that the model sees before it calls a tool. */
export function listPassages(
  client: string,
  catalog: SkillCatalog,
  options: ToolOptions,
): Passage[] {
  const { keepsInstructionsTo, searchesTools } = profileOfOption(client);
  // `--profile` changes what the server sends, but not what the client shows.
  const profile = profileOfOption(options.profile ?? client);
  const search = searchesTools ? ", which the model has to search for" : "";
  const passages = listMcpTools({ profile, catalog, options })
    .flatMap(({ name, description, inputSchema }) => [
      { title: `Tool ${name}${search}`, text: description! },
      ...Object.entries(inputSchema.properties ?? {}).map(([key, schema]) => ({
        title: `Parameter ${key} of ${name}`,
        text: (schema as { description: string }).description,
      })),
    ]);
  if (keepsInstructionsTo === 0) return passages;
  const instructions = createInstructions(options.toolset, catalog);
  const [firstLine] = instructions.split("\n", 1);
  const shown = searchesTools
    ? { title: "First line of the instructions", text: firstLine! }
    : { title: "Instructions", text: instructions };
  return [
    { ...shown, text: shown.text.slice(0, keepsInstructionsTo) },
    ...passages,
  ];
}

/** Formats a length in UTF-16 code units, the unit of clients' limits, and in tokens. */
function formatSize(characters: number): string {
  return `${characters} characters, about ${Math.ceil(characters / 4)} tokens`;
}
