/** What code in `src/` needs of a registry. */

import type {
  Diagnostic,
  Skill,
  SkillCatalog,
  SkillChangeListener,
  SkillFile,
  SkillFileContent,
  SkillFiles,
  SkillFilesOptions,
  SkippedSkill,
} from "./types.ts";

/** The part of `SkillRegistry` that code in `src/` uses. */
export interface SkillSource {
  readonly catalog: SkillCatalog;
  readonly refreshSeconds: number;
  find(
    name: string,
    options?: Pick<SkillFilesOptions, "viewer">,
  ): Skill | undefined;
  listFiles(skill: Skill, options?: SkillFilesOptions): Promise<SkillFiles>;
  readFile(
    skill: Skill,
    path: string,
    options?: Pick<SkillFilesOptions, "viewer">,
  ): Promise<SkillFileContent>;
  digest(
    skill: Skill,
    file: SkillFile,
  ): Promise<{ digest: string; size: number }>;
  listNearMissesOf(name: string): Promise<NearMiss[]>;
  listUnusedRules(): Diagnostic[];
  refresh(options?: { maxAgeMs?: number }): Promise<SkillCatalog>;
  onChange(listener: SkillChangeListener): () => void;
  addSubscriber(subscriber: ScanSubscriber): void;
  updateWatcher(): void;
}

/** What may be meant by a name, but is no skill. */
export interface NearMiss extends Pick<SkippedSkill, "scope" | "projectPath"> {
  readonly diagnostic: Diagnostic;
}

/** Reacts to scans and chooses directories to watch. */
export interface ScanSubscriber {
  /** Called after a scan, whether or not anything changed. */
  onScan(): void;
  /** Lists directories to watch before others, by their real paths. */
  listDirsToWatch(): readonly string[];
}
