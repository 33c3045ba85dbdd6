/** The types of requests and their handlers, and the error for invalid params. */

import type {
  Result,
  StandardSchemaV1,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { quoteSent } from "../text.ts";
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

/** The error for params that name nothing or are malformed. The SDK sends it as it is. */
export class InvalidParamsError extends Error {
  /** The code of JSON-RPC for invalid params. */
  readonly code = -32602;
  readonly data: { readonly uri: string } | undefined;

  /** @param uri The URI of the resource that the request is about. */
  constructor(message: string, uri?: string) {
    super(message);
    this.name = "InvalidParamsError";
    this.data = uri === undefined ? undefined : { uri };
  }
}

/**
 * Creates the error for params that name nothing.
 *
 * @param kind What they should name, as a noun.
 */
export function unknown(
  kind: string,
  value: string,
  advice: string,
): InvalidParamsError {
  const message = `Unknown ${kind} ${quoteSent(value)}: ${advice}`;
  return new InvalidParamsError(message);
}

/** Creates the error for a URI that names nothing. */
export function unknownUri(
  kind: string,
  uri: string,
  advice: string,
): InvalidParamsError {
  return new InvalidParamsError(unknown(kind, uri, advice).message, uri);
}
