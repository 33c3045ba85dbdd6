/** Tells clients of changes to the files that they subscribed to. */

import type { ServerEventBus } from "npm:@modelcontextprotocol/server@^2.4.0";
import type { Handlers } from "./requests.ts";
import { differingKeys } from "../skills/catalog.ts";
import { MAX_LISTED_ENTRIES } from "../skills/limits.ts";
import { servedKey, SKILL_MD, skillFileUri } from "../skills/names.ts";
import type { ScanSubscriber, SkillSource } from "../skills/types.ts";
import { SharedTask } from "../tasks.ts";
import { resolveUri } from "./resolve.ts";
import { requireResource } from "./resources.ts";

/** The URI of all skills. */
const ALL_SKILLS = "skill://";

/** The handlers with which clients up to 2025-11-25 subscribe. */
export function subscriptionHandlers(
  files: SubscribedFiles,
  registry: SkillSource,
): Handlers {
  return {
    "resources/subscribe": async ({ uri }) => {
      if (uri !== ALL_SKILLS) requireResource(uri, registry);
      await files.subscribe([uri]);
      return {};
    },
    "resources/unsubscribe": ({ uri }) => {
      files.unsubscribe(uri);
      return {};
    },
  };
}

/** What a URI stands for: the key of a skill, and the URI of a file or directory of it. */
interface Subscribed {
  readonly key: string;
  readonly files: string;
}

/** The files that clients subscribed to, which are looked at after each scan. */
export class SubscribedFiles implements ScanSubscriber {
  readonly #uris = new Set<string>();
  /** The URIs whose files were listed once, so that later changes are known. */
  readonly #known = new Set<string>();
  /** The real paths of the directories that contain the files. */
  #dirs: readonly string[] = [];
  /** The version of each file, by its URI. */
  #versions: ReadonlyMap<string, string> = new Map();
  readonly #registry: SkillSource;
  readonly #bus: ServerEventBus;
  readonly #looks = new SharedTask<void>();

  constructor(registry: SkillSource, bus: ServerEventBus) {
    this.#registry = registry;
    this.#bus = bus;
    registry.addSubscriber(this);
  }

  /** Subscribes to URIs. Later changes are reported once the promise is fulfilled. */
  async subscribe(uris: readonly string[]): Promise<void> {
    const added = uris.filter((uri) => !this.#uris.has(uri));
    for (const uri of added) this.#uris.add(uri);
    if (added.length > 0) await this.#looks.run(() => this.#look());
  }

  unsubscribe(uri: string): void {
    this.#uris.delete(uri);
    this.#known.delete(uri);
  }

  onScan(): void {
    // Not awaited: whoever waits for a scan should not wait for all files of all
    // skills. If it fails, the next scan looks again.
    this.#looks.run(() => this.#look()).catch(() => {});
  }

  listDirsToWatch(): readonly string[] {
    return this.#dirs;
  }

  async #look(): Promise<void> {
    const subscribed = new Map(
      Array.from(this.#uris, (uri) => [uri, this.#resolve(uri)]),
    );
    const { versions, dirs } = await this.#listVersions(subscribed);
    const changed = [...differingKeys(versions, this.#versions)];
    this.#versions = versions;
    for (const [uri, { files = uri } = {}] of subscribed) {
      const isChanged = changed.some((file) => isAtOrBelowUri(file, files));
      if (isChanged && this.#known.has(uri)) {
        this.#bus.publish({ kind: "resource_updated", uri });
      }
      if (this.#uris.has(uri)) this.#known.add(uri);
    }
    const isSame = dirs.join("\0") === this.#dirs.join("\0");
    this.#dirs = dirs;
    if (!isSame) this.#registry.watchDirs();
  }

  #resolve(uri: string): Subscribed | undefined {
    const found = resolveUri(uri, this.#registry.catalog);
    if (found === undefined) return undefined;
    const { skill, path = SKILL_MD } = found;
    return { key: servedKey(skill), files: skillFileUri(skill, path) };
  }

  /**
   * Lists the files of the subscribed skills, and the directories that contain them. If
   * all skills are subscribed, lists each only as far as hosts accept.
   */
  async #listVersions(
    subscribed: ReadonlyMap<string, Subscribed | undefined>,
  ): Promise<{ versions: Map<string, string>; dirs: string[] }> {
    const keys = new Set(Array.from(subscribed.values(), (it) => it?.key));
    const versions = new Map<string, string>();
    const dirs: string[] = [];
    for (const [key, skill] of this.#registry.catalog.served) {
      const isNamed = keys.has(key);
      if (!isNamed && !subscribed.has(ALL_SKILLS)) continue;
      const limit = isNamed ? {} : { maxEntries: MAX_LISTED_ENTRIES };
      const contents = await this.#registry.listFiles(skill, limit);
      dirs.push(...contents.dirs);
      for (const { path, version } of contents.files) {
        versions.set(skillFileUri(skill, path), version);
      }
    }
    return { versions, dirs };
  }
}

function isAtOrBelowUri(file: string, uri: string): boolean {
  const dir = uri.endsWith("/") ? uri : `${uri}/`;
  return file === uri || file.startsWith(dir);
}
