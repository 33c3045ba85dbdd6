/**
 * Tracks the files of skills, from one scan to the next.
 *
 * @module
 */

import { SKILL_MD } from "../files/paths.ts";
import { TimeSlice } from "../time_slice.ts";
import { differingKeys } from "./catalog.ts";
import type { SkillFiles } from "./skill_files.ts";
import type { SkillCatalog } from "./types.ts";

/** The state of a skill's files. */
interface TrackedFiles {
  /** The versions of the files, by path. */
  readonly versions: ReadonlyMap<string, string>;
  /** The real paths of the folders that contain them. */
  readonly folders: readonly string[];
}

/** Knows whose files are tracked, and what their versions were. */
export class FileTracker {
  readonly #files: SkillFiles;
  /**
   * The number of callers that track the files of each skill, and the first refresh
   * that lists them, by key. The key `undefined` stands for all skills.
   */
  readonly #tracked = new Map<
    string | undefined,
    { count: number; readonly begun: Promise<unknown> }
  >();
  #known: ReadonlyMap<string, TrackedFiles> = new Map();

  /** Creates a tracker that tracks nothing yet. */
  constructor(files: SkillFiles) {
    this.#files = files;
  }

  /** The real paths of the folders that contain tracked files. */
  get folders(): string[] {
    return [...this.#known.values()].flatMap(({ folders }) => folders);
  }

  /**
   * Tracks the files of a skill, or of all skills.
   *
   * @param key The key of the skill, or `undefined` for all skills.
   * @param refresh Lists the files for the first time.
   * @returns A function that stops tracking.
   */
  async track(
    key: string | undefined,
    refresh: () => Promise<unknown>,
  ): Promise<() => void> {
    const tracking = this.#tracked.get(key) ?? { count: 0, begun: refresh() };
    this.#tracked.set(key, tracking);
    tracking.count++;
    let isTracked = true;
    const end = () => {
      if (isTracked && --tracking.count === 0) this.#tracked.delete(key);
      isTracked = false;
    };
    await tracking.begun.catch((error) => {
      end();
      throw error;
    });
    return end;
  }

  /**
   * Lists the tracked files again. Returns the paths of those that changed, by
   * skill, without skills that were not tracked before.
   */
  async update(catalog: SkillCatalog): Promise<Map<string, Set<string>>> {
    const before = this.#known;
    this.#known = await this.#list(catalog);
    const changed = new Map<string, Set<string>>();
    for (const [key, { versions }] of this.#known) {
      const old = before.get(key)?.versions ?? versions;
      const paths = differingKeys(versions, old);
      if (paths.size > 0) changed.set(key, paths);
    }
    return changed;
  }

  async #list(
    { served: skills }: SkillCatalog,
  ): Promise<Map<string, TrackedFiles>> {
    const listed = new Map<string, TrackedFiles>();
    const keys = this.#tracked.has(undefined)
      ? skills.keys()
      : this.#tracked.keys();
    const slice = new TimeSlice();
    for (const key of keys) {
      const skill = skills.get(key!);
      if (skill === undefined) continue;
      if (slice.isOver) await slice.pause();
      const { files, folders } = await this.#files.list(skill);
      const versions = files
        // The scan itself notices changes of this file.
        .filter(({ path }) => path !== SKILL_MD)
        .map(({ path, version }) => [path, version] as const);
      listed.set(key!, { versions: new Map(versions), folders });
    }
    return listed;
  }
}
