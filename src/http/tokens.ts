/**
 * The bearer tokens that clients can send, from a variable, or from a file that the
 * server reads again when it changes, also behind a symlink or on a network file system.
 */

import { hash, timingSafeEqual } from "node:crypto";
import { diagnosticOf, isAbsence } from "../fs/errors.ts";
import { locate, readLocated } from "../fs/read.ts";
import { PathPoller } from "../fs/watch.ts";
import { UsageError } from "../program/command_line.ts";
import { count } from "../text.ts";

const MIN_TOKEN_LENGTH = 16;

/** An optional name, and a token, which contains no colon. */
const TOKEN = /^(?:([a-z0-9-]{1,32}):)?([\w.~+/-]+=*)$/;

interface Token {
  readonly value: string;
  /** The name of its owner, for the log. */
  readonly name: string | undefined;
}

/** A token that clients can send until its removal is aborted. */
interface ValidToken extends Token {
  readonly removal: AbortController;
}

/** All valid tokens. There is at least one. */
export class Tokens {
  readonly #source: string;
  readonly #read: () => string;
  readonly #file: string | undefined;
  #text: string | undefined;
  #byValue: ReadonlyMap<string, ValidToken> = new Map();

  /**
   * @param source Where they come from, for messages.
   * @param file The file that contains them, if it can change.
   * @throws {UsageError} If it cannot be read, a token is invalid, or there is none.
   */
  constructor(source: string, read: () => string, file?: string) {
    this.#file = file;
    this.#source = source;
    this.#read = read;
    this.reload();
  }

  /** Compares a token with each valid one, in constant time. */
  find(sent: string): ValidToken | undefined {
    const digest = digestOf(sent);
    return this.#byValue.values().toArray().filter(({ value }) =>
      timingSafeEqual(digest, digestOf(value))
    )[0];
  }

  /**
   * @returns Whether the text has changed.
   * @throws {UsageError} As the constructor does. The last tokens then stay valid.
   */
  reload(): boolean {
    try {
      const text = this.#read();
      if (text === this.#text) return false;
      this.#replace(parseTokens(text));
      this.#text = text;
      return true;
    } catch (error) {
      const { message } = error as Error;
      throw new UsageError(
        `Cannot use the tokens in ${this.#source}: ${message}`,
      );
    }
  }

  #replace(tokens: readonly Token[]): void {
    const last = this.#byValue;
    this.#byValue = new Map(
      tokens.map((token) => {
        const { removal = new AbortController() } = last.get(token.value) ?? {};
        return [token.value, { ...token, removal }];
      }),
    );
    for (const { value, removal } of last.values()) {
      if (!this.#byValue.has(value)) removal.abort();
    }
  }

  /** Reads the tokens again whenever their file changes, and logs what changed. */
  follow(log: (line: string) => void): void {
    if (this.#file === undefined) return;
    let lastReason = "";
    const reload = () => {
      try {
        if (this.reload() || lastReason !== "") {
          log(`Read ${count(this.#byValue.size, "token")} in ${this.#source}`);
        }
        lastReason = "";
      } catch (error) {
        const { message } = error as Error;
        if (message === lastReason) return;
        lastReason = message;
        log(`${message}; the last valid tokens stay in use`);
      }
    };
    new PathPoller(reload).update([this.#file]);
    // It may have changed before.
    reload();
  }
}

/** @throws {Error} If it is not a regular file, or cannot be read. */
export function readTokensFile(file: string): string {
  try {
    return new TextDecoder().decode(readLocated(locate(file, () => true)));
  } catch (error) {
    const { reason, fix } = isAbsence(error) ? NO_FILE : diagnosticOf(error);
    throw new Error(`${reason}; ${fix}`);
  }
}

const NO_FILE = {
  reason: "there is no such file",
  fix: "create it with one token on each line, as in NAME:TOKEN",
};

/**
 * Parses tokens between white space or commas. The text after a `#` is a comment. No
 * message contains a token.
 *
 * @throws {Error} If one is invalid, or there is none.
 */
export function parseTokens(text: string): Token[] {
  const entries = text.replaceAll(/#.*/g, "").split(/[\s,]+/).filter(Boolean);
  const tokens = entries.map((entry, index) => {
    const [, name, value] = TOKEN.exec(entry) ?? [];
    const place = `token ${index + 1}`;
    if (value === undefined) {
      throw invalid(
        `${place} must be TOKEN or NAME:TOKEN, where the name has 1 to 32 lowercase letters, digits, and hyphens, and the token has only letters, digits, and -._~+/, with = at its end`,
      );
    }
    if (value.length < MIN_TOKEN_LENGTH) {
      throw invalid(`${place} has fewer than ${MIN_TOKEN_LENGTH} characters`);
    }
    return { value, name };
  });
  if (tokens.length === 0) throw invalid("it contains no token");
  // The log could not tell whose it is.
  const values = new Set(tokens.map(({ value }) => value));
  if (values.size < tokens.length) throw invalid("a token occurs twice");
  return tokens;
}

function invalid(reason: string): Error {
  return new Error(`${reason}; create each token with "openssl rand -hex 32"`);
}

function digestOf(text: string): Uint8Array {
  return hash("sha256", text, "buffer");
}
