// Server processes, and their messages as lines.
import assert from "node:assert/strict";
import { attempt } from "../../src/attempt.ts";
import type { Launch } from "../../src/cli/config.ts";
import {
  environment,
  FLAGS,
  HTTP,
  IMPORTS,
  MOD,
  preload,
} from "./environment.ts";
import type { Place } from "./place.ts";
import { Inbox, within } from "./waiting.ts";

// Before any time limit starts.
preload(MOD, HTTP);

/** How a server on stdio is started. */
export interface ServerOptions {
  args?: string[];
  env?: Record<string, string>;
  flags?: string[];
  /** The working directory. Default: the project directory. */
  cwd?: string;
  /** The main module. */
  main?: string;
  /** The command to run, instead of Deno with the flags, the main module, and the arguments. */
  launch?: Launch;
}

/** The directories that a server runs in: its working directory, and the home directory. */
export type ServerDirs = Pick<Place, "project" | "home">;

/** Returns the command that starts the server in a place's project directory, and its options. */
export function serverCommand(
  place: ServerDirs,
  { args = [], env = {}, flags = FLAGS, main = MOD, launch, cwd }:
    ServerOptions = {},
): [string, Deno.CommandOptions] {
  return [launch?.command ?? Deno.execPath(), {
    args: [...launch?.args ?? [...flags, main, ...args]],
    cwd: cwd ?? place.project,
    env: {
      ...environment,
      HOME: place.home,
      USERPROFILE: place.home,
      ...env,
    },
  }];
}

/** Starts the server in a place's project directory. */
export function spawnServer(
  place: ServerDirs,
  options?: ServerOptions,
): Deno.ChildProcess {
  const [command, settings] = serverCommand(place, options);
  return new Deno.Command(command, {
    ...settings,
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
}

/** Runs the server until it exits, and returns its output. */
export async function runServer(
  place: ServerDirs,
  options?: ServerOptions,
): Promise<{ code: number; stdout: string; stderr: string }> {
  const [command, settings] = serverCommand(place, options);
  const { code, stdout, stderr } = await new Deno.Command(command, {
    ...settings,
    stdin: "null",
  }).output();
  const decoder = new TextDecoder();
  return {
    code,
    stdout: decoder.decode(stdout),
    stderr: decoder.decode(stderr),
  };
}

/** Runs a script in sh where the server would run. */
export function runScript(
  place: ServerDirs,
  script: string,
): ReturnType<typeof runServer> {
  const launch = { command: "sh", args: ["-c", script] };
  return runServer(place, { launch });
}

/** Returns the command that starts the server, as a script has it. */
export function serverScript(place: ServerDirs, ...args: string[]): string {
  const [command, options] = serverCommand(place, { args });
  return [command, ...options.args!].map((word) => `'${word}'`).join(" ");
}

/** Yields the lines of a stream, which ends with a line break. */
export async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
): AsyncGenerator<string> {
  let parts: string[] = [];
  for await (const text of stream.pipeThrough(new TextDecoderStream())) {
    const [end, ...starts] = text.split("\n");
    parts.push(end!);
    for (const start of starts) {
      yield parts.join("");
      parts = [start];
    }
  }
  assert.equal(parts.join(""), "", "the output ends with an incomplete line");
}

/** The reply to a request. */
export interface Reply {
  id?: number;
  // deno-lint-ignore no-explicit-any -- the tests assert what it contains
  result?: any;
  error?: { code: number; message: string; data?: unknown };
}

/** Returns the metadata of a request of the modern era, from the client of a name. */
export function metaOf(name: string): Record<string, unknown> {
  return {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
    "io.modelcontextprotocol/clientInfo": { name, version: "1.0.0" },
  };
}

/** The metadata of a request of the modern era. */
export const MODERN_META = metaOf("test");

/** Creates a request or, without an ID, a notification. */
export function message(
  id: number | string | undefined,
  method: string,
  params?: object,
): object {
  return { jsonrpc: "2.0", id, method, params };
}

/** A server that replies to requests. */
export type Asking = Pick<Wire, "ask">;

/** A server process that receives and sends messages as lines. */
export class Wire implements AsyncDisposable {
  readonly lines = new Inbox<string>();
  readonly stderrLines = new Inbox<string>();
  onLine = (line: string) => this.lines.put(line);
  /** Called when the server sends no more. */
  onEnd = () => {};
  readonly process: Deno.ChildProcess;
  stderr = "";
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #reading: Promise<void>[];

  constructor(place: ServerDirs, options?: ServerOptions) {
    this.process = spawnServer(place, options);
    this.#writer = this.process.stdin.getWriter();
    this.#reading = [this.#readLines(), this.#readStderr()];
  }

  /** Starts a server, and initializes it. */
  static async open(
    place: ServerDirs,
    options?: ServerOptions,
  ): Promise<Wire> {
    const wire = new Wire(place, options);
    await wire.initialize();
    return wire;
  }

  async write(...messages: (string | object)[]): Promise<void> {
    for (const message of messages) {
      const text = typeof message === "string"
        ? message
        : `${JSON.stringify(message)}\n`;
      await this.#writer.write(new TextEncoder().encode(text));
    }
  }

  get ended(): Promise<Deno.CommandStatus> {
    return within(this.process.status, "the server to exit");
  }

  async ask(id: number, method: string, params = {}): Promise<Reply> {
    await this.write(message(id, method, params));
    return this.reply(id);
  }

  async reply(id: number | undefined): Promise<Reply> {
    const line = await this.lines.take(
      (line) => JSON.parse(line).id === id,
      `the reply ${id}`,
    );
    return JSON.parse(line);
  }

  /** Starts a session as the client of a name. */
  async initialize(name = "test"): Promise<Reply> {
    const reply = await this.ask(0, "initialize", {
      protocolVersion: "2025-11-25",
      capabilities: {},
      clientInfo: { name, version: "1.0.0" },
    });
    await this.write(message(undefined, "notifications/initialized"));
    return reply;
  }

  async endInput(): Promise<Deno.CommandStatus> {
    await this.#writer.close();
    const status = await this.ended;
    await Promise.all(this.#reading);
    return status;
  }

  async #readLines(): Promise<void> {
    for await (const line of linesOf(this.process.stdout)) this.onLine(line);
    this.lines.end(`the server ended its output\n${this.stderr}`);
    this.onEnd();
  }

  async #readStderr(): Promise<void> {
    for await (const line of linesOf(this.process.stderr)) {
      this.stderr += `${line}\n`;
      this.stderrLines.put(line);
    }
    this.stderrLines.end("the server ended its log");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // It may have exited already.
    attempt(() => this.process.kill("SIGKILL"));
    await this.#writer.abort().catch(() => {});
    await this.process.status;
    await Promise.allSettled(this.#reading);
  }
}

/**
 * Runs a program as if on Windows: the server's modules detect Windows and use
 * Windows paths. The program can use the modules `mod` and `server`. Returns the
 * value that the program prints as JSON.
 */
export async function onWindows(
  place: Place,
  program: string,
  env: Record<string, string> = {},
): Promise<unknown> {
  const main = place.file(
    "windows.ts",
    `Object.defineProperty(Deno, "build", { value: { ...Deno.build, os: "windows" } });
    const mod = await import("${import.meta.resolve("../../mod.ts")}");
    const server = await import("${
      import.meta.resolve("../../skill_server.ts")
    }");
    ${program}`,
  );
  const flags = ["run", "--no-config", "--allow-read", "--allow-env"];
  const { code, stdout, stderr } = await runServer(place, {
    main,
    flags: [...flags, ...IMPORTS],
    env,
  });
  assert.deepEqual([code, stderr], [0, ""]);
  return JSON.parse(stdout);
}
