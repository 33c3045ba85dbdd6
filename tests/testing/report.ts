// The report of `--list` and `--check`.
import assert from "node:assert/strict";
import { SkillRegistry } from "../../mod.ts";
import { createReport, type OpenRegistry } from "../../src/check/report.ts";
import type { ReportedDiagnostic } from "../../src/diagnostics.ts";
import { isWindows } from "../../src/fs/paths.ts";
import { settingsFor } from "./command_line.ts";
import { Place, skillMd } from "./place.ts";
import { runServer, type ServerDirs } from "./server.ts";

/** Returns the problems that a report lists, as the program prints them with `--json`. */
export async function diagnosticsIn(
  ...args: string[]
): Promise<ReportedDiagnostic[]> {
  const { diagnostics } = await createReport(
    settingsFor(...args),
    openRegistry,
  );
  return diagnostics;
}

/** Opens the skills of settings as the program does. */
export const openRegistry: OpenRegistry = (roots, options) =>
  new SkillRegistry(roots, { ...options, log: () => {} });

/** Runs the server and returns its exit code and what it prints, with slashes in paths. */
export async function printedReport(
  place: ServerDirs,
  ...args: string[]
): Promise<{ code: number; text: string }> {
  const { code, stdout, stderr } = await runServer(place, { args });
  assert.equal(stderr, "");
  return { code, text: isWindows ? stdout.replaceAll("\\", "/") : stdout };
}

/** Creates a place with one of everything that a report shows. */
export function reportPlace(): Place {
  const place = new Place();
  place.skill("project/.claude/skills", "git");
  place.skill("home/.claude/skills", "git");
  place.skill("home/.claude/skills", "git-2", skillMd("git", "Another"));
  place.skill("home/.claude/skills", "pdf");
  place.file("home/.claude/skills/pdf/forms.md", "x".repeat(1_451));
  place.skill("home/.claude/skills", "Übersicht");
  place.skill("home/.claude/skills", "bad", "no frontmatter");
  return place;
}
