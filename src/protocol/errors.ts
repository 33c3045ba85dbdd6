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

/** Returns the JSON-RPC error object for a thrown value. */
export function errorObject(
  thrown: unknown,
): { code: number; message: string; data?: unknown } {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { code, message, data } = error as Error & Record<string, unknown>;
  return {
    code: Number.isSafeInteger(code) ? code as number : -32603,
    message,
    ...(data !== undefined && { data }),
  };
}

/**
 * Creates a replacement for a reply that cannot be sent. For a tool call, it is
 * a result, so that the model can read it.
 */
export function replaceReply(
  method: string,
  { name, message }: Error,
): { result: Result } | { error: { code: number; message: string } } {
  const advice = name === "RangeError" ? "; ask for less at a time" : "";
  const text = `Cannot send the reply: ${message}${advice}`;
  return method === "tools/call"
    ? { result: { content: [{ type: "text", text }], isError: true } }
    : { error: { code: -32603, message: text } };
}

/** Parses with messages. The small variant of zod has none by itself. */
export const IN_ENGLISH = { error: en().localeError };

/** The maximum length of a description of what is wrong with a value, in characters. */
const MAX_ISSUES_LENGTH = 5_000;

/** Describes what is wrong with a value, and where. */
export function describeIssues({ issues }: z.core.$ZodError): string {
  return issues.map(({ path, message }) =>
    path.length > 0 ? `${quote(path.join("."))}: ${message}` : message
  ).join("; ").slice(0, MAX_ISSUES_LENGTH);
}
