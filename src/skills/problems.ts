/**
 * Describes the problems that scans find, and logs each one once.
 *
 * @module
 */

import { currentFolder } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { oneLine, quote } from "../text.ts";
import { runInSlices } from "../time_slice.ts";
import { combineLinks } from "./link_groups.ts";
import { qualifiedName } from "./names.ts";
import { Scopes } from "./scopes.ts";
import { MAX_SHOWN_NAME } from "./skill_md.ts";
import type { Problem, SkillCatalog } from "./types.ts";

/** The maximum number of shadowed skills that are described. */
const MAX_SHADOWED = 1_000;

/** Describes a problem in one line. */
export function describeProblem({ file, ...fault }: Problem): string {
  return oneLine(`Skipped ${quote(file)}${describeFault(fault)}`);
}

function describeFault(
  { line, reason, hint }: Omit<Problem, "file">,
): string {
  const position = line === undefined ? "" : ` (line ${line})`;
  return `${position}: ${reason}; ${hint}`;
}

/** Describes each problem and each shadowed skill of a catalog in one line. */
function describeProblems(
  { problems, shadowed }: SkillCatalog,
): string[] {
  const lines = shadowed.slice(0, MAX_SHADOWED).map(({ skill, by }) =>
    `Shadowed ${quote(skill.file)}: the name ${
      shortName(skill.name)
    } is taken by ${quote(by.file)}, which comes first; load it as ${
      shortName(qualifiedName(skill))
    }`
  );
  const rest = shadowed.length - lines.length;
  if (rest > 0) lines.push(`Shadowed ${rest} more skills`);
  return [...problems.map(describeProblem), ...lines];
}

function shortName(name: string): string {
  return quote(name.slice(0, MAX_SHOWN_NAME));
}

/** Describes a problem with a policy in one line. */
export function describePolicyProblem(
  { file, ...fault }: Problem,
): string {
  const name = file === "" ? "" : ` ${quote(file)}`;
  return `Cannot use the policy${name}${describeFault(fault)}`;
}

/** What an invalid policy means for the skills, until there is a valid one. */
export const NO_PROJECT_SKILLS =
  "No project skills are served until it is fixed";

/** Knows which problems were logged and still exist. */
export class ProblemLog {
  readonly #folders: BaseFolders;
  readonly #log: (line: string) => void;
  #logged: ReadonlySet<string> = new Set();
  #catalog: SkillCatalog | undefined;
  /** The problems of that catalog, with the links into one folder combined. */
  #problems: Promise<Problem[]> | undefined;

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
    unresolved: readonly Problem[],
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

  #combineLinks({ problems }: SkillCatalog): Promise<Problem[]> {
    const base = { workingDirectory: currentFolder(), ...this.#folders };
    const scopes = new Scopes(base);
    return runInSlices(combineLinks(problems, {
      ...base,
      // A link of a project may be meant to reveal in the log where it points.
      isSecret: (file) => scopes.isInProject(file),
    }));
  }
}
