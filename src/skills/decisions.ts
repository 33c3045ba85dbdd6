/**
 * The decisions on what a scan found: which skills are served, in which state,
 * which folders are closed, and which problems are not reported.
 *
 * 1. A skill has one real path, and a face for each path through which a root
 *    lists it. The policy is asked about all of them.
 * 2. A search collects the faces. All searches must have ended before anything is
 *    decided, because a later root can have a stricter face.
 *
 * @module
 */

import { basename } from "jsr:@std/path@^1";
import type { Steps } from "../time_slice.ts";
import { ClosedFolderSet } from "./closed_folders.ts";
import { NameOnlyFolders } from "./name_only.ts";
import type { SkillVariants } from "./names.ts";
import type {
  Face,
  PolicyDecider,
  PolicyDecision,
  PolicySubject,
} from "./policy.ts";
import type { Scopes } from "./scopes.ts";
import type { SkillFolder } from "./skill_md.ts";
import type { SkillOutcome } from "./skill_reader.ts";
import type {
  ScanOptions,
  Skill,
  SkillCatalog,
  SkillPolicyReport,
  SkillPolicyRule,
  SkillScope,
} from "./types.ts";

/** A listed path of a folder. What is unknown, or cannot be confirmed, is left out. */
export type ListedFolder =
  & Pick<SkillFolder, "path" | "root">
  & Partial<SkillFolder>;

/** The folders with a `SKILL.md`, valid or not, by real path, in the order in which they were found. */
export type FoundSkills = ReadonlyMap<string, SkillOutcome>;

/** Decides on what one scan found. */
export class ScanDecisions {
  readonly #policy: PolicyDecider | undefined;
  readonly #nameOnly: NameOnlyFolders;
  readonly #scopes: Scopes;
  /** The folders that are closed to everyone or to the model. */
  readonly closed: ClosedFolderSet;
  /** The paths through which roots list skills, by real path, if anything asks about them. */
  readonly #faces = new Map<string, Face[]>();
  /** The decisions that differ from {@linkcode SERVED}, by real path. */
  readonly #decisions = new Map<string, PolicyDecision>();
  #found: FoundSkills = new Map();

  /** Creates the decisions of a scan that has not found anything yet. */
  constructor(
    scopes: Scopes,
    { policy, nameOnlyFolders }:
      & Pick<ScanOptions, "nameOnlyFolders">
      & { policy: PolicyDecider | undefined },
  ) {
    this.#scopes = scopes;
    this.#policy = policy;
    this.#nameOnly = new NameOnlyFolders(nameOnlyFolders);
    this.closed = new ClosedFolderSet(policy, scopes);
  }

  /** Adds a path through which a root lists a skill, valid or not. */
  addFace(folder: SkillFolder): void {
    if (this.#policy === undefined && this.#nameOnly.isEmpty) return;
    const known = this.#faces.get(folder.realPath);
    const faces = this.#facesOf(folder);
    // Thousands of links can lead to the same folder.
    if (known === undefined) this.#faces.set(folder.realPath, faces);
    else known.push(...faces);
  }

  /** Decides on all skills. */
  *decide(found: FoundSkills): Steps<void> {
    this.#found = found;
    for (const [realPath, skill] of found) {
      yield;
      const decision = this.#decideOn(skill);
      if (decision !== SERVED) this.#decisions.set(realPath, decision);
      const { state } = decision;
      const isManual = skill.isHidden && state !== "off";
      this.closed.add(realPath, isManual ? "manual" : state);
    }
  }

  /** Lists the skills that are not off, with their states. */
  listServed(variants: SkillVariants): Skill[] {
    const served: Skill[] = [];
    for (const [folder, { outcome, linkedFolder = folder }] of this.#found) {
      if ("names" in outcome) continue;
      const isClosed = (forModel: boolean) =>
        this.closed.isClosed(linkedFolder, { skill: folder, forModel });
      const decided = this.#decisionOn(folder).state;
      if (decided === "off" || isClosed(false)) continue;
      const state = isClosed(true) ? "manual" : decided;
      served.push(
        state === "on" ? outcome : variants.create(outcome, { state }),
      );
    }
    return served;
  }

  /** Whether a folder is off, judged by these names if it is not a skill. */
  isOff(folder: ListedFolder, names: readonly string[] = []): boolean {
    if (this.#policy === undefined) return false;
    const { realPath = folder.path } = folder;
    const decision = this.#found.has(realPath)
      ? this.#decisionOn(realPath)
      : this.#policy.decide({
        names: names.length > 0 ? names : [undefined],
        faces: this.#facesOf(folder),
      });
    return decision.state === "off";
  }

  /** Describes the decisions of the policy, if there is one. */
  report(
    { served }: SkillCatalog,
    roots: readonly string[],
  ): SkillPolicyReport | undefined {
    const policy = this.#policy;
    if (policy === undefined) return undefined;
    const rules = new Map<Skill, SkillPolicyRule>();
    const paths = new Set<string>();
    for (const skill of served.values()) {
      const { rule } = this.#decisionOn(skill.realDirectory);
      if (rule !== undefined) rules.set(skill, rule);
      paths.add(skill.realDirectory);
    }
    const found = [...this.#found];
    return {
      rules,
      off: found.flatMap(([realPath, { outcome: skill }]) =>
        "names" in skill || paths.has(realPath)
          ? []
          : [{ skill, rule: this.#decisionOn(realPath).rule }]
      ),
      unused: policy.listUnused(
        found.map(([, skill]) => this.#subjectOf(skill)),
        roots,
      ),
      unresolved: policy.problems,
    };
  }

  #decisionOn(realPath: string): PolicyDecision {
    return this.#decisions.get(realPath) ?? SERVED;
  }

  /** Decides on a skill. A rule that applies wins over `--name-only`. */
  #decideOn(found: SkillOutcome): PolicyDecision {
    if (this.#policy === undefined && this.#nameOnly.isEmpty) return SERVED;
    const subject = this.#subjectOf(found);
    const decision = this.#policy?.decide(subject) ?? SERVED;
    const isDecided = decision.rule !== undefined || decision.state !== "on";
    const paths = subject.faces.map(({ path }) => path);
    const isNameOnly = !isDecided && "name" in found.outcome &&
      this.#nameOnly.has(found.outcome.name, paths);
    return isNameOnly ? { state: "name-only" } : decision;
  }

  /** Returns the faces of a path: as it is listed, and where its entry lies. */
  #facesOf({ path, entry = path, isConfined = false }: ListedFolder): Face[] {
    const scopes = new Set<SkillScope>([this.#scopes.scopeOf(entry)]);
    if (isConfined) scopes.add("project");
    return [...new Set([path, entry])].flatMap((path) =>
      [...scopes].map((scope) => ({ path, scope }))
    );
  }

  /** Returns what rules are asked about: all names and faces of a folder. */
  #subjectOf(
    { outcome, folder: { realPath, scope } }: SkillOutcome,
  ): PolicySubject {
    const faces = [
      ...this.#faces.get(realPath) ?? [],
      { path: realPath, scope },
    ];
    if ("name" in outcome) return { names: [outcome.name], faces };
    const folders = faces.map(({ path }) => basename(path));
    const names = new Set([...outcome.names, ...folders, undefined]);
    return { names: [...names], faces };
  }
}

/** The decision without a policy. */
const SERVED: PolicyDecision = { state: "on" };
