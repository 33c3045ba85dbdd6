// Temporary directories with skills.
import assert from "node:assert/strict";
import { attempt } from "../../src/attempt.ts";
import { join, resolve } from "../../src/fs/paths.ts";
import { isWindows, SEPARATOR } from "./environment.ts";

/** Returns the text of a `SKILL.md`. Each of the other fields ends with a line break. */
export function skillMd(
  name: string,
  description = `About ${name}`,
  others = "",
): string {
  const fields = `name: ${name}\ndescription: ${description}\n${others}`;
  return `---\n${fields}---\n\n# ${name}\n`;
}

/**
 * The directory of all places of a test file. Other files run at the same time, and no
 * snapshot of the directory for temporary files holds while places come and go in it.
 */
const PLACES = Deno.makeTempDirSync();
// A process of the last test may still be writing there.
addEventListener("unload", () => {
  attempt(() => Deno.removeSync(PLACES, { recursive: true }));
});

/** A temporary directory that contains a project directory and a home directory. */
export class Place implements Disposable {
  readonly path: string;
  readonly project: string;
  readonly home: string;
  socket: Disposable | undefined;

  constructor(dir: string = PLACES) {
    const path = Deno.makeTempDirSync({ dir });
    this.path = Deno.realPathSync(path);
    this.project = this.dir("project");
    this.home = this.dir("home");
  }

  dir(...names: string[]): string {
    const path = join(this.path, ...names);
    Deno.mkdirSync(path, { recursive: true });
    return path;
  }

  /** Writes a file, and creates its directory if necessary. */
  file(path: string, content: string | Uint8Array): string {
    const file = join(this.path, path);
    Deno.mkdirSync(join(file, ".."), { recursive: true });
    Deno.writeFileSync(
      file,
      typeof content === "string" ? new TextEncoder().encode(content) : content,
    );
    return file;
  }

  /** Writes a skill to `<directory>/<name>` and returns its directory. */
  skill(dir: string, name: string, text = skillMd(name)): string {
    return join(this.file(`${dir}/${name}/SKILL.md`, text), "..");
  }

  /** Replaces a file atomically. On Windows, that can fail while a server reads it. */
  replace(path: string, content: string): void {
    const draft = this.file("draft", content);
    const end = Date.now() + (isWindows ? 10_000 : 0);
    for (;;) {
      try {
        return Deno.renameSync(draft, join(this.path, path));
      } catch (error) {
        if (Date.now() >= end) throw error;
      }
    }
  }

  link(target: string, path: string): string {
    const link = join(this.path, path);
    const dir = this.dir(join(path, ".."));
    // Windows distinguishes links to directories from links to files, and accepts only
    // backslashes.
    const isDir = isDirectory(resolve(dir, target));
    Deno.symlinkSync(target.replaceAll("/", SEPARATOR), link, {
      type: isDir ? "dir" : "file",
    });
    return link;
  }

  remove(path: string): void {
    Deno.removeSync(join(this.path, path), { recursive: true });
  }

  [Symbol.dispose](): void {
    this.socket?.[Symbol.dispose]();
    Deno.removeSync(this.path, { recursive: true });
  }
}

/** Creates a place with a skill that has several files, and a skill that is hidden from models. */
export function filesPlace(): Place {
  const place = new Place();
  place.skill("home/.claude/skills", "git", skillMd("git", "Work with git"));
  place.file("home/.claude/skills/git/references/API.md", "# API");
  place.file("home/.claude/skills/git/references/deep/more.md", "# More");
  place.file("home/.claude/skills/git/logo.png", new Uint8Array([0x89, 0xff]));
  place.file("home/.claude/skills/git/.env", "secret");
  const flag = "disable-model-invocation: true\n";
  place.skill("home/.claude/skills", "hidden", skillMd("hidden", "d", flag));
  place.file("home/.claude/skills/hidden/a.md", "hidden");
  return place;
}

/** Whether a path points to a directory. */
export function isDirectory(path: string): boolean {
  return attempt(() => Deno.statSync(path).isDirectory) ?? false;
}

/** Runs a program and asserts that it succeeds. */
export function runSync(command: string, ...args: string[]): void {
  const { success } = new Deno.Command(command, { args }).outputSync();
  assert.ok(success, `${command} ${args.join(" ")}`);
}
