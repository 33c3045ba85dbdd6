/**
 * The output of `--list --as CLIENT`: everything that the model of an MCP client
 * sees of the server before it calls a tool, and the length of each text.
 *
 * @module
 */

import type { Tool } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import {
  type ClientProfile,
  DEFAULT_PROFILE,
  findProfile,
  OTHER_CLIENTS,
} from "../views/client_profiles.ts";
import { listModelSkills } from "../views/skill_lists.ts";
import { count, escapeHidden, stringifyJson, wrapText } from "../text.ts";
import { createInstructions } from "../views/instructions.ts";
import { ToolLists } from "../views/tool_lists.ts";
import { listTools, type SkillToolOptions } from "../views/toolsets.ts";
import type { SkillCatalog } from "../skills/types.ts";

/** The approximate number of characters per token of English text. */
const CHARACTERS_PER_TOKEN = 4;

/** What the model of a client sees. */
export type ModelView = ReturnType<typeof createModelView>;

export function createModelView(
  client: string,
  catalog: SkillCatalog,
  options: SkillToolOptions,
) {
  const profile = findProfile(client);
  const text = createInstructions(options.toolset, catalog);
  const instructions = viewInstructions(text, profile);
  const tools = new ToolLists(listTools(options), options)
    .listFor({ name: profile.clientName }, catalog)
    .map(viewTool);
  const passages = [
    ...tools.flatMap((tool) => [tool.description, ...tool.parameters]),
    ...instructions.part === "none" ? [] : [instructions],
  ];
  const total = passages.reduce((sum, { characters }) => sum + characters, 0);
  return {
    client,
    toolset: options.toolset,
    /** The number of skills that the model may load. */
    skills: listModelSkills(catalog).length,
    instructions,
    tools,
    searchesTools: profile.searchesTools,
    total: sizeOf(total),
  };
}

/** Returns the part of the instructions that the model sees. */
function viewInstructions(text: string, { instructions: part }: ClientProfile) {
  if (part === "none") return { part };
  const [firstLine] = text.split("\n", 1);
  return { part, ...measure(part === "whole" ? text : firstLine!) };
}

/** Returns what the model sees of a tool, and the metadata for the client alone. */
function viewTool({ name, description, inputSchema, _meta }: Tool) {
  const { properties = {} } = inputSchema as {
    properties?: Record<string, { description: string }>;
  };
  const parameters = Object.entries(properties).map(
    ([name, { description }]) => ({ name, ...measure(description) }),
  );
  return {
    name,
    description: measure(description!),
    parameters,
    ...(_meta && { _meta }),
  };
}

/** A text that the model sees, and its length. */
type Passage = ReturnType<typeof measure>;

function measure(text: string) {
  return { ...sizeOf(text.length), text };
}

/** Returns the length of a text in UTF-16 code units, which clients count, and in tokens. */
function sizeOf(characters: number) {
  return { characters, tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN) };
}

/** Formats a view for people, with hidden characters escaped. */
export function modelViewAsText(view: ModelView): string {
  const { client, toolset, skills, instructions, tools, total } = view;
  const { part } = instructions;
  const isShared = findProfile(client) === DEFAULT_PROFILE;
  const sections = [
    `What the model sees in ${describeClient(client)} (${
      count(skills, "skill")
    }, toolset ${toolset})`,
    ...isShared ? [OTHERS_NOTE] : [],
    part === "none" ? "Instructions: not shown" : section(
      part === "whole" ? "Instructions" : `Instructions, ${part} only`,
      instructions,
    ),
    ...tools.flatMap((tool) => toolSections(tool, view)),
    `Total: ${
      sizeText(total)
    } (estimated as characters / ${CHARACTERS_PER_TOKEN})`,
  ];
  return `${sections.join("\n\n")}\n`;
}

const OTHERS_NOTE = wrapText(
  "These clients have no profile. As far as they were tried, they show the tools whole, and no instructions.",
);

function describeClient(client: string): string {
  if (client === OTHER_CLIENTS) return "other clients";
  return findProfile(client) === DEFAULT_PROFILE
    ? `${client} and other clients`
    : client;
}

function toolSections(
  { name, description, parameters, _meta }: ModelView["tools"][number],
  { searchesTools }: ModelView,
): string[] {
  const search = searchesTools ? ", which the model has to search for" : "";
  const json = _meta && stringifyJson(_meta);
  return [
    section(`Tool ${name}${search}`, description),
    ...parameters.map((parameter) =>
      section(`Parameter ${parameter.name} of ${name}`, parameter)
    ),
    ...json === undefined ? [] : [
      `_meta of ${name}, for the client only: ${json.length} characters\n${
        indent(json)
      }`,
    ],
  ];
}

function section(title: string, passage: Passage): string {
  return `${title}: ${sizeText(passage)}\n${indent(passage.text)}`;
}

function sizeText({ characters, tokens }: ReturnType<typeof sizeOf>): string {
  return `${characters} characters, about ${tokens} tokens`;
}

function indent(text: string): string {
  return text.split("\n").map((line) => `  ${escapeHidden(line)}`).join("\n");
}
