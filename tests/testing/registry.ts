// Scanning directories in the process of the tests.
import {
  type SkillCatalog,
  SkillRegistry,
  type SkillRegistryOptions,
  type SkillRoot,
} from "../../mod.ts";

/** Creates a skill root. Its default scope is global. */
export function root(path: string, rest: Partial<SkillRoot> = {}): SkillRoot {
  return { path, recursive: false, ...rest };
}

/** Returns the names of the skills in a catalog, in order. */
export function names({ skills }: SkillCatalog): string[] {
  return [...skills.values()].map(({ name }) => name);
}

/** Opens a registry of a directory that logs nothing, and scans it. */
export async function openRegistry(
  dir: string,
  options?: SkillRegistryOptions,
): Promise<SkillRegistry> {
  const registry = new SkillRegistry([root(dir)], {
    log: () => {},
    ...options,
  });
  await registry.refresh();
  return registry;
}
