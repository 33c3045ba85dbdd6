/** Serves only Markdown with the toolset `reference`, as the server that introduced it does. */

import { NOT_THERE, SkillFileError } from "../fs/errors.ts";
import type { SkillSource } from "../skills/source.ts";
import type { ToolOptions } from "../views/options.ts";

export function withFilesOfToolset(
  registry: SkillSource,
  { toolset }: ToolOptions,
): SkillSource {
  if (toolset !== "reference") return registry;
  return {
    get catalog() {
      return registry.catalog;
    },
    refreshSeconds: registry.refreshSeconds,
    find: (name, options) => registry.find(name, options),
    listFiles: async (skill, options) => {
      const listed = await registry.listFiles(skill, options);
      const files = listed.files.filter(({ path }) => isMarkdown(path));
      return { ...listed, files };
    },
    readFile: async (skill, path, options) => {
      if (!isMarkdown(path)) throw new SkillFileError(path, NOT_THERE);
      return await registry.readFile(skill, path, options);
    },
    digest: (skill, file) => registry.digest(skill, file),
    listNearMissesOf: (name) => registry.listNearMissesOf(name),
    listUnusedRules: () => registry.listUnusedRules(),
    refresh: (options) => registry.refresh(options),
    onChange: (listener) => registry.onChange(listener),
    addSubscriber: (subscriber) => registry.addSubscriber(subscriber),
    updateWatcher: () => registry.updateWatcher(),
  };
}

function isMarkdown(path: string): boolean {
  return path.toLowerCase().endsWith(".md");
}
