// Directories that ignore the case of names.
import { attempt } from "../../src/attempt.ts";
import { isThere, join } from "../../src/fs/paths.ts";
import { isWindows } from "./environment.ts";
import { Place } from "./folders.ts";

/** A place whose home directory ignores the case of names. */
export class CaseBlindPlace extends Place {
  readonly #mounted: string | undefined;

  constructor() {
    super();
    if (!ignoresCase(this.home)) this.#mounted = mountNtfs(this);
  }

  override [Symbol.dispose](): void {
    if (this.#mounted !== undefined) run("umount", this.#mounted);
    super[Symbol.dispose]();
  }
}

/** Whether there can be such a place. */
export function canIgnoreCase(): boolean {
  return attempt(() => {
    using place = new CaseBlindPlace();
    return ignoresCase(place.home);
  }) ?? false;
}

/** Whether a directory finds names in other case. */
export function ignoresCase(dir: string): boolean {
  const file = join(dir, "name");
  Deno.writeTextFileSync(file, "");
  const isFound = isThere(join(dir, "NAME"));
  Deno.removeSync(file);
  return isFound;
}

/** Mounts an empty NTFS volume, which takes the package ntfs-3g and root, at the home directory. */
function mountNtfs({ path, home }: Place): string {
  const image = join(path, "image");
  Deno.writeFileSync(image, new Uint8Array());
  Deno.truncateSync(image, 8 * 1024 * 1024);
  run("mkntfs", "--force", "--quick", "--quiet", image);
  run("lowntfs-3g", "-o", "ignore_case,allow_other", image, home);
  return home;
}

/** Runs a system administrator's program, with sudo if necessary. */
function run(...command: string[]): void {
  const [program, ...args] = isWindows || Deno.uid() === 0
    ? command
    : ["sudo", "--non-interactive", ...command];
  const PATH = `${Deno.env.get("PATH")}:/usr/sbin:/sbin`;
  const { success, stderr } = new Deno.Command(program!, {
    args,
    env: { PATH },
  })
    .outputSync();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
