/** The types of requests and their handlers, and the error for invalid params. */

import type {
  Result,
  StandardSchemaV1,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import type { RequestContext } from "../views/context.ts";
import type { METHODS } from "./methods.ts";

export type Method = keyof typeof METHODS;

export type Params<M extends Method> = StandardSchemaV1.InferOutput<
  typeof METHODS[M]
>;

/** Answers the requests of a method: returns the result, or throws the error. */
export type Handler<M extends Method> = (
  params: Params<M>,
  context: RequestContext,
) => Result | Promise<Result>;

/** The handlers of some methods. */
export type Handlers = { readonly [M in Method]?: Handler<M> };

/** An error that the SDK sends to the client as it is. */
class InvalidParamsError extends Error {
  /** The code of JSON-RPC for invalid params. */
  readonly code = -32602;
  readonly data: unknown;

  constructor(message: string, data: unknown) {
    super(message);
    this.name = "InvalidParamsError";
    this.data = data;
  }
}

/**
 * Creates the error for params that name nothing or are malformed.
 *
 * @param uri The URI of the resource that the request is about.
 */
export function invalidParams(message: string, uri?: string): Error {
  return new InvalidParamsError(message, uri === undefined ? uri : { uri });
}
