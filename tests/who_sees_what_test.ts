// Every view agrees who sees a skill, and its files in the skill around it, as a table of its
// states and of the places of the two. If the policy is not valid, nobody sees any.
import assert from "node:assert/strict";
import type { CallToolResult } from "npm:@modelcontextprotocol/server@^2.4.0";
import { scanSkillRoots, type SkillPolicy, SkillRegistry } from "../mod.ts";
import { TOOLSET_NAMES } from "../src/features/toolsets/toolsets.ts";
import { join } from "../src/fs/paths.ts";
import { STATE_NAMES } from "../src/policy/states.ts";
import { TOOL_NAMES, type Toolset } from "../src/views/options.ts";
import { type Entry, pages, Session } from "./testing/client.ts";
import { LocalServer } from "./testing/local_server.ts";
import { needs } from "./testing/needs.ts";
import { Place, skillMd } from "./testing/place.ts";
import { root } from "./testing/registry.ts";
import { callFor, textOf, type ToolCall } from "./testing/tools.ts";

const withLinks = needs("links");

interface State {
  fields?: string;
  /** The condition of a rule, and the state that it gives. */
  rule?: (dir: string) => Record<string, string>;
  isBroken?: boolean;
  /** Who sees it: t in the tools, p in the prompts, r in the resources. */
  own: string;
  /** Who sees its files in the skill around it. */
  outer: string;
}

const STATES: Record<string, State> = {
  "on": { own: "tpr", outer: "tr" },
  "pinned": { rule: byName("pinned"), own: "tpr", outer: "tr" },
  "name-only": { rule: byName("name-only"), own: "tpr", outer: "tr" },
  "not for users": { fields: "user-invocable: false", own: "tr", outer: "tr" },
  "not for models": {
    fields: "disable-model-invocation: true",
    own: "pr",
    outer: "r",
  },
  "manual": { rule: byName("manual"), own: "pr", outer: "r" },
  "manual by folder": { rule: byDir("manual"), own: "pr", outer: "r" },
  "off": { rule: byName("off"), own: "", outer: "" },
  "off by folder": { rule: byDir("off"), own: "", outer: "" },
  "off by scope": { rule: byScope("off"), own: "", outer: "" },
  "off and broken": { rule: byName("off"), isBroken: true, own: "", outer: "" },
  "manual and broken": {
    rule: byDir("manual"),
    isBroken: true,
    own: "",
    outer: "r",
  },
};

function byName(state: string) {
  return () => ({ skill: "inner", state });
}

function byDir(state: string) {
  return (dir: string) => ({ in: dir, state });
}

/** Turns off a skill of the project by its scope, which the skill around it never has. */
function byScope(state: string) {
  return (dir: string) =>
    dir.includes("project") ? { scope: "project", state } : byDir(state)(dir);
}

/** An arrangement of the skills `outer` and `inner` in roots. */
interface Arrangement {
  /** The directory of `inner`, in that of the home directory or the project. */
  inner: string;
  /** The directory of `outer`, and the path in it of a file of `inner`, if there is one. */
  outer: string;
  shared?: string;
  /** Whether `inner` is no skill, except for a toolset that searches in skills. */
  isPart?: boolean;
  links?: Record<string, string>;
  args?: string[];
}

const SKILLS = "home/.claude/skills";

const ARRANGEMENTS: Record<string, Arrangement> = {
  "side by side": { inner: `${SKILLS}/inner`, outer: `${SKILLS}/outer` },
  "nested, the outer root first": {
    inner: `${SKILLS}/outer/inner`,
    outer: `${SKILLS}/outer`,
    shared: "inner/more.md",
    args: ["--skill-dir", SKILLS, "--skill-dir", `${SKILLS}/outer`],
  },
  "nested, only a part of the outer skill": {
    inner: `${SKILLS}/outer/inner`,
    outer: `${SKILLS}/outer`,
    shared: "inner/more.md",
    isPart: true,
    args: ["--skill-dir", SKILLS],
  },
  "nested, the inner root first": {
    inner: `${SKILLS}/outer/inner`,
    outer: `${SKILLS}/outer`,
    shared: "inner/more.md",
    args: [`${SKILLS}/outer`, SKILLS],
  },
  "nested in a linked root": {
    inner: "store/outer/inner",
    outer: "store/outer",
    shared: "inner/more.md",
    links: { [SKILLS]: "store" },
    args: ["--skill-dir", SKILLS, "--skill-dir", `${SKILLS}/outer`],
  },
  "linked into the outer skill": {
    inner: "home/.agent/skills/inner",
    outer: `${SKILLS}/outer`,
    shared: "peek/more.md",
    links: { [`${SKILLS}/outer/peek`]: "home/.agent/skills/inner" },
    args: ["--trust-links", "home/.agent/skills"],
  },
  "a folder of it linked into the outer skill": {
    inner: "home/.agent/skills/inner",
    outer: `${SKILLS}/outer`,
    shared: "peek/more.md",
    links: { [`${SKILLS}/outer/peek`]: "home/.agent/skills/inner/part" },
    args: ["--trust-links", "home/.agent/skills"],
  },
  "a file of it linked into the outer skill": {
    inner: "home/.agent/skills/inner",
    outer: `${SKILLS}/outer`,
    shared: "peek.md",
    links: { [`${SKILLS}/outer/peek.md`]: "home/.agent/skills/inner/more.md" },
    args: ["--trust-links", "home/.agent/skills"],
  },
  "in the project, linked into a trusting skill": {
    inner: "project/.claude/skills/inner",
    outer: `${SKILLS}/outer`,
    shared: "peek/more.md",
    links: { [`${SKILLS}/outer/peek`]: "project/.claude/skills/inner" },
    args: ["--trust-links", "project/.claude"],
  },
};

const OUTER_TEXT = "Text of the outer skill";
const INNER_TEXT = "Text of the inner skill";
const FILE_TEXT = "Text of a file of the inner skill";

/** Creates the skills, and returns a server of a toolset. */
async function serve(
  place: Place,
  { inner, outer, links = {}, args = [] }: Arrangement,
  { fields = "", rule, isBroken }: State,
  toolset: Toolset,
): Promise<LocalServer> {
  const at = (path: string) => join(place.path, path);
  place.file(`${outer}/SKILL.md`, skillMd("outer") + OUTER_TEXT);
  const text = isBroken
    ? "---\nname: inner\n---\n"
    : skillMd("inner", "About inner", fields && `${fields}\n`);
  place.file(`${inner}/SKILL.md`, text + INNER_TEXT);
  place.file(`${inner}/more.md`, FILE_TEXT);
  place.file(`${inner}/part/more.md`, FILE_TEXT);
  for (const [path, target] of Object.entries(links)) {
    place.link(at(target), path);
  }
  const rules = rule === undefined ? [] : [rule(at(inner))];
  const policy = place.file("policy.yaml", JSON.stringify({ rules }));
  const others = args.map((arg) => arg.includes("/") ? at(arg) : arg);
  return await LocalServer.open({
    ...place,
    args: ["--tools", toolset, "--policy", policy, ...others],
  });
}

/** Looks at a skill in each view of a server. */
class Viewer {
  constructor(
    readonly server: LocalServer,
    readonly toolset: Toolset,
  ) {}

  /** Returns which views show the skill `inner`, in the form of {@linkcode State.own}. */
  async seesInner(): Promise<string> {
    const uri = "skill://inner/more.md";
    const main = "skill://inner/SKILL.md";
    const load = callFor(this.toolset, "inner");
    const ref = { type: "ref/prompt", name: "skill" };
    const argument = { name: "name", value: "inn" };
    const views = {
      t: [
        /\binner\b/.test(await this.#listForModel()),
        (await this.#call(load)).includes(INNER_TEXT),
      ],
      p: [
        await this.#lists("prompts", "inner"),
        await this.#shows("prompts/get", { name: "inner" }, INNER_TEXT),
        await this.#shows("completion/complete", { ref, argument }, "inner"),
      ],
      r: [
        await this.#lists("resources", main),
        await this.#lists("skills", main),
        await this.#shows("skills/get", { uri: main }, uri),
        await this.#shows("resources/read", { uri }, FILE_TEXT),
      ],
    };
    return inAgreement(views);
  }

  /** Returns which views show a file of `inner` in the skill `outer`. */
  async seesInOuter(path: string): Promise<string> {
    const dir = path.includes("/") ? path.replace(/\/[^/]*$/, "") : "";
    const root = "skill://outer/";
    const entries: Entry[] = (await pages(this.server, "skills/list"))
      .flatMap(({ skills }) => skills);
    const outer = entries.find(({ uri }) => uri === `${root}SKILL.md`)!;
    const uri = root + path;
    return inAgreement({
      t: [
        (await this.#call(callFor(this.toolset, "outer", path)))
          .includes(FILE_TEXT),
        ...await this.#listsToModel(path),
      ],
      r: [
        await this.#shows("resources/read", { uri }, FILE_TEXT),
        await this.#shows("resources/read", { uri: root }, FILE_TEXT),
        await this.#shows("resources/directory/read", { uri: root + dir }, uri),
        outer.resources.some((resource) => resource.uri === uri),
      ],
    });
  }

  /** Returns whether the tool lists a file, if it lists files. */
  async #listsToModel(path: string): Promise<boolean[]> {
    if (this.toolset !== "skilljack") return [];
    const list = await this.#call(callFor(this.toolset, "outer", ""));
    return [list.includes(`- ${path}`)];
  }

  async #listForModel(): Promise<string> {
    const { list } = TOOL_NAMES[this.toolset];
    if (list !== "skill") {
      return await this.#call({ name: list, arguments: {} });
    }
    return JSON.stringify(await pages(this.server, "tools/list"));
  }

  async #call(call: ToolCall): Promise<string> {
    const { result } = await this.server.ask(0, "tools/call", call);
    return result.isError ? "" : result.content[0].text;
  }

  /** Whether a list has an entry with a name or a URI. */
  async #lists(list: string, id: string): Promise<boolean> {
    const entries = (await pages(this.server, `${list}/list`))
      .flatMap((page) => page[list]);
    return entries.some(({ name, uri }) => name === id || uri === id);
  }

  async #shows(method: string, params: object, text: string): Promise<boolean> {
    const { result } = await this.server.ask(0, method, params);
    return result !== undefined && JSON.stringify(result).includes(text);
  }
}

/** Returns the letters whose views show something, if all views of each letter agree. */
function inAgreement(views: Record<string, boolean[]>): string {
  return Object.entries(views).map(([letter, shown]) => {
    assert.equal(new Set(shown).size, 1, `${letter}: ${shown}`);
    return shown[0] ? letter : "";
  }).join("");
}

/** Checks who sees the skills in an arrangement. */
async function check(
  arrangement: Arrangement,
  state: State,
  toolset: Toolset,
): Promise<void> {
  using place = new Place();
  using server = await serve(place, arrangement, state, toolset);
  const viewer = new Viewer(server, toolset);
  const { shared, isPart } = arrangement;
  const own = isPart && toolset !== "agentskills" ? "" : state.own;
  assert.equal(await viewer.seesInner(), own);
  if (shared === undefined) return;
  assert.equal(await viewer.seesInOuter(shared), state.outer, "in outer");
}

Deno.test("the table of who sees what has each state of a policy", () => {
  const states = Object.entries(STATES)
    .map(([name, { rule }]) => rule?.("").state ?? name);
  const missing = STATE_NAMES.filter((state) => !states.includes(state));
  assert.deepEqual(missing, []);
});

const READS_FILES = TOOLSET_NAMES
  .filter((toolset) => TOOL_NAMES[toolset].read !== undefined);

for (const [title, arrangement] of Object.entries(ARRANGEMENTS)) {
  withLinks.test(`each state of a skill shows it to the right viewers: ${title}`, async (test) => {
    // The resources do not depend on the toolset.
    const toolsets = arrangement.shared ? READS_FILES : TOOLSET_NAMES;
    for (const [name, state] of Object.entries(STATES)) {
      for (const toolset of toolsets) {
        await test.step(
          `${name}, ${toolset}`,
          () => check(arrangement, state, toolset),
        );
      }
    }
  });
}

withLinks.test("a skill that cannot be read is off if a rule names its folder, or the real one", async () => {
  using place = new Place();
  place.link("nowhere", "store/dangling");
  const link = place.link("store", "skills");
  for (const dir of [link, join(place.path, "store")]) {
    const policy: SkillPolicy = { rules: [{ in: dir, state: "off" }] };
    const { diagnostics } = await scanSkillRoots([root(link)], { policy });
    assert.deepEqual(diagnostics, [], dir);
  }
});

withLinks.test("a skill whose SKILL.md is a link into a manual folder is hidden from the model", async () => {
  using place = new Place();
  place.skill("skills/outer", "inner");
  place.file("skills/outer/inner/main.md", skillMd("outer"));
  place.link("inner/main.md", "skills/outer/SKILL.md");
  const skills = root(join(place.path, "skills"), { recursive: true });
  using registry = new SkillRegistry([skills], {
    policy: { rules: [{ skill: "inner", state: "manual" }] },
    log: () => {},
  });
  const { skills: found } = await registry.refresh();
  assert.equal(found.get("outer")!.hiddenFrom, "model");
});

withLinks.test("a skill whose SKILL.md is a link into an off folder is off, whatever else links there", async () => {
  using place = new Place();
  const store = join(place.path, "store");
  place.file("store/first.md", skillMd("first"));
  place.file("store/second.md", skillMd("second"));
  place.file("store/SKILL.md", skillMd("store"));
  place.link("../../store/first.md", "skills/first/SKILL.md");
  place.link("../../store/second.md", "skills/second/SKILL.md");
  const skills = root(join(place.path, "skills"));
  const policy: SkillPolicy = {
    rules: [{ in: [join(skills.path, "first"), store], state: "off" }],
  };
  const { off } = await scanSkillRoots([skills], {
    policy,
    trustedDirs: [store],
  });
  assert.deepEqual(off.map(({ name }) => name), ["first", "second"]);
});

Deno.test("a server with an invalid policy serves nothing until it is fixed", async () => {
  using place = new Place();
  place.skill("project/.claude/skills", "theirs");
  place.skill("home/.claude/skills", "mine");
  const text = "rules: [{ scop: project, state: off }]";
  const policy = place.file("home/policy.yaml", text);
  const args = ["--policy", policy, "--refresh", "0"];
  await using session = await Session.open(place, { args });
  const line = await session.stderr.take(
    (line) => line.includes("policy"),
    "the line about the policy",
  );
  assert.match(
    line,
    /^skill-server: Cannot use the policy ".*policy\.yaml": rules\[0\]: Unrecognized key: "scop"; .*; until then, no skills are served$/,
  );
  assert.deepEqual(await session.names(), []);
  place.replace("home/policy.yaml", "rules: []");
  await session.listChanged();
  assert.deepEqual(await session.names(), ["mine", "theirs"]);
  place.replace("home/policy.yaml", "nothing");
  await session.stderr.take(
    (line) => line.includes("the last valid policy applies"),
    "the line about the policy",
  );
  assert.deepEqual(await session.names(), ["mine", "theirs"]);
});

Deno.test("if the policy is not valid, lists and tools say why there are no skills", async () => {
  using place = new Place();
  const policy = place.file("home/policy.yaml", "rules:\n  - { state: of }");
  const why = /^No skills are served, because the policy is not valid\..*$/m;
  const reason = /^Cannot use the policy .*: rules\[0\]\.state: /;
  for (const toolset of TOOLSET_NAMES) {
    const { list } = TOOL_NAMES[toolset];
    for (const isRemote of [true, false]) {
      const args = ["--tools", toolset, "--policy", policy];
      if (isRemote) args.push("--remote");
      using server = await LocalServer.open({ ...place, args });
      const call = async (call: ToolCall): Promise<CallToolResult> =>
        (await server.ask(0, "tools/call", call)).result;
      const { result } = await server.ask(0, "tools/list");
      if (toolset !== "agentskills") {
        assert.match(result.tools[0].description, why);
      }
      if (list !== "skill") {
        assert.match(textOf(await call({ name: list, arguments: {} })), why);
      }
      const loaded = await call(callFor(toolset, "git"));
      assert.match(textOf(loaded), isRemote ? why : reason);
      assert.equal(loaded.isError, true);
      assert.match(await server.instructions(), why);
    }
  }
});
