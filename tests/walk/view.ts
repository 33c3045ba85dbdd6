// What all views show, and what they should show according to the reference model.
import { hash } from "node:crypto";
import { attempt } from "../../src/attempt.ts";
import { byCodeUnits } from "../../src/text.ts";
import { TOOL_NAMES, type Toolset } from "../../src/mcp/options.ts";
import { TOOLSET_NAMES } from "../../src/mcp/toolsets/toolsets.ts";
import type { Sight, Unseen } from "./model.ts";

/** Contents by path. They are `null` for unreadable files. */
export type Contents = Record<string, string | null>;

/** What all views show of one skill. Contents are tokens, which no other file contains. */
export interface Shown {
  name: string;
  isPlain: boolean;
  files: Contents;
  /** The contents of all files, in one result. */
  together: string[] | null;
  /** The digests in the Skills extension. */
  entry: Contents | null;
  prompt: string | null;
  tool: string | null;
  /** The readable files for the model. */
  toolFiles: Contents | null;
}

export interface View {
  /** The skills as canonical JSON, in order. */
  skills: string[];
  /** The names in the lists of the tools, the prompts, and the completions. */
  tools: string[];
  prompts: string[];
  completions: string[];
  /** The names that complete the templates of resources. */
  templateNames: string[];
  /** What the model gets for names with a scope. */
  scoped: Contents;
}

export const SCOPES = ["project", "global"];

/** What stands before names: a scope, a plugin, or what nothing has. */
export const PREFIXES = [...SCOPES, "store", "directory", "nothing"];

/** The toolsets whose tools read files. */
export const READS_FILES = TOOLSET_NAMES
  .filter((toolset) => TOOL_NAMES[toolset].read !== undefined);

/** Returns JSON with all keys in order. */
export function canonical(value: object): string {
  return JSON.stringify(value, (_, value) => {
    if (Array.isArray(value) || typeof value !== "object" || !value) {
      return value;
    }
    const entries = Object.entries(value);
    return Object.fromEntries(entries.sort(([a], [b]) => byCodeUnits(a, b)));
  });
}

export const tokenIn = (text: string): string => /tok\d+/.exec(text)?.[0] ?? "";

export function tokensIn(value: unknown): Set<string> {
  return new Set(JSON.stringify(value).match(/tok\d+/g));
}

function readToken(path: string): string | null {
  return attempt(() => tokenIn(Deno.readTextFileSync(path))) ?? null;
}

function digest(path: string): string | null {
  return attempt(() => `sha256:${hash("sha256", Deno.readFileSync(path))}`) ??
    null;
}

function readAll(
  files: Map<string, string>,
  read: (realPath: string) => string | null,
): Contents {
  const contents = [...files].map(([path, realPath]) => [path, read(realPath)]);
  return Object.fromEntries(contents);
}

export function readable(contents: Contents): Record<string, string> {
  const entries = Object.entries(contents)
    .filter((entry): entry is [string, string] => entry[1] !== null);
  return Object.fromEntries(entries);
}

const keyOf = ({ name }: Sight) => name.toLowerCase();

/** The names by which skills can be loaded. Everything comes from the skills in their order. */
class Names {
  readonly #sights: readonly Sight[];
  /** The skills that have their plain names. */
  readonly plain: ReadonlySet<Sight>;

  constructor(sights: readonly Sight[]) {
    this.#sights = sights;
    this.plain = new Set(
      Map.groupBy(sights, keyOf).values().map(([first]) => first!),
    );
  }

  /** Whether a skill has its plain name, or one behind its scope or its plugin. */
  isNamed(sight: Sight): boolean {
    const { plugin = "", name } = sight;
    return this.plain.has(sight) || this.#isFirstInScope(sight) ||
      this.#inPlugin(plugin.toLowerCase(), name) === sight;
  }

  /** Finds what a name behind a prefix loads, unless something unseen has the whole name. */
  find(
    prefix: string,
    name: string,
    unseen: readonly Unseen[],
  ): Sight | undefined {
    const key = name.toLowerCase();
    const ofName = this.#sights.filter((sight) => keyOf(sight) === key);
    if (SCOPES.includes(prefix)) {
      return ofName.find(({ scope }) => scope === prefix);
    }
    const found = this.#inPlugin(prefix, name);
    const hasName = unseen.filter((it) => it.name === key);
    if (found || hasName.some(({ plugin }) => plugin === prefix)) return found;
    const globals = [...ofName, ...hasName]
      .filter(({ scope }) => scope === "global");
    return globals.length === 1
      ? ofName.find((it) => it === globals[0])
      : undefined;
  }

  #isFirstInScope(sight: Sight): boolean {
    const first = this.#sights.find((other) =>
      other.scope === sight.scope && keyOf(other) === keyOf(sight)
    );
    return first === sight;
  }

  /** Finds the first skill in a plugin, the user's own before the project's. */
  #inPlugin(plugin: string, name: string): Sight | undefined {
    const found = this.#sights.filter((sight) =>
      sight.plugin?.toLowerCase() === plugin &&
      keyOf(sight) === name.toLowerCase()
    );
    return found.find(({ scope }) => scope === "global") ?? found[0];
  }
}

/** Returns what the views should show of skills. */
export function expectedView(
  sights: readonly Sight[],
  { toolset, names, unseen }: {
    toolset: string;
    names: readonly string[];
    unseen: readonly Unseen[];
  },
): View {
  const known = new Names(sights);
  const { plain } = known;
  const named = sights.filter((sight) => known.isNamed(sight));
  const shown = named.map((sight) =>
    expectedSkill(sight, plain.has(sight), toolset)
  );
  const load = (prefix: string, name: string) => {
    const sight = known.find(prefix, name, unseen);
    return sight ? expectedSkill(sight, true, toolset).tool : null;
  };
  const forUser = named.filter((sight) => sight.forUser);
  return {
    skills: shown.map(canonical).sort(),
    tools: inOrder([...plain].filter(({ forModel }) => forModel), plain),
    prompts: inOrder(forUser, plain),
    completions: forUser.map(({ name }) => name).sort(),
    templateNames: named.map(({ name }) => name).sort(),
    scoped: Object.fromEntries(
      PREFIXES.flatMap((prefix) =>
        names.map((name) => [`${prefix}:${name}`, load(prefix, name)])
      ),
    ),
  };
}

/** Returns the names in the order of lists: pinned ones, plain ones, and then the others. */
function inOrder(
  sights: readonly Sight[],
  plain: ReadonlySet<Sight>,
): string[] {
  const isUnpinned = ({ state }: Sight) => Number(state !== "pinned");
  const isQualified = (sight: Sight) => Number(!plain.has(sight));
  return sights.toSorted((a, b) =>
    isUnpinned(a) - isUnpinned(b) || isQualified(a) - isQualified(b) ||
    byCodeUnits(keyOf(a), keyOf(b))
  ).map(({ name }) => name);
}

function expectedSkill(
  { name, files, modelFiles, forUser, forModel }: Sight,
  isPlain: boolean,
  toolset: string,
): Shown {
  const contents = readAll(files, readToken);
  const { "SKILL.md": main = null } = contents;
  const values = Object.values(contents);
  const isWhole = !values.includes(null);
  const isLoadable = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name);
  const isForTools = forModel && main !== null;
  const readsFiles = READS_FILES.includes(toolset as Toolset) && isForTools;
  return {
    name,
    isPlain,
    files: contents,
    together: isWhole ? values.map(String).sort() : null,
    entry: isLoadable && isWhole ? readAll(files, digest) : null,
    prompt: forUser ? main : null,
    tool: isForTools ? main : null,
    toolFiles: readsFiles ? readable(readAll(modelFiles, readToken)) : null,
  };
}

/** Describes where a view differs from the expected one. */
export function formatDifferences(seen: View, expected: View): string {
  return (Object.keys(expected) as (keyof View)[]).flatMap((key) => {
    const [now, due] = [seen, expected].map((view) =>
      Object.entries(view[key]).map(([name, value]) =>
        key === "scoped" ? `${name}: ${value}` : String(value)
      )
    ) as [string[], string[]];
    if (now.join("\n") === due.join("\n")) return [];
    return [
      `${key} differ:`,
      ...now.map((line) => `${due.includes(line) ? " " : "+"} ${line}`),
      ...due.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
    ];
  }).join("\n");
}

/** Returns the tokens in some files and in their paths. */
export function tokensOf(files: readonly Map<string, string>[]): Set<string> {
  const texts = files.flatMap((files) =>
    [...files].flatMap(([path, realPath]) => [path, readToken(realPath)])
  );
  return tokensIn(texts);
}
