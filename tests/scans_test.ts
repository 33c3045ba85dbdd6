// A scan finds what tests/golden/scans.txt says: which directories are skills, which of
// them has a name, and where links may lead.
import assert from "node:assert/strict";
import {
  resolveSkillRoots,
  type SkillCatalog,
  SkillRegistry,
  type SkillRoot,
} from "../mod.ts";
import { join, relative } from "../src/fs/paths.ts";
import { createEntries } from "./testing/entries.ts";
import { lacks } from "./testing/needs.ts";
import { Place } from "./testing/place.ts";
import { root } from "./testing/registry.ts";
import { readTable, type Row } from "./testing/tables.ts";

/** The kinds of roots in the table. */
const ROOTS: Readonly<Record<string, Partial<SkillRoot>>> = {
  deep: { recursive: true },
  unpacked: { recursive: true, omitsPutAway: true },
  nested: { recursive: true, searchesSkills: true },
  confined: { confinesSymlinks: true },
  itself: { includesItself: true },
};

/** Opens a registry for the roots and the options in a line. */
function openRoots(place: Place, line: string): SkillRegistry {
  const words = line.split(", ");
  const trusted = words.filter((word) => word.startsWith("trusting "));
  const isOff = words.includes("project off");
  const dirs = words.filter((it) =>
    !trusted.includes(it) && it !== "project off"
  );
  const roots = dirs.flatMap((it) => {
    const [dir = "", kind = ""] = it.split(":");
    const path = join(place.path, dir);
    if (kind === "configured") return resolveSkillRoots({ dirs: [path] });
    const isLimited = dir.startsWith("project");
    return [root(path, { isLimited, ...ROOTS[kind] })];
  });
  return new SkillRegistry(roots, {
    workingDirectory: place.project,
    homeDirectory: place.home,
    trustedDirs: trusted.map((it) => join(place.path, it.split(" ")[1]!)),
    policy: { rules: isOff ? [{ scope: "project", state: "off" }] : [] },
    log: () => {},
  });
}

/** Makes the changes in a line, one after another. */
function change(place: Place, line: string): void {
  for (const step of line.split(", ")) {
    const [, verb, what = ""] = /^(\w+) (.*)$/.exec(step)!;
    if (verb === "add") createEntries(what, place);
    else if (verb === "remove") place.remove(what);
    else {
      const [from, to] = what.split(" to ").map((it) => join(place.path, it));
      Deno.renameSync(from!, to!);
    }
  }
}

/** Returns what a scan found as the table has it. Each skill must have the right scope. */
function format(place: Place, { skills, diagnostics }: SkillCatalog): string {
  const pathOf = (path: string) =>
    relative(place.path, path).replaceAll("\\", "/");
  for (const { scope, realDirectory } of skills.values()) {
    const isInProject = /^project(?:\/|$)/.test(pathOf(realDirectory));
    assert.equal(scope, isInProject ? "project" : "global");
  }
  const found = Array.from(
    skills.values(),
    ({ name, directory }) => `${name} ${pathOf(directory)}`,
  );
  const reported = diagnostics
    .map(({ file, rule }) => `! ${pathOf(file)} ${rule}`);
  return [found.join(", "), ...reported].join(" ").trim();
}

async function checkRow({ head, lines }: Row): Promise<void> {
  using stack = new DisposableStack();
  const place = stack.use(new Place());
  createEntries(head, place);
  const scans = lines.join("\n").replaceAll(/\n(?: +|(?=!))/g, " ").split("\n");
  let registry: SkillRegistry | undefined;
  for (const scan of scans) {
    const [line = "", expected = ""] = scan.split(" →");
    if (/^(?:add|remove|rename) /.test(line)) change(place, line);
    else registry = stack.use(openRoots(place, line));
    const found = format(place, await registry!.refresh());
    assert.equal(found, expected.trim(), line);
  }
}

for (const { title, rows } of readTable("scans.txt")) {
  const text = JSON.stringify(rows);
  Deno.test({
    name: `a scan ${title}`,
    ignore: text.includes("->") && lacks("links") ||
      text.includes("skill.md") && lacks("caseSensitive"),
    fn: async (context) => {
      for (const row of rows) {
        await context.step(row.head, () => checkRow(row));
      }
    },
  });
}
