// The entries of a place, as a row of a table lists them.
import { join } from "../../src/fs/paths.ts";
import { type Place, skillMd } from "./place.ts";

const LATIN = Array.from(
  skillMd("git", "caf\u00e9"),
  (character) => character.charCodeAt(0),
);

const UNUSED = `rules:
  - { state: off }
  - { skill: [git, gti], state: on }
  - { in: ~/nowhere, state: off }
`;

/** Kinds of texts in rows. */
const KINDS: Readonly<Record<string, string | Uint8Array>> = {
  "bad": "no frontmatter",
  "incomplete": "---\nname: d\n---\n",
  "faulty":
    "---\nname: low\ndescription: Fill <b>forms</b>\n---\n[x](none.md)\n",
  "fields": "---\nlicense: MIT\nname: a\n---\n",
  "fields with CRLF": "---\r\nlicense: MIT\r\nname: a\r\n---\r\n",
  "other fields": "---\ntitle: a\n---\nname: b\n",
  "a late name": `---\n${"x: y\n".repeat(1_000_000)}name: a\n---\n`,
  "large": new Uint8Array(1024 * 1024 + 1),
  "Latin-1": Uint8Array.from(LATIN),
  "all off": "rules: [{ state: off }]",
  "project off": "rules: [{ scope: project, state: off }]",
  "invalid rule": "rules: [{ state: off, scop: project }]",
  "unused rules": UNUSED,
};

/**
 * Creates the entries of a row, with commas between: a skill where a path ends
 * with "/", with its name or a kind of text after "=", a link to the path after "->",
 * or else an empty file.
 */
export function createEntries(row: string, place: Place): void {
  for (const entry of row.trim().split(/,\s+/)) createEntry(entry, place);
}

function createEntry(entry: string, place: Place): void {
  const [path = "", target] = entry.split(" -> ");
  if (target) return void place.link(join(place.path, target), path);
  const [file = "", kind] = path.split("=");
  if (kind === "folder") return void place.dir(file);
  const isSkill = file.endsWith("/");
  const name = kind ?? (isSkill ? file.split("/").at(-2)! : "");
  const text = KINDS[name] ?? (name && skillMd(name));
  place.file(isSkill ? `${file}SKILL.md` : file, text);
}
