// A disk that changes at random: skills in roots and in each other, links, and a policy.
import {
  basename,
  dirname,
  join,
  relative,
  resolve,
} from "../../src/files/paths.ts";
import type { SkillState } from "../../mod.ts";
import { Place } from "../testing/folders.ts";
import type { Random } from "./random.ts";
import {
  type Entry,
  isLink,
  isWithin,
  listAll,
  locate,
  real,
} from "./reading.ts";

/** The names of folders. Skills also have other names. */
const NAMES = ["a", "b", "c", "d"];

/** Names of skills, two of which are also the names of scopes. */
export const SKILL_NAMES = [...NAMES, "A", "global", "project"];

/** The folders in a skill, some of which do not belong to it. */
const SUBFOLDERS = ["", "", "sub", ".hidden", "node_modules"];

const MAX_SKILLS = 10;

/** The maximum number of links that lead to a path. */
const MAX_LINKS = 40;

/** A disk that changes in steps. */
export interface ChangingDisk extends Disposable {
  readonly place: Place;
  readonly policy: string;
  /** What the steps did. */
  readonly log: readonly string[];
  change(): void;
}

/** A folder that contains a project, a home folder, and others. */
export class Disk implements ChangingDisk {
  readonly place = new Place();
  readonly project: string;
  readonly policy: string;
  /** The folders that are searched for skills, and the others in which skills are created. */
  roots: string[] = [];
  readonly #others: string[];
  readonly #random: Random;
  /** Everything in the place after the last change. */
  #entries: Entry[] = [];
  #count = 0;
  readonly log: string[] = [];

  constructor(random: Random) {
    this.#random = random;
    const { place } = this;
    const project = random.pick([
      "project",
      "home/code/project",
      "data/code/project",
    ]);
    this.project = place.folder(project);
    if (project.startsWith("data")) place.link("../data/code", "home/code");
    place.link(this.project, "linked");
    const policy = random.pick(["policy/policy.yaml", "home/policy.yaml"]);
    this.policy = place.file(policy, '{"rules":[]}');
    const folders = ["store", "store/skills", "other", "directory/skills"];
    this.#others = folders.map((path) => place.folder(path));
  }

  /** The folders that settings can name. */
  get configurable(): string[] {
    const folders = [
      "store",
      "directory",
      "other",
      "home/.claude",
      "home/.claude/skills",
    ];
    const others = ["linked", "linked/.claude", "home", ""];
    return [...folders, ...others].map((path) => join(this.place.path, path))
      .concat(this.project, join(this.project, ".claude"));
  }

  /** Changes something at random. */
  change(): void {
    if (this.log.length === 0) this.#entries = listAll(this.place.path);
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
      linkFolder: 8,
      linkRoot: 2,
      unlinkRoot: 3,
      forbid: 3,
      restore: 3,
      writePolicy: 12,
    });
    try {
      this.#note(`${operation} ${this[operation]()}`);
    } catch (error) {
      this.#note(`${operation}: ${(error as Error).message}`);
    }
    this.#removeLinksOut();
  }

  /** Removes the links that lead to other folders of this machine, as relative ones may after a move. */
  #removeLinksOut(): void {
    this.#entries = listAll(this.place.path).filter(({ path, isSymlink }) => {
      if (!isSymlink || this.#isInside(path)) return true;
      Deno.removeSync(path);
      this.#note(`remove ${path}, which leads out`);
      return false;
    });
  }

  #note(line: string): void {
    this.log.push(line.replaceAll(this.place.path, "").replaceAll("\n", "|"));
  }

  #skills(): string[] {
    return this.#entries.filter(({ path }) => /\/skill\.md$/i.test(path))
      .map(({ path }) => dirname(path))
      // To remove or move it would take away everything.
      .filter((path) => path !== this.place.path);
  }

  #skill(): string {
    const skills = this.#skills();
    if (skills.length === 0) throw new Error("there are no skills");
    return this.#random.pick(skills);
  }

  #folders(): string[] {
    return this.#entries.filter(({ isDirectory }) => isDirectory)
      .map(({ path }) => path);
  }

  #file(): string {
    const files = this.#entries.filter(({ isDirectory }) => !isDirectory);
    return this.#random.pick(files).path;
  }

  /** Picks a path for a new folder: in a root, in another folder, or in a skill. */
  #newPath(): string {
    const random = this.#random;
    const parent = random.chance(0.4) && this.#skills().length > 0
      ? join(this.#skill(), random.pick(SUBFOLDERS))
      : random.pick(random.chance(0.7) ? this.roots : this.#others);
    return join(parent, random.pick(NAMES));
  }

  /** Returns a text that no other file contains. */
  #token(): string {
    return `tok${++this.#count}`;
  }

  #mainOf(folder: string): string {
    const names = [...Deno.readDirSync(folder)].map(({ name }) => name);
    const main = ["SKILL.md", "skill.md"].find((name) => names.includes(name));
    return join(folder, main ?? "SKILL.md");
  }

  #writeMain(folder: string, edit = (text: string) => text): string {
    const random = this.#random;
    const name = random.chance(0.8)
      ? basename(folder)
      : random.pick(SKILL_NAMES);
    const model = random.chance(0.15) ? "disable-model-invocation: true\n" : "";
    const user = random.chance(0.15) ? "user-invocable: false\n" : "";
    const fields = `name: ${name}\ndescription: About ${name}\n${model}${user}`;
    const text = edit(`---\n${fields}---\n`);
    // Without its last line, the frontmatter would contain the token.
    const body = text.endsWith("---\n") ? this.#token() : "";
    const main = this.#mainOf(folder);
    Deno.writeTextFileSync(main, text + body);
    return `${folder} ${text}`;
  }

  /** Whether a path, which may not exist yet, leads to something in this place. */
  #isInside(path: string, links = MAX_LINKS): boolean {
    const place = real(path);
    if (place !== undefined) return isWithin(place, this.place.path);
    if (!isLink(path)) return this.#isInside(dirname(path), links);
    const target = resolve(dirname(locate(path)), Deno.readLinkSync(path));
    // A loop leads nowhere.
    return links === 0 || this.#isInside(target, links - 1);
  }

  #link(target: string, path: string): string {
    const text = this.#random.chance(0.5)
      ? target
      : relative(dirname(path), target) || ".";
    Deno.mkdirSync(dirname(path), { recursive: true });
    Deno.symlinkSync(text, path);
    return `${path} -> ${text}`;
  }

  create(): string {
    const folder = this.#newPath();
    Deno.mkdirSync(folder, { recursive: true });
    if (this.#random.chance(0.1)) {
      Deno.writeTextFileSync(join(folder, "skill.md"), "");
    }
    if (this.#random.chance(0.5)) {
      Deno.writeTextFileSync(
        join(folder, `${this.#token()}.md`),
        this.#token(),
      );
    }
    return this.#writeMain(folder);
  }

  /** Removes a skill, or anything below a folder of skills. */
  remove(): string {
    const folders = [...this.roots, ...this.#others];
    const inner = this.#entries.filter(({ path }) =>
      folders.includes(dirname(path))
    );
    const path = this.#random.chance(0.5) || inner.length === 0
      ? this.#skill()
      : this.#random.pick(inner).path;
    Deno.removeSync(path, { recursive: true });
    return path;
  }

  move(): string {
    const from = this.#skill();
    const to = this.#newPath();
    Deno.mkdirSync(dirname(to), { recursive: true });
    Deno.renameSync(from, to);
    return `${from} to ${to}`;
  }

  swap(): string {
    const [a, b] = [this.#skill(), this.#skill()];
    if (a.startsWith(b) || b.startsWith(a)) return "";
    const spare = join(this.place.path, "spare");
    Deno.renameSync(a, spare);
    Deno.renameSync(b, a);
    Deno.renameSync(spare, b);
    return `${a} and ${b}`;
  }

  edit(): string {
    return this.#writeMain(this.#skill());
  }

  breakMain(): string {
    const [from, to] = this.#random.pick(
      [[/---\n$/, ""], [/^description.*\n/m, ""]] as const,
    );
    return this.#writeMain(this.#skill(), (text) => text.replace(from, to));
  }

  removeMain(): string {
    const main = this.#mainOf(this.#skill());
    Deno.removeSync(main);
    return main;
  }

  linkMain(): string {
    const main = this.#mainOf(this.#skill());
    const target = this.#file();
    if (target === main) return "";
    Deno.removeSync(main);
    return this.#link(target, main);
  }

  addFile(): string {
    const folder = join(this.#skill(), this.#random.pick(SUBFOLDERS));
    Deno.mkdirSync(folder, { recursive: true });
    const file = join(folder, `${this.#token()}.md`);
    Deno.writeTextFileSync(file, this.#token());
    return file;
  }

  linkFile(): string {
    const name = `link${++this.#count}.md`;
    return this.#link(this.#file(), join(this.#skill(), name));
  }

  linkFolder(): string {
    const target = this.#random.chance(0.7)
      ? this.#skill()
      : this.#random.pick(this.#folders());
    return this.#link(target, this.#newPath());
  }

  /** Moves a root and leaves a link, or replaces a root with a link to another. */
  linkRoot(): string {
    const root = this.#random.pick(this.roots);
    const name = `root${++this.#count}`;
    const moved = join(this.#random.pick(this.#others), name);
    Deno.renameSync(root, moved);
    return this.#link(
      this.#random.chance(0.7) ? moved : this.#random.pick(this.roots),
      root,
    );
  }

  unlinkRoot(): string {
    const root = this.#random.pick(this.roots);
    if (Deno.lstatSync(root).isSymlink) Deno.removeSync(root);
    Deno.mkdirSync(root, { recursive: true });
    return root;
  }

  forbid(): string {
    const skill = this.#skill();
    const inner = listAll(skill).filter(({ isSymlink }) => !isSymlink);
    const path = this.#random.pick([skill, ...inner.map(({ path }) => path)]);
    Deno.chmodSync(path, 0);
    return path;
  }

  /** Makes everything readable again. */
  restore(folder = this.place.path): string {
    for (const { name, isDirectory, isSymlink } of Deno.readDirSync(folder)) {
      const path = join(folder, name);
      if (!isSymlink) Deno.chmodSync(path, 0o755);
      if (isDirectory) this.restore(path);
    }
    return "";
  }

  writePolicy(): string {
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
      ...random.chance(0.5) && { in: this.#ruleFolders() },
    }));
    const text = random.chance(0.1)
      ? "rules: [{ state: of }]"
      : JSON.stringify({ rules });
    Deno.writeTextFileSync(this.policy, text);
    return text;
  }

  #ruleFolders(): string | string[] {
    const random = this.#random;
    const { home, path } = this.place;
    const others = ["linked", "store", "home/code", "home/.claude"].map((
      name,
    ) => join(path, name));
    const folder = random.chance(0.5)
      ? random.pick([...this.#skills(), ...this.roots])
      : random.pick([this.project, ...others]);
    return random.pick([
      folder,
      `${folder}/**`,
      folder.startsWith(`${home}/`) ? `~${folder.slice(home.length)}` : folder,
      relative(dirname(this.policy), folder) || ".",
      [random.pick(this.roots), folder],
      [join(path, "nothing"), folder],
    ]);
  }

  [Symbol.dispose](): void {
    this.restore();
    this.place[Symbol.dispose]();
  }
}
