/**
 * What a valid skill is, and which skills hosts can list.
 *
 * @see {@link https://agentskills.io/specification}
 *
 * @module
 */

import type { SkillFile, SkillFrontmatter, SkillProblem } from "./types.ts";

/** The limits that the Agent Skills specification sets a skill, in characters and lines. */
const MAX_NAME_LENGTH = 64;

const MAX_DESCRIPTION_LENGTH = 1024;

const MAX_COMPATIBILITY_LENGTH = 500;

export const MAX_LINES = 500;

/** The limits that the Skills extension sets a skill: files, and bytes of them together. */
const MAX_SKILL_FILES = 512;

const MAX_SKILL_SIZE = 16 * 1024 * 1024;

/** The limits of a frontmatter that can be sent: aliases can make a small one enormous. */
const MAX_FRONTMATTER_DEPTH = 64;

const MAX_FRONTMATTER_LENGTH = 256 * 1024;

/**
 * How bad it is: of an error hosts that keep to the specification take no
 * skill, or nobody does; of a warning an agent may miss something.
 */
type Severity = "error" | "warning";

/** What is wrong, and which rule says so. */
export interface Finding extends SkillProblem {
  readonly rule: string;
  readonly severity: Severity;
}

/** A rule about a field of the frontmatter. */
interface FieldRule {
  readonly rule: string;
  readonly severity: Severity;
  readonly field: string;
  /** How to mend it: the same for all skills, so that they can be told together. */
  readonly hint: string;
  /** Says what is wrong with the field, if anything. */
  readonly fault: (frontmatter: SkillFrontmatter) => string | undefined;
}

/**
 * The rules about the frontmatter alone. Hosts cannot load a skill that breaks
 * one of those whose severity is "error".
 *
 * @see {@link https://agentskills.io/specification#frontmatter}
 */
export const FIELD_RULES: readonly FieldRule[] = [
  {
    rule: "name-characters",
    severity: "error",
    field: "name",
    hint: "write the name with a-z, 0-9 and single hyphens between them alone",
    fault: ({ name }) =>
      /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name)
        ? undefined
        : "its name is not made of a-z, 0-9 and single hyphens",
  },
  {
    rule: "name-length",
    severity: "error",
    field: "name",
    hint: `give it a name of at most ${MAX_NAME_LENGTH} characters`,
    fault: ({ name }) =>
      name.length > MAX_NAME_LENGTH
        ? `its name has more than ${MAX_NAME_LENGTH} characters`
        : undefined,
  },
  {
    rule: "description-length",
    severity: "error",
    field: "description",
    hint:
      `shorten the description to ${MAX_DESCRIPTION_LENGTH} characters; the rest belongs into the body`,
    fault: ({ description }) =>
      [...description].length > MAX_DESCRIPTION_LENGTH
        ? `its description has more than ${MAX_DESCRIPTION_LENGTH} characters`
        : undefined,
  },
  {
    rule: "compatibility",
    severity: "error",
    field: "compatibility",
    hint:
      `write the compatibility as a text of 1 to ${MAX_COMPATIBILITY_LENGTH} characters, or leave it out`,
    fault: ({ compatibility = "any" }) =>
      isText(compatibility, MAX_COMPATIBILITY_LENGTH)
        ? undefined
        : `its compatibility is not a text of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`,
  },
  {
    rule: "metadata",
    severity: "error",
    field: "metadata",
    hint:
      "write the metadata as a mapping whose values are in quotes, or leave it out",
    fault: ({ metadata = {} }) =>
      isMapOfTexts(metadata)
        ? undefined
        : "its metadata is not a mapping of texts",
  },
  {
    rule: "frontmatter-json",
    severity: "error",
    field: "name",
    hint: "write the frontmatter such that JSON can hold it, flat and short",
    fault: jsonFault,
  },
  {
    rule: "license",
    severity: "warning",
    field: "license",
    hint: "write the license as a text: its name, or the name of its file",
    fault: ({ license = "" }) =>
      typeof license === "string" ? undefined : "its license is not a text",
  },
  {
    rule: "allowed-tools",
    severity: "warning",
    field: "allowed-tools",
    hint: "write the allowed tools as one text, with blanks between them",
    fault: ({ "allowed-tools": tools = "" }) => {
      if (typeof tools !== "string") return "its allowed-tools are no text";
      // Within parentheses a comma is a part of the tool's own pattern.
      return tools.replace(/\([^()]*\)/g, "").includes(",")
        ? "its allowed-tools have commas between them"
        : undefined;
    },
  },
];

function isText(value: unknown, maxLength: number): boolean {
  return typeof value === "string" && value !== "" &&
    [...value].length <= maxLength;
}

function isMapOfTexts(value: unknown): boolean {
  return typeof value === "object" && value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((item) => typeof item === "string");
}

/** Says why a frontmatter is not the same once it was sent as JSON. */
function jsonFault(frontmatter: SkillFrontmatter): string | undefined {
  let room = MAX_FRONTMATTER_LENGTH;
  const faultOf = (value: unknown, parents: object[]): string | undefined => {
    room -= typeof value === "string" ? value.length : 8;
    if (room < 0) return "its frontmatter is too large";
    if (typeof value === "number" && !Number.isFinite(value)) {
      return `its frontmatter has the number ${value}`;
    }
    if (typeof value !== "object" || value === null) return undefined;
    if (parents.includes(value)) return "its frontmatter refers to itself";
    if (parents.length >= MAX_FRONTMATTER_DEPTH) {
      return `its frontmatter is more than ${MAX_FRONTMATTER_DEPTH} deep`;
    }
    for (const [key, item] of Object.entries(value)) {
      room -= key.length;
      const fault = faultOf(item, [...parents, value]);
      if (fault !== undefined) return fault;
    }
  };
  return faultOf(frontmatter, []);
}

/** Says why hosts could not load a skill, as far as its frontmatter tells. */
export function frontmatterFault(
  frontmatter: SkillFrontmatter,
): string | undefined {
  for (const { severity, fault } of FIELD_RULES) {
    const reason = severity === "error" ? fault(frontmatter) : undefined;
    if (reason !== undefined) return reason;
  }
}

/** Says why hosts could not load a skill, as far as its files tell. */
export function filesFault(files: readonly SkillFile[]): string | undefined {
  if (files.length > MAX_SKILL_FILES) {
    return `it has more than ${MAX_SKILL_FILES} files`;
  }
  if (sizeOf(files) > MAX_SKILL_SIZE) {
    return `its files have more than ${MAX_SKILL_SIZE} bytes together`;
  }
}

export function sizeOf(files: readonly SkillFile[]): number {
  return files.reduce((sum, { size }) => sum + size, 0);
}
