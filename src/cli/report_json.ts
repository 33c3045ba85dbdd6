/**
 * The output of `--list` and `--check` as JSON.
 *
 * @module
 */

import { qualifiedName } from "../skills/names.ts";
import { jsonText } from "../text.ts";
import {
  type FoundSkill,
  placeOfRule,
  type Report,
  type ReportedPolicy,
} from "./report_data.ts";
import type { Finding } from "../skills/validity.ts";
import type { Skill } from "../skills/types.ts";

/** Formats a report as JSON. `docs/check.md` describes its shape. */
export function reportAsJson(report: Report): string {
  const { roots, skills, shadowed, policy, findings, unsearched } = report;
  const plain = skills.filter(({ skill }) => skill.prefix === undefined);
  const unlisted = skills.filter(({ unlisted }) => unlisted !== undefined);
  return jsonText({
    roots: roots.map(({ root, scope, status, skills }) => ({
      path: root.path,
      scope,
      recursive: root.recursive,
      status,
      skills,
    })),
    skills: plain.map((found) => describeSkill(found, policy)),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      qualifiedName: qualifiedName(skill),
      file: skill.file,
      by: by.file,
      ...decisionOn(skill, policy),
    })),
    off: policy?.off.map(({ skill, rule }) => ({
      ...placeOfSkill(skill),
      rule: rule && placeOfRule(rule, policy),
    })),
    unlisted: unlisted.map(({ skill, unlisted }) => ({
      name: qualifiedName(skill),
      reason: unlisted,
    })),
    unsearched,
    problems: findings.map(describeFinding),
  });
}

function describeSkill(
  { skill, files, size }: FoundSkill,
  policy: ReportedPolicy | undefined,
) {
  const { name, ...place } = placeOfSkill(skill);
  return {
    name,
    description: skill.description,
    ...place,
    files,
    size,
    ...decisionOn(skill, policy),
  };
}

function placeOfSkill({ name, scope, directory, file }: Skill) {
  return { name, scope, directory, file };
}

/** Returns the state of a skill and the rule that applies, if there is a policy. */
function decisionOn(skill: Skill, policy: ReportedPolicy | undefined) {
  if (policy === undefined) return undefined;
  const rule = policy.rules.get(skill);
  return {
    state: skill.state ?? "on",
    rule: rule && placeOfRule(rule, policy),
  };
}

function describeFinding(
  { rule, severity, file, line, reason, hint }: Finding,
): Finding {
  return { rule, severity, file, line, reason, hint };
}
