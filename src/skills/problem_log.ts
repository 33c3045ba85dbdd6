/**
 * Logs the problems that scans find, each one once.
 *
 * @module
 */

import { currentFolder } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { runInSlices } from "../time_slice.ts";
import { combineLinks } from "./link_groups.ts";
import {
  describePolicyProblem,
  describeProblems,
  NO_PROJECT_SKILLS,
} from "./problems.ts";
import { Scopes } from "./scopes.ts";
import type { SkillCatalog, SkillProblem } from "./types.ts";

/** Knows which problems were logged and still exist. */
export class ProblemLog {
  readonly #folders: BaseFolders;
  readonly #log: (line: string) => void;
  #logged: ReadonlySet<string> = new Set();
  #catalog: SkillCatalog | undefined;
  /** The problems of that catalog, with the links into one folder combined. */
  #problems: Promise<SkillProblem[]> | undefined;

  constructor(folders: BaseFolders, log: (line: string) => void) {
    this.#folders = folders;
    this.#log = log;
  }

  /**
   * Logs the problems that are new.
   *
   * @param catalog The catalog of the last scan.
   * @param unresolved The rules of the policy whose folders cannot be resolved.
   */
  async update(
    catalog: SkillCatalog,
    unresolved: readonly SkillProblem[],
  ): Promise<void> {
    if (this.#catalog !== catalog) this.#problems = this.#combineLinks(catalog);
    this.#catalog = catalog;
    const problems = await this.#problems!;
    // Another scan may have ended in the meantime.
    if (this.#catalog !== catalog) return;
    const lines = [
      ...unresolved.map((problem) =>
        `${describePolicyProblem(problem)}. ${NO_PROJECT_SKILLS}`
      ),
      ...describeProblems({ ...catalog, problems }),
    ];
    for (const line of lines) {
      if (!this.#logged.has(line)) this.#log(line);
    }
    this.#logged = new Set(lines);
  }

  #combineLinks({ problems }: SkillCatalog): Promise<SkillProblem[]> {
    const base = { workingDirectory: currentFolder(), ...this.#folders };
    const scopes = new Scopes(base);
    return runInSlices(combineLinks(problems, {
      ...base,
      // A link of a project may be meant to reveal in the log where it points.
      isSecret: (file) => scopes.isInProject(file),
    }));
  }
}
