// Every view agrees whose skill has a name: as a table of a project's and the user's skill, in
// each order, state, and with each flag.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { STATE_NAMES } from "../src/policy/states.ts";
import { Session } from "./testing/client.ts";
import { LocalServer } from "./testing/local_server.ts";
import { Place, skillMd } from "./testing/place.ts";
import { printedReport } from "./testing/report.ts";

/** Whom a skill comes from. */
type Owner = "project" | "global";

/** What the frontmatter and the policy say about a skill. */
interface Kind {
  readonly flag?: string;
  readonly state?: string;
  /** Who sees it: t in the tools, p in the prompts, r in the resources. */
  readonly seen: string;
}

const KINDS: Readonly<Record<string, Kind | undefined>> = {
  "missing": undefined,
  "on": { seen: "tpr" },
  "pinned": { state: "pinned", seen: "tpr" },
  "name-only": { state: "name-only", seen: "tpr" },
  "manual": { state: "manual", seen: "pr" },
  "off": { state: "off", seen: "" },
  "not for models": { flag: "disable-model-invocation: true", seen: "pr" },
  "not for users": { flag: "user-invocable: false", seen: "tr" },
};

const DIRS: Readonly<Record<Owner, string>> = {
  project: "project/skills",
  global: "home/skills",
};

/** What each has, if it has such a skill. */
type Kinds = Readonly<Record<Owner, Kind | undefined>>;

/** Lists the owners by their right to the name. */
function ranked(kinds: Kinds, order: readonly Owner[]): Owner[] {
  const rank = (owner: Owner) =>
    kinds[owner]!.seen.includes("t") ? 0 : owner === "global" ? 1 : 2;
  return order.filter((owner) => kinds[owner] !== undefined)
    .toSorted((a, b) => rank(a) - rank(b));
}

function write(place: Place, kinds: Kinds): void {
  const rules = [];
  for (const owner of ["project", "global"] as const) {
    const kind = kinds[owner];
    if (kind === undefined) continue;
    const { flag, state } = kind;
    const text = skillMd("deploy", `Of ${owner}`)
      .replace("\n---\n", flag === undefined ? "\n---\n" : `\n${flag}\n---\n`);
    place.skill(DIRS[owner], "deploy", text);
    if (state !== undefined) rules.push({ scope: owner, state });
  }
  place.file("policy.yaml", JSON.stringify({ rules }));
}

function open(place: Place, order: readonly Owner[]): Promise<LocalServer> {
  const dirs = order.map((owner) => join(place.path, DIRS[owner]));
  const policy = join(place.path, "policy.yaml");
  const args = ["--policy", policy, ...dirs];
  return LocalServer.open({ ...place, args });
}

/** What clients are shown: whose skill answers to a name. */
type Answers = Record<string, string | undefined>;

const QUALIFIED = { project: "project:deploy", global: "global:deploy" };

const URIS = {
  project: "skill://project%3Adeploy/SKILL.md",
  global: "skill://global%3Adeploy/SKILL.md",
};

/** Asks for each name in each view. */
async function ask(server: LocalServer): Promise<Answers> {
  // deno-lint-ignore no-explicit-any -- results of all methods
  const request = async (method: string, params: object = {}): Promise<any> =>
    (await server.ask(0, method, params)).result;
  const ownerIn = (value: unknown) =>
    /Of (project|global)/.exec(JSON.stringify(value) ?? "")?.[1];
  const answers: Answers = {};
  for (const name of ["deploy", ...Object.values(QUALIFIED)]) {
    const call = { name: "skill", arguments: { name } };
    const result = await request("tools/call", call);
    answers[`tool ${name}`] = result.isError ? undefined : ownerIn(result);
    answers[`prompt ${name}`] = ownerIn(await request("prompts/get", { name }));
  }
  for (const uri of ["skill://deploy/SKILL.md", ...Object.values(URIS)]) {
    answers[uri] = ownerIn(await request("resources/read", { uri }));
  }
  const { skills } = await request("skills/list");
  const { resources } = await request("resources/list");
  const { prompts } = await request("prompts/list");
  for (const { uri, frontmatter } of skills) {
    answers[`listed ${uri}`] = ownerIn(frontmatter);
  }
  for (const { uri, description } of resources) {
    if (uri.endsWith(".md")) answers[`resource ${uri}`] = ownerIn(description);
  }
  for (const { name, description } of prompts.slice(1)) {
    answers[`listed prompt ${name}`] = ownerIn(description);
  }
  const { tools: [{ description }] } = await request("tools/list");
  const listed = [...description.matchAll(/<location>(.*)<\/location>/g)];
  const isListedByName = /^- (?:project:)?deploy$/m.test(description);
  answers["listed tools"] = isListedByName
    ? "by name"
    : listed.map(([, location]) => location).join();
  return answers;
}

function expect(kinds: Kinds, order: readonly Owner[]): Answers {
  const owners = ranked(kinds, order);
  const [holder] = owners;
  const answers: Answers = { "listed tools": "" };
  for (const owner of owners) {
    const { seen } = kinds[owner]!;
    // To each viewer, the name means the first skill that it sees.
    const answer = (view: string, letter: string) => {
      const isFirst = owner === owners.find((it) =>
        kinds[it]!.seen.includes(letter)
      );
      const names = isFirst ? ["deploy", QUALIFIED[owner]] : [QUALIFIED[owner]];
      for (const name of names) answers[`${view} ${name}`] = owner;
    };
    const isHolder = owner === holder;
    if (seen.includes("t")) answer("tool", "t");
    if (seen.includes("p")) {
      answer("prompt", "p");
      const name = isHolder ? "deploy" : QUALIFIED[owner];
      answers[`listed prompt ${name}`] = owner;
    }
    if (isHolder && seen.includes("t")) {
      const isByName = kinds[owner]!.state === "name-only";
      answers["listed tools"] = isByName ? "by name" : owner;
    }
    if (!seen.includes("r")) continue;
    const uri = isHolder ? "skill://deploy/SKILL.md" : URIS[owner];
    answers[`listed ${uri}`] = owner;
    answers[`resource ${uri}`] = owner;
    answers[uri] = owner;
    // A scope in a URI means the first skill of that scope, too.
    answers[URIS[owner]] = owner;
  }
  return answers;
}

/** Returns the answers that there are, in order. */
function known(answers: Answers): [string, string | undefined][] {
  return Object.entries(answers).filter(([, owner]) => owner !== undefined)
    .sort(([a], [b]) => a < b ? -1 : 1);
}

Deno.test("the table of kinds has each state of a policy", () => {
  assert.deepEqual(STATE_NAMES.filter((state) => !(state in KINDS)), []);
});

/** Checks whose skill has the name, in each view. */
async function checkName(
  kinds: Kinds,
  order: readonly Owner[],
): Promise<void> {
  using place = new Place();
  write(place, kinds);
  using server = await open(place, order);
  const served = (kind?: Kind) => kind?.seen === "" ? undefined : kind;
  const { project, global } = kinds;
  const expected = { project: served(project), global: served(global) };
  assert.deepEqual(known(await ask(server)), known(expect(expected, order)));
}

const ORDERS: Owner[][] = [["project", "global"], ["global", "project"]];

for (const order of ORDERS) {
  Deno.test(`each view agrees whose skill has a name, with the ${order[0]} first`, async (test) => {
    for (const [projectKind, project] of Object.entries(KINDS)) {
      for (const [globalKind, global] of Object.entries(KINDS)) {
        await test.step(
          `project: ${projectKind}, global: ${globalKind}`,
          () => checkName({ project, global }, order),
        );
      }
    }
  });
}

Deno.test("every view serves a skill by the name of its plugin", async () => {
  using place = new Place();
  place.skill("home/plugins/a/skills", "pdf", skillMd("pdf", "Of a"));
  place.skill("home/plugins/b/skills", "pdf", skillMd("pdf", "Of b"));
  place.skill("home/plugins/b/skills/pdf", "more");
  place.file("home/plugins/b/skills/pdf/notes.md", "Notes");
  place.skill("home/plugins/c/more", "pdf", skillMd("pdf", "Of none"));
  const args = ["--skill-dir", join(place.home, "plugins")];
  await using session = await Session.open(place, { args });
  const { client } = session;
  assert.match((await session.load("b:pdf")).text, /Of b/);
  const { resources } = await client.listResources();
  const uris = resources.map(({ uri }) => uri);
  assert.ok(uris.includes("skill://b%3Apdf/SKILL.md"), uris.join(" "));
  const uri = "skill://b%3Apdf/notes.md";
  const { contents: [notes] } = await client.readResource({ uri });
  assert.deepEqual(notes, { uri, mimeType: "text/markdown", text: "Notes" });
  const prompt = await client.getPrompt({ name: "b:pdf" });
  assert.match(JSON.stringify(prompt), /Of b/);
  const { text } = await printedReport(place, "--list", ...args);
  assert.match(text, /b:pdf .* in b\/skills\/pdf; shadowed by /);
  assert.match(
    text,
    /c\/more\/pdf; shadowed by [^:]*: it is in no list, so change the name/,
  );
});
