// Changes of a disk, drawn at random: skills in roots and in each other, links, and a
// policy.
import { attempt } from "../../src/attempt.ts";
import { basename, dirname, join, relative } from "../../src/fs/paths.ts";
import type { SkillState } from "../../mod.ts";
import type { Change, Disk, Step } from "./disk.ts";
import type { Random } from "./random.ts";
import { isLink } from "./reading.ts";

/** The names of directories. Skills also have other names. */
const NAMES = ["a", "b", "c", "d"];

/** Names of skills, two of which are also the names of scopes. */
export const SKILL_NAMES = [...NAMES, "A", "global", "project"];

/** The directories in a skill, some of which do not belong to it. */
const SUBDIRS = ["", "", "sub", ".hidden", "node_modules"];

/** Directories around skills, one of which counts for nothing. */
const GROUPS = ["b", "group", "old"];

const MAX_SKILLS = 10;

/** The directories in which skills are created, besides those that are searched. */
const OTHERS = ["store", "store/skills", "other", "directory/skills"];

/** Where the project and the policy lie, and how the disk with both is created. */
export interface Layout {
  readonly project: string;
  readonly policy: string;
  readonly creation: Change;
}

export function drawLayout({ place: { path } }: Disk, random: Random): Layout {
  const project = join(
    path,
    random.pick(["project", "home/code/project", "data/code/project"]),
  );
  const isLinked = project.startsWith(join(path, "data"));
  const policy = join(
    path,
    random.pick(["policy/policy.yaml", "home/policy.yaml"]),
  );
  const dirs = ["home", ...OTHERS].map((name) => join(path, name));
  const creation: Change = [
    ...[project, ...dirs].map((dir): Step => ["folder", dir]),
    ...isLinked
      ? [["link", join(path, "home/code"), "../data/code"] as const]
      : [],
    ["link", join(path, "linked"), project],
    ["write", policy, '{"rules":[]}'],
  ];
  return { project, policy, creation };
}

export function configurable({ place }: Disk, { project }: Layout): string[] {
  const dirs = [
    "store",
    "directory",
    "other",
    "home/.claude",
    "home/.claude/skills",
  ];
  const others = ["linked", "linked/.claude", "home", ""];
  return [...dirs, ...others].map((path) => join(place.path, path))
    .concat(project, join(project, ".claude"));
}

interface Scene {
  readonly disk: Disk;
  readonly layout: Layout;
  /** The directories that are searched for skills. */
  readonly roots: readonly string[];
}

/** Draws changes, each of which depends on what there is on the disk. */
export class Changes {
  readonly #random: Random;
  readonly #disk: Disk;
  readonly #layout: Layout;
  readonly #roots: readonly string[];
  readonly #others: readonly string[];
  #count = 0;

  constructor({ disk, layout, roots }: Scene, random: Random) {
    this.#random = random;
    this.#disk = disk;
    this.#layout = layout;
    this.#roots = roots;
    this.#others = OTHERS.map((name) => join(disk.place.path, name));
  }

  /** Draws a change. Without anything to change, it is empty. */
  draw(): Change {
    const isFull = this.#skills().length >= MAX_SKILLS;
    const operation = this.#random.weighted({
      create: isFull ? 0 : 20,
      remove: isFull ? 10 : 3,
      move: 8,
      swap: 3,
      edit: 8,
      breakMain: 4,
      removeMain: 2,
      linkMain: 3,
      addFile: 6,
      linkFile: 4,
      linkDir: 8,
      linkRoot: 2,
      unlinkRoot: 3,
      forbid: 3,
      restore: 3,
      writePolicy: 12,
    });
    return attempt(() => this[operation]()) ?? [];
  }

  #skills(): string[] {
    return this.#disk.entries.filter(({ path }) => /\/skill\.md$/i.test(path))
      .map(({ path }) => dirname(path))
      // To remove or move it would take away everything.
      .filter((path) => path !== this.#disk.place.path);
  }

  #skill(): string {
    const skills = this.#skills();
    if (skills.length === 0) throw new Error("there are no skills");
    return this.#random.pick(skills);
  }

  #dirs(): string[] {
    return this.#disk.entries.filter(({ isDirectory }) => isDirectory)
      .map(({ path }) => path);
  }

  #file(): string {
    const files = this.#disk.entries.filter(({ isDirectory }) => !isDirectory);
    return this.#random.pick(files).path;
  }

  /** Picks a path for a new directory: in a root, in another directory, or in a skill. */
  #newPath(): string {
    const random = this.#random;
    const parent = random.chance(0.4) && this.#skills().length > 0
      ? join(this.#skill(), random.pick(SUBDIRS))
      : random.pick(random.chance(0.7) ? this.#roots : this.#others);
    const group = random.chance(0.2) ? random.pick(GROUPS) : "";
    return join(parent, group, random.pick(NAMES));
  }

  /** Returns a text that no other file contains. */
  #token(): string {
    return `tok${++this.#count}`;
  }

  #mainOf(dir: string): string {
    const entries = attempt(() => [...Deno.readDirSync(dir)]) ?? [];
    const main = ["SKILL.md", "skill.md"]
      .find((it) => entries.some(({ name }) => name === it));
    return join(dir, main ?? "SKILL.md");
  }

  #writeMain(
    dir: string,
    { main = this.#mainOf(dir), edit = (text: string) => text } = {},
  ): Step {
    const random = this.#random;
    const name = random.chance(0.8) ? basename(dir) : random.pick(SKILL_NAMES);
    const model = random.chance(0.15) ? "disable-model-invocation: true\n" : "";
    const user = random.chance(0.15) ? "user-invocable: false\n" : "";
    const fields = `name: ${name}\ndescription: About ${name}\n${model}${user}`;
    const text = edit(`---\n${fields}---\n`);
    // Without its last line, the frontmatter would contain the token.
    const body = text.endsWith("---\n") ? this.#token() : "";
    return ["write", main, text + body];
  }

  #link(target: string, path: string): Step {
    const text = this.#random.chance(0.5)
      ? target
      : relative(dirname(path), target) || ".";
    return ["link", path, text];
  }

  create(): Change {
    const dir = this.#newPath();
    const steps: Step[] = [];
    let main = this.#mainOf(dir);
    if (this.#random.chance(0.1)) {
      const lower = join(dir, "skill.md");
      steps.push(["write", lower, ""]);
      if (!this.#disk.entries.some(({ path }) => path === main)) main = lower;
    }
    if (this.#random.chance(0.5)) {
      const name = `${this.#token()}.md`;
      steps.push(["write", join(dir, name), this.#token()]);
    }
    return [...steps, this.#writeMain(dir, { main })];
  }

  /** Removes a skill, or anything below a directory of skills. */
  remove(): Change {
    const dirs = [...this.#roots, ...this.#others];
    const inner = this.#disk.entries.filter(({ path }) =>
      dirs.includes(dirname(path))
    );
    const path = this.#random.chance(0.5) || inner.length === 0
      ? this.#skill()
      : this.#random.pick(inner).path;
    return [["remove", path]];
  }

  move(): Change {
    return [["move", this.#skill(), this.#newPath()]];
  }

  swap(): Change {
    const [a, b] = [this.#skill(), this.#skill()];
    if (a.startsWith(b) || b.startsWith(a)) return [];
    const spare = join(this.#disk.place.path, "spare");
    return [["move", a, spare], ["move", b, a], ["move", spare, b]];
  }

  edit(): Change {
    return [this.#writeMain(this.#skill())];
  }

  breakMain(): Change {
    const [from, to] = this.#random.pick(
      [[/---\n$/, ""], [/^description.*\n/m, ""]] as const,
    );
    const edit = (text: string) => text.replace(from, to);
    return [this.#writeMain(this.#skill(), { edit })];
  }

  removeMain(): Change {
    return [["remove", this.#mainOf(this.#skill())]];
  }

  linkMain(): Change {
    const main = this.#mainOf(this.#skill());
    const target = this.#file();
    return target === main ? [] : [["remove", main], this.#link(target, main)];
  }

  addFile(): Change {
    const dir = join(this.#skill(), this.#random.pick(SUBDIRS));
    const name = `${this.#token()}.md`;
    return [["write", join(dir, name), this.#token()]];
  }

  linkFile(): Change {
    const name = `link${++this.#count}.md`;
    return [this.#link(this.#file(), join(this.#skill(), name))];
  }

  linkDir(): Change {
    const target = this.#random.chance(0.7)
      ? this.#skill()
      : this.#random.pick(this.#dirs());
    return [this.#link(target, this.#newPath())];
  }

  /** Moves a root and leaves a link, or replaces a root with a link to another. */
  linkRoot(): Change {
    const root = this.#random.pick(this.#roots);
    const name = `root${++this.#count}`;
    const moved = join(this.#random.pick(this.#others), name);
    const target = this.#random.chance(0.7)
      ? moved
      : this.#random.pick(this.#roots);
    return [["move", root, moved], this.#link(target, root)];
  }

  unlinkRoot(): Change {
    const root = this.#random.pick(this.#roots);
    const steps: Change = [["folder", root]];
    return isLink(root) ? [["remove", root], ...steps] : steps;
  }

  forbid(): Change {
    const skill = this.#skill();
    const inner = this.#disk.list(skill).filter(({ isSymlink }) => !isSymlink);
    const path = this.#random.pick([skill, ...inner.map(({ path }) => path)]);
    return [["close", path]];
  }

  restore(): Change {
    return [["open"]];
  }

  writePolicy(): Change {
    const random = this.#random;
    const rules = Array.from({ length: 1 + random.below(4) }, () => ({
      state: random.weighted<SkillState>({
        off: 8,
        manual: 5,
        on: 4,
        pinned: 2,
        "name-only": 2,
      }),
      ...random.chance(0.5) &&
        { skill: random.pick([...NAMES, ["a", "b"], "a*", "*", "global"]) },
      ...random.chance(0.3) && { scope: random.pick(["project", "global"]) },
      ...random.chance(0.5) && { in: this.#ruleDirs() },
    }));
    const text = random.chance(0.1)
      ? "rules: [{ state: of }]"
      : JSON.stringify({ rules });
    return [["write", this.#layout.policy, text]];
  }

  #ruleDirs(): string | string[] {
    const random = this.#random;
    const { home, path } = this.#disk.place;
    const others = ["linked", "store", "home/code", "home/.claude"].map((
      name,
    ) => join(path, name));
    const dir = random.chance(0.5)
      ? random.pick([...this.#skills(), ...this.#roots])
      : random.pick([this.#layout.project, ...others]);
    return random.pick([
      dir,
      dir.startsWith(`${home}/`) ? `~${dir.slice(home.length)}` : dir,
      relative(dirname(this.#layout.policy), dir) || ".",
      [random.pick(this.#roots), dir],
      [join(path, "nothing"), dir],
    ]);
  }
}
