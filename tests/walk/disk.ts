// The disk of a walk, and what changes it: steps that are data, so that they can be
// repeated.
import { dirname, join, resolve } from "../../src/fs/paths.ts";
import { Place } from "../testing/folders.ts";
import { isLink, isWithin, list, locate, real } from "./reading.ts";

/**
 * One operation on the disk: what to do with the entry at an absolute path. What is
 * written, linked, or moved gets a directory.
 */
export type Step =
  | readonly ["folder" | "remove" | "close", path: string]
  | readonly ["write", path: string, text: string]
  | readonly ["link", path: string, target: string]
  | readonly ["move", path: string, to: string]
  | readonly ["open"];

/** A change of the disk. After a step that fails, there are no others. */
export type Change = readonly Step[];

export type Entry = Pick<Deno.DirEntry, "isDirectory" | "isSymlink"> & {
  readonly path: string;
};

/** The maximum number of links that lead to a path. */
const MAX_LINKS = 40;

/** An empty directory, and all that is created in it. */
export class Disk implements Disposable {
  readonly place = new Place();
  readonly changes: Change[] = [];
  /** Everything in the place after the last change. */
  entries: readonly Entry[] = [];

  constructor() {
    for (const name of ["project", "home"]) this.place.remove(name);
  }

  /** Makes a change, and removes the links that lead out of the place then, as relative ones may after a move. */
  change(change: Change): void {
    this.changes.push(change);
    try {
      for (const step of change) this.#take(step);
    } catch {
      // What is left of it is a change as well.
    }
    this.entries = this.list().filter(({ path, isSymlink }) => {
      const leadsOut = isSymlink && !this.#isInside(path);
      if (leadsOut) Deno.removeSync(path);
      return !leadsOut;
    });
  }

  #take([what, path = this.place.path, value = ""]: Step): void {
    const dir = dirname(what === "move" ? value : path);
    if (["write", "link", "move"].includes(what)) {
      Deno.mkdirSync(dir, { recursive: true });
    }
    switch (what) {
      case "folder":
        return Deno.mkdirSync(path, { recursive: true });
      case "write":
        return Deno.writeTextFileSync(path, value);
      case "link":
        return Deno.symlinkSync(value, path);
      case "move":
        return Deno.renameSync(path, value);
      case "remove":
        return Deno.removeSync(path, { recursive: true });
      case "close":
        return Deno.chmodSync(path, 0);
      case "open":
        return this.#open(path);
    }
  }

  #open(dir: string): void {
    for (const { name, isDirectory, isSymlink } of Deno.readDirSync(dir)) {
      const path = join(dir, name);
      if (!isSymlink) Deno.chmodSync(path, 0o755);
      if (isDirectory) this.#open(path);
    }
  }

  /** Lists everything in a directory, without following links. */
  list(dir = this.place.path): Entry[] {
    return list(dir).flatMap((entry) => {
      const path = join(dir, entry.name);
      return [{ ...entry, path }, ...entry.isDirectory ? this.list(path) : []];
    });
  }

  /** Returns the change that creates everything that there is, and opens what is closed. */
  capture(): Change {
    const closed = this.entries.filter(({ path, isSymlink }) =>
      !isSymlink && (Deno.lstatSync(path).mode! & 0o777) === 0
    );
    this.#open(this.place.path);
    const created = this.list().map(({ path, isDirectory, isSymlink }): Step =>
      isSymlink
        ? ["link", path, Deno.readLinkSync(path)]
        : isDirectory
        ? ["folder", path]
        : ["write", path, Deno.readTextFileSync(path)]
    );
    // Nothing can be closed in what is closed.
    const closing = closed.toReversed().map((
      { path },
    ): Step => ["close", path]);
    return [...created, ...closing];
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

  [Symbol.dispose](): void {
    this.#open(this.place.path);
    this.place[Symbol.dispose]();
  }
}
