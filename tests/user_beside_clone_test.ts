// Beside any clone, the user's own skills stay what they are. There is no model here:
// what a server shows with an empty project is compared with what it shows with a
// clone.
import assert from "node:assert/strict";
import { join } from "../src/fs/paths.ts";
import { isForModel } from "../src/policy/states.ts";
import { skillMdUri } from "../src/skills/names.ts";
import { Place } from "./testing/folders.ts";
import { lacks } from "./testing/needs.ts";
import { Random } from "./walk/random.ts";
import { LocalServer } from "./walk/servers.ts";

/** Names that are, or look like, forms of each other. */
const NAMES = [
  "git",
  "GIT",
  "git ",
  "\u2800git",
  "x\u200bgit",
  "git/SKILL.md",
  "%67it",
  "global:git",
  "project:git",
  "global/git",
  "global",
  "project",
  "skill",
  "R&D",
  "R&amp;D",
  "<name>",
  "&lt;name&gt;",
  "é",
  "e\u0301",
  "..",
  "a/b",
  "a".repeat(300),
  `${"a".repeat(299)}b`,
  "__proto__",
  "constructor",
];

const FLAGS: readonly string[] = [
  "",
  "",
  "disable-model-invocation: true",
  "user-invocable: false",
  "disable_model_invocation: yes",
  "Disable-Model-Invocaton: false",
];

const DIRS = [".agent/skills", ".claude/skills"];

/** Writes random skills, each with a text that no other one has. */
class Writer {
  readonly #place: Place;
  readonly #random: Random;
  #count = 0;

  constructor(place: Place, random: Random) {
    this.#place = place;
    this.#random = random;
  }

  skill(dir: string): void {
    const name = JSON.stringify(this.#random.pick(NAMES));
    const text = `Text ${++this.#count} of ${dir}`;
    const lines = [`name: ${name}`, `description: ${text}`];
    const flag = this.#random.pick(FLAGS);
    const fields = [...lines, flag].filter((line) => line !== "").join("\n");
    const file = `${dir}/SKILL.md`;
    this.#place.file(file, `---\n${fields}\n---\n${text}\n`);
  }

  /** Writes the user's skills, some of them with a skill and a file in them. */
  home(): string[] {
    return [1, 2, 3, 4, 5].map((number) => {
      const dir = `home/${this.#random.pick(DIRS)}/${number}`;
      this.skill(dir);
      if (this.#random.chance(0.6)) this.skill(`${dir}/inner`);
      this.#place.file(`${dir}/inner/file.md`, `File of ${dir}`);
      return dir;
    });
  }

  clone(mine: readonly string[]): void {
    const { path, home } = this.#place;
    const random = this.#random;
    for (let number = 1; number <= 6; number++) {
      const dir = `project/${random.pick(DIRS)}/${number}`;
      const target = join(path, random.pick(mine));
      if (random.chance(0.5)) this.skill(dir);
      else if (random.chance(0.3)) {
        this.#place.link(join(target, "SKILL.md"), `${dir}/SKILL.md`);
      } else {
        const others = [target, join(target, "inner"), home];
        this.#place.link(random.pick(others), dir);
      }
    }
    if (random.chance(0.2)) {
      const skills = join(home, random.pick(DIRS));
      this.#place.link(skills, "project/.agents/skills");
    }
  }
}

/** Returns what a server shows of each skill of the user's, by its directory. */
async function viewOfUser(
  server: LocalServer,
): Promise<Record<string, unknown>> {
  const read = async (uri: string) =>
    (await server.ask(0, "resources/read", { uri })).result?.contents
      .map(({ text }: { text: string }) => text);
  const view: Record<string, unknown> = {};
  for (const skill of server.registry.catalog.served.values()) {
    if (skill.scope !== "global") continue;
    const uri = skillMdUri(skill);
    const files = await read(uri.slice(0, -"SKILL.md".length));
    view[skill.realDirectory] = [await read(uri), files];
  }
  return view;
}

/** Asserts that each name in the list of the tool loads the skill that it stands for. */
async function assertLoadable(server: LocalServer): Promise<void> {
  const { result } = await server.ask(0, "tools/list");
  const entries = result.tools[0].description.matchAll(
    /<name>(.*)<\/name>\n<description>(.*)<\/description>/g,
  );
  for (const [, name, description] of entries) {
    const call = { name: "skill", arguments: { name } };
    const { result } = await server.ask(0, "tools/call", call);
    assert.ok(result.content[0].text.includes(`\n${description}\n`), name);
  }
}

Deno.test(
  "beside any clone, the user's skills have the same files, and no hidden skill has their names",
  { ignore: lacks("links", "names") },
  async () => {
    const start = Number(Deno.env.get("BESIDE") ?? 1);
    for (let seed = start; seed < start + 60; seed++) {
      using place = new Place();
      const random = new Random(seed);
      const writer = new Writer(place, random);
      const mine = writer.home();
      const args = ["--agents"];
      using alone = await LocalServer.open({ ...place, args });
      writer.clone(mine);
      using beside = await LocalServer.open({ ...place, args });
      const title = `BESIDE=${seed}`;
      assert.deepEqual(
        await viewOfUser(beside),
        await viewOfUser(alone),
        title,
      );
      await assertLoadable(alone);
      await assertLoadable(beside);
      for (const { skill, by } of beside.registry.catalog.shadowed) {
        const isKept = isForModel(by) || !isForModel(skill);
        const isShadowedByProject = skill.scope === "global" &&
          by.scope === "project";
        assert.ok(isKept || !isShadowedByProject, title);
      }
    }
  },
);
