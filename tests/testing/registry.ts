// Scanning directories in the process of the tests.
import assert from "node:assert/strict";
import {
  type ScanOptions,
  scanSkillRoots,
  type Skill,
  type SkillCatalog,
  SkillRegistry,
  type SkillRegistryOptions,
  type SkillRoot,
} from "../../mod.ts";
import {
  type FileScope,
  listFiles,
  readSkillFile as readFile,
} from "../../src/skills/files.ts";
import { Project } from "../../src/skills/project.ts";
import { skillDiagnosticOf } from "../../src/skills/scan_diagnostics.ts";
import type { SkillFile, SkillFileContent } from "../../src/skills/types.ts";

/** Creates a skill root. Its default scope is global. */
export function root(path: string, rest: Partial<SkillRoot> = {}): SkillRoot {
  return { path, scope: "global", recursive: false, ...rest };
}

/** Returns the names of the skills in a catalog, in order. */
export function names({ skills }: SkillCatalog): string[] {
  return [...skills.values()].map(({ name }) => name);
}

/** Scans a directory and returns its first skill. */
export async function scanSkill(
  dir: string,
  options: ScanOptions = {},
): Promise<Skill> {
  const catalog = await scanSkillRoots([root(dir)], options);
  const [skill] = catalog.skills.values();
  assert.ok(skill, JSON.stringify(catalog.diagnostics));
  return skill;
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

/** Returns a function that scans the same roots again each time it is called. */
export function scansOf(
  roots: readonly SkillRoot[],
  options?: ScanOptions,
): () => Promise<SkillCatalog> {
  const registry = new SkillRegistry(roots, { log: () => {}, ...options });
  return () => registry.refresh();
}

/** Lists the files of a skill that is in no registry. */
export async function listSkillFiles(
  skill: Skill,
  options: ScanOptions = {},
): Promise<SkillFile[]> {
  return (await listFiles(scopeOf(skill, options))).files;
}

/** Lists the paths of the files of a skill that is in no registry. */
export async function listPaths(
  skill: Skill,
  options?: ScanOptions,
): Promise<string[]> {
  const files = await listSkillFiles(skill, options);
  return files.map(({ path }) => path);
}

/** Reads a file of a skill that is in no registry. */
export function readSkillFile(
  skill: Skill,
  path: string,
  options: ScanOptions = {},
): SkillFileContent {
  return readFile(path, scopeOf(skill, options));
}

function scopeOf(
  skill: Skill,
  { trustLinks = [], maxFileSize }: ScanOptions,
): FileScope {
  const { trusted } = new Project({ trustLinks });
  const isHidden = () => false;
  return { skill, trusted, isHidden, maxFileSize, describe: skillDiagnosticOf };
}
