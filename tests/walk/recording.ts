// Recorded walks: what each step changes on the disk, by whatever operation. They stay
// the same when the random ones change.
import { join } from "../../src/files/paths.ts";
import { Place } from "../testing/folders.ts";
import type { ChangingDisk } from "./disk.ts";
import { list } from "./reading.ts";
import type { Course, Start } from "./start.ts";
import type { WalkMode } from "./walk.ts";

/** A link, a file, or else a folder. */
interface Entry {
  readonly link?: string;
  readonly text?: string;
  /** Whether nobody may read it. */
  readonly isForbidden?: true;
}

/** Entries by their paths in a place. */
type Snapshot = Record<string, Entry>;

/** Folders come before what they contain. What a step removes is null. */
type Diff = Record<string, Entry | null>;

/** A walk as JSON, in which `@` stands for the path of the place without its first slash. */
interface Recording {
  readonly mode: WalkMode;
  readonly policy: string;
  readonly start: Start;
  /** What the setup creates, and what each step changes. */
  readonly steps: readonly Diff[];
}

/** Takes the steps of a walk, and returns the line that records them. */
export function record(
  { disk, start }: Course,
  mode: WalkMode,
  count: number,
): string {
  using _disk = disk;
  const { path } = disk.place;
  let last = readSnapshot(path);
  const steps: Diff[] = [last];
  while (steps.length <= count) {
    disk.change();
    steps.push(compare(last, last = readSnapshot(path)));
  }
  const recording: Recording = { mode, policy: disk.policy, start, steps };
  return `${JSON.stringify(recording).replaceAll(path.slice(1), "@")}\n`;
}

function readSnapshot(folder: string, prefix = ""): Snapshot {
  const snapshot: Snapshot = {};
  for (const { name, isDirectory, isSymlink } of list(folder)) {
    const path = join(folder, name);
    const key = `${prefix}${name}`;
    if (isSymlink) {
      snapshot[key] = { link: Deno.readLinkSync(path) };
      continue;
    }
    const isForbidden = (Deno.lstatSync(path).mode! & 0o777) === 0;
    if (isForbidden) Deno.chmodSync(path, 0o755);
    snapshot[key] = {
      ...!isDirectory && { text: Deno.readTextFileSync(path) },
      ...isForbidden && { isForbidden },
    };
    if (isDirectory) Object.assign(snapshot, readSnapshot(path, `${key}/`));
    if (isForbidden) Deno.chmodSync(path, 0);
  }
  return snapshot;
}

function compare(before: Snapshot, after: Snapshot): Diff {
  const removed = Object.keys(before).filter((path) => !(path in after));
  const changed = Object.entries(after).filter(([path, entry]) =>
    JSON.stringify(entry) !== JSON.stringify(before[path])
  );
  return Object.fromEntries([
    ...removed.map((path) => [path, null]),
    ...changed,
  ]);
}

/** The disk of a recorded walk. */
export class RecordedDisk implements ChangingDisk {
  readonly place = new Place();
  readonly log: string[] = [];
  readonly policy: string;
  readonly start: Start;
  readonly mode: WalkMode;
  /** The steps that are left. */
  readonly steps: Diff[];
  readonly #snapshot = readSnapshot(this.place.path);

  constructor(line: string) {
    const text = line.replaceAll("@", this.place.path.slice(1));
    const { policy, start, mode, steps }: Recording = JSON.parse(text);
    this.policy = policy;
    this.start = start;
    this.mode = mode;
    this.steps = [...steps];
    this.change();
  }

  change(): void {
    const diff = this.steps.shift()!;
    this.log.push(JSON.stringify(diff));
    this.#chmodForbidden(0o755);
    for (const path of this.#paths().reverse()) {
      if (path in diff) this.#makeWay(path, diff[path]!);
    }
    for (const [path, entry] of Object.entries(diff)) {
      if (entry) this.#write(path, entry);
    }
    this.#chmodForbidden(0);
  }

  /** The paths on the disk. Folders come before what they contain. */
  #paths(): string[] {
    return Object.keys(this.#snapshot).sort();
  }

  /** Removes an entry that does not stay a folder, or a file. */
  #makeWay(path: string, next: Entry | null): void {
    const kinds = [this.#snapshot[path]!, next].map((entry) =>
      entry && (entry.link ?? typeof entry.text)
    );
    if (kinds[0] === kinds[1]) return;
    Deno.removeSync(join(this.place.path, path));
    delete this.#snapshot[path];
  }

  #write(name: string, entry: Entry): void {
    const path = join(this.place.path, name);
    const { link, text } = entry;
    if (link !== undefined) Deno.symlinkSync(link, path);
    else if (text !== undefined) Deno.writeTextFileSync(path, text);
    else Deno.mkdirSync(path, { recursive: true });
    this.#snapshot[name] = entry;
  }

  #chmodForbidden(mode: number): void {
    const paths = this.#paths()
      .filter((path) => this.#snapshot[path]!.isForbidden);
    // What a forbidden folder contains is out of reach.
    for (const path of mode === 0 ? paths.reverse() : paths) {
      Deno.chmodSync(join(this.place.path, path), mode);
    }
  }

  [Symbol.dispose](): void {
    this.#chmodForbidden(0o755);
    this.place[Symbol.dispose]();
  }
}
