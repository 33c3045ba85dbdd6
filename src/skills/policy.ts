/**
 * The user's policy: which skills are served, and how prominently. Only this
 * module makes these decisions. The scan applies them, so views never see a
 * skill that is off.
 *
 * 1. Rules are asked about each path through which a root lists a skill, and about
 *    its real path. For each path, the last rule that matches decides. Without
 *    one, the skill is on.
 * 2. The strictest of these states applies (off, manual, name-only), or else that
 *    of the first path. So a link can neither evade a rule nor benefit from one.
 * 3. The glob for a folder is expanded on disk once for each scan. A folder counts
 *    by its path and by its real path. So do the links that match a wildcard, up to
 *    the first `**`. A folder that does not exist matches nothing.
 * 4. If the folder above the first wildcard cannot be read, the policy is invalid.
 *    What a wildcard meets and cannot resolve is off: a clone must not be able to
 *    invalidate a policy.
 *
 * @module
 */

import { dirname } from "jsr:@std/path@^1";
import { attempt, faultOf, isAbsence } from "../files/faults.ts";
import { childPath, realPathOf } from "../files/paths.ts";
import type { BaseFolders } from "../files/types.ts";
import { quote, skillKey } from "../text.ts";
import {
  comparablePath,
  comparableText,
  compileName,
  compilePath,
  expandBraces,
  type GlobFolder,
  listGlobFolders,
  PolicyError,
  WILDCARD,
} from "./glob.ts";
import type { LoadedPolicy } from "./policy_file.ts";
import type {
  Problem,
  ScanOptions,
  SkillPolicyRule,
  SkillScope,
  SkillState,
} from "./types.ts";

/** The states from the strictest on. The others are equally strict. */
const STRICTEST: readonly SkillState[] = ["off", "manual", "name-only"];

/** The maximum number of places that a glob can stand for. The others are off. */
const MAX_PLACES = 1_000;

/** What a policy decides. */
export interface PolicyDecision {
  readonly state: SkillState;
  /** The rule that applies, if there is one. */
  readonly rule?: SkillPolicyRule | undefined;
}

/** The decision without a rule. */
export const SERVED: PolicyDecision = { state: "on" };

/** What is decided on: a skill, or a folder without a valid one. */
export interface PolicySubject {
  /** Its name, or the names that it may have. */
  readonly names: readonly string[];
  readonly scope: SkillScope;
  /** The paths that list it, in order, and its real path. */
  readonly paths: readonly string[];
}

/** What the glob of a rule stands for on disk. All paths are in comparable form. */
interface RuleFolders {
  /** Folders with a slash at the end, and the globs for what lies below them. */
  readonly places: {
    readonly folder: string;
    readonly matches: ReturnType<typeof compilePath>;
  }[];
  /** What a wildcard met and could not resolve. */
  readonly unresolved: Set<string>;
}

/** A rule that is ready to be matched in one scan. */
interface ActiveRule {
  readonly state: SkillState;
  /** The rule of the policy. Without one, it stands for a name-only folder. */
  readonly rule?: SkillPolicyRule;
  /** The globs for the key of the skill's name. */
  readonly names: readonly ((name: string) => boolean)[];
  /** What must contain the skill directory. Default: any folder. */
  readonly folders?: RuleFolders | undefined;
}

/** The policy that applies now: the last valid one. */
export class Policy {
  readonly #options: ScanOptions;
  #loaded: LoadedPolicy | undefined;
  /** The rules, the last one first, once there is a valid policy. */
  #rules: readonly ActiveRule[] | undefined;
  /** These rules as they were written. */
  #valid: readonly SkillPolicyRule[] = [];

  /** Creates it from the options of a scan. Nothing is loaded yet. */
  constructor(options: ScanOptions) {
    this.#options = options;
  }

  /** Whether skills can be served: once there was a valid policy, or without one. */
  get isUsable(): boolean {
    return this.#rules !== undefined;
  }

  /** Whether any rule can apply. */
  get hasRules(): boolean {
    return (this.#rules?.length ?? 0) > 0;
  }

  /** Loads the policy, and expands its globs on disk. Returns what is wrong with it. */
  async load(): Promise<readonly Problem[]> {
    const { policy } = this.#options;
    const isFile = typeof policy === "string";
    try {
      this.#apply(isFile ? await this.#loadFile(policy) : policy?.rules ?? []);
      return [];
    } catch (error) {
      if (!(error instanceof PolicyError)) throw error;
      // The globs of the last valid policy may stand for other folders by now.
      attempt(() => this.isUsable && this.#apply(this.#valid));
      const effect = this.isUsable
        ? "until then, the last valid policy applies"
        : "until then, no skills are served";
      return error.faults.map((fault) => ({
        ...fault,
        rule: "policy",
        file: isFile ? policy : "options.policy",
        hint: `${fault.hint}; ${effect}`,
      }));
    }
  }

  /**
   * Makes rules apply.
   *
   * @throws {PolicyError} If one of them cannot. Then those that applied still do.
   */
  #apply(rules: readonly SkillPolicyRule[]): void {
    const { policy, nameOnlyFolders = [] } = this.#options;
    const base = typeof policy === "string"
      ? { ...this.#options, workingDirectory: dirname(policy) }
      : this.#options;
    this.#rules = [
      ...nameOnlyFolders.map(nameOnlyRule),
      ...rules.map((rule) => activate(rule, base)),
    ].reverse();
    this.#valid = rules;
  }

  /** Decides on a skill. */
  decide({ names, scope, paths }: PolicySubject): PolicyDecision {
    const decisions = names.flatMap((name) => {
      // There can be many rules, and thousands of links to the same skill.
      const key = skillKey(name);
      const rules = this.#rules!.filter(({ rule, names }) =>
        (rule?.scope ?? scope) === scope &&
        names.some((matches) => matches(key))
      );
      return paths.map((path) => decideOnPath(path, rules));
    });
    const [strictest] = STRICTEST
      .flatMap((state) => decisions.find((it) => it.state === state) ?? []);
    return strictest ?? decisions[0] ?? SERVED;
  }

  /** Returns the rules in a policy file, which are the same objects while it does not change. */
  async #loadFile(file: string): Promise<readonly SkillPolicyRule[]> {
    // Only a policy file needs a parser.
    const { loadPolicy } = await import("./policy_file.ts");
    this.#loaded = loadPolicy(file, this.#loaded);
    return this.#loaded.rules;
  }
}

/**
 * Prepares a rule for a scan.
 *
 * @throws {PolicyError} If a glob cannot be used.
 */
function activate(rule: SkillPolicyRule, base: BaseFolders): ActiveRule {
  const { state, skill = "*", in: folder } = rule;
  const names = expandBraces(skillKey(skill)).map(compileName);
  const folders = folder === undefined
    ? undefined
    : expandFolders(listGlobFolders(folder, base));
  return { state, rule, names, folders };
}

/** Creates the rule for a folder whose skills are name-only unless a rule applies to them. */
function nameOnlyRule(path: string): ActiveRule {
  const places = [path, realPathOf(path)]
    .map((path) => placeOf({ path, rest: ["**"] }));
  return {
    state: "name-only",
    names: [() => true],
    folders: { places, unresolved: new Set() },
  };
}

function decideOnPath(
  path: string,
  rules: readonly ActiveRule[],
): PolicyDecision {
  const place = comparablePath(path);
  for (const { state, rule, folders } of rules) {
    const match = folders === undefined || findMatch(place, folders);
    if (match) return { state: match === "unresolved" ? "off" : state, rule };
  }
  return SERVED;
}

/** Whether a path in comparable form matches, or lies in something that could not be resolved. */
function findMatch(
  path: string,
  { places, unresolved }: RuleFolders,
): boolean | "unresolved" {
  let end = unresolved.size === 0 ? 0 : path.length;
  for (; end > 0; end = path.lastIndexOf("/", end - 1)) {
    if (unresolved.has(path.slice(0, end))) return "unresolved";
  }
  const names = `${path}/`;
  return places.some(({ folder, matches }) =>
    names.startsWith(folder) &&
    matches(names.slice(folder.length).split("/").slice(0, -1))
  );
}

/**
 * Finds out what a glob stands for on disk.
 *
 * @param folders The folders above its first wildcard.
 * @throws {PolicyError} If one of these exists and cannot be resolved.
 */
function expandFolders(folders: readonly GlobFolder[]): RuleFolders {
  const expanded: RuleFolders = { places: [], unresolved: new Set() };
  for (const folder of folders) {
    expanded.places.push(placeOf(folder));
    try {
      followLinks({ ...folder, known: folder.path }, expanded);
    } catch (error) {
      if (isAbsence(error)) continue;
      const { reason, hint } = faultOf(error);
      const path = quote(folder.path);
      throw new PolicyError([
        { reason: `the folder ${path} cannot be used: ${reason}`, hint },
      ]);
    }
  }
  return expanded;
}

function placeOf({ path, rest }: GlobFolder): RuleFolders["places"][number] {
  return { folder: `${comparablePath(path)}/`, matches: compilePath(rest) };
}

/**
 * Adds a folder by its real path, and follows the links in it that match the next
 * wildcard.
 *
 * @param folder The folder, and the path by which it is known already.
 * @throws {Error} If the folder cannot be resolved.
 */
function followLinks(
  { path, rest, known }: GlobFolder & { readonly known: string },
  expanded: RuleFolders,
): void {
  const realPath = Deno.realPathSync(path);
  if (realPath !== known) {
    expanded.places.push(placeOf({ path: realPath, rest }));
  }
  if (rest.length === 0 || rest[0] === "**") return;
  for (const name of listMatching(path, rest)) {
    const child = {
      path: childPath(path, name),
      rest: rest.slice(1),
      known: childPath(realPath, name),
    };
    try {
      // What a stranger may have created is no error.
      if (expanded.places.length < MAX_PLACES) {
        followLinks(child, expanded);
        continue;
      }
    } catch (error) {
      if (isAbsence(error)) continue;
    }
    expanded.unresolved.add(comparablePath(child.path));
    expanded.unresolved.add(comparablePath(child.known));
  }
}

/** Lists the links in a folder, and the folders that can contain links, whose names match. */
function listMatching(
  folder: string,
  [pattern, below = "**"]: readonly string[],
): string[] {
  if (!WILDCARD.test(pattern!)) return [pattern!];
  const matches = compileName(comparableText(pattern!));
  return [...Deno.readDirSync(folder)]
    .filter((entry) => entry.isSymlink || entry.isDirectory && below !== "**")
    .map(({ name }) => name)
    .filter((name) => matches(comparableText(name)));
}
