// Who sees a skill, and its files in the skill around it, as a table: in each state,
// and in each arrangement of the two. Each view agrees.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { STATE_NAMES } from "../src/policy/states.ts";
import { TOOLSET_NAMES } from "../src/mcp/toolsets/toolsets.ts";
import { Place, skillMd } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { Observer } from "./walk/observer.ts";
import { LocalServer } from "./walk/servers.ts";
import { READS_FILES, type Shown, type View } from "./walk/view.ts";

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

/** Only what lies in the project is off, and the skill around `inner` never does. */
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
  links?: Record<string, string>;
  args?: string[];
}

const SKILLS = "home/.claude/skills";

const ARRANGEMENTS: Record<string, Arrangement> = {
  "side by side": { inner: `${SKILLS}/inner`, outer: `${SKILLS}/outer` },
  "nested, found by the same root": {
    inner: `${SKILLS}/outer/deep/inner`,
    outer: `${SKILLS}/outer`,
    shared: "deep/inner/more.md",
    args: ["home/nothing", "--skill-dir", SKILLS],
  },
  "nested, the outer root first": {
    inner: `${SKILLS}/outer/inner`,
    outer: `${SKILLS}/outer`,
    shared: "inner/more.md",
    args: ["--skill-dir", SKILLS],
  },
  "nested, the inner root first": {
    inner: `${SKILLS}/outer/inner`,
    outer: `${SKILLS}/outer`,
    shared: "inner/more.md",
    args: [`${SKILLS}/outer`, SKILLS],
  },
  "nested, linked from another root": {
    inner: "store/outer/inner",
    outer: "store/outer",
    shared: "inner/more.md",
    links: {
      [`${SKILLS}/outer`]: "store/outer",
      "home/.agent/skills/inner": "store/outer/inner",
    },
  },
  "nested in a linked root": {
    inner: "store/outer/inner",
    outer: "store/outer",
    shared: "inner/more.md",
    links: { [SKILLS]: "store" },
    args: ["--skill-dir", SKILLS],
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

/** Creates the skills, and returns a server of a toolset. */
async function serve(
  place: Place,
  { inner, outer, links = {}, args = [] }: Arrangement,
  { fields = "", rule, isBroken }: State,
  toolset: string,
): Promise<LocalServer> {
  const at = (path: string) => join(place.path, path);
  place.file(`${outer}/SKILL.md`, `${skillMd("outer")}tok1`);
  const text = isBroken
    ? "---\nname: inner\n---\n"
    : skillMd("inner").replace("\n---\n", `\n${fields}\n---\n`);
  place.file(`${inner}/SKILL.md`, `${text}tok2`);
  place.file(`${inner}/more.md`, "tok3");
  place.file(`${inner}/part/more.md`, "tok3");
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

/** Returns who sees the skill `inner`: t in the tools, p in the prompts, r in the resources. */
function seesOwn({ skills, tools, prompts, completions }: View): string {
  const shown = skills.map((text): Shown => JSON.parse(text))
    .find(({ name }) => name === "inner");
  const { files, tool, prompt, entry } = shown ?? {};
  // Everything that shows a skill to someone agrees.
  assert.equal(tools.includes("inner"), tool === "tok2");
  assert.equal(prompts.includes("inner"), prompt === "tok2");
  assert.equal(completions.includes("inner"), prompt === "tok2");
  assert.equal(entry !== undefined, files !== undefined);
  return [tool && "t", prompt && "p", files?.["more.md"] && "r"].join("");
}

/** Returns who sees the files of `inner` in the skill `outer`. */
function seesInOuter({ skills }: View, file: string): string {
  const { files, toolFiles, entry, together } = skills
    .map((text): Shown => JSON.parse(text))
    .find(({ name }) => name === "outer")!;
  const isListed = files[file] === "tok3";
  assert.equal(entry![file] !== undefined, isListed);
  assert.equal(together!.includes("tok3"), isListed);
  return [toolFiles?.[file] && "t", isListed && "r"].filter(Boolean).join("");
}

/** Checks who sees the skills in an arrangement, over one of the connections. */
async function check(
  arrangement: Arrangement,
  [state, toolset, turn]: [State, string, number],
): Promise<void> {
  using place = new Place();
  using server = await serve(place, arrangement, state, toolset);
  const connections = Object.values(server.asks);
  const ask = connections[turn % connections.length]!;
  const { shared = "" } = arrangement;
  const paths = [shared, shared.replace(/more\.md$/, "SKILL.md")];
  const view = await new Observer(ask, toolset).look({ names: [], paths });
  assert.equal(seesOwn(view), state.own);
  if (shared === "") return;
  assert.equal(seesInOuter(view, shared), state.outer, "in the outer skill");
}

Deno.test("the table of who sees what has each state of a policy", () => {
  const states = Object.entries(STATES)
    .map(([name, { rule }]) => rule?.("").state ?? name);
  const missing = STATE_NAMES.filter((state) => !states.includes(state));
  assert.deepEqual(missing, []);
});

for (const [title, arrangement] of Object.entries(ARRANGEMENTS)) {
  Deno.test({
    name: `each state of a skill shows it to the right viewers: ${title}`,
    ignore: lacks("links"),
    fn: async (test) => {
      // What the resources show does not depend on the toolset.
      const toolsets = arrangement.shared ? READS_FILES : TOOLSET_NAMES;
      let turn = 0;
      for (const [name, state] of Object.entries(STATES)) {
        turn++;
        for (const toolset of toolsets) {
          await test.step(
            `${name}, ${toolset}`,
            () => check(arrangement, [state, toolset, turn++]),
          );
        }
      }
    },
  });
}
