/**
 * What the model reads when a skill is loaded: its text, and where its files are.
 *
 * @module
 */

import type { Skill, SkillFileContent } from "../skills/types.ts";
import { skillFileUri } from "../skills/uri.ts";
import { escapeHidden, shownName } from "../text.ts";
import type { SkillToolOptions, Toolset } from "./options.ts";

/** The tools that read a skill's other files, by toolset. */
const FILE_TOOLS: Partial<Record<Toolset, string>> = {
  skilljack: "skill-resource",
  agentskills: "read_reference_file_op",
};

/** What stands for the skill's directory in instructions. */
const DIRECTORY = "${CLAUDE_SKILL_DIR}";

/** What stands for the arguments of a prompt, but not for one of them. */
const ARGUMENTS = /\$ARGUMENTS\b(?!\[)/g;

/** Returns the text of a `SKILL.md`. Bytes that are not valid UTF-8 are replaced. */
export function textOf({ text, bytes }: SkillFileContent): string {
  return text ?? new TextDecoder().decode(bytes);
}

/** How the model refers to the directory of a skill: by its path or its URI. */
export function directoryOf(
  skill: Skill,
  { isRemote }: Pick<SkillToolOptions, "isRemote">,
): string {
  return isRemote ? skillFileUri(skill, "") : skill.directory;
}

/**
 * Formats the text of a `SKILL.md`. It begins with the skill's directory, because the
 * instructions may refer to files in it.
 *
 * @param options.input The arguments of the skill's own prompt.
 */
export function formatLoadedSkill(
  skill: Skill,
  text: string,
  options: SkillToolOptions & { input?: string | undefined },
): string {
  const directory = escapeHidden(directoryOf(skill, options));
  const lines = [
    `Loading: ${shownName(skill.name)}`,
    `Base directory: ${directory}`,
    ...describeRemoteFiles(skill, options),
  ];
  // The toolsets of other servers return the text as it is.
  const filled = options.toolset === "skill"
    ? fillArguments(text, options.input)
      .replaceAll(DIRECTORY, () => directory.replace(/\/$/, ""))
    : text;
  return `${lines.join("\n")}\n\n${filled}`;
}

/** Says in one line how to read the files of a skill that are on another machine. */
export function describeRemoteFiles(
  skill: Skill,
  { isRemote, toolset }: SkillToolOptions,
): string[] {
  if (!isRemote) return [];
  const tool = FILE_TOOLS[toolset];
  const way = tool === undefined
    ? `as resources, ${skillFileUri(skill, "")}<path>`
    : `with the tool ${tool}`;
  return [
    `The files of this skill are on the server and cannot run here: read them ${way}`,
  ];
}

/**
 * Puts the arguments of a prompt in place of `$ARGUMENTS` or, if that does not occur,
 * on a last line.
 */
function fillArguments(text: string, input: string | undefined): string {
  if (input === undefined) return text;
  const filled = text.replace(ARGUMENTS, () => input);
  return filled !== text || input === ""
    ? filled
    : `${text.replace(/\n?$/, "\n")}\nARGUMENTS: ${input}`;
}
