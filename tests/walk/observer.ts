// Asks a server for everything that its views show.
import { TOOL_NAMES, type Toolset } from "../../src/mcp/options.ts";
import { callFor, type ToolCall } from "../testing/tools.ts";
import type { Sight } from "./model.ts";
import {
  canonical,
  type Contents,
  PREFIXES,
  readable,
  type Shown,
  tokenIn,
  tokensIn,
  tokensOf,
  type View,
} from "./view.ts";

export type Ask = (
  method: string,
  params?: Record<string, unknown>,
  // deno-lint-ignore no-explicit-any -- the observer knows what it contains
) => Promise<{ result?: any; error?: unknown }>;

/** What to ask for in addition to what is listed. */
interface Guesses {
  /** Names to load by their scope. */
  names: readonly string[];
  /** Paths to read in each skill. */
  paths: readonly string[];
}

/** Sees what a client sees, and records everything that it is shown. */
export class Observer {
  readonly #ask: Ask;
  readonly #toolset: Toolset;
  readonly #modelTokens = new Set<string>();
  readonly #clientTokens = new Set<string>();

  constructor(ask: Ask, toolset: string) {
    this.#ask = ask;
    this.#toolset = toolset as Toolset;
  }

  /** Returns the tokens of files that the client or the model may not see. */
  findLeaks(sights: readonly Sight[]): string[] {
    const files = sights.map(({ files }) => files);
    const forModel = sights.filter(({ forModel }) => forModel)
      .map(({ modelFiles }) => modelFiles);
    return [
      ...this.#clientTokens.difference(tokensOf(files)),
      ...this.#modelTokens.difference(tokensOf(forModel)),
    ];
  }

  async look({ names, paths }: Guesses): Promise<View> {
    // Once a client lists the skills itself, the tools do not list them to it.
    const tools = await this.#listTools();
    const { resources } = await this.#request("resources/list");
    const { skills: entries } = await this.#request("skills/list");
    const skills: string[] = [];
    for (const { uri, name } of resources) {
      if (!uri.endsWith("/SKILL.md")) continue;
      const entry = entries.find((entry: { uri: string }) => entry.uri === uri);
      skills.push(canonical(await this.#see(uri, { name, entry, paths })));
    }
    const { prompts } = await this.#request("prompts/list");
    const complete = async (ref: Record<string, string>) => {
      const argument = { name: "name", value: "" };
      const params = { ref, argument };
      const { completion } = await this.#request("completion/complete", params);
      return completion.values.map(plainOf).sort();
    };
    const scoped: Contents = {};
    for (
      const name of PREFIXES.flatMap((prefix) =>
        names.map((name) => `${prefix}:${name}`)
      )
    ) {
      scoped[name] = await this.#load(name);
    }
    return {
      skills: skills.sort(),
      tools,
      prompts: prompts.slice(1)
        .map(({ name }: { name: string }) => plainOf(name)),
      completions: await complete({ type: "ref/prompt", name: "skill" }),
      templateNames: await complete({
        type: "ref/resource",
        uri: "skill://{name}",
      }),
      scoped,
    };
  }

  /** Looks at a skill, by the URI of its `SKILL.md` and its qualified name. */
  async #see(
    uri: string,
    { name, entry, paths }: {
      name: string;
      entry: unknown;
      paths: readonly string[];
    },
  ): Promise<Shown> {
    const dir = uri.slice(0, -"/SKILL.md".length);
    const files: Contents = {};
    const listed = await this.#list(dir);
    for (const path of listed) files[path] = await this.#read(dir, path);
    for (const path of paths.filter((path) => !listed.includes(path))) {
      const content = await this.#read(dir, path);
      if (content !== null) files[`unlisted ${path}`] = content;
    }
    const together = await this.#request("resources/read", {
      uri: `${dir}/`,
    });
    return {
      name: plainOf(name),
      isPlain: name === plainOf(name),
      files,
      together:
        together?.contents.map(({ text }: { text: string }) => tokenIn(text))
          .sort() ?? null,
      entry: await this.#compareEntry(uri, entry),
      prompt: await this.#prompt(name),
      tool: await this.#load(name),
      toolFiles: await this.#readAsModel(name, [...listed, ...paths]),
    };
  }

  /** Returns the digests in an entry, which `skills/get` must return too. */
  // deno-lint-ignore no-explicit-any -- as above
  async #compareEntry(uri: string, entry: any): Promise<Contents | null> {
    const got = await this.#request("skills/get", { uri });
    if (JSON.stringify(entry) !== JSON.stringify(got?.skill)) {
      return { "skills/get": JSON.stringify(got ?? null) };
    }
    if (entry === undefined) return null;
    const start = uri.length - "SKILL.md".length;
    return Object.fromEntries(
      entry.resources.map((
        { uri, digest }: { uri: string; digest: string },
      ) => [
        decodeURIComponent(uri.slice(start)),
        digest,
      ]),
    );
  }

  async #list(uri: string, prefix = ""): Promise<string[]> {
    const result = await this.#request("resources/directory/read", { uri });
    const paths: string[] = [];
    for (const { uri, name, mimeType } of result?.resources ?? []) {
      const isDir = mimeType === "inode/directory";
      if (isDir) paths.push(...await this.#list(uri, `${prefix}${name}/`));
      else paths.push(prefix + name);
    }
    return paths;
  }

  async #read(dir: string, path: string): Promise<string | null> {
    const encoded = path.split("/").map(encodeURIComponent).join("/");
    const uri = `${dir}/${encoded}`;
    const result = await this.#request("resources/read", { uri });
    return result ? tokenIn(result.contents[0].text) : null;
  }

  async #prompt(name: string): Promise<string | null> {
    const params = { name: "skill", arguments: { name } };
    const result = await this.#request("prompts/get", params);
    if (result === undefined) return null;
    const { text, resource } = result.messages[0].content;
    return tokenIn(text ?? resource.text);
  }

  /** Lists the names that the tools list, without the scopes of those that shadow others. */
  async #listTools(): Promise<string[]> {
    const { tools: [{ name, description }] } = await this.#request(
      "tools/list",
    );
    if (name === "skill") {
      const names = description.matchAll(/^<name>(.*)<\/name>$/gm);
      return [...names].map(([, name]) => plainOf(name));
    }
    const list = JSON.parse(await this.#call({ name, arguments: {} }) ?? "");
    return Array.isArray(list)
      ? list.map(({ name }) => plainOf(name))
      : Object.keys(list).map(plainOf);
  }

  async #load(name: string): Promise<string | null> {
    const text = await this.#call(callFor(this.#toolset, name));
    return text === null ? null : tokenIn(text);
  }

  /** Reads files with the toolset's tool, if it has one. */
  async #readAsModel(
    name: string,
    paths: readonly string[],
  ): Promise<Contents | null> {
    const { read } = TOOL_NAMES[this.#toolset];
    if (read === undefined || await this.#load(name) === null) return null;
    const get = (path: string) =>
      this.#call(callFor(this.#toolset, name, path));
    const files: Contents = {};
    for (const path of new Set(paths)) {
      const text = await get(path);
      files[path] = text === null ? null : tokenIn(text);
    }
    if (read !== "skill-resource") return readable(files);
    const list = (await get(""))!.split("\n\nLeft out")[0]!;
    const listed = [...list.matchAll(/^- (.*)$/gm)].map(([, path]) => path!);
    for (const path of Object.keys(readable(files))) {
      if (path !== "SKILL.md" && !listed.includes(path)) {
        files[path] = "unlisted";
      }
    }
    return readable(files);
  }

  /** Calls a tool and returns its text, or `null` if it failed. */
  async #call(call: ToolCall): Promise<string | null> {
    const { content, isError } = await this.#request("tools/call", call);
    return isError ? null : content[0].text;
  }

  async #request(method: string, params = {}) {
    const { result, error } = await this.#ask(method, params);
    const tokens = tokensIn([result, error]).difference(tokensIn(params));
    const shown = method.startsWith("tools/")
      ? this.#modelTokens
      : this.#clientTokens;
    for (const token of tokens) shown.add(token);
    return result;
  }
}

/** Returns a name without its qualifier. */
const plainOf = (name: string) => name.slice(name.lastIndexOf(":") + 1);
