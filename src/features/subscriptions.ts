/** Notifies clients of changes to the files that they subscribed to. */

import type {
  RequestId,
  ServerEventBus,
} from "npm:@modelcontextprotocol/server@^2.4.0";
import { MAX_LISTED_ENTRIES } from "../skills/limits.ts";
import { lookUpUri } from "../skills/lookup.ts";
import { SKILL_MD } from "../skills/names.ts";
import type { ScanSubscriber, SkillSource } from "../skills/source.ts";
import type { Skill, SkillFile, SkillFiles } from "../skills/types.ts";
import { SharedTask } from "../tasks.ts";
import { listEntries } from "../views/entries.ts";
import type { Handlers } from "./requests.ts";
import { requireResource } from "./resources.ts";

const ALL_SKILLS = "skill://";

/** The handlers of the subscriptions of clients up to 2025-11-25. */
export function subscriptionHandlers(files: SubscribedFiles): Handlers {
  const subscriber = Symbol();
  return {
    "resources/subscribe": async ({ uri }) => {
      await files.subscribe(subscriber, [uri]);
      return {};
    },
    "resources/unsubscribe": ({ uri }) => {
      files.unsubscribe(subscriber, [uri]);
      return {};
    },
  };
}

/** A connection up to 2025-11-25, or the ID of a request `subscriptions/listen`. */
type Subscriber = symbol | RequestId;

/** What is known of a URI that clients subscribed to. */
interface Subscribed {
  readonly subscribers: Set<Subscriber>;
  /** The versions of its files, once they are known. */
  versions?: string;
}

/** The files that clients subscribed to. After each scan, it looks for changes. */
export class SubscribedFiles implements ScanSubscriber {
  readonly #subscribed = new Map<string, Subscribed>();
  /** The real paths of the directories that contain the files. */
  #dirs: readonly string[] = [];
  readonly #registry: SkillSource;
  readonly #bus: ServerEventBus;
  readonly #looks = new SharedTask<void>();

  constructor(registry: SkillSource, bus: ServerEventBus) {
    this.#registry = registry;
    this.#bus = bus;
    registry.addSubscriber(this);
  }

  /**
   * Subscribes to URIs. Later changes are reported once the promise is
   * fulfilled.
   *
   * @throws {InvalidParamsError} If one is that of no skill.
   */
  async subscribe(
    subscriber: Subscriber,
    uris: readonly string[],
  ): Promise<void> {
    for (const uri of uris) {
      if (uri !== ALL_SKILLS) requireResource(uri, this.#registry);
    }
    const hasNew = uris.some((uri) => !this.#subscribed.has(uri));
    for (const uri of uris) {
      const subscribed = this.#subscribed.get(uri) ??
        { subscribers: new Set() };
      subscribed.subscribers.add(subscriber);
      this.#subscribed.set(uri, subscribed);
    }
    if (hasNew) await this.#looks.run(() => this.#look());
  }

  /** Ends the subscriptions of a subscriber to URIs, by default to all. */
  unsubscribe(
    subscriber: Subscriber,
    uris: Iterable<string> = this.#subscribed.keys(),
  ): void {
    for (const uri of uris) {
      const { subscribers } = this.#subscribed.get(uri) ?? {};
      if (subscribers?.delete(subscriber) && subscribers.size === 0) {
        this.#subscribed.delete(uri);
      }
    }
  }

  onScan(): void {
    // Not awaited, so that scans do not wait for all files of all skills. If it fails,
    // the next scan looks again.
    this.#looks.run(() => this.#look()).catch(() => {});
  }

  listDirsToWatch(): readonly string[] {
    return this.#dirs;
  }

  async #look(): Promise<void> {
    const dirs = new Set<string>();
    // Several URIs can be those of one skill.
    const listed = new Map<Skill, SkillFiles>();
    for (const [uri, subscribed] of [...this.#subscribed]) {
      const contents = await this.#list(uri, listed);
      // The client may have unsubscribed meanwhile.
      if (this.#subscribed.get(uri) !== subscribed) continue;
      for (const dir of contents.flatMap(({ dirs }) => dirs)) dirs.add(dir);
      const versions = contents.flatMap(({ files }) => files)
        .map(({ path, version }) => `${path}\0${version}`).join("\n");
      const last = subscribed.versions;
      subscribed.versions = versions;
      if (last !== undefined && last !== versions) {
        this.#bus.publish({ kind: "resource_updated", uri });
      }
    }
    const isSame = [...dirs].join("\0") === this.#dirs.join("\0");
    this.#dirs = [...dirs];
    if (!isSame) this.#registry.updateWatcher();
  }

  /**
   * Lists the files of a URI, and the directories of their skills. All skills are listed
   * only as far as hosts accept each.
   */
  async #list(
    uri: string,
    listed: Map<Skill, SkillFiles>,
  ): Promise<Pick<SkillFiles, "files" | "dirs">[]> {
    const { catalog } = this.#registry;
    if (uri === ALL_SKILLS) {
      const limit = { maxEntries: MAX_LISTED_ENTRIES };
      const contents: SkillFiles[] = [];
      for (const { skill } of listEntries("host", catalog)) {
        contents.push(await this.#registry.listFiles(skill, limit));
      }
      return contents;
    }
    const found = lookUpUri(uri, catalog);
    if (found === undefined) return [];
    const { skill, path = SKILL_MD } = found;
    const contents = listed.get(skill) ??
      await this.#registry.listFiles(skill);
    listed.set(skill, contents);
    const { files, dirs } = contents;
    const isMeant = (file: SkillFile) =>
      path === "" || file.path === path || file.path.startsWith(`${path}/`);
    return [{ files: files.filter(isMeant), dirs }];
  }
}
