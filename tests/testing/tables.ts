// The tables in tests/golden/, which are text.
import { join } from "../../src/fs/paths.ts";
import { REPOSITORY } from "./environment.ts";

/** A row: lines at the left margin, each but the last with a comma, and those indented below. */
export interface Row {
  readonly head: string;
  readonly lines: readonly string[];
}

/** A part of a table, below a line that begins with "## ". */
interface Section {
  readonly title: string;
  readonly rows: readonly Row[];
}

/** Reads a table. What precedes its first section says how to read it. */
export function readTable(name: string): Section[] {
  const file = join(REPOSITORY, "tests", "golden", name);
  const [, ...sections] = Deno.readTextFileSync(file).split(/^## /m);
  return sections.map((text) => {
    const [title = "", ...lines] = text.split("\n");
    return { title, rows: readRows(lines) };
  });
}

/** Reads the rows of all sections of a table. */
export function readAllRows(name: string): Row[] {
  return readTable(name).flatMap(({ rows }) => rows);
}

function readRows(lines: readonly string[]): Row[] {
  const rows: { head: string; lines: string[] }[] = [];
  for (const line of lines) {
    const last = rows.at(-1);
    if (line.startsWith("  ")) last!.lines.push(line.slice(2));
    else if (last?.lines.length === 0 && last.head.endsWith(",")) {
      last.head += ` ${line}`;
    } else if (line !== "") rows.push({ head: line, lines: [] });
  }
  return rows;
}
