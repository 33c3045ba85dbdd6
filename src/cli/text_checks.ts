/**
 * The checks that only `--check` makes: of the text of a `SKILL.md`, of all files of a
 * skill, and of skills beside each other.
 */

import { diagnosticOf } from "../fs/errors.ts";
import { basename, join } from "../fs/paths.ts";
import type { Diagnostic, DiagnosticDetails } from "../diagnostics.ts";
import {
  type Check,
  type CheckedSkill,
  CHECKS,
  NOT_UTF_8,
  runChecks,
} from "../skills/checks.ts";
import { findYaml, isFlag } from "../skills/frontmatter.ts";
import { toEntryFault } from "../skills/frontmatter_faults.ts";
import { SKILL_MD, skillKey } from "../skills/names.ts";
import type { Skill, SkillFiles, SkillSource } from "../skills/types.ts";
import {
  fieldOf,
  findEntry,
  isNear,
  KNOWN_FIELDS,
  listEntries,
  quoteField,
  tellToWrite,
  writeText,
} from "../skills/yaml.ts";
import { listInvisible, quote, truncate } from "../text.ts";
import { decodeText } from "../mcp/loading.ts";
import { listBrokenLinks } from "./markdown_links.ts";

/** The maximum number of lines of a `SKILL.md` that the specification recommends. */
const MAX_SKILL_LINES = 500;

/** The known fields but the flags, which the scan reads even if they are misspelled. */
const KNOWN_TEXTS = KNOWN_FIELDS.filter((field) => !isFlag(field));

/** The checks of the text of a `SKILL.md`. The scan has reported the faults of its YAML. */
const TEXT_CHECKS: readonly Check[] = [
  checkFileName,
  checkFieldNames,
  checkComment,
  checkMarkup,
  checkArgumentHint,
  checkAllowedTools,
  checkCharacters,
  checkBody,
  checkLength,
  checkLinks,
];

export async function checkSkill(
  skill: Skill,
  { registry, contents }: { registry: SkillSource; contents: SkillFiles },
): Promise<Diagnostic[]> {
  // If it cannot be read, `findReadDiagnostic()` says why.
  const text = await registry.readFile(skill, SKILL_MD)
    .then(decodeText, () => "");
  const entries = listEntries(findYaml(text) ?? "");
  const checked = { ...skill, contents, text, entries };
  const diagnostics = await Array.fromAsync(
    contents.files,
    ({ path }) => findReadDiagnostic(skill, path, registry),
  );
  return [
    ...runChecks([...CHECKS, ...TEXT_CHECKS], checked),
    ...diagnostics.filter((diagnostic) => diagnostic !== undefined),
  ];
}

async function findReadDiagnostic(
  skill: Skill,
  path: string,
  registry: SkillSource,
): Promise<Diagnostic | undefined> {
  const file = path === SKILL_MD ? skill.file : join(skill.directory, path);
  try {
    const { text } = await registry.readFile(skill, path);
    if (path !== SKILL_MD || text !== undefined) return undefined;
    return { file, ...NOT_UTF_8 };
  } catch (error) {
    return { file, ...diagnosticOf(error), rule: "unreadable" };
  }
}

/** Reports a `skill.md`, which the specification writes in capital letters. */
function checkFileName({ file }: CheckedSkill): DiagnosticDetails | undefined {
  if (basename(file) === SKILL_MD) return undefined;
  const reason = `some hosts look only for "${SKILL_MD}"`;
  return { rule: "file-case", reason, fix: `rename it to "${SKILL_MD}"` };
}

/** Reports unknown fields that are almost known ones. The scan has read the flags among them. */
function checkFieldNames({ entries }: CheckedSkill): DiagnosticDetails[] {
  return entries.flatMap((entry): DiagnosticDetails[] => {
    const { key } = entry;
    const field = fieldOf(key) ?? KNOWN_TEXTS.find((it) => isNear(key, it));
    if (field === undefined || findEntry(field, entries)) return [];
    return [toEntryFault(field, entry, { rule: "field-misspelled" })];
  });
}

/** Reports what YAML takes for a comment, although it is most likely a part of the description. */
function checkComment(skill: CheckedSkill): DiagnosticDetails | undefined {
  const field = "description";
  const entry = findEntry(field, skill.entries);
  if (entry === undefined || /^["'|>]/.test(entry.value)) return undefined;
  const [comment] = /\s#.*/.exec(entry.lines.join("\n")) ?? [];
  if (comment === undefined) return undefined;
  const shown = quote(truncate(comment.trim(), 40));
  const reason = `the description ends before ${shown}, which is a comment`;
  const finished = quoteField(field, entry.value);
  const advice = tellToWrite(finished, entry, "put the whole text in quotes");
  return { rule: "description-comment", reason, ...advice };
}

/** Reports what looks like a tag, because some hosts refuse the skill then. */
function checkMarkup(skill: CheckedSkill): DiagnosticDetails | undefined {
  const { description } = skill.frontmatter;
  const [tag] = /<\/?[a-z][^<>]{0,100}>/i.exec(description) ?? [];
  if (tag === undefined) return undefined;
  const line = findEntry("description", skill.entries)?.line;
  const reason = `some hosts refuse a description with ${quote(tag)}`;
  const fix = "write it without angle brackets";
  return { rule: "description-tag", line, reason, fix };
}

/** Reports an `argument-hint` that is not a text, because a host drops the skill then. */
function checkArgumentHint(skill: CheckedSkill): DiagnosticDetails | undefined {
  const field = "argument-hint";
  const fix = skill.frontmatter[field];
  if (fix === undefined || typeof fix === "string") return undefined;
  const entry = findEntry(field, skill.entries);
  const finished = entry?.value ? quoteField(field, entry.value) : undefined;
  const words = "write a text in quotes, or remove it";
  const reason = `${field} is not a text`;
  return { rule: field, reason, ...tellToWrite(finished, entry, words) };
}

/** Reports `allowed-tools` as a list, which is a text in the specification. */
function checkAllowedTools(skill: CheckedSkill): DiagnosticDetails | undefined {
  const field = "allowed-tools";
  const tools = skill.frontmatter[field];
  if (!Array.isArray(tools)) return undefined;
  const finished = writeText(field, tools.join(" "));
  const reason = `${field} is a list, but the specification says a text`;
  const entry = findEntry(field, skill.entries);
  const advice = tellToWrite(finished, entry, "write it as one text");
  return { rule: field, reason, ...advice };
}

/** Reports the first line with invisible characters, which can hide text. */
function checkCharacters(
  { text }: CheckedSkill,
): DiagnosticDetails | undefined {
  const lines = text.replace(/^\ufeff/, "").split(/\r\n?|\n/)
    .map(listInvisible);
  const index = lines.findIndex((characters) => characters.length > 0);
  if (index === -1) return undefined;
  return {
    rule: "invisible-characters",
    line: index + 1,
    reason: `there are invisible characters, such as ${lines[index]![0]}`,
    fix: "remove them, and find out where they come from",
  };
}

function checkBody(
  { text, excerpt }: CheckedSkill,
): DiagnosticDetails | undefined {
  const endsWithFence = text.trimEnd().endsWith("\n---");
  if (excerpt.trim() !== "" || !endsWithFence) return undefined;
  const reason = "there are no instructions below the frontmatter";
  return { rule: "body-empty", reason, fix: "write there what to do" };
}

function checkLength({ text }: CheckedSkill): DiagnosticDetails | undefined {
  const { length } = text.trimEnd().split(/\r\n?|\n/);
  if (length <= MAX_SKILL_LINES) return undefined;
  const reason =
    `it has ${length} lines, and ${MAX_SKILL_LINES} are recommended`;
  const fix = "move details into other files of the skill, and link to them";
  return { rule: "long", reason, fix };
}

function checkLinks(
  { text, contents: { files } }: CheckedSkill,
): DiagnosticDetails[] {
  return listBrokenLinks(text, files.map(({ path }) => path));
}

export function checkTogether(skills: readonly Skill[]): Diagnostic[] {
  const byName = Map.groupBy(skills, ({ name }) => skillKey(name));
  return [...byName.values()].flatMap(([first, ...others]) =>
    others.map(({ name, file }): Diagnostic => ({
      rule: "name-twice",
      file,
      reason: `the name ${quote(name)} is also that of ${quote(first!.file)}`,
      fix: "rename one of the two skills, or remove it",
    }))
  );
}
