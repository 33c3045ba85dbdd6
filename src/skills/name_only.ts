/**
 * The folders whose skills the client lists itself.
 *
 * @module
 */

import { isAtOrBelowAny } from "../files/paths.ts";
import { isHostName } from "./names.ts";
import { realPathOf } from "./scopes.ts";

/** Knows which skills the tools list by name only, without a policy. */
export class NameOnlyFolders {
  readonly #folders: readonly string[];

  /** Resolves the folders. Those that do not exist yet count by their paths. */
  constructor(folders: readonly string[] = []) {
    const places = folders.flatMap((folder) => [folder, realPathOf(folder)]);
    this.#folders = [...new Set(places)];
  }

  get isEmpty(): boolean {
    return this.#folders.length === 0;
  }

  /**
   * Whether the client lists a skill itself: it is in one of the folders, or
   * listed there. A client refuses skills with other names than hosts accept, so
   * nobody else would describe these.
   *
   * @param name The name of the skill.
   * @param paths Its real path, and the paths through which roots list it.
   */
  has(name: string, paths: readonly string[]): boolean {
    return isHostName(name) &&
      paths.some((path) => isAtOrBelowAny(path, this.#folders));
  }
}
