/** The definition of a tool. */

import type {
  CallToolResult,
  ToolAnnotations,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import * as z from "npm:zod@^4/mini";
import type { RequestContext } from "../../views/context.ts";
import type { SkillList } from "../../views/lists.ts";

/** A tool: an entry in the table of a toolset. */
export interface SkillTool<Input extends z.ZodMiniObject = z.ZodMiniObject> {
  readonly name: string;
  readonly title: string;
  /** Its description, or, if that lists the skills, a brief one without the list. */
  readonly usage: string;
  /** Returns the description that lists the skills, in the wording of the tool's contract. */
  readonly describe?: (list: SkillList) => string;
  /** If it has the parameter `name`, the list can be in the description of that instead. */
  readonly input: Input;
  /** Arguments that show the model how to call it, in the error about wrong ones. */
  readonly example: z.infer<Input>;
  /** The schema of its structured result. */
  readonly output?: z.ZodMiniObject;
  /** Hints for clients about its effects. Default: it only reads. */
  readonly annotations?: ToolAnnotations;
  /** Runs the tool. If that fails, throws an error with a message for the model. */
  call(
    input: z.infer<Input>,
    context: RequestContext,
  ): CallToolResult | Promise<CallToolResult>;
}

/** Defines a tool. TypeScript infers the type of its input from the schema. */
export function defineTool<Input extends z.ZodMiniObject>(
  tool: SkillTool<Input>,
): SkillTool {
  return tool;
}

/** Creates the schema of a text with a description. */
export function describedString(description: string): z.ZodMiniString {
  return z.string().check(z.describe(description));
}
