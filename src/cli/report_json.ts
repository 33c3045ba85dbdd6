/**
 * The output of `--list` and `--check` as JSON.
 *
 * @module
 */

import { qualifiedName } from "../skills/names.ts";
import { jsonText } from "../text.ts";
import { placeOf, type Report } from "./report_data.ts";
import type { Skill } from "../skills/types.ts";

/** Formats a report as JSON. `docs/check.md` describes its shape. */
export function reportAsJson(report: Report): string {
  const { roots, skills, shadowed, policy, findings, unsearched } = report;
  const plain = skills.filter(({ skill }) => skill.prefix === undefined);
  const decisionOn = (skill: Skill, rule = policy?.rules.get(skill)) =>
    policy &&
    { state: skill.state ?? "on", rule: rule && placeOf(rule, policy) };
  const shape = {
    roots: roots.map(({ root, status, skills }) => ({
      path: root.path,
      scope: root.scope,
      recursive: root.recursive,
      status,
      skills,
    })),
    skills: plain.map(({ skill, files, size }) => ({
      name: skill.name,
      description: skill.description,
      scope: skill.scope,
      directory: skill.directory,
      file: skill.file,
      files,
      size,
      ...decisionOn(skill),
    })),
    shadowed: shadowed.map(({ skill, by }) => ({
      name: skill.name,
      qualifiedName: qualifiedName(skill),
      file: skill.file,
      by: by.file,
      ...decisionOn(skill),
    })),
    off: policy?.off.map(({ skill, rule }) => ({
      name: skill.name,
      scope: skill.scope,
      directory: skill.directory,
      file: skill.file,
      rule: rule && placeOf(rule, policy),
    })),
    unlisted: skills.filter(({ unlisted }) => unlisted !== undefined)
      .map(({ skill, unlisted }) => ({
        name: qualifiedName(skill),
        reason: unlisted,
      })),
    unsearched,
    problems: findings.map(({ rule, severity, file, line, reason, hint }) => ({
      rule,
      severity,
      file,
      line,
      reason,
      hint,
    })),
  };
  return jsonText(shape);
}
