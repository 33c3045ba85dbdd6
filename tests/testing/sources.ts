// The files of the repository, and those of them that are its source.
import { readdirSync } from "node:fs";
import { join } from "../../src/fs/paths.ts";
import { REPOSITORY } from "./environment.ts";

/** Lists the paths of the files in a directory of the repository, at any depth. */
export function listFiles(dir: string): string[] {
  return readdirSync(join(REPOSITORY, dir), { withFileTypes: true })
    .flatMap((entry) => {
      const path = `${dir}/${entry.name}`;
      return entry.isDirectory() ? listFiles(path) : [path];
    });
}

/** Lists the paths of the modules in a directory, at any depth, without tests. */
export function listModules(dir: string): string[] {
  return listFiles(dir).filter((path) => /(?<!_test)\.ts$/.test(path))
    .sort();
}

/** All modules that are published. */
export const MODULES = [
  "mod.ts",
  "skill_server.ts",
  "http.ts",
  ...listModules("src"),
];
