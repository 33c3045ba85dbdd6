/**
 * Where the links in a root may lead.
 *
 * @module
 */

import { Boundary } from "../files/boundary.ts";
import { SkillFileError } from "../files/faults.ts";
import { isAtOrBelowAny } from "../files/paths.ts";
import type { Fault } from "../problems.ts";
import { LINK_OUT_OF_PROJECT, LINK_OUT_OF_ROOTS } from "./root_faults.ts";
import type { Project } from "./roots.ts";
import { isSkillFolder } from "./skill_file.ts";
import type { SkillRoot } from "./types.ts";

interface RootLink {
  readonly path: string;
  /** The real path of its folder, and its name. */
  readonly location: string;
  /** The real path of the skill around it, if there is one. */
  readonly outer: string | undefined;
}

/** The rules for the links in a root. Each link is looked at alone. */
export class LinkRules {
  readonly #project: Project;
  /** Where links may lead if the root confines them: into roots that do, and trusted folders. */
  readonly #confinement: readonly string[] | undefined;

  constructor(
    root: SkillRoot,
    { project, roots }: { project: Project; roots: readonly SkillRoot[] },
  ) {
    this.#project = project;
    if (!root.confinesLinks) return;
    const paths = roots.filter(({ confinesLinks }) => confinesLinks)
      .map(({ path }) => path);
    this.#confinement = [...project.resolveAll(paths), ...project.trusted];
  }

  /**
   * Returns the real path of the folder that a link leads to, if it counts.
   *
   * @throws {SkillFileError} If it leads to a skill where it may not.
   */
  follow({ path, location, outer }: RootLink): string | undefined {
    const realPath = Deno.realPathSync(path);
    const { trusted } = this.#project;
    const isForeign = outer !== undefined &&
      !new Boundary({ realDirectory: outer, trusted }).includes(realPath);
    if (isForeign || !Deno.statSync(path).isDirectory) return undefined;
    const fault = this.#findFault(location, realPath);
    if (fault === undefined) return realPath;
    if (!isSkillFolder(path)) return undefined;
    throw new SkillFileError(path, fault);
  }

  /**
   * Says why a link may not lead where it does, if it may not.
   *
   * @param link Where the link really lies.
   * @param target The real path of what it leads to.
   */
  #findFault(link: string, target: string): Fault | undefined {
    if (!this.#project.allowsLink(link, target)) return LINK_OUT_OF_PROJECT;
    const isConfined = this.#confinement !== undefined &&
      !isAtOrBelowAny(target, this.#confinement);
    return isConfined ? LINK_OUT_OF_ROOTS : undefined;
  }
}
