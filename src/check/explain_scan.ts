/** Says more of a diagnostic of the scan than a running server has to know. */

import { attempt } from "../attempt.ts";
import { type Diagnostic, isAboutSymlink } from "../diagnostics.ts";
import { basename, dirname, join } from "../fs/paths.ts";
import { listDirsOfSkills, type Settings } from "../program/settings.ts";
import {
  checkLooseFile,
  listSubdirs,
  readHead,
} from "../skills/near_misses.ts";
import { isNamedSkills } from "../skills/roots.ts";
import { dirOfSkillMd } from "../skills/skill_file.ts";
import { nearestWords, quote } from "../text.ts";
import { explainSkillMd } from "./explain_skill_md.ts";

export function explainScan(
  diagnostic: Diagnostic,
  settings: Settings,
): Diagnostic[] {
  const { rule, file } = diagnostic;
  const { check = false } = settings.values;
  if (rule === "folder-missing") {
    return [explainMissingDir(diagnostic, settings)];
  }
  if (rule === "not-a-folder" && check) {
    const among = isNamedSkills(dirname(file));
    return among ? checkLooseFile(file) : [diagnostic];
  }
  if (dirOfSkillMd(file) === undefined) return [diagnostic];
  const bytes = readHead(file);
  return bytes.length === 0 ? [diagnostic] : explainSkillMd(diagnostic, bytes);
}

/** Suggests a folder or a skill of almost the same name instead of a missing directory. */
function explainMissingDir(
  diagnostic: Diagnostic,
  { options, values: { agents, check } }: Settings,
): Diagnostic {
  const { file } = diagnostic;
  const name = basename(file);
  const isHere = dirname(file) === options.workingDirectory;
  const mayBeSkill = check && isHere;
  const dirs = mayBeSkill ? listDirsOfSkills({ ...options, agents }) : [];
  const names = [dirname(file), ...dirs]
    .flatMap((dir) => listSubdirs(dir)).map((path) => basename(path));
  const [near] = nearestWords(name, new Set(names));
  const reason = mayBeSkill
    ? `there is no folder or skill named ${quote(name)}`
    : diagnostic.reason;
  const fix = near === undefined
    ? diagnostic.fix
    : `did you mean ${quote(isHere ? near : join(dirname(file), near))}?`;
  return { ...diagnostic, reason, fix };
}

/** Adds the target of a symlink as written. */
export function addSymlinkTarget<D extends Diagnostic>(diagnostic: D): D {
  const { rule, file, reason } = diagnostic;
  const mayBeSymlink = isAboutSymlink(diagnostic) || rule === "not-served";
  const target = mayBeSymlink
    ? attempt(() => Deno.readLinkSync(file))
    : undefined;
  return target === undefined
    ? diagnostic
    : { ...diagnostic, reason: `${reason}: ${quote(target)}` };
}
