// Whatever a cloned project holds, each of the user's names loads the same skill of the
// user's: for random skills of both, in all views.
import assert from "node:assert/strict";
import fc from "npm:fast-check@^4";
import { SkillRegistry, type Viewer } from "../mod.ts";
import { COMPLETION_HANDLERS } from "../src/features/completion.ts";
import { PROMPT_HANDLERS } from "../src/features/prompts.ts";
import { RESOURCE_HANDLERS } from "../src/features/resources.ts";
import { EXTENSION_HANDLERS } from "../src/features/skills_extension.ts";
import { TOOL_HANDLERS } from "../src/features/tools.ts";
import { TOOLSET_NAMES } from "../src/features/toolsets/toolsets.ts";
import { join } from "../src/fs/paths.ts";
import { lookUp } from "../src/skills/lookup.ts";
import { skillKey, skillUri, toPromptName } from "../src/skills/names.ts";
import { listEntries } from "../src/views/entries.ts";
import { TOOL_NAMES, type Toolset } from "../src/views/options.ts";
import { needs } from "./testing/needs.ts";
import { Place, skillMd } from "./testing/place.ts";
import { root } from "./testing/registry.ts";
import { callFor, contextOf } from "./testing/tools.ts";

// Folders have colons in their names.
const withNames = needs("names");

const NAMES = ["a", "b", "A", "a:b", "b:a", "a b", "a-b", "a:a-b"];

const PLUGINS = [undefined, "a", "b", "a b"];

const TEXTS = ["", "global:", "project:", "a:", "b:", "global:a:", "x:", "/"]
  .flatMap((start) => NAMES.map((name) => start + name));

/** The number of random catalogs for each promise. */
const RUNS = 100;

/** How a skill is served, or not: by its state, a flag, or its text. */
const KINDS = {
  on: {},
  "not for users": { fields: "user-invocable: false\n" },
  "not for models": { fields: "disable-model-invocation: true\n" },
  manual: { state: "manual" },
  off: { state: "off" },
  broken: { lacks: "description" },
} as const;

type Kind = keyof typeof KINDS;

const ALL_KINDS = Object.keys(KINDS) as Kind[];

const UNSERVED: Kind[] = ["not for models", "manual", "off", "broken"];

interface Written {
  plugin: string | undefined;
  dir: string;
  name: string;
  kind: Kind;
}

function arbitrarySkills(kinds: readonly Kind[]): fc.Arbitrary<Written[]> {
  const skill = fc.record({
    plugin: fc.constantFrom(...PLUGINS),
    dir: fc.constantFrom(...NAMES),
    name: fc.constantFrom(...NAMES),
    kind: fc.constantFrom(...kinds),
  });
  // Two directories whose names differ only in case are one on some disks.
  const selector = ({ plugin, dir }: Written) =>
    `${plugin}/${dir.toLowerCase()}`;
  return fc.uniqueArray(skill, { selector, maxLength: 5 });
}

type State = { in: string; state: "manual" | "off" };

/** Writes skills whose descriptions say whose they are, and returns the rules for them. */
function write(
  place: Place,
  base: string,
  owner: "Mine" | "Theirs",
  skills: readonly Written[],
): State[] {
  return skills.flatMap(({ plugin, dir, name, kind }, index) => {
    const { fields = "", lacks = "", state = undefined } = {
      ...KINDS[kind] as {
        fields?: string;
        lacks?: string;
        state?: State["state"];
      },
    };
    const text = skillMd(JSON.stringify(name), `${owner} ${index}.`, fields)
      .replace(`\n${lacks}:`, "\nabout:");
    const folder = plugin === undefined
      ? `${base}/skills`
      : `${base}/plugins/${plugin}/skills`;
    const path = place.skill(folder, dir, text);
    return state === undefined ? [] : [{ in: path, state }];
  });
}

/** Scans the skills of the user, and those of the project before them if there is one. */
async function open(
  { project, home }: Place,
  rules: State[],
  bases: readonly string[],
): Promise<SkillRegistry> {
  const roots = bases.flatMap((base) => [
    root(join(base, "skills")),
    root(join(base, "plugins"), { recursive: true }),
  ]);
  const registry = new SkillRegistry(roots, {
    workingDirectory: project,
    homeDirectory: home,
    policy: { rules },
    log: () => {},
  });
  await registry.refresh();
  return registry;
}

const HANDLERS = {
  ...TOOL_HANDLERS,
  ...PROMPT_HANDLERS,
  ...RESOURCE_HANDLERS,
  ...COMPLETION_HANDLERS,
  ...EXTENSION_HANDLERS,
};

type Method = keyof typeof HANDLERS;

/** Returns a function that sends requests in a toolset. */
function asker(registry: SkillRegistry, toolset: Toolset) {
  const context = contextOf(registry, { toolset });
  // deno-lint-ignore no-explicit-any -- results of all methods
  return async (method: Method, params: object = {}): Promise<any> =>
    await HANDLERS[method]!(params as never, context);
}

/** A skill of the user's in the list of a tool, with its name. */
const LISTED = /(?:<name>.*\n|"name".*\n|".*": \{\n)?.*Mine \d+/g;

/** Lists the user's skills in each view. */
async function listMine(registry: SkillRegistry, toolset: Toolset) {
  const ask = asker(registry, toolset);
  const { list } = TOOL_NAMES[toolset];
  const listTool = { name: list, arguments: {} };
  const listed = [
    ...(await ask("tools/list")).tools,
    // The other tools list skills in their descriptions.
    ...list === "skill" ? [] : (await ask("tools/call", listTool)).content,
  ];
  const texts = listed.map(({ description, text }) => description ?? text);
  const isMine = (entry: unknown) => JSON.stringify(entry).includes("Mine");
  const complete = async (ref: object) => {
    const argument = { name: "name", value: "" };
    const params = { ref, argument };
    return (await ask("completion/complete", params)).completion.values;
  };
  return {
    inTools: texts.join("\n").match(LISTED) ?? [],
    prompts: (await ask("prompts/list")).prompts.slice(1).filter(isMine),
    resources: (await ask("resources/list")).resources.filter(isMine),
    skills: (await ask("skills/list")).skills.filter(isMine),
    completions: [
      ...await complete({ type: "ref/prompt", name: "skill" }),
      ...await complete({ type: "ref/resource", uri: "skill://{name}" }),
    ] as string[],
  };
}

/** Returns whose skill a text loads in each view, if any. */
async function load(
  text: string,
  registry: SkillRegistry,
): Promise<Record<string, string>> {
  const owners: Record<string, string> = {};
  const use = async (
    viewer: Viewer,
    toolset: Toolset,
    method: Method,
    params: object,
  ) => {
    // An unknown name would begin a scan.
    if (registry.find(text, { viewer }) === undefined) return;
    const result = await asker(registry, toolset)(method, params);
    const [owner] = /(?:Mine|Theirs) \d+/.exec(JSON.stringify(result))!;
    owners[`${toolset} ${method}`] = owner;
  };
  for (const toolset of TOOLSET_NAMES) {
    await use("model", toolset, "tools/call", callFor(toolset, text));
  }
  const uri = skillUri(text, "SKILL.md");
  await use("host", "skill", "resources/read", { uri });
  await use("user", "skill", "prompts/get", { name: text });
  return owners;
}

/** Checks what each text loads in each view, except for some names. */
async function checkNames(
  before: SkillRegistry,
  after: SkillRegistry,
  except: readonly string[],
): Promise<void> {
  const changed = new Set(except.map(skillKey));
  for (const text of TEXTS) {
    if (changed.has(skillKey(text.replace("/", "")))) continue;
    const now = await load(text, after);
    for (const [view, owner] of Object.entries(await load(text, before))) {
      assert.equal(now[view], owner, `${view}: ${text}`);
    }
  }
}

/** Opens random skills of the user, without and with random ones of a project. */
async function compare(
  kinds: readonly Kind[],
  check: (
    before: SkillRegistry,
    after: SkillRegistry,
    theirs: readonly Written[],
  ) => Promise<void>,
): Promise<void> {
  const property = fc.asyncProperty(
    arbitrarySkills(ALL_KINDS),
    arbitrarySkills(kinds),
    async (mine, theirs) => {
      using place = new Place();
      const rules = [
        ...write(place, "home", "Mine", mine),
        ...write(place, "project", "Theirs", theirs),
      ];
      using before = await open(place, rules, [place.home]);
      using after = await open(place, rules, [place.project, place.home]);
      await check(before, after, theirs);
    },
  );
  await fc.assert(property, { numRuns: RUNS });
}

withNames.test("a project's skills that are not served change none of the user's names and lists", async () => {
  await compare(UNSERVED, async (before, after) => {
    await checkNames(before, after, []);
    for (const toolset of TOOLSET_NAMES) {
      const { completions, ...lists } = await listMine(before, toolset);
      const now = await listMine(after, toolset);
      assert.deepEqual({ ...now, completions: undefined }, {
        ...lists,
        completions: undefined,
      });
      const completed = new Set(now.completions);
      assert.deepEqual(completions.filter((it) => !completed.has(it)), []);
    }
  });
});

withNames.test("a project's skills that are served change only the names that they have", async () => {
  await compare(ALL_KINDS, async (before, after, theirs) => {
    const names = theirs.flatMap(({ name }) => [name, toPromptName(name)]);
    await checkNames(before, after, names);
    const served = ({ catalog }: SkillRegistry) =>
      [...catalog.served.values()].map(({ directory }) => directory);
    const now = served(after);
    assert.deepEqual(served(before).filter((it) => !now.includes(it)), []);
  });
});

withNames.test("each name in a list loads its skill, in any catalog", async () => {
  await compare(ALL_KINDS, (_before, { catalog }) => {
    for (const viewer of ["model", "user", "host"] as const) {
      for (const { name, skill } of listEntries(viewer, catalog)) {
        assert.equal(lookUp(name, viewer, catalog).skill, skill, name);
      }
    }
    return Promise.resolve();
  });
});
