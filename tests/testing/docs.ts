// The pages of the repository, with the commands and the links in them, and its modules.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "../../src/fs/paths.ts";
import { REPOSITORY } from "./environment.ts";

/** The paths of all pages. */
export const PAGES: readonly string[] = [
  "README.md",
  "CONTRIBUTING.md",
  ...readdirSync(join(REPOSITORY, "docs"))
    .filter((name) => name.endsWith(".md")).map((name) => `docs/${name}`),
];

/** Returns the text of a page, or of another file of the repository. */
export function read(page: string): string {
  return readFileSync(join(REPOSITORY, page), "utf8");
}

/** Lists the paths of the modules in a directory, at any depth, without tests. */
export function listModules(dir: string): string[] {
  const paths = readdirSync(join(REPOSITORY, dir), { recursive: true });
  return paths.map((path) => `${dir}/${path}`.replaceAll("\\", "/"))
    .filter((path) => /(?<!_test)\.ts$/.test(path)).sort();
}

/** All modules that are published. */
export const MODULES = [
  "mod.ts",
  "skill_server.ts",
  "http.ts",
  ...listModules("src"),
];

/** Lists the words of a text that are code. */
function listCode(text: string): string[] {
  return Array.from(text.matchAll(/`([^`]+)`/g), ([, code]) => code!);
}

/** Lists the targets of the links in a page, and of its images. */
export function listLinks(page: string): string[] {
  const links = read(page).matchAll(/\]\(([^)\s]+)\)|^\[[\w-]+\]: (\S+)$/gm);
  return Array.from(links, ([, inline, named]) => (inline ?? named)!);
}

const FENCED = /^( *)```(\w*).*\n([^]*?)^ *```\n/gm;

/** A command in a file, such as the configuration of a service. */
const IN_FILE = /^ *(?:- run: |entry: |ExecStart=|RUN )(.*)$/gm;

/** What begins a command in the middle of a sentence, if more than one word follows. */
const PROGRAM =
  /^(?:code|curl|deno|docker|export|git|journalctl|launchctl|npx|setx|skill-server|sudo|systemctl|wine) \S+ \S/;

/** Lists the commands in a page: in blocks, in files that it shows, and in sentences. */
export function listCommands(page: string): string[] {
  const text = read(page);
  const fenced = [...text.matchAll(FENCED)].flatMap(
    ([, indentation, language, block]) => {
      const lines = block!.replaceAll(new RegExp(`^${indentation}`, "gm"), "");
      return language === "sh"
        ? splitCommands(lines)
        : Array.from(lines.matchAll(IN_FILE), ([, command]) => command!);
    },
  );
  const prose = text.replaceAll(FENCED, "");
  const indented = [...prose.matchAll(/(?<=\n\n)(?: {4,}\S.*\n)+/g)]
    .flatMap(([block]) => block.trimEnd().split("\n"))
    .map((line) => line.trim());
  const inline = listCode(prose)
    .map((code) => code.replaceAll(/\s+/g, " "))
    .filter((code) => PROGRAM.test(code));
  return [...fenced, ...indented, ...inline].map(withoutComment);
}

/** Splits the lines of a shell at the ends of commands. */
function splitCommands(text: string): string[] {
  const [, before = text, document = ""] =
    /^([^]*?<<'EOF'\n)([^]*)$/.exec(text) ??
      [];
  if (document !== "") return [before + document];
  const commands: string[] = [];
  let isComplete = true;
  for (const line of text.trimEnd().split("\n")) {
    const isMore = !isComplete || /^ |^done\b/.test(line);
    if (isMore) commands.push(`${commands.pop()}\n${line}`);
    else commands.push(line);
    isComplete = !/(?:\\|\|)$/.test(line);
  }
  return commands;
}

function withoutComment(command: string): string {
  return command.includes("\n") ? command : command.replace(/\s+# .*$/, "");
}
