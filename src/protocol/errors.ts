/**
 * The errors of JSON-RPC, and the replies that report them.
 *
 * @module
 */

import type { Result } from "npm:@modelcontextprotocol/sdk@^1.32.2/types";
import type * as z from "npm:zod@^4/mini";
import en from "npm:zod@^4/v4/locales/en.js";
import { quote } from "../text.ts";

/** Creates the JSON-RPC error "invalid params". */
export function invalidParams(message: string, data?: unknown): Error {
  return rpcError(-32602, message, data);
}

export function rpcError(code: number, message: string, data?: unknown): Error {
  return Object.assign(new Error(message), { code, data });
}

/** What a reply to a request contains besides the ID: a result, or else an error. */
export interface Reply {
  readonly result?: Result;
  readonly error?: { code: number; message: string; data?: unknown };
}

/** Creates the reply that reports a thrown value. */
export function errorReply(thrown: unknown): Reply {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { code, message, data } = error as Error & Record<string, unknown>;
  const known = Number.isSafeInteger(code) ? code as number : -32603;
  return { error: { code: known, message, data } };
}

/**
 * Creates a replacement for a reply that cannot be sent. For a tool call, it is
 * a result, so that the model can read it.
 */
export function replaceReply(method: string, { name, message }: Error): Reply {
  const advice = name === "RangeError" ? "; ask for less at a time" : "";
  const text = `Cannot send the reply: ${message}${advice}`;
  return method === "tools/call"
    ? { result: { content: [{ type: "text", text }], isError: true } }
    : { error: { code: -32603, message: text } };
}

/** Options for parsing. The small variant of zod has no messages of its own. */
export const IN_ENGLISH = { error: en().localeError };

/** The maximum length of a description of what is wrong with a value, in characters. */
const MAX_ISSUES_LENGTH = 5_000;

/** Describes what is wrong with a value, and where. */
export function describeIssues({ issues }: z.core.$ZodError): string {
  return issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ").slice(0, MAX_ISSUES_LENGTH);
}
