/**
 * The rules for the fields of the frontmatter, apart from those without which a
 * skill cannot be served.
 *
 * @see {@link https://agentskills.io/specification#frontmatter}
 *
 * @module
 */

import { isObject } from "../text.ts";
import type { SkillFrontmatter } from "./types.ts";
import type { RuleId } from "./validity.ts";

/** The maximum lengths of fields according to the specification, in characters. */
const MAX_NAME_LENGTH = 64;
const MAX_DESCRIPTION_LENGTH = 1024;
const MAX_COMPATIBILITY_LENGTH = 500;

/** The maximum depth of frontmatter that is sent, in levels. */
const MAX_FRONTMATTER_DEPTH = 64;

/**
 * The maximum length of frontmatter that is sent, in characters. With aliases,
 * a short YAML text can become enormous.
 */
const MAX_FRONTMATTER_LENGTH = 256 * 1024;

/** A rule about a field of the frontmatter. */
interface FieldRule {
  readonly rule: RuleId;
  readonly field: string;
  /**
   * How to fix a violation. The hint is the same for all skills, so that
   * reports can group findings.
   */
  readonly hint: string;
  /** Returns what is wrong with the field, if anything. */
  readonly findFault: (
    frontmatter: SkillFrontmatter,
  ) => string | false | undefined;
}

export const FIELD_RULES: readonly FieldRule[] = [
  {
    rule: "name-characters",
    field: "name",
    hint: "use only a-z, 0-9, and single hyphens between them in the name",
    findFault: ({ name }) =>
      !isHostName(name) &&
      "the name does not consist of a-z, 0-9, and single hyphens",
  },
  {
    rule: "name-length",
    field: "name",
    hint: `shorten the name to ${MAX_NAME_LENGTH} characters`,
    findFault: ({ name }) =>
      name.length > MAX_NAME_LENGTH &&
      `the name is longer than ${MAX_NAME_LENGTH} characters`,
  },
  {
    rule: "description-length",
    field: "description",
    hint:
      `shorten the description to ${MAX_DESCRIPTION_LENGTH} characters, and move details into the body`,
    findFault: ({ description }) =>
      [...description].length > MAX_DESCRIPTION_LENGTH &&
      `the description is longer than ${MAX_DESCRIPTION_LENGTH} characters`,
  },
  {
    rule: "compatibility",
    field: "compatibility",
    hint:
      `write compatibility as a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters, or remove it`,
    findFault: ({ compatibility = "any" }) =>
      !isString(compatibility, MAX_COMPATIBILITY_LENGTH) &&
      `compatibility is not a string of 1 to ${MAX_COMPATIBILITY_LENGTH} characters`,
  },
  {
    rule: "metadata",
    field: "metadata",
    hint: "write metadata as a mapping with its values in quotes, or remove it",
    findFault: ({ metadata = {} }) =>
      !isMapOfStrings(metadata) && "metadata is not a mapping of strings",
  },
  {
    rule: "frontmatter-json",
    field: "name",
    hint:
      "keep the frontmatter small and flat, with values that JSON can represent",
    findFault: findJsonFault,
  },
  {
    rule: "license",
    field: "license",
    hint: "write the name of the license, or of its file, as a string",
    findFault: ({ license = "" }) =>
      typeof license !== "string" && "license is not a string",
  },
  {
    rule: "allowed-tools",
    field: "allowed-tools",
    hint: "write allowed-tools as one string of tools separated by spaces",
    findFault: ({ "allowed-tools": tools = "" }) => {
      if (typeof tools !== "string") return "allowed-tools is not a string";
      // Commas in parentheses belong to a tool's own pattern.
      return tools.replace(/\([^()]*\)/g, "").includes(",") &&
        "allowed-tools is separated by commas";
    },
  },
  ...["disable-model-invocation", "user-invocable"].map((field) => ({
    rule: "flags" as const,
    field,
    hint: "write true or false, without quotes",
    findFault: ({ [field]: flag = true }: SkillFrontmatter) =>
      typeof flag !== "boolean" &&
      `${field} is not true or false, so it has no effect`,
  })),
];

function isString(value: unknown, maxLength: number): boolean {
  return typeof value === "string" && value !== "" &&
    [...value].length <= maxLength;
}

function isMapOfStrings(value: unknown): boolean {
  return isObject(value) &&
    Object.values(value).every((item) => typeof item === "string");
}

/** Returns the reason why JSON cannot represent frontmatter exactly, if there is one. */
function findJsonFault(frontmatter: SkillFrontmatter): string | undefined {
  let room = MAX_FRONTMATTER_LENGTH;
  const findFault = (value: unknown, parents: object[]): string | undefined => {
    room -= typeof value === "string" ? value.length : 8;
    if (room < 0) return "the frontmatter is too large";
    if (typeof value === "string" && !value.isWellFormed()) {
      return "the frontmatter contains a lone surrogate";
    }
    if (typeof value === "number" && !Number.isFinite(value)) {
      return `the frontmatter contains the number ${value}`;
    }
    if (typeof value !== "object" || value === null) return undefined;
    if (parents.includes(value)) return "the frontmatter contains itself";
    if (parents.length >= MAX_FRONTMATTER_DEPTH) {
      return `the frontmatter is nested more than ${MAX_FRONTMATTER_DEPTH} levels deep`;
    }
    for (const item of Object.entries(value).flat()) {
      const fault = findFault(item, [...parents, value]);
      if (fault !== undefined) return fault;
    }
  };
  return findFault(frontmatter, []);
}

/** Whether a name consists only of the characters that hosts accept. */
function isHostName(name: string): boolean {
  return /^[a-z0-9]+(?:-[a-z0-9]+)*$/.test(name);
}
