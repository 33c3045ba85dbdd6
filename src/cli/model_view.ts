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
import { escapeHidden, stringifyJson, wrapText } from "../text.ts";
import { createInstructions } from "../views/instructions.ts";
import { ToolLists } from "../views/tool_lists.ts";
import { listTools, type SkillToolOptions } from "../views/toolsets.ts";
import type { SkillCatalog } from "../skills/types.ts";

/** The approximate number of characters per token of English text. */
const CHARACTERS_PER_TOKEN = 4;

/** The length of a text. */
interface Size {
  /** The number of UTF-16 code units, which clients count. */
  readonly characters: number;
  /** The estimated number of tokens. */
  readonly tokens: number;
}

/** A text that the model sees. */
interface Passage extends Size {
  readonly text: string;
}

/** A tool as the model sees it. */
interface ViewedTool {
  readonly name: string;
  readonly description: Passage;
  readonly parameters: readonly (Passage & { readonly name: string })[];
  /** The metadata for the client. The model does not see it. */
  readonly _meta?: Tool["_meta"];
}

/** What the model of a client sees. */
export interface ModelView {
  readonly client: string;
  readonly toolset: string;
  /** The number of skills that the model may load. */
  readonly skills: number;
  /** The part of the instructions that the model sees. */
  readonly instructions: Passage & { readonly part: "whole" | "first line" } | {
    readonly part: "none";
  };
  readonly tools: readonly ViewedTool[];
  /** Whether the model sees the tools only after a search. */
  readonly searchesTools: boolean;
  /** The total length of these texts. */
  readonly total: Size;
}

export function createModelView(
  client: string,
  catalog: SkillCatalog,
  options: SkillToolOptions,
): ModelView {
  const profile = findProfile(client);
  const instructions = viewInstructions(
    createInstructions(options.toolset, catalog),
    profile,
  );
  const tools = new ToolLists(listTools(options), options)
    .listFor({ name: profile.clientName }, catalog)
    .map(viewTool);
  const passages = tools.flatMap((
    { description, parameters },
  ) => [description, ...parameters]);
  if (instructions.part !== "none") passages.push(instructions);
  return {
    client,
    toolset: options.toolset,
    skills: listModelSkills(catalog).length,
    instructions,
    tools,
    searchesTools: profile.searchesTools,
    total: sizeOf(
      passages.reduce((sum, { characters }) => sum + characters, 0),
    ),
  };
}

function viewInstructions(
  text: string,
  { instructions: part }: ClientProfile,
): ModelView["instructions"] {
  if (part === "none") return { part };
  const [firstLine] = text.split("\n", 1);
  return { part, ...measure(part === "whole" ? text : firstLine!) };
}

function viewTool({ name, description, inputSchema, _meta }: Tool): ViewedTool {
  const parameters = Object.entries(inputSchema.properties ?? {}) as [
    string,
    { description: string },
  ][];
  return {
    name,
    description: measure(description!),
    parameters: parameters.map(([name, { description }]) => ({
      name,
      ...measure(description),
    })),
    ...(_meta && { _meta }),
  };
}

function measure(text: string): Passage {
  return { ...sizeOf(text.length), text };
}

function sizeOf(characters: number): Size {
  return { characters, tokens: Math.ceil(characters / CHARACTERS_PER_TOKEN) };
}

/** Formats a view for people, with hidden characters escaped. */
export function modelViewAsText(view: ModelView): string {
  const { client, toolset, skills, instructions, tools, total } = view;
  const search = view.searchesTools
    ? ", which the model has to search for"
    : "";
  const sections = [
    `What the model sees in ${describeClient(client)} (${skills} ${
      skills === 1 ? "skill" : "skills"
    }, toolset ${toolset})`,
    ...findProfile(client) === DEFAULT_PROFILE ? [OTHERS_NOTE] : [],
    instructions.part === "none" ? "Instructions: not shown" : section(
      instructions.part === "whole"
        ? "Instructions"
        : `Instructions, ${instructions.part} only`,
      instructions,
    ),
    ...tools.flatMap((tool) => toolSections(tool, search)),
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
  { name, description, parameters, _meta }: ViewedTool,
  search: string,
): string[] {
  const sections = [
    section(`Tool ${name}${search}`, description),
    ...parameters.map((parameter) =>
      section(`Parameter ${parameter.name} of ${name}`, parameter)
    ),
  ];
  if (_meta !== undefined) {
    const json = stringifyJson(_meta);
    sections.push(
      `_meta of ${name}, for the client only: ${json.length} characters\n${
        indent(json)
      }`,
    );
  }
  return sections;
}

function section(title: string, passage: Passage): string {
  return `${title}: ${sizeText(passage)}\n${indent(passage.text)}`;
}

function sizeText({ characters, tokens }: Size): string {
  return `${characters} characters, about ${tokens} tokens`;
}

function indent(text: string): string {
  return text.split("\n").map((line) => `  ${escapeHidden(line)}`).join("\n");
}
