// What some tests need and not every system has.
import { canIgnoreCase, ignoresCase } from "./case_blind.ts";
import { Place } from "./folders.ts";
import { isWindows } from "./environment.ts";

/** Something that tests need, and how to find out whether the system has it. */
interface Need {
  readonly what: string;
  readonly isMet: () => boolean;
}

const NEEDS = {
  /** Not every user can create links on Windows, and Wine creates links that nothing follows. */
  links: {
    what: "links that can be created and followed",
    isMet: canLink,
  },
  case: {
    what: "file names that differ only in case",
    isMet: () => {
      using place = new Place();
      return !ignoresCase(place.path);
    },
  },
  caseBlind: {
    what: "a folder that ignores the case of names",
    isMet: canIgnoreCase,
  },
  modes: {
    what: "file permissions that apply to this user",
    isMet: () => !isWindows && Deno.uid() !== 0,
  },
  names: {
    what: "file names with any characters",
    isMet: () => !isWindows,
  },
  bytes: {
    what: "file names that are not valid UTF-8",
    isMet: () => Deno.build.os === "linux",
  },
  fifos: { what: "FIFOs", isMet: () => !isWindows },
  moves: {
    what: "folders that can be moved while their subfolders are watched",
    isMet: () => !isWindows,
  },
  signals: { what: "POSIX signals", isMet: () => !isWindows },
  sh: { what: "a POSIX shell", isMet: () => !isWindows },
  cmd: { what: "the shell of Windows", isMet: () => isWindows },
  windows: { what: "Windows", isMet: () => isWindows },
  terminal: {
    what: "the program script, which opens a terminal",
    isMet: () => Deno.build.os === "linux",
  },
  npx: { what: "npx", isMet: () => !isWindows && isProgram("npx") },
  proc: {
    what: "the processes in /proc",
    isMet: () => Deno.build.os === "linux",
  },
} satisfies Record<string, Need>;

/** The needs that were printed because the system does not meet them. */
const reported = new Set<Need>();

/**
 * Whether the system lacks anything that a test needs. Prints what is not tested,
 * once for each need.
 */
export function lacks(...needs: readonly (keyof typeof NEEDS)[]): boolean {
  const unmet = needs.map((name): Need => NEEDS[name])
    .filter((need) => !isMet(need));
  for (const need of unmet) {
    if (!reported.has(need)) {
      console.error(`NOT TESTED: what needs ${need.what}`);
    }
    reported.add(need);
  }
  return unmet.length > 0;
}

const answers = new Map<Need, boolean>();

function isMet(need: Need): boolean {
  const answer = answers.get(need) ?? need.isMet();
  answers.set(need, answer);
  return answer;
}

function canLink(): boolean {
  using place = new Place();
  place.file("folder/file", "text");
  try {
    const path = place.link("folder", "link");
    return Deno.lstatSync(path).isSymlink &&
      Deno.readTextFileSync(`${path}/file`) === "text";
  } catch {
    return false;
  }
}

function isProgram(name: string): boolean {
  try {
    return new Deno.Command(name, { args: ["--version"] }).outputSync().success;
  } catch {
    return false;
  }
}
